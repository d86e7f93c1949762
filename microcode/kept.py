"""Assembled programs of source files, kept between processes: a kept one is found without the assembler.

The key of a program is a hash of everything that it depends on except the files that it includes. Those are recorded
with it and looked for again: the program counts only if each include still leads to the same file, unchanged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from microcode.places import LIBRARY
from pixelflow.simd.files import SOURCE, read_bytes
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.store import PROGRAM, store

Code = TypeVar("Code", bound=AssembledProgram)

DECIDING = ("microcode", "pixelflow.simd.isa")
"""Packages that decide what a program is, besides the one with its instructions."""


class Included(NamedTuple):
    """An include that led to a file."""

    words: str
    """The name that the source has."""
    folder: str
    """The folder of the including file; empty for the working folder, where no file includes it."""
    file: str
    sha256: str

    @classmethod
    def of(cls, words: str, including: Path | None, found: Path) -> Included:
        """Return that of an include in a file, as it is now."""
        return cls(words, "" if including is None else str(including.parent), str(found), _hash_of(found))

    def still_holds(self, folders: Sequence[Path]) -> bool:
        """Return whether the same words in the same folder lead to the same file, unchanged."""
        for folder in (Path(self.folder), *folders, LIBRARY):
            candidate = folder / self.words
            if candidate.is_file():
                is_it = str(candidate) == self.file or str(candidate.resolve()) == self.file
                return is_it and _hash_of(candidate) == self.sha256
        return False


def kept_program(key: str, make: Callable[[], tuple[Code, Sequence[Included]]], folders: Sequence[Path] = ()) -> Code:
    """Return the program kept under a key, if its includes still hold; else one that is made now, and kept."""
    kept: tuple[Sequence[Included], Code] | None = store().get_object(PROGRAM, key, tuple)
    if kept is not None and all(each.still_holds(folders) for each in kept[0]):
        return kept[1]
    program, included = make()
    store().put_object(PROGRAM, key, (included, program))
    return program


def _hash_of(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, SOURCE)).hexdigest()
