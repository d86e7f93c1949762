"""From a run that goes on, or stands still somewhere, to the plain values of a frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pixelflow.observe.dashboard.state import (
    MapState,
    ModuleState,
    SemaphoreState,
    SourceRow,
    StageState,
    State,
    StreamState,
    Track,
    Utilisation,
)
from pixelflow.observe.dashboard.watch import ENABLED, Watch, module_track
from pixelflow.observe.views import ProgramView, StreamView

__all__ = ["Facts", "Look", "SemaphoreUse", "snapshot"]

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
    """What stays the same while a program runs."""

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
    """What a look at the machine itself has shown, at the moment of the frame."""

    array: MapState | None = None
    enabled: tuple[int, ...] | None = None
    """Enabled PEs of each module; None in a run without data."""
    from_emcs: tuple[int, ...] | None = None
    """Bytes from the EMCs of each module to its TASICs."""
    to_emcs: tuple[int, ...] | None = None
    open_rows: tuple[tuple[int | None, ...], ...] | None = None
    """For each module the open row of each bank."""


def snapshot(
    watch: Watch,
    facts: Facts,
    look: Look,
    *,
    at: int | None = None,
    rate: float | None = None,
    part: tuple[int, int] | None = None,
    status: str | None = None,
    notes: tuple[str, ...] = (),
) -> State:
    """Return what a frame shows of the run that a watch has followed, at the cycle that the run has come to.

    ``at`` is that cycle where the caller knows better. Cycles may not go back within a run.
    """
    program, view = watch.program, watch.view
    cycle = watch.cycle if at is None else at
    if look.enabled is not None:
        watch.enables(cycle, look.enabled)
    watch.enables_last(cycle)
    return State(
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
        streams=tuple(_stream(program, stream, watch, cycle) for stream in view.streams.values()),
        modules=_modules(watch, facts, look, cycle),
        banks_missing=facts.banks_missing if look.open_rows is None else None,
        gni=tuple((path, watch.history.total(path, cycle)) for path in sorted(watch.paths)),
        gni_missing=facts.texture_missing,
        semaphores=_semaphores(facts.semaphores, view.streams.values()),
        array=look.array,
        utilisation=_utilisation(watch, facts, cycle),
        stages=tuple(stage for stream in view.streams.values() for stage in _stages(stream, cycle)),
        part=part,
        notes=notes,
    )


# --- streams -------------------------------------------------------------------------------------------------------


def _stream(program: ProgramView, stream: StreamView, watch: Watch, cycle: int) -> StreamState:
    waits = {reason: waited for reason, waited in stream.waits.items() if waited}
    busy = stream.cycle - sum(waits.values()) - max(0, stream.cycle - cycle)
    rest = max(0, cycle - stream.cycle)
    waiting = _waiting(stream)
    if rest and waiting is not None:
        waits[waiting] = waits.get(waiting, 0) + rest
    index, end = watch.current.get(stream.name, (stream.index, None))
    if waiting is not None:
        index, end = stream.index, None
    index = min(max(index, 0), len(program.instructions) - 1)
    routine = program.routine_at(program.addresses[index])
    idle = stream.halted or watch.ended is not None
    return StreamState(
        name=stream.name.upper(),
        busy=busy,
        waits=tuple(sorted(waits.items())),
        idle=rest if idle and waiting is None else 0,
        open=rest if not idle and waiting is None else 0,
        halted=stream.halted,
        instruction=program.instructions[index].text(),
        place=program.where(index),
        routine=routine.name if routine else "",
        source=_source(program, index),
        remaining=None if end is None or stream.halted or end <= cycle else end - cycle,
        waiting_for=waiting,
        since=None if waiting is None else stream.cycle,
        loops=tuple(left for _, left in stream.frames[-1].loops) if stream.frames else (),
    )


def _waiting(stream: StreamView) -> str | None:
    if stream.halted or stream.waiting is None:
        return None
    return f"sem {stream.waiting}"


def _source(program: ProgramView, index: int) -> tuple[SourceRow, ...]:
    """Return the lines around an instruction: source lines of its file, or instructions where no source is known."""
    here = program.line_at(index)
    near = range(max(0, index - 4 * _AROUND), min(len(program.instructions), index + 4 * _AROUND + 1))
    if here is None:
        rows = [
            SourceRow(str(program.addresses[each]), program.instructions[each].text(), each == index) for each in near
        ]
        at = index - near.start
    else:
        lines = {line.line: line.text for each in near if (line := program.line_at(each)) and line.file == here.file}
        rows = [SourceRow(str(number), lines[number], number == here.line) for number in sorted(lines)]
        at = sorted(lines).index(here.line)
    return tuple(rows[max(0, at - _AROUND) : at + _AROUND + 1])


def _stages(stream: StreamView, cycle: int) -> list[StageState]:
    """Return the stages that a stream has begun, in order; a name that comes again adds up."""
    begun = [(name, begin) for name, begin in stream.stages if begin <= cycle]
    ends = [begin for _, begin in begun[1:]] + [max(cycle, begun[-1][1])] if begun else []
    totals: dict[str, int] = {}
    for (name, begin), end in zip(begun, ends, strict=True):
        totals[name] = totals.get(name, 0) + end - begin
    running = begun[-1][0] if begun and not stream.halted else None
    return [StageState(stream.name.upper(), name, cycles, name == running) for name, cycles in totals.items()]


# --- the rest of the machine ---------------------------------------------------------------------------------------


def _modules(watch: Watch, facts: Facts, look: Look, cycle: int) -> tuple[ModuleState, ...]:
    enabled = watch.enabled
    texture = facts.texture_missing is None

    def of(values: Sequence | None, module: int) -> object:
        return None if values is None else values[module]

    return tuple(
        ModuleState(
            module,
            of(enabled, module),
            watch.history.total(module_track(module), cycle) if texture else None,
            watch.accesses.get(module, 0) if texture else None,
            of(look.from_emcs, module),
            of(look.to_emcs, module),
            of(look.open_rows, module),
        )
        for module in range(facts.modules)
    )


def _semaphores(uses: Sequence[SemaphoreUse], streams: Sequence[StreamView]) -> tuple[SemaphoreState, ...]:
    streams = list(streams)
    waiting = {stream.waiting: stream.name.upper() for stream in streams if _waiting(stream)}
    return tuple(
        SemaphoreState(
            use.number,
            sum(stream.semaphores.counts[use.number] for stream in streams),
            use.signalled_by,
            use.taken_by,
            waiting.get(use.number),
        )
        for use in uses
    )


def _utilisation(watch: Watch, facts: Facts, cycle: int) -> Utilisation | None:
    history = watch.history
    if cycle <= history.begin:
        return None
    # Asking for a total first brings all tracks to the same length of interval.
    history.total(ENABLED, cycle)
    spans = [
        (begin, min(begin + history.cycles, cycle)) for begin in range(history.begin, cycle, history.cycles)
    ]
    tracks = [
        Track(stream.name.upper(), _busy_shares(stream, history.sums(stream.name, cycle), spans, watch.ended))
        for stream in watch.view.streams.values()
    ]
    if facts.texture_missing is None:
        sums = [history.sums(module_track(module), cycle) for module in range(facts.modules)]
        busy = [sum(each) / facts.modules for each in zip(*sums, strict=True)]
        tracks.append(Track("TASIC", _shares(busy, spans, 1)))
    if watch.paths:
        sums = [history.sums(path, cycle) for path in sorted(watch.paths)]
        tracks.append(Track("GNI", _shares([max(each) for each in zip(*sums, strict=True)], spans, 1)))
    if watch.enabled is not None:
        tracks.append(Track("PEs", _shares(history.sums(ENABLED, cycle), spans, facts.pes)))
    return Utilisation(history.cycles, tuple(tracks))


def _shares(sums: Sequence[float], spans: Sequence[tuple[int, int]], full: int) -> tuple[float, ...]:
    return tuple(
        min(1.0, amount / ((end - begin) * full)) for amount, (begin, end) in zip(sums, spans, strict=True)
    )


def _busy_shares(
    stream: StreamView, waited: Sequence[int], spans: Sequence[tuple[int, int]], ended: str | None
) -> tuple[float | None, ...]:
    """Return the share of each interval in which a stream executed; None where it has not been simulated yet."""
    known = stream.halted or ended is not None or _waiting(stream) is not None
    shares: list[float | None] = []
    for waits, (begin, end) in zip(waited, spans, strict=True):
        done = min(end, stream.cycle) - begin
        shares.append(None if done <= 0 and not known else max(0, done - waits) / (end - begin))
    return tuple(shares)
