"""Progress of long work on standard error: what is being done, how far it has come, how long it may still take.

A terminal has a line that changes; pipes and log files get one every ten seconds.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, TypeVar

from pixelflow.cli.shell.output import LINES, clear_lines

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import TaskID

    from pixelflow.cli.shell.screen import Screen

__all__ = ["QUIET_SECONDS", "Progress", "SignOfLife", "end_sign_of_life"]

_Item = TypeVar("_Item")

QUIET_SECONDS = 2.0
"""Before the first line of a command that does not say at its beginning that it takes long."""
LINE_SECONDS = 10.0
"""Between two lines where there is no terminal."""
_OTHER_COLUMNS = 31
"""What the bar and the time take of a line."""
_COUNT_COLUMNS = 8
_LEFT_COLUMNS = 14


class Progress:
    """A line that counts the steps of some work; a context manager, after which the line is gone.

    ``total`` is the number of steps, None where it is not known: then there is no end estimate. Without ``counts``
    there are no steps: it says what is being done and for how long.
    """

    def __init__(self, screen: Screen, total: int | None = None, *, counts: bool = True) -> None:
        self._screen = screen
        self._total = total
        self._counts = counts
        self._text, self._done = "", 0
        self._resources = contextlib.ExitStack()
        self._display: Display | None = None
        self._task: TaskID

    def __enter__(self) -> Progress:
        end_sign_of_life()
        if _wanted(self._screen) and _terminal():
            self._display = self._resources.enter_context(_display(self._screen, counts=self._counts))
            self._task = self._display.add_task("", total=self._total)
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()
        self._display = None

    @staticmethod
    def wanted(screen: Screen) -> bool:
        """Whether somebody wants to see it."""
        return _wanted(screen)

    @property
    def shown(self) -> bool:
        """Whether it is a line on a terminal."""
        return self._display is not None

    def doing(self, text: str) -> None:
        """Say what is being done now."""
        if self._display is None:
            self._text = text
            self._say("" if self._total is None else f", {self._done} of {self._total}")
            return
        from pixelflow.simd.dashboard.cells import cut

        estimated = self._display.tasks[0].total is not None
        others = _OTHER_COLUMNS + _COUNT_COLUMNS * self._counts + _LEFT_COLUMNS * estimated
        room = max(1, self._display.console.width - others)
        self._display.update(self._task, description=cut(text, room))

    def part(self, number: int, total: int, text: object) -> None:
        """Say that one of ``total`` steps begins; where nobody sees the line, its text is a note."""
        if self._display is not None:
            self._display.update(self._task, completed=number - 1, total=total)
        self.tell(text)

    def tell(self, text: object, share: float | None = None) -> None:
        """Say what begins now, or how much of it is done; where nobody sees the line, only what begins is a note."""
        if self._display is None:
            if share is None:
                self._screen.note(text)
            self._text = str(text)
            self._say(f", {round(100 * share)} %" if share else "")
            return
        if not share:
            self._display.reset(self._task, total=None if share is None else 1.0)
        else:
            self._display.update(self._task, completed=share, total=1.0)
        self.doing(str(text))

    def step(self, count: int = 1) -> None:
        """Note that steps are done."""
        self._done += count
        if self._display is None:
            self.doing(self._text)
        else:
            self._display.advance(self._task, count)

    def over(self, items: Iterable[_Item], name: str = "") -> Iterator[_Item]:
        """Yield items, each of them one step; ``name`` is said with the number of the item."""
        for number, item in enumerate(items, start=1):
            self.doing(f"{name} {number}".strip())
            yield item
            self.step()

    def _say(self, how_far: str) -> None:
        if SignOfLife.current is not None:
            SignOfLife.current.now = f": {self._text}{how_far}"


class SignOfLife:
    """A context around a whole command: after two seconds a line says for how long it has been at work.

    It goes where the command shows something itself: a line that knows more, a picture, a result. Without a terminal
    a line comes every ten seconds until the command has ended, with what the command says that it is doing.
    """

    current: ClassVar[SignOfLife | None] = None

    def __init__(self, screen: Screen, text: str) -> None:
        self._screen, self._text = screen, text
        self.now = ""
        """What follows the text: what is being done, and how far it has come."""
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> SignOfLife:
        if _wanted(self._screen):
            SignOfLife.current = self
            terminal = _terminal()
            if terminal:
                LINES.append(self.end)
            work = self._show if terminal else self._write
            self._thread = threading.Thread(target=work, name="sign of life", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Say nothing any more."""
        if SignOfLife.current is self:
            SignOfLife.current = None
            LINES[:] = [clear for clear in LINES if clear != self.end]
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _show(self) -> None:
        if self._over.wait(QUIET_SECONDS):
            return
        display = _display(self._screen, counts=False)
        with display:
            display.add_task(self._text, total=None)
            self._over.wait()

    def _write(self) -> None:
        began = time.monotonic()
        while not self._over.wait(LINE_SECONDS):
            self._screen.note(f"{self._text}{self.now}, elapsed {_duration(time.monotonic() - began)}")


def end_sign_of_life() -> None:
    """Take the line away that says for how long the command has been at work, before something else is shown."""
    clear_lines()


def _wanted(screen: Screen) -> bool:
    return sys.stderr is not None and screen.progress and not screen.quiet


def _terminal() -> bool:
    """Whether standard error can show a line that changes."""
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _display(screen: Screen, *, counts: bool) -> Display:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn
    from rich.progress import Progress as Display
    from rich.text import Text

    class Times(ProgressColumn):
        """For how long it has been at work, and for how long it may still be where that is known."""

        def render(self, task: Task) -> Text:
            left = "" if task.time_remaining is None else f", left {_duration(task.time_remaining)}"
            return Text(f"elapsed {_duration(task.elapsed or 0)}{left}")

    console = Console(stderr=True, no_color=not screen.color, markup=False, highlight=False, emoji=False)
    return Display(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
        *([MofNCompleteColumn()] if counts else []),
        Times(),
        console=console,
        transient=True,
        redirect_stdout=False,
    )
