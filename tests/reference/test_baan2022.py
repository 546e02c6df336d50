"""The published numbers of Baan et al. (2022), from the released data."""

import pytest

from chaos_utils.analyses import error_distributions
from chaos_utils.analyses.evidence import Evidence
from chaos_utils.scoring.systems import load_systems

ROBERTA = "RoBERTa-base, seed 0"
# What the released notebook's draw gives, to the digits that are known of it.
PRINTED = {
    ("ece", "all", "H1", 1): ("0.1602", 0.16),
    ("ece", "all", "H2", 1): ("0.1627", 0.163),
    ("ece", "all", ROBERTA, 1): ("0.147", 0.147),
    ("ece", "all", ROBERTA, 2): ("0.036", 0.036),
    ("dist_ce", "all", "H1", 1): ("0.0722", 0.072),
    ("dist_ce", "all", "H2", 1): ("0.0728", 0.073),
    ("dist_ce", "all", ROBERTA, 1): ("0.259", 0.259),
    ("dist_ce", "all", ROBERTA, 2): ("0.217", 0.217),
    ("kl", "all", "H2", 1): ("0.0047", 0.0047),
    ("kl", "all", ROBERTA, 1): ("0.6439", 0.64),
    ("kl", "all", ROBERTA, 2): ("0.5627", 0.56),
    ("ece", "outside_both", "H1", 1): ("0.142", 0.142),
    ("ece", "outside_both", "H2", 1): ("0.142", 0.142),
    ("ece", "outside_both", ROBERTA, 1): ("0.151", 0.151),
    ("ece", "outside_both", ROBERTA, 2): ("0.042", 0.042),
    ("dist_ce", "outside_both", "H1", 1): ("0.092", 0.092),
    ("dist_ce", "outside_both", "H2", 1): ("0.094", 0.094),
    ("dist_ce", "outside_both", ROBERTA, 1): ("0.261", 0.261),
    ("dist_ce", "outside_both", ROBERTA, 2): ("0.219", 0.219),
    ("kl", "outside_both", "H2", 1): ("0.0084", 0.0084),
    ("kl", "outside_both", ROBERTA, 1): ("0.48", 0.48),
    ("kl", "outside_both", ROBERTA, 2): ("0.38", 0.38),
}


@pytest.fixture(scope="module")
def draw(released):
    snli = released[0]
    systems = load_systems(snli, trained=False)
    assert systems, "the released predictions are not available"
    evidence = Evidence((snli.dataset,), (snli,), (tuple(systems),))
    table = error_distributions.released_draw(evidence).rows
    return table.set_index(["measure", "reference", "system", "temperature"])


@pytest.mark.parametrize("key", PRINTED, ids=lambda key: ", ".join(map(str, key)))
def test_the_released_draw_gives_every_printed_digit(draw, key):
    digits, published = PRINTED[key]
    row = draw.loc[key]
    assert f"{row['value']:.{len(digits) - 2}f}" == digits
    assert row["published"] == published
    assert row["agrees"]


def test_every_number_of_the_notebook_is_tested(draw):
    assert len(draw) == len(PRINTED) == draw["published"].notna().sum()
