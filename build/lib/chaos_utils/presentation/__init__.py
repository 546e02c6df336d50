"""Tables as they are read: tidy tables in, frames of formatted cells out."""
