"""Is the float64 reference right, by closed form, by de Casteljau and by independently computed data?"""

from __future__ import annotations

import numpy as np
import pytest

from tessellation import Patch, evaluate, load
from tessellation.surface.reference import bernstein_weights
from tests.tessellation.models import shared_model


def de_casteljau(net: np.ndarray, u: float, v: float) -> np.ndarray:
    rows = np.array(net)
    while len(rows) > 1:
        rows = (1 - u) * rows[:-1] + u * rows[1:]
    points = rows[0]
    while len(points) > 1:
        points = (1 - v) * points[:-1] + v * points[1:]
    return points[0]


def test_points_agree_with_de_casteljau():
    net = np.random.default_rng(3).normal(size=(4, 7, 3)).astype(np.float32)
    found = evaluate(net[None], 5)
    for i in range(5):
        for j in range(5):
            assert np.allclose(found.points[0, i, j], de_casteljau(net.astype(float), i / 4, j / 4), atol=1e-14)


def test_enneper_agrees_with_its_closed_form(enneper):
    k = 7
    found = evaluate(np.stack([patch.points for patch in enneper]), k)
    for index in range(4):
        p, q = divmod(index, 2)
        u, v = np.meshgrid(p - 1 + np.arange(k) / (k - 1), q - 1 + np.arange(k) / (k - 1), indexing="ij")
        z = u + 1j * v
        points = np.stack([(z - z**3 / 3).real, -(z + z**3 / 3).imag, (z**2).real], axis=-1)
        assert np.abs(found.points[index] - points).max() < 2e-7, "off by the rounding of the control points alone"
        normal = np.stack([2 * u, 2 * v, u * u + v * v - 1], axis=-1) / (u * u + v * v + 1)[..., None]
        assert np.abs(np.abs((found.normals[index] * normal).sum(axis=-1)) - 1).max() < 1e-6


def test_normal_is_du_cross_dv():
    net = np.zeros((3, 3, 3))
    net[..., 0], net[..., 1] = np.meshgrid(np.arange(3), np.arange(3), indexing="ij")
    found = evaluate(net[None], 4)
    assert np.allclose(found.normals, (0, 0, 1)) and np.allclose(found.du[0, 0, 0], (1, 0, 0))
    assert np.allclose(found.condition, 1.0)


def test_a_point_like_edge_has_no_normal():
    net = np.zeros((3, 3, 3))
    net[..., 0], net[..., 1] = np.meshgrid(np.arange(3), np.arange(3), indexing="ij")
    net[0] = net[0, 0]
    found = evaluate(net[None], 4)
    assert found.undetermined[0, 0].all() and not found.undetermined[0, 1:].any()
    assert np.isnan(found.normals[0, 0]).all() and np.isinf(found.condition[0, 0]).all()


def test_weights_are_a_partition_of_one():
    for degree in range(12):
        weights = bernstein_weights(degree, 16)
        assert np.allclose(weights.sum(axis=1), 1.0, atol=1e-15)
        assert weights[0].tolist() == [1.0] + [0.0] * degree and weights[-1, -1] == 1.0


@pytest.mark.parametrize("name", ["teapot", "teapot_deg7", "teaspoon", "gumbo", "enneper_d3", "enneper_d7"])
def test_agrees_with_extended_precision_data(name):
    patches = load(shared_model(f"{name}.bpt")).patches
    data = np.load(shared_model(f"{name}_ref.npz"))
    for k in (4, 8, 16):
        if f"P{k}" not in data:
            continue
        found = evaluate(np.stack([patch.points for patch in patches]), k)
        assert np.abs(found.points - data[f"P{k}"]).max() <= 1e-15 * np.abs(data[f"P{k}"]).max() * 8
        assert (found.undetermined == np.isnan(data[f"N{k}"][..., 0])).all()
        assert np.nanmax(np.abs(found.normals - data[f"N{k}"])) < 1e-14
        assert np.allclose(found.magnitude, data[f"mag{k}"], rtol=2e-7)
        known = ~found.undetermined
        assert np.allclose(found.condition[known], data[f"cond{k}"][known], rtol=2e-7)


def test_errors_are_in_units_of_the_limits():
    patch = Patch(np.random.default_rng(5).normal(size=(4, 4, 3)))
    found = evaluate(patch.points[None], 4)
    moved = found.points + 2.0**-24 * found.magnitude * 3
    assert np.allclose(found.point_errors(moved), 3.0, rtol=1e-6)
    assert not found.point_errors(found.points).any()
