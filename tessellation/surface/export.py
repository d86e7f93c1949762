"""Mesh files: Wavefront OBJ, PLY (ASCII or binary) and NPZ. Writers return bytes; the caller puts them somewhere."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import PurePath

import numpy as np

from pixelflow.simd.errors import Fault, InputError, nearest
from tessellation.surface.mesh import Mesh

__all__ = ["WRITERS", "encode", "npz", "obj", "ply", "ply_ascii", "suffix_of"]


def obj(mesh: Mesh, comment: str = "") -> bytes:
    """Return a Wavefront OBJ file: v, vn and f lines; decimals read back to the same binary32 numbers."""
    lines = [f"# {line}" for line in comment.splitlines()]
    lines += [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.points.tolist()]
    lines += [f"vn {x:.9g} {y:.9g} {z:.9g}" for x, y, z in mesh.normals.tolist()]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in (mesh.triangles + 1).tolist()]
    return ("\n".join(lines) + "\n").encode()


def ply(mesh: Mesh, comment: str = "") -> bytes:
    """Return a binary little-endian PLY file with x, y, z, nx, ny, nz per vertex."""
    vertices = np.concatenate([mesh.points, mesh.normals], axis=1).astype("<f4")
    faces = np.empty(len(mesh.triangles), dtype=[("count", "u1"), ("vertices", "<i4", 3)])
    faces["count"] = 3
    faces["vertices"] = mesh.triangles
    return _ply_header(mesh, "binary_little_endian", comment) + vertices.tobytes() + faces.tobytes()


def ply_ascii(mesh: Mesh, comment: str = "") -> bytes:
    """Return an ASCII PLY file with x, y, z, nx, ny, nz per vertex."""
    rows = np.concatenate([mesh.points, mesh.normals], axis=1).tolist()
    lines = [" ".join(f"{value:.9g}" for value in row) for row in rows]
    lines += [f"3 {a} {b} {c}" for a, b, c in mesh.triangles.tolist()]
    return _ply_header(mesh, "ascii", comment) + ("\n".join(lines) + "\n").encode()


def npz(mesh: Mesh, extra: Mapping[str, np.ndarray] | None = None) -> bytes:
    """Return an NPZ archive: points, normals, triangles, patches (of each triangle), and what ``extra`` adds."""
    buffer = io.BytesIO()
    arrays = {name: getattr(mesh, name) for name in ("points", "normals", "triangles", "patches")}
    np.savez_compressed(buffer, **arrays, **(extra or {}))
    return buffer.getvalue()


WRITERS: Mapping[str, Callable[[Mesh], bytes]] = {".obj": obj, ".ply": ply, ".npz": npz}
"""File formats by the ending of the file's name."""


def suffix_of(name: str) -> str:
    """Return the ending of an output file's name; raise InputError for one that no writer knows."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in WRITERS:
        allowed = ", ".join(WRITERS)
        guess = nearest(suffix, WRITERS) if suffix else None
        hint = f"did you mean {guess}? allowed: {allowed}" if guess else f"allowed: {allowed}"
        raise InputError(Fault(f"cannot tell the mesh format from the name {name!r}", hint=hint))
    return suffix


def encode(mesh: Mesh, name: str) -> bytes:
    """Return the bytes of a mesh file in the format that the ending of ``name`` asks for."""
    return WRITERS[suffix_of(name)](mesh)


def _ply_header(mesh: Mesh, kind: str, comment: str) -> bytes:
    lines = ["ply", f"format {kind} 1.0", *(f"comment {line}" for line in comment.splitlines())]
    lines.append(f"element vertex {len(mesh.points)}")
    lines += [f"property float {name}" for name in ("x", "y", "z", "nx", "ny", "nz")]
    lines += [f"element face {len(mesh.triangles)}", "property list uchar int vertex_indices", "end_header"]
    return ("\n".join(lines) + "\n").encode()
