"""Measures: pure functions on arrays; they know no file, dataset or model."""
