"""Does Mesa's llvmpipe cover the same pixels of real meshes, at pixel centres and at four samples?

Both pictures are made of corners on 1/256 pixel. Overdraw is counted from spans, which know nothing of boxes.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from pixelflow.simd.drawing import CENTRE, SAMPLES, ScreenTriangles, spans_of
from tessellation.picture import View, lit_triangles, read_model
from tessellation.scenes import MESHES
from tests.drawing.llvmpipe import llvmpipe, overdraw
from tests.npm_meshes import mesh

pytest.importorskip("trimesh", reason="trimesh is not installed")

SIDE = 1024


@pytest.fixture(scope="module")
def context() -> Iterator:
    yield from llvmpipe()


def seen(points: np.ndarray, corners: np.ndarray) -> ScreenTriangles:
    normals = np.broadcast_to([0.0, 0.0, 1.0], points.shape)
    return lit_triangles(points, normals, corners, View(azimuth=-60, elevation=20, width=SIDE, height=SIDE))


def counted(triangles: ScreenTriangles, place: tuple[int, int]) -> np.ndarray:
    spans = spans_of(triangles, SIDE, SIDE, place)
    edges = np.zeros((SIDE, SIDE + 1), int)
    np.add.at(edges, (spans.row, spans.first), 1)
    np.add.at(edges, (spans.row, spans.last + 1), -1)
    return edges.cumsum(axis=1)[:, :SIDE]


def compare(context, triangles: ScreenTriangles) -> None:
    points = triangles.corners / 256.0
    for samples, places in ((0, (CENTRE,)), (4, SAMPLES)):
        theirs = overdraw(context, points, SIDE, samples)
        assert theirs.sum() > 10_000
        assert np.count_nonzero(theirs != sum(counted(triangles, place) for place in places)) == 0


@pytest.mark.parametrize("name", ["airplane", "ant", "bunny", "nut"])
def test_meshes_that_ship(context, name: str) -> None:
    model = read_model(str(MESHES[name]))
    compare(context, seen(model.points, model.corners))


@pytest.mark.slow  # they are fetched
@pytest.mark.parametrize("name", ["teapot", "snowden", "dragon"])
def test_meshes_of_npm(context, request: pytest.FixtureRequest, name: str) -> None:
    compare(context, seen(*mesh(name, request.config.cache)))
