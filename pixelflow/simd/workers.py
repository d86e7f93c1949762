"""Workers that execute independent tasks: this process, others of this machine, or those of a Dask cluster.

Processes that work at the same time share the processors of this host, each using its part of them.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from pixelflow.simd.errors import MissingPackageError, Place, SimulatorError, UsageError

if TYPE_CHECKING:  # needed in a process with workers only: most runs have none
    from concurrent.futures import Executor, Future

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
_Value = TypeVar("_Value")

_AHEAD = 128
"""Items that wait at a cluster at a time: more would only fill its memory."""

_PATIENCE_SECONDS = 10


class WorkerLost(SimulatorError):
    """A process that did work is gone: killed from outside, most often for want of memory."""

    exit_code = 130
    """As after Ctrl-C: the command was stopped, nothing is wrong with it."""


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Executor of independent tasks: ``jobs`` processes, 1 for this one, or a cluster by its scheduler's address.

    Results do not depend on the process that finds them. Functions and their arguments may travel to another process,
    so they are values of files' top level. Iterating raises UsageError where there is no such cluster, or its workers
    have another ``identity``, and WorkerLost, with the item's name, where the process that had an item was killed.
    """

    jobs: int = 1
    scheduler: str | None = None
    identity: Callable[[], tuple[str, str]] | None = None
    """Version of the simulator and hash of its microcode library, which the workers of a cluster must share."""
    _kept: _KeptProcesses | None = field(default=None, repr=False, compare=False)

    @contextlib.contextmanager
    def kept(self) -> Iterator[WorkerPool]:
        """Keep processes from one call to the next, for callers with little work often.

        They begin now, in the background. Where one was killed, the call that it worked for raises WorkerLost,
        and another one takes its place before the next call. Any thread may call, and has an error where the processes
        have ended; a call that is given up leaves an item each to be done.
        """
        if self.scheduler is not None or self.jobs <= 1:
            yield self
            return
        with _processes(self.jobs) as seats:
            yield replace(self, _kept=_KeptProcesses(seats))

    def alone(self, items: int) -> bool:
        """Return True where this process does this many items itself."""
        return self.scheduler is None and min(self.jobs, items) <= 1

    def each(
        self,
        work: Callable[[_Item], _Found],
        items: Sequence[_Item],
        name: Callable[[_Item], str] = str,
        weight: Callable[[_Item], float] | None = None,
    ) -> Iterator[_Found]:
        """Yield the result of every item, in their order; ``name`` says in messages which one it is.

        Processes begin with the item of the greatest ``weight``, so that none waits long for the last one.
        """
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
        """Yield the place of every item and its result, in the order in which they are finished."""
        if self.alone(len(items)):
            yield from ((place, work(item)) for place, item in enumerate(items))
            return
        with self._seats(len(items)) as free:
            order = sorted(range(len(items)), key=lambda place: 0 if weight is None else -weight(items[place]))
            yield from _through(free, work, items, name, order)

    def _seats(self, items: int) -> contextlib.AbstractContextManager[list[_Seat]]:
        if self.scheduler is not None:
            return _cluster(self.scheduler, self.identity)
        return _processes(min(self.jobs, items)) if self._kept is None else self._kept.lent()


@dataclass(frozen=True, slots=True)
class _Seat:
    """A place where one item at a time can be done."""

    executor: Executor
    lost: tuple[type[BaseException], ...]
    """Errors of waiting for an item whose process is gone."""
    who: str
    hint: str = ""

    def is_lost(self) -> bool:
        """Return True where no process is left that could do anything."""
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
    from concurrent.futures import FIRST_COMPLETED, wait

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
        except RuntimeError:  # by their keeper
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
    import multiprocessing

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
    """Return the seat of a process, one of this many, which begins now; interrupts are blocked."""
    import multiprocessing
    from concurrent import futures
    from concurrent.futures.process import BrokenProcessPool

    # A fresh interpreter: a copy of this one would have its threads' locks, but not its threads. And a pool of one:
    # where it is broken it is known whose item it had.
    begun = partial(_begun, jobs, gc.get_threshold())
    executor = futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=begun)
    with _without_the_script():
        executor.submit(_nothing)
    hint = "where memory was short, fewer --jobs need less"
    return _Seat(executor, (BrokenProcessPool,), "a process of --jobs was killed", hint)


def _nothing() -> None:
    """Do nothing: the first task of a process, so that it begins."""


class _KeptProcesses:
    """Seats that are lent for successive calls, also to several at once."""

    def __init__(self, seats: list[_Seat]) -> None:
        self._seats = seats
        """The list by which the processes are ended."""
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lent(self) -> Iterator[list[_Seat]]:
        """Lend all of them; those that are found lost are replaced first."""
        with self._lock, _interrupts_blocked():
            self._seats[:] = [_process(len(self._seats)) if each.is_lost() else each for each in self._seats]
        yield list(self._seats)


def _begun(jobs: int, young_objects: tuple[int, int, int]) -> None:
    """Let a worker process end when the command does, however that ends: a killed one leaves none behind.

    It looks for cycles among its objects as seldom as the command does.
    """
    gc.set_threshold(*young_objects)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where there is no mask, it was not born deaf
    share_processors(jobs)
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    assert parent is not None  # as this thread runs in processes alone that a command has begun
    parent.join()
    os._exit(WorkerLost.exit_code)  # not sys.exit, which would end this thread alone


class _Client(Protocol):
    """The calls of a client of Dask that are used here."""

    def run(self, function: Callable[[], _Found], /) -> dict[str, _Found]:
        """Return the result of the function on each worker, by the worker's address."""

    def get_executor(self, *, pure: bool, retries: int) -> Executor:
        """Return the executor that passes tasks to the workers."""


@contextlib.contextmanager
def _cluster(address: str, identity: Callable[[], tuple[str, str]] | None) -> Iterator[list[_Seat]]:
    from concurrent.futures import CancelledError

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
        if identity is not None:
            _check_workers(client, address, identity)
        executor = client.get_executor(pure=False, retries=1)
        # Items that are not done when the scheduler goes away are cancelled.
        lost = (KilledWorker, CancelledError)
        yield [_Seat(executor, lost, f"workers of {address} were killed, or it is gone,")] * _AHEAD


def _check_workers(client: _Client, address: str, identity: Callable[[], tuple[str, str]]) -> None:
    """Raise UsageError unless there are workers, all of this version of the simulator and with this library."""
    place = f"--scheduler {address}"
    try:
        tools = client.run(identity)
    except Exception as error:  # whatever the import raised over there
        raise UsageError(place, f"its workers cannot use the simulator: {type(error).__name__}: {error}") from None
    if not tools:
        raise UsageError(place, "it has no workers", f"start one: dask worker {address}")
    version, library = identity()
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
    from multiprocessing import resource_tracker

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

    Their tasks are in packages, and a script that does not ask for its name would begin again in each of them.
    """
    script = vars(sys.modules["__main__"])
    hidden: dict[str, object] = {name: script.pop(name) for name in ("__file__", "__spec__") if name in script}
    script["__spec__"] = None
    try:
        yield
    finally:
        script.update(hidden)


HERE = WorkerPool()
"""This process."""


class Sealed(Generic[_Value]):
    """A value that, once sent to another process, is unpacked there at its first use."""

    def __init__(self, value: _Value) -> None:
        self._values = [value]
        self._packed = b""

    @property
    def value(self) -> _Value:
        """The value."""
        if not self._values:
            self._values = [pickle.loads(self._packed)]
        return self._values[0]

    def __getstate__(self) -> bytes:
        return self._packed or pickle.dumps(self._values[0], pickle.HIGHEST_PROTOCOL)

    def __setstate__(self, packed: bytes) -> None:
        self._values, self._packed = [], packed


class _Share:
    """Number of processes that work at the same time."""

    processes = 1


def usable_threads() -> int:
    """Return the number of processors for this process: its part of them where it is one of several."""
    try:
        found = len(os.sched_getaffinity(0))
    except AttributeError:
        found = os.cpu_count() or 1
    return max(1, found // _Share.processes)


def share_processors(processes: int) -> None:
    """Make this process one of several that work at the same time; nodes that are made later use its part."""
    _Share.processes = processes
