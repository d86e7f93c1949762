"""The account of a run: executed instructions, cycles, and the ledger of signals, commands and bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import compress, pairwise
from operator import mul
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from pixelflow.config import NodeConfig
from pixelflow.isa import ALL, BEFORE, END, Family, Program, SourceLine
from pixelflow.isa.control import SIGNAL
from pixelflow.node.run.as_soon_as_possible import AsSoonAsPossible
from pixelflow.node.run.clocked import Clocked
from pixelflow.node.run.stream import OpenWait, Stream
from pixelflow.node.run.supply import ProgramWords, words_of
from pixelflow.observe import TRANSFER
from pixelflow.simd.errors import InternalError
from pixelflow.simd.report import Json, Report, Shown, Table, counted, overview, plain_table

if TYPE_CHECKING:
    from pixelflow.simd.report import Timeline, TimeSpan

# The ledger of a run: input against output. An imbalance is a defect of the simulator.


class SignalFlow(NamedTuple):
    """The signals of one semaphore: sent by SIGNAL, of these carried to the other stream, taken by WAIT, left over."""

    sent: int
    carried: int
    taken: int
    left: int

    @property
    def balanced(self) -> bool:
        return self.sent == self.taken + self.left


class LedgerFlow(NamedTuple):
    """Bytes of one direction: as asked by the commands, carried by the wires, counted by the receiving box.

    On the local ports these include slots of EMCs without a PE left. ``used`` are the bytes on the pins, addresses
    included, ``moved`` the bytes of data.
    """

    asked: int = 0
    carried: int = 0
    counted: int = 0
    used: int = 0
    moved: int = 0

    @property
    def balanced(self) -> bool:
        return self.asked == self.carried == self.counted >= self.used >= self.moved


class Ledger(NamedTuple):
    """Signals, commands and bytes of a run. Commands and dones count one for each module."""

    signals: dict[int, SignalFlow]
    commands: int = 0
    dones: int = 0
    inbound: LedgerFlow = LedgerFlow()
    """Bytes from the EMCs to the TASICs: addresses, and data to be written."""
    outbound: LedgerFlow = LedgerFlow()
    """Bytes from the TASICs to the EMCs."""
    to_gps: LedgerFlow = LedgerFlow()
    """Bytes from the TASICs to the GNI, for GPs of this node or of others; all are data."""
    from_gps: LedgerFlow = LedgerFlow()
    """Bytes of loads from the node's GPs to the GNI; all are data."""
    over: LedgerFlow = LedgerFlow()
    """Of the bytes from the EMCs those for the TASICs of another module, as their wires carry them."""
    slots: int = 0
    """Slots of transfers with PEs: one of each EMC of a module in each round."""
    slots_used: int = 0
    """Slots whose EMC has a PE left; nothing moves in the others."""

    def check(self) -> None:
        """Raise InternalError unless everything balances."""
        wrong = [f"semaphore {number}: {flow}" for number, flow in self.signals.items() if not flow.balanced]
        if self.commands != self.dones:
            wrong.append(f"{self.commands} commands, {self.dones} done")
        wrong += [f"{name}: {flow}" for name, flow in self._flows() if not flow.balanced]
        if self.slots_used > self.slots:
            wrong.append(f"{self.slots} slots, {self.slots_used} used")
        if wrong:
            raise InternalError("the ledger of the run does not balance: " + "; ".join(wrong))

    def _flows(self) -> tuple[tuple[str, LedgerFlow], ...]:
        return (
            ("bytes to the TASICs", self.inbound),
            ("bytes to the EMCs", self.outbound),
            ("bytes for GPs", self.to_gps),
            ("bytes from GPs", self.from_gps),
            ("bytes between TASICs", self.over),
        )

    def as_object(self) -> dict[str, Json]:
        """Return the totals as plain values, for JSON."""
        return {
            "signals": {
                str(number): {"sent": f.sent, "carried": f.carried, "taken": f.taken, "left": f.left}
                for number, f in self.signals.items()
            },
            "commands": self.commands,
            "dones": self.dones,
            "slots": self.slots,
            "slots_used": self.slots_used,
            "bytes": {
                name: flow._asdict()
                for name, flow in (
                    ("to_tasics", self.inbound),
                    ("to_emcs", self.outbound),
                    ("to_gps", self.to_gps),
                    ("from_gps", self.from_gps),
                    ("between_tasics", self.over),
                )
            },
        }


def signal_flows(streams: Iterable[Stream], carried: Counter[int] | None = None) -> dict[int, SignalFlow]:
    """Return the flow of every semaphore of a run, from the executed instructions and the counters."""
    sent: Counter[int] = Counter()
    taken: Counter[int] = Counter()
    left: Counter[int] = Counter()
    for stream in streams:
        for index, use, semaphore in stream.sequencer.semaphore_uses:
            if times := stream.executed[index]:
                counts = sent if use is SIGNAL else taken
                counts[semaphore] += times
        left.update({number: count for number, count in enumerate(stream.semaphores.counts) if count})
    carried = carried or Counter()
    used = sorted(sent.keys() | taken.keys() | left.keys())
    return {number: SignalFlow(sent[number], carried[number], taken[number], left[number]) for number in used}


def ledger_of(run: Clocked) -> Ledger:
    """Return the ledger of a run that has ended."""
    if run.boxes is None:
        return Ledger(signal_flows(run.streams.values()))
    totals, boxes, gni, moved = run.counts.totals, run.boxes, run.boxes.gni.state, run.moved
    sent = sum(box.state.sent_bytes for box in boxes.emcs)
    received = sum(box.state.received_bytes for box in boxes.emcs)
    for_gps = sum(box.state.sent_bytes for box in boxes.ports)
    from_gps = sum(box.state.given_bytes for box in boxes.gps)
    to_gps, loads, looped = moved["PEs to GPs"], moved["GPs to TASICs"], moved["PEs to PEs"]
    crossed = sum(map(run.counts.over, range(len(boxes.tasics))))
    given = (totals["inbound asked"], totals["inbound"], sent, totals["inbound used"])
    over = (totals["over asked"], crossed, sent - (totals["inbound"] - crossed), totals["over used"])
    taken = (totals["outbound asked"], totals["outbound"], received, totals["outbound used"])
    return Ledger(
        signal_flows(run.streams.values(), run.counts.signals),
        totals["commands"],
        totals["dones"],
        LedgerFlow(*given, moved["PEs to TASICs"] + looped),
        LedgerFlow(*taken, moved["TASICs to PEs"] + looped),
        LedgerFlow(to_gps, for_gps, gni.from_modules_bytes, to_gps, to_gps),
        LedgerFlow(loads, from_gps, gni.from_gps_bytes, loads, loads),
        LedgerFlow(*over, moved["TASICs to TASICs"]),
        totals["slots"],
        totals["slots used"],
    )


# The stages of runs in time for each stream: figure 13 of the thesis as data of an executed run.
#
# The figure is missing from the text; section 5 says of it that all stalls are in the transfers, never in the EMCs.


class StageSpan(NamedTuple):
    """A stage of one stream, from cycle ``start`` up to, but not including, ``end``.

    Its cycles are ``busy`` with the stream's instructions, ``transfer`` while the texture stream waits for its own
    transfer, and ``wait`` for anything else.
    """

    name: str
    stream: str
    start: int
    end: int
    busy: int
    transfer: int
    wait: int

    @property
    def cycles(self) -> int:
        """The length of the span."""
        return self.end - self.start


def stage_marks(stages: Sequence[tuple[str, int]], cycles: int) -> list[tuple[str, int]]:
    """Return (name, first cycle) of the part before the first stage, of each stage, and of the end."""
    return [(BEFORE if stages else ALL, 0), *stages, (END, cycles)]


def timeline(run: Run) -> tuple[StageSpan, ...]:
    """Return the stages of both streams that took any cycles, stream by stream, in order of time.

    The spans of a stream cover it without a gap from cycle 0 to its end; ``(before)`` is the part before the first
    MARK, ``(all)`` a stream without MARK.
    """
    return tuple(span for each in run.streams for span in _spans(each))


def _spans(run: Run) -> Iterator[StageSpan]:
    waits = {stage: [0, 0] for stage in range(-1, len(run.stages))}
    for (stage, reason), cycles in run.stage_waits.items():
        waits[stage][reason != TRANSFER] += cycles
    marks = stage_marks(run.stages, run.cycles)
    for stage, ((name, start), (_, end)) in enumerate(pairwise(marks), start=-1):
        if end > start:
            transfer, wait = waits[stage]
            yield StageSpan(name, run.stream, start, end, end - start - transfer - wait, transfer, wait)


def stage_figures(runs: Sequence[Run]) -> tuple[Timeline, ...]:
    """Return a drawing of the stages of consecutive runs; nothing where there is only one span."""
    from pixelflow.simd.report import Timeline, TimeSpan

    lanes: dict[str, list[TimeSpan]] = {}
    begin = 0
    for run in runs:
        for each in timeline(run):
            lane = lanes.setdefault(each.stream.upper(), [])
            lane.append(TimeSpan(each.name, begin + each.start, begin + each.end, each.wait, each.transfer))
        begin += run.total_cycles
    if sum(map(len, lanes.values())) < 2:
        return ()
    several = f", {len(runs)} passes one after the other" if len(runs) > 1 else ""
    return (Timeline(f"stages in time{several}", tuple(lanes.items()), own="its own transfer"),)


# The cycles of a run, from the execution counts of instructions. Every count is the sum of declared steps.


_LINES_SHOWN = 10


class RoutineUse(NamedTuple):
    """Calls of a routine, and its cycles without and with those of the routines it called."""

    name: str
    calls: int
    own_cycles: int
    total_cycles: int


class _ByLine(dict[SourceLine | None, int]):
    """Cycles by source line; the text of a long one has the largest."""

    def __repr__(self) -> str:
        most = sorted(self.items(), key=lambda item: -item[1])[:_LINES_SHOWN]
        shown = [f"{f'{line.file}:{line.line}' if line else None}: {cycles}" for line, cycles in most]
        left = len(self) - len(most)
        return "{" + ", ".join([*shown, *([f"... {left} more"] if left else [])]) + "}"


@dataclass(frozen=True, repr=False)
class Run(Shown):
    """The account of one run of one stream."""

    program: Program
    engine: str
    cycles: int
    executed: tuple[int, ...]
    """Execution count of each instruction of ``program.instructions``."""
    cycles_of_kinds: Sequence[int]
    """Cycles of one execution of an instruction of each kind of ``program.by_kind``."""
    stages: tuple[tuple[str, int], ...]
    """MARKs in order of execution: (name, cycle)."""
    routine_cycles: dict[str, tuple[int, int]]
    seconds_at_clock: float
    stream: str = "eigc"
    reason: str = "halt"
    """Why the run ended: ``halt``, or the reason why it was stopped, as in `RunEnded`."""
    waits: dict[str, int] = field(default_factory=dict)
    """Cycles spent waiting, by reason: ``sem N``, ``instructions``, or ``transfer`` for the TIGC."""
    stage_waits: dict[tuple[int, str], int] = field(default_factory=dict)
    """The same by stage: its position in ``stages`` (-1 before the first), and the reason."""
    ledger: Ledger | None = None
    """The ledger of both streams."""
    beside: Run | None = None
    """The account of the texture stream of the same run."""
    gni_cycles: dict[str, int] = field(default_factory=dict)
    """Busy cycles of the paths out of the GNI: ``store0`` to the memory of GP 0, ``from_gni2`` to module 2."""
    tasic_cycles: tuple[int, ...] = ()
    """For each module, cycles from the first access to the last byte of its texture transfers."""
    delivered: int | None = None
    """Instruction words sent to the IGC; None where they are there at once (`igc.supply`)."""
    repeated: bool = field(default=False, compare=False)
    """True if the times are those of an earlier, equal run of the program (`score.py`)."""

    def __repr__(self) -> str:
        name = self.program.name
        return f"Run({name!r}, {self.stream}, {self.cycles} cycles, {self.reason}, engine {self.engine})"

    def report(self) -> Report:
        """Return the cycles of the streams, and of this one by stage and family."""
        streams = tuple(
            (each.stream, each.cycles, each.busy, sum(each.waits.values()), each.instructions) for each in self.streams
        )
        families = tuple((family.value, cycles) for family, cycles in self.by_family.items())
        tables = (
            plain_table(("stream", "cycles", "busy", "waiting", "instructions"), streams, key="streams"),
            plain_table(("stage", "cycles"), tuple(self.by_stage.items()) if self.stages else (), key="stages"),
            plain_table(("family", "cycles"), families, key="families"),
        )
        facts = (
            ("program", f"{self.program.name or '(without a name)'} ({self.program.sha256[:12]})"),
            ("engine", self.engine),
            ("ended by", self.reason),
            *((("repeated", "done again as an earlier run was, whose account this is"),) if self.repeated else ()),
        )
        return overview(f"run of {counted(self.total_cycles, 'cycle')}", facts, tables, figures=stage_figures((self,)))

    def tables(self) -> Mapping[str, Table]:
        """Return the tables of the report, and the cycles of every routine and source line of this stream."""
        uses = [(use.name, use.calls, use.own_cycles, use.total_cycles) for use in self.by_routine.values()]
        lines = [(line.file, line.line, n, line.text.strip()) for line, n in self.by_line.items() if line and n]
        return {
            **super().tables(),
            "routines": plain_table(("routine", "calls", "own_cycles", "total_cycles"), uses, key="routines"),
            "lines": plain_table(("file", "line", "cycles", "source"), lines, key="lines"),
        }

    @property
    def streams(self) -> tuple[Run, ...]:
        """This account and that of the texture stream."""
        return (self,) if self.beside is None else (self, self.beside)

    @property
    def words(self) -> ProgramWords:
        """The words of the program's instructions."""
        return words_of(self.program)

    @property
    def total_cycles(self) -> int:
        """Cycles until both streams had ended."""
        return max(self.cycles, self.beside.cycles if self.beside else 0)

    @cached_property
    def times(self) -> list[int]:
        """Execution count of the instructions of each kind of ``program.by_kind``."""
        return self.program.by_kind.totals(self.executed)

    @cached_property
    def busy(self) -> int:
        """Cycles of the executed instructions; busy cycles and waits are all cycles."""
        return sum(map(mul, self.times, self.cycles_of_kinds))

    @cached_property
    def instructions(self) -> int:
        """Instructions executed, control included."""
        return sum(self.executed)

    @cached_property
    def microinstructions(self) -> int:
        """Instructions executed that took at least one cycle."""
        return sum(compress(self.times, self.cycles_of_kinds))

    @property
    def _spent(self) -> Iterator[int]:
        return map(mul, self.executed, self.program.by_kind.spread(self.cycles_of_kinds))

    @cached_property
    def by_family(self) -> dict[Family, int]:
        """Cycles per instruction family, in the order of `Family`."""
        totals: Counter[Enum] = Counter()
        for kind, times, cycles in zip(self.program.by_kind.kinds, self.times, self.cycles_of_kinds, strict=True):
            totals[kind.declaration.family] += times * cycles
        return {family: totals[family] for family in Family if totals[family]}

    @cached_property
    def by_line(self) -> dict[SourceLine | None, int]:
        """Cycles per source line, in program order; under None those without a source line."""
        totals: Counter[SourceLine | None] = Counter()
        for index, cycles in enumerate(self._spent):
            totals[self.program.line_at(index)] += cycles
        return _ByLine(totals)

    @cached_property
    def by_routine(self) -> dict[str, RoutineUse]:
        """Use of each executed routine; the main program is ``(main)``."""
        own: Counter[str] = Counter()
        for address, cycles in zip(self.program.addresses, self._spent, strict=True):
            if cycles:
                routine = self.program.routine_at(address)
                own[routine.name if routine else "(main)"] += cycles
        uses = {"(main)": RoutineUse("(main)", 1, own["(main)"], self.cycles)}
        for name, (calls, total) in self.routine_cycles.items():
            uses[name] = RoutineUse(name, calls, own[name], total)
        return uses

    @cached_property
    def by_stage(self) -> dict[str, int]:
        """Cycles from each MARK to the next, added up by name.

        ``(before)`` is the part before the first MARK, ``(all)`` a stream without MARK.
        """
        totals: dict[str, int] = {}
        for (name, start), (_, end) in pairwise(stage_marks(self.stages, self.cycles)):
            if name not in (ALL, BEFORE) or end > start:
                totals[name] = totals.get(name, 0) + end - start
        return totals

    @cached_property
    def waits_by_stage(self) -> dict[str, dict[str, int]]:
        """Waits of each stage of `by_stage`, by reason; only stages that waited."""
        totals: dict[str, dict[str, int]] = {}
        names = [name for name, _ in stage_marks(self.stages, self.cycles)]
        for (stage, reason), cycles in sorted(self.stage_waits.items()):
            if cycles:
                waits = totals.setdefault(names[stage + 1], {})
                waits[reason] = waits.get(reason, 0) + cycles
        return totals


class _ByStage(Protocol):
    """A run, or a summary of one."""

    @property
    def by_stage(self) -> Mapping[str, int]: ...


def stages_of(runs: Iterable[_ByStage]) -> dict[str, int]:
    """Return the cycles of each stage over several runs, in order of first execution."""
    totals: Counter[str] = Counter()
    for run in runs:
        totals.update(run.by_stage)
    return dict(totals)


@dataclass(frozen=True, slots=True, repr=False)
class UntimedRun(Shown):
    """The account of one stream of a function-only run, without cycles."""

    program: Program
    engine: str
    stream: str
    executed: tuple[int, ...]
    """Execution count of each instruction of ``program.instructions``."""
    stages: tuple[str, ...]
    """MARKs in order of execution."""
    calls: dict[str, int]
    """Calls of each routine."""
    moved: dict[str, int]
    """Bytes of data moved, by way (`transfer.WAYS`), for both streams together."""
    reason: str = "halt"
    """Why the run ended: ``halt``, or the reason why it was stopped."""
    beside: UntimedRun | None = None
    """The account of the texture stream of the same run."""

    def __repr__(self) -> str:
        name, count = self.program.name, self.instructions
        return f"UntimedRun({name!r}, {self.stream}, {count} instructions, no time simulated, engine {self.engine})"

    def report(self) -> Report:
        """Return the executed instructions, stages and calls, and the bytes moved."""
        tables = (
            plain_table(("stream", "instructions"), tuple((each.stream, each.instructions) for each in self.streams)),
            plain_table(("stage", "times"), tuple(self.by_stage.items())),
            plain_table(("routine", "calls"), tuple(self.calls.items())),
            plain_table(("instruction", "times"), tuple(self.by_mnemonic.items())),
            plain_table(("moved from, to", "bytes"), tuple((way, count) for way, count in self.moved.items() if count)),
        )
        facts = (
            ("program", f"{self.program.name or '(without a name)'} ({self.program.sha256[:12]})"),
            ("engine", self.engine),
            ("time", "none was simulated"),
            *((("ended by", self.reason),) if self.reason != "halt" else ()),
        )
        total = sum(each.instructions for each in self.streams)
        return overview(f"function-only run of {counted(total, 'instruction')}", facts, tables)

    @property
    def streams(self) -> tuple[UntimedRun, ...]:
        """This account and that of the texture stream."""
        return (self,) if self.beside is None else (self, self.beside)

    @property
    def instructions(self) -> int:
        """Instructions executed, control included."""
        return sum(self.executed)

    @property
    def by_mnemonic(self) -> dict[str, int]:
        """Execution counts by mnemonic, the most frequent first."""
        totals: Counter[str] = Counter()
        for instruction, times in zip(self.program.instructions, self.executed, strict=True):
            totals[instruction.declaration.mnemonic] += times
        return {mnemonic: times for mnemonic, times in totals.most_common() if times}

    @property
    def by_stage(self) -> dict[str, int]:
        """Counts of the stages, in the order of their first MARK."""
        return dict(Counter(self.stages))


# From a run to its account.


Key = TypeVar("Key")


def account(runner: Clocked, config: NodeConfig, engine: str) -> Run:
    """Return the account of a run that has ended; raises InternalError unless it is complete."""
    ledger = ledger_of(runner)
    ledger.check()
    for stream in runner.streams.values():
        stream.check_account()
    return _account(runner, config, engine, ledger=ledger)


def unfinished_account(runner: Clocked, config: NodeConfig, engine: str, reason: str) -> Run:
    """Return the account of a run that was stopped; its ledger need not balance.

    Open waits last up to the cycle in which the run was stopped.
    """
    for stream in runner.streams.values():
        stream.settle()
    return _account(runner, config, engine, reason=reason, waits=runner.open_waits())


def _account(
    runner: Clocked,
    config: NodeConfig,
    engine: str,
    *,
    reason: str = "halt",
    ledger: Ledger | None = None,
    waits: Mapping[str, OpenWait] = MappingProxyType({}),
) -> Run:
    """Return the account of the first stream of a run, with that of the other in ``beside``."""
    beside: Run | None = None
    for stream in reversed(runner.streams.values()):
        last = waits.get(stream.name, OpenWait("", 0))
        cycles = stream.cycle + last.cycles
        stage = (len(stream.stages) - 1, last.reason)
        beside = Run(
            program=stream.program,
            engine=engine,
            cycles=cycles,
            executed=tuple(stream.executed),
            cycles_of_kinds=stream.sequencer.cycles_of_kinds,
            stages=tuple(stream.stages),
            routine_cycles=dict(stream.routine_cycles),
            seconds_at_clock=config.seconds(cycles),
            stream=stream.name,
            reason=reason,
            waits=_with(stream.waits, last.reason, last.cycles),
            stage_waits=_with(stream.stage_waits, stage, last.cycles),
            beside=beside,
            delivered=None if stream.supply is None else stream.supply.delivered,
        )
    assert beside is not None, "a run has a stream"
    return replace(beside, ledger=ledger, tasic_cycles=runner.tasic_cycles, gni_cycles=runner.gni_cycles)


def _with(waits: Mapping[Key, int], reason: Key, cycles: int) -> dict[Key, int]:
    """Return waits with more cycles for a reason."""
    return {**waits, reason: waits.get(reason, 0) + cycles} if cycles else dict(waits)


def untimed_account(runner: AsSoonAsPossible, engine: str, reason: str = "halt") -> UntimedRun:
    """Return the account of a run without time, except for the bytes moved; raises InternalError unless it is complete.

    The account of a run that was stopped (any other ``reason``) need not balance.
    """
    for stream in runner.streams:
        if reason == "halt":
            stream.check_account()
        else:
            stream.settle()
    if reason == "halt":
        Ledger(signal_flows(runner.streams)).check()
    beside: UntimedRun | None = None
    for stream in reversed(runner.streams):
        beside = UntimedRun(
            program=runner.program,
            engine=engine,
            stream=stream.name,
            executed=tuple(stream.executed),
            stages=tuple(name for name, _ in stream.stages),
            calls={name: calls for name, (calls, _) in stream.routine_cycles.items()},
            moved={},
            reason=reason,
            beside=beside,
        )
    assert beside is not None, "a run has a stream"
    return beside


AnyRun = TypeVar("AnyRun", Run, UntimedRun)


NO_PROGRAM = Program(())
"""The program of an account that must not keep its program alive."""


def with_program(run: AnyRun, program: Program) -> AnyRun:
    """Return an account of this program with its tables copied."""
    if isinstance(run, UntimedRun):
        own = replace(run, program=program, calls=dict(run.calls), moved=dict(run.moved))
        return own if run.beside is None else replace(own, beside=with_program(run.beside, program))
    own = replace(
        run,
        program=program,
        routine_cycles=dict(run.routine_cycles),
        waits=dict(run.waits),
        stage_waits=dict(run.stage_waits),
        gni_cycles=dict(run.gni_cycles),
    )
    return own if run.beside is None else replace(own, beside=with_program(run.beside, program))
