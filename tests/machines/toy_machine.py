"""A machine of four lanes and three instructions, and all that it takes to run, trace, draw and compare."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from pixelflow.simd.commands import (
    ConfigurationOption,
    MachineCommands,
    MachineDrawing,
    MachineOption,
)
from pixelflow.simd.configuration import param
from pixelflow.simd.drawing import DrawnFrame, Frame, draw_frame, spans_of
from pixelflow.simd.isa.declare import Declaration, Flow, InstructionSet, Step
from pixelflow.simd.isa.operands import Count, OperandSpec
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.machine import MachineRecord
from pixelflow.simd.observe import Bus, Executed, RunBegan, RunEnded
from pixelflow.simd.report import Column, Report, Table, number
from pixelflow.simd.units import Standing, whole_number

LANES = 4


class Part(Enum):
    """The family of every instruction, and its unit."""

    ALL = "all"


INSTRUCTIONS: InstructionSet[Declaration] = InstructionSet(__name__, kind=Declaration, unit=Part.ALL)
SOURCE = {"family": Part.ALL, "source": "invented"}
VALUE = OperandSpec("value", Count(0, 99))


@INSTRUCTIONS.instruction("put", 1, VALUE, steps=lambda value: (Step("put"),), cost="1", **SOURCE)
def put(lanes: list[int], value: int) -> None:
    """Set every lane to ``value`` plus its own number."""
    lanes[:] = [value + lane for lane in range(LANES)]


@INSTRUCTIONS.instruction("mul", 2, VALUE, steps=lambda value: (Step("mul"),) * 3, cost="3", **SOURCE)
def mul(lanes: list[int], value: int) -> None:
    """Multiply every lane by ``value``."""
    lanes[:] = [lane * value for lane in lanes]


@INSTRUCTIONS.instruction("end", 3, steps=lambda: (Step("end"),), cost="1", flow=Flow.HALT, **SOURCE)
def end(lanes: list[int]) -> None:
    """End the program."""


class ToyProgram(AssembledProgram):
    """An assembled program."""

    instruction_set: ClassVar[InstructionSet[Declaration]] = INSTRUCTIONS
    schema: ClassVar[str] = "toy.program/1"
    stream: ClassVar[str] = "main"


@dataclass(frozen=True)
class ToyConfig:
    """What can be chosen of the machine."""

    clock_mhz: int = param(10, "its clock", unit="MHz", source="invented", standing=Standing.INVENTED, low=1, high=1000)


class ToyRun:
    """A program under way, and its account when it has ended."""

    reason = "halt"

    def __init__(self, program: AssembledProgram) -> None:
        self.program, self.cycle, self.lanes = program, 0, [0] * LANES

    @property
    def cycles(self) -> int:
        return self.cycle

    total_cycles = cycles

    def report(self) -> Report:
        rows = list(enumerate(self.lanes))
        data = {"cycles": self.cycle, "lanes": self.lanes}
        table = Table([Column("lane", number), Column("value", number)], rows)
        return Report("toy", (), [f"{self.cycle} cycles", table], schema="toy.run/1", data=data)


def run(program: AssembledProgram, *, config: ToyConfig | None = None, bus: Bus | None = None) -> ToyRun:
    """Carry out the instructions one after the other."""
    done, bus = ToyRun(program), bus or Bus()
    bus.emit(RunBegan, 0, program, ("main",), True, done)
    for index, each in enumerate(program.instructions):
        bus.emit(Executed, done.cycle, "main", index, each.cycles)
        each.declaration.meaning(done.lanes, *each.operands)
        done.cycle += each.cycles
    bus.emit(RunEnded, done.cycle, done.reason, {"main": done.cycle}, done)
    return done


def draw(
    frame: Frame,
    *,
    parts: int = 1,
    config: ToyConfig | None = None,
    progress: Callable[[str], None] | None = None,
    stride: int = LANES,
) -> DrawnFrame:
    """Draw what every triangle covers, ``stride`` lanes wide; its lanes do in integers what the reference says."""
    config, size = config or ToyConfig(), (frame.width, frame.height)
    covered = sum(int(spans_of(each.triangles, *size).pixels.sum()) for each in frame.draws)
    cycles = -(-covered // stride)
    return DrawnFrame(
        machine="Toy",
        parts=parts,
        lanes=LANES,
        clock_mhz=config.clock_mhz,
        cycles=cycles,
        work=cycles,
        stages={"cover": cycles},
        mix={"all": cycles},
        covered_lanes=covered / (cycles * LANES),
        enabled_lanes=None,
        traffic={"pixels": 4 * covered},
        picture=draw_frame(frame),
    )


COMMANDS = MachineCommands(
    MachineDrawing(
        "Toy",
        options=(
            MachineOption("--stride", "stride", "Toy's lanes in use", whole_number, LANES, most=LANES, key="stride"),
        ),
        configuration=ConfigurationOption("--toy", "a value of Toy"),
    ),
)
TARGET = ProgramTarget(
    instructions=INSTRUCTIONS,
    names={},
    streams=("main",),
    halt="end",
    owner="memory",
    memory_bytes=0,
    placed_bytes=0,
    alignment=1,
    program=ToyProgram,
    manual="pixelflow isa --machine toy",
)
MACHINE = MachineRecord(
    name="toy",
    title="Toy",
    part="toy",
    most_parts=1,
    target=TARGET,
    configuration=ToyConfig,
    clock_mhz=lambda config: config.clock_mhz,
    run=run,
    draw=draw,
    commands=COMMANDS,
)
