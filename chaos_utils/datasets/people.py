"""Columns and cells that name people: who annotated is never shown, kept or sent."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from chaos_utils.datasets.cells import as_identifier, as_number
from chaos_utils.datasets.words import words_of

# Columns that hold who voted, the surest first; `names_annotators` knows more, which are no
# sure sign of a row per vote. Both are compared as words.
VOTERS = (
    "annotator", "worker", "annotator_id", "worker_id", "workerid", "rater", "rater_id", "coder",
    "coder_id", "user", "user_id", "participant", "participant_id", "completed_by", "worker_name",
    "annotator_name", "username", "assignment_worker_id", "performer", "judge", "expert",
    "labeler", "labeler_id", "labeller", "labeller_id", "evaluator", "evaluator_id", "assessor",
    "assessor_id", "turker", "turker_id", "rater_name", "coder_name", "amt_worker_ids",
)  # fmt: skip
VOTER_LISTS = ("annotators", "annotator_ids", "workers", "worker_ids", "raters", "rater_ids",
               "coders", "users", "user_ids", "participants")  # fmt: skip
NO_VOTER = re.compile(  # among those who voted
    r"(gold|majority|consensus|adjudicat\w*)(_(labels?|votes?|standard|annotations?|answers?))?"
)
_ROLE = (
    r"(annot(at[oe]r)?s?|(crowd_?)?workers?|turkers?|raters?|coders?|labell?ers?|evaluators?"
    r"|assessors?|respondents?|performers?|voters?|adjudicators?|curators?|assignees?"
    r"|coordinators?|supervisors?|verifiers?|proof_?readers?)"
)
# Who they are besides, in words that name texts too: a user's question, an expert's answer.
_MAYBE = (
    r"(users?|judges?|experts?|participants?|reviewers?|subjects?|persons?|people|members?"
    r"|moderators?|editors?|managers?|contributors?|checkers?|graders?)"
)
_KEY = (
    r"(p?ids?|uu?ids?|names?|codes?|keys?|hash(es)?|numbers?|nos?|nr|idx|index|lists?|handles?"
    r"|logins?|e?_?mails?|private|public|external|[0-9])"
)
_COUNT = re.compile(r"^(n|num|number|no|count|total)(_of)?_")
_ANNOTATOR = re.compile(
    rf"(^|_){_ROLE}(_?{_KEY})*$|(^|_){_MAYBE}(_?{_KEY})+$"
    r"|(^|_)(prolific|mturk|amt)(_?(p?ids?|worker_?ids?))?$|(^|_)(pid|logins?|assigned)$"
    r"|(^|_)(complet|annotat|label|labell|rat|cod|judg|review|updat|creat|submitt|answer|assign"
    r"|check|curat|moderat|edit|approv|verifi|validat|adjudicat|correct|modifi|chang|tagg|mark"
    rf"|assess|evaluat|scor|grad|collect|handl|process|supervis)ed_(by|to)(_{_KEY})*$"
)
_ABOUT = re.compile(
    rf"(^|_){_ROLE}_\w+$|(^|_)(e_?mails?|email_address|ip|ip_address|phone|telephone|first_?name"
    r"|last_?name|surname|full_?name|user_?agent|age|age_(group|range)|genders?|sex|ethnicity|race"
    r"|nationality|religion|education|date_of_birth|birth_?(day|date|year|place)|dob|occupation"
    r"|mother_tongue|native_language|demographics|(author|creator|poster|owner|nick|screen)s?"
    rf"(_?{_KEY})*)$"
)
_POINTS = re.compile(
    r"(^|_)(gold|labels?|class(es)?|confidence|certainty|difficulty|scores?|ratings?|points?|stars?"
    r"|levels?|rank|round|turn|position|batch|group|votes?|answers?|majority)(_|$)"
)
_ROLE_ALONE = re.compile(rf"(^|_){_MAYBE}(_?[0-9])*$")
# Cells that are a person's name, address or handle: "Ann Lee", "Ann L. (2)", "@ann".
_PERSON = re.compile(
    r"""@[\w.-]+ | \S+@[\w-]+(\.[\w-]+)+
    | ([^\W\d_]['’\w-]*\.?,?\s){1,2}[^\W\d_]['’\w-]*\.?(\s?\(?\#?\d+\)?)?""",
    re.VERBOSE,
)
CALLED = 3  # words at most, in a name: whoever says more is quoted
LISTED = r"[,;|\n]"  # between the names in a cell
_LOOKED_AT = 1000  # values
_MOST = 0.8  # of the values
_COUNTED, _NEARLY_ALL = 100, 0.9  # numbers by which few people or classes are counted
_PART, _WORDS = 4, 6  # letters of a part of a name that is one by itself; words of a name at most


def names_annotators(name: str, values: Iterable[Any] | None = None) -> bool:
    """Return whether a column of this name says who annotated; of "user", `values` decide."""
    words = words_of(name, humps=True)
    if _COUNT.search(words):
        return False
    if values is not None and _ROLE_ALONE.search(words):
        texts = [value for value in values if isinstance(value, str)]
        return not texts or bool(np.median([len(text.split()) for text in texts]) <= CALLED)
    return _ANNOTATOR.search(words) is not None


def is_about_people(name: str) -> bool:
    """Return whether a column of this name says something of people, such as their age."""
    words = words_of(name, humps=True)
    return not _COUNT.search(words) and _ABOUT.search(words) is not None


def holds_names(values: Sequence[Any], people: Collection[str], name: str = "") -> bool:
    """Return whether cells are annotators' identifiers, lists of them, or objects keyed by them.

    So are texts that hold two of them at least, in half of the cells or as whole cells. Small
    numbers in a column that has a `name` may be classes or points: they are identifiers if nearly
    all of these occur, and the name says nothing else.
    """
    if not people or not values:
        return False
    numbers = [as_number(value) for value in values]
    if name and all(number is not None and 0 <= number < _COUNTED for number in numbers):
        found, known = {as_identifier(value) for value in values}, {*people}
        are_all = len(found & known) >= _NEARLY_ALL * len(found | known)
        return are_all and not _POINTS.search(words_of(name, humps=True))
    if sum(isinstance(value, str) and value in people for value in values) > 1:
        return True
    for separated in ("", r"[;|\n]", LISTED, r"[\s,;|]+"):
        parts = [part for value in values[:_LOOKED_AT] for part in names_in(value, separated)]
        if parts and 2 * sum(part in people for part in parts) >= len(parts):
            return True
    return _mention(values[:_LOOKED_AT], people)


def _mention(values: Sequence[Any], people: Collection[str]) -> bool:
    """Return whether half of the cells hold a name of an annotator, or a part, and not all one."""
    split = [(name, _words_in(name)) for name in people if not name.isdecimal()]
    names = {tuple(words) for name, words in split if len(name) >= CALLED}
    names |= {(word,) for name, words in split for word in words
              if words[1:] and len(word) >= _PART and word.capitalize() in name}  # fmt: skip
    found = []
    for value in values:
        words = _words_in(" ".join(names_in(value)))
        spans = (words[k : k + n] for n in range(1, _WORDS + 1) for k in range(len(words)))
        found.append(names.intersection(map(tuple, spans)))
    return 2 * sum(map(bool, found)) >= len(found) and len(set().union(*found)) > 1


def _words_in(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def look_like_people(values: Sequence[Any]) -> bool:
    """Return whether most cells look like persons' names, addresses or handles."""
    texts = [one.strip() for one in values[:_LOOKED_AT] if isinstance(one, str) and one.strip()]
    return bool(texts) and sum(map(_is_person, texts)) >= _MOST * len(texts)


def _is_person(text: str) -> bool:
    """Return whether a text is an address, a handle, or two or three words with capitals."""
    words = [word for word in re.split(r"[\s(]+", text) if word[:1].isalpha()]
    are_names = "@" in text or all(word[0].isupper() for word in words)
    return are_names and _PERSON.fullmatch(text) is not None


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
