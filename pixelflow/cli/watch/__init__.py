"""Watching runs: the options, the files, the dashboard."""
