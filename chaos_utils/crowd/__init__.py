"""The collection of opinions: its protocol, populations, a simulation, recorded votes."""
