"""Progress of long work on standard error: what is being done, how far it has come, how long it may still take.

It is shown on a terminal only. Pipes and log files get nothing, not even a line now and then.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, ClassVar, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import TaskID

    from pixelflow.cli.shell.screen import Screen

__all__ = ["QUIET_SECONDS", "Progress", "SignOfLife", "end_sign_of_life"]

_Item = TypeVar("_Item")

QUIET_SECONDS = 2.0
"""Before the first line of a command that does not say at its beginning that it takes long."""
_OTHER_COLUMNS = 44
"""What bar, count and times take of a line."""
_UNCOUNTED_COLUMNS = 36
"""What bar and time take where nothing is counted."""


class Progress:
    """A line that counts the steps of some work; a context manager, after which the line is gone.

    ``total`` is the number of steps, None where it is not known: then there is no end estimate. Without ``counts``
    there are no steps: it says what is being done and for how long.
    """

    def __init__(self, screen: Screen, total: int | None = None, *, counts: bool = True) -> None:
        self._screen = screen
        self._total = total
        self._counts = counts
        self._resources = contextlib.ExitStack()
        self._display: Display | None = None
        self._task: TaskID

    def __enter__(self) -> Progress:
        end_sign_of_life()
        if _wanted(self._screen):
            self._display = self._resources.enter_context(_display(self._screen, counts=self._counts))
            self._task = self._display.add_task("", total=self._total)
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()
        self._display = None

    @staticmethod
    def wanted(screen: Screen) -> bool:
        """Whether there is a terminal that a line may be shown on."""
        return _wanted(screen)

    @property
    def shown(self) -> bool:
        """Whether anybody sees it."""
        return self._display is not None

    def doing(self, text: str) -> None:
        """Say what is being done now."""
        if self._display is not None:
            from pixelflow.simd.dashboard.cells import cut

            others = _OTHER_COLUMNS if self._counts else _UNCOUNTED_COLUMNS
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
            return
        if not share:
            self._display.reset(self._task, total=None if share is None else 1.0)
        else:
            self._display.update(self._task, completed=share, total=1.0)
        self.doing(str(text))

    def step(self, count: int = 1) -> None:
        """Note that steps are done."""
        if self._display is not None:
            self._display.advance(self._task, count)

    def over(self, items: Iterable[_Item], name: str = "") -> Iterator[_Item]:
        """Yield items, each of them one step; ``name`` is said with the number of the item."""
        for number, item in enumerate(items, start=1):
            self.doing(f"{name} {number}".strip())
            yield item
            self.step()


class SignOfLife:
    """A context around a whole command: after two seconds a line says for how long it has been at work.

    It goes where the command shows something itself: a line that knows more, or a picture.
    """

    _current: ClassVar[SignOfLife | None] = None

    def __init__(self, screen: Screen, text: str) -> None:
        self._screen, self._text = screen, text
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> SignOfLife:
        if _wanted(self._screen):
            SignOfLife._current = self
            self._thread = threading.Thread(target=self._show, name="sign of life", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Take the line away, for good."""
        if SignOfLife._current is self:
            SignOfLife._current = None
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


def end_sign_of_life() -> None:
    """Take the line away that says for how long the command has been at work, before something else is shown."""
    if SignOfLife._current is not None:
        SignOfLife._current.end()


def _wanted(screen: Screen) -> bool:
    out = sys.stderr
    terminal = out is not None and out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return terminal and screen.progress and not screen.quiet


def _display(screen: Screen, *, counts: bool) -> Display:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Display

    console = Console(stderr=True, no_color=not screen.color, markup=False, highlight=False, emoji=False)
    return Display(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=12),
        *([MofNCompleteColumn()] if counts else []),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
    )
