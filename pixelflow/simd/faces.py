"""Faces of packages whose names are imported on first use, as a command needs few of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from operator import attrgetter


def on_first_use(package: str, files: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package: the names of each file, in one text, by the file.

    A file that begins with ``pixelflow.`` is of another package. Of a name with dots the last part is on the face:
    ``Register.R``.
    """
    places = {name.rpartition(".")[2]: (file, name) for file, names in files.items() for name in names.split()}
    face = vars(sys.modules[package])

    def found(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        file, path = places[name]
        face[name] = attrgetter(path)(import_module(file if file.startswith("pixelflow.") else f"{package}.{file}"))
        return face[name]

    return found, lambda: sorted({*face, *face["__all__"]})
