"""How numbers are written wherever people read them."""


def true_minus(text: str) -> str:
    """Return a formatted number with a true minus sign, and without a sign if it shows as 0."""
    mantissa = text.partition("e")[0]
    signed = text if mantissa.strip("+-0.%") else text.lstrip("+-")
    return signed.replace("-", "−")
