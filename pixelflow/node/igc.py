"""An image generation controller: one microcode sequencer, one instruction stream (thesis 2.2.1, 2.2.5).

The sequencer needs no PE data: control flow never depends on it. A stream walks the program, carries out control
instructions by itself, and yields every other instruction with the parameters of the running frame. Cycles come from
the declared steps of what it yields, so a timing-only run is the same walk without an array.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pixelflow.config import IgcConfig
from pixelflow.errors import CycleLimitError, DeadlockError, MachineFault
from pixelflow.isa import Family, Mem, Program, Unit
from pixelflow.isa.registers import ENABLE_STACK, LATCH_STACK
from pixelflow.node.semaphores import Semaphores

__all__ = ["UNLATCH", "Frame", "Issue", "Sequencer", "Stream"]

UNLATCH = -1
"""Yielded in place of an instruction's position when a started routine returns: the caller's latch comes back."""

Issue = int
"""Position of an instruction in ``program.instructions``, or UNLATCH."""


@dataclass(slots=True)
class Frame:
    """What a call keeps: where to return to, the parameters, the open loops as [body start, rounds left]."""

    return_to: int
    parameters: list[int]
    loops: list[list[int]] = field(default_factory=list)
    started: bool = False
    saved_enables: int = 0
    name: str = ""
    entered_at: int = 0


class Sequencer:
    """What a stream needs to know of a program: decoded once, shared by all runs of it."""

    def __init__(self, program: Program, config: IgcConfig) -> None:
        self.program = program
        self.config = config
        instructions = program.instructions
        self.control = [i if i.declaration.unit is Unit.SEQUENCER else None for i in instructions]
        self.cycles = [
            config.control_cycles if c else i.cycles for i, c in zip(instructions, self.control, strict=True)
        ]
        # Instructions that change the depth of a stack are rare; the stream looks only at these.
        self.watched = [i.declaration.pushes or i.declaration.family is Family.STARTUP for i in instructions]
        self.loop_end = self._match_loops()

    def _match_loops(self) -> dict[int, int]:
        """Return the position of the ENDL of every LOOP; raises MachineFault where one is missing."""
        open_loops: list[int] = []
        ends: dict[int, int] = {}
        for index, instruction in enumerate(self.program.instructions):
            match instruction.declaration.mnemonic:
                case "LOOP":
                    open_loops.append(index)
                case "ENDL" if not open_loops:
                    raise MachineFault(f"{self.program.where(index)}: ENDL without LOOP")
                case "ENDL":
                    ends[open_loops.pop()] = index
        if open_loops:
            raise MachineFault(f"{self.program.where(open_loops[-1])}: LOOP without ENDL")
        return ends


class Stream:
    """One instruction stream while it runs; also the object on which control instructions act."""

    def __init__(self, sequencer: Sequencer, entry: str, semaphores: Semaphores, max_cycles: int | None = None) -> None:
        program = sequencer.program
        if entry not in program.entries:
            known = ", ".join(sorted(program.entries)) or "none"
            raise MachineFault(f"the program has no stream {entry!r} (it has: {known})")
        self.name = entry
        self.sequencer = sequencer
        self.semaphores = semaphores
        self.max_cycles = max_cycles
        self.cycle = 0
        self.index = self._position(program.entries[entry])
        self.halted = False
        self.executed = [0] * len(program.instructions)
        self.frames: list[Frame] = [Frame(-1, [])]
        self.stages: list[tuple[str, int]] = []
        self.routine_cycles: dict[str, tuple[int, int]] = {}
        """For each routine that returned: (calls, cycles from call to return)."""

    @property
    def parameters(self) -> list[int]:
        """The parameters of the running frame."""
        return self.frames[-1].parameters

    def issues(self) -> Iterator[Issue]:
        """Walk the program; raises MachineFault, DeadlockError or CycleLimitError."""
        sequencer = self.sequencer
        control, cycles, watched, executed = sequencer.control, sequencer.cycles, sequencer.watched, self.executed
        limit = self.max_cycles if self.max_cycles is not None else float("inf")
        size = len(control)
        while not self.halted:
            index = self.index
            if index >= size:
                raise MachineFault("execution ran past the end of the program: HALT or RET is missing")
            if self.cycle + cycles[index] > limit:
                raise CycleLimitError(f"cycle limit {self.max_cycles} reached at {self._here()}")
            self.cycle += cycles[index]
            executed[index] += 1
            instruction = control[index]
            self.index = index + 1
            if instruction is None:
                if watched[index]:
                    self._watch(index)
                yield index
                continue
            started = self.frames[-1].started
            depth = len(self.frames)
            instruction.declaration.meaning(self, *instruction.operands)
            if started and len(self.frames) < depth:
                yield UNLATCH

    # --- what control instructions do --------------------------------------------------------------------------

    def halt(self) -> None:
        self.halted = True

    def call(self, target: int, arguments: tuple) -> None:
        if len(self.frames) > self.sequencer.config.call_depth:
            self._fault(f"more than {self.sequencer.config.call_depth} calls inside calls")
        routine = self.sequencer.program.routine_at(target)
        name = routine.name if routine else f"word {target}"
        parameters = [self._argument(argument) for argument in arguments]
        self.frames.append(Frame(self.index, parameters, name=name, entered_at=self.cycle))
        self.index = self._position(target)

    def ret(self) -> None:
        if len(self.frames) == 1:
            self._fault("RET without CALL")
        frame = self.frames.pop()
        if frame.loops:
            self._fault("RET inside a loop")
        if frame.saved_enables:
            self._fault(f"routine {frame.name} returns with {frame.saved_enables} enables still on the stack")
        calls, cycles = self.routine_cycles.get(frame.name, (0, 0))
        self.routine_cycles[frame.name] = (calls + 1, cycles + self.cycle - frame.entered_at)
        self.index = frame.return_to

    def loop(self, count: int) -> None:
        start = self.index
        if count == 0:
            self.index = self.sequencer.loop_end[start - 1] + 1
            return
        loops = self.frames[-1].loops
        if len(loops) >= self.sequencer.config.loop_depth:
            self._fault(f"more than {self.sequencer.config.loop_depth} loops inside loops")
        loops.append([start, count])

    def end_loop(self) -> None:
        loops = self.frames[-1].loops
        if not loops:
            self._fault("ENDL reached outside its loop")
        loops[-1][1] -= 1
        if loops[-1][1]:
            self.index = loops[-1][0]
        else:
            loops.pop()

    def jump(self, target: int) -> None:
        self.index = self._position(target)

    def mark(self, name: int) -> None:
        names = self.sequencer.program.names
        if name >= len(names):
            self._fault(f"MARK {name}: the program names only {len(names)} stages")
        self.stages.append((names[name], self.cycle))

    def add_parameter(self, parameter: int, delta: int) -> None:
        if parameter >= len(self.parameters):
            self._fault(f"parameter P{parameter} was not passed")
        self.parameters[parameter] += delta

    def signal(self, semaphore: int) -> None:
        self.semaphores.signal(semaphore)

    def wait(self, semaphore: int) -> None:
        if not self.semaphores.take(semaphore):
            # One stream alone: nobody else is left who could signal.
            self.index -= 1
            raise DeadlockError(
                f"deadlock at cycle {self.cycle}: no stream can advance\n"
                f"  {self.name.upper()}  {self._here()}   waits sem {semaphore} (count 0)"
            )

    # --- checks --------------------------------------------------------------------------------------------------

    def _watch(self, index: int) -> None:
        """Keep the depth of the PEs' stacks, which is the same in all of them."""
        frame = self.frames[-1]
        pushes = self.sequencer.program.instructions[index].declaration.pushes
        if not pushes:
            if frame.started:
                self._fault("START twice in one routine")
            if len(self.frames) == 1:
                self._fault("START outside a routine")
            frame.started = True
            if sum(frame.started for frame in self.frames) > len(LATCH_STACK):
                self._fault(f"more than {len(LATCH_STACK)} started routines inside each other")
            return
        frame.saved_enables += pushes
        if frame.saved_enables < 0:
            self._fault("EPOP without EPUSH in this routine")
        if sum(frame.saved_enables for frame in self.frames) > len(ENABLE_STACK):
            self._fault(f"EPUSH: the enable stack holds {len(ENABLE_STACK)}")

    def _argument(self, argument: object) -> int:
        value, base = (argument.offset, argument.base) if isinstance(argument, Mem) else (argument.value, argument.base)
        if base is None:
            return value
        if base >= len(self.parameters):
            self._fault(f"parameter P{base} was not passed")
        return self.parameters[base] + value

    def _position(self, address: int) -> int:
        index = self.sequencer.program.index_of.get(address)
        if index is None:
            self._fault(f"word {address} is not the start of an instruction")
        return index

    def _here(self) -> str:
        return self.sequencer.program.where(min(max(self.index, 0), len(self.sequencer.control) - 1))

    def _fault(self, message: str) -> None:
        where = self.sequencer.program.where(max(0, self.index - 1)) if hasattr(self, "index") else self.name
        raise MachineFault(f"{where}: {message} (cycle {self.cycle})")
