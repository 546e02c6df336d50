"""The papers' claims as cards: a verdict, id and place, the claim, what was found, and the rule."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import pandas as pd

from chaos_utils.analyses.agreement import adjusted_p
from chaos_utils.analyses.claims import KINDS, MARKS, PAPERS, shown_value
from chaos_utils.report.captions import first_sentence
from chaos_utils.report.columns import MISSING, Row
from chaos_utils.report.literal import in_html

# What a kind of verdict is called in an address and in a style sheet.
SHORT = dict(zip(KINDS, ("holds", "noise", "reading", "substance", "print", "open"), strict=True))


@dataclass(frozen=True, slots=True)
class ClaimCards:
    """The cards of a published table; shows itself as a cell's result.

    The book takes the Markdown, a directive that sets the cards from the table `id`; notebook
    viewers and the standalone page take the HTML.
    """

    id: str
    rows: pd.DataFrame = field(repr=False)
    n_resamples: int

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        cards = (
            f'<article id="{place_of(row)}" class="claim {SHORT[row["kind"]]}">'
            f"{card_html(row, self.n_resamples)}</article>"
            for row in self.rows.to_dict("records")
        )
        return {
            "text/markdown": f"```{{claims}} {self.id}\n```\n",
            "text/html": "\n".join(cards),
            "text/plain": f"{len(self.rows)} claims of {self.id}",
        }


def place_of(row: Row) -> str:
    """Return the HTML id of a claim's card, which never changes."""
    return f"claim-{row['id']}"


def card_html(row: Row, n_resamples: int, link: str = "") -> str:
    """Return the content of a claim's card as HTML, all text escaped.

    `row` is one of `claims.check_claims`, and `link` leads to its items in the explorer.
    """
    kind, claim, place = row["kind"], in_html(row["claim"]), place_of(row)
    finding, details = _split(row["evidence"])
    source = f"{row['id']} · {PAPERS[row['paper']]}, {row['place']}"
    items = (
        f'<p class="claim-items">See <a href="{in_html(link)}">{in_html(row["items"])}</a> '
        "in the explorer.</p>"
    )
    return (
        '<p class="claim-head"><span class="claim-verdict"><span aria-hidden="true">'
        f"{MARKS[kind]}</span> {kind}</span> "
        f'<span class="claim-place">{in_html(source)}</span></p>'
        f'<h3 id="{place}-title">{claim}&nbsp;<a class="headerlink" href="#{place}" '
        f'title="Link to this claim" aria-label="Link to claim {row["id"]}">#</a></h3>'
        f'<p class="claim-found">{in_html(finding)}</p>'
        f"{items if link else ''}"
        f"<details><summary>How it was decided</summary>"
        f"{f'<p>{in_html(details)}</p>' if details else ''}"
        f"<dl>{''.join(_facts(row, n_resamples))}</dl>"
        "</details>"
    )


def _split(evidence: str) -> tuple[str, str]:
    """Return the first sentence and the others."""
    finding = f"{first_sentence(evidence).removesuffix('.')}."
    return finding, evidence[len(finding) :].strip()


def _facts(row: Row, n_resamples: int) -> Iterable[str]:
    """Yield the entries of a card's list as HTML, without those that have no value."""
    facts = {
        "Holds if the value": row["criterion"] or MISSING,
        "Value, with its 95% interval if it has one": shown_value(row),
        "p, adjusted for all claims of a larger value (Holm)": adjusted_p(row, n_resamples),
    }
    for name, fact in facts.items():
        if fact != MISSING:
            yield f"<dt>{in_html(name)}</dt><dd>{in_html(fact)}</dd>"
