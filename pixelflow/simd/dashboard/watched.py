"""Watched runs: what a machine hands over so that commands can show its runs at any cycle."""

from __future__ import annotations

from typing import Protocol

from pixelflow.simd.dashboard.state import PipelineState
from pixelflow.simd.report import Report

__all__ = ["WatchedRun"]


class WatchedRun(Protocol):
    """A run that stands at a cycle and can go on."""

    @property
    def ended(self) -> bool:
        """Whether nothing is left to happen."""

    def advance(self, cycle: int) -> None:
        """Do everything that begins before ``cycle``, which may not go back."""

    def state(self, *, status: str | None = None, rate: float | None = None) -> PipelineState:
        """Return what a frame shows of the run where it stands; ``rate`` is that of the simulation, cycles/s."""

    def finish(self) -> Report:
        """Run to the end and return the account of the run."""
