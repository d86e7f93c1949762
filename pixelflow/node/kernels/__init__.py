"""Macro kernels (meaning): whole float routines as native functions, and the engines that a node may run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelflow.simd.lanes import TABLE, Offer, Shape

if TYPE_CHECKING:
    from pixelflow.simd.lanes.engine import Engine

__all__ = ["ENGINES", "MACRO", "choose", "make_engine"]

MACRO = "macro"
"""Whole float routines by native kernels, everything else as the compiled engine."""


def _macro(shape: Shape) -> Engine:
    from pixelflow.node.kernels.macro_engine import MacroEngine

    return MacroEngine(shape)


_TABLE = TABLE.adding(Offer(MACRO, _macro, is_native=True))

ENGINES = _TABLE.names
"""Names of all engines of a node."""

choose, make_engine = _TABLE.choose, _TABLE.make
