"""From a run, in progress or stopped, to the plain values of a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pixelflow.observe.dashboard_frame import (
    DashboardState,
    MapState,
    ModuleState,
    SemaphoreState,
    SourceRow,
    StageState,
    StreamState,
)
from pixelflow.observe.node_events import Accessed, EnablesChanged, NodeAccountView, NodeRunView, PathUsed, StreamView
from pixelflow.simd.dashboard import BusyTrack, History, Utilisation
from pixelflow.simd.observe import Bus, Event, Executed, ProgramView, Progressed, RunBegan, RunEnded, Waited

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
    program: ProgramView
    """Both are known as soon as a run has begun."""

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
            case RunBegan(cycle, program, _, _, view):
                self._start(cycle)
                self.program, self.view = program, view
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


Shown = TypeVar("Shown")

_AROUND = 12
"""Source lines kept before and after the instruction of a stream."""


@dataclass(frozen=True, slots=True)
class SemaphoreUse:
    """A semaphore of a program, and the streams whose code signals it and waits for it."""

    number: int
    signalled_by: tuple[str, ...]
    taken_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Properties that do not change while a program runs."""

    config: str
    config_hash: str
    engine: str
    clock_mhz: int
    pes: int
    modules: int
    semaphores: tuple[SemaphoreUse, ...] = ()
    texture_missing: str | None = None
    """Why TASICs and GNI take no part in the run."""
    banks_missing: str | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """The state of the machine at the moment of the frame."""

    array: MapState | None = None
    enabled: tuple[int, ...] | None = None
    """Enabled PEs of each module; None in a run without data."""
    from_emcs: tuple[int, ...] | None = None
    """Bytes of slots from the EMCs of each module to its TASICs."""
    to_emcs: tuple[int, ...] | None = None
    over: tuple[int, ...] | None = None
    """Bytes of slots from the EMCs of other modules to the TASICs of each module."""
    open_rows: tuple[tuple[int | None, ...], ...] | None = None
    """For each module the open row of each bank."""
    transferring: tuple[str, ...] = ()
    """Streams that wait for a transfer."""
    following: Mapping[str, int] = field(default_factory=dict)
    """For each stream the position of the instruction that begins next, where that is known."""
    simulated: int | None = None
    """The cycle up to which waiting streams are known to wait, where one stream has run ahead."""


def snapshot(
    watch: Watch,
    facts: Facts,
    look: Look,
    *,
    at: int | None = None,
    rate: float | None = None,
    part: tuple[int, int | None] | None = None,
    total: int | None = None,
    status: str | None = None,
    notes: tuple[str, ...] = (),
) -> DashboardState:
    """Return the contents of a frame of a watched run, at its current cycle or ``at``.

    Cycles may not go back within a run. A run that has ended shows the cycles of its account, as its statistics do.
    """
    program, view = watch.program, watch.view
    cycle = watch.cycle if at is None else at
    if watch.account is not None:
        cycle = watch.account.total_cycles
    if look.enabled is not None:
        watch.enables(cycle, look.enabled)
    watch.enables_last(cycle)
    streams = tuple(_stream(program, stream, watch, look, cycle) for stream in view.streams.values())
    return DashboardState(
        program=program.name,
        program_hash=program.sha256[:6],
        config=facts.config,
        config_hash=facts.config_hash[:6],
        engine=facts.engine,
        status=status or watch.ended or "running",
        cycle=cycle,
        seconds=cycle / (facts.clock_mhz * 1e6),
        clock_mhz=facts.clock_mhz,
        rate=rate,
        pes=facts.pes,
        streams=streams,
        modules=_modules(watch, facts, look, cycle),
        texture_missing=facts.texture_missing,
        banks_missing=facts.banks_missing if look.open_rows is None else None,
        gni=tuple((path, watch.busy(path, cycle)) for path in sorted(watch.paths)),
        semaphores=_semaphores(facts.semaphores, streams, tuple(view.streams.values())),
        array=look.array,
        utilisation=_utilisation(watch, facts, look, cycle),
        stages=_stages(view.streams.values(), cycle),
        part=part,
        total=total,
        notes=notes,
    )


# --- streams -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Standing:
    """The wait of a stream at the cycle of a frame, and the cycle up to which it is known."""

    waiting: str | None
    until: int

    @classmethod
    def of(cls, stream: StreamView, watch: Watch, look: Look, cycle: int) -> _Standing:
        if stream.halted:
            return cls(None, cycle)
        if stream.cycle > cycle:
            return cls(None, stream.cycle)
        waiting = "transfer" if stream.name in look.transferring else None
        if stream.waiting is not None:
            waiting = f"sem {stream.waiting}"
        if watch.ended is not None:
            return cls(waiting, cycle)
        known = cycle if look.simulated is None else min(cycle, look.simulated)
        return cls(waiting, stream.cycle if waiting is None else max(stream.cycle, known))


@dataclass(frozen=True, slots=True)
class _Cycles:
    """The cycles of a stream up to that of a frame by use, as in `StreamState`."""

    busy: int
    waits: Mapping[str, int]
    idle: int
    open: int


def _cycles(stream: StreamView, watch: Watch, cycle: int, standing: _Standing) -> _Cycles:
    if watch.account is not None:
        run = next(run for run in watch.account.streams if run.stream == stream.name)
        return _Cycles(run.busy, run.waits, cycle - run.cycles, 0)
    waits = dict(stream.waits)
    busy = stream.cycle - sum(waits.values()) - max(0, stream.cycle - cycle)
    still = max(0, min(standing.until, cycle) - stream.cycle)
    if standing.waiting is not None:
        waits[standing.waiting] = waits.get(standing.waiting, 0) + still
        still = 0
    return _Cycles(busy, waits, still, max(0, cycle - max(standing.until, stream.cycle)))


def _stream(program: ProgramView, stream: StreamView, watch: Watch, look: Look, cycle: int) -> StreamState:
    standing = _Standing.of(stream, watch, look, cycle)
    cycles = _cycles(stream, watch, cycle, standing)
    index, end = _position(program, stream, watch, look, cycle, standing)
    routine = program.routine_at(program.addresses[index])
    return StreamState(
        name=stream.name.upper(),
        busy=cycles.busy,
        waits=tuple(sorted((reason, waited) for reason, waited in cycles.waits.items() if waited)),
        idle=cycles.idle,
        open=cycles.open,
        halted=stream.halted,
        instruction=program.instructions[index].text(),
        place=program.where(index),
        routine=routine.name if routine else "",
        source=_source(program, index),
        ahead=max(0, stream.cycle - cycle) if end is None and stream.name not in look.following else 0,
        remaining=None if end is None else end - cycle,
        waiting_for=standing.waiting,
        since=None if standing.waiting is None else stream.cycle,
        loops=tuple(left for _, left in stream.frames[-1].loops) if stream.frames else (),
    )


def _position(
    program: ProgramView, stream: StreamView, watch: Watch, look: Look, cycle: int, standing: _Standing
) -> tuple[int, int | None]:
    """Return the position of the current instruction of a stream, and its end, where that is known."""
    index, end = stream.index, None
    if stream.halted or standing.waiting == "transfer":
        index -= 1  # it has been issued
    elif standing.waiting is None:
        running, until = watch.current.get(stream.name, (index, None))
        if until is not None and until > cycle:
            index, end = running, until
        else:
            index = look.following.get(stream.name, index)
    return min(max(index, 0), len(program.instructions) - 1), end


def _source(program: ProgramView, index: int) -> tuple[SourceRow, ...]:
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


def _stages(streams: Iterable[StreamView], cycle: int) -> tuple[StageState, ...]:
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


# --- the rest of the machine ---------------------------------------------------------------------------------------


def _modules(watch: Watch, facts: Facts, look: Look, cycle: int) -> tuple[ModuleState, ...]:
    enabled = watch.enabled
    texture = facts.texture_missing is None
    counted = texture and not watch.history.begin  # accesses before a checkpoint are not known

    def of(values: Sequence[Shown] | None, module: int) -> Shown | None:
        return None if values is None else values[module]

    return tuple(
        ModuleState(
            module,
            of(enabled, module),
            watch.busy(module_track(module), cycle) if texture else None,
            watch.accesses.get(module, 0) if counted else None,
            of(look.from_emcs, module),
            of(look.to_emcs, module),
            of(look.open_rows, module),
            of(look.over, module) or 0,
        )
        for module in range(facts.modules)
    )


def _semaphores(
    uses: Sequence[SemaphoreUse], shown: Sequence[StreamState], streams: Sequence[StreamView]
) -> tuple[SemaphoreState, ...]:
    waiting = {stream.waiting_for: stream.name for stream in shown}
    return tuple(
        SemaphoreState(
            use.number,
            sum(stream.semaphores.counts[use.number] for stream in streams),
            use.signalled_by,
            use.taken_by,
            waiting.get(f"sem {use.number}"),
        )
        for use in uses
    )


def _utilisation(watch: Watch, facts: Facts, look: Look, cycle: int) -> Utilisation | None:
    history = watch.history
    if cycle <= history.begin:
        return None
    # Asking for a total first brings all tracks to the same length of interval.
    history.total(ENABLED, cycle)
    spans = [(begin, min(begin + history.cycles, cycle)) for begin in range(history.begin, cycle, history.cycles)]
    tracks = [
        BusyTrack(
            stream.name.upper(),
            _busy_shares(stream, history.sums(stream.name, cycle), spans, _Standing.of(stream, watch, look, cycle)),
        )
        for stream in watch.view.streams.values()
    ]
    if facts.texture_missing is None:
        sums = [history.sums(module_track(module), cycle) for module in range(facts.modules)]
        busy = [sum(each) / facts.modules for each in zip(*sums, strict=True)]
        tracks.append(BusyTrack("TASIC", _shares(busy, spans, 1)))
    if watch.paths:
        sums = [history.sums(path, cycle) for path in sorted(watch.paths)]
        tracks.append(BusyTrack("GNI", _shares([max(each) for each in zip(*sums, strict=True)], spans, 1)))
    if watch.enabled is not None:
        shares = _shares(history.sums(ENABLED, cycle), spans, facts.pes)
        first = watch.enabled_from
        tracks.append(
            BusyTrack(
                "PEs", tuple(None if end <= first else each for each, (_, end) in zip(shares, spans, strict=True))
            )
        )
    return Utilisation(history.cycles, tuple(tracks))


def _shares(sums: Sequence[float], spans: Sequence[tuple[int, int]], full: int) -> tuple[float, ...]:
    return tuple(min(1.0, amount / ((end - begin) * full)) for amount, (begin, end) in zip(sums, spans, strict=True))


def _busy_shares(
    stream: StreamView, waited: Sequence[int], spans: Sequence[tuple[int, int]], standing: _Standing
) -> tuple[float | None, ...]:
    """Return the share of each interval in which a stream executed; None where it has not been simulated yet."""
    known = max(stream.cycle, standing.until)
    return tuple(
        None if begin >= known else max(0, min(end, stream.cycle) - begin - waits) / (end - begin)
        for waits, (begin, end) in zip(waited, spans, strict=True)
    )
