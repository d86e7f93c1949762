"""Is what cannot be drawn refused, with what and where?"""

import numpy as np
import pytest

from larrabee_bridge.pipeline.front_end import HierarchicalDepth
from pixelflow.simd.drawing import DepthTest, State, Stencil, perspective
from pixelflow.simd.errors import InputError
from tests.larrabee_front.meshes import colours, front_end, sphere

POINTS, CORNERS = sphere(6, 4)


def refused(**changes) -> str:
    given = {"positions": POINTS, "colours": colours(len(POINTS)), "corners": CORNERS, "matrix": np.eye(4)}
    given |= {"width": 64, "height": 64}
    with pytest.raises(InputError) as caught:
        front_end(**{**given, **changes})
    return str(caught.value)


def changed(array: np.ndarray, place: tuple[int, ...], value: float) -> np.ndarray:
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e39])
def test_vertices_that_are_no_points(value: float) -> None:
    text = refused(positions=changed(POINTS, (4, 1), value))
    assert "vertex 5 of 24 is not a point of finite float32 numbers" in text


def test_enormous_vertices() -> None:
    text = refused(positions=changed(POINTS, (7, 2), 2e18))
    assert "vertex 8 of 24 reaches 2e+18 in clip space" in text and "2^60" in text
    far = perspective(np.zeros(3), 1e10 * np.eye(3), 1e10, 64, 64, 1, 2)
    assert "vertex 7 of 24 reaches" in refused(matrix=far)


@pytest.mark.parametrize(("number", "triangle"), [(-1, 3), (24, 9)])
def test_corners_that_do_not_exist(number: int, triangle: int) -> None:
    text = refused(corners=changed(CORNERS, (triangle, 2), number))
    assert f"triangle {triangle + 1}: corner 3 is vertex number {number}" in text and "0 to 23" in text


def test_no_more_than_twenty_faults_are_told() -> None:
    with pytest.raises(InputError) as caught:
        front_end(POINTS, colours(24), CORNERS + 24, np.eye(4), 64, 64)
    assert len(caught.value.faults) == 20


def test_meshes_without_anything() -> None:
    assert "without triangles" in refused(corners=np.zeros((0, 3), int))
    empty = refused(positions=np.zeros((0, 3)), colours=np.zeros((0, 3), np.uint8))
    assert "the mesh has no vertices" in empty


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"positions": POINTS[:, :2]}, "positions are float[vertex, 3], not float64[24, 2]"),
        ({"corners": CORNERS.astype(float)}, "corners are int[triangle, 3], not float64"),
        ({"matrix": np.eye(3)}, "a matrix is float[4, 4], not float64[3, 3]"),
        ({"matrix": changed(np.eye(4), (2, 1), np.nan)}, "row 3, column 2 of the matrix"),
        ({"matrix": changed(np.eye(4), (0, 3), 1e39)}, "row 1, column 4 of the matrix is not a finite float32"),
        ({"colours": np.zeros((24, 3))}, "colours are float64[24, 3]"),
        ({"colours": np.zeros((23, 3), np.uint8)}, "colours are uint8[23, 3]"),
        ({"tile": 48}, "a tile of 48 pixels"),
        ({"width": 0}, "a screen of 0x64 pixels"),
        ({"height": 16384}, "a screen of 64x16384 pixels"),
        ({"primset": 0}, "a PrimSet of 0 triangles"),
        ({"threads": 5}, "5 threads for a PrimSet"),
        (
            {"hierarchical": HierarchicalDepth(State(depth_test=DepthTest.ALWAYS))},
            "a hierarchical depth test in a state",
        ),
        ({"hierarchical": HierarchicalDepth(State(stencil=Stencil()))}, "a hierarchical depth test in a state"),
        ({"hierarchical": HierarchicalDepth(before=np.zeros(3))}, "depths of tiles, [3] numbers"),
        ({"hierarchical": HierarchicalDepth(before=np.array([-1]))}, "depths of tiles, [1] numbers"),
    ],
)
def test_what_does_not_fit(changes: dict, text: str) -> None:
    assert text in refused(**changes)


def test_what_is_unusual_and_allowed() -> None:
    """Vertices that no triangle names, corners named twice, colours for each corner, integers, the largest screen."""
    points = np.concatenate([POINTS, [[0, 0, 0]]])
    corners = np.concatenate([CORNERS, [[1, 1, 2]]])
    by_corner = colours(25)[corners]
    result = front_end(points, by_corner, corners, np.eye(4), 16383, 1, tile=128)
    assert result.distinct == len(np.unique(corners)) < 25
    whole = front_end(points, colours(25), corners, np.eye(4), 16383, 1, tile=128)
    assert np.array_equal(result.triangles.colours, whole.triangles.colours)
    triangle = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    whole_numbers = front_end(triangle, colours(3), [[0, 1, 2]], np.eye(4, dtype=int), 64, 64)
    assert len(whole_numbers.triangles) == 1
