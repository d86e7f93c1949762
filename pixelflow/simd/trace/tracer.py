"""Tracer: from the events of runs to a trace. It suffices for a machine with no further kinds of events.

A machine with further events derives its tracer from this one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from pixelflow.simd.observe import (
    AccountView,
    Bus,
    Carried,
    Executed,
    ProgramView,
    QueueFilled,
    RoutineEntered,
    RoutineLeft,
    RunBegan,
    RunEnded,
    RunView,
    StageBegan,
    Waited,
)
from pixelflow.simd.trace.trace_model import (
    EVERYTHING,
    Category,
    Label,
    Selection,
    Trace,
    Track,
    TrackKind,
    asks_for_traffic,
)

Spot = tuple[Track, int] | None
"""Track and row of a span; None where the span is not in the trace."""


_View = TypeVar("_View", bound=RunView)
_Account = TypeVar("_Account", bound=AccountView)


class Tracer(Generic[_View, _Account]):
    """Subscribes to a bus and builds a `Trace`. Runs follow each other: each begins where the one before has ended.

    What is outside the selection is never kept, so that the window of a long run costs little memory.
    """

    def __init__(self, trace: Trace, selection: Selection = EVERYTHING) -> None:
        self.trace = trace
        self.selection = selection
        self.runs = 0
        """Runs that have ended."""
        self._offset = 0
        """The cycle of the trace in which the run begins."""
        self._last_end = 0
        """Where the last span ends: parts of a machine may be busy for longer than the streams."""
        self._programs: dict[str, str] = {}
        """Names by hash."""
        self._program: ProgramView
        """Of the run that continues."""
        self._since = 0
        """The cycle of the run in which it began."""
        self._labels: list[int] = []
        """For each instruction of the program, the number of its label; -1 before it has one."""
        self._stages: dict[str, StageBegan] = {}
        self._routines: dict[str, list[int | None]] = {}
        trace.begin = trace.end = selection.begin

    def attach(self, bus: Bus, known: Iterable[Track]) -> None:
        """Subscribe to the events of the wanted tracks; ``known`` are those that a run may have.

        A timing-only run goes through single instructions only if they are wanted.
        """
        wanted = {track.kind for track in known if self.selection.wants(track)}
        for kind in (TrackKind.WIRE, TrackKind.QUEUE):
            if any(asks_for_traffic(pattern, kind) for pattern in self.selection.only):
                wanted.add(kind)
        self._subscribe(bus, wanted)
        bus.subscribe(self._began, RunBegan)
        bus.subscribe(self._ended, RunEnded)

    def _subscribe(self, bus: Bus, wanted: set[TrackKind]) -> None:
        """Subscribe to the events that tracks of these kinds are made from."""
        if TrackKind.STREAM in wanted:
            bus.subscribe(self._executed, Executed)
            bus.subscribe(self._waited, Waited)
        if TrackKind.ROUTINES in wanted:
            bus.subscribe(self._routine_entered, RoutineEntered)
            bus.subscribe(self._routine_left, RoutineLeft)
        if TrackKind.STAGES in wanted:
            bus.subscribe(self._stage_began, StageBegan)
        if TrackKind.WIRE in wanted:
            bus.subscribe(self._carried, Carried)
        if TrackKind.QUEUE in wanted:
            bus.subscribe(self._filled, QueueFilled)

    # --- runs --------------------------------------------------------------------------------------------------

    def _began(self, event: RunBegan[_View]) -> None:
        self._programs[event.program.sha256] = event.program.name or "program"
        self.trace.header["program"] = ", ".join(self._programs.values())
        self.trace.header["program_sha256"] = ", ".join(self._programs)
        self.trace.name_streams(event.entries)
        self._program, self._since = event.program, event.cycle
        self._labels = [-1] * len(event.program.instructions)
        self._stages, self._routines = {}, {}

    def _ended(self, event: RunEnded[_Account]) -> None:
        for stream, cycle in event.cycles.items():
            while self._routines.get(stream):
                self._leave(stream, cycle)
            self._end_stage(stream, cycle)
        self._finish(event)
        self.runs += 1
        program = self._program
        about = (("run", self.runs), ("sha256", program.sha256), ("reason", event.reason))
        args: tuple[tuple[str, int | str], ...] = (*about, *self._about(event.account))
        whole = self.trace.label(Label(program.name or "program", Category.RUN, args))
        self._add(Track(TrackKind.RUNS), self._since, event.cycle, whole)
        self._offset = max(self._offset + event.cycle, self._last_end)
        last = self._offset if self.selection.end is None else min(self._offset, self.selection.end)
        self.trace.end = max(self.trace.begin, last)

    def _finish(self, event: RunEnded[_Account]) -> None:
        """Add what is known only when the streams have ended."""

    def _about(self, account: _Account) -> tuple[tuple[str, int | str], ...]:
        """Return the other details in the span of a run."""
        return ()

    # --- streams -----------------------------------------------------------------------------------------------

    def _executed(self, event: Executed) -> None:
        self._add_instruction(event)

    def _add_instruction(self, event: Executed) -> Spot:
        """Add a span for an instruction; return where it is."""
        label = self._labels[event.index]
        if label < 0:
            label = self._labels[event.index] = self.trace.label(_instruction_label(self._program, event.index))
        track = Track(TrackKind.STREAM, event.stream)
        row = self._add(track, event.cycle, event.cycle + event.cycles, label)
        return None if row is None else (track, row)

    def _waited(self, event: Waited) -> None:
        label = self._wait_label(event.index, self._category(event), f"wait {event.reason}")
        self._add(Track(TrackKind.STREAM, event.stream), event.cycle, event.end, label)

    def _category(self, event: Waited) -> Category:
        """Return what kind of waiting it was."""
        return Category.WAIT

    # --- stages and routines -----------------------------------------------------------------------------------

    def _stage_began(self, event: StageBegan) -> None:
        self._end_stage(event.stream, event.cycle)
        self._stages[event.stream] = event

    def _end_stage(self, stream: str, cycle: int) -> None:
        begun = self._stages.pop(stream, None)
        if begun is not None:
            label = self.trace.label(Label(begun.name, Category.STAGE))
            self._add(Track(TrackKind.STAGES, stream), begun.cycle, cycle, label)

    def _routine_entered(self, event: RoutineEntered) -> None:
        """Open a span; it has its place before those inside it, and its end when the routine is left."""
        track, window = Track(TrackKind.ROUTINES, event.stream), self.selection
        row = None
        start = self._offset + event.cycle
        if window.wants(track) and (window.end is None or start < window.end):
            label = self.trace.label(Label(event.name, Category.ROUTINE, (("depth", event.depth),)))
            row = self.trace.track(track).add(start, start, label)
        self._routines.setdefault(event.stream, []).append(row)

    def _routine_left(self, event: RoutineLeft) -> None:
        if self._routines.get(event.stream):  # not one that was entered before the checkpoint
            self._leave(event.stream, event.cycle)

    def _leave(self, stream: str, cycle: int) -> None:
        row = self._routines[stream].pop()
        if row is None:
            return
        spans = self.trace.track(Track(TrackKind.ROUTINES, stream))
        start, end = spans.starts[row], self._offset + cycle
        shown = self.selection.clip(start, end)
        if shown is None and row == len(spans) - 1:
            spans.drop_last()
            return
        shown = shown or (self.selection.begin, self.selection.begin)
        spans.starts[row], spans.ends[row] = shown
        if shown != (start, end):
            spans.labels[row] = self._cut(spans.labels[row], start, end)

    def _carried(self, event: Carried) -> None:
        args = (("amount", event.amount), ("latency", event.arrives - event.cycle))
        label = self.trace.label(Label(f"{event.amount} {event.unit}", Category.CARRY, args))
        self._add(Track(TrackKind.WIRE, event.wire), event.cycle, event.cycle, label)

    def _filled(self, event: QueueFilled) -> None:
        self._count(Track(TrackKind.QUEUE, event.queue), f"of {event.capacity}", event.cycle, event.fill)

    # --- into the trace ----------------------------------------------------------------------------------------

    def _add(self, track: Track, start: int, end: int, label: int) -> int | None:
        """Add what the window shows of a span, in cycles of the run; return its row."""
        start, end = start + self._offset, end + self._offset
        self._last_end = max(self._last_end, end)
        shown = self.selection.clip(start, end)
        if shown is None or not (track.kind is TrackKind.RUNS or self.selection.wants(track)):
            return None
        if shown != (start, end):
            label = self._cut(label, start, end)
        return self.trace.track(track).add(*shown, label)

    def _cut(self, number: int, start: int, end: int) -> int:
        """Return the label of a span that the window cuts: it says where the span begins and ends in truth."""
        label = self.trace.labels[number]
        return self.trace.label(Label(label.name, label.category, (*label.args, ("begins", start), ("ends", end))))

    def _count(self, track: Track, unit: str, cycle: int, value: int) -> None:
        """Set a counter; the last value before the window is the one that it begins with."""
        cycle = max(cycle + self._offset, self.selection.begin)
        if self.selection.holds(cycle) and self.selection.wants(track):
            self.trace.counter(track, unit).set(cycle, value)

    def _wait_label(self, index: int, category: Category, name: str) -> int:
        of = _instruction_label(self._program, index)
        return self.trace.label(Label(name, category, (("instruction", of.name), *of.args)))


def _instruction_label(program: ProgramView, index: int) -> Label:
    instruction, address = program.instructions[index], program.addresses[index]
    line, routine = program.line_at(index), program.routine_at(address)
    args: list[tuple[str, int | str]] = [("uPC", address), ("opcode", instruction.declaration.opcode)]
    if line is not None:
        args.append(("src", f"{line.file}:{line.line}"))
    if routine is not None:
        args.append(("routine", routine.name))
    return Label(instruction.text(), Category.EXECUTE, tuple(args))
