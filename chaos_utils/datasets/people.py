"""Columns and cells that name people: who annotated is never shown, kept or sent."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from chaos_utils.datasets.cells import as_identifier

# Names of columns are compared by their words: "WorkerId" and "worker ID" are worker_id.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ROLE = (
    r"(annot(at[oe]r)?s?|(crowd_?)?workers?|turkers?|raters?|coders?|labell?ers?|evaluators?"
    r"|assessors?|respondents?|performers?|voters?|adjudicators?)"
)
# Who they are besides, in words that name texts too: a user's question, an expert's answer.
_MAYBE = r"(users?|judges?|experts?|participants?|reviewers?|subjects?|persons?|people|members?)"
_KEY = (
    r"(p?ids?|uu?ids?|names?|codes?|keys?|hash(es)?|numbers?|nos?|nr|idx|index|lists?|handles?"
    r"|logins?|e?_?mails?|private|public|external|[0-9])"
)
_COUNT = re.compile(r"^(n|num|number|no|count|total)(_of)?_")
_ANNOTATOR = re.compile(
    rf"(^|_){_ROLE}(_?{_KEY})*$|(^|_){_MAYBE}(_?{_KEY})+$"
    r"|(^|_)(prolific|mturk|amt)(_?(p?ids?|worker_?ids?))?$|(^|_)(pid|logins?)$"
    r"|(^|_)(complet|annotat|label|labell|rat|cod|judg|review|updat|creat|submitt|answer|assign)"
    rf"ed_(by|to)(_{_KEY})?$"
)
_ABOUT = re.compile(
    rf"(^|_){_ROLE}_\w+$|(^|_)(e_?mails?|email_address|ip|ip_address|phone|telephone|first_?name"
    r"|last_?name|surname|full_?name|user_?agent|age|age_(group|range)|genders?|sex|ethnicity|race"
    r"|nationality|religion|education|date_of_birth|birth_?(day|date|year|place)|dob|occupation"
    r"|mother_tongue|native_language|demographics|(author|creator|poster|owner|nick|screen)s?"
    rf"(_?{_KEY})*)$"
)
_ROLE_ALONE = re.compile(rf"(^|_){_MAYBE}(_?[0-9])*$")
CALLED = 3  # words at most, in a name: whoever says more is quoted
LISTED = r"[,;|\n]"  # between the names in a cell
_LOOKED_AT = 1000  # values


def words_of(name: str) -> str:
    """Return the words of a column's name, in lower case, with ``_`` between them."""
    spaced = _HUMP.sub("_", name.replace("(s)", "s"))
    return re.sub(r"[\W_]+", "_", spaced.lower()).strip("_")


def names_annotators(name: str, values: Iterable[Any] | None = None) -> bool:
    """Return whether a column of this name says who annotated; of "user", `values` decide."""
    words = words_of(name)
    if _COUNT.search(words):
        return False
    if values is not None and _ROLE_ALONE.search(words):
        texts = [value for value in values if isinstance(value, str)]
        return not texts or bool(np.median([len(text.split()) for text in texts]) <= CALLED)
    return _ANNOTATOR.search(words) is not None


def is_about_people(name: str) -> bool:
    """Return whether a column of this name says something of people, such as their age."""
    return not _COUNT.search(words_of(name)) and _ABOUT.search(words_of(name)) is not None


def holds_names(values: Sequence[Any], people: Collection[str]) -> bool:
    """Return whether cells are annotators' identifiers, lists of them, or objects keyed by them."""
    if not people or not values:
        return False
    for separated in ("", r"[;|\n]", LISTED, r"[\s,;|]+"):
        parts = [part for value in values[:_LOOKED_AT] for part in names_in(value, separated)]
        if parts and 2 * sum(part in people for part in parts) >= len(parts):
            return True
    return False


def names_in(value: Any, separated: str = "") -> Iterator[str]:
    """Yield the names that a cell may hold: one, those of a list, or of an object's keys."""
    if isinstance(value, dict | list):
        for one in value:
            yield from names_in(one, separated)
    elif isinstance(value, str):
        listed = re.split(separated, value.strip("[](){} ")) if separated else [value]
        yield from filter(None, (part.strip("\"' ") for part in listed))
    elif (name := as_identifier(value)) is not None:
        yield name
