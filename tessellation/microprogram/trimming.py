"""The microcode of trims: each PE counts the trim segments that its sample's ray crosses, modulo 2.

The GPs break trim curves into segments and form an edge function for each (`surface/trims/`). The LEE broadcasts it, as
for the edges of triangles (thesis 2.2.2): a PE of the patch in one of the rows that the segment spans toggles a byte
where the function is not negative. That is executed while the first control values are on their way. In the end PEs
that counted an even number, whose samples lie outside, get a pattern that is no number in place of their normal, so
that it goes wherever results go.

The way is invented: the thesis says of trimmed patches that "there are significant hurdles that must still be resolved"
(5.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from microcode import Builder, Imm, Mem, Register
from tessellation.microprogram.control_points import enable_square
from tessellation.plan.mapping import Pass, Placement
from tessellation.plan.memory_map import FLOAT_BYTES, MemoryMap
from tessellation.plan.stages import Stage
from tessellation.surface.samples import OUTSIDE
from tessellation.surface.trims.parity import RayCrossing, crossings
from tessellation.surface.trims.polygon import TrimPolygon

__all__ = ["Trims"]

_PARITY = 2
"""Past the two mark bytes of the administrative ones."""

_EDGE_BYTES = 3


@dataclass(frozen=True, slots=True)
class Trims:
    """The trims of the patches of a pass: their polygons by the number of the patch. Nothing is emitted for none."""

    memory: MemoryMap
    work: Pass
    polygons: Mapping[int, TrimPolygon]

    @property
    def _parity(self) -> Mem:
        return Mem(self.memory["administrative"].start + _PARITY)

    def emit_crossings(self, builder: Builder) -> None:
        """Emit the count: 3 cycles, 10 a trimmed patch and 16 a segment that a row of samples meets; all PEs are
        enabled after.

        Samples on the side u = 1 that lie on such a segment take 12 more.
        """
        if not self.polygons:
            return
        builder.mark(Stage.TRIM.value)
        builder.emit("EMC_SetEnab")
        builder.emit("STI", self._parity, Imm(1))
        for placement in self.work.placements:
            polygon = self.polygons.get(placement.patch)
            if polygon is None:
                continue
            enable_square(builder, placement)
            builder.emit("STI", self._parity, Imm(0))
            for crossing in crossings(polygon, placement.samples):
                self._emit_crossing(builder, placement, crossing)
        builder.emit("EMC_SetEnab")

    def _emit_crossing(self, builder: Builder, place: Placement, crossing: RayCrossing) -> None:
        first = place.samples - 1 if crossing.only_last else 0
        builder.emit("EMC_SetEnab")
        builder.emit("EMC_TreeGEZero_Li", 0, 1, 1, 0, -(place.x + first))
        builder.emit("EMC_TreeLTZero_Li", 0, 1, 1, 0, -(place.x + place.samples))
        builder.emit("EMC_TreeGEZero_Li", 0, 1, 0, 1, -(place.y + crossing.first))
        builder.emit("EMC_TreeLTZero_Li", 0, 1, 0, 1, -(place.y + crossing.last + 1))
        if not crossing.only_last:
            a, b = crossing.a, crossing.b
            c = crossing.c - a * place.x - b * place.y
            builder.emit("EMC_TreeGEZero_Li", 0, _EDGE_BYTES, a, b, c)
        builder.emit("LD", Register.R, self._parity)
        builder.emit("XOR", Register.R, Imm(1))
        builder.emit("ST", self._parity, Register.R)

    def emit_marks(self, builder: Builder) -> None:
        """Emit the marks of samples outside: 9 cycles; all PEs are enabled after."""
        if not self.polygons:
            return
        builder.mark(Stage.TRIM.value)
        builder.emit("EMC_SetEnab")
        builder.emit("LD", Register.R, self._parity)
        builder.emit("CMP", Register.R, Imm(1))
        builder.emit("ENC")
        for index, byte in enumerate(OUTSIDE.to_bytes(FLOAT_BYTES, "little")):
            builder.emit("STI", Mem(self.memory["x_normal"].start + index), Imm(byte))
        builder.emit("EMC_SetEnab")
