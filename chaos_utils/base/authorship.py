"""What CITATION.cff says of the book: its title, authors, version and address."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.validation import StrictModel, validate
from chaos_utils.base.yaml_files import read_yaml

# The variable that holds the book's address for one build, instead of CITATION.cff.
ADDRESS = "CHAOS_URL"
_SITE = re.compile(
    r"https?://[a-z0-9-]+(\.[a-z0-9-]+)*(:\d{1,5})?(/[\w.~%+@!$&'*,;=-]+)*/?", re.A | re.I
)
_DOI = re.compile(r"10\.\d{4,9}/[\w./();:-]*[\w)]", re.A)


def _check_address(url: str) -> str:
    if url and (not _SITE.fullmatch(url) or url.endswith((".html", ".html/"))):
        raise ValueError(
            "expected the whole address of the folder that holds index.html, "
            "such as https://example.org/book"
        )
    return url


def _check_doi(doi: str) -> str:
    if not _DOI.fullmatch(doi):
        raise ValueError("expected a DOI without the resolver's address, such as 10.5281/zenodo.12")
    return doi


def _printed_name(author: Any) -> str:
    """Return an author's name as it is printed."""
    match author:
        case {"name": str(name)}:
            return name
        case {"given-names": str(given_names), "family-names": str(family_names)}:
            return f"{given_names} {family_names}"
    raise ValueError("expected `name`, or `given-names` and `family-names`")


class Citation(StrictModel):
    """What CITATION.cff says of the book.

    `date` is the date of this version's release. `url` and `repository` are where the book and its
    code are published, `doi` is the DOI of this version's archive; each of the three is empty until
    it exists.
    """

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    title: str
    version: str
    date: Annotated[str, BeforeValidator(str)] = Field(
        alias="date-released",
        pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        description="a date, such as 2026-11-20",
    )
    authors: tuple[Annotated[str, BeforeValidator(_printed_name)], ...] = Field(
        description="a list of `name`, or of `given-names` and `family-names`"
    )
    abstract: Annotated[str, AfterValidator(lambda text: " ".join(text.split()))] = ""
    url: Annotated[str, AfterValidator(_check_address)] = ""
    repository: str = Field("", alias="repository-code")
    doi: Annotated[str, AfterValidator(_check_doi)] = ""

    @property
    def year(self) -> str:
        """The year of this version's release."""
        return self.date[:4]

    @property
    def resolver(self) -> str:
        """Address that the DOI leads to; empty before there is one."""
        return f"https://doi.org/{self.doi}" if self.doi else ""


def read_citation(path: Path | None = None) -> Citation:
    """Read CITATION.cff, the project's or the one at `path`.

    The environment variable named by `ADDRESS` overrides its `url`.
    """
    path = path or paths.project() / "CITATION.cff"
    citation = validate(read_yaml(path), Citation, path.name, "This file")
    if address := os.environ.get(ADDRESS):
        return citation.model_copy(update={"url": validate_address(address, ADDRESS)})
    return citation


def validate_doi(doi: str, where: str) -> str:
    """Return the DOI of a version; `where` names its place in the error."""
    return _validate(_check_doi, doi, "This is not a DOI.", where)


def validate_address(url: str, where: str) -> str:
    """Return the address of a site, which may be empty; `where` names its place in the error."""
    return _validate(_check_address, url, "This is not the address of a site.", where)


def _validate(check: Callable[[str], str], text: str, message: str, where: str) -> str:
    """Return a text that `check` accepts; raise the fault that it finds as a ChaosError."""
    try:
        return check(text)
    except ValueError as fault:
        expected = str(fault).removeprefix("expected ")
        raise ChaosError(message, where=where, found=text, expected=expected) from None
