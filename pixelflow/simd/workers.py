"""Workers that execute independent tasks: this process, or others of this machine.

Processes that work at the same time share the processors of this host, each using its part of them.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from pixelflow.simd.errors import SimulatorError

if TYPE_CHECKING:  # needed in a process with workers only: most runs have none
    from concurrent.futures import Executor, Future
    from queue import SimpleQueue

    _Beginning = Callable[[int, int], list[Executor]]
    """Starts a number of processes, the second number of which share the processors."""

_Item = TypeVar("_Item")
_Found = TypeVar("_Found")


class WorkerLost(SimulatorError):
    """A process that did work is gone: killed from outside, most often for want of memory."""

    exit_code = 130
    """As after Ctrl-C: the command was stopped, nothing is wrong with it."""


class WorkerPool(NamedTuple):
    """Executor of independent tasks: ``jobs`` processes, 1 for this one.

    Results do not depend on the process that finds them. Functions and their arguments may travel to another process,
    so they are values of files' top level. Iterating raises WorkerLost, with the item's name, where the process that
    had an item was killed.
    """

    jobs: int = 1

    def alone(self, items: int) -> bool:
        """Return True where this process does this many items itself."""
        return min(self.jobs, items) <= 1

    def finished(
        self, work: Callable[[_Item], _Found], items: Sequence[_Item], name: Callable[[_Item], str] = str
    ) -> Generator[tuple[int, _Found], None, None]:
        """Yield the place of every item and its result, in the order in which they are finished.

        ``name`` says in messages which item it is.
        """
        if self.alone(len(items)):
            yield from ((place, work(item)) for place, item in enumerate(items))
            return
        with _processes() as begin:
            jobs = min(self.jobs, len(items))
            yield from _through(begin(jobs, jobs), work, items, name)


class KeptProcesses:
    """Up to ``jobs`` processes, started on demand, that execute single tasks for any thread."""

    def __init__(self, jobs: int, begin: _Beginning) -> None:
        """``begin`` is that of `kept_processes`."""
        from queue import SimpleQueue

        self.jobs = jobs
        self._begin = begin
        self._free: SimpleQueue[Executor | None] = SimpleQueue()
        """Free processes, used in turn; None for one that has not begun."""
        for _ in range(jobs):
            self._free.put(None)

    def one(self, work: Callable[[_Item], _Found], item: _Item, name: str) -> _Found:
        """Return the result of an item, once a process is free for it.

        Raises WorkerLost where its process is killed, which another one replaces, and where all have been ended.
        """
        executor = self._free.get()
        try:
            if executor is None or _is_lost(executor):
                (executor,) = self._begin(1, self.jobs)
            ((_, found),) = _through([executor], work, [item], lambda _: name)
        finally:
            self._free.put(executor)
        return found


@contextlib.contextmanager
def kept_processes(jobs: int) -> Iterator[KeptProcesses]:
    """Keep up to ``jobs`` processes from one task to the next, and end them."""
    with _processes() as begin:
        yield KeptProcesses(jobs, begin)


def _is_lost(executor: Executor) -> bool:
    """Return True where no process is left that could do anything."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        executor.submit(_nothing)
    except RuntimeError as error:  # or else it has been ended, which the next item reports
        return isinstance(error, BrokenProcessPool)
    return False


def _gone(name: str, when: str = "while it worked on") -> WorkerLost:
    """Return the error of a process that was killed."""
    return WorkerLost(f"a process of --jobs was killed {when} {name}; where memory was short, fewer --jobs need less")


def _ended(name: str) -> WorkerLost:
    """Return the error of processes that were ended by their keeper."""
    return WorkerLost(f"the processes of --jobs have been ended, and {name} is not done")


def _through(
    executors: Sequence[Executor],
    work: Callable[[_Item], _Found],
    items: Sequence[_Item],
    name: Callable[[_Item], str],
) -> Iterator[tuple[int, _Found]]:
    """Have processes do items, one at a time each; yield places and results as they are finished."""
    from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
    from concurrent.futures.process import BrokenProcessPool

    waiting = iter(range(len(items)))
    running: dict[Future[_Found], tuple[int, Executor]] = {}

    def begin(executor: Executor) -> None:
        place = next(waiting, None)
        if place is None:
            return
        try:
            running[executor.submit(work, items[place])] = place, executor
        except BrokenProcessPool:
            raise _gone(name(items[place]), "before it had") from None
        except RuntimeError:
            raise _ended(name(items[place])) from None

    for executor in executors:
        begin(executor)
    while running:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            place, executor = running.pop(future)
            try:
                found = future.result()
            except BrokenProcessPool:
                raise _gone(name(items[place])) from None
            except CancelledError:
                raise _ended(name(items[place])) from None
            begin(executor)
            yield place, found


_starting = threading.Lock()
"""Held while processes begin: one thread after the other hides its script, and none begins once they are ended."""


@contextlib.contextmanager
def _processes() -> Iterator[_Beginning]:
    """Give a function that starts processes, and end them."""
    import multiprocessing

    before = set(multiprocessing.active_children())
    executors: list[Executor] = []
    ended = False

    def begin(some: int, jobs: int) -> list[Executor]:
        begun: list[Executor] = []
        with _starting, _interrupts_blocked():
            if ended:
                raise _ended("the next one")
            for _ in range(some):
                begun.append(_process(jobs))
                executors.append(begun[-1])
        return begun

    try:
        yield begin
    except BaseException:
        with _starting:
            ended = True
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        for executor in executors:
            executor.shutdown(cancel_futures=True)
        raise
    with _starting:
        ended = True
    for executor in executors:
        executor.shutdown()


def _process(jobs: int) -> Executor:
    """Return a process, one of this many, which begins now; interrupts are blocked."""
    import multiprocessing
    from concurrent import futures

    # A fresh interpreter: a copy of this one would have its threads' locks, but not its threads. And a pool of one:
    # where it is broken it is known whose item it had.
    begun = partial(_begun, jobs, gc.get_threshold())
    executor = futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"), initializer=begun)
    with _without_the_script():
        executor.submit(_nothing)
    return executor


def _nothing() -> None:
    """Do nothing: the first task of a process, so that it begins."""


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
