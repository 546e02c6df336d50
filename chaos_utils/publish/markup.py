"""Small pieces of HTML that several pages are made of."""

from collections.abc import Iterable, Sequence
from html import escape


def scrolled(content: str, name: str, *, wide: bool = False) -> str:
    """Return a table in a box that scrolls by itself, named for screen readers.

    `content` is the table's HTML; `name`, which says what it shows, is escaped. A `wide` one takes
    the page's margin too; the theme hides its contents meanwhile.
    """
    kind = "table-scroll wide full-width" if wide else "table-scroll"
    label = f'role="region" tabindex="0" aria-label="{escape(name)}"'
    return f'<div class="{kind}" {label}>{content}</div>'


def facts_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a small table from cells that are HTML; the first of a row is its heading.

    Caption and header are escaped. Without rows, there is no table: the result is empty.
    """
    lines = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>'
        for first, *others in rows
    )
    return table(caption, header, lines, "published facts") if lines else ""


def table(caption: str, header: Iterable[str], lines: str, classes: str) -> str:
    """Return a table from rows that are HTML, in a box that scrolls by itself.

    Caption and header are escaped.
    """
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    content = (
        f'<table class="{classes}"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    )
    return scrolled(content, caption)


def code(text: str) -> str:
    """Return a short text, escaped, as code in HTML."""
    return f"<code>{escape(text)}</code>"


def copied(heading: str, text: str, name: str) -> str:
    """Return a text that one click copies: the script puts a button before it.

    All text is escaped. `heading` stands above it, and may be empty; `name` says what it is, for
    the button and for screen readers.
    """
    title = f"<h3>{escape(heading)}</h3>" if heading else ""
    return (
        f'<div class="copied" data-name="{escape(name)}">{title}'
        f'<pre tabindex="0" role="region" aria-label="{escape(name)}">{escape(text)}</pre></div>\n'
    )
