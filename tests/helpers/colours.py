"""Contrast as WCAG defines it."""

import re


def luminance(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb`` or ``rgb(r, g, b)``."""
    is_hex = colour.startswith("#")
    parts = bytes.fromhex(colour[1:]) if is_hex else re.findall(r"[\d.]+", colour)[:3]
    values = [float(part) / 255 for part in parts]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, bright = sorted([luminance(one), luminance(other)])
    return (bright + 0.05) / (dark + 0.05)
