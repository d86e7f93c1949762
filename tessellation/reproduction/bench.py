"""Runs of the reproductions: passes, transfers and routines, each executed once per bench."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from microcode import Builder, Program, assemble
from pixelflow.config import THESIS, NodeConfig
from pixelflow.evidence import Basis, Bench, Derivation, Digits, Number, Reason, Remark, Row, RowVerdict
from pixelflow.node import Node, Run, WordUse, supply_of, words_of
from tessellation.host.session import Session
from tessellation.microprogram.method import FloatLibrary, Method, library_named
from tessellation.microprogram.passes import TextureControlPoints
from tessellation.plan.memory_map import memory_map
from tessellation.plan.schedule import Stage
from tessellation.reproduction.thesis import DIGITS, FIGURES, NOTES
from tessellation.surface.patch import Patch

ARITHMETIC = (Stage.POINTS, Stage.DERIVATIVES, Stage.NORMALS)
"""The stages counted in table 7."""

MARKS = "EMC_SetEnab\nEMC_MarkRead\nEMC_MarkWrite\nSIGNAL 0\nHALT"


class ThesisBench(Bench):
    """The thesis machine and the runs made on it during the life of the bench.

    All runs are timing-only: they take the cycles of full runs, because addresses, marks and data change none.
    """

    def __init__(self, watch: Callable[[Node], None] = lambda node: None) -> None:
        """``watch`` is called with every node before it runs."""
        super().__init__()
        self.config: NodeConfig = THESIS
        self._watch = watch
        self._placed: dict[tuple[int, ...], int] = {}

    def _run(self, node: Node, program: Program) -> Run:
        self._watch(node)
        run = node.run(program, function=False)
        self.executed[program.sha256, node.config.sha256] = words_of(run)
        program.analyses.clear()  # it runs once, and its account is kept
        return run

    def remarks(self) -> tuple[Remark, ...]:
        """Return the delivery that the words of all executed programs would need, each sent once."""
        uses = [each for each in self.executed.values() if isinstance(each, WordUse)]
        if not uses:
            return (Remark("delivery"),)
        delivery = supply_of(uses, self.config)
        return (Remark("delivery", f"instruction words: {delivery.amount}", delivery.as_object()),)

    def tessellation(
        self, n: int, sizes: tuple[int, ...] = (4,), schedule: str = "thesis", library: str = "plain"
    ) -> Run:
        """Return the account of a pass of n x n nets that fills the array with patches of these sample counts."""
        text = f"{n}x{n} net, {', '.join(f'{size}x{size}' for size in sizes)} samples, schedule {schedule}"
        return self.once((n, sizes, schedule, library), lambda: self._tessellation(n, sizes, schedule, library), text)

    def _tessellation(self, n: int, sizes: tuple[int, ...], schedule: str, library: str) -> Run:
        session = Session(self.config, "rows", library_named(library), Method(schedule=schedule))
        net = Patch(np.zeros((n, n, 3), np.float32))
        marked = {session.add(net, size): size for size in self._samples(sizes)}
        # Mixed sizes leave gaps, so the last few patches need a second pass.
        plan = session.plan(marked)[0]
        self._placed[sizes] = len(plan.work.placements)
        return self._run(session.node, session.program(plan))

    def placed(self, sizes: tuple[int, ...]) -> int:
        """Return the number of patches on the array in a bicubic pass with these sample counts."""
        self.tessellation(4, sizes)
        return self._placed[sizes]

    def _samples(self, sizes: tuple[int, ...]) -> list[int]:
        """Return the samples along a side of each patch that fills the array, with equal blocks for every size."""
        blocks = self.config.array.blocks // len(sizes)
        return [size for size in sizes for _ in range(blocks // (size // 4) ** 2)]

    def transfer(self, text: str) -> Run:
        """Return the account of texture instructions alone, all PEs marked."""
        program = f"{MARKS}\nstream tigc\nWAIT 0\n{text}\n"
        return self.once((text,), lambda: self.program(program), text.partition("\n")[0])

    def seconds(self, run: Run) -> float:
        """Return the machine time of a pass without the configuration of the LEE."""
        return self.config.seconds(counted(run))

    def program(self, text: str, config: NodeConfig | None = None) -> Run:
        """Run a source text on a fresh node."""
        return self.run(assemble(text), config)

    def run(self, program: Program, config: NodeConfig | None = None) -> Run:
        """Run a program on a fresh node."""
        return self._run(Node(config or self.config, "rows"), program)

    def one_batch(self, sends: int) -> Run:
        """Return the account of one transfer of 32 bytes to every block and its distribution."""

        def run() -> Run:
            builder = Builder("transfer")
            source = TextureControlPoints(memory_map(4, 4), 1, sends)
            source.emit_start(builder)
            source.emit_batch(builder, 0)
            builder.mark("end")
            return self._run(Node(self.config, "rows"), builder.build())

        return self.once(("batch", sends), run, f"one transfer, {sends} sends")

    def routine(self, name: str, operands: int, library: str = "plain", size: int = 3) -> int:
        """Return the cycles of a float routine with ``size`` bytes of mantissa and that many operands."""
        return self.called(name, operands, library, size).cycles

    def called(self, name: str, operands: int, library: str = "plain", size: int = 3) -> Run:
        """Return the account of one call of such a routine and nothing else."""
        text = routine_call(library_named(library), name, operands, size)
        key, shown = (name, operands, library, size), f"routine {name} of the library {library}, {size} bytes"
        return self.once(key, lambda: self.program(text), shown)


def routine_call(floats: FloatLibrary, name: str, operands: int, size: int, before: str = "") -> str:
    """Return the text of a program that calls a float routine, d from a and b; ``before`` precedes the call."""
    names = "dab"[: operands + 1]
    ranges = "\n".join(f"range {each}[{size + 1}]" for each in names)
    including = f'include "{floats.source}" with BYTES = {size}, SCRATCH = 100'
    return f"{including}\n{ranges}\n{before}\nCALL {name}{floats.ending}, {', '.join(names)}\n"


def start_ups(run: Run) -> int:
    """Return the EMC instructions issued by calls, a start-up each: started routines, and separate enables."""
    started = {routine.name: routine.started for routine in run.program.routines}
    uses = (use for use in run.by_routine.values() if use.name in started)
    return sum(use.calls if started[use.name] else use.own_cycles for use in uses)


def counted(run: Run) -> int:
    """Return the cycles of a pass without the configuration of the LEE, which is done once a session."""
    return run.cycles - run.by_stage.get(Stage.LEE.value, 0)


def texture_stream(run: Run) -> Run:
    """Return the account of the texture stream."""
    assert run.beside is not None  # as it was executed
    return run.beside


def spent(run: Run, *stages: Stage) -> int:
    """Return the cycles of a run in some stages."""
    return sum(run.by_stage.get(stage.value, 0) for stage in stages)


def whole(value: float) -> float:
    """Return a whole quotient as an integer."""
    return int(value) if value == int(value) else value


# Rows of the thesis and their notes.


def row(
    item: str,
    published: Number | None,
    formula: Number | None,
    measured: Number | None,
    basis: Basis,
    *notes: str,
    unit: str = "cycles",
    step: Number = 0,
    digits: Digits = Digits.ROUNDED,
    predicted: Derivation | None = None,
    derived: Derivation | None = None,
    busy: Number | None = None,
    detail: str = "",
) -> Row:
    """Return a row, with the named notes if it differs from the print; readings are always kept."""
    plain = Row(item, published, formula, measured, basis, unit, step, digits, predicted, derived, (), busy, detail)
    named = [NOTES[name] for name in notes]
    if plain.verdict is not RowVerdict.EQUAL:
        return plain._replace(notes=tuple(named))
    return plain._replace(notes=tuple(note for note in named if note.reason is Reason.READING))


def figure_row(
    name: str,
    formula: Number | None,
    measured: Number | None,
    basis: Basis,
    *notes: str,
    predicted: Derivation | None = None,
    derived: Derivation | None = None,
    busy: Number | None = None,
) -> Row:
    """Return the row of ``FIGURES[name]``."""
    figure = FIGURES[name]
    # An appendix is a separate table; a section is part of its chapter's.
    item = f"{name} ({figure.section})" if figure.section[0].isdigit() else name
    return row(
        item, figure.value, formula, measured, basis, *notes,
        unit=figure.unit, step=figure.step, digits=DIGITS.get(f"section {figure.section[0]}", Digits.ROUNDED),
        predicted=predicted, derived=derived, busy=busy,
    )  # fmt: skip
