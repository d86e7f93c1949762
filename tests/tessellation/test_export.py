"""Do mesh files hold the mesh, bit for bit, in the way other programs read it?"""

from __future__ import annotations

import io

import numpy as np
import pytest

from pixelflow.simd.errors import InputError
from tessellation import build_mesh
from tessellation.surface.mesh import encode, npz, obj, ply, suffix_of
from tests.tessellation.models import ideal_samples


@pytest.fixture(scope="module")
def mesh(teapot):
    return build_mesh(ideal_samples(list(teapot), [4] * 32), weld=True)


def test_obj(mesh):
    lines = [line.split() for line in obj(mesh).decode().splitlines()]
    points = np.array([line[1:] for line in lines if line[0] == "v"], dtype=np.float32)
    normals = np.array([line[1:] for line in lines if line[0] == "vn"], dtype=np.float32)
    faces = [[corner.split("//") for corner in line[1:]] for line in lines if line[0] == "f"]
    assert (points == mesh.points).all() and (normals == mesh.normals).all()
    assert all(vertex == normal for face in faces for vertex, normal in face)
    assert (np.array(faces, dtype=int)[..., 0] - 1 == mesh.triangles).all()


def header_of(data: bytes) -> tuple[list[str], bytes]:
    head, _, body = data.partition(b"end_header\n")
    return head.decode().splitlines(), body


def test_binary_ply(mesh):
    head, body = header_of(ply(mesh))
    assert head[:2] == ["ply", "format binary_little_endian 1.0"]
    assert f"element vertex {len(mesh.points)}" in head and f"element face {len(mesh.triangles)}" in head
    size = len(mesh.points) * 24
    vertices = np.frombuffer(body[:size], "<f4").reshape(-1, 6)
    faces = np.frombuffer(body[size:], np.dtype([("n", "u1"), ("v", "<i4", 3)]))
    assert (vertices[:, :3] == mesh.points).all() and (vertices[:, 3:] == mesh.normals).all()
    assert (faces["n"] == 3).all() and (faces["v"] == mesh.triangles).all()


def test_npz(mesh):
    data = np.load(io.BytesIO(npz(mesh)))
    for name in ("points", "normals", "triangles", "patches"):
        assert (data[name] == getattr(mesh, name)).all() and data[name].dtype == getattr(mesh, name).dtype


def test_the_same_mesh_gives_the_same_bytes(mesh):
    for name in ("a.obj", "a.PLY", "a.npz"):
        assert encode(mesh, name) == encode(mesh, name)


def test_unknown_endings_are_refused():
    for name, part in (("teapot.ojb", "did you mean .obj"), ("teapot", "allowed: .obj"), ("teapot.stl", "allowed")):
        with pytest.raises(InputError, match=part):
            suffix_of(name)
