"""Watching: a run taken to any cycle, and the file that holds one."""
