"""A PixelFlow node: PE array, texture memory, two instruction streams, and the account of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, overload

from pixelflow.isa import Program
from pixelflow.node.account import (
    NO_PROGRAM,
    Run,
    UntimedRun,
    account,
    unfinished_account,
    untimed_account,
    with_program,
)
from pixelflow.node.run.analysis import analysis_of
from pixelflow.node.run.as_soon_as_possible import AsSoonAsPossible
from pixelflow.node.run.clocked import Clocked
from pixelflow.node.run.perform import OnLanes, OnMarks, OnNothing, Performance, prepared
from pixelflow.node.run.score import AtOnce, Direct, From, Noting, Score, SideEffects, play
from pixelflow.node.run.stream import Stream
from pixelflow.node.state import NodeState, by_one_thread, program_of
from pixelflow.observe import Bus, RunBegan, RunEnded
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InputError, MachineFault, must_be
from pixelflow.simd.units import Cycle

if TYPE_CHECKING:
    from pixelflow.node.saved_state import Checkpoint


@dataclass(frozen=True, slots=True)
class Running:
    """A run in progress, for signal handlers, other threads and notebooks that watch or stop it."""

    streams: tuple[Stream, ...]

    @classmethod
    def of(cls, streams: Iterable[Stream]) -> Running:
        """Return the run of these streams."""
        return cls(tuple(streams))

    @property
    def cycle(self) -> Cycle:
        """The cycle that the streams have reached."""
        return Cycle(max(stream.cycle for stream in self.streams))

    @property
    def places(self) -> str:
        """The places of the streams: ``prog.mc:12``, or ``prog.mc:12 (EIGC), prog.mc:40 (TIGC)``."""
        if len(self.streams) == 1:
            return self.streams[0].place
        return ", ".join(f"{stream.place} ({stream.name.upper()})" for stream in self.streams)

    counted: ClassVar[str] = "cycle"

    @property
    def interrupted(self) -> bool:
        """True after `interrupt`."""
        return any(stream.interrupted for stream in self.streams)

    def __str__(self) -> str:
        return f"cycle {self.cycle:,}, {self.places}"

    def interrupt(self) -> None:
        """End the run with KeyboardInterrupt before its next instruction, in a consistent state."""
        for stream in self.streams:
            stream.interrupted = True


TIMING_ONLY = "none (timing only)"
"""The name of the lane engine in the account of a run without data."""

RUN_REASONS = {
    DeadlockError: "deadlock",
    CycleLimitError: "cycle limit",
    MachineFault: "fault",
    InputError: "refused",
    KeyboardInterrupt: "interrupted",
    GeneratorExit: "interrupted",  # `steps` may be left anywhere
}


def _reason(error: BaseException) -> str:
    """Return why a run was stopped."""
    return RUN_REASONS.get(type(error), "internal error")


class _Saving(NamedTuple):
    """The cycle before which a run is to be saved, and the receiver of the state."""

    cycle: int
    entry: str | None
    save: Callable[[Checkpoint], None] | None


class Node(NodeState):
    """One node. State stays between runs, so that programs may follow each other on the same data. One thread at a time
    may use it; calls from another one meanwhile raise InputError.

    Memory is indexed ``[byte, lane]`` with lane = ((module * 8 + emc) * 8 + panel) * 32 + pe.
    """

    running: Running | None = None
    """The run in progress."""
    unfinished: Run | UntimedRun | None = None
    """The account of the last run if it was stopped."""

    # --- running -----------------------------------------------------------------------------------------------

    @overload
    def run(
        self, program: Program, *, timing: Literal[False], max_cycles: int | None = ..., entry: str | None = ...
    ) -> UntimedRun: ...

    @overload
    def run(
        self,
        program: Program,
        *,
        max_cycles: int | None = ...,
        entry: str | None = ...,
        function: bool = ...,
        timing: Literal[True] = ...,
        shuffle_seed: int | None = ...,
        save_at: int | None = ...,
        save: Callable[[Checkpoint], None] | None = ...,
    ) -> Run: ...

    @by_one_thread
    def run(
        self,
        program: Program,
        *,
        max_cycles: int | None = None,
        entry: str | None = None,
        function: bool = True,
        timing: bool = True,
        shuffle_seed: int | None = None,
        save_at: int | None = None,
        save: Callable[[Checkpoint], None] | None = None,
    ) -> Run | UntimedRun:
        """Run a program to its end and return the account of its EMC stream; ``run.beside`` is the texture stream's.

        The program's data (``data x: float 1.5``) are loaded first, unless this node has had them: see `load`.

        ``entry`` runs one stream alone. With ``function`` false only time passes: the same cycles, nothing in the node
        changes, TASIC registers included, and InputError where the time depends on PE data. Such a run detects faults
        that follow from the program; texture addresses given by PEs (explicit or base addresses, and those held from
        them) are not checked.

        With ``timing`` false no time is simulated: PEs, texture and GP memory, TASIC registers come out as in a full
        run where the streams are synchronised by semaphores, and the account has no cycles. ``max_cycles`` then limits
        each stream's own cycles, without waits; port conflicts are not detected; InputError where the bus has
        subscribers (`run/as_soon_as_possible.py`).

        ``shuffle_seed`` ticks the boxes in a random order, which changes nothing. When everything that begins before
        cycle ``save_at`` is done, ``save`` receives the state of the run; InputError where the run ends before that.
        Raises MachineFault, DeadlockError or CycleLimitError; PE state is then that after the previous instructions.
        """
        self.program = program_of(program)
        for given, what in ((max_cycles, "a number of cycles"), (save_at, "a cycle"), (shuffle_seed, "a seed")):
            must_be(given, (int, type(None)), f"{what}, a whole number")
            if given is not None and (given < 0 or isinstance(given, bool)):
                raise InputError(f"expected {what}, 0 or more, found {given}")
        if not timing:
            return self._run_untimed(program, entry, max_cycles, function=function, saved=save_at is not None)
        if save_at is not None and not function:
            raise InputError("a timing-only run has no PE data, so there is no state to save")
        if function:
            self.load_once(program)
        is_plain = function and save_at is None and max_cycles is None and shuffle_seed is None
        if is_plain and self.array.macro is not None and not self.bus.watched:
            return self._run_again(program, entry)
        self.array.exact |= save_at is not None
        runner = self.runner(program, entry, max_cycles, shuffle_seed, function=function)
        saving = None if save_at is None else _Saving(save_at, entry, save)
        return self._finish(runner, saving, function=function)

    def _run_again(self, program: Program, entry: str | None) -> Run:
        """Run a program from its score where there is one, as far as its transfers give the commands of before."""
        scores, before = prepared(self.array, program).scores, dict(self.texture.moved)
        known, score = scores.get(entry), Score()
        effects: SideEffects = Direct(self.array, self.texture)
        if known is not None:
            done = known.repeat(self.array, self.texture)
            if done is None and isinstance(known.run, Run) and self._moved_since(before) == known.moved:
                return with_program(known.run, program)
            del scores[entry]
            effects = From(known, len(known.steps) if done is None else done, effects)
        runner = self.runner(program, entry, None, None, effects=Noting(effects, score))
        runner.moved_before = before
        run = self._finish(runner, None)
        score.run, score.moved = replace(with_program(run, NO_PROGRAM), repeated=True), self._moved_since(before)
        if score.complete(self.array):
            scores[entry] = score
        return run

    def _run_untimed(
        self, program: Program, entry: str | None, max_cycles: int | None, *, function: bool, saved: bool
    ) -> UntimedRun:
        if not function:
            raise InputError("a run without PE data (function=False) and without time (timing=False) does nothing")
        if saved:
            raise InputError("a function-only run simulates no time, so there is no cycle to save the state at")
        if self.bus.watched:
            raise InputError("a function-only run simulates no time, so there are no events for subscribers")
        self.load_once(program)
        scores, before = prepared(self.array, program).scores, dict(self.texture.moved)
        effects, key = AtOnce(self.array, self.texture, program), ("untimed", entry)
        known = scores.get(key) if max_cycles is None else None
        run = None if known is None else known.run
        if known is not None and isinstance(run, UntimedRun):
            play(known, effects)
        else:
            analysis, score = analysis_of(program, self.config), Score()
            lanes = OnLanes(analysis, self.array, self.texture, Bus(), Noting(effects, score))
            runner = AsSoonAsPossible(program, self.config, lanes, entry=entry, max_cycles=max_cycles)
            self._go_untimed(runner)
            run = score.run = with_program(untimed_account(runner, self.engine), NO_PROGRAM)
            if score.complete(self.array):
                scores[key] = score
        return replace(with_program(run, program), moved=self._moved_since(before))

    def _go_untimed(self, runner: AsSoonAsPossible) -> None:
        """Run to the end; the account of a run that is stopped is in ``unfinished``."""
        self.running, self.unfinished = Running.of(runner.streams), None
        try:
            runner.run()
        except BaseException as error:
            self._say_where(error)
            self.unfinished = untimed_account(runner, self.engine, _reason(error))
            raise
        finally:
            self.running = None

    def _moved_since(self, before: dict[str, int]) -> dict[str, int]:
        return {way: count - before[way] for way, count in self.texture.moved.items()}

    @by_one_thread
    def fuse(self, program: Program, entry: str | None = None) -> None:
        """Compile the repeated runs of a program to native code: call it after the first run.

        After many runs this happens automatically; it takes about a second. Nothing happens on engines other than
        macro, or where the program has not been run yet.
        """
        known = prepared(self.array, program_of(program)).scores.get(entry)
        if self.array.macro is not None and known is not None:
            known.fuse(self.array.macro)

    @by_one_thread
    def resume(
        self,
        program: Program,
        checkpoint: Checkpoint,
        *,
        max_cycles: int | None = None,
        shuffle_seed: int | None = None,
        save_at: int | None = None,
        save: Callable[[Checkpoint], None] | None = None,
    ) -> Run:
        """Put the node into a saved state and run to the end; the account counts from the beginning of the program.

        Raises InputError where the checkpoint is of another program or configuration; the engine may be another one.
        """
        self.program = program_of(program)
        if not hasattr(checkpoint, "check_state"):
            must_be(checkpoint, (), "a Checkpoint", "Checkpoint.load(FILE) reads one")
        checkpoint.check(program, self.config)
        if save_at is not None and save_at < checkpoint.cycle:
            raise InputError(f"cycle {save_at} cannot be saved: the run was loaded at cycle {checkpoint.cycle}")
        from pixelflow.node.saved_state import trusted

        self.array.exact = True
        saving = None if save_at is None else _Saving(save_at, checkpoint.entry, save)
        with trusted(checkpoint.file):
            runner = self.runner(program, checkpoint.entry, max_cycles, shuffle_seed)
            checkpoint.check_state(Node(self.config, "rows").snapshot(), runner.snapshot())
            self.restore(checkpoint.state)
            self.note_loaded(program)
            runner.restore(checkpoint.state["run"])
            return self._finish(runner, saving, resumed=True)

    def steps(self, program: Program, *, entry: str = "eigc", max_cycles: int | None = None) -> Iterator[Stream]:
        """Run one stream instruction by instruction: yields it after each one, with PE state up to date."""
        with self.alone():
            self.load_once(program)
            runner = self.runner(program, entry, max_cycles, None)
            with self.watched(runner):
                yield from runner.steps()
                run = self._account(runner)
            self._emit_end(runner, run)

    def runner(
        self,
        program: Program,
        entry: str | None,
        max_cycles: int | None,
        shuffle_seed: int | None,
        *,
        function: bool = True,
        bus: Bus | None = None,
        effects: SideEffects | None = None,
    ) -> Clocked:
        """Return a run of a program before its first cycle; it emits events on ``bus``, by default the node's.

        ``effects`` take the steps of the run, by default directly.
        """
        bus = self.bus if bus is None else bus
        performance = self.performance(program, entry, bus, function=function, effects=effects)
        return Clocked(
            program,
            self.config,
            performance,
            entry=entry,
            bus=bus,
            max_cycles=max_cycles,
            shuffle_seed=shuffle_seed,
        )

    def performance(
        self,
        program: Program,
        entry: str | None,
        bus: Bus,
        *,
        function: bool = True,
        effects: SideEffects | None = None,
    ) -> Performance:
        """Return the performance of a run on this node: with data, or without (``function`` false)."""
        analysis = analysis_of(program, self.config)
        if function:
            return OnLanes(analysis, self.array, self.texture, bus, effects)
        if entry is not None or len(program.entries) == 1:
            return OnNothing(analysis)
        return OnMarks(self.config, analysis, self.array, self.texture)

    @contextmanager
    def watched(self, runner: Clocked, *, function: bool = True, resumed: bool = False) -> Iterator[None]:
        """Emit the begin of a run, and its end with the account so far where it is stopped."""
        self.bus.emit(RunBegan, runner.cycle, runner.program, tuple(runner.streams), function, runner, resumed)
        self.running, self.unfinished = Running.of(runner.streams.values()), None
        try:
            yield
        except BaseException as error:
            self._say_where(error)
            run = unfinished_account(runner, self.config, self._engine_name(function), _reason(error))
            self.unfinished = run
            self._emit_end(runner, run)
            raise
        finally:
            self.running = None

    def _say_where(self, error: BaseException) -> None:
        """Add the cycle and the line to an interruption."""
        if isinstance(error, KeyboardInterrupt) and not error.args:
            error.args = (f"at {self.running}",)

    def account(self, runner: Clocked, *, function: bool = True) -> Run:
        """Return the account of a run on this node that has ended, and emit its end."""
        run = self._account(runner, function=function)
        self._emit_end(runner, run)
        return run

    def _account(self, runner: Clocked, *, function: bool = True) -> Run:
        return account(runner, self.config, self._engine_name(function))

    def _emit_end(self, runner: Clocked, run: Run) -> None:
        runner.performance.close(next(iter(runner.streams.values())), run.total_cycles)
        cycles = {each.stream: each.cycles for each in run.streams}
        self.bus.emit(RunEnded, run.total_cycles, run.reason, cycles, run)

    def _engine_name(self, function: bool) -> str:
        return self.engine if function else TIMING_ONLY

    def _finish(self, runner: Clocked, saving: _Saving | None, **how: bool) -> Run:
        """Run to the end, saving the state on the way; return the account. ``how`` as in `watched`."""
        with self.watched(runner, **how):
            reached = saving is None or runner.run_until(saving.cycle)
            if saving is not None and saving.save is not None and reached:
                saving.save(self._checkpoint(runner, saving))
            runner.run()
            run = self._account(runner, function=how.get("function", True))
        self._emit_end(runner, run)
        if saving is not None and not reached:
            raise InputError(f"cycle {saving.cycle} cannot be saved: the run ends at cycle {run.total_cycles}")
        return run

    def _checkpoint(self, runner: Clocked, saving: _Saving) -> Checkpoint:
        from pixelflow.node.saved_state import Checkpoint

        state = self.snapshot() | {"run": runner.snapshot()}
        of = runner.program.sha256, self.config.sha256
        return Checkpoint(*of, saving.cycle, saving.entry, state, config=self.config.values)
