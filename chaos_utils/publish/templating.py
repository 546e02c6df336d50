"""Pages and pieces of pages, from the templates beside this module.

All values are escaped, except those that a template marks as `safe`: HTML made elsewhere.
"""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from chaos_utils.base import style
from chaos_utils.report.captions import without_markup
from chaos_utils.report.manifests import picture_name

# Styles, scripts, templates and settings of every book's pages.
ASSETS = Path(__file__).parents[1] / "assets"


@cache
def _environment() -> Environment:
    """Return Jinja's environment for the templates of this package."""
    environment = Environment(
        loader=PackageLoader("chaos_utils.publish"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"modes": style.MODES, "picture_name": picture_name}
    environment.filters |= {"plain": without_markup, "repr": repr}
    return environment


def render(name: str, /, **values: Any) -> str:
    """Return the HTML of the template of this name, with these values."""
    return _environment().get_template(f"{name}.html").render(values)


def piece(name: str, /, *arguments: Any, **keywords: Any) -> str:
    """Return the HTML of a macro of ``pieces.html``, with its arguments."""
    macro = getattr(_environment().get_template("pieces.html").module, name)
    return str(macro(*arguments, **keywords))
