"""What the interactive pages of the book need: items to explore, to judge and to open with."""
