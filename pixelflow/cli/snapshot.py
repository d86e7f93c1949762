"""From a run of a node, in progress or stopped, to the plain values of a frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.node.pe_map import grid
from pixelflow.node.run.clocked import Clocked
from pixelflow.node.run.semaphores import StreamUse, use_of
from pixelflow.node.run.stream import Stream
from pixelflow.observe import (
    Accessed,
    Bus,
    EnablesChanged,
    Event,
    Executed,
    NodeAccountView,
    NodeRunView,
    PathUsed,
    Progressed,
    RunBegan,
    RunEnded,
    Waited,
)
from pixelflow.observe.dashboard_frame import (
    DashboardState,
    MapState,
    ModuleState,
    SemaphoreState,
    SourceRow,
    StageState,
    StreamState,
)
from pixelflow.simd.dashboard import BusyTrack, History, Utilisation

# The subscriber of a dashboard, for information that a run does not keep.
#
# It needs few events: some for each wait and each transfer, none for an instruction, except for a frame of the past
# (`instructions`). Every change of the enables (`enables`) costs a run more than reading them now and then.


ENABLED = "enabled"
"""The track of the sum of enabled PEs."""


def module_track(module: int) -> str:
    """Return the track of a module's TASICs."""
    return f"tasic{module}"


class Watch:
    """Subscriber that follows a run from its beginning; a node's next run resets it."""

    view: NodeRunView
    streams: Sequence[Stream]
    program: Program
    function: bool
    uses: Mapping[str, StreamUse]
    """These are known as soon as a run has begun: ``uses`` says for each stream which semaphores its code uses."""

    def __init__(self, *, enables: bool = False, instructions: bool = False) -> None:
        self._kinds: list[type[Event]] = [RunBegan, Waited, Accessed, PathUsed, Progressed, RunEnded]
        self._kinds += [EnablesChanged] * enables + [Executed] * instructions
        self.until: int | None = None
        """Instructions that begin in this cycle or later are ignored: a run may be a little ahead."""
        self._start(0)

    def _start(self, cycle: int) -> None:
        self.cycle = cycle
        self.ended: str | None = None
        self.account: NodeAccountView | None = None
        """The account of the run, once it has ended."""
        self.history = History(cycle)
        self.current: dict[str, tuple[int, int]] = {}
        """For each stream, position and end of the last instruction that began; with ``instructions`` only."""
        self.accesses: dict[int, int] = {}
        self.paths: set[str] = set()
        self._before: dict[str, int] = {}
        self.enabled: tuple[int, ...] | None = None
        self.enabled_from = self._enabled_since = cycle
        """The first cycle for which it is known."""

    def attach(self, bus: Bus) -> None:
        """Subscribe; before the run."""
        bus.subscribe(self.hear, *self._kinds)

    def detach(self, bus: Bus) -> None:
        """Unsubscribe."""
        bus.unsubscribe(self.hear)

    def hear(self, event: Event) -> None:
        """Receive an event."""
        match event:
            case Executed(cycle, stream, index, cycles):
                if self.until is None or cycle < self.until:
                    self.current[stream] = (index, cycle + cycles)
            case Waited(cycle, stream, _, _, end):
                self.history.add(stream, cycle, end)
            case Accessed(cycle, module, end, _, _, accesses):
                self.history.add(module_track(module), cycle, end)
                self.accesses[module] = self.accesses.get(module, 0) + accesses
            case PathUsed(cycle, path, end, _):
                self.history.add(path, cycle, end)
                self.paths.add(path)
            case EnablesChanged(cycle, counts):
                self.enables(cycle, counts)
            case Progressed(cycle):
                self.cycle = max(self.cycle, cycle)
            case RunBegan(cycle, program, _, function, view):
                self._start(cycle)
                self.program, self.function, self.view = cast("Program", program), function, view
                self.streams = cast("Sequence[Stream]", tuple(view.streams.values()))
                self.uses = {entry.upper(): use_of(self.program, entry) for entry in self.program.entries}
                self._before = dict(view.gni_cycles)
                self._before |= {module_track(module): busy for module, busy in enumerate(view.tasic_cycles)}
                self.paths = set(view.gni_cycles)
            case RunEnded(cycle, reason, _, account):
                self.cycle, self.ended = max(self.cycle, cycle, self.view.cycle), reason
                self.account = account

    def busy(self, track: str, cycle: int) -> int:
        """Return the busy cycles of a module's TASICs or of a path up to a cycle, with those before a checkpoint."""
        return self._before.get(track, 0) + self.history.total(track, cycle)

    def enables(self, cycle: int, counts: tuple[int, ...]) -> None:
        """Note the number of enabled PEs of each module, beginning with a cycle."""
        if self.enabled is None:
            self.enabled_from = self._enabled_since = cycle
        elif cycle > self._enabled_since:
            self.history.add(ENABLED, self._enabled_since, cycle, sum(self.enabled))
            self._enabled_since = cycle
        self.enabled = counts

    def enables_last(self, cycle: int) -> None:
        """Note that nothing has changed up to a cycle."""
        if self.enabled is not None:
            self.enables(cycle, self.enabled)


_AROUND = 12
"""Source lines kept before and after the instruction of a stream."""
_ALONE = "one stream runs alone"
_EQUAL_SLOTS = "not scheduled: equal slots"


class _Standing(NamedTuple):
    """The wait of a stream at the cycle of a frame, and the cycle up to which it is known."""

    waiting: str | None
    until: int


class NodeDashboard:
    """Frames of the runs of a node."""

    def __init__(
        self,
        node: Node,
        watch: Watch,
        preset: str,
        title: str = "enabled PEs",
        values: Callable[[Node], np.ndarray] = lambda node: node.flag("E"),
    ) -> None:
        """``values`` returns what the map shows: bool[lanes] or uint8[lanes]; ``preset`` names the configuration."""
        self.node, self.watch, self._preset = node, watch, preset
        self._title, self._values = title, values
        self._places: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64] | None] | None = None

    def state(
        self,
        *,
        at: int | None = None,
        following: Mapping[str, int] | None = None,
        rate: float | None = None,
        part: tuple[int, int | None] | None = None,
        total: int | None = None,
        status: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> DashboardState:
        """Return a frame of the watched run, at its current cycle or ``at``, up to which it is complete then.

        ``following`` has for each stream the position of the instruction that begins next, where that is known.
        Cycles may not go back within a run. A run that has ended shows the cycles of its account, as its statistics do.
        """
        watch, config, program = self.watch, self.node.config, self.watch.program
        cycle = watch.cycle if at is None else at
        if watch.account is not None:
            cycle = watch.account.total_cycles
        if watch.function:
            watch.enables(cycle, self.node.array.enabled_by_module())
        watch.enables_last(cycle)
        two = len(watch.streams) > 1
        standings = {stream.name: self._standing(stream, cycle, at) for stream in watch.streams}
        streams = tuple(
            self._stream(stream, cycle, standings[stream.name], following or {}) for stream in watch.streams
        )
        modules = self._modules(cycle, two=two)
        scheduled = all(each.open_rows is not None for each in modules)
        return DashboardState(
            program=program.name,
            program_hash=program.sha256[:6],
            config=self._preset,
            config_hash=config.sha256[:6],
            engine=self.node.engine if watch.function else "none (timing only)",
            status=status or watch.ended or "running",
            cycle=cycle,
            clock_mhz=config.clock_mhz,
            rate=rate,
            pes=config.lanes,
            streams=streams,
            modules=modules,
            texture_missing=None if two else _ALONE,
            banks_missing=None if scheduled else _EQUAL_SLOTS if two else _ALONE,
            gni=tuple((path, watch.busy(path, cycle)) for path in sorted(watch.paths)),
            semaphores=self._semaphores(streams),
            array=self._map() if watch.function else None,
            utilisation=self._utilisation(cycle, standings, two=two),
            stages=_stages(watch.streams, cycle),
            part=part,
            total=total,
            notes=notes,
        )

    # --- streams ---------------------------------------------------------------------------------------------------

    @property
    def _run(self) -> Clocked | None:
        """The run, where it has boxes of two streams."""
        runner = getattr(self.watch.view, "runner", self.watch.view)
        return runner if isinstance(runner, Clocked) and runner.boxes is not None else None

    def _standing(self, stream: Stream, cycle: int, at: int | None) -> _Standing:
        if stream.halted:
            return _Standing(None, cycle)
        if stream.cycle > cycle:
            return _Standing(None, stream.cycle)
        watch, run, known, waiting = self.watch, self._run, cycle, None
        if run is not None:
            if stream.name == "tigc" and run.sequencers[1].state.outstanding:
                waiting = "transfer"
            if at is None and watch.ended is None:  # one stream may be ahead of what has been simulated
                clock = getattr(run, "clock", None)  # in a machine of several nodes, the machine has it
                simulated = min(each.cycle for each in run.streams.values()) if clock is None else clock.cycle
                known = min(cycle, simulated)
        if stream.waiting is not None:
            waiting = f"sem {stream.waiting}"
        if watch.ended is not None:
            return _Standing(waiting, cycle)
        return _Standing(waiting, stream.cycle if waiting is None else max(stream.cycle, known))

    def _stream(self, stream: Stream, cycle: int, standing: _Standing, following: Mapping[str, int]) -> StreamState:
        program, account = self.watch.program, self.watch.account
        if account is not None:
            run = next(run for run in account.streams if run.stream == stream.name)
            busy, waits, idle, open_ = run.busy, dict(run.waits), cycle - run.cycles, 0
        else:
            waits = dict(stream.waits)
            busy = stream.cycle - sum(waits.values()) - max(0, stream.cycle - cycle)
            idle = max(0, min(standing.until, cycle) - stream.cycle)
            if standing.waiting is not None:
                waits[standing.waiting] = waits.get(standing.waiting, 0) + idle
                idle = 0
            open_ = max(0, cycle - max(standing.until, stream.cycle))
        index, end = self._position(stream, cycle, standing, following)
        routine = program.routine_at(program.addresses[index])
        return StreamState(
            name=stream.name.upper(),
            busy=busy,
            waits=tuple(sorted((reason, waited) for reason, waited in waits.items() if waited)),
            idle=idle,
            open=open_,
            halted=stream.halted,
            instruction=program.instructions[index].text(),
            place=program.where(index),
            routine=routine.name if routine else "",
            source=_source(program, index),
            ahead=max(0, stream.cycle - cycle) if end is None and stream.name not in following else 0,
            remaining=None if end is None else end - cycle,
            waiting_for=standing.waiting,
            since=None if standing.waiting is None else stream.cycle,
            loops=tuple(left for _, left in stream.frames[-1].loops) if stream.frames else (),
        )

    def _position(
        self, stream: Stream, cycle: int, standing: _Standing, following: Mapping[str, int]
    ) -> tuple[int, int | None]:
        """Return the position of the current instruction of a stream, and its end, where that is known."""
        index, end = stream.index, None
        if stream.halted or standing.waiting == "transfer":
            index -= 1  # it has been issued
        elif standing.waiting is None:
            running, until = self.watch.current.get(stream.name, (index, None))
            if until is not None and until > cycle:
                index, end = running, until
            else:
                index = following.get(stream.name, index)
        return min(max(index, 0), len(self.watch.program.instructions) - 1), end

    # --- the rest of the machine -----------------------------------------------------------------------------------

    def _modules(self, cycle: int, *, two: bool) -> tuple[ModuleState, ...]:
        watch, run = self.watch, self._run
        boxes = None if run is None else run.boxes
        counted = two and not watch.history.begin  # accesses before a checkpoint are not known
        found = []
        for module in range(self.node.config.array.modules):
            sdrams = None if boxes is None else boxes.tasics[module].sdrams
            found.append(
                ModuleState(
                    module,
                    None if watch.enabled is None else watch.enabled[module],
                    watch.busy(module_track(module), cycle) if two else None,
                    watch.accesses.get(module, 0) if counted else None,
                    None if boxes is None else boxes.emcs[module].state.sent_bytes,
                    None if boxes is None else boxes.emcs[module].state.received_bytes,
                    None if sdrams is None else tuple(sdrams.parts[0].scheduler.sdram.open_row),  # of its device 0
                    0 if run is None else run.counts.over(module),
                )
            )
        return tuple(found)

    def _map(self) -> MapState | None:
        x, y = self.node.coordinates()
        # Whether the PEs make a plane takes longer to find out than everything else, and it seldom changes.
        if self._places is None or not (np.array_equal(x, self._places[0]) and np.array_equal(y, self._places[1])):
            self._places = (x, y, grid(np.arange(1, len(x) + 1), x, y))
        order = self._places[2]
        if order is None:
            return None
        values = self._values(self.node)
        with_nothing = np.concatenate(([0], values)).astype(np.uint8)  # places without a PE show nothing
        height, width = order.shape
        return MapState(self._title, width, height, with_nothing[order].tobytes(), values.dtype == np.bool_)

    def _semaphores(self, shown: Sequence[StreamState]) -> tuple[SemaphoreState, ...]:
        waiting = {stream.waiting_for: stream.name for stream in shown}
        uses, streams = self.watch.uses, self.watch.streams
        return tuple(
            SemaphoreState(
                number,
                sum(stream.semaphores.counts[number] for stream in streams),
                tuple(name for name, use in uses.items() if number in use.signals),
                tuple(name for name, use in uses.items() if number in use.waits),
                waiting.get(f"sem {number}"),
            )
            for number in sorted({number for use in uses.values() for number in (*use.waits, *use.signals)})
        )

    def _utilisation(self, cycle: int, standings: Mapping[str, _Standing], *, two: bool) -> Utilisation | None:
        watch, history, modules = self.watch, self.watch.history, self.node.config.array.modules
        if cycle <= history.begin:
            return None
        # Asking for a total first brings all tracks to the same length of interval.
        history.total(ENABLED, cycle)
        spans = [(begin, min(begin + history.cycles, cycle)) for begin in range(history.begin, cycle, history.cycles)]
        tracks = [
            BusyTrack(
                stream.name.upper(),
                _busy_shares(stream, history.sums(stream.name, cycle), spans, standings[stream.name].until),
            )
            for stream in watch.streams
        ]
        if two:
            sums = [history.sums(module_track(module), cycle) for module in range(modules)]
            tracks.append(BusyTrack("TASIC", _shares([sum(each) for each in zip(*sums, strict=True)], spans, modules)))
        if watch.paths:
            sums = [history.sums(path, cycle) for path in sorted(watch.paths)]
            tracks.append(BusyTrack("GNI", _shares([max(each) for each in zip(*sums, strict=True)], spans, 1)))
        if watch.enabled is not None:
            shares = _shares(history.sums(ENABLED, cycle), spans, self.node.config.lanes)
            known = zip(shares, spans, strict=True)
            tracks.append(
                BusyTrack("PEs", tuple(None if end <= watch.enabled_from else each for each, (_, end) in known))
            )
        return Utilisation(history.cycles, tuple(tracks))


def _source(program: Program, index: int) -> tuple[SourceRow, ...]:
    """Return the lines around an instruction: source lines of its file, or instructions where no source is known."""
    here = program.line_at(index)
    around = _AROUND if here is None else 4 * _AROUND
    near = range(max(0, index - around), min(len(program.instructions), index + around + 1))
    if here is None:
        addresses, instructions = program.addresses, program.instructions
        return tuple(SourceRow(str(addresses[each]), instructions[each].text(), each == index) for each in near)
    lines = {line.line: line.text for each in near if (line := program.line_at(each)) and line.file == here.file}
    numbers = sorted(lines)
    at = numbers.index(here.line)
    shown = numbers[max(0, at - _AROUND) : at + _AROUND + 1]
    return tuple(SourceRow(str(number), lines[number], number == here.line) for number in shown)


def _stages(streams: Iterable[Stream], cycle: int) -> tuple[StageState, ...]:
    """Return the stages that have begun, ordered by their last begin, added up by name."""
    found: list[tuple[int, StageState]] = []
    for stream in streams:
        begun = [(name, begin) for name, begin in stream.stages if begin <= cycle]
        ends = [*(begin for _, begin in begun[1:]), cycle]
        totals: dict[str, int] = {}
        last: dict[str, int] = {}
        for (name, begin), end in zip(begun, ends, strict=False):
            totals[name] = totals.get(name, 0) + end - begin
            last[name] = begin
        running = begun[-1][0] if begun and not stream.halted else None
        found += [
            (last[name], StageState(stream.name.upper(), name, cycles, name == running))
            for name, cycles in totals.items()
        ]
    return tuple(stage for _, stage in sorted(found, key=lambda each: each[0]))


def _shares(sums: Sequence[float], spans: Sequence[tuple[int, int]], full: int) -> tuple[float, ...]:
    return tuple(min(1.0, amount / ((end - begin) * full)) for amount, (begin, end) in zip(sums, spans, strict=True))


def _busy_shares(
    stream: Stream, waited: Sequence[int], spans: Sequence[tuple[int, int]], until: int
) -> tuple[float | None, ...]:
    """Return the share of each interval in which a stream executed; None where it has not been simulated yet."""
    known = max(stream.cycle, until)
    return tuple(
        None if begin >= known else max(0, min(end, stream.cycle) - begin - waits) / (end - begin)
        for waits, (begin, end) in zip(waited, spans, strict=True)
    )
