"""Which engine runs: the one that was asked for, or the fastest that works here.

Whatever keeps the compiled engine from working leads to the rows engine, and to one line that says why; except that
nobody is told about an optional package that is not installed unless they asked for what needs it.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pixelflow.simd.lanes.shape import Shape
from pixelflow.simd.records import record

if TYPE_CHECKING:
    from pixelflow.simd.lanes.engine import Engine

__all__ = ["AUTO", "ENGINES", "Choice", "available", "choose", "make_engine"]

AUTO = "auto"
"""Asks for the fastest engine that works here."""

ENGINES = ("bit-serial", "rows", "compiled")
"""Names of the engines: the reference, the one that always works, and native code (needs the extra ``fast``)."""


@record
class Choice:
    """The name of an engine that works here; ``note`` says why it is not the one that was asked for."""

    engine: str
    note: str | None = None


def choose(wanted: str) -> Choice:
    """Return the engine to take for one of `ENGINES`, or for `AUTO`; raises ValueError for any other name."""
    if wanted not in (*ENGINES, AUTO):
        raise ValueError(f"no engine {wanted!r}; there are {', '.join(ENGINES)}")
    if wanted not in ("compiled", AUTO):
        return Choice(wanted)
    if find_spec("llvmlite") is None:
        note = "the compiled engine needs llvmlite, which the extra `fast` installs; the rows engine runs instead"
        return Choice("rows", note if wanted != AUTO else None)
    trouble = _trouble()
    if trouble is not None:
        return Choice("rows", f"the compiled engine does not work here ({trouble}); the rows engine runs instead")
    return Choice("compiled")


def available() -> tuple[str, ...]:
    """Return the names of the engines that work here."""
    return tuple(name for name in ENGINES if choose(name).engine == name)


def make_engine(name: str, shape: Shape) -> Engine:
    """Return a new engine by name, or the one that `choose` takes; raises ValueError for a name that is none."""
    match choose(name).engine:
        case "bit-serial":
            from pixelflow.simd.lanes.bitserial import BitSerialEngine

            return BitSerialEngine(shape)
        case "compiled":
            from pixelflow.simd.lanes.compiled import CompiledEngine

            return CompiledEngine(shape)
        case _:
            from pixelflow.simd.lanes.rows import RowsEngine

            return RowsEngine(shape)


@cache
def _trouble() -> str | None:
    """Return what is wrong with native code on this host, in one line, or None where a trial gives the right bits."""
    try:
        from pixelflow.simd.lanes.compiled.trial import trial

        right = trial()
    except Exception as error:  # whatever LLVM, the loader or the processor find wrong
        return " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return None if right else "a trial gave wrong bits"
