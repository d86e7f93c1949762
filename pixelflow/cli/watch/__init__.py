"""Watching runs: the options and the files."""
