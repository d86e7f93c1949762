"""Watching: accounts of runs and their ledger."""
