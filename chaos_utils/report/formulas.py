"""Formulas in TeX as MathML."""

import re
from typing import Literal

from latex2mathml.converter import convert

# TeX sets a thin space between a function's name and what is no parenthesis; browsers set none.
_NAME = r"\\(?:log|ln)(?![a-z])"
_SPACE_BEFORE = re.compile(rf"(?<=[\w}})])\s*(?={_NAME})")
_SPACE_BEHIND = re.compile(
    rf"({_NAME}(?:_\w|_\{{\w+\}})?)\s*(?=[^\W_]|\\(?!left|[bB]ig|[,;:! }}]))"
)


def mathml(formula: str, *, display: Literal["inline", "block"] = "inline") -> str:
    """Return a formula as MathML, with the spaces around *log* and *ln* that TeX sets."""
    formula = _SPACE_BEHIND.sub(r"\1\\,", _SPACE_BEFORE.sub(r"\\,", formula))
    return str(convert(formula, display=display))
