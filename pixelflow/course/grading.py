"""The grade of a solution: is the state right in every PE, and is it fast enough; if not, where and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS
from pixelflow.course.exercises import EXERCISES
from pixelflow.course.task import Exercise, Mistake, Values
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from pixelflow.node.pe_report import position
from pixelflow.simd.errors import Fault, InputError, SimulatorError, must_be
from pixelflow.simd.report import Column, Fact, Part, Report, Shown, Table, counted, number, verbatim

__all__ = ["Grade", "GradeReport", "grade"]

_SEEDS = (1995, 1997)
"""Two sets of data, so that no table of answers passes."""
_PATIENCE = 100
"""Times the budget after which a solution is stopped."""
_MOST_MISTAKES = 8
_MOST_LINES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Grade(Shown):
    """What came of a solution: nothing wrong, or the reasons why it does not pass."""

    exercise: Exercise
    source: str
    reasons: tuple[str, ...] = ()
    cycles: int | None = None
    """Of both streams together; None where the run did not end."""
    mistakes: tuple[Mistake, ...] = ()
    """The first of the bytes that are wrong, by PE."""
    wrong_pes: int = 0
    run: Run | None = None

    @property
    def passed(self) -> bool:
        """True where nothing is wrong."""
        return not self.reasons

    def __repr__(self) -> str:
        result = "passed" if self.passed else f"failed: {self.reasons[0]}"
        return f"Grade({self.exercise.name!r}, {result})"

    def report(self) -> Report:
        """Return the result with its reasons: which PE, which byte, expected and found; cycles and where they went."""
        parts: list[Part] = [
            Fact("passed" if self.passed else "failed", "result", "result.passed", self.passed),
            Fact(self._cycles_text, "cycles", "result.cycles", self.cycles),
            Fact(None, key="result.budget", value=self.exercise.budget),
            Fact(None, key="result.reasons", value=list(self.reasons)),
            Fact(None, key="result.wrong_pes", value=self.wrong_pes),
            *(Fact(reason, "reason") for reason in self.reasons),
            *self._mistakes(),
            *self._slow_lines(),
        ]
        subject = (f"{self.exercise.number} {self.exercise.name}: {self.exercise.title}", self.source)
        return Report("grade", subject, parts, schema="pixelflow.grade/1", data={"exercise": self.exercise.name})

    @property
    def _cycles_text(self) -> str:
        allowed = f"{number(self.exercise.budget)} allowed"
        return f"not known, {allowed}" if self.cycles is None else f"{number(self.cycles)} of {allowed}"

    def _mistakes(self) -> list[Part]:
        if not self.mistakes:
            return []
        columns = [
            Column("PE", verbatim, "pe"), Column("m.e.p.pe", key="position", fixed=True),
            Column("x", number, "x"), Column("y", number, "y"), Column("byte", key="byte", fixed=True),
            Column("expected", _hexadecimal, "expected"), Column("found", _hexadecimal, "found"),
            Column("the PE was given", key="given", optional=True),
        ]  # fmt: skip
        rows = [
            (
                str(each.lane), position(each.lane, THESIS.array), each.x, each.y, f"{each.range}[{each.byte}]",
                each.expected, each.found, ", ".join(f"{name} = {value:#x}" for name, value in each.given.items()),
            )
            for each in self.mistakes
        ]  # fmt: skip
        return ["", Table(columns, rows, key="mistakes")]

    def _slow_lines(self) -> list[Part]:
        """Return where the cycles went, of a solution that takes too many."""
        if self.run is None or self.cycles is None or self.cycles <= self.exercise.budget:
            return []
        spent = [(line, n) for each in self.run.streams for line, n in each.by_line.items() if line and n]
        most = sorted(spent, key=lambda item: -item[1])[:_MOST_LINES]
        columns = [Column("cycles", number, "cycles"), Column("line", number, "line"), Column("source", key="source")]
        return ["", Table(columns, [(n, line.line, line.text.strip()) for line, n in most], key="lines")]


@dataclass(frozen=True, slots=True, eq=False)
class GradeReport(Shown):
    """Several grades under each other."""

    grades: Sequence[Grade]

    def report(self) -> Report:
        """Return one row for each, then what is wrong with those that failed."""
        columns = [
            Column("file", key="file"), Column("exercise", key="exercise"), Column("result", key="result", fixed=True),
            Column("cycles", number, "cycles"), Column("allowed", number, "budget"), Column("reason", key="reason"),
        ]  # fmt: skip
        rows = [
            (
                each.source, each.exercise.name, "passed" if each.passed else "failed",
                each.cycles, each.exercise.budget, "; ".join(each.reasons),
            )
            for each in self.grades
        ]  # fmt: skip
        failed = sum(not each.passed for each in self.grades)
        foot = Fact(f"{len(self.grades) - failed} of {len(self.grades)} passed", key="failed", value=failed)
        return Report("grades", parts=[Table(columns, rows, key="grades"), "", foot], schema="pixelflow.grades/1")


def _hexadecimal(value: int) -> str:
    return f"0x{value:02x}"


def grade(program: Program, exercise: str | Exercise, *, source: str = "", engine: str = "auto") -> Grade:
    """Run a solution on the thesis machine with two sets of data and compare every PE.

    ``program`` is what the student's source assembles to, ``source`` its name for the report. A run that a fault, a
    deadlock or too many cycles stop fails with that as the reason. Raises InputError for an exercise that is not there.
    """
    must_be(program, Program, "a Program", "assemble(FILE) makes one")
    if not isinstance(exercise, Exercise):
        if exercise not in EXERCISES:
            raise InputError(Fault(f"there is no exercise {exercise!r}", hint=f"exercises: {', '.join(EXERCISES)}"))
        exercise = EXERCISES[exercise]
    source = source or program.name
    found = Grade(exercise, source, _declarations(program, exercise))
    for seed in _SEEDS:
        if found.passed:
            found = _trial(program, exercise, source, seed, engine)
    return found


def _declarations(program: Program, exercise: Exercise) -> tuple[str, ...]:
    """Return which ranges of the task the program lacks, or has in another size."""
    sizes = {each.name: each.size for each in program.ranges}
    return tuple(
        f"range {name}[{size}] is missing" if name not in sizes else f"range {name} has {sizes[name]} bytes, not {size}"
        for name, size in exercise.ranges.items()
        if sizes.get(name) != size
    )


def _trial(program: Program, exercise: Exercise, source: str, seed: int, engine: str) -> Grade:
    node = Node(engine=engine)
    node.load(program)
    given = exercise.given(np.random.default_rng(seed), node.lanes)
    for name, values in given.items():
        node[f"{name}:word"] = values
    x, y = node.coordinates()
    try:
        run = node.run(program, max_cycles=_PATIENCE * exercise.budget)
    except SimulatorError as error:
        return Grade(exercise, source, (f"the run was stopped: {str(error).splitlines()[0]}",))
    mistakes, wrong = _mistakes_of(node, exercise, given, x, y)
    reasons = []
    if wrong:
        first = mistakes[0]
        what = f"PE {first.lane} has {first.range}[{first.byte}] = {first.found:#04x}, expected {first.expected:#04x}"
        reasons.append(f"{counted(wrong, 'PE')} of {number(node.lanes)} wrong: {what}")
    disabled = node.lanes - int(node.flag("E").sum())
    if disabled:
        reasons.append(f"{counted(disabled, 'PE')} disabled at the end")
    over = run.total_cycles - exercise.budget
    if over > 0:
        reasons.append(f"{counted(over, 'cycle')} over the budget of {number(exercise.budget)}")
    return Grade(exercise, source, tuple(reasons), run.total_cycles, mistakes, wrong, run)


def _mistakes_of(
    node: Node, exercise: Exercise, given: Values, x: np.ndarray, y: np.ndarray
) -> tuple[tuple[Mistake, ...], int]:
    """Return the first wrong bytes, in the order of the PEs, and how many PEs have one."""
    wrong: list[Mistake] = []
    for name, values in exercise.expected(given, x, y).items():
        for byte, found in enumerate(node[f"{name}:bytes"]):
            expected = values >> 8 * byte & 0xFF
            for lane in np.flatnonzero(expected != found).tolist():
                place = (lane, int(x[lane]), int(y[lane]))
                with_values = {each: int(drawn[lane]) for each, drawn in given.items()}
                wrong.append(Mistake(*place, name, byte, int(expected[lane]), int(found[lane]), with_values))
    wrong.sort(key=lambda each: each.lane)
    return tuple(wrong[:_MOST_MISTAKES]), len({each.lane for each in wrong})
