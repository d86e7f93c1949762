"""Macro kernels: whole float routines as native functions, and the engines that a node may run on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelflow.simd import lanes
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import AUTO, Choice, Shape

if TYPE_CHECKING:
    from pixelflow.simd.lanes.engine import Engine

__all__ = ["ENGINES", "MACRO", "MACRO_CHECKED", "choose", "make_engine"]

MACRO = "macro"
"""Whole float routines by native kernels, everything else as the compiled engine."""

MACRO_CHECKED = "macro-checked"
"""The same, with every result compared with that of the microcode, and with what a routine leaves undefined filled."""

ENGINES = (*lanes.ENGINES, MACRO, MACRO_CHECKED)
"""Names of all engines of a node."""


def choose(wanted: str) -> Choice:
    """Return the engine to take for one of `ENGINES`, or for `AUTO`; raises ValueError for any other name.

    Where there is no native code the rows engine takes the place of the macro engine, but nothing takes that of the
    checking one, which would have checked nothing: InputError.
    """
    if wanted not in (*ENGINES, AUTO):
        raise ValueError(f"no engine {wanted!r}; there are {', '.join(ENGINES)}")
    if wanted not in (MACRO, MACRO_CHECKED):
        return lanes.choose(wanted)
    found = lanes.choose("compiled")
    if found.note is None:
        return Choice(wanted)
    why = found.note.partition(";")[0]
    if wanted == MACRO_CHECKED:
        raise InputError(f"the engine {MACRO_CHECKED} compares native code with microcode, and there is none: {why}")
    return Choice(found.engine, f"engine {wanted}: {found.note}")


def make_engine(name: str, shape: Shape) -> Engine:
    """Return a new engine by name, or the one that `choose` takes; raises ValueError for a name that is none."""
    found = choose(name).engine
    if found not in (MACRO, MACRO_CHECKED):
        return lanes.make_engine(found, shape)
    from pixelflow.kernels.engine import MacroEngine

    return MacroEngine(shape, checked=found == MACRO_CHECKED)
