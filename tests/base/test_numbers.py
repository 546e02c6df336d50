"""How numbers are written, wherever people read them."""

from hypothesis import example, given
from hypothesis import strategies as st

from chaos_utils.base.numbers import true_minus

FORMATS = ("", ".0f", ".2f", ".9g", "+.2f", ",.1f", "+,.0f", ".1%", "+.0%", ".2e")


@given(st.floats(allow_nan=False), st.sampled_from(FORMATS))
@example(-0.0, ".2f")
@example(-0.004, ".2f")
@example(0.004, "+.2f")
@example(-1e-12, ".2e")
@example(-0.0, ".2e")
def test_a_sign_is_a_true_one_and_stands_before_what_is_not_shown_as_zero(number, format):
    plain = f"{number:{format}}"
    written = true_minus(plain)
    is_zero = not set(plain) & set("123456789fn")  # infinity has letters
    assert "-" not in written
    assert written.startswith("−") == (plain.startswith("-") and not is_zero)
    assert written.startswith("+") == (plain.startswith("+") and not is_zero)
    assert written.replace("−", "-") == (plain.lstrip("+-") if is_zero else plain)
