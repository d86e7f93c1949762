"""The room of the run explorer: one run, the debugger's session in it, and its trace, which grows while nobody asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple, Protocol

from pixelflow.node import Replay, SavedRun
from pixelflow.observe import Bus
from pixelflow.observe.tracer import NodeTracer
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Json
from pixelflow.simd.trace import Trace, TraceClock, Track
from pixelflow.view.explorer.code import ProgramCode
from pixelflow.view.explorer.elements import element_answer, map_answer, maps_of
from pixelflow.view.explorer.levels import Levels
from pixelflow.view.explorer.listing import CodeListing
from pixelflow.view.explorer.looking import CYCLE, Seen, looking
from pixelflow.view.server.messages import Answer, Given, PageRequest, Telling, TextField

__all__ = ["ExplorerRoom", "Opening", "RunDialogue"]


class RunDialogue(Protocol):
    """The debugger's session in a run, and its dialogue."""

    def carry_out(self, text: str) -> None:
        """Carry out a command that leaves the run what it is; raises InputError where it cannot be done."""

    def goto(self, cycle: int) -> None:
        """Go to a cycle, in either direction; stops do not count."""

    def interrupt(self) -> None:
        """Ask a long movement to end; called from another thread."""

    def where(self) -> str:
        """Return where the streams stand, as lines."""

    def calls(self) -> str:
        """Return the calls that the streams are inside of, as lines."""

    def stops(self) -> str:
        """Return the stops that are set, as lines."""


Opening = Callable[[Replay, Callable[[str], object]], RunDialogue]
"""Opens the debugger with a run; what it has to say goes to a function."""

_RUN = "run"
"""The thread that has the node; another one looks at copies of the trace."""
_SLICE_SECONDS = 0.25
"""Between two requests the trace goes on for so long."""
_COPIES = 5
"""Copies of the trace take a part of the time that is not more than one of so many."""
_INTERVAL = 2048
"""Cycles between two looks at the clock."""
_STATES = 64
"""States that the run keeps on its way, of some 3 MB each."""


class _OpenRun(NamedTuple):
    """A run that is looked into, and what belongs to it."""

    saved: SavedRun
    replay: Replay
    dialogue: RunDialogue
    trace: Trace
    listing: CodeListing


class ExplorerRoom:
    """Answers what a page asks of a run. One thread has the node; another one looks at copies of the trace."""

    def __init__(self, run: SavedRun | None, opening: Opening, tracks: Callable[[SavedRun], Sequence[Track]],
                 tell: Telling) -> None:  # fmt: skip
        """``run`` is None where there is none yet; ``tracks`` says which tracks a run may have."""
        self._wanted = run
        self._opening = opening
        self._tracks = tracks
        self._tell = tell
        self._open: _OpenRun | None = None
        self._levels: Levels | None = None
        self._reached = 0
        """The cycle up to which the run has been executed, and traced."""
        self._known = 0
        """The cycle up to which others can see the trace."""
        self._away: int | None = None
        """Where the run really stands while its trace goes on elsewhere."""
        self._due = 0.0
        """When the trace is to be copied again."""
        self._said: list[str] = []
        self._closed = False

    @property
    def requests(self) -> Mapping[str, PageRequest]:
        """What can be asked."""
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
        """The trace goes on while nobody asks."""
        return {_RUN: self._trace_on}

    def close(self) -> None:
        """End long movements."""
        self._closed = True
        self._interrupt(Given({}))

    def explore(self, run: SavedRun) -> None:
        """Let another run be looked into, from the next time on that the page opens one."""
        self._wanted = run

    # --- opening -------------------------------------------------------------------------------------------------

    def _opened(self, given: Given) -> Answer:
        """Say what run this is; one that has been opened before stands where it stood."""
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
        self._said = []
        dialogue = self._opening(replay, self._said.append)
        self._open = _OpenRun(saved, replay, dialogue, trace, CodeListing(ProgramCode(saved.program)))
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
        """Take the run on from where it is known for a moment; return whether it goes further."""
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
        """Let others see what the trace has become."""
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
        run.dialogue.goto(given.whole("cycle"))
        return self._state(run)

    def _command(self, given: Given) -> Answer:
        """Carry out a command of the debugger; the answer has what it says, and where the run stands then."""
        run = self._here
        words = given.text("text").split()
        if not words:
            raise InputError(Fault("a command is missing", hint="help lists them"))
        self._said.clear()
        try:
            run.dialogue.carry_out(" ".join(words))
        finally:
            self._publish(run)
        return self._state(run, "".join(self._said))

    def _interrupt(self, given: Given) -> Answer:
        """Ask a long movement to end."""
        run = self._open
        if run is not None:
            run.dialogue.interrupt()
        return Answer()

    def _state_answer(self, given: Given) -> Answer:
        return self._state(self._here)

    def _state(self, run: _OpenRun, said: str = "") -> Answer:
        """Return where the run stands."""
        replay, dialogue = run.replay, run.dialogue
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
            "where": dialogue.where(),
            "calls": dialogue.calls(),
            "stops": dialogue.stops(),
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
