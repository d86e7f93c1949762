"""Meshes to be drawn: files that other programs wrote, read by trimesh (extra ``mesh``)."""

from __future__ import annotations

import io
import logging
import re
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, nearest
from pixelflow.simd.files import MESH, TEXTURE, read_bytes
from pixelflow.simd.report import counted

if TYPE_CHECKING:
    from PIL.Image import Image

_LARGEST = 1e30
"""Areas of larger triangles leave the range of binary64 when they are squared."""

MESH_SUFFIXES = (".obj", ".ply", ".stl", ".off", ".glb")
_TEXTS = (".obj", ".off")
"""Endings of files that are always text."""
_DECLARED = {
    ".ply": re.compile(rb"\nelement face (\d+)\s"),
    ".off": re.compile(rb"\A\s*\w*OFF\s+(?:#.*\s+)*\d+\s+(\d+)\s"),
}
"""The number of faces that a file declares; of a truncated text the reader takes the faces that are there."""
_FACETS = re.compile(rb"^\s*facet\s", re.IGNORECASE | re.MULTILINE)
"""Beginning of a triangle in an STL file of text."""
_WHOLE = "is it whole, and in the form that its name says?"


class Model(NamedTuple):
    """``points`` and ``normals`` are float64[vertex, xyz], ``corners`` int64[triangle, 3]."""

    points: np.ndarray
    normals: np.ndarray
    corners: np.ndarray


@np.errstate(all="ignore")  # points that are not finite have their own message
def read_model(path: str) -> Model:
    """Read a mesh file; normals are the sum of the areas around a vertex, and those of the file are ignored.

    Raises InputError for a file that cannot be read, is damaged or holds no triangle, and if trimesh is missing.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in MESH_SUFFIXES:
        near = nearest(suffix, MESH_SUFFIXES)
        hint = f"did you mean {near}?" if near else "allowed: " + ", ".join(MESH_SUFFIXES)
        raise InputError(Fault(f"{suffix or 'a name without a suffix'} is not a mesh file", Place(path), hint))
    content = read_bytes(path, MESH)
    if suffix in _TEXTS:
        content = _text(content, path)
    try:
        with _interrupts_kept():  # its optional imports catch everything
            import trimesh
    except ImportError:
        what = "reading meshes needs trimesh, which is not installed"
        raise MissingPackageError(what, "mesh", Place(path)) from None
    if not trimesh.util.log.handlers:  # Python would show its warnings on standard error
        trimesh.util.log.addHandler(logging.NullHandler())
    try:
        # Of the bytes alone: no other file that they name is opened.
        with _interrupts_kept():
            found = trimesh.load(io.BytesIO(content), file_type=suffix.removeprefix("."), process=False, force="mesh")
            assert isinstance(found, trimesh.Trimesh)  # as one was asked for
            points, corners = np.asarray(found.vertices, np.float64), np.asarray(found.faces, np.int64)
    except ModuleNotFoundError as error:
        if error.name == "charset_normalizer":  # it would guess which text it is
            message = "neither text in UTF-8 nor a whole binary file"
            raise InputError(Fault(f"not a mesh that can be read: {message}", Place(path), _WHOLE)) from None
        hint = f"pip install {error.name}, or convert the file to .obj or .ply"
        raise InputError(Fault(f"trimesh needs {error.name} for this file", Place(path), hint)) from None
    except Exception as error:  # the library's readers raise whatever the damage leads to
        raise InputError(Fault(f"not a mesh that can be read: {error}"[:300], Place(path), _WHOLE)) from None
    _check(path, points, corners)
    says = _DECLARED[suffix].search(content) if suffix in _DECLARED else None
    declared = int(says[1]) if says else len(_FACETS.findall(content)) if suffix == ".stl" else 0
    if len(corners) < declared:
        there = f"{counted(declared, 'face')} declared, {counted(len(corners), 'triangle')} there"
        raise InputError(Fault(f"the file is cut off: {there}", Place(path)))
    return Model(points, _normals(points, corners), corners)


_TRIANGLE = np.dtype([("count", "u1"), ("corners", "<u2", 3)])


def shipped_model(path: Path) -> Model:
    """Read a mesh that ships here, without trimesh: binary PLY of float32 points, and triangles of 16-bit numbers."""
    head, _, body = read_bytes(path, MESH).partition(b"end_header\n")
    vertices, faces = (int(each) for each in re.findall(rb"^element \w+ (\d+)$", head, re.MULTILINE))
    points = np.frombuffer(body, "<f4", 3 * vertices).reshape(-1, 3).astype(np.float64)
    corners = np.frombuffer(body, _TRIANGLE, faces, points.size * 4)["corners"].astype(np.int64)
    return Model(points, _normals(points, corners), corners)


@contextmanager
def _interrupts_kept() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end of the block if a library in it caught one and continued."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    came = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            raise KeyboardInterrupt


def _text(content: bytes, path: str) -> bytes:
    """Return a mesh file of text in UTF-8; names and remarks in other encodings lose their letters."""
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise InputError(Fault("this is a binary file: it holds a zero byte", Place(path, line)))
    return content.decode("utf-8", "replace").encode()


def _check(path: str, points: np.ndarray, corners: np.ndarray) -> None:
    if points.shape[1:] != (3,) or corners.shape[1:] != (3,):
        raise InputError(Fault("not a mesh of triangles in three dimensions", Place(path)))
    if len(corners) == 0:
        raise InputError(Fault("the mesh has no triangles", Place(path)))
    wrong = np.flatnonzero(~(np.abs(points) < _LARGEST).all(axis=1))
    if len(wrong):
        message = f"vertex {wrong[0] + 1} of {len(points)} is not a finite point"
        raise InputError(Fault(message, Place(path), f"coordinates are between -{_LARGEST:g} and {_LARGEST:g}"))
    wrong = np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))
    if len(wrong):
        message = f"triangle {wrong[0] + 1} names a vertex that does not exist; there are {len(points)}"
        raise InputError(Fault(message, Place(path)))


def _normals(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    a, b, c = (points[corners[:, corner]] for corner in range(3))
    facets = np.cross(b - a, c - a)
    sums = np.zeros_like(points)
    for corner in range(3):
        np.add.at(sums, corners[:, corner], facets)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.where(length > 0, length, 1)


# Pictures as texels: a built-in one, and files that Pillow reads.


CHECKER = "checker"
"""Name of the built-in texture."""
_CHECKER_SIDE = 64
_CHECKER_FIELD = 8


def checker() -> NDArray[np.uint8]:
    """Return the built-in texture, white and blue fields: uint8[64, 64, rgba]."""
    at = np.arange(_CHECKER_SIDE) // _CHECKER_FIELD
    light = (at + at[:, None]) % 2 == 0
    texels = np.full((_CHECKER_SIDE, _CHECKER_SIDE, 4), 255, np.uint8)
    texels[~light] = (90, 110, 150, 255)
    return texels


def read_texels(path: Path, largest: int, allowed: str) -> NDArray[np.uint8]:
    """Return the texels of a picture file, uint8[row, column, rgba]; neither side has more than ``largest``.

    ``allowed`` is the hint for other sizes. Raises InputError with the file's name; MissingPackageError without Pillow.
    """
    try:
        from PIL import Image, UnidentifiedImageError

        content = read_bytes(path, TEXTURE)
        # Pillow's own limit is of pictures that are decoded.
        with (
            warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning),
            Image.open(io.BytesIO(content)) as image,
        ):
            if max(image.size) > largest:  # before it is decoded
                raise InputError(Fault(f"a texture of {image.width}x{image.height} texels", hint=allowed))
            return _texels(image)
    except ImportError:
        what = "reading textures needs Pillow, which is not installed"
        raise MissingPackageError(what, "image", Place(str(path))) from None
    except InputError as error:
        raise InputError(fault._replace(place=Place(str(path))) for fault in error.faults) from None
    except UnidentifiedImageError:  # its message has an address of memory
        raise InputError(Fault("not a picture that can be read: no format that is known", Place(str(path)))) from None
    except Exception as error:  # the library's readers raise whatever the damage leads to
        raise InputError(Fault(f"not a picture that can be read: {error}"[:300], Place(str(path)))) from None


def _texels(image: Image) -> NDArray[np.uint8]:
    """Return the texels of a picture, uint8[row, column, rgba]; 16-bit grey is cut to its upper 8 bits."""
    if image.mode.startswith("I"):
        grey = (np.asarray(image).astype(np.int64) >> 8).astype(np.uint8)
        return np.stack([grey, grey, grey, np.full_like(grey, 255)], axis=-1)
    return np.array(image.convert("RGBA"), np.uint8)
