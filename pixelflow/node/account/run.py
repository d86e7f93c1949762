"""What a run took, from how often each instruction executed. Every count is the sum of declared steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Protocol

from pixelflow.isa import ALL, BEFORE, Family, Program, SourceLine
from pixelflow.node.account.ledger import Ledger
from pixelflow.node.account.timeline import stage_figures, stage_marks
from pixelflow.node.run.costs.words import ProgramWords, words_of
from pixelflow.simd.report import Report, Shown, Table, counted, overview, plain_table

__all__ = ["RoutineUse", "Run", "stages_of"]

_LINES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class RoutineUse:
    """How often a routine was called, and its cycles: its own instructions, and with the routines it called."""

    name: str
    calls: int
    own_cycles: int
    total_cycles: int


class _ByLine(dict[SourceLine | None, int]):
    """Cycles by source line; a long one shows those that took most."""

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
    """How often each instruction of ``program.instructions`` was executed."""
    cycles_each: tuple[int, ...]
    """Cycles of one execution of each instruction."""
    stages: tuple[tuple[str, int], ...]
    """MARKs in the order they were met: (name, cycle)."""
    routine_cycles: dict[str, tuple[int, int]]
    seconds_at_clock: float
    stream: str = "eigc"
    reason: str = "halt"
    """Why the run ended: ``halt``, or what stopped it: see `RunEnded`."""
    waits: dict[str, int] = field(default_factory=dict)
    """Cycles in which the stream did nothing of its own, by reason: ``sem N``, or ``transfer`` for the TIGC."""
    stage_waits: dict[tuple[int, str], int] = field(default_factory=dict)
    """The same by stage: its position in ``stages`` (-1 before the first), and the reason."""
    ledger: Ledger | None = None
    """What the run moved between the streams and on the ports; for both streams together."""
    beside: Run | None = None
    """The account of the texture stream that ran beside this one."""
    gni_cycles: dict[str, int] = field(default_factory=dict)
    """Cycles in which paths out of the GNI were busy: ``store0`` to the memory of GP 0, ``from_gni2`` to module 2."""
    tasic_cycles: tuple[int, ...] = ()
    """For each module, cycles from the first access to the last byte of its texture transfers."""

    delivered: int | None = None
    """Words of instructions that were sent to the IGC; None where they are there at once (`igc.supply`)."""
    repeated: bool = field(default=False, compare=False)
    """Whether the times are those of an earlier run of the program, which did the same (`score.py`)."""

    def __repr__(self) -> str:
        name = self.program.name
        return f"Run({name!r}, {self.stream}, {self.cycles} cycles, {self.reason}, engine {self.engine})"

    def report(self) -> Report:
        """Return the cycles of the streams, and where those of this one went."""
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
        """This account and the one beside it."""
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
    def busy(self) -> int:
        """Cycles of the instructions executed; with the waits they are all the cycles."""
        return sum(self._spent)

    @cached_property
    def instructions(self) -> int:
        """Instructions executed, control included."""
        return sum(self.executed)

    @cached_property
    def microinstructions(self) -> int:
        """Instructions executed that took at least one cycle."""
        return sum(n for n, cycles in zip(self.executed, self.cycles_each, strict=True) if cycles)

    @cached_property
    def _spent(self) -> tuple[int, ...]:
        return tuple(n * cycles for n, cycles in zip(self.executed, self.cycles_each, strict=True))

    @cached_property
    def by_family(self) -> dict[Family, int]:
        """Cycles per instruction family, in the order of `Family`."""
        totals: Counter[Family] = Counter()
        families = self.program.by_kind.each(lambda each: each.declaration.family)
        for family, cycles in zip(families, self._spent, strict=True):
            totals[family] += cycles
        return {family: totals[family] for family in Family if totals[family]}

    @cached_property
    def by_line(self) -> dict[SourceLine | None, int]:
        """Cycles per source line, in program order; None holds what has no source line."""
        totals: Counter[SourceLine | None] = Counter()
        for index, cycles in enumerate(self._spent):
            totals[self.program.line_at(index)] += cycles
        return _ByLine(totals)

    @cached_property
    def by_routine(self) -> dict[str, RoutineUse]:
        """Use of each routine that ran, the main program under the name ``(main)``."""
        own: Counter[str] = Counter()
        for address, cycles in zip(self.program.addresses, self._spent, strict=True):
            routine = self.program.routine_at(address)
            own[routine.name if routine else "(main)"] += cycles
        uses = {"(main)": RoutineUse("(main)", 1, own["(main)"], self.cycles)}
        for name, (calls, total) in self.routine_cycles.items():
            uses[name] = RoutineUse(name, calls, own[name], total)
        return uses

    @cached_property
    def by_stage(self) -> dict[str, int]:
        """Cycles from each MARK to the next; a name that comes again adds up.

        What precedes the first is named ``(before)``, and all cycles of a stream without MARK ``(all)``.
        """
        totals: dict[str, int] = {}
        for (name, start), (_, end) in pairwise(stage_marks(self.stages, self.cycles)):
            if name not in (ALL, BEFORE) or end > start:
                totals[name] = totals.get(name, 0) + end - start
        return totals

    @cached_property
    def waits_by_stage(self) -> dict[str, dict[str, int]]:
        """Of the cycles of `by_stage`, those spent waiting, by reason; only stages that waited."""
        totals: dict[str, dict[str, int]] = {}
        names = [name for name, _ in stage_marks(self.stages, self.cycles)]
        for (stage, reason), cycles in sorted(self.stage_waits.items()):
            if cycles:
                waits = totals.setdefault(names[stage + 1], {})
                waits[reason] = waits.get(reason, 0) + cycles
        return totals


class _Staged(Protocol):
    """A run, or what tells of one."""

    @property
    def by_stage(self) -> Mapping[str, int]:
        """Cycles of each stage."""


def stages_of(runs: Iterable[_Staged]) -> dict[str, int]:
    """Return the cycles of each stage over several runs, in the order in which the stages first came."""
    totals: Counter[str] = Counter()
    for run in runs:
        totals.update(run.by_stage)
    return dict(totals)
