"""Do the references that results are compared with say what is right, and do wrong bits show?"""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

from tessellation import evaluate, load
from tessellation.microprogram import passes, stage_code
from tessellation.microprogram.method import LIBRARIES
from tessellation.reproduction import ThesisBench, results
from tessellation.reproduction.results import different, elevated, exact_weights, flushed, nearest, single_samples
from tessellation.surface.patch import bernstein_bits

NETS = np.stack([patch.points for patch in load("enneper").patches])


@pytest.mark.parametrize(
    ("exact", "bits"),
    [
        (Fraction(1, 3), 0x3EAAAAAB),
        (Fraction(2**24 + 1, 2**24), 0x3F800000),  # half way: the even one
        (Fraction(2**24 + 3, 2**24), 0x3F800002),
        (Fraction(2**48 + 2**24 + 1, 2**48), 0x3F800001),  # just past half way, which float64 holds
        # Past half way by less than float64 can tell: rounding twice would give the even one below.
        (Fraction(2**80 + 2**56 + 1, 2**80), 0x3F800001),
    ],
)
def test_a_fraction_is_rounded_once(exact: Fraction, bits: int) -> None:
    assert int(nearest(exact).view(np.uint32)) == bits


def test_weights_are_those_of_the_microprogram() -> None:
    """Two ways from exact fractions: nearest of three neighbours here, a shifted significand there."""
    for degree, samples in ((3, 4), (3, 16), (11, 8), (2, 5)):
        bits = np.array(bernstein_bits(degree, samples), np.uint32)
        assert np.array_equal(exact_weights(degree, samples).view(np.uint32), bits)


@pytest.mark.parametrize("count", [4, 7, 12])
def test_binary32_is_close_to_the_float64_reference(count: int) -> None:
    nets = np.stack([elevated(net.astype(np.float64), count) for net in NETS])
    points, normals = single_samples(nets, 5)
    reference = evaluate(nets, 5)
    assert reference.point_errors(points).max() < 8
    assert np.nanmax(reference.normal_errors(normals)) < 8
    assert np.nanmin(reference.normal_errors(-normals)) > 1000, "normals the other way round"


def test_a_net_of_raised_degree_describes_the_same_surface() -> None:
    plain, raised = (
        evaluate(NETS, 6, single=False),
        evaluate(np.stack([elevated(net.astype(np.float64), 9) for net in NETS]), 6, single=False),
    )
    assert np.allclose(plain.points, raised.points, rtol=0, atol=1e-13)
    assert np.allclose(plain.normals, raised.normals, rtol=0, atol=1e-11)


def test_nans_are_alike_and_zeros_are_not() -> None:
    other = np.array([0x7FC00001, 0x80000000, 0x3F800000], np.uint32).view(np.float32)
    assert different(np.array([np.nan, 0.0, 1.0], np.float32), other) == 1
    assert different(np.array([np.nan, 1.0], np.float32), np.array([1.0, np.nan], np.float32)) == 2
    tiny = np.array([1e-40, -1e-40, 2e-38], np.float32)
    assert flushed(tiny).view(np.uint32).tolist() == [0, 0x80000000, int(tiny[2].view(np.uint32))]


def test_a_coefficient_off_by_a_little_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """One Bernstein value, 2^-22 of its size away, at one sample of sixteen."""

    def wrong(degree: int, samples: int, mantissa_bytes: int = 3) -> tuple[tuple[int, ...], ...]:
        rows = [list(row) for row in bernstein_bits(degree, samples, mantissa_bytes)]
        if (degree, samples) == (3, 16):
            rows[5][1] += 2
        return tuple(map(tuple, rows))

    monkeypatch.setattr(stage_code, "bernstein_bits", wrong)
    monkeypatch.setattr(passes, "kept_program", lambda key, make: make()[0])
    monkeypatch.setattr(results, "_LOADED", (4,))
    (check,) = results.bernstein_values(ThesisBench())
    # Of each of the 8 patches of 16x16 samples, a column in u and a row in v.
    assert not check.held and check.found == 8 * 2 * 16
    (bits,) = results.mixed_sizes(ThesisBench())
    assert not bits.held


def test_nothing_compared_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two patches of 4x4 and 2x2 samples, six numbers each; a server that lost all; values that nobody looked at."""
    lost = results._same_bits("lost", [], [4, 2])
    assert not lost.held and lost.found == 6 * (16 + 4)
    bench = ThesisBench()
    monkeypatch.setattr(results, "PatchServer", lambda *_, **__: MagicMock(handles=[]))
    (served,) = results.to_nodes(bench)
    assert not served.held and served.found == 32 * 16 * 6
    monkeypatch.setattr(results, "_LOADED", (4,))
    bench.once(("results", 4), lambda: (None, [], results._Values()))
    (unseen,) = results.bernstein_values(bench)
    # 14 values a PE, 8 patches of 256 + 64 + 16 + 16 samples; and none of three sizes was seen.
    assert not unseen.held and unseen.found == 14 * 8 * 352 + 3


def test_a_finite_library_is_asked_for_finite_numbers_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "LIBRARIES", {"tuned-finite": LIBRARIES["tuned-finite"]})
    assert [check.held for check in results.single_operations(ThesisBench())] == [True] * 5


def test_an_engine_is_compared_with_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference with itself is no result, nor is the fastest engine where it was compared already."""
    said: list[str] = []
    bench = ThesisBench()
    bench.progress = said.append
    ran = {"bit-serial": "bit-serial", "rows": "rows", "auto": "rows"}
    monkeypatch.setattr(
        results, "_full", lambda bench, library, engine: SimpleNamespace(engine=ran[engine], patches=[])
    )
    assert [each.item for each in results.engines(bench)] == ["engine rows"]
    assert said == ["no faster engine works here than rows, which was compared"]
    ran["auto"] = "compiled"
    assert [each.item for each in results.engines(ThesisBench())] == ["engine rows", "engine compiled"]


@pytest.mark.slow
def test_products_that_are_cut_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a multiplication threw its guard bits away: about half of the products are another number."""
    run = results._run

    def cut(floats, name, operands, size=3):
        found, kept = run(floats, name, operands, size)
        if name != "fmul":
            return found, kept
        a, b = (np.ascontiguousarray(each.T).view("<f4").ravel() for each in operands)
        with np.errstate(all="ignore"):
            a, b = a.astype(np.float64), b.astype(np.float64)
            high = (np.abs(a * b) < np.abs(results._values(found))) & np.isfinite(a * b)
        found[0, high] -= 1
        return found, kept

    monkeypatch.setattr(results, "_run", cut)
    wrong = {check.item for check in results.single_operations(ThesisBench()) if not check.held}
    assert wrong == {f"fmul, library {name}" for name in LIBRARIES}
