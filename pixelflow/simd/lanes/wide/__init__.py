"""Lanes of 32-bit words in many small groups, with a byte memory: the meanings of vector units, in numpy."""
