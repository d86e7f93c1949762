"""Where the control points of a pass come from: the one seam between tessellation and the way data is moved.

Here the LEE brings them; `texture_source.py` reads them from texture memory, as the thesis does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from microcode import Builder, Mem
from tessellation.plan.mapping import Placement
from tessellation.plan.memory_map import MemoryMap
from tessellation.plan.precision import SINGLE, StoredFormat
from tessellation.plan.stages import Stage

__all__ = ["ControlPointSource", "LeeControlPoints", "enable_quadrant", "enable_square"]


class ControlPointSource(Protocol):
    """Emits the microcode that brings one batch of control values to every PE of every patch of a pass."""

    def emit_start(self, builder: Builder) -> None:
        """Emit what begins the way of the first batch, right after the load of base addresses."""

    def emit_batch(self, builder: Builder, batch: int) -> None:
        """Emit code after which values 8 * batch .. of its patch are in the range ``control_points`` of each PE.

        The enables are arbitrary before; all PEs are enabled after.
        """


class LeeControlPoints:
    """Control values through the LEE: per patch, enable its PEs, broadcast each value (thesis 3.2).

    The thesis calls this "prohibitively expensive in time" (3.5). A batch costs 5 cycles a patch for the enable, as
    in the load of base addresses, and 5 a value.
    """

    def __init__(
        self,
        memory: MemoryMap,
        placements: Sequence[Placement],
        values: Mapping[int, np.ndarray],
        stored: StoredFormat = SINGLE,
    ) -> None:
        """``values`` are the control values of each patch in the order of use, as patterns of the format ``stored``."""
        self._start = memory["control_points"].start
        self._placements = placements
        self._values = {patch: stream.tolist() for patch, stream in values.items()}
        self._stored = stored

    def emit_start(self, builder: Builder) -> None:
        """Nothing runs beside the EMCs."""

    def emit_batch(self, builder: Builder, batch: int) -> None:
        """Emit the loads of one batch for all patches, in load order (a quadrant overwrites what is loaded later)."""
        builder.mark(Stage.CONTROL_POINTS.value)
        size, count = self._stored.value_bytes, self._stored.batch_values
        first = batch * count
        for placement in self._placements:
            enable_quadrant(builder, placement)
            for index, bits in enumerate(self._values[placement.patch][first : first + count]):
                builder.emit("EMC_TreeIntoMem_Li", Mem(self._start + index * size), size, 0, 0, bits)
        builder.emit("EMC_SetEnab")


def enable_square(builder: Builder, placement: Placement) -> None:
    """Emit the enable of the PEs of a patch's own square alone: 9 cycles."""
    enable_quadrant(builder, placement)
    builder.emit("EMC_TreeLTZero_Li", 0, 1, 1, 0, -(placement.x + placement.side))
    builder.emit("EMC_TreeLTZero_Li", 0, 1, 0, 1, -(placement.y + placement.side))


def enable_quadrant(builder: Builder, placement: Placement) -> None:
    """Emit the enable of all PEs right of and below a patch's sample (0, 0): 5 cycles."""
    builder.emit("EMC_SetEnab")
    builder.emit("EMC_TreeGEZero_Li", 0, 1, 1, 0, -placement.x)
    builder.emit("EMC_TreeGEZero_Li", 0, 1, 0, 1, -placement.y)
