"""Folders and documents of the language that ship here."""

from __future__ import annotations

from pixelflow.simd.files import shipped

LIBRARY = shipped("microcode", "library")
EXAMPLES = shipped("microcode", "examples")
LANGUAGE = shipped("microcode", "LANGUAGE.md")


def example_file(name: str) -> str | None:
    """Return the name of the file of a shipped example, by its bare name, with or without ``.mc``; None for others."""
    name = f"{name.removesuffix('.mc')}.mc"
    return name if "/" not in name and (EXAMPLES / name).is_file() else None
