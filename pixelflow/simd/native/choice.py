"""The table of engines for lanes of 32 bits: both hold their state as numpy does, one runs programs as native code."""

from __future__ import annotations

from pixelflow.simd.lanes.choice import Engines, Offer
from pixelflow.simd.lanes.wide.words import WordsEngine

__all__ = ["WIDE"]

WIDE = Engines(Offer("rows", WordsEngine), Offer("compiled", WordsEngine, is_native=True))
"""``rows`` carries out every meaning by itself; for ``compiled``, `GroupRuns` carries out whole programs."""
