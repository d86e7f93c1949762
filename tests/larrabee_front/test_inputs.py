"""Is what cannot be drawn refused, with what and where?"""

import numpy as np
import pytest

from pixelflow.simd.drawing import perspective
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
    assert "vertex 5 of 24" in text and "finite" in text


def test_enormous_vertices() -> None:
    text = refused(positions=changed(POINTS, (7, 2), 2e18))
    assert "vertex 8 of 24 reaches 2e+18" in text and "2^60" in text
    far = perspective(np.zeros(3), 1e10 * np.eye(3), 1e10, 64, 64, 1, 2)
    assert "vertex 7 of 24 reaches" in refused(matrix=far)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"matrix": changed(np.eye(4), (2, 1), np.nan)}, "row 3, column 2 of the matrix"),
        ({"matrix": changed(np.eye(4), (0, 3), 1e39)}, "row 1, column 4 of the matrix is not a finite float32"),
    ],
)
def test_what_does_not_fit(changes: dict, text: str) -> None:
    assert text in refused(**changes)


def test_what_is_unusual_and_allowed() -> None:
    """Vertices that no triangle names, corners named twice, colours for each corner, the largest screen."""
    points = np.concatenate([POINTS, [[0, 0, 0]]])
    corners = np.concatenate([CORNERS, [[1, 1, 2]]])
    by_corner = colours(25)[corners]
    result = front_end(points, by_corner, corners, np.eye(4), 16383, 1, tile=128)
    assert result.distinct == len(np.unique(corners)) < 25
    whole = front_end(points, colours(25), corners, np.eye(4), 16383, 1, tile=128)
    assert np.array_equal(result.triangles.colours, whole.triangles.colours)
