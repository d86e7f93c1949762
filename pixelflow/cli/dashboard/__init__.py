"""Dashboards of runs in a terminal: while they go on, at their end, and at any cycle."""
