"""Faces of packages whose names are imported on first use, as a command needs few of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def on_first_use(package: str, files: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package: the names of each file, in one text, by the file."""
    file_of = {name: file for file, names in files.items() for name in names.split()}
    face = vars(sys.modules[package])

    def found(name: str) -> object:
        if name not in file_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = face[name] = getattr(import_module(f"{package}.{file_of[name]}"), name)
        return value

    return found, lambda: sorted({*face, *face["__all__"]})
