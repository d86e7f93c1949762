"""Interrupts (Ctrl-C) of the process of a command: none is lost, whenever it comes."""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import interrupt_main, start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager

TYPE_CHECKING = False  # not from typing: until this is imported, an interrupt ends in Python's own way

if TYPE_CHECKING:
    from sys import UnraisableHookArgs
    from types import FrameType
    from typing import NoReturn


INTERRUPTED = 130
"""The exit code of a process that was interrupted."""

_RETRY_SECONDS = 0.01


def end_at_once() -> None:
    """Have interrupts end the process at once, for a process of a command: before its work begins and after it.

    An exception could then come while a library is imported that catches everything, or where nothing catches it. A
    process that ignores interrupts continues ignoring them.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)
        sys.unraisablehook = _interrupt_again


@contextmanager
def interrupts_raise() -> Iterator[None]:
    """Have interrupts raise KeyboardInterrupt in the block, where they would end the process at once."""
    ends = signal.getsignal(signal.SIGINT) is _end
    if ends:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if ends:
            signal.signal(signal.SIGINT, _end)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)


def _interrupt_again(lost: UnraisableHookArgs) -> None:
    """Repeat an interrupt that came where Python drops exceptions: a finaliser, a callback of a weak reference."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        start_new_thread(_interrupt_soon, ())
    else:
        sys.__unraisablehook__(lost)


def _interrupt_soon() -> None:
    time.sleep(_RETRY_SECONDS)  # when the callback has returned
    if os.name == "posix":
        os.kill(os.getpid(), signal.SIGINT)  # a signal, which also ends a call that waits
    else:
        interrupt_main()
