"""The files of the page, read once from the package: what is not among them is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath

__all__ = ["START", "Asset", "page_assets"]

START = "index.html"
"""What the address without a name means."""

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is handed out."""

    media_type: str
    content: bytes


def page_assets() -> Mapping[str, Asset]:
    """Return the files by name."""
    folder = files("pixelflow.view") / "assets"
    return {
        each.name: Asset(_TYPES[PurePath(each.name).suffix], each.read_bytes())
        for each in folder.iterdir()
        if PurePath(each.name).suffix in _TYPES
    }
