"""What a command does beside a run that takes long: a line that shows it is alive, a limit, and Ctrl-C that waits.

The line stands on a terminal only, and only after some time. Ctrl-C ends a run between two instructions, so that what
it leaves can be reported and saved; a second one ends it at once.
"""

from __future__ import annotations

import argparse
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType

from pixelflow.cli.shell.arguments import count
from pixelflow.cli.shell.progress import QUIET_SECONDS, Progress, end_sign_of_life
from pixelflow.cli.shell.screen import Screen
from pixelflow.simd.errors import CycleLimitError
from pixelflow.simd.report import number
from pixelflow.simd.telling import Going

__all__ = ["DEFAULT_LIMIT", "NO_LIMIT", "Attended", "cycle_limit", "explained", "limit_of"]

DEFAULT_LIMIT = 100_000_000
"""Cycles after which a run is stopped unless another limit is named: one second of the machine at 100 MHz."""
NO_LIMIT = 0
"""What ``--max-cycles none`` means."""

_BEAT_SECONDS = 0.5


def cycle_limit(text: str) -> int:
    """Parse a limit for argparse: a positive whole number, or ``none``."""
    return NO_LIMIT if text == "none" else count(text)


def limit_of(args: argparse.Namespace) -> int | None:
    """Return the cycle limit of ``--max-cycles``: the default where it is absent, None for ``none``."""
    if args.max_cycles is None:
        return DEFAULT_LIMIT
    return None if args.max_cycles == NO_LIMIT else args.max_cycles


def explained(error: CycleLimitError, args: argparse.Namespace) -> CycleLimitError:
    """Return the error, with a word on the default where nobody named the limit."""
    if args.max_cycles is not None:
        return error
    return CycleLimitError(f"{error}\n    this is the limit where none is named; --max-cycles N or none sets another")


class Attended:
    """A context around runs."""

    def __init__(
        self, running: Callable[[], Going | None], screen: Screen, limit: int | None, *, line: bool = True
    ) -> None:
        """``running`` says what goes on; ``line`` is false where something else is shown on the terminal."""
        self._running, self._screen, self._limit, self._line = running, screen, limit, line
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._handles = False
        self.torn = False
        """Whether a run was ended in the middle of an instruction."""

    def __enter__(self) -> Attended:
        if threading.current_thread() is threading.main_thread():
            # Whoever handles it already, or ignores it, knows why.
            self._handles = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._handles:
            signal.signal(signal.SIGINT, self._interrupt)
        end_sign_of_life()
        if self._line and Progress.wanted(self._screen):
            self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _interrupt(self, signalled: int, frame: FrameType | None) -> None:
        running = self._running()
        if running is None or running.interrupted:
            self.torn = True
            raise KeyboardInterrupt
        running.interrupt()

    def _beat(self) -> None:
        if self._over.wait(QUIET_SECONDS):
            return
        with Progress(self._screen, counts=False) as progress:
            before, since = 0, time.monotonic()
            while not self._over.wait(_BEAT_SECONDS):
                running, now = self._running(), time.monotonic()
                if running is None:
                    continue
                cycle = running.cycle
                rate = (cycle - before) / (now - since)
                before, since = cycle, now
                progress.doing(self._text(running, cycle, rate))

    def _text(self, running: Going, cycle: int, rate: float) -> str:
        most = "" if self._limit is None else f" of at most {number(self._limit)}"
        return f"{running.counted} {number(cycle)}{most}, {number(round(rate))} a second, at {running.places}"
