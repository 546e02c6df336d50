"""Plots: a tidy table in, a matplotlib Figure out; no files."""
