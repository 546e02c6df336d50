"""Names and labels as their words, so that two spellings of one name are the same."""

import re

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARKS, _BLANKS = re.compile(r"[\W_]+"), re.compile(r"[\s_]+")
_AROUND = " .,:;!*\"'`()[]"


def words_of(
    name: str, between: str = "_", *, humps: bool = False, marks_inside: bool = False
) -> str:
    """Return the words of a name without case and punctuation, joined by `between`.

    `humps` also splits words at capitals: "WorkerId" becomes worker_id, like "worker ID".
    `marks_inside` keeps the punctuation within the name, without which an answer may mean
    something else: "-1", "non-toxic".
    """
    if humps:
        name = _HUMP.sub("_", name.replace("(s)", "s"))
    separator, around = (_BLANKS, _AROUND) if marks_inside else (_MARKS, between)
    return separator.sub(between, name.casefold()).strip(around)
