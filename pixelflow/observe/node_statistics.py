"""Statistics of a run: declared once by name, unit, doc and events; collected at the end of every run.

A name with angle brackets has one statistic for each value in the run. A value that the run did not model, or could
not know, is None (``null`` in JSON, an empty field in CSV), never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


class Statistic(NamedTuple):
    """A count: ``name`` with parts in angle brackets, and the events that are added up, here or in the account."""

    name: str
    unit: str
    events: tuple[type[Event], ...]
    doc: str
    values: Callable[[_Seen], Values]

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


# --- the statistics -------------------------------------------------------------------------------------------------


def _of_streams(
    name: str, unit: str, event: type[Event], doc: str, value: Callable[[NodeAccountView], int]
) -> Statistic:
    """Return a statistic that each stream has once."""
    return Statistic(
        f"<stream>.{name}", unit, (event,), doc,
        lambda seen: {(each.stream,): value(each) for each in seen.account.streams},
    )  # fmt: skip


def _of_parts(
    name: str, unit: str, event: type[Event], doc: str, values: Callable[[NodeAccountView], Mapping[str, int]]
) -> Statistic:
    """Return a statistic that each stream has by some of its parts."""
    return Statistic(
        f"<stream>.{name}", unit, (event,), doc,
        lambda seen: {
            (each.stream, part): value for each in seen.account.streams for part, value in values(each).items()
        },
    )  # fmt: skip


def _enabled(seen: _Seen) -> Sequence[int]:
    """Return the sums of all modules; none where they are not known."""
    return seen.enabled if seen.enabled is not None and seen.whole else ()


def _known(seen: _Seen, value: Value) -> Value:
    """Return a value that is known where the run was seen whole."""
    return value if seen.ended and seen.whole else None


def _bytes(seen: _Seen) -> Values:
    kinds = ("asked", "carried", "counted", "used", "moved")
    ways = ("to_tasics", "to_emcs", "to_gps", "from_gps", "between_tasics")
    if not seen.two_streams:
        return {}
    if seen.account.ledger is None:
        return {(way, kind): None for way in ways for kind in kinds}
    flows = seen.account.ledger.as_object()["bytes"]
    return {(way, kind): flows[way][kind] for way in ways for kind in kinds}


def _signals(seen: _Seen, kind: str, counted: Counter[int]) -> Values:
    if seen.account.ledger is not None:
        return {(number,): flow[kind] for number, flow in seen.account.ledger.as_object()["signals"].items()}
    used = sorted({*seen.sent, *seen.taken})
    return {(str(number),): counted[number] if seen.whole else None for number in used}


# fmt: off
STATISTICS = (
    Statistic("run.cycles", "cycles", (RunEnded,), "Cycles until all streams had ended.",
              lambda seen: {(): seen.account.total_cycles}),
    _of_streams("cycles", "cycles", RunEnded, "The cycle in which the stream ended.", lambda each: each.cycles),
    _of_streams("busy_cycles", "cycles", Executed, "Cycles of the instructions that the stream executed.",
                lambda each: each.busy),
    _of_streams("wait_cycles", "cycles", Waited, "Cycles that the stream waited, for whatever reason.",
                lambda each: sum(each.waits.values())),
    _of_parts("wait_cycles.<reason>", "cycles", Waited, "The same by reason: a semaphore, or a transfer under way.",
              lambda each: {reason.replace(" ", ""): cycles for reason, cycles in each.waits.items()}),
    Statistic("<stream>.idle_cycles", "cycles", (RunEnded,),
              "Cycles from the end of the stream to the end of the run.",
              lambda seen: {(each.stream,): seen.account.total_cycles - each.cycles for each in seen.account.streams}),
    _of_streams("instructions", "instructions", Executed, "Instructions executed, control included.",
                lambda each: each.instructions),
    _of_streams("microinstructions", "instructions", Executed, "Instructions executed that took at least one cycle.",
                lambda each: each.microinstructions),
    _of_parts("family_cycles.<family>", "cycles", Executed, "Busy cycles by instruction family.",
              lambda each: {family.value: cycles for family, cycles in each.by_family.items()}),
    _of_parts("stage_cycles.<stage>", "cycles", StageBegan, "Cycles from each MARK to the next, waits included.",
              lambda each: each.by_stage),
    _of_parts("routine_calls.<routine>", "calls", RoutineLeft,
              "Calls of a routine that have returned; the main program counts as one.",
              lambda each: {name: use.calls for name, use in each.by_routine.items()}),
    _of_parts("routine_cycles.<routine>", "cycles", Executed, "Busy cycles of a routine's own instructions.",
              lambda each: {name: use.own_cycles for name, use in each.by_routine.items()}),
    Statistic("array.enabled_pe_cycles", "PE-cycles", (EnabledCounted,),
              "Sum of the enabled PEs over the busy cycles of the EMC stream; null where only time passed, and for a "
              "run that continues from a checkpoint.",
              lambda seen: {(): sum(_enabled(seen)) if seen.enabled is not None and seen.whole else None}),
    Statistic("array.enabled_pe_cycles.module<module>", "PE-cycles", (EnabledCounted,), "The same by module.",
              lambda seen: {(str(module),): count for module, count in enumerate(_enabled(seen))}),
    Statistic("tasic<module>.busy_cycles", "cycles", (Accessed,),
              "Cycles from the first access to the last byte of the texture transfers of a module; null where "
              "something stopped the run.",
              lambda seen: {(str(m),): seen.account.tasic_cycles[m] if seen.ended else None for m in seen.modules}),
    Statistic("tasic<module>.accesses", "accesses", (Accessed,),
              "Accesses to each SDRAM of a module; null where something stopped the run, or it continues from a "
              "checkpoint.",
              lambda seen: {(str(m),): _known(seen, seen.accesses[m]) for m in seen.modules}),
    Statistic("tasic<module>.slots", "slots", (Accessed,),
              "Places for an access, those included that an EMC without a PE left does not use; null as the accesses "
              "are.",
              lambda seen: {(str(m),): _known(seen, seen.slots[m]) for m in seen.modules}),
    Statistic("gni.<path>.busy_cycles", "cycles", (PathUsed,),
              "Cycles in which a path out of the GNI carried bytes; null where something stopped the run.",
              lambda seen: {(path,): n if seen.ended else None for path, n in seen.account.gni_cycles.items()}),
    Statistic("gni.<path>.bytes", "bytes", (PathUsed,),
              "Bytes that a path out of the GNI carried; null where something stopped the run, or it continues from a "
              "checkpoint.",
              lambda seen: {(path,): _known(seen, seen.path_bytes[path]) for path in seen.account.gni_cycles}),
    Statistic("bytes.<way>.<kind>", "bytes", (Carried,),
              "Bytes of each way for which there are slots, as they were asked for, as wires carried them, as boxes "
              "counted them; those that used them, and the data among these; null where something stopped the run "
              "before its ledger was closed.", _bytes),
    Statistic("energy.<work>", "fJ", (Accessed, RunEnded),
              "Energy of the work done by its kind, where it was requested; prices are invented, and listed as "
              "price.<work>. Null where something stopped the run, or it continues from a checkpoint.",
              lambda seen: {(work,): _known(seen, spent) for work, spent in seen.energies.items()}),
    Statistic("sem<semaphore>.sent", "signals", (Signalled,),
              "Signals sent to a semaphore; not known for a run that continues from a checkpoint and was stopped.",
              lambda seen: _signals(seen, "sent", seen.sent)),
    Statistic("sem<semaphore>.taken", "signals", (Taken,), "Signals taken from a semaphore; as above.",
              lambda seen: _signals(seen, "taken", seen.taken)),
)
# fmt: on
"""Every statistic, in the order in which they are listed."""


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
