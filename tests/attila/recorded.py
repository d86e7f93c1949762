"""Scenes, pictures and counts of the authors' own simulator, where somebody has them; own small scenes."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from attila_bridge.scene import AttilaScene, read_scene

_FOLDER = "ATTILA_RECORDS"
"""Names the folder of records in the environment."""
VERTEX = """!!ARBvp1.0
MOV result.position, vertex.position;
MOV result.color, vertex.color;
MOV result.texcoord[0], vertex.texcoord[0];
END"""
COLORED = """!!ARBfp1.0
MOV result.color, fragment.color;
END"""
TEXTURED = """!!ARBfp1.0
TEX result.color, fragment.texcoord[0], texture[0], 2D;
END"""
WHITE = (1.0, 1.0, 1.0, 1.0)
Corner = tuple[float, float, float]


def folder() -> Path:
    """Return the folder of records; skips the test with the reason where there is none."""
    named = os.environ.get(_FOLDER, "")
    if not named or not (Path(named) / "runs.csv").is_file():
        pytest.skip(f"{_FOLDER} names no folder of records (scenes/, frames/, runs.csv, statistics_paper.csv, ...)")
    return Path(named)


def rows(path: Path) -> dict[str, dict[str, str]]:
    """Return the rows of a table by the name of the run."""
    with path.open(encoding="utf-8") as file:
        return {row["run"]: row for row in csv.DictReader(file)}


def clip(corners: Sequence[Corner], width: int, height: int) -> list[float]:
    """Return positions in clip coordinates of corners in pixels and depth 0 to 1."""
    found: list[float] = []
    for x, y, depth in corners:
        found += [float(np.float32(2 * x / width - 1)), float(np.float32(2 * y / height - 1)), 2 * depth - 1, 1.0]
    return found


def drawn(
    corners: Sequence[Corner],
    colors: Sequence[Sequence[float]] | None = None,
    *,
    coordinates: Sequence[tuple[float, float]] | None = None,
    fragment: str = COLORED,
    **draw: object,
) -> dict[str, object]:
    """Return a draw of triangles for `scene_of`, corners in pixels and depth 0 to 1."""
    return {
        "corners": corners,
        "colors": colors or [WHITE] * len(corners),
        "coordinates": coordinates or [(0.0, 0.0)] * len(corners),
        "fragment": fragment,
        "draw": draw,
    }


def scene_of(
    *draws: dict[str, object],
    size: tuple[int, int] = (16, 16),
    clear: dict[str, object] | None = None,
    textures: dict[str, dict[str, object]] | None = None,
) -> AttilaScene:
    """Return a scene of draws."""
    return read_scene(json.dumps(scene_body(*draws, size=size, clear=clear, textures=textures)))


def scene_body(
    *draws: dict[str, object],
    size: tuple[int, int] = (16, 16),
    clear: dict[str, object] | None = None,
    textures: dict[str, dict[str, object]] | None = None,
) -> dict[str, object]:
    """Return a scene as it stands in a file."""
    body: dict[str, object] = {
        "format": "attila-scene/1",
        "name": "own",
        "size": list(size),
        "clear": {"color": [0, 0, 0, 1]} if clear is None else clear,
        "textures": textures or {},
    }
    buffers: dict[str, object] = {}
    programs: dict[str, object] = {"vertex": VERTEX}
    made: list[object] = []
    for number, each in enumerate(draws):
        corners = each["corners"]
        assert isinstance(corners, list)
        programs[f"fragment{number}"] = each["fragment"]
        values = {
            "position": clip(corners, *size),
            "color": np.array(each["colors"], np.float32).ravel().tolist(),
            "texcoord0": np.array(each["coordinates"], np.float32).ravel().tolist(),
        }
        for key, data in values.items():
            components = 2 if key == "texcoord0" else 4
            buffers[f"{key}{number}"] = {"use": "vertex", "type": "float32", "components": components, "data": data}
        what = each["draw"]
        assert isinstance(what, dict)
        made.append(
            {
                "primitive": "triangles",
                "count": len(corners),
                "attributes": {key: f"{key}{number}" for key in values},
                "indices": None,
                "vertex_program": "vertex",
                "fragment_program": f"fragment{number}",
                "textures": {"0": "t"} if textures else {},
                "state": {},
            }
            | what
        )
    return body | {"buffers": buffers, "programs": programs, "draws": made}


def quad(left: float, low: float, right: float, high: float, depth: float = 0.5) -> list[Corner]:
    """Return two triangles that fill a rectangle."""
    a, b, c, d = ((x, y, depth) for x, y in ((left, low), (right, low), (right, high), (left, high)))
    return [a, b, c, a, c, d]


def red(words: NDArray[np.uint32]) -> list[str]:
    """Return where the red of a picture is not 0, row by row from the top, as text."""
    return ["".join("#" if word & 255 else "." for word in row) for row in words[::-1]]
