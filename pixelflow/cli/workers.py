"""What two processes must have in common to measure the same: version of the simulator and microcode library."""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from multiprocessing import resource_tracker
from typing import Protocol, TypeVar, cast

from microcode import reader as files
from pixelflow import __version__
from pixelflow.cli.arguments import count
from pixelflow.simd.errors import MissingPackageError, Place, SimulatorError, UsageError
from pixelflow.simd.workers import share_processors


@lru_cache(maxsize=1)
def library_sha256() -> str:
    """Return a hash of all sources of the microcode library here: names, lengths and contents."""
    seen = hashlib.sha256()
    for path in sorted(files.LIBRARY.rglob("*.mc"), key=lambda path: path.relative_to(files.LIBRARY).as_posix()):
        content = path.read_bytes()
        seen.update(f"{path.relative_to(files.LIBRARY).as_posix()} {len(content)}\n".encode() + content)
    return seen.hexdigest()


def tool() -> tuple[str, str]:
    """Return the version of the simulator and the hash of the library of this process."""
    return __version__, library_sha256()


# Workers of a command: this process, others of this machine, or the workers of a Dask cluster.


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
    _kept: _KeptProcesses | None = field(default=None, repr=False, compare=False)

    @contextlib.contextmanager
    def kept(self) -> Iterator[WorkerPool]:
        """Have processes that stay from one call to the next, for whoever has little work often.

        They begin now, beside whatever goes on. Where one was killed, the call that it worked for raises WorkerLost,
        and another one takes its place before the next call. Any thread may call, and has an error where the processes
        have ended; a call that is given up leaves an item each to be done.
        """
        if self.scheduler is not None or self.jobs <= 1:
            yield self
            return
        with _processes(self.jobs) as seats:
            yield replace(self, _kept=_KeptProcesses(seats))

    def alone(self, items: int) -> bool:
        """Whether this process does so many items itself."""
        return self.scheduler is None and min(self.jobs, items) <= 1

    def each(
        self,
        work: Callable[[_Item], _Found],
        items: Sequence[_Item],
        name: Callable[[_Item], str] = str,
        weight: Callable[[_Item], float] | None = None,
    ) -> Iterator[_Found]:
        """Yield what ``work`` gives for every item, in their order, whichever was begun first."""
        early: dict[int, _Found] = {}
        following = 0
        for place, found in self.finished(work, items, name, weight):
            early[place] = found
            while following in early:
                yield early.pop(following)
                following += 1

    def finished(
        self,
        work: Callable[[_Item], _Found],
        items: Sequence[_Item],
        name: Callable[[_Item], str] = str,
        weight: Callable[[_Item], float] | None = None,
    ) -> Generator[tuple[int, _Found], None, None]:
        """Yield the place of every item and what ``work`` gives for it, in the order in which they are finished."""
        if self.alone(len(items)):
            yield from ((place, work(item)) for place, item in enumerate(items))
            return
        with self._seats(len(items)) as free:
            order = sorted(range(len(items)), key=lambda place: 0 if weight is None else -weight(items[place]))
            yield from _through(free, work, items, name, order)

    def _seats(self, items: int) -> contextlib.AbstractContextManager[list[_Seat]]:
        if self.scheduler is not None:
            return _cluster(self.scheduler)
        return _processes(min(self.jobs, items)) if self._kept is None else self._kept.lent()


@dataclass(frozen=True, slots=True)
class _Seat:
    """Where one item at a time can be done."""

    executor: Executor
    lost: tuple[type[BaseException], ...]
    """What waiting for an item raises where whoever had it is gone."""
    who: str
    hint: str = ""

    def is_lost(self) -> bool:
        """Whether nobody is there who could do anything."""
        try:
            self.executor.submit(_nothing)
        except self.lost:
            return True
        return False

    def gone(self, name: str, when: str = "while it worked on") -> WorkerLost:
        """Return the error of it."""
        return WorkerLost(f"{self.who} {when} {name}{'; ' if self.hint else ''}{self.hint}")


def _through(
    seats: Sequence[_Seat],
    work: Callable[[_Item], _Found],
    items: Sequence[_Item],
    name: Callable[[_Item], str],
    order: Sequence[int],
) -> Iterator[tuple[int, _Found]]:
    waiting = iter(order)
    running: dict[Future[_Found], tuple[int, _Seat]] = {}

    def begin(seat: _Seat) -> None:
        place = next(waiting, None)
        if place is None:
            return
        try:
            running[seat.executor.submit(work, items[place])] = place, seat
        except seat.lost:
            raise seat.gone(name(items[place]), "before it had") from None
        except RuntimeError:  # by whoever kept them
            raise WorkerLost(f"the processes of --jobs have been ended, and {name(items[place])} is not done") from None

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
    seats: list[_Seat] = []
    try:
        with _interrupts_blocked():
            for _ in range(jobs):
                seats.append(_process(jobs))
        yield seats
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        for seat in seats:
            seat.executor.shutdown(cancel_futures=True)
        raise
    for seat in seats:
        seat.executor.shutdown()


def _process(jobs: int) -> _Seat:
    """Return the seat of a process, one of so many, which begins now; interrupts are blocked."""
    # A fresh interpreter: a copy of this one would have its threads' locks, but not its threads. And a pool of one:
    # where it is broken it is known whose item it had.
    begun = partial(_begun, jobs, gc.get_threshold())
    executor = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=begun)
    with _without_the_script():
        executor.submit(_nothing)
    hint = "where memory was short, fewer --jobs need less"
    return _Seat(executor, (BrokenProcessPool,), "a process of --jobs was killed", hint)


def _nothing() -> None:
    """Do nothing: what a process is given so that it begins."""


class _KeptProcesses:
    """Seats that are lent for one call after the other, also to several at once."""

    def __init__(self, seats: list[_Seat]) -> None:
        self._seats = seats
        """The list of whoever ends the processes."""
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lent(self) -> Iterator[list[_Seat]]:
        """Lend all of them; those that are found lost are replaced first."""
        with self._lock, _interrupts_blocked():
            self._seats[:] = [_process(len(self._seats)) if each.is_lost() else each for each in self._seats]
        yield list(self._seats)


def _begun(jobs: int, young_objects: tuple[int, int, int]) -> None:
    """Let a process that has begun end when the command does, however that ends: a killed one stops nobody.

    It looks for cycles among its objects as seldom as the command does.
    """
    gc.set_threshold(*young_objects)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where there is no mask, it was not born deaf
    share_processors(jobs)
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # as this thread runs in processes alone that a command has begun
    parent.join()
    os._exit(WorkerLost.exit_code)  # not sys.exit, which would end this thread alone


class _Client(Protocol):
    """What is asked of a client of Dask."""

    def run(self, function: Callable[[], _Found], /) -> dict[str, _Found]:
        """Return what the function gives on each worker, by the worker's address."""

    def get_executor(self, *, pure: bool, retries: int) -> Executor:
        """Return what the workers are asked through."""


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[list[_Seat]]:
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        what = "a cluster needs Dask, which is not installed"
        raise MissingPackageError(what, "distributed", Place("--scheduler")) from None
    try:
        connect = cast("Callable[..., contextlib.AbstractContextManager[_Client]]", Client)
        connection = connect(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        reason = str(error).partition("\n")[0][:200]
        raise UsageError(f"--scheduler {address}", f"no scheduler answers there: {reason}") from None
    with connection as client:
        _check_workers(client, address)
        executor = client.get_executor(pure=False, retries=1)
        # What is left undone when the scheduler goes away is cancelled.
        lost = (KilledWorker, CancelledError)
        yield [_Seat(executor, lost, f"workers of {address} were killed, or it is gone,")] * _AHEAD


def _check_workers(client: _Client, address: str) -> None:
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
def _interrupts_blocked() -> Iterator[None]:
    """Hold an interrupt back until the end; a process that begins meanwhile inherits the mask and gets none.

    Ctrl-C is for the process that began it, which stops it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # where it begins later, it takes the mask away
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    # A library's thread (linear algebra) has no mask: it takes the signal, and Python raises in the main thread.
    held: list[int] = []
    main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT)
    if main and callable(handler):
        signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        if main and callable(handler):
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if held:
            signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def _without_the_script() -> Iterator[None]:
    """Let processes that begin meanwhile import what they need and not the script that runs here.

    What they do stands in packages, and a script that does not ask for its name would begin again in each of them.
    """
    script = vars(sys.modules["__main__"])
    hidden: dict[str, object] = {name: script.pop(name) for name in ("__file__", "__spec__") if name in script}
    script["__spec__"] = None
    try:
        yield
    finally:
        script.update(hidden)


# Options that say who does the work of a command.


def add_worker_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add processes and cluster; ``what`` is what is shared out, in the plural."""
    add = parser.add_argument
    add("--jobs", type=count, default=1, metavar="N", help=f"processes of this machine for {what} (default: 1)")
    add("--scheduler", metavar="ADDRESS",
        help=f"measure {what} on a Dask cluster (needs Dask: the extra distributed)")  # fmt: skip


def workers_of(args: argparse.Namespace) -> WorkerPool:
    """Return who does the work; raises UsageError where both are given."""
    if args.scheduler is not None and args.jobs != 1:
        raise UsageError("--jobs", "the cluster of --scheduler has its own workers", "leave out one of the two")
    return WorkerPool(args.jobs, args.scheduler)
