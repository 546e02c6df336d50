"""The published numbers of Baan et al. (2022), from the released data."""

from helpers.evidence import evidence_of

from chaos_utils.analyses import error_distributions
from chaos_utils.scoring.systems import load_systems

ROBERTA = "RoBERTa-base, seed 0"
COLUMNS = (("H1", 1), ("H2", 1), (ROBERTA, 1), (ROBERTA, 2))
# What the released notebook's draw gives, to the digits that are known of it.
PRINTED = {
    ("ece", "all"): ("0.1602", "0.1627", "0.147", "0.036"),
    ("dist_ce", "all"): ("0.0722", "0.0728", "0.259", "0.217"),
    ("kl", "all"): (None, "0.0047", "0.6439", "0.5627"),
    ("ece", "outside_both"): ("0.142", "0.142", "0.151", "0.042"),
    ("dist_ce", "outside_both"): ("0.092", "0.094", "0.261", "0.219"),
    ("kl", "outside_both"): (None, "0.0084", "0.48", "0.38"),
}


def test_the_released_draw_gives_every_printed_digit_and_no_number_is_untested(released):
    systems = load_systems(released[0], trained=False)
    assert systems, "the released predictions are not available"
    table = error_distributions.released_draw(evidence_of(released[0], systems)).rows
    draw = table.set_index(["measure", "reference", "system", "temperature"])
    printed = {
        (*row, *column): digits
        for row, known in PRINTED.items()
        for column, digits in zip(COLUMNS, known, strict=True)
        if digits
    }
    for key, digits in printed.items():
        assert f"{draw.loc[key, 'value']:.{len(digits) - 2}f}" == digits, key
    named = {(measure, reference) for measure, reference in PRINTED}
    shown = [key for key in draw.index if key[:2] in named]
    assert sorted(shown) == sorted(printed)
