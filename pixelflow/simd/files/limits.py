"""Kinds of files that are read, and how many bytes of each at most: a larger one is refused before it is held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = [
    "ARRAYS",
    "CONFIGURATION",
    "KINDS",
    "LINE_BYTES",
    "MESH",
    "OBJECT",
    "PACKET_BYTES",
    "PATCHES",
    "RECORDS",
    "REPORT",
    "SCENE",
    "SCRIPT",
    "SOURCE",
    "TABLE",
    "TEXTURE",
    "TRACE",
    "VERTICES",
    "FileKind",
]


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of file: what messages call it, and its limit in bytes, of what is in it where it is compressed."""

    what: str
    limit: int

    @property
    def shown_limit(self) -> str:
        """The limit as messages have it."""
        return f"{self.limit >> 20} MiB"


CONFIGURATION = FileKind("a configuration file", 1 << 20)
SCENE = FileKind("a scene file", 1 << 20)
SCRIPT = FileKind("a script of commands", 1 << 20)
SOURCE = FileKind("microcode", 16 << 20)
VERTICES = FileKind("a scene with its vertices", 32 << 20)
"""A scene whose numbers stand in the file itself."""
OBJECT = FileKind("an object file", 32 << 20)
"""Parsed JSON takes up to 24 times as much memory as its text."""
REPORT = FileKind("a JSON report", 32 << 20)
PATCHES = FileKind("a patch file", 64 << 20)
MESH = FileKind("a mesh", 64 << 20)
TEXTURE = FileKind("a texture", 64 << 20)
TABLE = FileKind("a table of a sweep", 64 << 20)
RECORDS = FileKind("a file of records", 64 << 20)
ARRAYS = FileKind("an archive of arrays", 256 << 20)
TRACE = FileKind("a trace", 1 << 30)
"""Traces are read as they come, and never held."""

KINDS: Mapping[str, FileKind] = {
    each.what: each
    for each in (
        *(CONFIGURATION, SCENE, VERTICES, SCRIPT, SOURCE, OBJECT, REPORT, PATCHES, MESH, TEXTURE, TABLE, RECORDS),
        *(ARRAYS, TRACE),
    )
}
"""Every kind by what it is called."""

LINE_BYTES = 1 << 20
"""The longest line of a trace."""
PACKET_BYTES = 16 << 20
"""The longest packet of a trace."""
