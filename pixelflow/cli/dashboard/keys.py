"""Keys of a terminal, one at a time and without waiting, for what plays in it."""

from __future__ import annotations

import os
import select
import sys
from types import TracebackType

__all__ = ["Keys"]

_NAMES = {"\x1b[C": "right", "\x1b[D": "left", "\x1bOC": "right", "\x1bOD": "left"}
_MOST = 16
"""Bytes that are looked at together: an arrow is three."""


class Keys:
    """A context in which keys come as they are pressed; none come where standard input is no terminal."""

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._before: list[int | list[bytes | int]] = []

    def __enter__(self) -> Keys:
        try:
            import termios
            import tty
        except ImportError:  # no such terminals here
            return self
        try:
            descriptor = sys.stdin.fileno()
            self._before = termios.tcgetattr(descriptor)
            tty.setcbreak(descriptor)  # Ctrl-C goes on to interrupt
            self._descriptor = descriptor
        except (OSError, ValueError, AttributeError, termios.error):
            self._descriptor = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            import termios

            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def pressed(self, seconds: float) -> str | None:
        """Return the key that is pressed within some time, arrows by name; None where none is."""
        if self._descriptor is None:
            select.select([], [], [], seconds)
            return None
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if not ready:
            return None
        text = os.read(self._descriptor, _MOST).decode("utf-8", "replace")
        return _NAMES.get(text, text[:1] or None)
