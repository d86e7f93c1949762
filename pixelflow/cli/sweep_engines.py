"""Who measures the points of a sweep: this process, others of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, ProcessPoolExecutor, wait
from itertools import islice

from pixelflow import __version__
from pixelflow.cli.arguments import UsageError
from pixelflow.cli.sweep_points import Point, Row, measure

__all__ = ["measured"]

_AHEAD = 128
"""Points that wait at an executor at a time: more would only fill its memory."""

_PATIENCE_SECONDS = 10

Measured = Iterator[tuple[int, Row, float]]
"""Number of the point, its row, and the seconds it took; in the order in which points are finished."""


def measured(points: Mapping[int, Point], *, jobs: int = 1, scheduler: str | None = None) -> Measured:
    """Measure points here, in ``jobs`` processes, or on the cluster whose scheduler has that address.

    Raises UsageError where there is no such cluster, or its workers have another version of the simulator.
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
    executor = ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        raise
    executor.shutdown()


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError:
        hint = "pip install 'pixelflow-sim[distributed]'"
        raise UsageError("--scheduler", "a cluster needs Dask, which is not installed", hint) from None
    try:
        client = Client(address, timeout=_PATIENCE_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:  # TimeoutError is an OSError
        reason = str(error).partition("\n")[0][:200]
        raise UsageError(f"--scheduler {address}", f"no scheduler answers there: {reason}") from None
    with client:
        _check_workers(client, address)
        yield client.get_executor(pure=False, retries=1)


def _check_workers(client: object, address: str) -> None:
    """Raise UsageError unless there are workers, and all of them have this version of the simulator."""
    place = f"--scheduler {address}"
    try:
        versions = client.run(_version)
    except Exception as error:  # whatever the import raised over there
        raise UsageError(place, f"its workers cannot use the simulator: {type(error).__name__}: {error}") from None
    if not versions:
        raise UsageError(place, "it has no workers", f"start one: dask worker {address}")
    others = {worker: version for worker, version in versions.items() if version != __version__}
    if others:
        worker, version = min(others.items())
        raise UsageError(place, f"worker {worker} has pixelflow-sim {version}, not {__version__}")


def _version() -> str:
    return __version__


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
