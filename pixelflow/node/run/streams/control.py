"""Control flow of a stream: loops, calls, jumps and stages, and the faults that they end in."""

from __future__ import annotations

from pixelflow.isa import Mem
from pixelflow.isa.registers import ENABLE_STACK, LATCH_STACK
from pixelflow.node.run.streams.sequencer import Sequencer
from pixelflow.node.run.streams.straight_code import CallFrame
from pixelflow.observe import Bus, RoutineEntered, RoutineLeft, StageBegan
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.report import counted

__all__ = ["ControlFlow"]

_CONTROL_LIMIT = 1_000_000
"""Control instructions in a row after which a stream is taken to be stuck: they take no time, so no cycle limit ends
a loop of nothing else."""


class ControlFlow:
    """Where a stream is in its program; control instructions act on it."""

    def __init__(self, sequencer: Sequencer, entry: str, bus: Bus) -> None:
        """Start at an entry of the program; raises MachineFault where there is none of that name."""
        program = sequencer.program
        if entry not in program.entries:
            known = ", ".join(sorted(program.entries)) or "none"
            raise MachineFault(f"the program has no stream {entry!r} (it has: {known})")
        self.name = entry
        self.program = program
        self.sequencer = sequencer
        self.bus = bus
        self.halted = False
        self.cycle = 0
        self.index: int | None = None
        self.index = self._position(program.entries[entry])
        self.frames: list[CallFrame] = [CallFrame(-1, [])]
        self.stages: list[tuple[str, int]] = []
        self.routine_cycles: dict[str, tuple[int, int]] = {}
        """For each routine that returned: (calls, cycles from call to return)."""
        self._control_since = (0, 0)
        """The cycle of the last control instruction, and how many there were in that cycle."""

    @property
    def parameters(self) -> list[int]:
        """The parameters of the running frame."""
        return self.frames[-1].parameters

    def halt(self) -> None:
        """End the stream."""
        self.halted = True

    def call(self, target: int, arguments: tuple) -> None:
        """Enter a routine, with arguments evaluated in the caller's frame; raises MachineFault at the depth limit."""
        if len(self.frames) > self.sequencer.config.call_depth:
            self._fault(f"more than {self.sequencer.config.call_depth} calls inside calls")
        name = self.sequencer.routine_name(target)
        parameters = [self._argument(argument) for argument in arguments]
        self.frames.append(CallFrame(self.index, parameters, name=name, entered_at=self.cycle))
        self.index = self._position(target)
        self.bus.emit(RoutineEntered, self.cycle, self.name, name, len(self.frames) - 1)

    def ret(self) -> None:
        """Leave the routine; raises MachineFault where its loops or saved enables are still open."""
        if len(self.frames) == 1:
            self._fault("RET without CALL")
        frame = self.frames.pop()
        if frame.loops:
            self._fault("RET inside a loop")
        if frame.saved_enables:
            self._fault(
                f"routine {frame.name} returns with {counted(frame.saved_enables, 'enable')} still on the stack"
            )
        self.left(frame.name, self.cycle - frame.entered_at)
        self.index = frame.return_to

    def left(self, name: str, took: int) -> None:
        """Count a routine that has returned after so many cycles."""
        calls, cycles = self.routine_cycles.get(name, (0, 0))
        self.routine_cycles[name] = (calls + 1, cycles + took)
        self.bus.emit(RoutineLeft, self.cycle, self.name, name, len(self.frames))

    def loop(self, count: int) -> None:
        """Begin a loop, or skip it where the count is 0."""
        start = self.index
        if count == 0:
            self.index = self.sequencer.loop_end[start - 1] + 1
            return
        loops = self.frames[-1].loops
        if len(loops) >= self.sequencer.config.loop_depth:
            self._fault(f"more than {self.sequencer.config.loop_depth} loops inside loops")
        loops.append([start, count])

    def end_loop(self) -> None:
        """Begin the next round of the innermost loop, or leave it."""
        loops = self.frames[-1].loops
        if not loops or self.sequencer.loop_end[loops[-1][0] - 1] != self.index - 1:
            self._fault("ENDL reached outside its loop")
        loops[-1][1] -= 1
        if loops[-1][1]:
            self.index = loops[-1][0]
        else:
            loops.pop()

    def jump(self, target: int) -> None:
        """Go on at a word address; loops that the target lies outside of end."""
        self.index = self._position(target)
        loops, ends = self.frames[-1].loops, self.sequencer.loop_end
        while loops and not loops[-1][0] <= self.index <= ends[loops[-1][0] - 1]:
            loops.pop()  # the jump leaves this loop

    def mark(self, name: int) -> None:
        """Begin a stage of the report."""
        names = self.program.names
        if name >= len(names):
            self._fault(f"MARK {name}: the program names only {counted(len(names), 'stage')}")
        self.stages.append((names[name], self.cycle))
        self.bus.emit(StageBegan, self.cycle, self.name, names[name])

    def add_parameter(self, parameter: int, delta: int) -> None:
        """Add to a parameter of the running frame."""
        if parameter >= len(self.parameters):
            self._fault(f"parameter P{parameter} was not passed")
        self.parameters[parameter] += delta

    # --- checks --------------------------------------------------------------------------------------------------

    def _watch_control(self) -> None:
        since, count = self._control_since
        count = count + 1 if since == self.cycle else 1
        self._control_since = (self.cycle, count)
        if count > _CONTROL_LIMIT:
            self._fault(f"{_CONTROL_LIMIT:,} control instructions and no other: a loop that takes no time")

    def _watch(self, index: int) -> None:
        """Keep the depth of the PEs' stacks, which is the same in all of them."""
        frame = self.frames[-1]
        pushes = self.program.by_kind[index].declaration.pushes
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
        index = self.program.by_kind.position(address)
        if index is None:
            self._fault(f"word {address} is not the start of an instruction")
        return index

    @property
    def place(self) -> str:
        """Where in the source it stands."""
        return self._here()

    def _here(self) -> str:
        return self.program.where(min(max(self.index, 0), len(self.sequencer.control) - 1))

    def _fault(self, message: str) -> None:
        where = self.program.where(max(0, self.index - 1)) if self.index is not None else self.name
        raise MachineFault(f"{where}: {message} (cycle {self.cycle})")
