"""``dash --play``: frame after frame of a run of any machine in the terminal, with keys."""

from __future__ import annotations

import time
from collections.abc import Callable

from pixelflow.cli.dashboard.keys import Keys
from pixelflow.cli.dashboard.live import InPlaceDisplay
from pixelflow.cli.shell.screen import Screen
from pixelflow.simd.dashboard import FrameDrawing

__all__ = ["Pace", "play"]

_FRAME_SECONDS = 0.1
"""Between two frames."""


class Pace:
    """How far a run that plays has come: so many cycles a second, faster, slower, or halted by keys."""

    def __init__(self, speed: int) -> None:
        self.speed = speed
        self.halted = self.left = False
        self._cycle = 0.0

    @property
    def cycle(self) -> int:
        """The cycle to be shown now."""
        return int(self._cycle)

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        if not self.halted:
            self._cycle += seconds * self.speed

    def press(self, key: str | None) -> None:
        """Do what a key says; keys that say nothing do nothing."""
        match key:
            case " ":
                self.halted = not self.halted
            case "right" | ".":
                self.halted, self._cycle = True, self.cycle + 1.0
            case "+":
                self.speed *= 2
            case "-":
                self.speed = max(1, self.speed // 2)
            case "q":
                self.left = True


def play(
    screen: Screen,
    frame_at: Callable[[int, str], FrameDrawing],
    ended: Callable[[], bool],
    speed: int,
    until: int | None,
) -> int | None:
    """Show the frames of cycles that do not go back, ``speed`` cycles a second, up to ``until`` or the end of the run.

    ``frame_at`` takes the cycle and what is said of a run that has not ended there.
    Returns the cycle at which a key ended it, None where none did. An interrupt ends it too and leaves the terminal as
    it was.
    """
    pace, picture = Pace(speed), InPlaceDisplay(screen)
    now = time.perf_counter()
    try:
        with Keys() as keys:
            while not ended() and not pace.left:
                cycle = pace.cycle
                status = "paused" if pace.halted else "playing"
                picture.show(frame_at(cycle if until is None else min(cycle, until), status))
                if until is not None and cycle >= until:
                    break
                pace.press(keys.pressed(_FRAME_SECONDS))
                before, now = now, time.perf_counter()
                pace.pass_by(now - before)
    finally:
        picture.close()
    return pace.cycle if pace.left else None
