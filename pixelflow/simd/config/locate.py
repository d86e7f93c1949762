"""Finds the line of a key in TOML text, so that a fault about a value can show where it was written.

``tomllib`` gives values without positions. This reads headers and ``key =`` at the start of lines only; a key that
it cannot find (inside an inline table, or in quotes) gets the place of its section, or of the file.
"""

from __future__ import annotations

import re

from pixelflow.simd.errors import Place

__all__ = ["KeyIndex"]

_HEADER = re.compile(r"^\s*\[\[?\s*([A-Za-z0-9_.\-\s\"']+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"^(\s*)([A-Za-z0-9_\-.\"' ]+?)\s*=")


class KeyIndex:
    """The places of the keys of one TOML text."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._places: dict[str, Place] = {}
        prefix = ""
        for number, line in enumerate(text.splitlines(), start=1):
            header = _HEADER.match(line)
            if header:
                name = _plain(header[1])
                self._remember(name, number, line.index("[") + 1, line, len(line.strip()))
                prefix = f"{name}."
                continue
            assignment = _ASSIGNMENT.match(line)
            if assignment:
                written = assignment[2]
                self._remember(prefix + _plain(written), number, len(assignment[1]) + 1, line, len(written))

    def place(self, key: str) -> Place:
        """Return the place of ``key``, else of the nearest section around it, else of the file."""
        while key:
            if key in self._places:
                return self._places[key]
            key = key.rpartition(".")[0]
        return Place(self._file)

    def _remember(self, key: str, line: int, column: int, text: str, length: int) -> None:
        shown = text if len(text) <= 160 else text[:157] + "..."
        self._places.setdefault(key, Place(self._file, line, column, shown, length))


def _plain(key: str) -> str:
    """Return a dotted key without quotes and spaces."""
    return ".".join(part.strip().strip("\"'") for part in key.split("."))
