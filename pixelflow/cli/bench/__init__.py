"""Benchmarks: each a record, one driver for all."""
