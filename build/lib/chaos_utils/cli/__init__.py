"""The `chaos` command. Thin: it reads arguments, calls the package, prints."""
