"""Titles as readers see them."""

import pytest

from chaos_utils.scoring.titles import look_alike, mixed_word

ALIKE = {
    "case": ("Honest", "HONEST"),
    "width": ("Honest", "\uff28onest"),
    "a ligature": ("fine", "\ufb01ne"),
    "an accent": ("Caf\u00e9", "Cafe"),
    "a mark that joins": ("ab", "a\u034fb"),
    "a letter that shows nothing": ("ab", "a\u115fb"),
    "dashes": ("L6-seed", "L6\u2013seed"),
    "spaces": ("a b", "a\u00a0 b"),
    "Cyrillic": ("Ope", "\u041e\u0440\u0435"),
    "Greek": ("BOT", "\u0392\u039f\u03a4"),
    "one and l": ("seed 1", "seed l"),
    "I and l": ("AI", "Al"),
    "O and 0": ("GPT-4O", "GPT-40"),
    "phonetics": ("roberta", "\u0280obe\u027dta"),
    "a letter without its dot": ("distilbert", "d\u0131st\u0131l\u0185ert"),
    "script g": ("large", "lar\u0261e"),
    "a sign at the end": ("opus-5", "opus-5\u02d0"),
    "a full stop": ("opus-5", "opus-5."),
    "a space for a dash": ("opus-5", "opus 5"),
    "a line below": ("opus-5", "opus_5"),
    "a comma without a space": ("L6, seed 0", "L6,seed 0"),
}


@pytest.mark.parametrize("name", ALIKE)
def test_titles_that_a_reader_takes_for_one_look_alike(name):
    assert look_alike(*ALIKE[name])
    assert look_alike(*reversed(ALIKE[name]))


@pytest.mark.parametrize("pair", [("seed 1", "seed 2"), ("GPT-4.1", "GPT-41"), ("A", "A+")])
def test_titles_that_differ_do_not(pair):
    assert not look_alike(*pair)


def test_a_word_has_letters_of_one_script():
    assert mixed_word("an H\u043enest one") == "H\u043enest"
    assert not mixed_word(
        "\u03b2-VAE, \u0141ukasz 3, na\u00efve, \u65e5\u672c\u8a9e\u30c6\u30b9\u30c8"
    )
