"""Running notebooks, and making their figures and tables citable."""
