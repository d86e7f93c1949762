"""Events of a run: steps of a frame and fragments of its draws as two streams, what wires carry, what queues hold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from attila_bridge.drawing.queues import fills
from attila_bridge.function.work import AttilaWork
from attila_bridge.time.command.processor import FRAGMENTS_OF, STEPS_OF, Step
from attila_bridge.time.config import AttilaConfig
from attila_bridge.time.machine import AttilaRun, Simulation
from pixelflow.simd.observe import Bus, Executed, QueueFilled, RunBegan, RunEnded
from pixelflow.simd.telling import Telling

__all__ = ["FrameProgram", "ToldFrame"]

_TEXTS = {"ready": "registers", "write": "upload", "read": "load a program", "clear": "clear", "swap": "swap"}
_KINDS = (*_TEXTS, "draw")
_BUFFERS = ("colour", "depth")
_STREAMS = (STEPS_OF, FRAGMENTS_OF)


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


class ToldFrame:
    """A frame on the machine, which tells a bus: wires and queues as they carry and fill, steps when all is done."""

    def __init__(self, name: str, work: AttilaWork, config: AttilaConfig, bus: Bus) -> None:
        self.simulation = Simulation(work, config, bus=bus)
        self._bus = bus
        self._fills = bus.wants(QueueFilled)
        self._last: dict[str, int] = {}
        first = 0 if work.before is None else work.before.draws
        steps = tuple((kind, of + first if kind == "draw" else of) for kind, of in self.simulation.steps)
        bus.emit(RunBegan, 0, FrameProgram(name, steps), _STREAMS, True, _FrameAccount(0))

    @property
    def ended(self) -> bool:
        """Whether nothing is left to happen."""
        return self.simulation.clock.next_cycle() is None

    def advance(self, cycle: int) -> None:
        """Do everything that begins before ``cycle``."""
        clock = self.simulation.clock
        if not self._fills:
            clock.run_until(cycle)
        while self._fills and (event := clock.next_cycle()) is not None and event < cycle:
            clock.run_until(event + 1)
            self._tell_queues(event)

    def finish(self, max_cycles: int | None = None, progress: Telling | None = None) -> AttilaRun:
        """Run to the end of the frame as `Simulation.finish` does; tell its steps."""
        done = self.simulation.finish(max_cycles, progress, self.advance)
        bus = self._bus
        for stream, step, begin, end in done.spans:
            bus.emit(Executed, begin, stream, step, end - begin)
        ends = {each: max((end for stream, _, _, end in done.spans if stream == each), default=0) for each in _STREAMS}
        bus.emit(RunEnded, done.cycles, "halt", ends, _FrameAccount(done.cycles))
        return done

    def _tell_queues(self, cycle: int) -> None:
        """Tell of every queue that holds more or less than in the cycle before."""
        last = self._last
        for box, queues in fills(self.simulation.boxes):
            for queue in queues:
                name = f"{box} {queue.name}"
                if last.get(name) != queue.fill:
                    last[name] = queue.fill
                    self._bus.emit(QueueFilled, cycle, name, queue.fill, queue.capacity)


def _words(kind: str, argument: int) -> str:
    if kind == "draw":
        return f"draw {argument}"
    if kind == "clear":
        return f"clear {_BUFFERS[argument]}"
    if kind == "swap":
        return "swap"
    return f"{_TEXTS[kind]} ({argument:,} {'bytes' if kind == 'read' else 'cycles'})"
