"""Where data enters: sources, opinions, the synthetic sample, published numbers."""
