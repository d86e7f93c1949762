"""The debugger as a page or a notebook knows it: it says everything as lines, and leaves the run what it is."""

from __future__ import annotations

from collections.abc import Callable

from pixelflow.cli.debug.commands import COMMANDS, Debugger
from pixelflow.cli.shell.screen import Screen
from pixelflow.debugger import DebugSession, views
from pixelflow.node import Replay
from pixelflow.simd.dialogue import find_command, refuse
from pixelflow.simd.report import as_text

__all__ = ["PageDialogue"]

_COLUMNS = 76
"""Of what the debugger says in the page."""
_CHANGING = ("poke", "unpoke")


class PageDialogue:
    """The debugger in a run, as a page knows it."""

    def __init__(self, replay: Replay, say: Callable[[str], object]) -> None:
        self._session = DebugSession(replay)
        self._debugger = Debugger(self._session, Screen(_COLUMNS, sink=say))

    def carry_out(self, text: str) -> None:
        """Carry out a command of the debugger, but for those that make another run of this one."""
        command, _ = find_command(COMMANDS, text)
        if command.name in _CHANGING:
            refuse("what is poked makes another run, and the timeline is of this one", "pixelflow debug takes pokes")
        self._debugger.carry_out(text)

    def goto(self, cycle: int) -> None:
        """Go to a cycle without a word."""
        self._session.goto(cycle)

    def interrupt(self) -> None:
        """Ask a long movement to end."""
        self._debugger.interrupt()

    def where(self) -> str:
        """Return the cycle, and what each stream does."""
        return as_text([*views.position(_COLUMNS, self._session)], _COLUMNS)

    def calls(self) -> str:
        """Return calls and open loops."""
        return as_text([*views.stack(_COLUMNS, self._session, list(self._session.replay.streams))], _COLUMNS)

    def stops(self) -> str:
        """Return the stops."""
        return as_text([*views.stops(_COLUMNS, self._session)], _COLUMNS)
