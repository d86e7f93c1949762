"""Workers of a command: this process, others of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import TypeVar

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.workers.tool import tool
from pixelflow.simd.errors import MissingPackageError, Place, SimulatorError

__all__ = ["WorkerLost", "WorkerPool"]

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")

_AHEAD = 128
"""Items that wait at a cluster at a time: more would only fill its memory."""

_PATIENCE_SECONDS = 10


class WorkerLost(SimulatorError):
    """A process that did work is gone: killed from outside, most often for want of memory."""

    exit_code = 130
    """As after Ctrl-C: the command was stopped, nothing is wrong with it."""


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Who does the work: ``jobs`` processes, 1 for this one, or the cluster whose scheduler has that address.

    What is found does not depend on who found it. Iterating raises UsageError where there is no such cluster, or its
    workers have another version of the simulator or another microcode library, and WorkerLost, with the item's name,
    where the process that had an item was killed.
    """

    jobs: int = 1
    scheduler: str | None = None

    def alone(self, items: int) -> bool:
        """Whether this process does so many items itself."""
        return self.scheduler is None and min(self.jobs, items) <= 1

    def each(
        self, work: Callable[[_Item], _Found], items: Sequence[_Item], name: Callable[[_Item], str] = str
    ) -> Iterator[_Found]:
        """Yield what ``work`` gives for every item, in their order."""
        early: dict[int, _Found] = {}
        following = 0
        for place, found in self.finished(work, items, name):
            early[place] = found
            while following in early:
                yield early.pop(following)
                following += 1

    def finished(
        self, work: Callable[[_Item], _Found], items: Sequence[_Item], name: Callable[[_Item], str] = str
    ) -> Iterator[tuple[int, _Found]]:
        """Yield the place of every item and what ``work`` gives for it, in the order in which they are finished."""
        if self.alone(len(items)):
            yield from ((place, work(item)) for place, item in enumerate(items))
            return
        seats = _cluster(self.scheduler) if self.scheduler is not None else _processes(min(self.jobs, len(items)))
        with seats as free:
            yield from _through(free, work, items, name)


@dataclass(frozen=True, slots=True)
class _Seat:
    """Where one item at a time can be done."""

    executor: Executor
    lost: tuple[type[BaseException], ...]
    """What waiting for an item raises where whoever had it is gone."""
    who: str
    hint: str = ""

    def gone(self, name: str) -> WorkerLost:
        """Return the error of it."""
        return WorkerLost(f"{self.who} while it measured {name}{'; ' if self.hint else ''}{self.hint}")


def _through(
    seats: Sequence[_Seat],
    work: Callable[[_Item], _Found],
    items: Sequence[_Item],
    name: Callable[[_Item], str],
) -> Iterator[tuple[int, _Found]]:
    waiting = iter(range(len(items)))
    running: dict[Future[_Found], tuple[int, _Seat]] = {}

    def begin(seat: _Seat) -> None:
        place = next(waiting, None)
        if place is None:
            return
        try:
            running[seat.executor.submit(work, items[place])] = place, seat
        except seat.lost:
            raise seat.gone(name(items[place])) from None

    # Processes that start now stay deaf: Ctrl-C is for this one, which stops them.
    with _deaf_to_interrupts(), _without_the_script():
        for seat in seats:
            begin(seat)
    while running:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            place, seat = running.pop(future)
            try:
                found = future.result()
            except seat.lost:
                raise seat.gone(name(items[place])) from None
            begin(seat)
            yield place, found


@contextlib.contextmanager
def _processes(jobs: int) -> Iterator[list[_Seat]]:
    before = set(multiprocessing.active_children())
    # A fresh interpreter each: a copy of this one would have its threads' locks, but not its threads. And a pool each:
    # one that is broken says whose item it had.
    spawn = multiprocessing.get_context("spawn")
    pools = [ProcessPoolExecutor(1, mp_context=spawn, initializer=_end_with_parent) for _ in range(jobs)]
    hint = "fewer --jobs need less memory"
    try:
        yield [_Seat(pool, (BrokenProcessPool,), "a process of --jobs was killed", hint) for pool in pools]
    except BaseException:
        for pool in pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    for pool in pools:
        pool.shutdown()


def _end_with_parent() -> None:
    """Let this process end when the command does, however that ends: a killed one stops nobody."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(WorkerLost.exit_code)  # not sys.exit, which would end this thread alone


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[list[_Seat]]:
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        what = "a cluster needs Dask, which is not installed"
        raise MissingPackageError(what, "distributed", Place("--scheduler")) from None
    try:
        client = Client(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        reason = str(error).partition("\n")[0][:200]
        raise UsageError(f"--scheduler {address}", f"no scheduler answers there: {reason}") from None
    with client:
        _check_workers(client, address)
        executor = client.get_executor(pure=False, retries=1)
        # What is left undone when the scheduler goes away is cancelled.
        lost = (KilledWorker, CancelledError)
        yield [_Seat(executor, lost, f"workers of {address} were killed, or it is gone,")] * _AHEAD


def _check_workers(client: object, address: str) -> None:
    """Raise UsageError unless there are workers, all of this version of the simulator and with this library."""
    place = f"--scheduler {address}"
    try:
        tools = client.run(tool)
    except Exception as error:  # whatever the import raised over there
        raise UsageError(place, f"its workers cannot use the simulator: {type(error).__name__}: {error}") from None
    if not tools:
        raise UsageError(place, "it has no workers", f"start one: dask worker {address}")
    version, library = tool()
    for worker, (other, sources) in sorted(tools.items()):
        if other != version:
            raise UsageError(place, f"worker {worker} has pixelflow-sim {other}, not {version}")
        if sources != library:
            raise UsageError(place, f"worker {worker} has another microcode library: sha256 {sources[:12]}")


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C, also in processes that begin meanwhile."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread, which alone gets interrupts
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _without_the_script() -> Iterator[None]:
    """Let processes that begin meanwhile import what they need and not the script that runs here.

    What they do stands in packages, and a script that does not ask for its name would begin again in each of them.
    """
    script = vars(sys.modules["__main__"])
    hidden = {name: script.pop(name) for name in ("__file__", "__spec__") if name in script}
    script["__spec__"] = None
    try:
        yield
    finally:
        script.update(hidden)
