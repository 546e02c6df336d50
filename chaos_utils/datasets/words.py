"""Names and labels as their words, so that two spellings of one name are the same."""

import re
from collections.abc import Mapping

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_MARKS, _BLANKS = re.compile(r"[\W_]+"), re.compile(r"[\s_]+")
_AROUND = " .,:;!*\"'`()[]"
_RARE = 0.005  # share of the votes, up to which a label may be a misspelling; a single vote always
_FEWEST_LETTERS = 4  # of a word that differs from another by a slip


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


def questions_on_spelling(n_votes: Mapping[str, int]) -> list[str]:
    """Ask of each label that is hardly ever given whether it is another one, misspelt.

    `n_votes` are the labels' numbers of votes. Labels with digits, such as ratings, are no words.
    """
    words = {
        name: name.casefold()
        for name, n in n_votes.items()
        if n and len(name) >= _FEWEST_LETTERS and not any(map(str.isdigit, name))
    }
    most = max(1, _RARE * sum(n_votes.values()))
    questions = []
    for rare in (name for name in words if n_votes[name] <= most):
        close = [
            name
            for name in words
            if n_votes[name] > most and differ_by_one_slip(words[rare], words[name])
        ]
        if close:
            times = "once" if n_votes[rare] == 1 else f"{n_votes[rare]:,} times"
            questions.append(
                f"the label {rare!r} is given {times}: is it a misspelling of "
                f"{max(close, key=n_votes.__getitem__)!r}? If so, correct the file"
            )
    return questions


def differ_by_one_slip(first: str, second: str) -> bool:
    """Return whether words differ by one letter, or by two neighbours in the wrong order."""
    short, long = sorted((first, second), key=len)
    start = next(
        (k for k, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short)
    )
    if len(short) < len(long):
        return short[start:] == long[start + 1 :]
    swapped = short[start : start + 2] == long[start : start + 2][::-1]
    return short != long and (
        short[start + 1 :] == long[start + 1 :]
        or (swapped and short[start + 2 :] == long[start + 2 :])
    )
