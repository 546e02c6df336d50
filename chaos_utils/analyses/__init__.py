"""What the chapters compute: votes and systems in, tidy tables out; recorded where they are the book's."""
