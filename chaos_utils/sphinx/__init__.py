"""The Sphinx extension that makes a book's pages from what its chapters have published."""
