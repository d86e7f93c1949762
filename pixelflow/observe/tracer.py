"""From the events of runs to a trace: the one builder that every format is written from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pixelflow.observe.events import Accessed, Blocked, EnablesChanged, PathUsed, Signalled, Taken
from pixelflow.observe.views import NodeAccountView, NodeRunView
from pixelflow.simd.observe import (
    Bus,
    Carried,
    Executed,
    ProgramView,
    RoutineEntered,
    RoutineLeft,
    RunBegan,
    RunEnded,
    StageBegan,
    Waited,
)
from pixelflow.simd.trace.model import Category, FlowArrow, Label, Trace, Track, TrackKind
from pixelflow.simd.trace.selection import EVERYTHING, Selection, asks_for_wires

__all__ = ["Tracer"]

Spot = tuple[Track, int] | None
"""Track and row of a span; None where the span is not in the trace."""


class Tracer:
    """Subscribes to a bus and builds a `Trace`. Runs follow each other: each begins where the one before has ended.

    What lies outside the selection is never kept, so that the window of a long run costs little memory.
    """

    def __init__(self, trace: Trace, selection: Selection = EVERYTHING) -> None:
        self.trace = trace
        self.selection = selection
        self.runs = 0
        """Runs that have ended."""
        self._offset = 0
        """The cycle of the trace in which the run begins."""
        self._last_end = 0
        """Where the last span ends: the TASICs and the GNI may be busy for longer than the streams."""
        self._programs: dict[str, str] = {}
        """Names by hash."""
        self._run: _Heard
        """The run that goes on."""
        trace.begin = trace.end = selection.begin

    def attach(self, bus: Bus, known: Iterable[Track]) -> None:
        """Subscribe to the events of the wanted tracks; ``known`` are those that a run may have.

        Only where somebody wants the single instructions does a timing-only run go through all of them.
        """
        wanted = {track.kind for track in known if self.selection.wants(track)}
        if any(asks_for_wires(pattern) for pattern in self.selection.only):
            wanted.add(TrackKind.WIRE)
        if TrackKind.STREAM in wanted:
            bus.subscribe(self._executed, Executed)
            bus.subscribe(self._waited, Waited)
            bus.subscribe(self._blocked, Blocked)
        if wanted & {TrackKind.STREAM, TrackKind.COUNTER}:
            bus.subscribe(self._signalled, Signalled)
            bus.subscribe(self._taken, Taken)
        if TrackKind.ROUTINES in wanted:
            bus.subscribe(self._routine_entered, RoutineEntered)
            bus.subscribe(self._routine_left, RoutineLeft)
        if TrackKind.STAGES in wanted:
            bus.subscribe(self._stage_began, StageBegan)
        if TrackKind.UNIT in wanted:
            bus.subscribe(self._accessed, Accessed)
        if TrackKind.PATH in wanted:
            bus.subscribe(self._path_used, PathUsed)
        if TrackKind.ENABLED in wanted:
            bus.subscribe(self._enables_changed, EnablesChanged)
        if TrackKind.WIRE in wanted:
            bus.subscribe(self._carried, Carried)
        bus.subscribe(self._began, RunBegan)
        bus.subscribe(self._ended, RunEnded)

    # --- runs --------------------------------------------------------------------------------------------------

    def _began(self, event: RunBegan[NodeRunView]) -> None:
        self._programs[event.program.sha256] = event.program.name or "program"
        self.trace.header["program"] = ", ".join(self._programs.values())
        self.trace.header["program_sha256"] = ", ".join(self._programs)
        self._run = run = _Heard(event.program, event.cycle, [-1] * len(event.program.instructions))
        for name, stream in event.view.streams.items():
            if stream.waiting is not None:  # a run that goes on from a checkpoint may stand at a WAIT
                run.blocked[name] = Blocked(stream.cycle, name, stream.index, stream.waiting)

    def _ended(self, event: RunEnded[NodeAccountView]) -> None:
        run = self._run
        for stream, cycle in event.cycles.items():
            while run.routines.get(stream):
                self._leave(stream, cycle)
            self._end_stage(stream, cycle)
        for stream, blocked in run.blocked.items():
            if event.cycle > blocked.cycle:
                label = self._wait_label(blocked.index, Category.BLOCKED, f"blocked sem {blocked.semaphore}")
                self._add(Track(TrackKind.STREAM, stream), blocked.cycle, event.cycle, label)
        for semaphore, seen in run.semaphores.items():
            self._end_semaphore(semaphore, seen, event.account)
        self.runs += 1
        args = (("run", self.runs), ("sha256", run.program.sha256), ("reason", event.reason))
        name = run.program.name or "program"
        whole = self.trace.label(Label(name, Category.RUN, (*args, ("engine", event.account.engine))))
        self._add(Track(TrackKind.RUNS), run.since, event.cycle, whole)
        self._offset = max(self._offset + event.cycle, self._last_end)
        last = self._offset if self.selection.end is None else min(self._offset, self.selection.end)
        self.trace.end = max(self.trace.begin, last)
        del self._run

    # --- streams -----------------------------------------------------------------------------------------------

    def _executed(self, event: Executed) -> None:
        run, stream = self._run, event.stream
        label = run.labels[event.index]
        if label < 0:
            label = run.labels[event.index] = self.trace.label(_instruction_label(run.program, event.index))
        track = Track(TrackKind.STREAM, stream)
        row = self._add(track, event.cycle, event.cycle + event.cycles, label)
        run.last[stream] = spot = None if row is None else (track, row)
        taking = run.taking.pop(stream, None)
        if taking is not None:
            taking.takers.append(spot)

    def _waited(self, event: Waited) -> None:
        blocked = event.stream in self._run.blocked
        category = Category.WAIT if blocked else Category.STALL
        label = self._wait_label(event.index, category, f"wait {event.reason}")
        self._add(Track(TrackKind.STREAM, event.stream), event.cycle, event.end, label)

    def _blocked(self, event: Blocked) -> None:
        self._run.blocked[event.stream] = event

    def _signalled(self, event: Signalled) -> None:
        run = self._run
        seen = run.semaphores.setdefault(event.semaphore, _Semaphore())
        seen.givers.append(run.last.get(event.stream))
        seen.changes.append((event.cycle, 1))

    def _taken(self, event: Taken) -> None:
        run = self._run
        run.blocked.pop(event.stream, None)
        seen = run.semaphores.setdefault(event.semaphore, _Semaphore())
        seen.changes.append((event.cycle, -1))
        run.taking[event.stream] = seen

    def _end_semaphore(self, number: int, seen: _Semaphore, account: NodeAccountView) -> None:
        """Draw the arrows and the count of a semaphore, once the signals of both streams are known."""
        before = 0
        if self._run.since:
            # Signals from before the checkpoint; of a run that was stopped as well, nobody can tell how many.
            if account.ledger is None:
                return
            flow = account.ledger.signals[number]
            before = (flow.sent - flow.taken) - sum(change for _, change in seen.changes)
        for giver, taker in zip(seen.givers, seen.takers[before:], strict=False):
            if giver is not None and taker is not None:
                self.trace.flows.append(FlowArrow(*giver, *taker))
        track, count = Track(TrackKind.COUNTER, str(number)), before
        self._count(track, "signals", self._run.since, count)
        for cycle, change in sorted(seen.changes, key=lambda each: each[0]):
            count += change
            self._count(track, "signals", cycle, count)

    # --- stages and routines -----------------------------------------------------------------------------------

    def _stage_began(self, event: StageBegan) -> None:
        self._end_stage(event.stream, event.cycle)
        self._run.stages[event.stream] = event

    def _end_stage(self, stream: str, cycle: int) -> None:
        begun = self._run.stages.pop(stream, None)
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
        self._run.routines.setdefault(event.stream, []).append(row)

    def _routine_left(self, event: RoutineLeft) -> None:
        if self._run.routines.get(event.stream):  # not one that was entered before the checkpoint
            self._leave(event.stream, event.cycle)

    def _leave(self, stream: str, cycle: int) -> None:
        row = self._run.routines[stream].pop()
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

    # --- the rest of the machine -------------------------------------------------------------------------------

    def _accessed(self, event: Accessed) -> None:
        label = Label(event.what, Category.ACCESS, (("rounds", event.rounds), ("accesses", event.accesses)))
        self._add(Track(TrackKind.UNIT, str(event.module)), event.cycle, event.end, self.trace.label(label))

    def _path_used(self, event: PathUsed) -> None:
        label = Label(f"{event.amount} bytes", Category.PATH, (("bytes", event.amount),))
        self._add(Track(TrackKind.PATH, event.path), event.cycle, event.end, self.trace.label(label))

    def _carried(self, event: Carried) -> None:
        args = (("amount", event.amount), ("latency", event.arrives - event.cycle))
        label = self.trace.label(Label(f"{event.amount} {event.unit}", Category.CARRY, args))
        self._add(Track(TrackKind.WIRE, event.wire), event.cycle, event.cycle, label)

    def _enables_changed(self, event: EnablesChanged) -> None:
        for module, count in enumerate(event.counts):
            self._count(Track(TrackKind.ENABLED, str(module)), "PEs", event.cycle, count)

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
        of = _instruction_label(self._run.program, index)
        return self.trace.label(Label(name, category, (("instruction", of.name), *of.args)))


@dataclass
class _Semaphore:
    """Signals of one semaphore: where they came from, who took them, and how they changed its count."""

    givers: list[Spot] = field(default_factory=list)
    takers: list[Spot] = field(default_factory=list)
    changes: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class _Heard:
    """What was seen of the run that goes on."""

    program: ProgramView
    since: int
    labels: list[int]
    """For each instruction, the number of its label; -1 before it has one."""
    last: dict[str, Spot] = field(default_factory=dict)
    """For each stream, its last instruction."""
    blocked: dict[str, Blocked] = field(default_factory=dict)
    taking: dict[str, _Semaphore] = field(default_factory=dict)
    semaphores: dict[int, _Semaphore] = field(default_factory=dict)
    stages: dict[str, StageBegan] = field(default_factory=dict)
    routines: dict[str, list[int | None]] = field(default_factory=dict)


def _instruction_label(program: ProgramView, index: int) -> Label:
    instruction, address = program.instructions[index], program.addresses[index]
    line, routine = program.line_at(index), program.routine_at(address)
    args: list[tuple[str, int | str]] = [("uPC", address), ("opcode", instruction.declaration.opcode)]
    if line is not None:
        args.append(("src", f"{line.file}:{line.line}"))
    if routine is not None:
        args.append(("routine", routine.name))
    return Label(instruction.text(), Category.EXECUTE, tuple(args))
