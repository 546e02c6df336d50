"""The one exception that a reader is meant to see."""

import difflib
from collections.abc import Callable, Iterable

_LISTED_BESIDE_CLOSEST = 10  # up to so many choices are all listed beside the closest one
_LISTED_AT_MOST = 100  # choices that are listed if none is close


class ChaosError(Exception):
    """A fault that the reader can act on: shown as one message, without a traceback.

    The message shows the problem, and below it the other arguments, in this order, if given.

    Parameters
    ----------
    problem : str
        What is wrong, in one sentence.
    where : object, optional
        The file, and the place in it.
    found : object, optional
        What stood there.
    expected : object, optional
        What should have stood there.
    todo : str, optional
        What to do now.
    """

    def __init__(
        self,
        problem: str,
        *,
        where: object = None,
        found: object = None,
        expected: object = None,
        todo: str | None = None,
    ) -> None:
        self._parts = (problem, where, found, expected, todo)
        details = {"where": where, "found": found, "expected": expected, "to do": todo}
        lines = [problem]
        for name, value in details.items():
            if value is not None:
                text = str(value).replace("\n", "\n" + " " * 13)
                lines.append(f"  {name + ':':<10} {text}")
        super().__init__("\n".join(lines))

    def within(self, container: object) -> "ChaosError":
        """Return the same fault, with the name of its container put before `where`.

        Parameters
        ----------
        container : object
            Such as the file in which the fault was found.

        Returns
        -------
        ChaosError
            A new error; this one stays as it is.
        """
        problem, where, found, expected, todo = self._parts
        where = container if where is None else f"{container}, {where}"
        return ChaosError(problem, where=where, found=found, expected=expected, todo=todo)

    def advising(self, change: Callable[[str], str]) -> "ChaosError":
        """Return the same fault with other advice, where a command has options of its own.

        Parameters
        ----------
        change : callable
            From what to do, in words, to the same in other words.

        Returns
        -------
        ChaosError
            A new error; this one stays as it is.
        """
        problem, where, found, expected, todo = self._parts
        todo = change(todo) if todo else todo
        return ChaosError(problem, where=where, found=found, expected=expected, todo=todo)


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Name the choice closest to a word, in any case; list the choices if few or none is close."""
    choices = list(choices)
    choice_in_lower_case = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(word.casefold(), choice_in_lower_case, n=1)
    listed = ", ".join(choices[:_LISTED_AT_MOST]) + ", …" * (len(choices) > _LISTED_AT_MOST)
    if close:
        alternatives = f" One of: {listed}" if 1 < len(choices) <= _LISTED_BESIDE_CLOSEST else ""
        return f"did you mean {choice_in_lower_case[close[0]]!r}?{alternatives}"
    return f"one of: {listed}" if choices else "there are none"


def check_known(
    problem: str, word: str, known: Iterable[str], *, where: object = None, found: object = None
) -> None:
    """Raise a ChaosError, which names the closest known word, if a word is none of these.

    `found` is how the message shows the word, by default between quotation marks.
    """
    choices = list(known)
    if word not in choices:
        shown = repr(word) if found is None else found
        raise ChaosError(problem, where=where, found=shown, expected=did_you_mean(word, choices))
