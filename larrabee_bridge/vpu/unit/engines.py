"""Lane engines of the vector unit, by the names that they have for every machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.choice import AUTO
from pixelflow.simd.native.choice import WIDE

__all__ = ["COMPILED", "ENGINES", "engine_for_threads", "engine_in_use"]

ENGINES = WIDE.names
"""``rows``, by numpy, always works; ``compiled`` runs whole programs as native code."""
COMPILED = "compiled"


_IN_USE = ContextVar("engine", default=AUTO)


@contextmanager
def engine_in_use(wanted: str) -> Iterator[None]:
    """Have units that are made meanwhile, and are not told otherwise, take an engine; raises InputError.

    A picture is drawn by hundreds of units, and whoever draws it says once which engine they take. Other threads and
    processes of the host do not take part: each enters this by itself.
    """
    before = _IN_USE.set(engine_for_threads(wanted))
    try:
        yield
    finally:
        _IN_USE.reset(before)


def engine_for_threads(wanted: str | None = None) -> str:
    """Return the engine to take: one of `ENGINES` or the fastest that works here, None for the one in use.

    Where that is not the one that was asked for, a warning of the logger says why, once a name. Raises InputError for
    any other name.
    """
    try:
        return _chosen(_IN_USE.get() if wanted is None else wanted)
    except ValueError as error:
        raise InputError(Fault(f"threads of the vector unit: {error}", hint=f"{AUTO} or one of these")) from None


@cache
def _chosen(wanted: str) -> str:
    choice = WIDE.choose(wanted)
    if choice.note is not None:
        logging.getLogger(__name__.partition(".")[0]).warning("note: %s", choice.note)
    return choice.engine
