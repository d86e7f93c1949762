"""An image generation controller: one microcode sequencer, one instruction stream (thesis 2.2.1, 2.2.5).

The sequencer needs no PE data: control flow never depends on it. A stream walks the program, carries out control
instructions by itself, and issues every other instruction. Cycles come from
the declared steps of what it yields, so a timing-only run is the same walk without an array.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import astuple
from operator import mul

from pixelflow.isa import Mem
from pixelflow.isa.control import WAIT
from pixelflow.isa.registers import ENABLE_STACK, LATCH_STACK
from pixelflow.node.run.streams.issue import BLOCKED, SIGNALLED, UNLATCH, Issue, IssueKind
from pixelflow.node.run.streams.semaphores import Semaphores
from pixelflow.node.run.streams.sequencer import Sequencer
from pixelflow.node.run.streams.straight_code import CallFrame, StraightCode, StraightCodes
from pixelflow.observe import Blocked, Bus, Executed, RoutineEntered, RoutineLeft, Signalled, StageBegan, Taken, Waited
from pixelflow.simd.errors import CycleLimitError, InternalError, MachineFault
from pixelflow.simd.snapshot import Snapshot

__all__ = ["Stream"]

_CONTROL_LIMIT = 1_000_000
"""Control instructions in a row after which a stream is taken to be stuck: they take no time, so no cycle limit ends
a loop of nothing else."""


class Stream:
    """One instruction stream while it runs; also the object on which control instructions act."""

    def __init__(
        self,
        sequencer: Sequencer,
        entry: str,
        semaphores: Semaphores,
        max_cycles: int | None = None,
        *,
        remote_semaphores: frozenset[int] = frozenset(),
        bus: Bus | None = None,
    ) -> None:
        """Start at an entry of the program; signals of ``remote_semaphores`` are left to the order that drives it."""
        program = sequencer.program
        if entry not in program.entries:
            known = ", ".join(sorted(program.entries)) or "none"
            raise MachineFault(f"the program has no stream {entry!r} (it has: {known})")
        self.name = entry
        self.sequencer = sequencer
        self.semaphores = semaphores
        self.remote_semaphores = remote_semaphores
        self.max_cycles = max_cycles
        self.bus = Bus() if bus is None else bus
        self.straight_codes: StraightCodes | None = None
        """Straight code to be skipped as a whole; only where nobody needs the single instructions."""
        self.may_skip: Callable[[StraightCode], bool] | None = None
        """Asked whether straight code can be skipped; where there is nobody to ask, it can."""
        self.on_skip: Callable[[StraightCode], None] | None = None
        """Called for all straight code that was skipped, unless it was issued."""
        self.halted = False
        self.index: int | None = None
        self.cycle = 0
        self.index = self._position(program.entries[entry])
        self.executed = [0] * len(program.instructions)
        self._single: dict[int, Issue] = {}
        self.frames: list[CallFrame] = [CallFrame(-1, [])]
        self.stages: list[tuple[str, int]] = []
        self.waits: dict[str, int] = {}
        """Cycles spent waiting, by reason: ``sem N`` or ``transfer``."""
        self.stage_waits: dict[tuple[int, str], int] = {}
        """The same by stage: its position in ``stages`` (-1 before the first), and the reason."""
        self.waiting: int | None = None
        self.signalled: int | None = None
        self.routine_cycles: dict[str, tuple[int, int]] = {}
        """For each routine that returned: (calls, cycles from call to return)."""
        self._control_since = (0, 0)
        """The cycle of the last control instruction, and how many there were in that cycle."""

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
        wanted = self.bus.wants(Executed)
        while not self.halted:
            index = self.index
            if index >= size:
                raise MachineFault("execution ran past the end of the program: HALT or RET is missing")
            code = None if self.straight_codes is None else self.straight_codes.at(index)
            if code is not None and self._skip(code, limit):
                if code.shared:
                    yield Issue(IssueKind.EXECUTE, index, code)
                continue
            if self.cycle + cycles[index] > limit:
                raise self._limit("")
            self.cycle += cycles[index]
            executed[index] += 1
            instruction = control[index]
            self.index = index + 1
            if instruction is None:
                if watched[index]:
                    self._watch(index)
                if wanted:
                    self._tell_executed(index)
                yield self._issue(index)
                continue
            self._watch_control()
            started = self.frames[-1].started
            depth = len(self.frames)
            self.signalled = None
            if wanted and instruction.declaration is not WAIT:  # that one may have to come again
                self._tell_executed(index)
            instruction.declaration.meaning(self, *instruction.operands)
            if started and len(self.frames) < depth:
                yield UNLATCH
            elif self.waiting is not None:
                self.bus.emit(Blocked, self.cycle, self.name, self.index, self.waiting)
                yield BLOCKED
            elif self.signalled is not None:
                yield SIGNALLED

    def _issue(self, index: int) -> Issue:
        """Return the issue of a single instruction."""
        found = self._single.get(index)
        if found is None:
            found = self._single[index] = Issue(IssueKind.EXECUTE, index)
        return found

    def _skip(self, code: StraightCode, limit: float) -> bool:
        """Skip all of some straight code, where no part of it could be seen from outside; return whether it was."""
        if self.cycle + code.cycles > limit or not code.fits(self.frames):
            return False
        if self.may_skip is not None and not self.may_skip(code):
            return False
        body = code.body
        if body is not None:
            entered = self.cycle + code.cycles - body.cycles
            self.bus.emit(RoutineEntered, entered, self.name, body.name, len(self.frames))
        self.cycle += code.cycles
        self.index = code.end
        self.straight_codes.note(code)
        if body is not None:
            self.left(body.name, body.cycles)
        if self.on_skip is not None and not code.shared:
            self.on_skip(code)
        return True

    @contextmanager
    def one_by_one(self) -> Iterator[None]:
        """Skip nothing for a while, so that the stream can stop at any instruction."""
        codes, self.straight_codes = self.straight_codes, None
        try:
            yield
        finally:
            self.straight_codes = codes

    def begins(self, issue: Issue) -> int:
        """Return the cycle in which what was issued last begins."""
        if issue.index is None:
            return self.cycle
        return self.cycle - (self.sequencer.cycles[issue.index] if issue.code is None else issue.code.cycles)

    def _tell_executed(self, index: int) -> None:
        cycles = self.sequencer.cycles[index]
        self.bus.emit(Executed, self.cycle - cycles, self.name, index, cycles)

    def settle(self) -> None:
        """Count the instructions of the straight code that was skipped."""
        if self.straight_codes is not None:
            self.straight_codes.settle(self.executed)

    # --- what control instructions do --------------------------------------------------------------------------

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
            self._fault(f"routine {frame.name} returns with {frame.saved_enables} enables still on the stack")
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
        names = self.sequencer.program.names
        if name >= len(names):
            self._fault(f"MARK {name}: the program names only {len(names)} stages")
        self.stages.append((names[name], self.cycle))
        self.bus.emit(StageBegan, self.cycle, self.name, names[name])

    def add_parameter(self, parameter: int, delta: int) -> None:
        """Add to a parameter of the running frame."""
        if parameter >= len(self.parameters):
            self._fault(f"parameter P{parameter} was not passed")
        self.parameters[parameter] += delta

    def signal(self, semaphore: int) -> None:
        """Signal a semaphore."""
        if semaphore not in self.remote_semaphores:
            self.semaphores.signal(semaphore)
        self.signalled = semaphore
        self.bus.emit(Signalled, self.cycle, self.name, self.index - 1, semaphore)

    def wait(self, semaphore: int) -> None:
        """Take from a semaphore, or wait for it."""
        self.waiting = None
        if not self.semaphores.take(semaphore):
            self.index -= 1
            self.executed[self.index] -= 1
            self.cycle -= self.sequencer.cycles[self.index]
            self.waiting = semaphore
            return
        self.bus.emit(Taken, self.cycle, self.name, self.index - 1, semaphore)
        self._tell_executed(self.index - 1)

    def resume(self, cycle: int) -> None:
        """Let time pass until ``cycle`` while the stream waits for its semaphore or for a transfer."""
        reason = "transfer" if self.waiting is None else f"sem {self.waiting}"
        waited = cycle - self.cycle
        if self.max_cycles is not None and cycle > self.max_cycles:
            raise self._limit(f", where it waits for {reason} since cycle {self.cycle}")
        if waited:  # a stream that ran ahead of the clock may have stopped where it need not wait
            self.waits[reason] = self.waits.get(reason, 0) + waited
            stage = (len(self.stages) - 1, reason)
            self.stage_waits[stage] = self.stage_waits.get(stage, 0) + waited
            self.bus.emit(Waited, self.cycle, self.name, self.index - (self.waiting is None), reason, cycle)
        self.cycle = cycle

    def why_waiting(self) -> str:
        """Return which stream waits where for which semaphore, and since when."""
        semaphore = f"sem {self.waiting} (count {self.semaphores.count(self.waiting)})"
        return f"{self.name.upper()}  {self._here()}   waits {semaphore} since cycle {self.cycle}"

    @property
    def busy(self) -> int:
        """Cycles of the instructions executed so far."""
        return sum(map(mul, self.executed, self.sequencer.cycles))

    def check_account(self) -> None:
        """Raise InternalError unless the cycles of what executed and the waits are all the cycles there were."""
        busy, waited = self.busy, sum(self.waits.values())
        if busy + waited != self.cycle:
            raise InternalError(f"{self.name.upper()}: {busy} cycles busy + {waited} waiting are not {self.cycle}")

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return all that changes while the stream runs, as numbers, text, lists and dicts."""
        return {
            "cycle": self.cycle,
            "index": self.index,
            "halted": self.halted,
            "executed": list(self.executed),
            "frames": [list(astuple(frame)) for frame in self.frames],
            "stages": [list(stage) for stage in self.stages],
            "waits": dict(self.waits),
            "stage_waits": [[*stage, cycles] for stage, cycles in self.stage_waits.items()],
            "waiting": self.waiting,
            "signalled": self.signalled,
            "routine_cycles": {name: list(use) for name, use in self.routine_cycles.items()},
            "control_since": list(self._control_since),
            "semaphores": self.semaphores.counts,
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of a stream of the same program."""
        self.cycle, self.index, self.halted = snapshot["cycle"], snapshot["index"], snapshot["halted"]
        self.executed[:] = snapshot["executed"]
        self.frames = [CallFrame(*copy.deepcopy(values)) for values in snapshot["frames"]]
        self.stages = [(name, cycle) for name, cycle in snapshot["stages"]]
        self.waits = dict(snapshot["waits"])
        self.stage_waits = {(stage, reason): cycles for stage, reason, cycles in snapshot["stage_waits"]}
        self.waiting, self.signalled = snapshot["waiting"], snapshot["signalled"]
        self.routine_cycles = {name: (calls, cycles) for name, (calls, cycles) in snapshot["routine_cycles"].items()}
        self._control_since = tuple(snapshot["control_since"])
        self.semaphores.restore(snapshot["semaphores"])

    # --- checks --------------------------------------------------------------------------------------------------

    def _limit(self, how: str) -> CycleLimitError:
        return CycleLimitError(f"cycle limit {self.max_cycles} reached at {self._here()} ({self.name.upper()}{how})")

    def _watch_control(self) -> None:
        since, count = self._control_since
        count = count + 1 if since == self.cycle else 1
        self._control_since = (self.cycle, count)
        if count > _CONTROL_LIMIT:
            self._fault(f"{_CONTROL_LIMIT:,} control instructions and no other: a loop that takes no time")

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
        where = self.sequencer.program.where(max(0, self.index - 1)) if self.index is not None else self.name
        raise MachineFault(f"{where}: {message} (cycle {self.cycle})")
