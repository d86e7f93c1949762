"""Statistics of a run: declared once by name, unit, doc and events; collected at the end of every run.

A name with angle brackets has one statistic for each value in the run. A value that the run did not model, or could
not know, is None (``null`` in JSON, an empty field in CSV), never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pixelflow.observe.node_events import (
    Accessed,
    EnabledCounted,
    NodeAccountView,
    NodeRunView,
    PathUsed,
    Signalled,
    Taken,
)
from pixelflow.simd.errors import InternalError
from pixelflow.simd.observe import Bus, Carried, Event, Executed, RoutineLeft, RunBegan, RunEnded, StageBegan, Waited
from pixelflow.simd.report import Report, Shown, overview, plain_table

SCHEMA = "pixelflow.stats/1"

Value = int | None
"""Everything here is counted, so every value is an integer."""

Values = Mapping[tuple[str, ...], Value]
"""By the values of the parts in angle brackets; () for a name without any."""

Count = Callable[["_Seen"], Values]
"""The function that returns the values of a statistic."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """A count: ``name`` with parts in angle brackets, and the events that are added up, here or in the account."""

    name: str
    unit: str
    doc: str
    events: tuple[type[Event], ...]
    values: Count

    def named(self, parts: tuple[str, ...]) -> str:
        """Return the name with its parts filled in."""
        text = self.name
        for part in parts:
            before, _, rest = text.partition("<")
            text = before + part + rest.partition(">")[2]
        return text


@dataclass(frozen=True, slots=True)
class RunStatistics(Shown):
    """The statistics of one run."""

    program: str
    sha256: str
    """The program's hash."""
    engine: str
    reason: str
    values: dict[str, Value]
    """By name, sorted."""
    units: dict[str, str]
    """The unit of each value."""

    def report(self) -> Report:
        """Return every statistic with its unit; a dash for one that was not modelled."""
        rows = tuple(
            (name, "-" if value is None else f"{value:,}", self.units[name]) for name, value in self.values.items()
        )
        facts = (
            ("program", f"{self.program} ({self.sha256[:12]})"),
            ("engine", self.engine),
            ("ended by", self.reason),
        )
        return overview("statistics of a run", facts, (plain_table(("statistic", "value", "unit"), rows),))


_ANYWHERE = ("interrupted", "internal error")
"""Reasons that can stop a run in the middle of a step, so that its sums may be incomplete."""

STATISTICS: list[Statistic] = []
"""Every statistic, in the order in which they are listed."""


def _statistic(name: str, unit: str, *events: type[Event]) -> Callable[[Count], Count]:
    def declare(values: Count) -> Count:
        STATISTICS.append(Statistic(name, unit, values.__doc__ or "", events, values))
        return values

    return declare


class _Seen:
    """The events of one run that were collected."""

    account: NodeAccountView
    """Known as soon as the run has ended."""

    def __init__(self, began: RunBegan[NodeRunView]) -> None:
        self.function = began.function
        self.two_streams = len(began.entries) > 1
        self.whole = not began.resumed
        """True if the run was observed from its beginning, not from a checkpoint."""
        self.accesses: Counter[int] = Counter()
        self.slots: Counter[int] = Counter()
        self.path_bytes: Counter[str] = Counter()
        self.sent: Counter[int] = Counter()
        self.taken: Counter[int] = Counter()
        self.enabled: Sequence[int] | None = None
        self.energies: Mapping[str, int] = {}

    @property
    def ended(self) -> bool:
        """True if the run came to its end, so that all transfers were completed."""
        return self.account.reason == "halt"

    @property
    def modules(self) -> range:
        """The modules whose TASICs took part."""
        return range(len(self.account.tasic_cycles))


# --- the run --------------------------------------------------------------------------------------------------------


@_statistic("run.cycles", "cycles", RunEnded)
def _cycles(seen: _Seen) -> Values:
    """Cycles until all streams had ended."""
    return {(): seen.account.total_cycles}


@_statistic("<stream>.cycles", "cycles", RunEnded)
def _stream_cycles(seen: _Seen) -> Values:
    """The cycle in which the stream ended."""
    return {(each.stream,): each.cycles for each in seen.account.streams}


@_statistic("<stream>.busy_cycles", "cycles", Executed)
def _busy(seen: _Seen) -> Values:
    """Cycles of the instructions that the stream executed."""
    return {(each.stream,): each.busy for each in seen.account.streams}


@_statistic("<stream>.wait_cycles", "cycles", Waited)
def _waiting(seen: _Seen) -> Values:
    """Cycles that the stream waited, for whatever reason."""
    return {(each.stream,): sum(each.waits.values()) for each in seen.account.streams}


@_statistic("<stream>.wait_cycles.<reason>", "cycles", Waited)
def _waits(seen: _Seen) -> Values:
    """The same by reason: a semaphore, or a transfer under way."""
    waits = ((each.stream, reason, cycles) for each in seen.account.streams for reason, cycles in each.waits.items())
    return {(stream, reason.replace(" ", "")): cycles for stream, reason, cycles in waits}


@_statistic("<stream>.idle_cycles", "cycles", RunEnded)
def _idle(seen: _Seen) -> Values:
    """Cycles from the end of the stream to the end of the run."""
    total = seen.account.total_cycles
    return {(each.stream,): total - each.cycles for each in seen.account.streams}


@_statistic("<stream>.instructions", "instructions", Executed)
def _instructions(seen: _Seen) -> Values:
    """Instructions executed, control included."""
    return {(each.stream,): each.instructions for each in seen.account.streams}


@_statistic("<stream>.microinstructions", "instructions", Executed)
def _microinstructions(seen: _Seen) -> Values:
    """Instructions executed that took at least one cycle."""
    return {(each.stream,): each.microinstructions for each in seen.account.streams}


@_statistic("<stream>.family_cycles.<family>", "cycles", Executed)
def _families(seen: _Seen) -> Values:
    """Busy cycles by instruction family."""
    return {
        (each.stream, family.value): cycles
        for each in seen.account.streams
        for family, cycles in each.by_family.items()
    }


@_statistic("<stream>.stage_cycles.<stage>", "cycles", StageBegan)
def _stages(seen: _Seen) -> Values:
    """Cycles from each MARK to the next, waits included."""
    return {(each.stream, stage): n for each in seen.account.streams for stage, n in each.by_stage.items()}


@_statistic("<stream>.routine_calls.<routine>", "calls", RoutineLeft)
def _calls(seen: _Seen) -> Values:
    """Calls of a routine that have returned; the main program counts as one."""
    return {(each.stream, name): use.calls for each in seen.account.streams for name, use in each.by_routine.items()}


@_statistic("<stream>.routine_cycles.<routine>", "cycles", Executed)
def _routines(seen: _Seen) -> Values:
    """Busy cycles of a routine's own instructions."""
    uses = ((each.stream, name, use) for each in seen.account.streams for name, use in each.by_routine.items())
    return {(stream, name): use.own_cycles for stream, name, use in uses}


# --- the array --------------------------------------------------------------------------------------------------------


@_statistic("array.enabled_pe_cycles", "PE-cycles", EnabledCounted)
def _enabled(seen: _Seen) -> Values:
    """Sum of the enabled PEs over the busy cycles of the EMC stream; null where only time passed, and for a run that
    continues from a checkpoint."""
    known = seen.enabled is not None and seen.whole
    return {(): sum(_enabled_counts(seen)) if known else None}


@_statistic("array.enabled_pe_cycles.module<module>", "PE-cycles", EnabledCounted)
def _enabled_modules(seen: _Seen) -> Values:
    """The same by module."""
    return {(str(module),): count for module, count in enumerate(_enabled_counts(seen))}


def _enabled_counts(seen: _Seen) -> Sequence[int]:
    """Return the sums of all modules; none where they are not known."""
    return seen.enabled if seen.enabled is not None and seen.whole else ()


# --- texture memory and GNI -----------------------------------------------------------------------------------------


@_statistic("tasic<module>.busy_cycles", "cycles", Accessed)
def _tasics(seen: _Seen) -> Values:
    """Cycles from the first access to the last byte of the texture transfers of a module; null where something
    stopped the run."""
    return {(str(m),): seen.account.tasic_cycles[m] if seen.ended else None for m in seen.modules}


@_statistic("tasic<module>.accesses", "accesses", Accessed)
def _accesses(seen: _Seen) -> Values:
    """Accesses to each SDRAM of a module; null where something stopped the run, or it continues from a checkpoint."""
    return {(str(m),): seen.accesses[m] if seen.ended and seen.whole else None for m in seen.modules}


@_statistic("tasic<module>.slots", "slots", Accessed)
def _slots(seen: _Seen) -> Values:
    """Places for an access, those included that an EMC without a PE left does not use; null as the accesses are."""
    return {(str(m),): seen.slots[m] if seen.ended and seen.whole else None for m in seen.modules}


@_statistic("gni.<path>.busy_cycles", "cycles", PathUsed)
def _paths(seen: _Seen) -> Values:
    """Cycles in which a path out of the GNI carried bytes; null where something stopped the run."""
    return {(path,): cycles if seen.ended else None for path, cycles in seen.account.gni_cycles.items()}


@_statistic("gni.<path>.bytes", "bytes", PathUsed)
def _path_bytes(seen: _Seen) -> Values:
    """Bytes that a path out of the GNI carried; null where something stopped the run, or it continues from a
    checkpoint."""
    known = seen.ended and seen.whole
    return {(path,): seen.path_bytes[path] if known else None for path in seen.account.gni_cycles}


@_statistic("bytes.<way>.<kind>", "bytes", Carried)
def _bytes(seen: _Seen) -> Values:
    """Bytes of each way for which there are slots, as they were asked for, as wires carried them, as boxes counted
    them; those that used them, and the data among these; null where something stopped the run before its ledger was
    closed."""
    kinds = ("asked", "carried", "counted", "used", "moved")
    ways = ("to_tasics", "to_emcs", "to_gps", "from_gps", "between_tasics")
    if not seen.two_streams:
        return {}
    if seen.account.ledger is None:
        return {(way, kind): None for way in ways for kind in kinds}
    flows = seen.account.ledger.as_object()["bytes"]
    return {(way, kind): flows[way][kind] for way in ways for kind in kinds}


@_statistic("energy.<work>", "fJ", Accessed, RunEnded)
def _energies(seen: _Seen) -> Values:
    """Energy of the work done by its kind, where it was requested; prices are invented, and listed as price.<work>.
    Null where something stopped the run, or it continues from a checkpoint."""
    return {(work,): spent if seen.ended and seen.whole else None for work, spent in seen.energies.items()}


@_statistic("sem<semaphore>.sent", "signals", Signalled)
def _sent(seen: _Seen) -> Values:
    """Signals sent to a semaphore; not known for a run that continues from a checkpoint and was stopped."""
    return _signals(seen, "sent", seen.sent)


@_statistic("sem<semaphore>.taken", "signals", Taken)
def _taken(seen: _Seen) -> Values:
    """Signals taken from a semaphore; as above."""
    return _signals(seen, "taken", seen.taken)


def _signals(seen: _Seen, kind: str, counted: Counter[int]) -> Values:
    if seen.account.ledger is not None:
        return {(number,): flow[kind] for number, flow in seen.account.ledger.as_object()["signals"].items()}
    used = sorted({*seen.sent, *seen.taken})
    return {(str(number),): counted[number] if seen.whole else None for number in used}


# --- collecting -----------------------------------------------------------------------------------------------------


class Collector:
    """Subscribes to the runs of a node and keeps their statistics, one entry a run."""

    def __init__(self, energies: Callable[[], Mapping[str, int]] | None = None) -> None:
        """``energies`` gives the energy of the run that has just ended, by kind of work (`EnergyMeter.values`)."""
        self.runs: list[RunStatistics] = []
        self._energies = energies
        self._seen: _Seen
        """The run that continues."""

    def attach(self, bus: Bus) -> None:
        """Subscribe; before the next run."""
        bus.subscribe(self._receive, RunBegan, Accessed, PathUsed, EnabledCounted, Signalled, Taken, RunEnded)

    def _receive(self, event: Event) -> None:
        if isinstance(event, RunBegan):
            self._seen = _Seen(event)
            return
        seen = self._seen
        match event:
            case Accessed():
                seen.accesses[event.module] += event.accesses
                seen.slots[event.module] += event.slots
            case PathUsed():
                seen.path_bytes[event.path] += event.amount
            case Signalled():
                seen.sent[event.semaphore] += 1
            case Taken():
                seen.taken[event.semaphore] += 1
            case EnabledCounted():
                seen.enabled = event.counts
            case RunEnded():
                seen.account = event.account
                seen.energies = {} if self._energies is None else self._energies()
                del self._seen
                self.runs.append(_statistics(seen))


def _statistics(seen: _Seen) -> RunStatistics:
    """Return the statistics of a run, after checking that the cycles of every stream add up."""
    values: dict[str, Value] = {}
    units: dict[str, str] = {}
    for statistic in STATISTICS:
        for parts, value in statistic.values(seen).items():
            name = statistic.named(parts)
            values[name], units[name] = value, statistic.unit
    account = seen.account
    if account.reason not in _ANYWHERE:
        for each in account.streams:
            busy, waiting, idle = (values[f"{each.stream}.{kind}_cycles"] or 0 for kind in ("busy", "wait", "idle"))
            if busy + waiting + idle != account.total_cycles:
                raise InternalError(
                    f"{each.stream}: busy {busy} + wait {waiting} + idle {idle} are not {account.total_cycles} cycles"
                )
    program = account.program
    return RunStatistics(
        program.name, program.sha256, account.engine, account.reason, dict(sorted(values.items())), units
    )
