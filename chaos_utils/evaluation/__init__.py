"""Judging systems: `Votes` × `System` in, tidy tables out; never loads a model."""
