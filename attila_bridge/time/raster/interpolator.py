"""Interpolator: quads come back after the cycles that their attributes take."""

from __future__ import annotations

from dataclasses import dataclass

from attila_bridge.time.config.pixels import FifoConfig
from attila_bridge.time.plan import DrawPlan
from pixelflow.simd.boxes import Box
from pixelflow.simd.units import Cycle

__all__ = ["Interpolator", "InterpolatorSpec"]


@dataclass(frozen=True)
class InterpolatorSpec:
    """What the interpolator is given."""

    config: FifoConfig
    draws: tuple[DrawPlan, ...]


@dataclass
class InterpolatorState:
    """Nothing: everything is on its wires."""


class Interpolator(Box[InterpolatorSpec, InterpolatorState]):
    """A pipeline: items are (draw, ROP, quads)."""

    inputs = ("quads", "interpolated")
    outputs = ("interpolation", "output")

    def __init__(self, name: str, spec: InterpolatorSpec) -> None:
        super().__init__(name, spec, InterpolatorState())

    def wired(self) -> None:
        """Keep the wires that are read or written in every cycle."""
        wires = self.wires
        self._quads, self._interpolation = wires["quads"], wires["interpolation"]
        self._interpolated, self._output = wires["interpolated"], wires["output"]

    def next_event(self) -> Cycle | None:
        """None: it moves only what arrives."""
        return None

    def tick(self, cycle: Cycle) -> None:
        """Begin what has come, hand back what is done."""
        config, wire = self.spec.config, self._interpolation
        quads = self._quads.waiting
        while quads and quads[0][0] <= cycle:
            item = quads.popleft()[3]
            attributes = self.spec.draws[item[0]].fragment_inputs
            latency = config.interpolation_latency + -(-attributes // config.interpolators)
            wire.send(cycle, item, 4 * len(item[2]), min(latency, wire.latency))
        quads = self._interpolated.waiting
        while quads and quads[0][0] <= cycle:
            item = quads.popleft()[3]
            self._output.send(cycle, item, 4 * len(item[2]))
