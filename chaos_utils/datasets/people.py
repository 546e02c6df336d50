"""Columns and cells that name people: who annotated is never shown, kept or sent."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from chaos_utils.datasets.cells import as_identifier, as_number
from chaos_utils.datasets.words import words_of

# Names of columns that hold the annotator, the surest first, as `words_of` writes them. More names
# satisfy `names_annotators`, but are no sure sign of a row per vote.
VOTERS = (
    "annotator", "worker", "annotator_id", "worker_id", "workerid", "rater", "rater_id", "coder",
    "coder_id", "user", "user_id", "participant", "participant_id", "completed_by", "worker_name",
    "annotator_name", "username", "assignment_worker_id", "performer", "judge", "expert",
    "labeler", "labeler_id", "labeller", "labeller_id", "evaluator", "evaluator_id", "assessor",
    "assessor_id", "turker", "turker_id", "rater_name", "coder_name", "amt_worker_ids",
)  # fmt: skip
VOTER_LISTS = ("annotators", "annotator_ids", "workers", "worker_ids", "raters", "rater_ids",
               "coders", "users", "user_ids", "participants")  # fmt: skip
NO_VOTER = re.compile(  # an annotator's identifier that stands for no person
    r"(gold|majority|consensus|adjudicat\w*)(_(labels?|votes?|standard|annotations?|answers?))?"
)
_ROLE = (
    r"(annot(at[oe]r)?s?|(crowd_?)?workers?|turkers?|raters?|coders?|labell?ers?|evaluators?"
    r"|assessors?|respondents?|performers?|voters?|adjudicators?|curators?|assignees?"
    r"|coordinators?|supervisors?|verifiers?|proof_?readers?)"
)
# Words for people that may also begin the name of a text: a user's question, an expert's answer.
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
_OF_GROUP = (
    r"(age|age_(group|range)|genders?|sex|ethnicity|race|nationality|religion|education|occupation"
    r"|mother_tongue|native_language|demographics)"
)
_ABOUT = re.compile(
    rf"(^|_){_ROLE}_\w+$|(^|_)({_OF_GROUP}|e_?mails?|email_address|ip|ip_address|phone|telephone"
    r"|first_?name|last_?name|surname|full_?name|user_?agent|date_of_birth"
    r"|birth_?(day|date|year|place)|dob|(author|creator|poster|owner|nick|screen)s?"
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
_MOST_WORDS_OF_PERSON = 3  # a cell with more words quotes a person
NAME_SEPARATORS = r"[,;|\n]"  # between the names in a cell
_MOST_VALUES = 1000  # that are looked at
_MOST = 0.8  # share of the values
_SMALL, _NEARLY_ALL = 100, 0.9  # numbers below may count people or classes; share of these numbers
_FEWEST_LETTERS = 3  # in a name that texts are searched for
_FEWEST_LETTERS_OF_PART = 4  # in a part of a name that texts are searched for
_MOST_WORDS_OF_NAME = 6


def names_annotators(name: str, values: Iterable[Any] | None = None) -> bool:
    """Return whether a column of this name says who annotated.

    For an ambiguous name such as "user", `values` decide, if they are given.
    """
    words = words_of(name, humps=True)
    if _COUNT.search(words):
        return False
    if values is not None and _ROLE_ALONE.search(words):
        texts = [value for value in values if isinstance(value, str)]
        n_words = [len(text.split()) for text in texts]
        return not texts or bool(np.median(n_words) <= _MOST_WORDS_OF_PERSON)
    return _ANNOTATOR.search(words) is not None


def is_about_people(name: str) -> bool:
    """Return whether a column of this name describes people, such as by their age."""
    words = words_of(name, humps=True)
    return not _COUNT.search(words) and _ABOUT.search(words) is not None


def tells_groups(name: str) -> bool:
    """Return whether a column of this name divides people into groups, as their gender does."""
    return re.search(rf"(^|_){_OF_GROUP}$", words_of(name, humps=True)) is not None


def holds_names(values: Sequence[Any], people: Collection[str], name: str = "") -> bool:
    """Return whether cells are annotators' identifiers, lists of them, or objects keyed by them.

    Texts count too, if they mention at least two annotators, in half of the cells or as whole
    cells. Small numbers in a column that has a `name` may be classes or points: they are
    identifiers only if nearly all of the annotators' numbers occur, and the name suggests nothing
    else.
    """
    if not people or not values:
        return False
    numbers = [as_number(value) for value in values]
    if name and all(number is not None and 0 <= number < _SMALL for number in numbers):
        in_cells, known = {as_identifier(value) for value in values}, {*people}
        are_all = len(in_cells & known) >= _NEARLY_ALL * len(in_cells | known)
        return are_all and not _POINTS.search(words_of(name, humps=True))
    if sum(isinstance(value, str) and value in people for value in values) > 1:
        return True
    for separators in ("", r"[;|\n]", NAME_SEPARATORS, r"[\s,;|]+"):
        parts = [part for value in values[:_MOST_VALUES] for part in names_in(value, separators)]
        if parts and 2 * sum(part in people for part in parts) >= len(parts):
            return True
    return _mention(values[:_MOST_VALUES], people)


def _mention(values: Sequence[Any], people: Collection[str]) -> bool:
    """Return whether at least half of the cells mention an annotator by a name or a part of one.

    More than one name or part of a name must be mentioned; a full name is several.
    """
    words_by_name = {name: _words_in(name) for name in people if not name.isdecimal()}
    phrases = {
        tuple(words) for name, words in words_by_name.items() if len(name) >= _FEWEST_LETTERS
    }
    for name, words in words_by_name.items():
        for part in words if len(words) > 1 else ():
            # A part counts if the name has it with a capital: not the "van" of van Dyk.
            if len(part) >= _FEWEST_LETTERS_OF_PART and part.capitalize() in name:
                phrases.add((part,))
    phrases_by_cell = []
    for value in values:
        words = _words_in(" ".join(names_in(value)))
        lengths = range(1, _MOST_WORDS_OF_NAME + 1)
        spans = (words[k : k + n] for n in lengths for k in range(len(words)))
        phrases_by_cell.append(phrases.intersection(map(tuple, spans)))
    is_frequent = 2 * sum(map(bool, phrases_by_cell)) >= len(phrases_by_cell)
    return is_frequent and len(set().union(*phrases_by_cell)) > 1


def _words_in(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def look_like_people(values: Sequence[Any]) -> bool:
    """Return whether most cells look like persons' names, addresses or handles."""
    texts = [text.strip() for text in values[:_MOST_VALUES]
             if isinstance(text, str) and text.strip()]  # fmt: skip
    return bool(texts) and sum(map(_is_person, texts)) >= _MOST * len(texts)


def _is_person(text: str) -> bool:
    """Return whether a text is an address, a handle, or two or three words with capitals."""
    words = [word for word in re.split(r"[\s(]+", text) if word[:1].isalpha()]
    are_names = "@" in text or all(word[0].isupper() for word in words)
    return are_names and _PERSON.fullmatch(text) is not None


def names_in(value: Any, separators: str = "") -> Iterator[str]:
    """Yield the names that a cell may hold: the elements of a list, an object's keys, or a text.

    A text is split at `separators`, a regular expression; empty for one name.
    """
    if isinstance(value, dict | list):
        for element in value:
            yield from names_in(element, separators)
    elif isinstance(value, str):
        parts = re.split(separators, value.strip("[](){} ")) if separators else [value]
        yield from filter(None, (part.strip("\"' ") for part in parts))
    elif (name := as_identifier(value)) is not None:
        yield name
