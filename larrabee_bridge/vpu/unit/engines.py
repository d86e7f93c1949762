"""Lane engines of the vector unit, by the names that they have for every machine."""

from __future__ import annotations

from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.choice import AUTO
from pixelflow.simd.lanes.wide.choice import WIDE

__all__ = ["COMPILED", "ENGINES", "engine_for_threads"]

ENGINES = WIDE.names
"""``rows``, by numpy, always works; ``compiled`` runs whole programs as native code."""
COMPILED = "compiled"


def engine_for_threads(wanted: str = AUTO) -> str:
    """Return the engine to take for one of `ENGINES`, or the fastest that works here; raises InputError."""
    try:
        return WIDE.choose(wanted).engine
    except ValueError as error:
        raise InputError(Fault(f"threads of the vector unit: {error}", hint=f"{AUTO} or one of these")) from None
