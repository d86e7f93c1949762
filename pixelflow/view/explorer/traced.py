"""The room of a run that is known by its trace alone: of any machine, with a cursor in the place of a debugger.

Nothing is executed here. A step moves the cursor to the next cycle, or the one before, in which the trace has an event:
a span begins, or a counter gets another value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.report import Json
from pixelflow.simd.trace.model import Trace, TrackKind
from pixelflow.view.explorer.code import ProgramCode, TraceCode
from pixelflow.view.explorer.levels import CounterLevels, Levels, SpanLevels
from pixelflow.view.explorer.listing import CodeListing
from pixelflow.view.explorer.looking import CYCLE, LOOK, Seen, looking
from pixelflow.view.server.messages import Answer, Given, PageRequest, TextField

__all__ = ["TraceRoom", "TracedRun"]

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
    """None where only the trace says what was executed."""

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
    """Answers what a page asks of a trace; what needs a node (maps, PEs, commands) nobody answers."""

    def __init__(self, run: TracedRun) -> None:
        self._run = run
        self._cycle = run.trace.begin

    @property
    def requests(self) -> Mapping[str, PageRequest]:
        """What can be asked."""
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
