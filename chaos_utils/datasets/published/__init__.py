"""The two papers' numbers, as CSV files with their reader."""
