"""Workers that execute independent tasks: this process, or others of this machine.

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
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from pixelflow.simd.errors import SimulatorError

if TYPE_CHECKING:  # needed in a process with workers only: most runs have none
    from concurrent.futures import Executor, Future

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")
_Value = TypeVar("_Value")


class WorkerLost(SimulatorError):
    """A process that did work is gone: killed from outside, most often for want of memory."""

    exit_code = 130
    """As after Ctrl-C: the command was stopped, nothing is wrong with it."""


@dataclass(frozen=True, slots=True)
class WorkerPool:
    """Executor of independent tasks: ``jobs`` processes, 1 for this one.

    Results do not depend on the process that finds them. Functions and their arguments may travel to another process,
    so they are values of files' top level. Iterating raises WorkerLost, with the item's name, where the process that
    had an item was killed.
    """

    jobs: int = 1
    _kept: _KeptProcesses | None = field(default=None, repr=False, compare=False)

    @contextlib.contextmanager
    def kept(self) -> Iterator[WorkerPool]:
        """Keep processes from one call to the next, for callers with little work often.

        They begin now, in the background. Where one was killed, the call that it worked for raises WorkerLost,
        and another one takes its place before the next call. Any thread may call, and has an error where the processes
        have ended; a call that is given up leaves an item each to be done.
        """
        if self.jobs <= 1:
            yield self
            return
        with _processes(self.jobs) as seats:
            yield replace(self, _kept=_KeptProcesses(seats))

    def alone(self, items: int) -> bool:
        """Return True where this process does this many items itself."""
        return min(self.jobs, items) <= 1

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
        return _processes(min(self.jobs, items)) if self._kept is None else self._kept.lent()


class _Seat(NamedTuple):
    """A place where one item at a time can be done."""

    executor: Executor

    def is_lost(self) -> bool:
        """Return True where no process is left that could do anything."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            self.executor.submit(_nothing)
        except BrokenProcessPool:
            return True
        return False

    def gone(self, name: str, when: str = "while it worked on") -> WorkerLost:
        """Return the error of it."""
        return WorkerLost(
            f"a process of --jobs was killed {when} {name}; where memory was short, fewer --jobs need less"
        )


def _through(
    seats: Sequence[_Seat],
    work: Callable[[_Item], _Found],
    items: Sequence[_Item],
    name: Callable[[_Item], str],
    order: Sequence[int],
) -> Iterator[tuple[int, _Found]]:
    from concurrent.futures import FIRST_COMPLETED, wait
    from concurrent.futures.process import BrokenProcessPool

    waiting = iter(order)
    running: dict[Future[_Found], tuple[int, _Seat]] = {}

    def begin(seat: _Seat) -> None:
        place = next(waiting, None)
        if place is None:
            return
        try:
            running[seat.executor.submit(work, items[place])] = place, seat
        except BrokenProcessPool:
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
            except BrokenProcessPool:
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

    # A fresh interpreter: a copy of this one would have its threads' locks, but not its threads. And a pool of one:
    # where it is broken it is known whose item it had.
    begun = partial(_begun, jobs, gc.get_threshold())
    executor = futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=begun)
    with _without_the_script():
        executor.submit(_nothing)
    return _Seat(executor)


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
