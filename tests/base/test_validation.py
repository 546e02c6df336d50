from typing import Annotated, Literal

import pytest
from pydantic import Field

from chaos_utils.base.errors import ChaosError
from chaos_utils.base.validation import StrictModel, validate


class Box(StrictModel):
    kind: Literal["box"]
    size: Annotated[int, Field(ge=1)] = 1


class Bag(StrictModel):
    kind: Literal["bag"]
    sizes: Annotated[tuple[int, ...], Field(min_length=1)] = (1,)


class Parcel(StrictModel):
    code: Annotated[str, Field(pattern="^[A-Z]+$", description="capital letters")]
    inside: Annotated[Box | Bag, Field(discriminator="kind")] | None = None
    beside: dict[str, Box | float] = Field(default_factory=dict)
    note: str = Field("", alias="says")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"code": 3}, "code: found 3; expected capital letters"),
        ({"code": "a" * 99}, "code: expected capital letters"),
        ({"say": 1}, "say: no such field; did you mean 'says'? One of: code, inside, beside, says"),
        ({"inside": {"kind": "bug"}},
         "inside.kind: found 'bug'; did you mean 'bag'? One of: box, bag"),
        ({"inside": {"kind": "bag", "sizes": []}},
         "inside.bag.sizes: found []; a list should have at least 1 item, not 0"),
        ({"beside": {"it": "x"}}, "beside.it: found 'x'; expected names with values, or a number"),
        ({"beside": {"it": {"kind": "box", "sise": 2}}},
         "beside.it.sise: no such field; did you mean 'size'? One of: kind, size\n"
         "             beside.it: found {'kind': 'box', 'sise': 2}; expected a number"),
        (None, "nothing; expected names with values"),
    ],
)  # fmt: skip
def test_a_fault_names_the_place_what_was_found_and_what_was_expected(changes, found):
    content = changes and {"code": "A"} | changes
    with pytest.raises(ChaosError) as fault:
        validate(content, Parcel, "a.yml", "This parcel", todo="pack it again")
    assert str(fault.value) == (
        "This parcel cannot be read.\n  where:     a.yml\n"
        f"  found:     {found}\n  to do:     pack it again"
    )


def test_a_missing_name_is_said_and_of_many_faults_the_first_are_shown():
    content = {"inside": {"kind": "bag", "sizes": ["x"] * 14}}
    with pytest.raises(ChaosError) as fault:
        validate(content, Parcel, "a.yml", "This parcel")
    assert "code: is missing" in str(fault.value)
    assert str(fault.value).count("expected a whole number") == 11
    assert str(fault.value).endswith("and 3 more")
