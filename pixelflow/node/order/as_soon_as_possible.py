"""Function-only runs: what a program does to PEs, texture memory and GPs, without asking when.

The counterpart of timing-only runs. The texture stream goes as far as it can at the beginning, after every signal of
the EMC stream that it could wait for, and whenever the EMC stream waits; a transfer begins and ends at once.

Each semaphore is taken by one stream alone, so how far the streams come does not depend on who goes first (G. Kahn,
The semantics of a simple language for parallel programming, 1974). Where they touch the same data only when a semaphore
says that they may, the state is bit for bit that of a full run. Where the result depends on how long things take it
need not be: two accesses that no semaphore keeps apart may come in another order, and an access to a port while a
transfer uses it, which a full run refuses as a port conflict, is not seen.

As control flow knows no PE data, a program that is run again makes the same steps whatever the data are. So they are
kept with the program, and a second run makes them without walking it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pixelflow.errors import CycleLimitError, DeadlockError, InputError, MachineFault
from pixelflow.isa import Instruction, Program, Unit
from pixelflow.isa.control import SEMAPHORES
from pixelflow.node.account.ledger import Ledger, signal_flows
from pixelflow.node.account.untimed_run import UntimedRun
from pixelflow.node.perform.on_lanes import ArrayWorker
from pixelflow.node.perform.score import Lanes, Score, Settings, Step, Told, tell
from pixelflow.node.streams.analysis import analysis_of
from pixelflow.node.streams.semaphore_use import STREAMS, deadlock
from pixelflow.node.streams.semaphores import Semaphores
from pixelflow.node.streams.stream import BLOCKED, SIGNALLED, Issue, Stream
from pixelflow.node.texture.unit import TextureUnit
from pixelflow.observe import Bus

if TYPE_CHECKING:
    from pixelflow.node.node import Node

__all__ = ["Untimed", "run_untimed"]


class _UntimedStream(Stream):
    """A stream whose cycles are its own alone, without waits: they end endless loops, and say nothing about time."""

    def why_waiting(self) -> str:
        semaphore = f"sem {self.waiting} (count {self.semaphores.count(self.waiting)})"
        return f"{self.name.upper()}  {self._here()}   waits {semaphore}"

    def _limit(self, how: str) -> CycleLimitError:
        return super()._limit(f", its own cycles without waits{how}")

    def _fault(self, message: str) -> None:
        where = self.sequencer.program.where(max(0, self.index - 1)) if hasattr(self, "index") else self.name
        raise MachineFault(f"{where}: {message}")


class Untimed:
    """A function-only run of one stream, or of both."""

    def __init__(self, node: Node, program: Program, entry: str | None, max_cycles: int | None) -> None:
        """``entry`` and the limit as in `Node.run`; raises MachineFault where no sequencer can run the program."""
        analysis = analysis_of(program, node.config.igc)
        both = entry is None and len(program.entries) > 1
        self.program = program
        self.steps = _Steps()
        self.streams = [
            _UntimedStream(
                analysis.sequencer,
                name,
                Semaphores(SEMAPHORES),
                max_cycles,
                elsewhere=analysis.specs[name].elsewhere if both else frozenset(),
            )
            for name in (STREAMS if both else (entry or STREAMS[0],))
        ]
        self._emc, self._beside = self.streams[0], self.streams[1] if both else None
        self._texture = node.texture
        self._worker = ArrayWorker(node.array, program, Bus(), self.steps)
        self._worker.join(self._emc, analysis)
        self._commands: Iterator[Issue] = self._beside.issues() if both else iter(())

    def run(self) -> None:
        """Run to the end; raises MachineFault, DeadlockError or CycleLimitError.

        PE state is then as the instructions of the EMC stream before left it.
        """
        stream = self._emc
        try:
            self._go_on_beside()
            for issue in stream.issues():
                if issue == SIGNALLED:
                    if stream.signalled in stream.elsewhere:
                        self._beside.semaphores.signal(stream.signalled)
                        self._go_on_beside()
                elif issue == BLOCKED:
                    self._go_on_beside()
                    if not stream.semaphores.count(stream.waiting):
                        raise self._standstill()
                else:
                    self._on_lanes(issue)
            self._go_on_beside()
            if self._beside is not None and not self._beside.halted:
                raise self._standstill()
        finally:
            self._worker.flush()
        for each in self.streams:
            each.settle()
            each.check_account()
        Ledger(signal_flows(self.streams)).check()

    def _standstill(self) -> DeadlockError:
        for each in self.streams:
            each.settle()
        return deadlock(self.program, self.streams, None)

    def _go_on_beside(self) -> None:
        """Take the texture stream to its end, or to a wait that is not over."""
        stream = self._beside
        if stream is None or (stream.waiting is not None and not stream.semaphores.count(stream.waiting)):
            return
        for issue in self._commands:
            if issue == BLOCKED:
                return
            if issue == SIGNALLED:
                if stream.signalled in stream.elsewhere:
                    self._emc.semaphores.signal(stream.signalled)
            elif issue >= 0:
                self._on_tasics(issue)

    def _on_lanes(self, issue: Issue) -> None:
        try:
            self._worker.issue(self._emc, issue)
        except MachineFault as error:
            raise _placed(self.program, issue, error) from None

    def _on_tasics(self, issue: Issue) -> None:
        instruction = self.program.instructions[issue]
        if instruction.declaration.unit is not Unit.TASIC:
            where = self.program.where(issue)
            raise MachineFault(f"{where}: {instruction.text()}: not an instruction of the TASICs")
        self._worker.flush()
        self.steps.note(instruction, issue)
        _carry_out(self._texture, self.program, instruction, issue)


@dataclass(slots=True)
class _Steps(Score):
    """The steps of a function-only run: actions of the PEs, writes of the LEE, texture instructions."""

    run: UntimedRun | None = None
    places: list[Issue] = field(default_factory=list)
    """Where each of the texture instructions stands."""

    def settings(self, instruction: Instruction) -> bool:
        """Note an instruction of the LEE, which is to be carried out."""
        self._keep(Settings(instruction))
        return True

    def note(self, instruction: Instruction, issue: Issue) -> None:
        """Note a texture instruction; the transfer that it asks for follows from what the TASICs were told before."""
        if self._keep(Told(instruction, None)):
            self.places.append(issue)

    def _keep(self, step: Step) -> bool:
        """Keep a step unless there are too many; return whether it was kept."""
        self.size += 1
        if self.is_long:
            return False
        self.steps.append(step)
        return True

    def again(self, node: Node, program: Program) -> None:
        """Carry out all steps; raises MachineFault where a texture instruction does."""
        places = iter(self.places)
        for step in self.steps:
            match step:
                case Lanes(actions):
                    node.array.run(actions)
                case Settings(instruction):
                    node.array.configure(instruction)
                case Told(instruction):
                    _carry_out(node.texture, program, instruction, next(places))


def _carry_out(unit: TextureUnit, program: Program, instruction: Instruction, issue: Issue) -> None:
    """Carry out a texture instruction, and the transfer that it asks for."""
    try:
        transfer = tell(unit, instruction)
        if transfer is not None:
            unit.begin(transfer)
            unit.end()
    except MachineFault as error:
        raise _placed(program, issue, error) from None


def _placed(program: Program, issue: Issue, error: MachineFault) -> MachineFault:
    """Return a fault with the place of its instruction; a full run tells some by their cycle alone."""
    where, text = program.where(max(0, issue)), str(error)
    return error if text.startswith(where) else MachineFault(f"{where}: {text}")


class _Kept:
    """Stands for a program in what an array has prepared: its steps stay for as long as it does."""


def run_untimed(node: Node, program: Program, entry: str | None, max_cycles: int | None) -> UntimedRun:
    """Run a program without simulating time and return what it did; see `Node.run`.

    Raises InputError where somebody listens to the node: events happen in cycles, and there are none.
    """
    if node.bus:
        raise InputError("a function-only run simulates no time, so there is nothing to tell those who listen")
    before = dict(node.texture.moved)
    kept = node.array.prepared.setdefault(program.analyses.setdefault(_Kept, _Kept()), {})
    steps: _Steps | None = kept.get((entry, node.array.exact))
    if steps is not None and max_cycles is None:
        steps.again(node, program)
        account = steps.run
    else:
        runner = Untimed(node, program, entry, max_cycles)
        runner.run()
        account, steps = _account(runner, node.engine), runner.steps
        # Without the program, which would be kept for as long as the node is there.
        steps.run = _of(account, None, {})
        if steps.complete:
            steps.finish(node.array)
            kept[entry, node.array.exact] = steps
    return _of(account, program, {way: count - before[way] for way, count in node.texture.moved.items()})


def _account(runner: Untimed, engine: str) -> UntimedRun:
    account = None
    for stream in reversed(runner.streams):
        account = UntimedRun(
            program=runner.program,
            engine=engine,
            stream=stream.name,
            executed=tuple(stream.executed),
            stages=tuple(name for name, _ in stream.stages),
            calls={name: calls for name, (calls, _) in stream.routine_cycles.items()},
            moved={},
            beside=account,
        )
    return account


def _of(account: UntimedRun, program: Program | None, moved: dict[str, int]) -> UntimedRun:
    """Return an account of its own for one run, of this program."""
    beside = None if account.beside is None else _of(account.beside, program, {})
    return replace(account, program=program, calls=dict(account.calls), moved=moved, beside=beside)
