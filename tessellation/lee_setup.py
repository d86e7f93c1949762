"""The coordinates of the PEs: register values of figure 9 and the two equations of thesis 2.2.9.

Figure 9 is missing from the text. The values here satisfy every property that section 3.2 lists, with the printed
equations (standing: derived): xe = ye = 0, xs = 0, ys[i] = i mod 4, xp[8 p + c] = 16 emc + 8 p + c with p the parity
of the panel and c = PE div 4, yp[P] = 16 module + 4 (P div 2). A block of 16 PEs is then 4x4 with x = PE div 4 and
y = PE mod 4, a panel 8x4, an EMC 16x16, a module 128x16 and the node 128x64. (3.2 also says that two panels of an EMC
cannot be adjacent in x, which contradicts the "P mod 2" of the equation; the equation is followed.)
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pixelflow.config import ArrayConfig
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.records import record

__all__ = ["EMC_HEIGHT", "EMC_WIDTH", "REGISTERS", "LeeRegisters", "LeeWrite", "coordinates", "figure9", "lee_writes"]

EMC_WIDTH = 16
"""Width of an EMC in PEs under figure 9."""

EMC_HEIGHT = 16
"""Height of an EMC of eight panels in PEs under figure 9."""

REGISTERS = ("xe", "ye", "xp", "yp", "xs", "ys")
"""The six register sets in the order of their numbers in ``EMC_SetLEE``."""

_MODULES = 8
"""Modules that 7-bit yp registers can tell apart, 16 rows each."""


@record
class LeeRegisters:
    """The six register sets of one EMC (thesis 2.2.9); ``yp`` has an entry for each panel."""

    xe: int
    ye: int
    xp: tuple[int, ...]
    yp: tuple[int, ...]
    xs: tuple[int, ...]
    ys: tuple[int, ...]

    def coordinate(self, panel: int, pe: int) -> tuple[int, int]:
        """Return (x, y) of one PE by the two printed equations."""
        x = (self.xp[panel % 2 * 8 + pe // 4] << self.xe) + self.xs[pe % 8]
        y = (self.yp[panel] << self.ye) + self.ys[pe % 8]
        return x, y


@record
class LeeWrite:
    """One register write: operands of ``EMC_SetLEE``; ``register`` is the field's name."""

    module: int
    emc: int
    register: str
    index: int
    value: int


def figure9(module: int, emc: int) -> LeeRegisters:
    """Return the register values of one EMC."""
    return LeeRegisters(
        xe=0,
        ye=0,
        xp=tuple(EMC_WIDTH * emc + c for c in range(16)),
        yp=tuple(EMC_HEIGHT * module + 4 * (panel // 2) for panel in range(8)),
        xs=(0,) * 8,
        ys=tuple(i % 4 for i in range(8)),
    )


def lee_writes(array: ArrayConfig) -> Iterator[LeeWrite]:
    """Yield the register writes that configure a whole node, EMC by EMC."""
    if array.modules > _MODULES:
        raise InputError(Fault(f"figure 9 gives {_MODULES} modules a place, not {array.modules}"))
    for module in range(array.modules):
        for emc in range(array.emcs_per_module):
            values = figure9(module, emc)
            panels = array.panels_per_emc
            sets = {
                "xe": (values.xe,),
                "ye": (values.ye,),
                "xp": values.xp,
                "yp": values.yp[:panels],
                "xs": values.xs,
                "ys": values.ys,
            }
            for register, entries in sets.items():
                for index, value in enumerate(entries):
                    yield LeeWrite(module, emc, register, index, value)


def coordinates(array: ArrayConfig) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of every lane of a node under figure 9, in lane order (module, EMC, panel, PE)."""
    found = [
        figure9(module, emc).coordinate(panel, pe)
        for module in range(array.modules)
        for emc in range(array.emcs_per_module)
        for panel in range(array.panels_per_emc)
        for pe in range(array.pes_per_panel)
    ]
    pairs = np.array(found, dtype=np.int64)
    return pairs[:, 0], pairs[:, 1]
