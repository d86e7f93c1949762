"""Files that packages bring, as paths: those of a folder as they are, those of a zip archive unpacked once."""

from __future__ import annotations

import atexit
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = ["shipped", "sources_of"]


@cache
def shipped(package: str, *parts: str) -> Path:
    """Return the path of a file or folder of a package, of which the last ``parts`` are below it.

    Where the package is in a zip archive, that part of it is unpacked into a temporary folder, which goes when this
    process ends. Raises FileNotFoundError for what the package does not have.
    """
    spec = find_spec(package)
    for place in () if spec is None else spec.submodule_search_locations or ():
        path = Path(place, *parts)
        if path.exists():
            return path
    return _unpacked(package, parts)


def sources_of(package: str) -> list[tuple[str, bytes]]:
    """Return name and content of all Python files of a package, of packages below it too, in the order of names."""
    folder = shipped(package)
    return [(path.relative_to(folder).as_posix(), path.read_bytes()) for path in sorted(folder.rglob("*.py"))]


def _unpacked(package: str, parts: tuple[str, ...]) -> Path:
    from importlib.resources import files
    from tempfile import TemporaryDirectory

    found = files(package).joinpath(*parts)
    if not (found.is_dir() or found.is_file()):
        raise FileNotFoundError(f"{package} has no {'/'.join(parts)}")
    folder = TemporaryDirectory(prefix="pixelflow-")
    atexit.register(folder.cleanup)
    path = Path(folder.name, parts[-1] if parts else package.rpartition(".")[2])
    _copy(found, path)
    return path


def _copy(found: Traversable, path: Path) -> None:
    if found.is_file():
        path.write_bytes(found.read_bytes())
        return
    path.mkdir()
    for each in found.iterdir():
        _copy(each, path / each.name)
