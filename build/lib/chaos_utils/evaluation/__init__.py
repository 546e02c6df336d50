"""Judging systems: `Opinions` × `Predictions` in, tidy tables out; never loads a model."""
