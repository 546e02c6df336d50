"""Where data enters: sources, votes, the synthetic sample, published numbers."""
