"""Head of a frame: what runs on what, and how far it has come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rich.cells import cell_len
from rich.text import Text

from pixelflow.simd.dashboard.cells import MORE, CellField, count, line, time_text

__all__ = ["Progressing", "head"]

_STYLE = "white on color(24)"


class Progressing(Protocol):
    """What the state of any machine says of its run."""

    @property
    def cycle(self) -> int:
        """How far it has come."""

    @property
    def status(self) -> str:
        """In a word or two; ``running`` while it goes on."""

    @property
    def seconds(self) -> float:
        """Machine time."""

    @property
    def clock_mhz(self) -> int:
        """The clock that it is by."""

    @property
    def rate(self) -> float | None:
        """Cycles a second of the simulation; None where nobody measures it."""

    @property
    def notes(self) -> Sequence[str]:
        """What else is to be said."""


def head(
    what: Sequence[CellField],
    state: Progressing,
    width: int,
    missing: Sequence[str],
    *,
    of: str = "",
    progress: Sequence[str] = (),
) -> list[Text]:
    """Return the two lines of every frame: ``what`` runs, then cycle, status, ``progress``, time and notes.

    ``of`` follows the cycle; ``missing`` are the blocks for which the frame has no room.
    """
    far = [
        CellField(f"cycle {count(state.cycle)}{of}", "bold"),
        CellField(state.status, "bold green" if state.status in ("running", "playing") else "bold yellow"),
        *(CellField(text, "bold") for text in progress),
        CellField(f"{time_text(state.seconds)} at {count(state.clock_mhz)} MHz"),
    ]
    if state.rate is not None:
        far.append(CellField(f"{count(round(state.rate))} cycles/s"))
    far += [CellField(note, "dim") for note in state.notes]
    if missing:
        far.append(CellField(f"{MORE} no room: {', '.join(missing)}", "dim"))
    first = line(what, width, " · ")
    first.append(" " * (width - cell_len(first.plain)))
    first.stylize(_STYLE)
    return [first, line(far, width, " · ")]
