"""A fault, field by field: its words may change; its fields are what a reader acts on."""

import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chaos_utils.base.errors import ChaosError

_FIELD = re.compile(r"^  (where|found|expected|to do): +", re.MULTILINE)


def fields_of(message: object) -> dict[str, str]:
    """Return the fields of a fault, or of what the command says of it; "" for those it lacks."""
    problem, *rest = _FIELD.split(str(message))
    fields = dict.fromkeys(("where", "found", "expected", "todo"), "")
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        first, mark, others = text.rstrip("\n").partition("\n")
        fields[name.replace(" ", "")] = first + mark + textwrap.dedent(others)
    return {"problem": problem.rstrip("\n")} | fields


def assert_fields(message: object, **expected: str | tuple[str, ...]) -> None:
    """Fail where a field of a fault lacks one of the texts; `any` is any of the fields."""
    fields = fields_of(message)
    fields["any"] = str(message)
    for name, texts in expected.items():
        for text in (texts,) if isinstance(texts, str) else texts:
            assert text in fields[name], f"{name} lacks {text!r}:\n{message}"


@contextmanager
def refused(**expected: str | tuple[str, ...]) -> Iterator[pytest.ExceptionInfo[ChaosError]]:
    """Expect a fault with these texts in its fields."""
    with pytest.raises(ChaosError) as fault:
        yield fault
    assert_fields(fault.value, **expected)
