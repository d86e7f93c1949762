"""Meaning: marks of PEs as far as they follow from the program, for runs in which only time passes."""
