"""Run of a program: threads executed side by side, then scheduled on units, and the account of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.isa.declarations import EuFamily, EuInstruction
from gen6_bridge.isa.execution import FloatRules
from gen6_bridge.isa.operands import GRF_REGISTERS, REGISTER_BYTES, VXH, EuMessage, ImmediateOperand, Source
from gen6_bridge.program import EuProgram
from gen6_bridge.time.config import EuConfig, unsupported
from gen6_bridge.time.dependences import dependences
from gen6_bridge.time.schedule import Account, CarriedStep, Carrier, ThreadAccount, ThreadTraces, Watcher, schedule
from gen6_bridge.unit import GATES, LONGEST, ChannelCounts, ExecutionUnit, RunFunctions, SharedFunctions, dispatched
from gen6_bridge.unit.messages import TARGET_NAMES
from pixelflow.caveats import coded, resting_on
from pixelflow.simd.attendance import Attendance
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import (
    Column,
    Json,
    Part,
    Report,
    Shown,
    Table,
    Timeline,
    TimeSpan,
    counted,
    largest,
    number,
    shares,
    verbatim,
)

# Usage: kinds of regions, banks of registers, bytes sent.


_BANKS = ("even", "odd")


@dataclass(slots=True)
class Usage:
    """Regions, banks and bytes of a run, counted over all executed instructions."""

    regions: Counter[str] = field(default_factory=Counter)
    """Sources by kind."""
    read: Counter[str] = field(default_factory=Counter)
    """General registers read, by bank."""
    written: Counter[str] = field(default_factory=Counter)
    sent: Counter[int] = field(default_factory=Counter)
    """Bytes of messages and answers, by target."""


def region_kind(source: Source) -> str:
    """Return the kind of a source's region."""
    if isinstance(source, ImmediateOperand):
        return "immediate"
    if source.address is not None:
        return "by a row's own address" if source.vertical == VXH else "indirect"
    if source.swizzle is not None:
        return "swizzled"
    if source.scalar:
        return "scalar"
    if source.horizontal == 1 and source.vertical == source.width:
        return "packed"
    if source.vertical == source.width * source.horizontal:
        return "strided"
    return "two-dimensional"


def usage_of(instructions: Sequence[EuInstruction], traces: Sequence[Sequence[CarriedStep]], config: EuConfig) -> Usage:
    """Return the usage of threads that executed these steps."""
    counts: Counter[int] = Counter(step.number for steps in traces for step in steps)
    usage = Usage()
    for number, count in counts.items():
        instruction, known = instructions[number], dependences(instructions[number], config)
        for source in instruction.sources:
            if isinstance(source, ImmediateOperand) or not source.null:
                usage.regions[region_kind(source)] += count
        for registers, counter in ((known.reads, usage.read), (known.writes | known.answers, usage.written)):
            for register in registers:
                if register < GRF_REGISTERS:
                    counter[_BANKS[register % 2]] += count
        for operand in instruction.operands:
            if isinstance(operand, EuMessage):
                size = (operand.length + operand.response) * REGISTER_BYTES
                usage.sent[instruction.controls.selector] += count * size
    return usage


_MOST_ROWS = 5
"""Rows of a table in a brief."""
_MOST_DRAWN = 24
"""Threads that the figure of a run has room for."""


class EuRun(Shown):
    """Threads of a program that have ended: their registers, and their account on execution units."""

    def __init__(self, program: EuProgram, unit: ExecutionUnit, traces: ThreadTraces, channels: ChannelCounts) -> None:
        self.program, self.unit, self.traces, self.channels = program, unit, traces, channels
        self.config = EuConfig()
        self.reason = "halt"

    def timed(
        self,
        config: EuConfig,
        watcher: Watcher | None = None,
        carrier: Carrier | None = None,
        attendance: Attendance | None = None,
    ) -> EuRun:
        """Schedule the threads with a configuration and return the run; raises CycleLimitError."""
        self.config = config

        def come(cycle: int, number: int) -> None:
            if attendance is not None:
                attendance.come(cycle, number)
                attendance.check(cycle)

        if attendance is not None:
            attendance.counted = "cycle"
        self.account: Account = schedule(
            self.program.code, self.traces.steps, config, watcher=watcher, carrier=carrier, come=come
        )
        """Account of the schedule."""
        return self

    @property
    def cycles(self) -> int:
        """Until the last issue of the last thread ends."""
        return self.account.cycles

    @property
    def total_cycles(self) -> int:
        """As `cycles`; every run has it for subscribers."""
        return self.cycles

    @cached_property
    def mix(self) -> dict[EuFamily, int]:
        """Instructions of all threads by family; families without any are left out."""
        families = [each.declaration.family for each in self.program.code]
        counts = Counter(families[step.number] for steps in self.traces.steps for step in steps)
        return {family: counts[family] for family in EuFamily if counts[family]}

    @cached_property
    def usage(self) -> Usage:
        """Regions, banks and bytes of messages, over all threads."""
        return usage_of(self.program.code, self.traces.steps, self.config)

    def register(self, name: str) -> NDArray[np.uint32]:
        """Return a general register of thread 0 as eight double words; raises InputError for another name."""
        if name[:1] not in ("g", "r") or not name[1:].isdigit() or int(name[1:]) > 127:
            raise InputError(Fault(f"there is no register {name}", hint="g0..g127"))
        words: NDArray[np.uint32] = self.unit.general[0, int(name[1:])].view(np.uint32)
        return words.copy()

    def report(self) -> Report:
        """Return cycles, waits, instruction mix and usage."""
        account, channels = self.account, self.channels
        total = sum(self.mix.values())
        mix = [(family.value, count, f"{count / total:.0%}") for family, count in self.mix.items()]
        waits = sum((each.waited for each in account.threads), start=Counter[str]())
        causes = sorted({*waits, *account.idle})
        broken = [f"{rule} in {len(numbers)}" for rule, numbers in self._broken().items()]
        lines: list[Part] = [
            f"{self.program.name}: {counted(self.unit.threads, 'thread')} on {counted(self.config.units, 'unit')};"
            f" sha256 {self.program.sha256[:12]}",
            "",
            Table(
                (Column("all threads"), Column("count", number)),
                [
                    ("cycles until the last issue ends", self.cycles),
                    ("instructions", account.issued),
                    ("switches of threads", account.switches),
                    ("cycles that the vector pipes are held", account.held["fpu"]),
                    ("cycles that the math units are held", account.held["math"]),
                    ("sources of one instruction in one bank", account.banked),
                    ("lines fetched", account.fetches),
                    ("of them not in the first level", account.l1_misses),
                    ("of them not in the second", account.l2_misses),
                    *(
                        (f"messages to {TARGET_NAMES.get(each, each)}", count)
                        for each, count in account.messages.items()
                    ),
                    *(
                        (f"cycles that {TARGET_NAMES.get(each, each)} is held", held)
                        for each, held in account.served.items()
                    ),
                ],
            ),
            "",
            Table(
                (Column("waiting for"), Column("cycles of threads", number), Column("cycles of idle units", number)),
                [(cause, waits[cause], account.idle[cause]) for cause in causes],
            ),
            "",
            Table((Column("instructions"), Column("count", number, bars=True), Column("share", verbatim)), mix),
            f"channels enabled: {channels.efficiency:.1%} of {channels.possible:,}; not for "
            + ", ".join(f"{gate} {channels.taken[gate]:,}" for gate in GATES),
            f"share of cycles that the vector pipe is held: {account.utilisation():.1%}",
            f"sources: {_counts(self.usage.regions)}",
            f"registers read: {_counts(self.usage.read)}; written: {_counts(self.usage.written)}",
            f"rules of legality that are broken: {', '.join(broken) or 'none'}",
            "",
            f"{coded('no source on the machine gives', 'PF101')}: {', '.join(unsupported(self.config))}",
        ]
        work = f"{counted(account.issued, 'instruction')} of {counted(self.unit.threads, 'thread')}"
        most_waits, most_mix = largest(waits, _MOST_ROWS), {family.value: count for family, count in self.mix.items()}
        brief: list[Part] = [
            f"{self.program.name}: {counted(self.cycles, 'cycle')}, {work} on {counted(self.config.units, 'unit')}",
            f"vector pipe held {account.utilisation():.1%} of the cycles; channels enabled {channels.efficiency:.1%}",
            *(("", shares(most_waits, "cycles of threads", "waiting for")) if most_waits else ()),
            "",
            shares(largest(most_mix, _MOST_ROWS), "count", "instructions"),
            *([f"rules of legality that are broken: {', '.join(broken)}"] if broken else []),
            "",
            resting_on(len(unsupported(self.config)), "gen6"),
        ]
        return Report(
            parts=lines,
            brief=brief,
            schema="pixelflow.gen6-run/1",
            data=self._object(),
            figures=_timeline(account.threads),
        )

    def _broken(self) -> dict[str, list[int]]:
        broken: dict[str, list[int]] = {}
        for at, rules in self.program.broken.items():
            for rule in rules:
                broken.setdefault(rule, []).append(at)
        return broken

    def _object(self) -> dict[str, Json]:
        account, channels = self.account, self.channels
        threads: list[Json] = [_thread(each) for each in account.threads]
        return {
            "program": {"name": self.program.name, "sha256": self.program.sha256},
            "cycles": self.cycles,
            "instructions": account.issued,
            "issued": dict(channels.issued),
            "mix": {family.value: count for family, count in self.mix.items()},
            "held": dict(account.held),
            "idle": dict(account.idle),
            "switches": account.switches,
            "messages": {str(target): count for target, count in account.messages.items()},
            "served": {str(target): held for target, held in account.served.items()},
            "fetches": {"lines": account.fetches, "l1_misses": account.l1_misses, "l2_misses": account.l2_misses},
            "channels": {"possible": channels.possible, "enabled": channels.enabled, "taken": dict(channels.taken)},
            "rules_broken": dict(self._broken()),
            "regions": dict(self.usage.regions),
            "registers": {"read": dict(self.usage.read), "written": dict(self.usage.written)},
            "bytes": {str(target): count for target, count in self.usage.sent.items()},
            "threads": threads,
            "invented": unsupported(self.config),
        }


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counter.items())) or "none"


def _timeline(threads: Sequence[ThreadAccount]) -> tuple[Timeline, ...]:
    """Return a chart of the first threads from dispatch to end; none of a single thread."""
    if len(threads) < 2:
        return ()
    lanes = [
        (
            f"thread {number}, unit {each.unit}",
            [TimeSpan(f"unit {each.unit}", each.begin, each.end, min(each.waited.total(), each.end - each.begin))],
        )
        for number, each in enumerate(threads[:_MOST_DRAWN])
        if each.end > each.begin
    ]
    left = f", the first {_MOST_DRAWN} of {len(threads)}" if len(threads) > _MOST_DRAWN else ""
    return (Timeline(f"threads in time{left}", lanes),)


def _thread(account: ThreadAccount) -> dict[str, Json]:
    waited = dict(account.waited)
    return {
        "unit": account.unit,
        "begin": account.begin,
        "end": account.end,
        "issued": account.issued,
        "waited": waited,
    }


def execute(
    program: EuProgram,
    config: EuConfig,
    functions: SharedFunctions | None = None,
    attendance: Attendance | None = None,
) -> EuRun:
    """Execute a program's threads and return the run, not yet scheduled; raises MachineFault and CycleLimitError.

    Messages go to ``functions``, by default `RunFunctions`. The limit of ``attendance`` also bounds the instructions
    of a thread, which issues at most one a cycle.
    """
    attended = attendance or Attendance()
    attended.where, attended.counted = program.where, "instruction"

    def come(done: int, number: int) -> None:
        attended.come(done, number)
        attended.check(done + 1)

    unit = dispatched(
        program, config.count, config.channels, FloatRules(config.fused, config.flushes), functions or RunFunctions()
    )
    traces, channels = ThreadTraces(unit), ChannelCounts(unit)
    unit.run(_Both(traces, channels), LONGEST if attended.limit is None else attended.limit, come=come)
    return EuRun(program, unit, traces, channels)


@dataclass(frozen=True, slots=True)
class _Both:
    """Two subscribers as one."""

    traces: ThreadTraces
    channels: ChannelCounts

    def __call__(self, number: int, active: NDArray[np.bool_]) -> None:
        self.traces(number, active)
        self.channels(number, active)

    def stretch(self, first: int, past: int, active: NDArray[np.bool_]) -> None:
        self.traces.stretch(first, past, active)
        self.channels.stretch(first, past, active)
