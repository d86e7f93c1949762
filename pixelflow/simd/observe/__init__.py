"""Watching: the events of a run, and the bus that hands them to subscribers."""
