"""An image generation controller: one microcode sequencer, one instruction stream (thesis 2.2.1, 2.2.5).

The sequencer needs no PE data, as control flow never depends on it. A stream walks the program, executes control
instructions, and issues every other instruction. Cycles come from the declared steps of the issued instructions, so a
timing-only run is the same walk without an array.
"""

from __future__ import annotations

import copy
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from enum import Enum
from operator import mul
from typing import NamedTuple, NoReturn

from pixelflow.isa import Imm, Mem, Program
from pixelflow.isa.control import SEMAPHORES, WAIT
from pixelflow.isa.declarations import ENABLE_STACK, LATCH_STACK
from pixelflow.node.run.analysis import Sequencer
from pixelflow.node.run.semaphores import Semaphores, use_of
from pixelflow.node.run.stalls import FIRST_LEAD, LEAD, PORT, SEQUENCER, Stalls
from pixelflow.node.run.straight_code import CallFrame, StraightCode, StraightCodes
from pixelflow.node.run.supply import Supply, WordTimes
from pixelflow.observe import (
    TRANSFER,
    Blocked,
    Bus,
    Executed,
    RoutineEntered,
    RoutineLeft,
    Signalled,
    StageBegan,
    Taken,
    Waited,
)
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InternalError, MachineFault, SimulatorError
from pixelflow.simd.report import counted
from pixelflow.simd.units import Snapshot


class IssueKind(Enum):
    """The event in a stream that an order must handle."""

    EXECUTE = "an instruction other than control, or straight code that begins with one"
    UNLATCH = "a started routine returns: the caller's latch is restored"
    SIGNALLED = "the stream has signalled a semaphore (`Stream.signalled`)"
    STALLED = "the words of the next instruction came late: it can begin now"
    STARVED = "the arrival of the words of the next instruction is not known yet; the next step asks again"
    BLOCKED = "the stream waits for a semaphore (`Stream.waiting`); its next step tries again"


@dataclass(frozen=True, slots=True)
class Issue:
    """One step of a stream."""

    kind: IssueKind
    index: int | None = None
    """Position in ``program.instructions`` of the instruction to execute; None for any other kind."""
    code: StraightCode | None = None
    """The straight code that is issued with its first instruction, None for a single instruction."""


UNLATCH = Issue(IssueKind.UNLATCH)
SIGNALLED = Issue(IssueKind.SIGNALLED)
BLOCKED = Issue(IssueKind.BLOCKED)
STALLED = Issue(IssueKind.STALLED)
STARVED = Issue(IssueKind.STARVED)


# Control flow of a stream: loops, calls, jumps and stages, and their faults.


_CONTROL_LIMIT = 1_000_000
"""Consecutive control instructions after which a stream counts as stuck, as they take no time."""


class ControlFlow:
    """The position of a stream in its program; control instructions act on it."""

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
        self.index = -1  # before the entry is known
        self.index = self._position(program.entries[entry])
        self.frames: list[CallFrame] = [CallFrame(-1, [])]
        self.stages: list[tuple[str, int]] = []
        self.routine_cycles: dict[str, tuple[int, int]] = {}
        """For each routine that returned: (calls, cycles from call to return)."""
        self._control_since = (0, 0)
        """The cycle of the last control instruction, and their number in that cycle."""

    @property
    def parameters(self) -> list[int]:
        """The parameters of the running frame."""
        return self.frames[-1].parameters

    def halt(self) -> None:
        """End the stream."""
        self.halted = True

    def call(self, target: int, arguments: Sequence[Mem | Imm]) -> None:
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
        """Count a routine that has returned after this many cycles."""
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
        """Continue at a word address; loops that do not contain the target end."""
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

    def _watch_control(self, times: int = 1) -> None:
        since, count = self._control_since
        count = count + times if since == self.cycle else times
        self._control_since = (self.cycle, count)
        if count > _CONTROL_LIMIT:
            self._fault(f"{_CONTROL_LIMIT:,} control instructions and no other: a loop that takes no time")

    def _watch(self, index: int) -> None:
        """Track the depth of the PEs' stacks, which is the same in all PEs."""
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

    def _argument(self, argument: Mem | Imm) -> int:
        value, base = argument.offset if isinstance(argument, Mem) else argument.value, argument.base
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
        """The current place in the source."""
        return self._here()

    def _here(self) -> str:
        return self.program.where(min(max(self.index, 0), len(self.sequencer.control) - 1))

    def _fault(self, message: str) -> NoReturn:
        where = self.program.where(max(0, self.index - 1)) if self.index >= 0 else self.name
        raise MachineFault(f"{where}: {message} (cycle {self.cycle})")


_NEAR_LIMIT = 1_000_000
"""Cycles before the limit in which a stream with a word supply continues one by one, to stop in the exact cycle."""


class Stream(ControlFlow):
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
        supply: WordTimes | None = None,
    ) -> None:
        """Start at an entry of the program; signals of ``remote_semaphores`` are left to the order that drives it.

        Without a ``supply`` words are there at once.
        """
        super().__init__(sequencer, entry, Bus() if bus is None else bus)
        self.semaphores = semaphores
        self.remote_semaphores = remote_semaphores
        self.max_cycles = max_cycles
        self.supply = supply
        self.straight_codes: StraightCodes | None = None
        """Straight code to skip as a whole; None where single instructions are needed."""
        self.may_skip: Callable[[Stream, StraightCode], bool] | None = None
        """Called before straight code is skipped; returns whether it can be."""
        self.on_skip: Callable[[Stream, StraightCode], None] | None = None
        """Called after straight code was skipped, unless it was issued."""
        self.stalls = sequencer.stalls
        """Waits of one instruction for the one before it; None without any, and where no time passes."""
        self._stored = False
        """True if the last cycle stored."""
        self._lead = FIRST_LEAD
        """Cycles that the sequencer is ahead of the PEs; below 0, the PEs wait before their next instruction."""
        self.executed = [0] * len(sequencer.cycles)
        self._single: dict[int, Issue] = {}
        self._alone_to = 0
        """Instructions before this one are executed one by one: the cycle limit, or a fault, is before it."""
        self.waits: dict[str, int] = {}
        """Cycles spent waiting, by reason: ``sem N``, ``transfer``, or ``instructions`` whose words come late."""
        self.stage_waits: dict[tuple[int, str], int] = {}
        """The same by stage: its position in ``stages`` (-1 before the first), and the reason."""
        self.interrupted = False
        """Set from outside, it ends the run with KeyboardInterrupt before the next instruction."""
        self.waiting: int | None = None
        self.signalled: int | None = None

    def issues(self) -> Iterator[Issue]:
        """Walk the program; raises MachineFault, DeadlockError, CycleLimitError or KeyboardInterrupt."""
        sequencer = self.sequencer
        control, cycles, watched, executed = sequencer.control, sequencer.cycles, sequencer.watched, self.executed
        limit = self.max_cycles if self.max_cycles is not None else float("inf")
        size = len(control)
        wanted = self.bus.wants(Executed)
        while not self.halted:
            if self.interrupted:
                raise KeyboardInterrupt
            index = self.index
            if index >= size:
                raise MachineFault("execution ran past the end of the program: HALT or RET is missing")
            stalls = self.stalls
            if stalls is not None and self._pause(stalls, index):
                yield STALLED
                continue
            codes = self.straight_codes
            if codes is not None and index >= self._alone_to:
                code = codes.at(index)
                if code is not None and self._skip(codes, code, limit):
                    if code.shared:
                        yield Issue(IssueKind.EXECUTE, index, code)
                    continue
            if self.supply is not None and not self.supply.ready:
                late = self._stall(index)
                while late is None:
                    yield STARVED
                    late = self._stall(index)
                if late:
                    yield STALLED
            if self.cycle + cycles[index] > limit:
                raise self._limit("")
            self.cycle += cycles[index]
            executed[index] += 1
            if stalls is not None:
                self._leave(index, index + 1)
            if self.supply is not None:
                self.supply.ready = False
            instruction = control[index]
            self.index = index + 1
            if instruction is None:
                if watched[index]:
                    self._watch(index)
                if wanted:
                    self._emit_executed(index)
                yield self._issue(index)
                continue
            self._watch_control()
            started = self.frames[-1].started
            depth = len(self.frames)
            self.signalled = None
            if wanted and instruction.declaration is not WAIT:  # which may have to be repeated
                self._emit_executed(index)
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

    def _skip(self, codes: StraightCodes, code: StraightCode, limit: float) -> bool:
        """Skip straight code where no part of it is visible from outside; return whether it was skipped."""
        if self.cycle + code.cycles > limit:
            self._alone_to = code.end
            return False
        if not code.fits(self.frames):
            return False
        if self.supply is not None and limit - self.cycle < code.cycles + _NEAR_LIMIT:
            return False  # the limit may be reached in a wait for words
        if self.may_skip is not None and not self.may_skip(self, code):
            self._alone_to = code.end
            return False
        body, supply = code.body, self.supply
        if supply is not None and supply.ready:
            return False  # the first instruction has been waited for, and continues alone
        if supply is not None and supply.joint and not (body is None and supply.has(code.first, code.end, self.cycle)):
            return False  # the arrival of the words may not be known yet
        if code.stages[0]:
            self._go_past(code)
        elif body is None:
            self._go_through(code.first, code.end, code.cycles)
        else:
            self._go_through(code.first, code.end, code.cycles - body.cycles)
            entered = self.cycle
            self.bus.emit(RoutineEntered, entered, self.name, body.name, len(self.frames))
            self._go_through(body.first, body.end + 1, body.cycles)
        self.index = code.end
        codes.note(code)
        if body is not None:
            self.left(body.name, self.cycle - entered)
        if self.on_skip is not None and not code.shared:
            self.on_skip(self, code)
        if self.cycle > limit:
            raise self._limit(", where it waited for instructions")
        return True

    def _go_past(self, code: StraightCode) -> None:
        """Let the time of straight code with stages pass; words are there at once."""
        began, names = self.cycle, self.program.names
        numbers, before = code.stages
        begun = zip([names[number] for number in numbers], [began + cycles for cycles in before], strict=True)
        self.cycle = began + before[-1]
        self._watch_control(len(before) - bisect_left(before, before[-1]))
        self.stages += begun
        for name, cycle in self.stages[-len(before) :] if self.bus.wants(StageBegan) else ():
            self.bus.emit(StageBegan, cycle, self.name, name)
        self.cycle = began + code.cycles
        self._leave(code.first, code.end)

    def _go_through(self, first: int, end: int, cycles: int) -> None:
        """Let the time of instructions ``first`` to ``end - 1`` pass: ``cycles``, and waits for words."""
        supply, each = self.supply, self.sequencer.cycles
        if supply is not None and not supply.has(first, end, self.cycle):
            for index in range(first, end):
                if not supply.ready:
                    self._stall(index)
                supply.ready = False
                self.cycle += each[index]
                self._leave(index, index + 1)
            return
        self.cycle += cycles
        self._leave(first, end)
        if supply is not None:
            supply.ready = False
            supply.pass_over(first, end, self.cycle - each[end - 1])

    def _pause(self, stalls: Stalls, index: int) -> bool:
        """Wait for the sequencer or the memory port before an instruction; return whether it had to wait."""
        if self._lead < 0 and not stalls.defers[index]:
            late, self._lead = -self._lead, 0
            self._wait_until(self.cycle + late, SEQUENCER, index)
            return True
        if self._stored and stalls.reads[index]:
            self._wait_until(self.cycle + stalls.port_cycles, PORT, index)
            return True
        return False

    def _leave(self, first: int, end: int) -> None:
        """Note what instructions ``first`` to ``end - 1``, now executed, leave to the next one."""
        if self.stalls is None:
            return
        stored, gained = self.stalls.after(first, end)
        if stored is not None:
            self._stored = stored
        self._lead = min(LEAD, self._lead + gained)

    def _stall(self, index: int) -> bool | None:
        """Wait for the words of an instruction; return whether it had to wait, None where that is not known yet."""
        supply = self.supply
        if supply is None:
            return False
        begins = supply.take(index, self.cycle)
        if begins is None:
            return None
        supply.ready = True
        if begins == self.cycle:
            return False
        self._wait_until(begins, "instructions", index)
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
        """Return the first cycle of the last issue."""
        if issue.index is None:
            return self.cycle
        return self.cycle - (self.sequencer.cycles[issue.index] if issue.code is None else issue.code.cycles)

    def _emit_executed(self, index: int) -> None:
        cycles = self.sequencer.cycles[index]
        self.bus.emit(Executed, self.cycle - cycles, self.name, index, cycles)

    def settle(self) -> None:
        """Count the instructions of the straight code that was skipped."""
        if self.straight_codes is not None:
            self.straight_codes.settle(self.executed)

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
            if self.supply is not None:
                self.supply.ready = True
            return
        self.bus.emit(Taken, self.cycle, self.name, self.index - 1, semaphore)
        self._emit_executed(self.index - 1)

    def resume(self, cycle: int) -> None:
        """Let time pass until ``cycle`` while the stream waits for its semaphore or for a transfer."""
        reason = TRANSFER if self.waiting is None else f"sem {self.waiting}"
        self._wait_until(cycle, reason, self.index - (self.waiting is None))

    def _wait_until(self, cycle: int, reason: str, index: int) -> None:
        waited = cycle - self.cycle
        if self.max_cycles is not None and cycle > self.max_cycles:
            raise self._limit(f", where it waits for {reason} since cycle {self.cycle}")
        if waited:  # a stream that ran ahead of the clock may have stopped where it need not wait
            self.waits[reason] = self.waits.get(reason, 0) + waited
            stage = (len(self.stages) - 1, reason)
            self.stage_waits[stage] = self.stage_waits.get(stage, 0) + waited
            self.bus.emit(Waited, self.cycle, self.name, index, reason, cycle)
            self._stored = False
        self.cycle = cycle

    @property
    def is_blocked(self) -> bool:
        """True if the stream waits for a semaphore that has not been signalled."""
        return self.waiting is not None and not self.semaphores.count(self.waiting)

    def why_waiting(self) -> str:
        """Return the stream, the place, the semaphore and the cycle since when it waits."""
        return f"{self._why_waiting()} since cycle {self.cycle}"

    def _why_waiting(self) -> str:
        return f"{self.name.upper()}  {self._here()}   waits sem {self.waiting} (count 0)"

    @property
    def unwaited(self) -> int:
        """Its cycles without its waits."""
        return self.cycle - sum(self.waits.values())

    @property
    def busy(self) -> int:
        """Cycles of the instructions executed so far."""
        return sum(map(mul, self.executed, self.sequencer.cycles))

    def check_account(self) -> None:
        """Raise InternalError unless busy cycles and waits are all cycles of the stream."""
        busy, waited = self.busy, sum(self.waits.values())
        if busy + waited != self.cycle:
            raise InternalError(f"{self.name.upper()}: {busy} cycles busy + {waited} waiting are not {self.cycle}")

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the mutable state, as numbers, text, lists and dicts."""
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
            **({} if self.stalls is None else {"stalls": [self._stored, self._lead]}),
            **({} if self.supply is None else {"supply": self.supply.snapshot()}),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Continue from a snapshot of a stream of the same program; raises TypeError or ValueError otherwise."""
        self.cycle, self.index, self.halted = snapshot["cycle"], snapshot["index"], snapshot["halted"]
        if len(snapshot["executed"]) != len(self.executed):
            raise ValueError("not a count for each instruction")
        self.executed[:] = map(int, snapshot["executed"])
        self.frames = [CallFrame(*copy.deepcopy(values)) for values in snapshot["frames"]]
        self.stages = [(str(name), int(cycle)) for name, cycle in snapshot["stages"]]
        self.waits = {str(reason): int(cycles) for reason, cycles in snapshot["waits"].items()}
        self.stage_waits = {(int(stage), str(why)): int(cycles) for stage, why, cycles in snapshot["stage_waits"]}
        self.waiting, self.signalled = snapshot["waiting"], snapshot["signalled"]
        uses = snapshot["routine_cycles"].items()
        self.routine_cycles = {str(name): (int(calls), int(cycles)) for name, (calls, cycles) in uses}
        self._control_since = tuple(snapshot["control_since"])
        self.semaphores.restore(snapshot["semaphores"])
        self._stored, self._lead = snapshot.get("stalls", (False, FIRST_LEAD))
        if self.supply is not None:
            self.supply.restore(snapshot["supply"])

    # --- checks --------------------------------------------------------------------------------------------------

    def _limit(self, how: str) -> CycleLimitError:
        return CycleLimitError(f"cycle limit {self.max_cycles} reached at {self._here()} ({self.name.upper()}{how})")


# The next instruction of a stream that is between two instructions, found on a copy of it.


@dataclass(frozen=True, slots=True)
class Upcoming:
    """The next instruction of a stream."""

    cycle: int
    """The cycle in which it begins."""
    index: int
    """Position in the program of the next instruction that is not control."""
    control: tuple[int, ...]
    """The control instructions before it, in the order in which they will be executed."""
    frames: tuple[CallFrame, ...]
    """The calls around it, innermost last; the first is the main program."""

    outermost: int
    """The least number of open calls on the way there."""


def upcoming(stream: Stream) -> Upcoming | None:
    """Return the next instruction of a stream; None where it ends, faults or has to wait before that."""
    if _is_control(stream) is False:
        return Upcoming(stream.cycle, stream.index, (), tuple(stream.frames), len(stream.frames) - 1)
    copy, issue, path, outermost = _look_ahead(stream)
    if issue is None or issue.index is None:
        return None
    return Upcoming(copy.begins(issue), issue.index, path[:-1], tuple(copy.frames), outermost)


def ends_at(stream: Stream) -> int | None:
    """Return the cycle in which a stream ends, where nothing but control is before its end; None elsewhere."""
    if not _is_control(stream):
        return None
    copy, issue, _, _ = _look_ahead(stream)
    return copy.cycle if issue is None and copy.halted else None


def _is_control(stream: Stream) -> bool | None:
    """Return whether the next instruction is control, None where there is none."""
    control = stream.sequencer.control
    return control[stream.index] is not None if stream.index < len(control) else None


def _look_ahead(stream: Stream) -> tuple[Stream, Issue | None, tuple[int, ...], int]:
    """Return a copy of a stream at its next instruction, the issue, the path to it, the fewest open calls.
    The issue is None where the stream ends or stops before it.
    """
    bus, path, depths = Bus(), [], [len(stream.frames) - 1]
    bus.subscribe(lambda event: path.append(event.index), Executed)
    bus.subscribe(lambda event: depths.append(event.depth - 1), RoutineLeft)
    supply = None if stream.supply is None else stream.supply.another()
    copy = Stream(stream.sequencer, stream.name, Semaphores(SEMAPHORES), bus=bus, supply=supply)
    copy.restore(stream.snapshot())
    try:
        wanted = (IssueKind.EXECUTE, IssueKind.BLOCKED, IssueKind.STARVED)
        issue = next((each for each in copy.issues() if each.kind in wanted), None)
    except SimulatorError:
        issue = None
    return copy, issue, tuple(path), min(depths)


class _Open(Semaphores):
    """Semaphores that can always be taken: the order of instructions does not depend on them."""

    def take(self, semaphore: int) -> bool:
        return True


class _Ordering:
    """The supply of a stream that is ahead of the executed one: it orders words, and has them at once."""

    joint = False

    def __init__(self, supply: Supply) -> None:
        self._supply = supply
        self.ready = False

    @property
    def delivered(self) -> int:
        return self._supply.delivered

    def advance(self, cycle: int) -> None:
        pass

    def take(self, index: int, cycle: int) -> int:
        self._supply.order(index)
        return cycle

    def has(self, first: int, end: int, cycle: int) -> bool:
        return self._supply.holds(first, end)

    def pass_over(self, first: int, end: int, cycle: int) -> None:
        self._supply.order_held(first, end)

    def another(self) -> _Ordering:
        return _Ordering(self._supply)

    def snapshot(self) -> Snapshot:
        return {}

    def restore(self, snapshot: Snapshot) -> None:
        pass


class OrderAhead:
    """The order of execution beyond the position of a stream, for the sender of its words."""

    def __init__(self, stream: Stream, supply: Supply, codes: StraightCodes) -> None:
        self._limit = stream.max_cycles
        ordering = _Ordering(supply)
        self._stream = Stream(stream.sequencer, stream.name, _Open(SEMAPHORES), supply=ordering)
        self._stream.straight_codes, self._stream.stalls = codes, None
        self._issues = self._stream.issues()
        self._ended = False

    def more(self) -> bool:
        """Continue to the next instruction or straight code; return False at the end or past the cycle limit."""
        if self._ended or (self._limit is not None and self._stream.cycle > self._limit):
            self._ended = True
            return False
        try:
            self._ended = next(self._issues, None) is None
        except SimulatorError:
            self._ended = True
        return True

    def snapshot(self) -> Snapshot:
        return {"stream": self._stream.snapshot(), "ended": self._ended}

    def restore(self, snapshot: Snapshot) -> None:
        self._stream.restore(snapshot["stream"])
        self._issues, self._ended = self._stream.issues(), snapshot["ended"]


# Deadlock of the streams of a program.


class OpenWait(NamedTuple):
    """A wait that has not ended: its reason, as in `Run.waits`, and its cycles so far."""

    reason: str
    cycles: int


def deadlock(program: Program, streams: Sequence[Stream], cycle: int | None) -> DeadlockError:
    """Return the error of a deadlock, with the waits of all streams and the instructions that signal.

    ``cycle`` is None where no time is simulated.
    """
    lines = [f"deadlock{'' if cycle is None else f' at cycle {cycle}'}: no stream can advance"]
    for stream in streams:
        if stream.waiting is None:
            lines.append(f"  {stream.name.upper()}  ended{'' if cycle is None else f' at cycle {stream.cycle}'}")
            continue
        lines.append(f"  {stream.why_waiting()}")
        lines += [f"      {line}" for line in _signallers(program, streams, stream.waiting)]
    return DeadlockError("\n".join(lines))


def _signallers(program: Program, streams: Sequence[Stream], semaphore: int) -> list[str]:
    """Return a line for every instruction that signals a semaphore, with its place and whether it was reached."""
    running = {stream.name: stream for stream in streams}
    lines = []
    for entry in program.entries:
        for index in use_of(program, entry).signals.get(semaphore, ()):
            place = f"sem {semaphore} is signalled by {entry.upper()} {program.where(index)}"
            if entry not in running:
                lines.append(f"{place} (this stream does not run)")
                continue
            times = running[entry].executed[index]
            reached = f"reached, {counted(times, 'time')}" if times else "not reached"
            lines.append(f"{place} ({reached})")
    return lines or [f"sem {semaphore} is never signalled"]
