"""Systems, and how they score against votes."""
