"""What is wrong with a trace file, collected so that the first faults are told at once; and what a good one holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.simd.errors import Fault, InputError, Place

__all__ = ["MOST_ALIVE", "Checked", "Faults"]

_MOST = 10
_LONGEST = 200
"""Characters of a line, and of a message, that are shown."""
MOST_ALIVE = 65_536
"""Rows, variables, values, lines of header: so many of a kind are kept in mind while a file is checked."""


class Faults:
    """Faults of one file, each with its place: a line, or a byte."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: list[Fault] = []
        self._more = 0

    def line(self, number: int, message: str, text: str | None = None) -> None:
        """Note a fault in a line, counted from 1."""
        self._note(Fault(message[:_LONGEST], Place(self._file, number, text=text and text[:_LONGEST])))

    def byte(self, offset: int, message: str) -> None:
        """Note a fault in what begins at a byte, counted from 0."""
        self._note(Fault(f"byte {offset}: {message[:_LONGEST]}", Place(self._file)))

    def end(self, message: str) -> None:
        """Note something that is missing at the end of the file."""
        self._note(Fault(f"at the end: {message[:_LONGEST]}", Place(self._file)))

    def _note(self, fault: Fault) -> None:
        if len(self._found) < _MOST:
            self._found.append(fault)
        else:
            self._more += 1

    def beyond(self, message: str) -> InputError:
        """Return the error of a file that holds more of something than any run writes, with what was found before."""
        return InputError([*self._found, Fault(f"{message}; no run writes that", Place(self._file))])

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
