"""What the chapters compute: votes and systems in, tidy tables out, recorded for the book."""
