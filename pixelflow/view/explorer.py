"""The run explorer: one run or trace, its debugger session, the map of its PEs, and the requests about them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.debugger import Debugger, DebugSession, views
from pixelflow.debugger.expressions import FLAGS
from pixelflow.debugger.node_dialogue import COMMANDS
from pixelflow.isa import Program
from pixelflow.node import Node, Replay, SavedRun
from pixelflow.node.pe_map import MAP_FLAGS, REGISTERS, MapView, first_map
from pixelflow.node.pe_report import RangeView, position
from pixelflow.observe import Bus
from pixelflow.observe.node_tracer import NodeTracer
from pixelflow.simd.dialogue import find_command, refuse, stop_parts
from pixelflow.simd.errors import Fault, InputError, MissingPackageError
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.report import Json, Part, as_text
from pixelflow.simd.trace import TraceClock, Track
from pixelflow.simd.trace.trace_model import Trace, TrackKind
from pixelflow.view.listing import CodeListing, ProgramCode, TraceCode
from pixelflow.view.server import Answer, Given, PageRequest, PageRoom, Telling, TextField, WholeField
from pixelflow.view.timeline import CounterLevels, Levels, SpanLevels, place_answer, window_answer

if TYPE_CHECKING:
    from pixelflow.view.widget import RunExplorer

# PEs of a run at its position: the map of one value of all of them, and all values of one of them.


def maps_of(program: Program) -> list[Json]:
    """Return the names of maps, without those of bytes by number."""
    return [*MAP_FLAGS, *REGISTERS, *(each.name for each in program.ranges)]


def map_answer(node: Node, program: Program, what: str) -> Answer:
    """Return the map of a flag, a register, a range or a byte (``byte 12``): a shade for each PE, row by row.

    Raises InputError for an unknown name, and where PEs make no plane.
    """
    view = MapView.named(what, program, addresses=True)
    drawn = view.drawn(node)
    image = drawn.picture()
    shades, caption = image.data, image.caption
    if view.flag is not None:  # white where it is set, also where it is so in every PE
        shades = (drawn.plane * np.uint8(255)).tobytes()
        caption = f"{view.text}: white where it is set, {int(drawn.plane.sum()):,} of {node.lanes:,} PEs"
    head: dict[str, Json] = {"what": view.text, "width": image.width, "height": image.height, "caption": caption}
    return Answer(head, shades)


def element_answer(node: Node, program: Program, x: int, y: int) -> Answer:
    """Return the PE at a place of the plane: registers, flags, named ranges; the body is its memory.

    Raises InputError where there is none.
    """
    across, down = node.coordinates()
    there = np.flatnonzero((across == x) & (down == y))
    if not len(there):
        raise InputError(Fault(f"there is no PE at x {x}, y {y}"))
    lane = int(there[0])
    array = node.config.array
    areas: list[Json] = [
        ["main", 0, array.main_bytes],
        ["composition", array.composition_start, array.composition_bytes],
        ["input port", array.input_port_start, array.port_bytes],
        ["output port", array.output_port_start, array.port_bytes],
    ]
    ranges: list[dict[str, Json]] = []
    for each in program.ranges:
        values = [column[0] for column in RangeView(each, each.form).values(node, [lane])]
        shown: list[Json] = [f"{value:.9g}" if isinstance(value, float) else str(value) for value in values]
        about: dict[str, Json] = {"name": each.name, "start": each.start, "size": each.size}
        ranges.append({**about, "form": each.form.value, "values": shown})
    head: dict[str, Json] = {
        "lane": lane,
        "place": position(lane, array),
        "x": x,
        "y": y,
        "registers": {name: int(node.register(name)[lane]) for name in REGISTERS},
        "flags": {name: bool(node.flag(name)[lane]) for name in FLAGS},
        "ranges": [*ranges],
        "areas": areas,
    }
    return Answer(head, node.memory[:, lane].tobytes())


# Requests that a trace alone can answer: windows, heat, places, and rows of the listing.


LOOK = "look"
"""The thread that looks at copies of a trace."""
_MOST_CYCLES = 1 << 50
CYCLE = WholeField(0, _MOST_CYCLES)
"""The field of a cycle."""
_MOST_PIXELS = 4096
_MOST_ROWS = 400
_MOST_HEAT = 20_000


class Seen(NamedTuple):
    """A trace, the listing of its code, and the tracks that execute it."""

    levels: Levels
    listing: CodeListing
    streams: tuple[str, ...]


def looking(seen: Callable[[], Seen]) -> Mapping[str, PageRequest]:
    """Return the requests about a trace; ``seen`` raises InputError without one."""

    def window(given: Given) -> Answer:
        levels = seen().levels
        begin, end = _window_of(given)
        return window_answer(levels, begin, end, given.whole("width"))

    def heat(given: Given) -> Answer:
        levels, listing, streams = seen()
        begin, end = _window_of(given)
        rows = listing.heat(levels, streams, begin, end)
        hottest = sorted(rows, key=lambda row: -(row[1] + row[2]))[:_MOST_HEAT]
        return Answer({"begin": begin, "end": end, "rows": sorted(hottest)})

    def place(given: Given) -> Answer:
        return place_answer(seen().levels, given.whole("row"), given.whole("cycle"))

    def rows(given: Given) -> Answer:
        first = given.whole("first")
        return Answer({"first": first, "rows": seen().listing.rows(first, given.whole("count"))})

    cut = {"begin": CYCLE, "end": CYCLE}
    wide = {**cut, "width": WholeField(1, _MOST_PIXELS)}
    some = {"first": WholeField(0, _MOST_CYCLES), "count": WholeField(1, _MOST_ROWS)}
    return {
        "run.window": PageRequest(window, wide, LOOK, latest=True),
        "run.heat": PageRequest(heat, cut, LOOK, latest=True),
        "run.place": PageRequest(place, {"row": WholeField(0, 10_000), "cycle": CYCLE}, LOOK, latest=True),
        "run.rows": PageRequest(rows, some, LOOK),
    }


def _window_of(given: Given) -> tuple[int, int]:
    begin, end = given.whole("begin"), given.whole("end")
    if not begin < end <= begin + (1 << 31) - 1:
        raise InputError(Fault(f"cycles {begin} to {end} are not a window", hint="allowed: 1 to 2^31 - 1 cycles"))
    return begin, end


# The room of a run that is known by its trace alone: of any machine, with a cursor in the place of a debugger.
#
# Nothing is executed here. A step moves the cursor to the next cycle, or the one before, in which the trace has an
# event:
# a span begins, or a counter gets another value.


_NEXT, _BEFORE = "next", "before"
_MOST_NAMES = 4
"""Spans of a row that begin in one cycle and are named, at most."""


@dataclass(frozen=True, eq=False)
class TracedRun:
    """A run that has ended, as a trace; pages share it."""

    name: str
    """Of the program, or the scene."""
    file: str
    """It was read from, without folders."""
    machine: str
    """As prose has it; empty where the trace does not say."""
    trace: Trace
    program: AssembledProgram | None = None
    """None where the code is known from the trace alone."""

    @cached_property
    def seen(self) -> Seen:
        """The trace as levels of detail, with the listing of the program or of what the trace has of it."""
        trace = self.trace
        code = TraceCode(trace) if self.program is None else ProgramCode(self.program)
        streams = tuple(track.name for track in trace.tracks if track.kind is TrackKind.STREAM)
        return Seen(Levels(trace, trace.end), CodeListing(code), streams)

    @cached_property
    def events(self) -> NDArray[np.int64]:
        """The cycles in which something happens, each once: int64, ascending, with the ends of the trace."""
        ends = np.array([self.trace.begin, self.trace.end], np.int64)
        rows = self.seen.levels.rows
        found = [row.starts if isinstance(row, SpanLevels) else row.cycles for row in rows]
        return np.unique(np.concatenate([ends, *found]))


class TraceRoom:
    """Answers a page's requests on a trace; those that need a node (maps, PEs, commands) do not exist here."""

    def __init__(self, run: TracedRun) -> None:
        self._run = run
        self._cycle = run.trace.begin

    @property
    def requests(self) -> Mapping[str, PageRequest]:
        """The requests of this room by name."""
        return {
            "run.open": PageRequest(self._opened, thread=LOOK),
            "run.state": PageRequest(self._state_answer, thread=LOOK, latest=True),
            "run.goto": PageRequest(self._goto, {"cycle": CYCLE}, LOOK, latest=True),
            "run.step": PageRequest(self._step, {"to": TextField(words=(_NEXT, _BEFORE))}, LOOK),
            **looking(lambda: self._run.seen),
        }

    @property
    def idle(self) -> Mapping[str, Callable[[], bool]]:
        """Nothing: the trace is whole."""
        return {}

    def close(self) -> None:
        """Nothing takes long."""

    def _opened(self, given: Given) -> Answer:
        run = self._run
        head: dict[str, Json] = {
            "run": run.name,
            "file": run.file,
            "machine": run.machine,
            "clock_mhz": run.trace.clock.mhz,
            "begin": run.trace.begin,
            "end": run.trace.end,
            "known": run.trace.end,
            "rows": len(run.seen.listing),
            "streams": list(run.seen.streams),
            "maps": [],
        }
        return Answer(head)

    def _goto(self, given: Given) -> Answer:
        """Put the cursor at a cycle; one past the trace means its end."""
        trace = self._run.trace
        self._cycle = min(max(given.whole("cycle"), trace.begin), trace.end)
        return self._state()

    def _step(self, given: Given) -> Answer:
        """Put the cursor where the next event is, or the one before; it stays where there is none."""
        events = self._run.events
        if given.text("to") == _NEXT:
            at = min(int(np.searchsorted(events, self._cycle, side="right")), len(events) - 1)
        else:
            at = max(int(np.searchsorted(events, self._cycle, side="left")) - 1, 0)
        self._cycle = int(events[at])
        return self._state()

    def _state_answer(self, given: Given) -> Answer:
        return self._state()

    def _state(self) -> Answer:
        """Return the cursor, and what each part does in its cycle."""
        end = self._run.trace.end
        head: dict[str, Json] = {
            "cycle": self._cycle,
            "end": end,
            "ended": self._cycle >= end,
            "known": end,
            "streams": [self._part(row) for row in self._run.seen.levels.rows],
            "where": f"cycle {self._cycle:,} of {end:,}",
        }
        return Answer(head)

    def _part(self, row: SpanLevels | CounterLevels) -> Json:
        """Return what a row shows at the cursor; a stream has the row of the listing that it is in."""
        if isinstance(row, CounterLevels):
            return {"name": row.track, "row": None, "doing": f"{row.at(self._cycle):,} {row.unit}"}
        levels, listing, streams = self._run.seen
        code = None
        spans = _spans_at(row, self._cycle)
        names = [levels.span(row, number).label.name for number in spans[:_MOST_NAMES]]
        if row.track in streams and spans:
            code = listing.row_of_label(levels.span(row, spans[-1]).label)
        more = f", {len(spans) - _MOST_NAMES} more" if len(spans) > _MOST_NAMES else ""
        return {"name": row.track, "row": code, "doing": "; ".join(names) + more}


def _spans_at(row: SpanLevels, cycle: int) -> list[int]:
    """Return the spans that begin in a cycle, those of no cycle among them, or the one that covers it."""
    first, past = (int(np.searchsorted(row.starts, cycle, side=side)) for side in ("left", "right"))
    covering = row.at(cycle)
    found = list(range(first, past))
    return [covering, *found] if covering is not None and covering not in found else found


# The room of the run explorer: one run, the debugger's session in it, and its trace, which grows between requests.


_COLUMNS = 76
"""Of what the debugger says in the page."""
_CHANGING = ("poke", "unpoke")


class _Said:
    """The viewer of a debugger whose words go to a page."""

    width = _COLUMNS

    def __init__(self) -> None:
        self.text = ""

    def print(self, *parts: Part) -> None:
        """Keep parts of a report as text."""
        self.text += as_text(parts, _COLUMNS)


_RUN = "run"
"""The thread that has the node; another one looks at copies of the trace."""
_SLICE_SECONDS = 0.25
"""Between two requests the trace continues for so long."""
_COPIES = 5
"""Copies of the trace take a part of the time that is not more than one of this many."""
_INTERVAL = 2048
"""Cycles between two looks at the clock."""
_STATES = 64
"""States that the run keeps on its way, of some 3 MB each."""


class _OpenRun(NamedTuple):
    """An open run with its debugger, what that has said, trace and listing."""

    saved: SavedRun
    replay: Replay
    debugger: Debugger
    said: _Said
    trace: Trace
    listing: CodeListing


class ExplorerRoom:
    """Answers what a page asks of a run. One thread has the node; another one looks at copies of the trace."""

    def __init__(self, run: SavedRun | None, tracks: Callable[[SavedRun], Sequence[Track]], tell: Telling) -> None:
        """``run`` may be None at first; ``tracks`` returns the tracks that a run may have."""
        self._wanted = run
        self._tracks = tracks
        self._tell = tell
        self._open: _OpenRun | None = None
        self._levels: Levels | None = None
        self._reached = 0
        """The cycle up to which the run has been executed, and traced."""
        self._known = 0
        """The cycle up to which others can see the trace."""
        self._away: int | None = None
        """Position of the run for the page, while the trace continues elsewhere."""
        self._due = 0.0
        """When the trace is to be copied again."""
        self._closed = False

    @property
    def requests(self) -> Mapping[str, PageRequest]:
        """The requests of this room by name."""
        place = {"x": CYCLE, "y": CYCLE}
        return {
            "run.open": PageRequest(self._opened, thread=_RUN),
            "run.state": PageRequest(self._state_answer, thread=_RUN, latest=True),
            "run.goto": PageRequest(self._goto, {"cycle": CYCLE}, _RUN, latest=True),
            "run.command": PageRequest(self._command, {"text": TextField(500)}, _RUN),
            "run.map": PageRequest(self._map, {"what": TextField(100)}, _RUN, latest=True),
            "run.element": PageRequest(self._element, place, _RUN, latest=True),
            "run.interrupt": PageRequest(self._interrupt),
            **looking(self._seen),
        }

    @property
    def idle(self) -> Mapping[str, Callable[[], bool]]:
        """The trace continues between requests."""
        return {_RUN: self._trace_on}

    def close(self) -> None:
        """End long movements."""
        self._closed = True
        self._interrupt(Given({}))

    def explore(self, run: SavedRun) -> None:
        """Replace the run, for the next time that the page opens one."""
        self._wanted = run

    # --- opening -------------------------------------------------------------------------------------------------

    def _opened(self, given: Given) -> Answer:
        """Describe the run; one that was opened before keeps its position."""
        wanted = self._wanted
        if wanted is None:
            return Answer({"run": None})
        if self._open is None or self._open.saved is not wanted:
            self._begin(wanted)
        run = self._open
        assert run is not None
        config = run.saved.config
        head: dict[str, Json] = {
            "run": run.saved.program.name or "program",
            "file": PurePath(run.saved.file).name,
            "command": run.saved.command,
            "engine": run.replay.node.engine,
            "clock_mhz": config.clock_mhz,
            "config_sha256": config.sha256,
            "end": self._end,
            "known": self._known,
            "rows": len(run.listing),
            "streams": list(run.replay.streams),
            "maps": maps_of(run.saved.program),
            "map": first_map(run.saved.program),
            "stages": sorted(run.saved.program.names),
        }
        return Answer(head)

    def _begin(self, saved: SavedRun) -> None:
        """Put a node at the beginning of a run; what there was before is forgotten."""
        self._open = self._levels = self._away = None
        self._known = self._reached = 0
        trace = Trace(TraceClock(saved.config.clock_mhz))

        def watch(bus: Bus) -> None:
            NodeTracer(trace).attach(bus, self._tracks(saved))

        replay = saved.replay(keep=_STATES, watch=watch)
        said, listing = _Said(), CodeListing(ProgramCode(saved.program))
        self._open = _OpenRun(saved, replay, Debugger(DebugSession(replay), said), said, trace, listing)
        self._levels = Levels(trace, 0)

    @property
    def _here(self) -> _OpenRun:
        """The run, back at its position; raises InputError where none is open."""
        run = self._open
        if run is None:
            raise InputError(Fault("no run is open"))
        if self._away is not None:
            position, self._away = self._away, None
            run.replay.goto(position)
        return run

    @property
    def _end(self) -> int | None:
        """The last cycle: known from the file, or when it has been reached."""
        assert self._open is not None
        ended = self._open.replay.end
        saved = self._open.saved.end
        return ended if ended is not None or saved is None else saved.cycles

    # --- the trace -------------------------------------------------------------------------------------------------

    def _trace_on(self) -> bool:
        """Continue the trace for a moment; return whether there is more to trace."""
        run = self._open
        if run is None or self._closed or run.replay.end is not None:
            return False
        if self._away is None:
            self._away = run.replay.position
            run.replay.goto(self._reached)
        until = time.monotonic() + _SLICE_SECONDS
        while time.monotonic() < until and not run.replay.ended and not self._closed:
            run.replay.advance(run.replay.position + _INTERVAL)
        self._reached = max(self._reached, run.replay.position)
        if run.replay.ended or time.monotonic() >= self._due:
            self._publish(run)
        return not run.replay.ended

    def _publish(self, run: _OpenRun) -> None:
        """Publish a copy of the trace."""
        self._reached = reached = max(self._reached, run.replay.position)
        if self._levels is not None and self._levels.known == reached:
            return
        self._known = reached
        begin = time.monotonic()
        self._levels = Levels(run.trace, reached)
        ended = time.monotonic()
        self._due = ended + _COPIES * (ended - begin)
        self._tell("trace", Answer({"known": reached, "end": self._end, "ended": run.replay.end is not None}))

    # --- movement ------------------------------------------------------------------------------------------------

    def _goto(self, given: Given) -> Answer:
        run = self._here
        run.debugger.session.goto(given.whole("cycle"))
        return self._state(run)

    def _command(self, given: Given) -> Answer:
        """Execute a command of the debugger; the answer has its output and the new position."""
        run = self._here
        words = given.text("text").split()
        if not words:
            raise InputError(Fault("a command is missing", hint="help lists them"))
        command, _ = find_command(COMMANDS, " ".join(words))
        if command.name in _CHANGING:
            refuse("what is poked makes another run, and the timeline is of this one", "pixelflow debug takes pokes")
        run.said.text = ""
        try:
            run.debugger.carry_out(" ".join(words))
        finally:
            self._publish(run)
        return self._state(run, run.said.text)

    def _interrupt(self, given: Given) -> Answer:
        """Request the end of a long movement."""
        run = self._open
        if run is not None:
            run.debugger.interrupt()
        return Answer()

    def _state_answer(self, given: Given) -> Answer:
        return self._state(self._here)

    def _state(self, run: _OpenRun, said: str = "") -> Answer:
        """Return the position of the run."""
        replay, session = run.replay, run.debugger.session
        self._publish(run)
        streams: list[Json] = []
        for name, stream in replay.streams.items():
            ahead = replay.ahead(name)
            index = stream.index if ahead is None else ahead.index
            row = None if stream.halted else run.listing.row_at(index)
            counts = {str(number): count for number, count in enumerate(stream.semaphores.counts) if count}
            stage = stream.stages[-1][0] if stream.stages else None
            about: dict[str, Json] = {
                "name": name,
                "row": row,
                "waits": replay.runner.waits_for(name, replay.position),
                "stage": stage,
            }
            streams.append({**about, "halted": stream.halted, "semaphores": counts})
        head: dict[str, Json] = {
            "cycle": replay.position,
            "end": self._end,
            "ended": replay.ended,
            "known": self._known,
            "streams": streams,
            "where": as_text(views.position(_COLUMNS, session), _COLUMNS),
            "calls": as_text(views.stack(_COLUMNS, session, list(replay.streams)), _COLUMNS),
            "stops": as_text(stop_parts(_COLUMNS, session), _COLUMNS),
            "said": said,
        }
        return Answer(head)

    # --- looking -------------------------------------------------------------------------------------------------

    def _map(self, given: Given) -> Answer:
        run = self._here
        return map_answer(run.replay.node, run.saved.program, given.text("what"))

    def _element(self, given: Given) -> Answer:
        run = self._here
        return element_answer(run.replay.node, run.saved.program, given.whole("x"), given.whole("y"))

    def _seen(self) -> Seen:
        """Return copies of the trace, and the listing of the run that they are of."""
        levels, run = self._levels, self._open
        if levels is None or run is None:
            raise InputError(Fault("no run is open"))
        return Seen(levels, run.listing, tuple(run.replay.streams))


# Opening the explorer of a notebook, whose library is an extra: imported when there is one to be shown.


def run_explorer(furnish: Callable[[Telling], Iterable[PageRoom]], height: int) -> RunExplorer:
    """Return a widget ``height`` pixels high whose rooms ``furnish`` makes; raises MissingPackageError, InputError."""
    if find_spec("anywidget") is None:
        raise MissingPackageError("the explorer in a notebook needs anywidget, which is not installed", "notebook")
    from pixelflow.view.widget import RunExplorer

    least, most = RunExplorer.HEIGHTS
    if not isinstance(height, int) or isinstance(height, bool) or not least <= height <= most:
        raise InputError(
            Fault(f"an explorer {height!r} high", hint=f"allowed: {least} to {most} pixels, a whole number")
        )
    return RunExplorer(furnish, height=height)
