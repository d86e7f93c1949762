"""Grids of configurations, measured and kept in a table."""
