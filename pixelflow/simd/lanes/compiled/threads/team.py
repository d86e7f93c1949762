"""Threads that carry out runs together, each taking tiles as long as there are some (`sharing.py`).

Tiles share nothing that is written, so the result does not depend on how many threads there are. A worker that has
nothing to do looks for the next run for a moment before it sleeps: waking it takes longer than many a run. Whoever
began a run does not wait for the tiles that others have taken; it is free to begin the run of another engine.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from time import sleep

from pixelflow.simd.lanes.compiled.threads.sharing import MOST_TILES, MOST_WORKERS, RUNS, Functions, WorkBox

__all__ = ["Team"]

Work = tuple[int, int, int, int, bytes, int]
"""What ``dispatch`` takes: state, tiles, bytes of a tile, lanes of a tile, program, addresses of the functions."""

_LOOKS = 2_000
"""Looks for a run before a worker sleeps: about a tenth of a millisecond."""


class Team:
    """The workers of a process. While one thread begins a run, another one that wants to must do its own alone."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._begin()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.settle, after_in_child=self._begin)

    def _begin(self) -> None:
        self._box = WorkBox()
        self._wakers: list[threading.Lock] = []
        self._busy = threading.Lock()
        self._closed = False
        self._unfinished: dict[int, tuple[int, object, object]] = {}
        """Of the last runs: how many tiles, whose they are, and what must live until they are done."""

    def start(self, owner: object, work: Work, kept: object, threads: int) -> bool:
        """Begin to carry out a program as ``dispatch`` does, by up to ``threads`` threads at once.

        When this returns, or raises because of an interrupt, tiles may not be done: `settle` waits for those of an
        owner. ``kept`` must live until then. Returns False, and has done nothing, where another thread begins a run at
        this moment or there are too many tiles.
        """
        state, tiles, *others = work
        if tiles > MOST_TILES or self._busy.locked():
            return False
        with self._busy:
            workers = self._hired(min(threads, tiles, MOST_WORKERS + 1) - 1)
            self._functions.help(self._box.address)  # where the last run was interrupted, tiles may be left
            number = self._box.run + 1
            self._wait(number - RUNS)
            self._unfinished[number] = tiles, owner, (work, kept)
            asleep = self._functions.publish(self._box.address, number, tiles, state, *others, workers)
            for worker in range(asleep.bit_length()):
                # One that was told to wake, and has not done so yet, will look at the ticket after that.
                if asleep >> worker & 1 and self._wakers[worker].locked():
                    self._wakers[worker].release()
            self._functions.help(self._box.address)
        return True

    def settle(self, owner: object = None) -> None:
        """Return when all runs are done, or all of an owner."""
        for number, (_, whose, _) in self._unfinished.copy().items():
            if owner is None or whose is owner:
                self._wait(number)

    def close(self) -> None:
        """Let nobody share any more, and return when all runs are done: what they work on goes when Python ends.

        Once is enough: a second time it returns at once.
        """
        if self._closed:
            return
        self._closed = True
        self._busy.acquire()
        self.settle()

    def _wait(self, number: int) -> None:
        """Return when all tiles of a run are done. It may be forgotten meanwhile, and another one be in its place."""
        longer = 0.0
        while (found := self._unfinished.get(number)) and number <= self._box.run:  # else interrupted before it began
            if self._functions.wait(self._box.address, number, found[0], _LOOKS):
                self._unfinished.pop(number, None)
                return
            self._functions.help(self._box.address)
            # Whoever has the last tile may not get a processor: leave it this one.
            sleep(longer)
            longer = min(longer + 1e-5, 1e-3)

    def _hired(self, workers: int) -> int:
        """Have so many workers, or as many as the system gives; return how many there are."""
        while (number := len(self._wakers)) < workers:
            waker = threading.Lock()
            waker.acquire()
            work = (self._functions.serve, self._box, number, waker)
            try:
                threading.Thread(target=_work, args=work, name=f"lanes {number}", daemon=True).start()
            except RuntimeError:
                return number
            self._wakers.append(waker)
        return workers


def _work(serve: Callable[[int, int, int], None], box: WorkBox, number: int, waker: threading.Lock) -> None:
    while True:
        waker.acquire()
        serve(box.address, number, _LOOKS)
