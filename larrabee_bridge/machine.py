"""Larrabee as a machine: its record, and runs of programs for the vector unit with the account of their cores."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name

import numpy as np

from larrabee_bridge.commands import COMMANDS
from larrabee_bridge.thread_events import ThreadEvents
from larrabee_bridge.vpu.config import CORE_MHZ, CoreConfig
from larrabee_bridge.vpu.core_image import take_turns
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import TARGET, VectorProgram
from larrabee_bridge.vpu.vector_run import ShownWords, VectorRun
from larrabee_bridge.vpu.vector_unit import LONGEST, VectorUnit
from pixelflow.simd.attendance import Attendance
from pixelflow.simd.drawing import DrawnFrame, Frame
from pixelflow.simd.errors import CycleLimitError, Fault, InputError
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.machine import MachineRecord
from pixelflow.simd.observe import Bus
from pixelflow.simd.units import Constant, Standing

_AT_ONCE = 2
"""Instructions of a thread that may issue in one cycle."""


def run_program(
    program: VectorProgram,
    *,
    config: CoreConfig | None = None,
    bus: Bus | None = None,
    threads: int = 1,
    per_core: int | None = None,
    show: Sequence[str] = (),
    ranges: Sequence[str] = (),
    form: str = "int",
    engine: str = AUTO,
    attendance: Attendance | None = None,
) -> VectorRun:
    """Run a program by ``threads`` threads, r0 holding each one's number; time cores of ``per_core`` threads as well.

    The report shows what `ShownWords.of` makes of ``show``, ``ranges`` and ``form``. ``bus`` receives the events of
    each thread as if it were alone. Raises InputError for caches without cores that threads share, or an unknown
    engine; CycleLimitError for a run past the limit of ``attendance``, or of `LONGEST` instructions a thread without
    one.
    """
    config, attendance = config or CoreConfig(), attendance or Attendance()
    shown = ShownWords.of(program, show, ranges, form)
    if config.caches and per_core is None:
        raise InputError(Fault("caches belong to cores that threads share", hint="give the threads of a core"))
    attendance.where, attendance.counted = program.where, "instruction"
    most = LONGEST if attendance.limit is None else _AT_ONCE * attendance.limit
    unit, core = VectorUnit(program, threads, engine=engine), Core(program, threads, config)
    unit.set_scalar(0, np.arange(threads))
    notes: list[RunNote] = []

    def noted(note: RunNote) -> None:
        core(note)
        if per_core is not None:
            notes.append(note)

    run_unit = ThreadEvents(bus, unit, core).run if bus is not None and bus.watched else unit.run
    try:
        run_unit(noted, most, lines=per_core is not None, come=attendance.come)
    except CycleLimitError as error:
        attendance.check(most, f": {error}")
        raise
    cores = []
    if per_core:
        whole = RunNote.joined(notes)
        for first in range(0, threads, per_core):
            share = whole.one_after_the_other([[each] for each in range(first, min(first + per_core, threads))])
            cores.append(take_turns(program, share, config))
    run = VectorRun(unit, core, cores, per_core, shown=shown)
    attendance.check(run.cycles, f": the run takes {run.cycles:,}")
    return run


def _draw(frame: Frame, **options: object) -> DrawnFrame:
    # Looked up by name: runs of programs start without the renderer.
    drawn: DrawnFrame = resolve_name("larrabee_bridge.pipeline.picture:draw_on_larrabee")(frame, **options)
    return drawn


_BUILT = (
    Constant("year", 2008, Standing.DERIVED, "Seiler et al. 2008", "in which the machine is described"),
    Constant("process", 45, Standing.DERIVED, "press on the wafer shown in April 2009 (hartware.de)", unit="nm"),
    Constant("area", 600, Standing.INVENTED,
        "the press's estimate by a photograph of a wafer (PC Perspective, April 2009)",
        "of a whole chip with an unknown number of cores", "mm2"),
)  # fmt: skip
"""It was not a product; the paper has neither process nor area."""

MACHINE = MachineRecord(
    name="larrabee",
    title="Larrabee",
    part="core",
    most_parts=64,
    target=TARGET,
    configuration=CoreConfig,
    clock_mhz=lambda config: int(CORE_MHZ),
    run=run_program,
    attended=True,
    threads=True,
    draw=_draw,
    paper="larrabee_bridge.claims.paper:PAPER",
    built=_BUILT,
    commands=COMMANDS,
)
