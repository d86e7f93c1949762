"""What ships with the package: meshes and composed scenes by name."""

from __future__ import annotations

from pathlib import Path

__all__ = ["DATA", "MESHES", "SCENES"]

DATA = Path(__file__).parent / "data"
"""The folder of what ships: meshes (.ply), scene files (.toml), and the terms of what others made (LICENSES.md)."""

MESHES = {path.stem: path for path in sorted(DATA.glob("*.ply"))}
"""Meshes by name."""

SCENES = {path.stem: path for path in sorted(DATA.glob("*.toml"))}
"""Scene files by name."""
