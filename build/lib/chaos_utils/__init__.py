"""Tools behind the living book of collective human opinions."""
