"""``--live`` and ``--frame``: the dashboard of a run while it continues, and one frame of it at the end."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable
from pkgutil import resolve_name
from typing import IO, TYPE_CHECKING, cast

from pixelflow.cli.screen import Screen, clear_lines, write_stdout
from pixelflow.cli.snapshot import NodeDashboard, Watch
from pixelflow.node import Node
from pixelflow.observe import Event, NodeRunView, Progressed, RunBegan, RunEnded
from pixelflow.simd.dashboard import PipelineState, WatchedRun
from pixelflow.simd.errors import UsageError
from pixelflow.simd.machine import AnyMachine

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.live import Live

FrameDrawing = Callable[[int, int], "Group"]
"""Draws a frame into columns and lines."""

NO_TERMINAL = "note: --live needs a terminal (one that shows Unicode); the run continues without it"

_INTERVAL = 0.1
"""Seconds between two frames, at the least."""

_COUNT_INTERVAL = 0.002
"""Seconds of work between two counts of the enabled PEs."""

_SHARE = 0.025
"""At most this share of the work goes into frames; where one takes long, they come less often."""


def takes_live() -> bool:
    """Return whether standard output is a terminal that can show a display which changes in place."""
    out = sys.stdout
    if out is None or not out.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        "▶█⣿".encode(out.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def console_of(screen: Screen, width: int, height: int, file: IO[str] | None = None, *, terminal: bool) -> Console:
    """Return a rich console that draws in colour where the screen does; without it, bold and dim remain."""
    from rich.console import Console

    return Console(
        file=file,
        width=width,
        height=height,
        force_terminal=terminal or screen.color,
        color_system=("auto" if terminal and screen.color else "standard") if terminal or screen.color else None,
        no_color=not screen.color,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


def draw_frame(screen: Screen, drawing: FrameDrawing, height: int = 24) -> None:
    """Print one frame as lines on standard output; characters that it lacks are replaced."""
    drawn = io.StringIO()
    terminal = sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    console_of(screen, screen.width, height, drawn, terminal=terminal).print(drawing(screen.width, height))
    write_stdout("\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n")


def _terminal_size() -> tuple[int, int]:
    """Return columns and lines of the terminal as it is now; 80 and 24 where it reports none."""
    width, height = os.get_terminal_size(sys.stdout.fileno())
    return width or 80, height or 24


class InPlaceDisplay:
    """A terminal that shows frames in place: the alternate screen, entered with the first frame, left by `close`.

    While it is there, what is written to standard error is kept back: it would land in the picture.
    """

    def __init__(self, screen: Screen) -> None:
        from rich.live import Live

        self._screen, self._live_display = screen, Live
        self._resources = contextlib.ExitStack()
        self._live: Live | None = None

    def show(self, drawing: FrameDrawing) -> None:
        """Draw a frame in the size that the terminal has now."""
        live = self._open() if self._live is None else self._live
        width, height = _terminal_size()
        live.console.size = (width, height)
        live.update(drawing(width, height), refresh=True)

    def close(self) -> None:
        """Restore the terminal, and print what was withheld."""
        self._live = None
        self._resources.close()

    def _open(self) -> Live:
        clear_lines()
        held = io.StringIO()

        def release() -> None:
            if held.getvalue():
                sys.stderr.write(held.getvalue())

        self._resources.callback(release)
        self._resources.enter_context(contextlib.redirect_stderr(held))
        console = console_of(self._screen, *_terminal_size(), terminal=True)
        self._live = self._live_display(
            console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        )
        return self._resources.enter_context(self._live)


class NodeDisplay:
    """The dashboard of the runs of a node: one frame when they are over, and with ``live`` others while they continue.

    Those are drawn in place, in the thread of the run; they change nothing in it.
    """

    def __init__(self, screen: Screen, preset: str, *, live: bool) -> None:
        """``preset`` is the name of the configuration."""
        self._screen, self._preset, self._watch = screen, preset, Watch(enables=not live)
        self._picture = InPlaceDisplay(screen) if live else None
        self._dashboard: NodeDashboard
        self._part: tuple[int, int | None] | None = None
        self._runs = 0
        self._drawn = self._worked = self._counted = 0.0
        self._pause = 0.0
        self._rate: float | None = None
        self._last = (0.0, 0)

    def part(self, number: int, total: int) -> None:
        """Say which of several passes begins next."""
        self._part = (number, total)

    def follow(self, node: Node) -> None:
        """Listen to a node, before its runs; of several nodes, the last one is shown."""
        self._dashboard = NodeDashboard(node, self._watch, self._preset)
        self._watch.attach(node.bus)
        node.bus.subscribe(self._begin, RunBegan)
        if self._picture is not None:
            node.bus.subscribe(self._hear, RunBegan, Progressed, RunEnded)

    def close(self) -> None:
        """Restore the terminal, and draw the frame of the last run, if there was one."""
        if self._picture is not None:
            self._picture.close()
        if self._runs:
            draw_frame(self._screen, self._dashboard.state(part=self._part).frame)

    def _begin(self, event: RunBegan[NodeRunView]) -> None:
        self._runs += 1
        if self._runs > 1 and (self._part is None or self._part[1] is None):
            self._part = (self._runs, None)
        self._last, self._rate = (time.perf_counter(), event.cycle), None

    def _hear(self, event: Event) -> None:
        now, work = time.perf_counter(), time.thread_time()
        watch, node = self._watch, self._dashboard.node
        if watch.function and work - self._counted > _COUNT_INTERVAL:
            watch.enables(watch.cycle, node.array.enabled_by_module())
            self._counted = work
        if self._picture is None or now < self._drawn + _INTERVAL or work < self._worked + self._pause:
            return
        then, cycle = self._last
        if now > then and watch.cycle > cycle:
            self._rate = (watch.cycle - cycle) / (now - then)
        self._last = (now, watch.cycle)
        self._picture.show(self._dashboard.state(part=self._part, rate=self._rate).frame)
        self._drawn, self._worked = now, time.thread_time()
        self._pause = (self._worked - work) / _SHARE


# ``--live``, ``--frame`` and ``dash --play`` of a machine of boxes and wires: frames of a run that can be stopped.


_FIRST = 256
"""Cycles before the first frame."""


def opener_of(machine: AnyMachine, option: str) -> Callable[..., WatchedRun]:
    """Return what opens a run of a machine that can be shown; raises UsageError where it has no dashboard."""
    if not machine.watch:
        raise UsageError(option, f"there is no dashboard of {machine.title}")
    return cast("Callable[..., WatchedRun]", resolve_name(machine.watch))


def run_live(run: WatchedRun, screen: Screen) -> None:
    """Show a run while it continues, to its end; without a terminal for it, say so and show nothing."""
    if not takes_live():
        screen.note(NO_TERMINAL)
        return
    picture = InPlaceDisplay(screen)
    cycle, chunk = 0, _FIRST
    try:
        while not run.ended:
            began = time.perf_counter()
            cycle += chunk
            run.advance(cycle)
            taken = max(1e-6, time.perf_counter() - began)
            picture.show(run.state(rate=chunk / taken).frame)
            # As many cycles as the simulation does between two frames, by what it did last.
            chunk = max(1, min(4 * chunk, round(chunk * _INTERVAL / taken)))
    finally:
        picture.close()


def run_to_frame(run: WatchedRun, screen: Screen) -> None:
    """Run to the end and draw one frame of it."""
    run.advance(_END)
    draw_frame(screen, run.state().frame)


_END = 1 << 62
"""Beyond the end of any run."""


def state_at(run: WatchedRun, cycle: int, status: str) -> PipelineState:
    """Return the state at a cycle, which may not go back; ``status`` describes a run that has not ended."""
    run.advance(cycle)
    return run.state(status=None if run.ended else status)
