"""Names and labels as their words, so that two spellings of one name are the same."""

import re

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARKS, _BLANKS = re.compile(r"[\W_]+"), re.compile(r"[\s_]+")
_AROUND = " .,:;!*\"'`()[]"


def words_of(
    name: str, between: str = "_", *, humps: bool = False, marks_inside: bool = False
) -> str:
    """Return the words of a name without case and marks, with `between` them.

    `humps` parts words where a capital begins one: "WorkerId" is worker_id, as "worker ID" is.
    `marks_inside` leaves the marks within the name, as an answer means another thing without them:
    "-1", "non-toxic".
    """
    if humps:
        name = _HUMP.sub("_", name.replace("(s)", "s"))
    separator, around = (_BLANKS, _AROUND) if marks_inside else (_MARKS, between)
    return separator.sub(between, name.casefold()).strip(around)
