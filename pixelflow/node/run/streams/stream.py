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

from pixelflow.isa.control import WAIT
from pixelflow.node.run.costs.supply import WordTimes
from pixelflow.node.run.streams.control import ControlFlow
from pixelflow.node.run.streams.issue import BLOCKED, SIGNALLED, STALLED, STARVED, UNLATCH, Issue, IssueKind
from pixelflow.node.run.streams.semaphores import Semaphores
from pixelflow.node.run.streams.sequencer import Sequencer
from pixelflow.node.run.streams.straight_code import CallFrame, StraightCode, StraightCodes
from pixelflow.observe import TRANSFER, Blocked, Bus, Executed, RoutineEntered, Signalled, Taken, Waited
from pixelflow.simd.errors import CycleLimitError, InternalError, MachineFault
from pixelflow.simd.snapshot import Snapshot

__all__ = ["Stream"]

_NEAR_LIMIT = 1_000_000
"""Cycles before the limit from which on a stream that waits for words goes on one by one, to stop at the very cycle."""


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

        ``supply`` says when words are there; without it they are there at once.
        """
        super().__init__(sequencer, entry, Bus() if bus is None else bus)
        self.semaphores = semaphores
        self.remote_semaphores = remote_semaphores
        self.max_cycles = max_cycles
        self.supply = supply
        self.straight_codes: StraightCodes | None = None
        """Straight code to be skipped as a whole; only where nobody needs the single instructions."""
        self.may_skip: Callable[[Stream, StraightCode], bool] | None = None
        """Asked whether straight code can be skipped; where there is nobody to ask, it can."""
        self.on_skip: Callable[[Stream, StraightCode], None] | None = None
        """Called for all straight code that was skipped, unless it was issued."""
        self.executed = [0] * len(sequencer.cycles)
        self._single: dict[int, Issue] = {}
        self._alone_to = 0
        """Instructions before this one go on one by one: the cycle limit, or a fault, lies before it."""
        self.waits: dict[str, int] = {}
        """Cycles spent waiting, by reason: ``sem N``, ``transfer``, or ``instructions``, whose words come late."""
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
            code = None if self.straight_codes is None or index < self._alone_to else self.straight_codes.at(index)
            if code is not None and self._skip(code, limit):
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
            if self.supply is not None:
                self.supply.ready = False
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
        if self.cycle + code.cycles > limit:
            self._alone_to = code.end
            return False
        if not code.fits(self.frames):
            return False
        if self.supply is not None and limit - self.cycle < code.cycles + _NEAR_LIMIT:
            return False  # the limit may lie in a wait for words
        if self.may_skip is not None and not self.may_skip(self, code):
            self._alone_to = code.end
            return False
        body, supply = code.body, self.supply
        if supply is not None and supply.ready:
            return False  # the first instruction has been waited for, and goes on alone
        if supply is not None and supply.joint and not (body is None and supply.has(code.first, code.end, self.cycle)):
            return False  # nobody may know yet when the words come
        if code.stages:
            self._go_past(code)
        elif body is None:
            self._go_through(code.first, code.end, code.cycles)
        else:
            self._go_through(code.first, code.end, code.cycles - body.cycles)
            entered = self.cycle
            self.bus.emit(RoutineEntered, entered, self.name, body.name, len(self.frames))
            self._go_through(body.first, body.end + 1, body.cycles)
        self.index = code.end
        self.straight_codes.note(code)
        if body is not None:
            self.left(body.name, self.cycle - entered)
        if self.on_skip is not None and not code.shared:
            self.on_skip(self, code)
        if self.cycle > limit:
            raise self._limit(", where it waited for instructions")
        return True

    def _go_past(self, code: StraightCode) -> None:
        """Let the time of straight code pass in which stages begin; no words are waited for."""
        began = self.cycle
        for index, before, name in code.stages:
            self.index, self.cycle = index + 1, began + before
            self._watch_control()
            self.mark(name)
        self.cycle = began + code.cycles

    def _go_through(self, first: int, end: int, cycles: int) -> None:
        """Let the time of instructions ``first`` to ``end - 1`` pass, which take ``cycles`` without waits for words."""
        supply, each = self.supply, self.sequencer.cycles
        if supply is not None and not supply.has(first, end, self.cycle):
            for index in range(first, end):
                if not supply.ready:
                    self._stall(index)
                supply.ready = False
                self.cycle += each[index]
            return
        self.cycle += cycles
        if supply is not None:
            supply.ready = False
            supply.pass_over(first, end, self.cycle - each[end - 1])

    def _stall(self, index: int) -> bool | None:
        """Wait until the words of an instruction are there; return whether it had to wait, None where nobody knows."""
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
        self._tell_executed(self.index - 1)

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
            **({} if self.supply is None else {"supply": self.supply.snapshot()}),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of a stream of the same program; raises TypeError or ValueError for what is none."""
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
        if self.supply is not None:
            self.supply.restore(snapshot["supply"])

    # --- checks --------------------------------------------------------------------------------------------------

    def _limit(self, how: str) -> CycleLimitError:
        return CycleLimitError(f"cycle limit {self.max_cycles} reached at {self._here()} ({self.name.upper()}{how})")
