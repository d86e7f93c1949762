"""Counts of channels: how many an instruction could have had, and which gate took the others."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.isa.meanings.state import CHANNELS, DISPATCHED, ON
from gen6_bridge.unit.execution_unit import ExecutionUnit

__all__ = ["GATES", "ChannelCounts"]

GATES = ("dispatch", "divergence", "predicate")
"""What takes channels, in the order in which it is asked."""


class ChannelCounts:
    """A subscriber of a unit that counts what its instructions do with channels."""

    def __init__(self, unit: ExecutionUnit) -> None:
        self._unit = unit
        self.possible = self.enabled = 0
        """Channels of all instructions by their sizes, and those that were enabled."""
        self.taken: Counter[str] = Counter()
        """Channels that were not, by gate."""
        self.issued: Counter[str] = Counter()
        """Instructions of all threads by mnemonic, type of the destination and size."""

    @property
    def efficiency(self) -> float:
        """Return the share of channels that were enabled."""
        return self.enabled / self.possible if self.possible else 0.0

    def __call__(self, number: int, active: NDArray[np.bool_]) -> None:
        """Count an instruction, before it is carried out."""
        instruction = self._unit.instructions[number]
        controls, threads = instruction.controls, int(active.sum())
        destination = instruction.destination
        kind = destination.type.name if destination is not None and not destination.null else "-"
        self.issued[f"{instruction.declaration.mnemonic} {kind} {controls.size}"] += threads
        size = min(controls.size, CHANNELS)
        span = np.arange(controls.first, controls.first + size) % CHANNELS
        possible = threads * size
        lanes = self._unit.lanes
        there, on = (lanes.get_bit(name).reshape(-1, CHANNELS)[active][:, span] for name in (DISPATCHED, ON))
        enabled = self._unit.enabled(controls)[active]
        open_ = int((enabled[:, None] >> span & 1).sum())
        after_dispatch, after_flow = (
            (possible, possible) if controls.all_channels else (int(there.sum()), int(on.sum()))
        )
        self.possible += possible
        self.enabled += open_
        for gate, before, after in zip(
            GATES, (possible, after_dispatch, after_flow), (after_dispatch, after_flow, open_), strict=True
        ):
            self.taken[gate] += before - after
