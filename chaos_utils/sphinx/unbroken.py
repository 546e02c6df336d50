"""Dates, products and sizes such as ``1,514 × 100`` stay on one line, however narrow it is."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

_UNBROKEN = re.compile(r"(\d{4}-\d\d-\d\d|[\d.,–]*\d × \d[\d.,–]*\d?|\(× \d[\d.,]*\))")
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


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(Unbroken)
