"""Colour unit: blends and writes colours, and hands the states of its blocks to the display."""

from __future__ import annotations

from attila_bridge.time.plan import DrawPlan
from attila_bridge.time.rops.unit import MASKS, RopUnit
from pixelflow.simd.units import Cycle

__all__ = ["ColorUnit"]


class ColorUnit(RopUnit):
    """The unit that blends and writes colours."""

    inputs = ("command", "quads", "memory_data", "memory_state", "alu_end")
    outputs = ("ended", "ready", "memory_request", "alu_start", "states")

    def _bypasses(self, plan: DrawPlan) -> bool:
        return not plan.color_mask

    def _reads(self, plan: DrawPlan) -> bool:
        return plan.blends

    def _live(self, plan: DrawPlan) -> bytes:
        return plan.to_color

    def _stored(self, plan: DrawPlan, quad: int) -> tuple[int, list[int]]:
        mask = MASKS[plan.to_color[quad]] & plan.color_bytes
        return mask, plan.color_words[4 * quad : 4 * quad + 4]

    def _leave(self, cycle: Cycle, quad: int) -> None:
        """Nothing follows."""

    def _operate(self, plan: DrawPlan, quad: int) -> None:
        counts = self.state.counts
        counts["OperatedFragments"] += 1
        if plan.blends:
            counts["BlendedFragments"] += 4

    def _copied(self, cycle: Cycle) -> None:
        states = self.state.cache.states
        self.wires["states"].send(cycle, dict(states))
