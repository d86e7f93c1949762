"""The article on the Gen6 EU: its claims, and the measures beside them."""

from __future__ import annotations

from collections.abc import Callable

from gen6_bridge.claims import operands, pictures, scheduling
from gen6_bridge.claims.published import CLAIMS, CONTRADICTED
from pixelflow.evidence import Bench, Paper

__all__ = ["PAPER"]


def _bench(watch: Callable[[object], None]) -> Bench:
    return Bench()


PAPER = Paper(
    name="gen6",
    title="Kanter, Intel's Sandy Bridge Graphics Architecture, RealWorldTech, 2011: front end and register files",
    claims=CLAIMS,
    measures={**scheduling.MEASURES, **operands.MEASURES, **pictures.MEASURES},
    efforts={"stalled-thread": 2, "pointer-per-channel": 3},
    bench=_bench,
    notes=tuple(CONTRADICTED.values()),
    closing="The page prints no peak rates, no rate of the math unit and no sizes of the generation before, so nothing "
    "here claims any. Latencies are Mesa's, of the next generation or marked there as guesses.",
)
"""Kanter 2011; no model reads what it prints."""
