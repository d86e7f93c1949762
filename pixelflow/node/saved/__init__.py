"""Saved states: files, the values in them and their stable names."""
