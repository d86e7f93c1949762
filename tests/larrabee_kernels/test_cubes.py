"""Marching cubes: closed surfaces of known volume, vertices where lines pass the level, the table of cases."""

import numpy as np
import pytest

from larrabee_bridge.kernels.cubes import _cases, by_lines, crossings, surface_of
from pixelflow.simd.errors import InputError

Z, Y, X = np.mgrid[0:17, 0:17, 0:17]


def directed_edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    points, corner = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    corner = corner.reshape(-1, 3)
    return points, np.concatenate([corner[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])


def is_closed(triangles: np.ndarray) -> bool:
    """Whether each directed edge has its reverse, as often."""
    _, edges = directed_edges(triangles)
    return sorted(map(tuple, edges)) == sorted(map(tuple, edges[:, ::-1]))


def volume(triangles: np.ndarray) -> float:
    exact = triangles.astype(float)
    return np.einsum("ij,ij->", exact[:, 0], np.cross(exact[:, 1], exact[:, 2])) / 6


def test_a_ball_is_closed_and_has_its_volume() -> None:
    """A ball of radius 5.3, its chords inside: a little less than its volume; Euler's number 2."""
    found, _ = surface_of(5.3 - np.sqrt((X - 8.1) ** 2 + (Y - 7.9) ** 2 + (Z - 8.2) ** 2))
    points, edges = directed_edges(found)
    assert is_closed(found)
    assert len(points) - len(edges) / 2 + len(found) == 2
    assert 0.96 < volume(found) / (4 / 3 * np.pi * 5.3**3) < 1


def test_trimesh_says_that_it_is_watertight() -> None:
    trimesh = pytest.importorskip("trimesh", reason="needs trimesh")
    found, _ = surface_of(5.3 - np.sqrt((X - 8.1) ** 2 + (Y - 7.9) ** 2 + (Z - 8.2) ** 2))
    solid = trimesh.Trimesh(found.reshape(-1, 3), np.arange(3 * len(found)).reshape(-1, 3))
    solid.merge_vertices()
    assert solid.is_watertight and solid.is_winding_consistent and solid.volume > 0


@pytest.mark.parametrize("level", [0.0, 0.25])
def test_noise_has_no_holes_and_passes_every_line_once(level: float) -> None:
    """Random values meet every case; a border below the level closes the surface."""
    values = np.random.default_rng(1).uniform(-1, 1, (17, 17, 17)).astype(np.float32)
    for side in (np.s_[[0, -1]], np.s_[:, [0, -1]], np.s_[:, :, [0, -1]]):
        values[side] = -1
    found, _ = surface_of(values, level)
    assert is_closed(found)
    points = np.unique(found.reshape(-1, 3), axis=0).astype(float)
    wanted = crossings(values, level)
    assert len(points) == len(wanted)
    assert np.abs(by_lines(points) - wanted).max() < 1e-5


def test_the_table_of_cases() -> None:
    """820 triangles, five at most; none where no corner or all are above; a single corner has one."""
    cases = _cases()
    assert len(cases) == 256 and max(map(len, cases)) == 5 and sum(map(len, cases)) == 820
    assert cases[0] == cases[255] == () and all(len(cases[1 << corner]) == 1 for corner in range(8))


def test_an_empty_volume_has_no_surface() -> None:
    found, run = surface_of(np.zeros((2, 9, 17)), 1.0)
    assert found.shape == (0, 3, 3) and run.cycles > 0


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match="a volume of shape"):
        surface_of(np.zeros((4, 4, 4)))
    with pytest.raises(InputError, match="not finite"):
        surface_of(np.full((2, 9, 17), np.nan))
