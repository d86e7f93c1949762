"""Readers of the trace formats: what a viewer would see, for checks and comparisons."""
