"""Depth unit: tests depth and stencil, and tells hierarchical Z the greatest depths of what it writes back."""

from __future__ import annotations

from attila_bridge.time.plan import DrawPlan
from attila_bridge.time.rops.unit import MASKS, RopUnit
from pixelflow.simd.units import Cycle

__all__ = ["DepthUnit"]


class DepthUnit(RopUnit):
    """The unit that tests depth and stencil."""

    inputs = ("command", "quads", "consumer", "memory_data", "memory_state", "alu_end")
    outputs = ("ended", "tested", "ready", "memory_request", "alu_start", "maxima")

    def wired(self) -> None:
        """Keep the wires that are read or written in every cycle."""
        super().wired()
        self._tested, self._consumer = self.wires["tested"], self.level("consumer")

    def _bypasses(self, plan: DrawPlan) -> bool:
        return not plan.tests

    def _reads(self, plan: DrawPlan) -> bool:
        return True

    def _live(self, plan: DrawPlan) -> bytes:
        return plan.to_depth

    def _consumer_ready(self, cycle: Cycle) -> bool:
        consumer = self._consumer
        return bool(consumer.value(cycle) if consumer.waiting else consumer.seen)

    def _stored(self, plan: DrawPlan, quad: int) -> tuple[int, list[int]]:
        # Whatever the tests say, the words go back: a line that was only tested is written to memory again.
        return MASKS[plan.to_depth[quad]], plan.depth_words[4 * quad : 4 * quad + 4]

    def _leave(self, cycle: Cycle, quad: int) -> None:
        self._tested.send(cycle, quad, 4)
        self.state.counts["OutputFragments"] += 4

    def _operate(self, plan: DrawPlan, quad: int) -> None:
        counts = self.state.counts
        passed = plan.tested[quad].bit_count()
        counts["OperatedFragments"] += 1
        counts["TestedFragments"] += 4
        counts["PassedFragments"] += passed
        counts["FailedFragments"] += 4 - passed

    def _evicted(self, cycle: Cycle) -> None:
        s = self.state
        if self.spec.updates:
            for block in s.cache.evicted:
                most = max(word & 0xFFFFFF for word in s.cache.words(block))
                self.wires["maxima"].send(cycle, (block, most))
                s.counts["UpdatesHZ"] += 1
