"""Results that others submitted: ``results/submitted/<name>/``, and what its `system.yml` says.

A folder holds predictions and a record of how they came about, and nothing else. Merged folders do
not change: a correction is a folder of its own that names the one it replaces.
"""

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from chaos_utils.base import paths
from chaos_utils.base.errors import ChaosError
from chaos_utils.base.inputs import Input, digest
from chaos_utils.base.validation import StrictModel, validate
from chaos_utils.base.yaml_files import read_yaml
from chaos_utils.datasets.catalogue import bundled_datasets
from chaos_utils.datasets.votes import Votes
from chaos_utils.scoring.predictions import is_name, read_predictions
from chaos_utils.scoring.system import System, votes_of
from chaos_utils.scoring.titles import mixed_word

READS = ("results/submitted/*.yml", "results/submitted/*.parquet")
FOLDER, PREDICTIONS_FILE, RECORD_FILE = "submitted", "predictions.parquet", "system.yml"
_RECORD = "A submission's record"
NAME = "small letters, digits, dots and hyphens, such as minilm-l6-seed-3; at most 60"
_NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,59}")
How = Literal["label", "samples", "logprobs", "percentages", "encoder"]
LICENCES = ("CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "PDDL-1.0",
            "ODC-By-1.0", "MIT", "Apache-2.0", "BSD-3-Clause")  # fmt: skip
_MOST_CHARACTERS, _LONGEST_WORD = 200, 100
_CODE_HOSTS = ("github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "huggingface.co",
               "zenodo.org", "doi.org", "osf.io")  # fmt: skip
# A name that everyone's computer looks up alike: no number, none of this machine or its network.
_HOST = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}")
_LOCAL = re.compile(r".*\.(localhost|local|localdomain|internal|lan|home|test|invalid)")
MAY_HAVE_SEEN = "it may have seen the items: "


def _name(text: str) -> str:
    is_shown_whole = text.isprintable() and text == text.strip() and len(text) <= _MOST_CHARACTERS
    if not is_name(text) or not is_shown_whole or re.search("[<>]", text):
        raise ValueError(
            f"a text of at most {_MOST_CHARACTERS} characters expected, without < and >, marks of "
            "direction, and spaces at its ends"
        )
    return text


def _in_one_script(text: str) -> str:
    rest = text
    for dataset in bundled_datasets():  # αNLI is the name of one
        rest = rest.replace(dataset.short, "")
    if word := mixed_word(rest):
        raise ValueError(f"letters of one script in a word expected, unlike in {word}")
    if re.search(rf"\S{{{_LONGEST_WORD + 1}}}", text):  # which no table could break
        raise ValueError(f"words of at most {_LONGEST_WORD} characters expected")
    return text


def _address(text: str) -> str:
    if not re.fullmatch(r"https://[!-~]+", text) or set(text) & set("<>\"'\\"):
        raise ValueError("an address that begins with https:// expected")
    host = text.removeprefix("https://").partition("/")[0].partition("?")[0].partition("#")[0]
    if not _HOST.fullmatch(host.lower()) or _LOCAL.fullmatch(host.lower()):
        raise ValueError("an address that anyone can open expected, by name and without a port")
    return text


def _code(text: str) -> str:
    parts = urlsplit(_address(text))
    is_kept = parts.netloc.lower().removeprefix("www.") in _CODE_HOSTS
    is_kept &= ".." not in parts.path.split("/")
    if not is_kept or not re.match(r"/[^/]*\w[^/]*/[^/]*\w", parts.path):
        raise ValueError(
            "the address of code or weights expected, by owner and name or number, at one of "
            + ", ".join(_CODE_HOSTS)
        )
    return text


def _licence(text: str) -> str:
    if text not in LICENCES:
        raise ValueError(f"an SPDX identifier expected, one of {', '.join(LICENCES)}")
    return text


def _past(date: datetime.date) -> datetime.date:
    if date > datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=1):
        raise ValueError("a date that is not in the future expected")
    return date


def _as_text(value: object) -> object:
    """Return a number or date as the text that a person meant, such as a revision."""
    is_plain = isinstance(value, int | float | datetime.date) and not isinstance(value, bool)
    return str(value) if is_plain else value


def _as_answer(value: object) -> object:
    """Return yes and no, which YAML reads as true and false, as words."""
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value


Name = Annotated[str, BeforeValidator(_as_text), AfterValidator(_name)]
Title = Annotated[Name, AfterValidator(_in_one_script)]
Address = Annotated[str, AfterValidator(_address)]
Date = Annotated[datetime.date, AfterValidator(_past)]
FolderName = Annotated[str, Field(pattern=_NAME.pattern, description=NAME)]


class ModelVersion(StrictModel):
    """Which model, as its maker calls it; `revision` is a commit, a version or an access date."""

    id: Title = Field(description="the model, as its maker calls it")
    revision: Name = Field(description="a commit, a version or an access date")
    open_weights: bool = Field(description="true or false")


class Asking(StrictModel):
    """How a distribution, or a label, was got from the model; `unread` counts its refusals."""

    how: How = Field(
        description="label, samples, logprobs, percentages or encoder; all but encoder need "
        "asked.prompt and asked.temperature"
    )
    prompt: str = Field("", max_length=10_000, description="at most 10,000 characters")
    temperature: float | None = Field(None, ge=0, allow_inf_nan=False)
    samples: int | None = Field(None, ge=1)
    unread: int = Field(0, ge=0)

    @model_validator(mode="after")
    def _check(self) -> "Asking":
        faults = []
        if self.how != "encoder" and (not self.prompt.strip() or self.temperature is None):
            faults.append(f"{self.how} needs asked.prompt and asked.temperature")
        if (self.how == "samples") != (self.samples is not None):
            faults.append("asked.samples is for asked.how: samples, which needs it")
        if faults:
            raise ValueError("; ".join(faults))
        return self


class Replacing(StrictModel):
    """The submission that this one corrects, and what was wrong with it."""

    name: FolderName
    reason: Name


class Withdrawal(StrictModel):
    """When and why a submission was withdrawn; its folder stays."""

    date: Date
    reason: Name


class SystemRecord(StrictModel):
    """What `system.yml` says of a submission; CONTRIBUTING.md shows one."""

    title: Title = Field(description="what tables call it")
    authors: list[Title] = Field(min_length=1, description="a list of names or handles")
    date: Date
    licence: Annotated[str, AfterValidator(_licence)] = Field(description=", ".join(LICENCES))
    link: Address = Field(description="an address about it, which begins with https://")
    code: Annotated[str, AfterValidator(_code)] | None = None
    model: ModelVersion
    asked: Asking
    trained_on: list[Name] = Field(description="a list of corpora, which may be empty")
    votes_used: Literal["none", "other_items"] = Field(
        description="none, or other_items if ChaosNLI's votes were used"
    )
    may_have_seen: Annotated[Literal["no", "possible", "yes"], BeforeValidator(_as_answer)] = Field(
        description="no, possible or yes"
    )
    reason: Name | None = Field(None, description="why it has not, or may have, seen the items")
    n_tried: int = Field(1, ge=1, description="how many variants were scored on these votes")
    derived_from: Name | None = None
    replaces: Replacing | None = None
    withdrawn: Withdrawal | None = None

    @model_validator(mode="after")
    def _check(self) -> "SystemRecord":
        if self.may_have_seen == "no" and not self.reason:
            raise ValueError("may_have_seen: no needs a reason")
        return self


REQUIRED = ("title", "authors", "date", "licence", "link", "model.id", "model.revision",
            "model.open_weights", "asked.how", "trained_on", "votes_used",
            "may_have_seen")  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Submission:
    """A submitted result: its folder, by whose name it is called, and its record."""

    name: str
    folder: Path
    record: SystemRecord

    @property
    def predictions(self) -> Path:
        """The file of its predictions."""
        return self.folder / PREDICTIONS_FILE

    @property
    def replaced(self) -> str:
        """The name of the submission that this one replaces; empty for none."""
        return self.record.replaces.name if self.record.replaces else ""

    def place(self, file: str) -> str:
        """Return how messages name one of its files, which may not be where it will be."""
        return f"results/{FOLDER}/{self.name}/{file}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Its files, with their digests."""
        files = (self.predictions, self.folder / RECORD_FILE)
        return tuple(Input(self.place(path.name), digest(path)) for path in files)

    def system_on(self, votes: Votes) -> System | None:
        """Return what it predicts of a dataset's items; None where it predicts none."""
        read = read_predictions(self.predictions, [votes], allow_missing=True, allow_others=True)
        return self.described(read[0]) if read else None

    def described(self, system: System) -> System:
        """Return predictions as a system with the name and the fields that the record states."""
        record, fitted = self.record, self.record.votes_used == "other_items"
        caution = MAY_HAVE_SEEN + (record.reason or record.may_have_seen)
        notes = (f"the labels of {record.derived_from}",) if record.derived_from else ()
        return replace(
            system,
            name=record.title,
            family=record.title,
            origin="submitted",
            trained_on=(*record.trained_on, *([votes_of(system.dataset)] if fitted else [])),
            out_of_fold=fitted,
            asked=record.asked.how,
            date=str(record.date),
            may_have_seen=record.may_have_seen,
            licence=record.licence,
            link=record.link,
            caution="" if record.may_have_seen == "no" else caution,
            notes=(*system.notes, *notes),
            inputs=self.inputs,
        )


def folder_of(name: str) -> Path:
    """Return the folder of a submission, which need not exist; refuse what cannot be its name."""
    if not _NAME.fullmatch(name):
        raise ChaosError(
            "A submission cannot have this name.", found=repr(name), expected=NAME,
            todo="choose another name: the title in system.yml is what tables show",
        )  # fmt: skip
    return paths.results() / FOLDER / name


def parse_record(content: object, where: object) -> SystemRecord:
    """Return what `system.yml` says; the error lists all of its faults."""
    if isinstance(content, dict):  # so that what these parts lack is named, too
        content = {"model": {}, "asked": {}} | content
    todo = "correct it, or pass what is missing: -f NAME=VALUE; CONTRIBUTING.md shows how"
    return validate(content, SystemRecord, where, _RECORD, todo=todo)


def read_submission(folder: Path) -> Submission:
    """Return the submission in a folder; its predictions are not read."""
    folder_of(folder.name)
    path = folder / RECORD_FILE
    if not path.is_file():
        raise ChaosError(
            "There is no such submission.", where=folder, expected=f"a folder with {RECORD_FILE}"
        )
    return Submission(folder.name, folder, parse_record(read_yaml(path, _RECORD), path))


def submissions() -> tuple[list[Submission], dict[str, ChaosError]]:
    """Return all submissions, withdrawn ones too, by name; and the faults of those with a fault.

    Outside of a checkout there are none.
    """
    if paths.find_project() is None:
        return [], {}
    read, faults = [], {}
    for folder in sorted((paths.results() / FOLDER).glob("[!.]*")):
        try:
            read.append(read_submission(folder))
        except ChaosError as fault:
            faults[folder.name] = fault
    return read, faults


def standing(known: Sequence[Submission]) -> list[Submission]:
    """Return the submissions that are neither withdrawn nor replaced, in their order."""
    shown = [one for one in known if one.record.withdrawn is None]
    replaced = {one.replaced for one in shown}
    return [one for one in shown if one.name not in replaced]


def current_submissions() -> list[Submission]:
    """Return the submissions that are neither withdrawn nor replaced; raise the first's fault."""
    known, faults = submissions()
    for fault in faults.values():
        raise fault
    return standing(known)


def submitted_systems(votes: Votes) -> list[System]:
    """Return the systems that others submitted on a dataset, of origin ``submitted``.

    Parameters
    ----------
    votes : Votes
        The released votes on the dataset; for any others there are none.

    Returns
    -------
    list of System
        By the names of their folders, without what was withdrawn or replaced. They may cover a part
        of the items, as their notes say.

    Raises
    ------
    ChaosError
        If a record or predictions cannot be read.
    """
    if not votes.is_released or votes.source.synthetic:
        return []
    found = (submission.system_on(votes) for submission in current_submissions())
    return [system for system in found if system is not None]


def inputs_of_submitted() -> tuple[Input, ...]:
    """Return the files that `submitted_systems` reads."""
    return tuple(file for submission in current_submissions() for file in submission.inputs)


def as_yaml(record: SystemRecord) -> str:
    """Return a record as the text of `system.yml`, without what is not stated."""
    import yaml

    content: dict[str, Any] = record.model_dump(exclude_none=True, exclude_defaults=True)
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)


def comments_in(text: str) -> list[str]:
    """Return what stands between the parts of a YAML file: its comments."""
    import yaml

    parts = pairwise(yaml.scan(text))
    between = (text[one.end_mark.index : other.start_mark.index] for one, other in parts)
    return [comment for gap in between if (comment := gap.strip())]
