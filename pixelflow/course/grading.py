"""The grade of a solution: is the state right in every PE, and is it fast enough; if not, where and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import THESIS
from pixelflow.course.exercises import Exercise, Mistake, Values, exercise_for
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from pixelflow.node.pe_report import position
from pixelflow.simd.errors import InputError, SimulatorError, format_error, must_be
from pixelflow.simd.report import Column, Fact, Part, Report, Shown, Table, counted, number, verbatim

_PATIENCE = 100
"""Times the budget after which a solution is stopped."""
_MOST_MISTAKES = 8


def _trial(program: Program, exercise: Exercise, source: str, seed: int, engine: str) -> Grade:
    """Run a program on the data of a seed, in a machine whose memory holds anything, and compare every PE.

    Memory is random before the program's own data sections and the exercise's values come into it, and ranges for
    results are random after them, so that neither cleared memory nor a data section is an answer.
    """
    node = Node(engine=engine)
    rng = np.random.default_rng(seed)
    given = exercise.given(rng, node.lanes)
    node.write_memory(0, _random(rng, node.config.array.memory_bytes, node.lanes))
    node.load(program)
    for name, size in exercise.ranges.items():
        if name not in given:
            node[f"{name}:bytes"] = _random(rng, size, node.lanes)
    for name, values in given.items():
        node[f"{name}:word"] = values
    start, (x, y) = node.memory, node.coordinates()
    try:
        run = node.run(program, max_cycles=_PATIENCE * exercise.budget)
    except SimulatorError as error:
        said = "; ".join(line.strip() for line in str(error).splitlines())
        return Grade(exercise, source, (f"the run was stopped: {said}",), start=start)
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
    return Grade(exercise, source, tuple(reasons), mistakes, wrong, _notes(run) if wrong else (), run, start)


def _random(rng: np.random.Generator, size: int, lanes: int) -> NDArray[np.uint8]:
    return rng.integers(0, 256, (size, lanes), np.uint8)


def _notes(run: Run) -> tuple[str, ...]:
    """Return a note for every semaphore with signals left at the end: a stream did not wait for them."""
    flows = {} if run.ledger is None else run.ledger.signals
    return tuple(
        f"semaphore {semaphore} holds {counted(flow.left, 'signal')} at the end: is a WAIT {semaphore} missing?"
        for semaphore, flow in flows.items()
        if flow.left
    )


def _mistakes_of(
    node: Node, exercise: Exercise, given: Values, x: NDArray[np.int64], y: NDArray[np.int64]
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


_SEEDS = (1995, 1997)
"""Two sets of data, so that no table of answers passes."""
_MOST_LINES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Grade(Shown):
    """Result of a solution: nothing wrong, or the reasons why it does not pass."""

    exercise: Exercise | None
    """None where the file names no exercise."""
    source: str
    reasons: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    """The first of the bytes that are wrong, by PE."""
    wrong_pes: int = 0
    notes: tuple[str, ...] = ()
    """Hints at the cause."""
    run: Run | None = None
    """None where something stopped it."""
    start: NDArray[np.uint8] | None = None
    """Memory of all PEs before the run that decided, uint8[bytes, lanes]; None where nothing was run."""
    refusal: str | None = None
    """Why there was nothing to grade, in full; ``reasons`` has it in one line."""

    @property
    def passed(self) -> bool:
        """True where nothing is wrong."""
        return not self.reasons

    @property
    def cycles(self) -> int | None:
        """Of both streams together; None where the run did not end."""
        return None if self.run is None else self.run.total_cycles

    @property
    def result(self) -> str:
        """``passed``, ``failed``, or ``not graded`` where the file could not be used."""
        return "passed" if self.passed else "failed" if self.refusal is None else "not graded"

    def __repr__(self) -> str:
        name = None if self.exercise is None else self.exercise.name
        return f"Grade({name!r}, {self.result if self.passed else f'{self.result}: {self.reasons[0]}'})"

    def report(self) -> Report:
        """Return the result with its reasons: which PE, which byte, expected and found; cycles and where they went."""
        reasons = [*self.reasons] if self.refusal is None else [self.refusal]
        parts: list[Part] = [
            Fact(self.result, "result", "result.passed", self.passed),
            *self._cycles(),
            Fact(None, key="result.reasons", value=list(self.reasons)),
            Fact(None, key="result.notes", value=list(self.notes)),
            Fact(None, key="result.wrong_pes", value=self.wrong_pes),
            *(Fact(reason, "reason", wrap="\n" not in reason) for reason in reasons),
            *(Fact(note, "perhaps") for note in self.notes),
            *self._mistakes(),
            *self._slow_lines(),
        ]
        about = self.exercise
        subject = ("" if about is None else f"{about.number} {about.name}: {about.title}", self.source)
        data = {"exercise": None if about is None else about.name}
        return Report("grade", tuple(filter(None, subject)), parts, schema="pixelflow.grade/1", data=data)

    def _cycles(self) -> list[Part]:
        budget = None if self.exercise is None else self.exercise.budget
        known = "not known" if self.cycles is None else number(self.cycles)
        joined = ", " if self.cycles is None else " of "
        text = None if budget is None or self.refusal is not None else f"{known}{joined}{number(budget)} allowed"
        return [Fact(text, "cycles", "result.cycles", self.cycles), Fact(None, key="result.budget", value=budget)]

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
        if self.run is None or self.exercise is None or self.run.total_cycles <= self.exercise.budget:
            return []
        spent = [(line, n) for each in self.run.streams for line, n in each.by_line.items() if line and n]
        most = sorted(spent, key=lambda item: -item[1])[:_MOST_LINES]
        left = len(spent) - len(most)
        rest = sum(n for _, n in spent) - sum(n for _, n in most)
        more = [f"and {counted(rest, 'cycle')} in {counted(left, 'further line')}: pixelflow run FILE --profile"]
        columns = [Column("cycles", number, "cycles"), Column("line", number, "line"), Column("source", key="source")]
        table = Table(columns, [(n, line.line, line.text.strip()) for line, n in most], key="lines")
        return ["", table, *(more if left else [])]


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
                each.source, None if each.exercise is None else each.exercise.name, each.result, each.cycles,
                None if each.exercise is None else each.exercise.budget, "; ".join(each.reasons),
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

    ``program`` is what the student's source assembles to, ``source`` its name for the report. Memory of the PEs is
    random before a run, ranges for results included. A run that a fault, a deadlock or too many cycles stop fails with
    that as the reason. Raises InputError for an exercise that is not there.
    """
    must_be(program, Program, "a Program", "assemble(FILE) makes one")
    exercise = exercise if isinstance(exercise, Exercise) else exercise_for("", str(exercise))
    source = source or program.name
    found = Grade(exercise, source, _declarations(program, exercise))
    for seed in _SEEDS:
        if found.passed:
            found = _trial(program, exercise, source, seed, engine)
    return found


def not_graded(source: str, error: InputError, exercise: Exercise | None = None) -> Grade:
    """Return the grade of a file that cannot be graded: it does not assemble, or names no exercise."""
    first = error.faults[0]
    more = f" (and {counted(len(error.faults) - 1, 'error')} more)" if len(error.faults) > 1 else ""
    what = "not assembled: " if exercise is not None else "not graded: "
    at = "" if first.place is None or str(first.place) == source else f"{first.place}: "
    return Grade(exercise, source, (f"{what}{at}{first.message}{more}",), refusal=format_error(error))


def _declarations(program: Program, exercise: Exercise) -> tuple[str, ...]:
    """Return which ranges of the task the program lacks, or has in another size."""
    sizes = {each.name: each.size for each in program.ranges}
    return tuple(
        f"range {name}[{size}] is missing" if name not in sizes else f"range {name} has {sizes[name]} bytes, not {size}"
        for name, size in exercise.ranges.items()
        if sizes.get(name) != size
    )
