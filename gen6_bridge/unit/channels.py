"""Counts of channels: how many an instruction could have had, and which gate took the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.isa import EuInstruction
from gen6_bridge.code.isa.encoding.operands import Controls, ImmediateOperand
from gen6_bridge.code.isa.meanings.state import CHANNELS, DISPATCHED, ON
from gen6_bridge.unit.execution_unit import ExecutionUnit

__all__ = ["GATES", "ChannelCounts"]

GATES = ("dispatch", "divergence", "predicate")
"""What takes channels, in the order in which it is asked."""


class ChannelCounts:
    """A subscriber of a unit that counts what its instructions do with channels."""

    def __init__(self, unit: ExecutionUnit) -> None:
        self._unit = unit
        self._names = [_name(each) for each in unit.instructions]
        self._controls = [_disabling(each) for each in unit.instructions]
        self.possible = self.enabled = 0
        """Channels of all instructions by their sizes, and those that were enabled."""
        self.taken: Counter[str] = Counter()
        """Channels that were not, by gate."""
        self.issued: Counter[str] = Counter()
        """Instructions of all threads by mnemonic, type (the destination's, else the first source's) and size."""

    @property
    def efficiency(self) -> float:
        """Return the share of channels that were enabled."""
        return self.enabled / self.possible if self.possible else 0.0

    def __call__(self, number: int, active: NDArray[np.bool_]) -> None:
        """Count an instruction, before it is carried out."""
        threads = int(active.sum())
        self.issued[self._names[number]] += threads
        self._add(threads, *self._counted(self._controls[number], active))

    def stretch(self, first: int, past: int, active: NDArray[np.bool_]) -> None:
        """Count instructions without a predicate, one after the other."""
        threads = int(active.sum())
        found: dict[tuple[int, int, int], tuple[int, int, int, int]] = {}
        for number in range(first, past):
            self.issued[self._names[number]] += threads
            controls = self._controls[number]
            key = controls.size, controls.first, controls.all_channels
            if key not in found:
                found[key] = self._counted(controls, active)
            self._add(threads, *found[key])

    def _add(self, threads: int, size: int, there: int, on: int, enabled: int) -> None:
        possible = threads * size
        self.possible += possible
        self.enabled += enabled
        for gate, before, after in zip(GATES, (possible, there, on), (there, on, enabled), strict=True):
            self.taken[gate] += before - after

    def _counted(self, controls: Controls, active: NDArray[np.bool_]) -> tuple[int, int, int, int]:
        """Return an instruction's size, and its channels in all threads after dispatch, flow and predicate."""
        size = min(controls.size, CHANNELS)
        span = np.arange(controls.first, controls.first + size) % CHANNELS
        lanes = self._unit.lanes
        there, on = (lanes.get_bit(name).reshape(-1, CHANNELS)[active][:, span] for name in (DISPATCHED, ON))
        enabled = int((self._unit.enabled(controls)[active][:, None] >> span & 1).sum())
        possible = int(active.sum()) * size
        open_ = (possible, possible) if controls.all_channels else (int(there.sum()), int(on.sum()))
        return size, *open_, enabled


def _disabling(instruction: EuInstruction) -> Controls:
    """Return what an instruction says, without a predicate that chooses a source and disables nothing."""
    chooses = instruction.declaration.mnemonic == "sel" and not instruction.controls.selector
    return replace(instruction.controls, predicate=0) if chooses else instruction.controls


def _name(instruction: EuInstruction) -> str:
    operands = (instruction.destination, *instruction.sources)
    there = (each for each in operands if each is not None and (isinstance(each, ImmediateOperand) or not each.null))
    kind = next((each.type.name for each in there), "-")
    return f"{instruction.declaration.mnemonic} {kind} {instruction.controls.size}"
