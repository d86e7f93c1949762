"""Assembled programs of source files, kept between processes: a kept one is found without the assembler.

The key of a program is a hash of everything that it depends on except the files that it includes. Those are recorded
with it and looked for again: the program counts only if each include still leads to the same file, unchanged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from microcode.places import LIBRARY
from pixelflow.simd.files import SOURCE, read_bytes
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.store import PROGRAM, digest_of, key_of, store

Code = TypeVar("Code", bound=AssembledProgram)


@dataclass(frozen=True, slots=True)
class Included:
    """An include that led to a file."""

    words: str
    """The name that the source has."""
    folder: str
    """The folder of the including file."""
    file: str
    sha256: str

    @classmethod
    def of(cls, words: str, including: Path, found: Path) -> Included:
        """Return that of an include in a file, as it is now."""
        return cls(words, str(including.parent), str(found), _hash_of(found))

    def still_holds(self, folders: tuple[Path, ...]) -> bool:
        """Return whether the same words in the same folder lead to the same file, unchanged."""
        for folder in (Path(self.folder), *folders, LIBRARY):
            candidate = folder / self.words
            if candidate.is_file():
                return str(candidate.resolve()) == self.file and _hash_of(candidate) == self.sha256
        return False


def assemble_file(path: Path, shown: str, target: ProgramTarget[Code], parameters: Mapping[str, int | float]) -> Code:
    """Return the program of a source file, which messages call ``shown``; raises InputError with every fault."""
    content = read_bytes(path, SOURCE, shown)
    place = path.resolve()
    key = _key(place, shown, content, target, parameters)
    kept: tuple[list[Included], Code] | None = None if key is None else store().get_object(PROGRAM, key)
    if kept is not None:
        included, program = kept
        if all(each.still_holds(target.folders) for each in included):
            return program
    from microcode.assembler import assembled  # not needed for a program that is kept
    from microcode.language import Source
    from pixelflow.simd.files import text_of

    source = Source(shown, text_of(content, SOURCE, shown).removeprefix("\ufeff"), place)
    program, included = assembled(source, target, parameters)
    if key is not None:
        store().put_object(PROGRAM, key, (included, program))
    return program


def _key(
    place: Path, shown: str, content: bytes, target: ProgramTarget[AssembledProgram], parameters: Mapping[str, object]
) -> str | None:
    """Return the key of a program; None for another language, and if an instruction is declared outside of its set."""
    home = target.instructions.home
    if target.language is not None or any(
        not each.meaning.__module__.startswith(f"{home}.") for each in target.instructions.values()
    ):
        return None
    code = digest_of("microcode", "pixelflow.simd.isa", home)
    return key_of(
        code, target.identity, str(place), shown, hashlib.sha256(content).hexdigest(), sorted(parameters.items())
    )


def _hash_of(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, SOURCE)).hexdigest()
