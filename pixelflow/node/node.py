"""A PixelFlow node: PE array, texture memory, two instruction streams, and the account of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import texture_state
from pixelflow.node.account import account, unfinished_account
from pixelflow.node.gp_memory import GpMemory
from pixelflow.node.igc import Stream
from pixelflow.node.one_stream import OneStream
from pixelflow.node.pe_array import PeArray
from pixelflow.node.repeated import fuse, run_repeatedly
from pixelflow.node.run import Run
from pixelflow.node.score import Score
from pixelflow.node.texture_memory import TextureMemory
from pixelflow.node.texture_unit import TextureUnit
from pixelflow.node.two_streams import TwoStreams
from pixelflow.observe import Bus, RunBegan, RunEnded
from pixelflow.report import Report, Shown
from pixelflow.simd.errors import CycleLimitError, DeadlockError, InputError, MachineFault
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.records import record

if TYPE_CHECKING:
    from pixelflow.node.checkpoint import Checkpoint
    from pixelflow.node.untimed_run import UntimedRun

__all__ = ["TIMING_ONLY", "Node"]

TIMING_ONLY = "none (timing only)"
"""What stands for the lane engine in the account of a run without data."""

RUN_REASONS = {
    DeadlockError: "deadlock",
    CycleLimitError: "cycle limit",
    MachineFault: "fault",
    InputError: "refused",
    KeyboardInterrupt: "interrupted",
    GeneratorExit: "interrupted",  # whoever steps through a run may stop anywhere
}


@record
class _Saving:
    """Where a run is to be saved: before which cycle, and who takes the state."""

    cycle: int
    entry: str | None
    save: Callable[[Checkpoint], None] | None


class Node(Shown):
    """One node. State stays between runs, so that programs may follow each other on the same data.

    Memory is indexed ``[byte, lane]`` with lane = ((module * 8 + emc) * 8 + panel) * 32 + pe.
    """

    def __init__(self, config: NodeConfig = THESIS, engine: str = AUTO) -> None:
        self.config = config
        self.array = PeArray(config, engine)
        self.texture_memory = [TextureMemory(config.sdram) for _ in range(config.array.modules)]
        self.gp_memory = [GpMemory() for _ in range(config.gni.gp_count)]
        self.texture = TextureUnit(config, self.array.engine, self.texture_memory, self.gp_memory)
        self.bus = Bus()
        """Where the runs of the node tell what happens; subscribe before a run."""

    def __repr__(self) -> str:
        return f"Node({self.config!r}, engine {self.engine})"

    def report(self) -> Report:
        """Return what the array shows, and of which machine it is."""
        title = f"node of {self.lanes:,} PEs at {self.config.clock_mhz} MHz, config {self.config.sha256[:12]}"
        return replace(self.array.report(), title=title)

    @property
    def engine(self) -> str:
        """The name of the lane engine."""
        return self.array.engine.name

    @property
    def lanes(self) -> int:
        """PEs of the node."""
        return self.config.lanes

    # --- running -----------------------------------------------------------------------------------------------

    def load(self, program: Program) -> None:
        """Write the program's data sections into PE memory; raises InputError where they leave the PE."""
        for block in program.data:
            size = block.lanes or len(block.values)
            if block.start + size > self.config.array.memory_bytes:
                raise InputError(f"data at {block.start}: {size} bytes do not fit {self.config.array.memory_bytes}")
            if block.lanes:
                lane = np.arange(self.lanes, dtype="<u8").view(np.uint8).reshape(self.lanes, 8)
                values = lane[:, : block.lanes].T
            else:
                values = np.repeat(np.array(block.values, np.uint8)[:, None], self.lanes, axis=1)
            self.write_memory(block.start, values)

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
        """Run a program to its end and return the account of its EMC stream (the texture stream's is ``beside``).

        ``entry`` runs one stream alone. With ``function`` false only time passes: the same cycles, nothing in the node
        changes, TASIC registers included, and InputError where the time depends on PE data. Such a run refuses what
        follows from the program; it does not look at texture addresses that PEs give (explicit or base addresses, and
        those held from them), so a bad one, or one that breaks a promise of alternate banks, passes.

        With ``timing`` false no time is simulated: PEs, texture and GP memory, TASIC registers come out as in a full
        run where the streams are synchronised by semaphores, and the account has no cycles. ``max_cycles`` then limits
        each stream's own cycles, without waits; a port conflict is not seen; InputError where somebody listens to the
        bus (`untimed.py`).

        ``shuffle_seed`` ticks the boxes in a random order, which changes nothing. When all that begins before cycle
        ``save_at`` is done, ``save`` gets the state of the run; InputError where the run ends before that. Raises
        MachineFault, DeadlockError or CycleLimitError; PE state is then as the instructions before left it.
        """
        if not timing:
            return self._run_untimed(program, entry, max_cycles, function=function, saved=save_at is not None)
        if save_at is not None and not function:
            raise InputError("a timing-only run has no PE data, so there is no state to save")
        if self.array.repeats and function and not self.bus and (save_at, max_cycles, shuffle_seed) == (None,) * 3:
            return run_repeatedly(self, program, entry)
        self.array.exact |= save_at is not None
        runner = self.runner(program, entry, max_cycles, shuffle_seed, function=function)
        saving = None if save_at is None else _Saving(save_at, entry, save)
        return self._finish(runner, saving, function=function)

    def _run_untimed(
        self, program: Program, entry: str | None, max_cycles: int | None, *, function: bool, saved: bool
    ) -> UntimedRun:
        from pixelflow.node.untimed import run_untimed

        if not function:
            raise InputError("a run without PE data (function=False) and without time (timing=False) does nothing")
        if saved:
            raise InputError("a function-only run simulates no time, so there is no cycle to save the state at")
        return run_untimed(self, program, entry, max_cycles)

    def fuse(self, program: Program, entry: str | None = None) -> None:
        """Have native code made of all that repeated runs of a program do: call it behind the first run.

        It comes of itself where there are many runs; this takes about a second now. Nothing happens on engines that
        repeat nothing (all but macro), or where the program has not been run yet.
        """
        if self.array.repeats:
            fuse(self.array, program, entry)

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
        checkpoint.check(program, self.config)
        if save_at is not None and save_at < checkpoint.cycle:
            raise InputError(f"cycle {save_at} cannot be saved: the run was loaded at cycle {checkpoint.cycle}")
        self.array.exact = True
        runner = self.runner(program, checkpoint.entry, max_cycles, shuffle_seed)
        try:
            self.restore(checkpoint.state)
            runner.restore(checkpoint.state["run"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError):
            raise checkpoint.damaged() from None
        saving = None if save_at is None else _Saving(save_at, checkpoint.entry, save)
        return self._finish(runner, saving, resumed=True)

    def steps(self, program: Program, *, entry: str = "eigc", max_cycles: int | None = None) -> Iterator[Stream]:
        """Run one stream instruction by instruction: yields it after each one, with PE state up to date."""
        runner = OneStream(program, self.config, self.array, entry, max_cycles=max_cycles, bus=self.bus)
        with self.watched(runner):
            yield from runner.steps()
            run = self._account(runner)
        self._tell_end(run)

    def runner(
        self,
        program: Program,
        entry: str | None,
        max_cycles: int | None,
        shuffle_seed: int | None,
        *,
        function: bool = True,
        bus: Bus | None = None,
        score: Score | None = None,
    ) -> OneStream | TwoStreams:
        """Return a run of a program before its first cycle; it tells ``bus`` what happens, or the node's own."""
        bus = self.bus if bus is None else bus
        limits = {"max_cycles": max_cycles, "function": function, "bus": bus, "score": score}
        if entry is None and len(program.entries) > 1:
            return TwoStreams(program, self.config, self.array, self.texture, shuffle_seed=shuffle_seed, **limits)
        return OneStream(program, self.config, self.array, entry or "eigc", **limits)

    @contextmanager
    def watched(
        self, runner: OneStream | TwoStreams, *, function: bool = True, resumed: bool = False
    ) -> Iterator[None]:
        """Tell the bus that a run begins; and that it ends, with its account so far, where something stops it."""
        self.bus.tell(RunBegan, runner.cycle, runner.program, tuple(runner.streams), function, runner, resumed)
        try:
            yield
        except BaseException as error:
            reason = RUN_REASONS.get(type(error), "internal error")
            self._tell_end(unfinished_account(runner, self.config, self._engine_name(function), reason))
            raise

    def account(self, runner: OneStream | TwoStreams, *, function: bool = True) -> Run:
        """Return the account of a run on this node that has come to its end, and tell the bus that it has."""
        run = self._account(runner, function=function)
        self._tell_end(run)
        return run

    def _account(self, runner: OneStream | TwoStreams, *, function: bool = True) -> Run:
        return account(runner, self.config, self._engine_name(function))

    def _tell_end(self, run: Run) -> None:
        cycles = {each.stream: each.cycles for each in run.streams}
        self.bus.tell(RunEnded, run.total_cycles, run.reason, cycles, run)

    def _engine_name(self, function: bool) -> str:
        return self.engine if function else TIMING_ONLY

    def _finish(self, runner: OneStream | TwoStreams, saving: _Saving | None, **how: bool) -> Run:
        """Run to the end, saving the state on the way; return the account. ``how`` as in `watched`."""
        with self.watched(runner, **how):
            reached = saving is None or runner.run_until(saving.cycle)
            if saving is not None and saving.save is not None and reached:
                saving.save(self._checkpoint(runner, saving))
            runner.run()
            run = self._account(runner, function=how.get("function", True))
        self._tell_end(run)
        if not reached:
            raise InputError(f"cycle {saving.cycle} cannot be saved: the run ends at cycle {run.total_cycles}")
        return run

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of the node's state: PEs, LEE, texture and GP memory, TASICs."""
        return {
            "array": self.array.snapshot(),
            "texture_memory": [memory.snapshot() for memory in self.texture_memory],
            "gp_memory": [memory.snapshot() for memory in self.gp_memory],
            "texture": texture_state.snapshot(self.texture),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put the node into the state of a snapshot; the engine may be another one."""
        self.array.restore(state["array"])
        for memory, pages in zip(self.texture_memory, state["texture_memory"], strict=True):
            memory.restore(pages)
        for memory, used in zip(self.gp_memory, state["gp_memory"], strict=True):
            memory.restore(used)
        texture_state.restore(self.texture, state["texture"])

    def _checkpoint(self, runner: OneStream | TwoStreams, saving: _Saving) -> Checkpoint:
        from pixelflow.node.checkpoint import Checkpoint

        state = self.snapshot() | {"run": runner.snapshot()}
        return Checkpoint(runner.program.sha256, self.config.sha256, saving.cycle, saving.entry, state)

    # --- state --------------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Clear all PE state and enable all PEs; the LEE keeps its registers."""
        self.array.reset()

    @property
    def memory(self) -> NDArray[np.uint8]:
        """A copy of all PE memory: uint8[bytes, lanes]."""
        return self.array.engine.get_rows(0, self.config.array.memory_bytes)

    def read_memory(self, start: int, size: int = 1) -> NDArray[np.uint8]:
        """Return bytes ``start`` to ``start + size - 1`` of every PE: uint8[size, lanes]."""
        self._in_pe(start, size)
        return self.array.engine.get_rows(start, size)

    def write_memory(self, start: int, values: NDArray[np.uint8]) -> None:
        """Write bytes from ``start`` on: uint8[n, lanes]; raises InputError for another shape or range."""
        values = np.asarray(values)
        if values.ndim != 2 or values.shape[1] != self.lanes or values.dtype != np.uint8:
            raise InputError(f"PE memory must be uint8[bytes, {self.lanes}], found {values.dtype}{list(values.shape)}")
        self._in_pe(start, len(values))
        self.array.engine.set_rows(start, values)

    def _in_pe(self, start: int, size: int) -> None:
        limit = self.config.array.memory_bytes
        if start < 0 or size < 0 or start + size > limit:
            raise InputError(f"bytes {start}..{start + size - 1} are outside the PE (0..{limit - 1})")

    def read_word(self, address: int, size: int) -> NDArray[np.uint64]:
        """Return ``size`` bytes (1 to 8) of every PE as one number, low byte first: uint64[lanes]."""
        rows = self.read_memory(address, size).astype(np.uint64)
        return np.bitwise_or.reduce([row << np.uint64(8 * index) for index, row in enumerate(rows)])

    def write_word(self, address: int, size: int, values: NDArray[np.uint64]) -> None:
        """Write one number per PE into ``size`` bytes (1 to 8), low byte first."""
        numbers = np.asarray(values, np.uint64)
        rows = [(numbers >> np.uint64(8 * index)).astype(np.uint8) for index in range(size)]
        self.write_memory(address, np.array(rows))

    def read_float(self, address: int) -> NDArray[np.float32]:
        """Return the binary32 number at ``address`` of every PE: float32[lanes]."""
        return self.read_word(address, 4).astype(np.uint32).view(np.float32)

    def write_float(self, address: int, values: NDArray[np.float32]) -> None:
        """Write one binary32 number per PE."""
        bits = np.ascontiguousarray(np.broadcast_to(np.asarray(values, np.float32), (self.lanes,))).view(np.uint32)
        self.write_word(address, 4, bits)

    def register(self, name: str) -> NDArray[np.uint8]:
        """Return register R, S or M of every PE: uint8[lanes]."""
        return self.array.engine.get_word(name)

    def flag(self, name: str) -> NDArray[np.bool_]:
        """Return a flag of every PE (C, E, L, MR, MW, or a stack position): bool[lanes]."""
        return self.array.engine.get_bit(name)

    def set_register(self, name: str, values: NDArray[np.uint8]) -> None:
        """Write register R, S or M of every PE."""
        self.array.engine.set_word(name, np.asarray(values, np.uint8))

    def set_flag(self, name: str, values: NDArray[np.bool_]) -> None:
        """Write a flag of every PE."""
        self.array.engine.set_bit(name, np.asarray(values, np.bool_))

    def coordinates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return x and y of every PE as the LEE sees them: int64[lanes] each."""
        return self.array.lee.coordinates()

    def digest(self) -> str:
        """Return a hash of all PE state, equal on every engine that holds the same bits."""
        return self.array.engine.digest()
