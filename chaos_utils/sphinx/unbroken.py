"""Dates, products, sizes such as ``1,514 × 100``, and a command's options stay on one line."""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from pygments.lexers.shell import BashSessionLexer  # type: ignore[import-untyped]
from pygments.token import Text  # type: ignore[import-untyped]
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

_UNBROKEN = re.compile(r"(\d{4}-\d\d-\d\d|[\d.,–]*\d × \d(?:[\d.,–]*\d)?|\(× \d[\d.,]*\))")
_OPTION = re.compile(r"--?\w[\w-]*")
_AS_WRITTEN = (nodes.literal, nodes.FixedTextElement, nodes.math, nodes.raw)


class Unbroken(SphinxPostTransform):
    """Mark them for the stylesheet: other signs would be found by no search, and copied."""

    default_priority = 500
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Put each into an element of its own."""
        for text in list(self.document.findall(nodes.Text)):
            parts = _UNBROKEN.split(text)
            if len(parts) == 1 or isinstance(text.parent, _AS_WRITTEN):
                continue
            marked = [
                nodes.inline("", part, classes=["unbroken"]) if place % 2 else nodes.Text(part)
                for place, part in enumerate(parts)
                if part
            ]
            text.parent.replace(text, marked)


class ConsoleLexer(BashSessionLexer):
    """Commands in a terminal, with options as tokens: ``-p`` would break after its dash."""

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Yield the start, kind and text of each token."""
        for start, kind, value in super().get_tokens_unprocessed(text):
            is_option = kind is Text and _OPTION.fullmatch(value)
            yield start, Text.Option if is_option else kind, value


def setup(app: Sphinx) -> None:
    """Register the transform and the lexer."""
    app.add_post_transform(Unbroken)
    app.add_lexer("console", ConsoleLexer)
