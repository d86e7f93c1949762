"""Macro kernels (meaning): whole float routines as native functions, and the engines that a node may run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelflow.simd.lanes import TABLE, Offer, Shape

if TYPE_CHECKING:
    from pixelflow.simd.lanes.engine import Engine

__all__ = ["ENGINES", "MACRO", "MACRO_CHECKED", "choose", "make_engine"]

MACRO = "macro"
"""Whole float routines by native kernels, everything else as the compiled engine."""

MACRO_CHECKED = "macro-checked"
"""The same, with every result compared with that of the microcode, and with what a routine leaves undefined filled.

Nothing takes its place where there is no native code: that would have checked nothing.
"""


def _macro(shape: Shape) -> Engine:
    from pixelflow.node.kernels.macro_engine import MacroEngine

    return MacroEngine(shape)


def _checked(shape: Shape) -> Engine:
    from pixelflow.node.kernels.macro_engine import MacroEngine

    return MacroEngine(shape, checked=True)


_REFUSED = f"the engine {MACRO_CHECKED} compares native code with microcode, and there is none"
_TABLE = TABLE.adding(
    Offer(MACRO, _macro, is_native=True), Offer(MACRO_CHECKED, _checked, is_native=True, irreplaceable=_REFUSED)
)

ENGINES = _TABLE.names
"""Names of all engines of a node."""

choose, make_engine = _TABLE.choose, _TABLE.make
