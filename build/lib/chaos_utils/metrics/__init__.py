"""Measures: pure functions on arrays; they know no file, task or model."""
