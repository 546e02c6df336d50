from typing import Annotated, Literal

import pytest
from pydantic import Field

from chaos_utils.base.checked import Strict, checked
from chaos_utils.base.errors import ChaosError


class Box(Strict):
    kind: Literal["box"]
    size: Annotated[int, Field(ge=1)] = 1


class Bag(Strict):
    kind: Literal["bag"]
    sizes: Annotated[tuple[int, ...], Field(min_length=1)] = (1,)


class Parcel(Strict):
    code: Annotated[str, Field(pattern="^[A-Z]+$", description="capital letters")]
    inside: Annotated[Box | Bag, Field(discriminator="kind")] | None = None
    beside: dict[str, Box | float] = Field(default_factory=dict)
    note: str = Field("", alias="says")


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (None, "nothing; expected names with values"),
        ({}, "code: is missing"),
        ({"code": 3}, "code: found 3; expected capital letters"),
        ({"code": "a" * 99}, "code: expected capital letters"),
        ({"code": "A", "say": ""}, "say: no such field; did you mean 'says'? "
         "One of: code, inside, beside, says"),
        ({"code": "A", "inside": {"kind": "bug"}},
         "inside.kind: found 'bug'; did you mean 'bag'? One of: box, bag"),
        ({"code": "A", "inside": {"kind": "bag", "size": 1}},
         "inside.bag.size: no such field; did you mean 'sizes'? One of: kind, sizes"),
        ({"code": "A", "inside": {"kind": "bag", "sizes": [None]}},
         "inside.bag.sizes.0: found nothing; expected a whole number"),
        ({"code": "A", "inside": {"kind": "bag", "sizes": []}},
         "inside.bag.sizes: found []; a list should have at least 1 item, not 0"),
        ({"code": "A", "beside": {"it": "x"}},
         "beside.it: found 'x'; expected names with values, or a number"),
        ({"code": "A", "beside": {"it": {"kind": "box", "sise": 2}}},
         "beside.it.sise: no such field; did you mean 'size'? One of: kind, size\n"
         "             beside.it: found {'kind': 'box', 'sise': 2}; expected a number"),
    ],
)  # fmt: skip
def test_a_fault_names_the_place_what_was_found_and_what_was_expected(content, found):
    with pytest.raises(ChaosError) as fault:
        checked(content, Parcel, "a.yml", "This parcel", todo="pack it again")
    assert str(fault.value) == (
        "This parcel cannot be read.\n  where:     a.yml\n"
        f"  found:     {found}\n  to do:     pack it again"
    )


def test_of_many_faults_the_first_are_shown():
    content = {"code": "A", "inside": {"kind": "bag", "sizes": ["x"] * 14}}
    with pytest.raises(ChaosError) as fault:
        checked(content, Parcel, "a.yml", "This parcel")
    assert str(fault.value).count("expected a whole number") == 10
    assert str(fault.value).endswith("and 4 more")
