"""In chapters, a cell's folded code comes after its output."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class CodeBelow(SphinxPostTransform):
    """Move folded code after the output of its cell."""

    default_priority = 200  # MyST-NB folds code at 199
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        """Move the code in every cell that has an output."""
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("hide_mode") == "input" and len(cell) > 1:
                cell.append(cell.pop(0))


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(CodeBelow)
