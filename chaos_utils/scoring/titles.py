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
    # Latin letters of phonetics and of few languages.
    "\u0251\u0180\u0253\u0185\u0299\u0111\u0256\u0257\u0192\u0261\u0260\u0262\u0127\u0266":
        "abbbbdddfggghh",
    "\u029c\u0131\u0268\u026a\u0237\u0199\u0142\u026b\u026d\u029f\u0271\u0272\u014b\u0274":
        "hiiijkllllmnnn",
    "\u00f8\u0275\u01a5\u027d\u027e\u0280\u0282\u01ab\u0288\u028b\u028f\u01b6\u0290":
        "ooprrrsttvyzz",
}  # fmt: skip
_LATIN = str.maketrans("".join(_LOOKS_LATIN), "".join(_LOOKS_LATIN.values()))
_ALIKE = str.maketrans("I1|0", "lllO")
_PART = re.compile(r"(?:(?<=\d)\.(?=\d)|\+|[^\W_\u02b0-\u02ff])+")
_BLANK = "\u115f\u1160\u2800"  # letters and signs that show nothing
# Scripts that are written in one word, by the first word of their letters' names.
_TOGETHER = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}


def look_alike(first: str, second: str) -> bool:
    """Return whether a reader would take two titles for one.

    They do not differ but in case, accents, width, ligatures, spaces and signs between words, or in
    letters that look like another: of Cyrillic, Greek and phonetics, l, I and 1, or O and 0.
    """
    return bool(_forms(first) & _forms(second))


def _forms(title: str) -> set[str]:
    """Return what two titles that look alike share one of."""
    plain = _plain(title).translate(_LATIN)
    return {_words(plain), _words(plain.translate(_ALIKE))}


def _words(text: str) -> str:
    """Return the words of a text alone: letters, numbers, and the signs that tell versions."""
    return " ".join(re.findall(_PART, text.casefold().translate(_LATIN)))


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
