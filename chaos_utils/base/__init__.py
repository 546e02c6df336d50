"""The ground floor: errors, files, paths, inputs, one look."""
