"""Who measures the points of a sweep: this process, others of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice

from pixelflow import __version__
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.sweep.points import Point, Row, library_sha256, measure
from pixelflow.simd.errors import MissingPackageError, Place, SimulatorError

__all__ = ["WorkerLost", "measured"]

_AHEAD = 128
"""Points that wait at an executor at a time: more would only fill its memory."""

_PATIENCE_SECONDS = 10

Measured = Iterator[tuple[int, Row, float]]
"""Number of the point, its row, and the seconds it took; in the order in which points are finished."""


class WorkerLost(SimulatorError):
    """A process that measured points is gone: killed from outside, most often for want of memory."""

    exit_code = 130
    """As after Ctrl-C: the sweep was stopped, nothing is wrong with it, and the same command goes on."""


def measured(points: Mapping[int, Point], *, jobs: int = 1, scheduler: str | None = None) -> Measured:
    """Measure points here, in ``jobs`` processes, or on the cluster whose scheduler has that address.

    Raises UsageError where there is no such cluster, or its workers have another version of the simulator or another
    microcode library, and WorkerLost where one of the processes was killed.
    """
    if scheduler is not None:
        with _cluster(scheduler) as executor:
            yield from _through(executor, points)
    elif jobs > 1 and len(points) > 1:
        with _processes(min(jobs, len(points))) as executor:
            yield from _through(executor, points)
    else:
        for number, point in points.items():
            yield number, *measure(point)


def _through(executor: Executor, points: Mapping[int, Point]) -> Measured:
    waiting = iter(points.items())
    with _deaf_to_interrupts():  # processes that start now stay so: Ctrl-C is for this one, which stops them
        running = {executor.submit(measure, point): number for number, point in islice(waiting, _AHEAD)}
    while running:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            number = running.pop(future)
            for following, point in islice(waiting, 1):
                running[executor.submit(measure, point)] = following
            yield number, *future.result()


@contextlib.contextmanager
def _processes(jobs: int) -> Iterator[Executor]:
    before = set(multiprocessing.active_children())
    # A fresh interpreter each: a copy of this one would have its threads' locks, but not its threads.
    executor = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_end_with_parent)
    try:
        yield executor
    except BaseException as error:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            hint = "fewer --jobs need less memory"
            raise WorkerLost(f"a process of --jobs was killed while it measured; {hint}") from None
        raise
    executor.shutdown()


def _end_with_parent() -> None:
    """Let this process end when the sweep does, however that ends: a killed one stops nobody."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(WorkerLost.exit_code)  # not sys.exit, which would end this thread alone


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Executor]:
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
        try:
            yield client.get_executor(pure=False, retries=1)
        except KilledWorker:
            raise WorkerLost(f"workers of {address} were killed while they measured") from None


def _check_workers(client: object, address: str) -> None:
    """Raise UsageError unless there are workers, all of this version of the simulator and with this library."""
    place = f"--scheduler {address}"
    try:
        tools = client.run(_tool)
    except Exception as error:  # whatever the import raised over there
        raise UsageError(place, f"its workers cannot use the simulator: {type(error).__name__}: {error}") from None
    if not tools:
        raise UsageError(place, "it has no workers", f"start one: dask worker {address}")
    others = {worker: tool for worker, tool in tools.items() if tool != _tool()}
    if others:
        worker, (version, library) = min(others.items())
        if version != __version__:
            raise UsageError(place, f"worker {worker} has pixelflow-sim {version}, not {__version__}")
        raise UsageError(place, f"worker {worker} has another microcode library: sha256 {library[:12]}")


def _tool() -> tuple[str, str]:
    return __version__, library_sha256()


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
