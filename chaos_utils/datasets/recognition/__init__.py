"""What the columns of a votes file are, where nothing describes it."""
