"""Where included files are found: beside the including file, in extra folders, then in the library."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from microcode.language.source import Complaint, Source, read_source
from pixelflow.simd.errors import nearest
from pixelflow.simd.packaged import shipped

__all__ = ["EXAMPLES", "LANGUAGE", "LIBRARY", "Files", "example", "shipped_beside"]

LIBRARY = shipped("microcode", "library")
EXAMPLES = shipped("microcode", "examples")
LANGUAGE = shipped("microcode", "LANGUAGE.md")

FORMER_NAMES: Mapping[str, str] = MappingProxyType({"float32/thesis.mc": "float32/plain.mc"})
"""Names that files of the library had before, found in this release still, with a note."""


def example(name: str) -> Source | None:
    """Return the source of an example that is shipped, by its bare name, with or without ``.mc``; None for others."""
    known = {path.stem: path for path in sorted(EXAMPLES.glob("*.mc"))}
    path = known.get(name.removesuffix(".mc"))
    return None if path is None else read_source(path, f"examples/{path.name}")


def shipped_beside(name: str) -> Path:
    """Return a file, or one of that bare name beside the examples where there is none here."""
    path = EXAMPLES / name
    return path if Path(name).name == name and not _is_file(Path(name)) and _is_file(path) else Path(name)


@dataclass(frozen=True, slots=True)
class Files:
    """The search path of includes; ``folders`` come between the including file's own folder and the library."""

    folders: Sequence[Path] = ()

    def find(self, path: str, including: Source | None, first: Source | None = None) -> Source:
        """Return the source that ``include "path"`` means; raises Complaint or InputError.

        ``first`` is the program's own source (None: ``path`` is what the caller asks for, not what a source says).
        What a source includes lies in the folder of the program, in one of ``folders``, in the library, or below
        them, wherever links lead: messages show lines of what is included, and somebody else's program shall not show
        lines of any file that its user may read.
        """
        if not path or "\0" in path:
            raise Complaint("a file name is needed here")
        outside = False
        for folder, shown in self._places(including):
            candidate = folder / path
            if not _is_file(candidate):
                continue
            found = candidate.resolve()
            if first is None or any(found.is_relative_to(root) for root in self._roots(first)):
                return read_source(found, shown + path)
            outside = True
        if outside:
            raise Complaint(
                f"file {path} is outside of the program's folder",
                hint="a program includes what lies there, or below it",
            )
        if path in FORMER_NAMES:
            _note_former(path)
            return self.find(FORMER_NAMES[path], including, first)
        near = nearest(path, self._library_files())
        raise Complaint(
            f"file {path} is not found",
            hint=f"did you mean {near}?" if near else "it is searched beside this file, then in the library",
        )

    def _roots(self, first: Source) -> list[Path]:
        """Return the folders in and below which includes lie; a text has the working folder."""
        own = Path() if first.path is None else first.path.parent
        return [each.resolve() for each in (own, *self.folders, LIBRARY)]

    def _places(self, including: Source | None) -> list[tuple[Path, str]]:
        places = []
        if including is not None and including.path is not None:
            head, slash, _ = including.file.rpartition("/")
            places.append((including.path.parent, head + slash))
        else:
            places.append((Path(), ""))
        places += [(folder, f"{folder}/") for folder in self.folders]
        return [*places, (LIBRARY, "library/")]

    def _library_files(self) -> list[str]:
        return [file.relative_to(LIBRARY).as_posix() for file in LIBRARY.rglob("*.mc")]


@cache
def _note_former(path: str) -> None:
    """Say once that a file of the library has another name now."""
    logging.getLogger(__name__.partition(".")[0]).warning(
        "note: file %s is called %s now; the former name goes with the next release", path, FORMER_NAMES[path]
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
