"""``--live`` and ``--frame``: the dashboard of a run while it continues, and one frame of it at the end."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import IO, TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from pixelflow.cli.screen import Screen, end_sign_of_life, write_stdout
from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.node.pe_map import grid
from pixelflow.node.run.clocked import Clocked
from pixelflow.node.run.semaphores import use_of
from pixelflow.node.run.tasic_box import TasicBox
from pixelflow.observe import Event, NodeRunView, Progressed, RunBegan, RunEnded
from pixelflow.observe.dashboard_frame import DashboardState, MapState, drawing_of
from pixelflow.observe.snapshot import Facts, Look, SemaphoreUse, Watch, snapshot
from pixelflow.simd.dashboard import FrameDrawing, WatchedRun, pipeline_drawing
from pixelflow.simd.errors import UsageError
from pixelflow.simd.machine import AnyMachine

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live

    from pixelflow.node.replay import Replay

# What a dashboard shows of a node and its run: the part that must know the machine.


_ALONE = "one stream runs alone"
_EQUAL_SLOTS = "not scheduled: equal slots"


def facts_of(config: NodeConfig, preset: str, engine: str, program: Program, view: NodeRunView | Replay) -> Facts:
    """Return what stays the same while a program runs."""
    two = len(view.streams) > 1
    return Facts(
        config=preset,
        config_hash=config.sha256,
        engine=engine,
        clock_mhz=config.clock_mhz,
        pes=config.lanes,
        modules=config.array.modules,
        semaphores=_semaphores(program),
        texture_missing=None if two else _ALONE,
        banks_missing=_EQUAL_SLOTS if two else _ALONE,
    )


def _semaphores(program: Program) -> tuple[SemaphoreUse, ...]:
    uses = {entry.upper(): use_of(program, entry) for entry in program.entries}
    numbers = sorted({number for use in uses.values() for number in (*use.waits, *use.signals)})
    return tuple(
        SemaphoreUse(
            number,
            tuple(name for name, use in uses.items() if number in use.signals),
            tuple(name for name, use in uses.items() if number in use.waits),
        )
        for number in numbers
    )


class NodeView:
    """Looks at a node for the frames of its runs: the array's map, enabled PEs, bytes on the ports, open rows."""

    def __init__(self, node: Node, title: str, values: Callable[[Node], np.ndarray]) -> None:
        """``values`` returns what the map shows: bool[lanes] or uint8[lanes]."""
        self._node = node
        self._title = title
        self._values = values
        self._places: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None] | None = None

    def enabled(self) -> tuple[int, ...]:
        """Return how many PEs of each module are enabled."""
        return self._node.array.enabled_by_module()

    def look(self, watch: Watch, *, at: int | None = None, data: bool = True) -> Look:
        """Return the node's present state for a frame; without ``data`` the run touches no PE, and the map is omitted.

        ``at`` is the cycle up to which the run is complete, None for a run that continues.
        """
        view = watch.view
        runner = getattr(view, "runner", view)
        look = Look()
        if isinstance(runner, Clocked) and runner.boxes is not None:
            boxes = runner.boxes
            known = _known(runner) if at is None and watch.ended is None else watch.cycle
            look = Look(
                from_emcs=tuple(box.state.sent_bytes for box in boxes.emcs),
                to_emcs=tuple(box.state.received_bytes for box in boxes.emcs),
                over=tuple(map(runner.counts.over, range(len(boxes.tasics)))),
                open_rows=_open_rows(boxes.tasics),
                transferring=("tigc",) if runner.sequencers[1].state.outstanding else (),
                simulated=known if known < watch.cycle else None,
            )
        return replace(look, array=self._map(), enabled=self.enabled()) if data else look

    def _map(self) -> MapState | None:
        x, y = self._node.coordinates()
        # Whether the PEs make a plane takes longer to find out than everything else, and it seldom changes.
        if self._places is None or not (np.array_equal(x, self._places[0]) and np.array_equal(y, self._places[1])):
            self._places = (x, y, grid(np.arange(1, len(x) + 1), x, y))
        order = self._places[2]
        if order is None:
            return None
        values = self._values(self._node)
        with_nothing = np.concatenate(([0], values)).astype(np.uint8)  # places without a PE show nothing
        height, width = order.shape
        return MapState(self._title, width, height, with_nothing[order].tobytes(), values.dtype == np.bool_)


def _known(runner: Clocked) -> int:
    """Return the cycle up to which a run that continues has been simulated: one stream may be ahead of that."""
    clock = getattr(runner, "clock", None)  # in a machine of several nodes, the machine has it
    return min(stream.cycle for stream in runner.streams.values()) if clock is None else clock.cycle


def _open_rows(tasics: Sequence[TasicBox]) -> tuple[tuple[int | None, ...], ...] | None:
    """Return the open row of each bank of each module (of its device 0), where accesses are scheduled."""
    rows = []
    for tasic in tasics:
        if tasic.sdrams is None:
            return None
        rows.append(tuple(tasic.sdrams.parts[0].scheduler.sdram.open_row))
    return tuple(rows)


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
    """Print one frame as lines on standard output: plain text where that is not a terminal."""
    if not _shows_blocks() or (os.environ.get("TERM") == "dumb" and not screen.color):
        write_stdout(drawing.text(screen.width) + "\n")
        return
    drawn = io.StringIO()
    terminal = sys.stdout is not None and sys.stdout.isatty()
    console_of(screen, screen.width, height, drawn, terminal=terminal).print(drawing.frame(screen.width, height))
    write_stdout("\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n")


def _terminal_size() -> tuple[int, int]:
    """Return columns and lines of the terminal as it is now; 80 and 24 where it reports none."""
    width, height = os.get_terminal_size(sys.stdout.fileno())
    return width or 80, height or 24


class _Follower:
    """Base of `LiveDisplay` and `FinalFrame`: follows the runs of a node from the first event."""

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
        """Listen to a node, before its runs; of several nodes, the last one is shown."""
        self._node = node
        self._node_view = NodeView(node, "enabled PEs", lambda node: node.flag("E"))
        self._watch.attach(node.bus)
        node.bus.subscribe(self._begin, RunBegan)

    def _begin(self, event: RunBegan[NodeRunView]) -> None:
        self._data = event.function
        self._runs += 1
        if self._runs > 1 and (self._part is None or self._part[1] is None):
            self._part = (self._runs, None)
        engine = self._node.engine if event.function else "none (timing only)"
        program = cast("Program", event.program)  # a node runs no others
        self._facts = facts_of(self._node.config, self._preset, engine, program, event.view)

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
        """Restore the terminal, and print what was withheld."""
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
    """Draws frames in place while the runs of a node continue, in their own thread; it changes nothing in them."""

    def __init__(self, screen: Screen, preset: str = "") -> None:
        """``preset`` is the name of the configuration."""
        super().__init__(screen, preset, Watch())
        self._picture = InPlaceDisplay(screen)
        self._drawn = self._worked = self._counted = 0.0
        self._pause = 0.0
        self._rate: float | None = None
        self._last = (0.0, 0)

    def follow(self, node: Node) -> None:
        """Listen to a node, before its runs; of several nodes, the last one is shown."""
        super().follow(node)
        node.bus.subscribe(self._hear, RunBegan, Progressed, RunEnded)

    def close(self) -> None:
        """Restore the terminal; the last frame of a run stays on it."""
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
    """Return the display of runs; None, and a note on stderr, without a terminal for it."""
    if takes_live():
        return LiveDisplay(screen, preset)
    screen.note("note: --live needs a terminal (one that shows Unicode); the run continues without it")
    return None


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
        screen.note("note: --live needs a terminal (one that shows Unicode); the run continues without it")
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
    """Return the frame of a cycle, which may not go back; ``status`` describes a run that has not ended."""
    run.advance(cycle)
    return pipeline_drawing(run.state(status=None if run.ended else status))
