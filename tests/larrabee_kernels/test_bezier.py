"""Patches on the vector unit against float64, exact fractions, and counts by hand."""

from fractions import Fraction

import numpy as np
import pytest

from larrabee_bridge.kernels.bezier import bernstein, tessellate_on_vpu
from pixelflow.simd.errors import InputError
from tessellation import load
from tessellation.surface.patch import bernstein_bits
from tessellation.surface.reference import LIMIT, evaluate


def nets(count: int, m: int, n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, m + 1, n + 1, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("m", "n", "samples"),
    [(3, 3, 4), (1, 1, 4), (2, 5, 5), (8, 3, 2), *(pytest.param(n, n, 2, marks=pytest.mark.slow) for n in (7, 11))],
)
def test_points_and_normals_are_as_exact_as_the_array_s(m: int, n: int, samples: int) -> None:
    """The limits that hold for PixelFlow's microcode, against the same float64 reference."""
    found = tessellate_on_vpu(nets(3, m, n), samples)
    reference = evaluate(nets(3, m, n), samples)
    assert np.nanmax(reference.point_errors(found.points)) <= LIMIT
    assert np.nanmax(reference.normal_errors(found.normals)) <= LIMIT
    np.testing.assert_allclose(np.linalg.norm(found.normals, axis=-1), 1, atol=4 * 2.0**-24)


def test_the_teapot() -> None:
    patches = np.array([patch.points for patch in load("teapot").patches])
    found, reference = tessellate_on_vpu(patches, 4), evaluate(patches, 4)
    assert reference.point_errors(found.points).max() <= LIMIT
    told = ~reference.undetermined
    assert reference.normal_errors(found.normals)[told].max() <= LIMIT
    # Patches of the lid and the bottom end in a point, where du x dv is zero.
    assert not told.all() and np.isfinite(found.normals).all()


def test_a_point_in_exact_fractions() -> None:
    """A bicubic at u = 1/3, v = 2/3: small integers and thirds, so that only the last places can be off."""
    net = np.random.default_rng(2).integers(-4, 5, (1, 4, 4, 3))
    u, v = Fraction(1, 3), Fraction(2, 3)
    binomial = (1, 3, 3, 1)
    along_u, along_v = ([b * t**k * (1 - t) ** (3 - k) for k, b in enumerate(binomial)] for t in (u, v))
    exact = [
        float(sum(int(net[0, i, j, c]) * along_u[i] * along_v[j] for i in range(4) for j in range(4))) for c in range(3)
    ]
    np.testing.assert_allclose(tessellate_on_vpu(net, 4).points[0, 1, 2], exact, atol=4 * 4 * 2.0**-24)


def test_corners_are_control_points_and_a_plane_has_one_normal() -> None:
    i, j = np.meshgrid(np.arange(4.0), np.arange(4.0), indexing="ij")
    found = tessellate_on_vpu(np.stack([i, j, np.zeros((4, 4))], axis=-1)[None], 5)
    assert found.points[0, [0, 0, 4, 4], [0, 4, 0, 4]].tolist() == [[0, 0, 0], [0, 3, 0], [3, 0, 0], [3, 3, 0]]
    np.testing.assert_allclose(found.normals, np.broadcast_to([0, 0, 1], found.normals.shape), atol=2.0**-23)


def test_a_patch_without_an_area_has_no_normal() -> None:
    assert not tessellate_on_vpu(np.ones((1, 4, 4, 3)), 4).normals.any()


def test_threads_and_normals_change_no_bit() -> None:
    patches, samples = nets(4, 3, 3), 5
    one = tessellate_on_vpu(patches, samples, threads=1)
    for found in (tessellate_on_vpu(patches, samples), tessellate_on_vpu(patches, samples, threads=3)):
        assert (found.points.view(np.uint32) == one.points.view(np.uint32)).all()
        assert (found.normals.view(np.uint32) == one.normals.view(np.uint32)).all()
    alone = tessellate_on_vpu(patches, samples, normals=False)
    assert alone.normals is None
    assert (alone.points.view(np.uint32) == one.points.view(np.uint32)).all()


def vector_operations(m: int, n: int, groups: int, *, normals: bool) -> int:
    """By hand, for up to eight rows; a surface of r x c: c weights, 3 r c products, and 3 r more."""

    def surface(rows: int, columns: int) -> int:
        return columns + 3 * rows * columns + 3 * rows

    lines = -(-(m + 1) * (n + 1) // 16)
    points = surface(m + 1, n + 1) + 3
    if not normals:
        return groups * points
    # A cross product is 6, the square of a length 3, its root 4 and three steps of 3, the product with it 3.
    normal = surface(m, n + 1) + surface(m + 1, n) + 6 + 3 + 4 + 9 + 3 + 3
    return 2 * 3 * 3 * lines + groups * (points + normal)


@pytest.mark.parametrize(
    ("m", "n", "samples"), [(3, 3, 4), (3, 3, 5), (2, 5, 5), pytest.param(7, 7, 4, marks=pytest.mark.slow)]
)
def test_operations_by_hand(m: int, n: int, samples: int) -> None:
    groups = -(-samples * samples // 16)
    for normals in (True, False):
        found = tessellate_on_vpu(nets(2, m, n), samples, normals=normals)
        assert found.timing.vector == 2 * vector_operations(m, n, groups, normals=normals)


def test_cycles_of_the_bicubic_patch() -> None:
    """213 vector operations; six packed loads of the differences touch two lines each; loop and start pair or not."""
    few, many = (tessellate_on_vpu(nets(count, 3, 3), 4).timing for count in (8, 24))
    assert vector_operations(3, 3, 1, normals=True) == 213
    per_patch = (many.cycles - few.cycles) / 16
    assert 213 + 6 <= per_patch <= 213 + 6 + 2
    # A thread alone waits for its results as well.
    assert many.alone.sum() - few.alone.sum() > 16 * per_patch


def test_weights_are_correctly_rounded() -> None:
    t = np.arange(4) / 3
    expected = np.array(bernstein_bits(3, 4), np.uint32).T
    assert (bernstein(3, t).astype(np.float32).view(np.uint32) == expected).all()


@pytest.mark.parametrize(("m", "message"), [(12, "degrees 12 and 3"), (0, "degrees 0 and 3")])
def test_what_is_refused(m: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tessellate_on_vpu(np.zeros((1, m + 1, 4, 3)), 4)
