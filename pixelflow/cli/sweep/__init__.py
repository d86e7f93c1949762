"""Grids of configurations, measured and kept in a table."""

from pixelflow.cli.sweep.python import Sweep, sweep

__all__ = ["Sweep", "sweep"]
