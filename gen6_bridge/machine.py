"""Gen6 EU as a machine: its record, and runs of programs with their account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gen6_bridge.commands import COMMANDS
from gen6_bridge.program import TARGET, EuProgram
from gen6_bridge.thread_events import EuEvents
from gen6_bridge.time import EU_MHZ, EuConfig
from gen6_bridge.time.run import EuRun, execute
from pixelflow.simd.attendance import Attendance, Telling
from pixelflow.simd.drawing import DrawnFrame, Frame
from pixelflow.simd.machine import MachineRecord
from pixelflow.simd.observe import Bus
from pixelflow.simd.units import Constant, Standing

if TYPE_CHECKING:
    from gen6_bridge.drawing import ShadedVertices


def run_program(
    program: EuProgram,
    *,
    config: EuConfig | None = None,
    bus: Bus | None = None,
    attendance: Attendance | None = None,
) -> EuRun:
    """Run a program on as many threads as the configuration says, each with its number in g0.0.

    Subscribers of ``bus`` get the events of each thread. Raises MachineFault for undefined behaviour, and
    CycleLimitError past the limit of ``attendance``, by default `LONGEST` instructions a thread.
    """
    config, attendance = config or EuConfig(), attendance or Attendance()
    run = execute(program, config, attendance=attendance)
    if bus is None or not bus.watched:
        return run.timed(config, attendance=attendance)
    return EuEvents(bus, run).schedule(config, attendance)


def _draw(
    frame: Frame,
    *,
    parts: int = 1,
    config: EuConfig | None = None,
    progress: Telling | None = None,
    vertices: Sequence[ShadedVertices | None] = (),
) -> DrawnFrame:
    # Imported for drawing alone.
    from gen6_bridge.drawing import draw_on_gen6

    return draw_on_gen6(frame, parts=parts, config=config, progress=progress, vertices=vertices)


_BUILT = (
    Constant("year", 2011, Standing.DERIVED, "Intel's launch of Sandy Bridge, January 2011", "in which it was sold"),
    Constant("process", 32, Standing.DERIVED, "Tom's Hardware, Sandy Bridge review, 2011", unit="nm"),
    Constant("area", 149, Standing.DERIVED, "Tom's Hardware, Sandy Bridge review, 2011",
        "of the chip with two processor cores, their cache and 12 execution units", "mm2"),
)  # fmt: skip

MACHINE = MachineRecord(
    name="gen6",
    title="Gen6",
    part="execution unit",
    most_parts=12,
    target=TARGET,
    configuration=EuConfig,
    clock_mhz=lambda config: EU_MHZ,
    run=run_program,
    attended=True,
    draw=_draw,
    debug="gen6_bridge.debugger:open_dialogue",
    paper="gen6_bridge.claims.paper:PAPER",
    built=_BUILT,
    commands=COMMANDS,
)
