"""Lane engines of the vector unit, by the names that they have for every machine."""

from __future__ import annotations

import logging
from functools import cache

from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.choice import AUTO
from pixelflow.simd.native.choice import WIDE

__all__ = ["COMPILED", "ENGINES", "engine_for_threads"]

ENGINES = WIDE.names
"""``rows``, by numpy, always works; ``compiled`` runs whole programs as native code."""
COMPILED = "compiled"


def engine_for_threads(wanted: str = AUTO) -> str:
    """Return the engine to take: the one of `ENGINES` that is wanted, or the fastest that works here.

    Where that is not the one that was asked for, a warning of the logger says why, once a name. Raises InputError for
    any other name.
    """
    try:
        return _chosen(wanted)
    except ValueError as error:
        raise InputError(Fault(f"threads of the vector unit: {error}", hint=f"{AUTO} or one of these")) from None


@cache
def _chosen(wanted: str) -> str:
    choice = WIDE.choose(wanted)
    if choice.note is not None:
        logging.getLogger(__name__.partition(".")[0]).warning("note: %s", choice.note)
    return choice.engine
