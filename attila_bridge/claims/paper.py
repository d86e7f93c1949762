"""The paper on ATTILA: its claims, and the measures beside them."""

from __future__ import annotations

from collections.abc import Callable

from attila_bridge.claims import sections, study, tables
from attila_bridge.claims.bench import AttilaBench
from attila_bridge.claims.published import CLAIMS, NOTES
from pixelflow.evidence import Paper

__all__ = ["PAPER"]


def _bench(watch: Callable[[object], None]) -> AttilaBench:
    return AttilaBench()


PAPER = Paper(
    name="attila",
    title="Moya et al., ATTILA: a cycle-level execution-driven simulator for modern GPU architectures, ISPASS 2006",
    claims=CLAIMS,
    measures={**tables.MEASURES, **sections.MEASURES, **study.MEASURES},
    bench=_bench,
    efforts={
        "streamer": 10,
        "generation": 4,
        "z-test": 5,
        "colour-write": 3,
        "caches": 8,
        "bilinear": 4,
        "window-3-to-2": 60,
        "in-order": 15,
        "in-order-units": 15,
        "hit-rate": 60,
    },
    notes=tuple(NOTES.values()),
    closing="Scenes are ours. What the paper does not print is the early preset of its authors' simulator; recorded "
    "runs of that simulator are judged by --data FOLDER.",
)
"""ISPASS 2006; no model reads what it prints."""
