"""What stands in a drawn figure."""

from matplotlib.text import Text


def smallest_letters(figure):
    """Return the size of the smallest letters of a figure, in points."""
    figure.draw_without_rendering()
    return min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text())
