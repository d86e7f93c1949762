"""A thread that does jobs one after the other, and something idle between them.

A job that has a key replaces one of that key that still waits: of many places that a mouse was at only the last one
counts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Job", "Worker"]


@dataclass(frozen=True, slots=True)
class Job:
    """Something to do, and what to do instead where another job has taken its place."""

    work: Callable[[], None]
    superseded: Callable[[], None]
    key: str | None = None


class Worker:
    """One thread. Jobs and ``idle`` see to their own errors."""

    def __init__(self, name: str, idle: Callable[[], bool] | None = None) -> None:
        """``idle`` is called while there are no jobs, until it says that there is no more to do."""
        self._idle = idle
        self._jobs: list[Job] = []
        self._closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._go_on, name=name, daemon=True)
        self._thread.start()

    def put(self, job: Job) -> None:
        """Let a job be done after those that wait; nothing where the worker is closed."""
        with self._changed:
            if self._closed:
                return
            replaced = [each for each in self._jobs if job.key is not None and each.key == job.key]
            self._jobs = [each for each in self._jobs if each not in replaced] + [job]
            self._changed.notify()
        for each in replaced:
            each.superseded()

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        with self._changed:
            return len(self._jobs)

    def close(self, seconds: float) -> None:
        """Begin no further job, and wait so long for the one at work."""
        with self._changed:
            self._closed = True
            self._jobs.clear()
            self._changed.notify()
        if self._thread is not threading.current_thread():
            self._thread.join(seconds)

    def _go_on(self) -> None:
        busy = self._idle is not None
        while True:
            with self._changed:
                while not (self._jobs or self._closed or busy):
                    self._changed.wait()
                if self._closed:
                    return
                job = self._jobs.pop(0) if self._jobs else None
            if job is not None:
                job.work()
                busy = self._idle is not None
            elif self._idle is not None:
                busy = self._idle()
