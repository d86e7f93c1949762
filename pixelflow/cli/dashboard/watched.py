"""``--live``, ``--frame`` and ``dash --play`` of a machine of boxes and wires: frames of a run that can be stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from pkgutil import resolve_name
from typing import cast

from pixelflow.cli.dashboard.live import InPlaceDisplay, draw_frame, takes_live
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.screen import Screen
from pixelflow.simd.dashboard import FrameDrawing, WatchedRun, pipeline_drawing
from pixelflow.simd.machine import AnyMachine

__all__ = ["frame_at", "opener_of", "run_live", "run_to_frame"]

_INTERVAL = 0.1
"""Seconds between two frames."""
_FIRST = 256
"""Cycles before the first frame."""


def opener_of(machine: AnyMachine, option: str) -> Callable[..., WatchedRun]:
    """Return what opens a run of a machine that can be shown; raises UsageError where it has no dashboard."""
    if not machine.watch:
        raise UsageError(option, f"there is no dashboard of {machine.title}")
    return cast("Callable[..., WatchedRun]", resolve_name(machine.watch))


def run_live(run: WatchedRun, screen: Screen) -> None:
    """Show a run while it goes on, to its end; without a terminal for it, say so and show nothing."""
    if not takes_live():
        screen.note("note: --live needs a terminal (one that shows Unicode); the run goes on without it")
        return
    picture = InPlaceDisplay(screen)
    cycle, chunk = 0, _FIRST
    try:
        while not run.ended:
            began = time.perf_counter()
            cycle += chunk
            run.advance(cycle)
            taken = max(1e-6, time.perf_counter() - began)
            picture.show(pipeline_drawing(run.state(rate=chunk / taken)))
            # As many cycles as the simulation does between two frames, by what it did last.
            chunk = max(1, min(4 * chunk, round(chunk * _INTERVAL / taken)))
    finally:
        picture.close()


def run_to_frame(run: WatchedRun, screen: Screen) -> None:
    """Run to the end and draw one frame of it."""
    run.advance(_END)
    draw_frame(screen, pipeline_drawing(run.state()))


_END = 1 << 62
"""Beyond the end of any run."""


def frame_at(run: WatchedRun, cycle: int, status: str) -> FrameDrawing:
    """Return the frame of a cycle, which may not go back; ``status`` is that of a run that has not ended there."""
    run.advance(cycle)
    return pipeline_drawing(run.state(status=None if run.ended else status))
