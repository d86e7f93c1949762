"""What is wrong with a trace file, collected so that the first faults are told at once; and what a good one holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.simd.errors import Fault, InputError, Place

__all__ = ["Checked", "Faults"]

_MOST = 10


class Faults:
    """Faults of one file, each with its place: a line, or a byte."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: list[Fault] = []
        self._more = 0

    def line(self, number: int, message: str, text: str | None = None) -> None:
        """Note a fault in a line, counted from 1."""
        self._note(Fault(message, Place(self._file, number, text=text)))

    def byte(self, offset: int, message: str) -> None:
        """Note a fault in what begins at a byte, counted from 0."""
        self._note(Fault(f"byte {offset}: {message}", Place(self._file)))

    def end(self, message: str) -> None:
        """Note something that is missing at the end of the file."""
        self._note(Fault(f"at the end: {message}", Place(self._file)))

    def _note(self, fault: Fault) -> None:
        if len(self._found) < _MOST:
            self._found.append(fault)
        else:
            self._more += 1

    def check(self) -> None:
        """Raise InputError where there is a fault."""
        if self._more:
            self._found.append(Fault(f"and {self._more:,} more", Place(self._file)))
        if self._found:
            raise InputError(self._found)


@dataclass
class Checked:
    """What a trace file without faults holds."""

    format: str
    header: dict[str, str] = field(default_factory=dict)
    begin: int = 0
    end: int = 0
    totals: dict[str, dict[str, int]] = field(default_factory=dict)
    """For each track, its cycles by heading: ``busy``, ``wait sem 2``, ``wait transfer``."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many there are of what the format is made of: spans, rows, changes, arrows."""
