"""Gen6's two ways with triangles of one size: threads of eight channels (two subspans of 2x2 pixels) and of sixteen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from gen6_bridge.time import EuConfig
from pixelflow.simd.commands import Told
from pixelflow.simd.comparison.triangles import Way
from pixelflow.simd.machine import machine_named
from pixelflow.simd.telling import Telling

__all__ = ["WIDTHS", "ways"]

WIDTHS = (8, 16)
"""Channels of a thread."""
_ABOUT = (
    "Gen6's are channels of threads, those included that no subspan fills, and its cycles those of its shaders, as "
    "coverage and tests are fixed functions there."
)


def ways(told: Told, progress: Telling | None) -> Iterator[Way]:
    """Yield a way for each width of threads; ``told`` is what the drawer is told besides."""
    machine = machine_named("gen6")
    assert machine.draw is not None  # as its record says
    for width in WIDTHS:
        config = replace(told.get("config") or EuConfig(), channels=width)
        draw = partial(machine.draw, progress=progress, **{**told, "config": config})
        yield Way(f"{machine.title} SIMD{width}", draw, ("covered_lanes", "enabled_lanes"), _ABOUT)
