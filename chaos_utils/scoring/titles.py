"""Titles of systems as readers see them: two that look the same are one."""

import re
import unicodedata

# Letters of Cyrillic and Greek, and the Latin ones that they look like.
_LOOKS_LATIN = {
    "\u0410\u0412\u0415\u0405\u0406\u0408\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u04ae":
        "ABESIJKMHOPCTXY",
    "\u0430\u0435\u0455\u0456\u0458\u043e\u0440\u0441\u0443\u0445\u0501\u04bb\u04cf\u051b\u051d":
        "aesijopcyxdhlqw",
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7":
        "ABEZHIKMNOPTYX",
    "\u03b1\u03b9\u03bd\u03bf\u03c1\u03c5": "aivopu",
}  # fmt: skip
_LATIN = str.maketrans("".join(_LOOKS_LATIN), "".join(_LOOKS_LATIN.values()))
_ALIKE = str.maketrans("I1|0", "lllO")
_BLANK = "\u115f\u1160\u2800"  # letters and signs that show nothing
# Scripts that are written in one word, by the first word of their letters' names.
_TOGETHER = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}


def look_alike(first: str, second: str) -> bool:
    """Return whether a reader would take two titles for one.

    They do not differ but in case, accents, width, ligatures, kinds of dashes and spaces, or in
    letters that look like another: of Cyrillic and Greek, and l, I and 1, or O and 0.
    """
    return bool(_forms(first) & _forms(second))


def _forms(title: str) -> set[str]:
    """Return what two titles that look alike share one of."""
    kinds = ((unicodedata.category(character), character) for character in _plain(title))
    text = "".join({"Pd": "-", "Zs": " "}.get(kind, character) for kind, character in kinds)
    text = " ".join(text.split()).translate(_LATIN)
    return {text.casefold(), text.translate(_ALIKE).casefold()}


def _plain(title: str) -> str:
    """Return a title without accents, other marks on letters, and letters that show nothing."""
    decomposed = unicodedata.normalize("NFKD", title)
    seen = (one for one in decomposed if unicodedata.category(one) != "Mn" and one not in _BLANK)
    return "".join(seen)


def mixed_word(text: str) -> str:
    """Return the first word of a text with letters of two scripts; empty if there is none."""
    for word in re.findall(r"[^\W\d_]+", unicodedata.normalize("NFKC", text)):
        scripts = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
        if len(scripts) > 1 and not scripts <= _TOGETHER:
            return str(word)
    return ""
