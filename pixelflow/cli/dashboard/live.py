"""``--live`` and ``--frame``: the dashboard of a run while it goes on, and one frame of it at the end."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from typing import IO, TYPE_CHECKING

from pixelflow.cli.dashboard.dash_state import NodeView, facts_of
from pixelflow.cli.shell.output import write_stdout
from pixelflow.cli.shell.progress import end_sign_of_life
from pixelflow.cli.shell.screen import Screen
from pixelflow.node import Node
from pixelflow.observe import Event, Progressed, RunBegan, RunEnded
from pixelflow.observe.dashboard import DashboardState, Facts, Watch, drawing_of, snapshot
from pixelflow.simd.dashboard import FrameDrawing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

__all__ = ["FinalFrame", "InPlaceDisplay", "LiveDisplay", "console_of", "draw_frame", "live_display", "takes_live"]

_INTERVAL = 0.1
"""Seconds between two frames, at the least."""

_COUNT_INTERVAL = 0.002
"""Seconds of work between two counts of the enabled PEs."""

_SHARE = 0.025
"""At most this share of the work goes into frames; where one takes long, they come less often."""


def takes_live() -> bool:
    """Return whether standard output is a terminal that can show a display which changes in place."""
    out = sys.stdout
    terminal = out is not None and out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return terminal and _shows_blocks()


def _shows_blocks() -> bool:
    """Return whether standard output has the characters that frames are drawn with."""
    try:
        "▶█⣿".encode(getattr(sys.stdout, "encoding", None) or "ascii")
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
    """Print one frame as lines on standard output: plain text where that is no terminal."""
    if not _shows_blocks() or (os.environ.get("TERM") == "dumb" and not screen.color):
        write_stdout(drawing.text(screen.width) + "\n")
        return
    drawn = io.StringIO()
    terminal = sys.stdout is not None and sys.stdout.isatty()
    console_of(screen, screen.width, height, drawn, terminal=terminal).print(drawing.frame(screen.width, height))
    write_stdout("\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n")


def _terminal_size() -> tuple[int, int]:
    """Return columns and lines of the terminal as it is now; some terminals do not tell."""
    width, height = os.get_terminal_size(sys.stdout.fileno())
    return width or 80, height or 24


class _Follower:
    """What `LiveDisplay` and `FinalFrame` share: following the runs of a node from the first event on."""

    def __init__(self, screen: Screen, preset: str, watch: Watch) -> None:
        self._screen, self._preset, self._watch = screen, preset, watch
        self._facts: Facts | None = None
        self._data = True
        self._part: tuple[int, int | None] | None = None
        self._runs = 0

    def part(self, number: int, total: int) -> None:
        """Say which of several passes begins next."""
        self._part = (number, total)

    def follow(self, node: Node) -> None:
        """Listen to a node, before its runs; where there are several nodes, the last one is shown."""
        self._node = node
        self._node_view = NodeView(node, "enabled PEs", lambda node: node.flag("E"))
        self._watch.attach(node.bus)
        node.bus.subscribe(self._begin, RunBegan)

    def _begin(self, event: RunBegan) -> None:
        self._data = event.function
        self._runs += 1
        if self._runs > 1 and (self._part is None or self._part[1] is None):
            self._part = (self._runs, None)
        engine = self._node.engine if event.function else "none (timing only)"
        self._facts = facts_of(self._node.config, self._preset, engine, event.program, event.view)

    def _state(self, facts: Facts, rate: float | None = None) -> DashboardState:
        look = self._node_view.look(self._watch, data=self._data)
        return snapshot(self._watch, facts, look, part=self._part, rate=rate)


class FinalFrame(_Follower):
    """Draws one frame when the runs are over."""

    def __init__(self, screen: Screen, preset: str = "") -> None:
        """``preset`` is the name of the configuration."""
        super().__init__(screen, preset, Watch(enables=True))

    def close(self) -> None:
        """Draw the frame of the last run, if there was one."""
        if self._facts is not None:
            draw_frame(self._screen, drawing_of(self._state(self._facts)))


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
        live.update(drawing.frame(width, height), refresh=True)

    def close(self) -> None:
        """Give the terminal back as it was, and print what was kept back."""
        self._live = None
        self._resources.close()

    def _open(self) -> Live:
        end_sign_of_life()
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


class LiveDisplay(_Follower):
    """Draws frames in place while the runs of a node go on, in their own thread; it changes nothing in them."""

    def __init__(self, screen: Screen, preset: str = "") -> None:
        """``preset`` is the name of the configuration."""
        super().__init__(screen, preset, Watch())
        self._picture = InPlaceDisplay(screen)
        self._drawn = self._worked = self._counted = 0.0
        self._pause = 0.0
        self._rate: float | None = None
        self._last = (0.0, 0)

    def follow(self, node: Node) -> None:
        """Listen to a node, before its runs; where there are several nodes, the last one is shown."""
        super().follow(node)
        node.bus.subscribe(self._hear, RunBegan, Progressed, RunEnded)

    def close(self) -> None:
        """Give the terminal back as it was; the last frame stays on it, where there was a run."""
        self._picture.close()
        if self._facts is not None:
            draw_frame(self._screen, drawing_of(self._state(self._facts)))

    def _hear(self, event: Event) -> None:
        now, work = time.perf_counter(), time.thread_time()
        if self._data and work - self._counted > _COUNT_INTERVAL:
            self._watch.enables(self._watch.cycle, self._node_view.enabled())
            self._counted = work
        if isinstance(event, RunBegan):
            self._last = (now, event.cycle)
            self._rate = None
        if self._facts is None or now < self._drawn + _INTERVAL or work < self._worked + self._pause:
            return
        self._measure(now)
        self._picture.show(drawing_of(self._state(self._facts, self._rate)))
        self._drawn, self._worked = now, time.thread_time()
        self._pause = (self._worked - work) / _SHARE

    def _measure(self, now: float) -> None:
        """Note the rate since the frame before."""
        then, cycle = self._last
        if now > then and self._watch.cycle > cycle:
            self._rate = (self._watch.cycle - cycle) / (now - then)
        self._last = (now, self._watch.cycle)


def live_display(screen: Screen, preset: str = "") -> LiveDisplay | None:
    """Return the display of runs; None, and a note on stderr, where there is no terminal for it."""
    if takes_live():
        return LiveDisplay(screen, preset)
    screen.note("note: --live needs a terminal (one that shows Unicode); the run goes on without it")
    return None
