"""Events of a run: the steps of a frame and the fragments of its draws as two streams, and what wires carry."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from attila_bridge.function.work import AttilaWork
from attila_bridge.time.command.processor import FRAGMENTS_OF, STEPS_OF, Step
from attila_bridge.time.config import AttilaConfig
from attila_bridge.time.machine import AttilaRun, Simulation
from pixelflow.simd.observe import Bus, Executed, RunBegan, RunEnded

__all__ = ["FrameProgram", "told"]

_TEXTS = {"ready": "registers", "write": "upload", "read": "load a program", "clear": "clear", "swap": "swap"}
_KINDS = (*_TEXTS, "draw")
_BUFFERS = ("colour", "depth")


@dataclass(frozen=True, slots=True)
class _Kind:
    mnemonic: str
    opcode: int


@dataclass(slots=True)
class _Step:
    declaration: _Kind
    words: str
    cycles: int = 0

    def text(self) -> str:
        """Return what the step does."""
        return self.words


class FrameProgram:
    """Steps of a frame, as those who watch see programs."""

    def __init__(self, name: str, steps: tuple[Step, ...]) -> None:
        self.name = name
        self.names: tuple[str, ...] = ()
        self.instructions = tuple(_Step(_Kind(kind, _KINDS.index(kind)), _words(kind, of)) for kind, of in steps)
        self.addresses = tuple(range(len(steps)))

    @property
    def sha256(self) -> str:
        """A hash of the steps."""
        return hashlib.sha256("\n".join(each.words for each in self.instructions).encode()).hexdigest()

    def where(self, index: int) -> str:
        """Return the number of a step, in words."""
        return f"step {index}"

    def line_at(self, index: int) -> None:
        """Return None: steps have no lines."""

    def routine_at(self, address: int) -> None:
        """Return None: steps are in no routine."""


@dataclass(slots=True)
class _FrameAccount:
    """How far a frame has come, and why it ended."""

    cycle: int
    reason: str = "halt"

    @property
    def total_cycles(self) -> int:
        """Cycles of the frame."""
        return self.cycle


def told(name: str, work: AttilaWork, config: AttilaConfig, bus: Bus) -> AttilaRun:
    """Take a frame's work through the machine and tell a bus of it: wires as they carry, steps when all is done."""
    simulation = Simulation(work, config, bus=bus)
    streams = (STEPS_OF, FRAGMENTS_OF)
    first = 0 if work.before is None else work.before.draws
    steps = tuple((kind, of + first if kind == "draw" else of) for kind, of in simulation.steps)
    bus.emit(RunBegan, 0, FrameProgram(name, steps), streams, True, _FrameAccount(0))
    done = simulation.finish()
    for stream, step, begin, end in done.spans:
        bus.emit(Executed, begin, stream, step, end - begin)
    ends = {each: max((end for stream, _, _, end in done.spans if stream == each), default=0) for each in streams}
    bus.emit(RunEnded, done.cycles, "halt", ends, _FrameAccount(done.cycles))
    return done


def _words(kind: str, argument: int) -> str:
    if kind == "draw":
        return f"draw {argument}"
    if kind == "clear":
        return f"clear {_BUFFERS[argument]}"
    if kind == "swap":
        return "swap"
    return f"{_TEXTS[kind]} ({argument:,} {'bytes' if kind == 'read' else 'cycles'})"
