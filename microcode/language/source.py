"""Source text: files read as lines, and the places in them that messages point at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pixelflow.simd.errors import Fault, Place
from pixelflow.simd.files import SOURCE, read_text

__all__ = ["Complaint", "Line", "Source", "first_word", "read_source", "source_of"]

SHOWN = 160
"""Characters of a line that a message shows, unless the fault is further right."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of source text; ``number`` counts from 1."""

    file: str
    number: int
    text: str

    def place(self, column: int = 1, length: int = 1) -> Place:
        """Return the place of ``length`` characters from ``column`` (from 1) on."""
        kept = self.text if len(self.text) <= SHOWN else self.text[: max(SHOWN, column + 20)]
        # Control characters of a damaged file must not reach the reader's terminal.
        text = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in kept)
        return Place(self.file, self.number, column, text, max(1, min(length, len(text) - column + 1)))

    @property
    def first_word(self) -> tuple[int, int]:
        """Column and length of the first word."""
        return first_word(self.text)

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, slots=True)
class Source:
    """A source text: the name that messages show, the text, and where it lies on disk, if it does."""

    file: str
    text: str
    path: Path | None = None

    @property
    def lines(self) -> Iterator[Line]:
        """The lines, made as they are asked for: who stops early has not paid for the rest."""
        start, number, text = 0, 0, self.text
        while start < len(text):
            number += 1
            end = text.find("\n", start)
            end = len(text) if end < 0 else end
            yield Line(self.file, number, text[start:end].removesuffix("\r"))
            start = end + 1


def first_word(text: str, offset: int = 0) -> tuple[int, int]:
    """Return column and length of the first word of a text that begins ``offset`` characters into its line."""
    stripped = text.lstrip()
    word = stripped.split(maxsplit=1)[0] if stripped else ""
    return len(text) - len(stripped) + 1 + offset, len(word)


class Complaint(Exception):
    """Something wrong with part of a line: raised where the line is not known, caught where it is.

    ``column`` and ``length`` are in the line being worked on. ``place`` overrides it for a fault elsewhere.
    """

    def __init__(
        self, message: str, column: int = 1, length: int = 1, hint: str | None = None, place: Place | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.column, self.length, self.hint, self.place = message, column, length, hint, place

    def fault(self, line: Line) -> Fault:
        return Fault(self.message, self.place or line.place(self.column, self.length), self.hint)


def source_of(text: str, file: str = "<text>", path: Path | None = None) -> Source:
    """Return the source of a text; lines end in LF or CRLF, the last one need not end."""
    return Source(file, text.removeprefix("\ufeff"), path)


def read_source(path: Path, shown: str) -> Source:
    """Read a file; raises InputError where it is missing, not text, or absurdly large. ``shown`` names it."""
    return source_of(read_text(path, SOURCE, shown), shown, path)
