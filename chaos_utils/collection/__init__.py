"""The collection of votes: its protocol, populations, a simulation, recorded votes."""
