"""Could the record be wrong? Its bits beside Python integers, its cycles beside a prediction, and both when changed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb

import numpy as np
import pytest

from microcode import Imm, Register
from tessellation import Method, Patch, tessellate
from tessellation.microprogram import fixed_sums, passes, shared_columns
from tessellation.reproduction import PAPER, ThesisBench, results, whole_passes
from tessellation.reproduction.fixed_model import fixed_samples
from tessellation.reproduction.results import different, tied_patches

FIXED = Method(schedule="fixed-sums")


def nets(count: int, seed: int) -> np.ndarray:
    """Return random nets: any, nearly flat ones, far from the origin, of few bits, and with columns on each other."""
    source = np.random.default_rng(seed)
    found = source.uniform(-1, 1, (count, 4, 4, 3)) * 2.0 ** source.integers(-20, 20, (count, 1, 1, 1))
    kind = np.arange(count) % 5
    found[kind == 1, ..., 2] *= 2.0**-10
    found[kind == 2] += 3 * np.abs(found[kind == 2]).max(axis=(1, 2, 3), keepdims=True)
    scale = np.abs(found).max(axis=(1, 2, 3), keepdims=True)
    found = np.where((kind == 3)[:, None, None, None], np.rint(found / scale * 40) * scale / 40, found)
    found[kind == 4, :, 1] = found[kind == 4, :, 0] + 2.0**-8 * found[kind == 4, :, 1]
    # Nothing below a thousandth of the largest, so that no patch takes a pass of floats.
    return np.where(np.abs(found) < scale / 1000, 0, found).astype(np.float32)


def wrong_numbers(patches: list[Patch], samples: int) -> int:
    """Return how many numbers of points and normals are not those of the integers."""
    done = tessellate(patches, samples, method=FIXED)
    assert not done.refused and all(plan.fixed for plan in done.plans)
    wrong = 0
    for each in done.patches:
        points, normals = fixed_samples(each.patch.points32, samples)
        wrong += different(each.points, points) + different(each.normals, normals)
    return wrong


@pytest.mark.parametrize("samples", [3, 4, 16, *(pytest.param(each, marks=pytest.mark.slow) for each in (2, 5, 6, 7))])
def test_every_bit_is_that_of_python_integers(samples: int) -> None:
    assert wrong_numbers([Patch(net) for net in nets(max(10, 1600 // samples**2), samples)], samples) == 0


@pytest.mark.slow
def test_every_bit_of_twenty_thousand_nets() -> None:
    for seed in range(100, 140):
        assert wrong_numbers([Patch(net) for net in nets(500, seed)], 4 if seed % 4 else 3) == 0


def test_points_of_the_integers_are_the_exact_sums_rounded_once() -> None:
    """At 3x3 samples, where the last product is exact: half away from zero, as the sum of fractions says."""
    ties = 0
    weights = [[Fraction(comb(3, i) * a**i * (2 - a) ** (3 - i), 8) for i in range(4)] for a in range(3)]
    for patch in tied_patches():
        points, _ = fixed_samples(patch.points32, 3)
        for i, j, axis in np.ndindex(3, 3, 3):
            exact = sum(
                weights[i][a] * weights[j][b] * Fraction(float(patch.points32[a, b, axis])) for a, b in np.ndindex(4, 4)
            )
            away, ties = abs(exact) + Fraction(1, 2), ties + (exact.denominator == 2)
            assert 1 << 23 <= abs(exact) < 1 << 24 and Fraction(float(points[i, j, axis])) == (
                away.__floor__() if exact > 0 else -away.__floor__()
            )
    assert ties > 100


def judged() -> tuple[set[str], set[str]]:
    """Return the rows of the claim on schedules that are off, and the results that do not hold."""
    found = PAPER.find(next(claim for claim in PAPER.claims if claim.name == "schedules"), ThesisBench())
    return {row.item for row in found.rows if row.verdict.name == "OFF"}, {
        each.item for each in found.checks if not each.held
    }


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The rows of one library, and the results of shared columns and fixed sums alone; no program is kept or found."""
    monkeypatch.setattr(passes, "kept_program", lambda key, make: make()[0])
    monkeypatch.setattr(results, "_SCHEDULES", (("shared-columns", "tuned-finite"),))
    monkeypatch.setattr(whole_passes, "LIBRARIES", ("tuned-finite",))
    return monkeypatch


def test_the_record_holds_as_it_is(quick: pytest.MonkeyPatch) -> None:
    assert judged() == (set(), set())


def a_cycle_more(emit: Callable) -> Callable:
    def emitted(builder, *operands, **known) -> None:
        emit(builder, *operands, **known)
        builder.emit("LD", Register.R, Imm(0))

    return emitted


SHARED = "shared-columns schedule, library tuned-finite"


@pytest.mark.parametrize(
    ("module", "name", "off"),
    [
        (fixed_sums, "emit_constant_off", {"fixed-sums schedule"}),
        (shared_columns, "_emit_outer", {SHARED}),
        (shared_columns, "_emit_banks", {SHARED, "fixed-sums schedule"}),
    ],
)
def test_a_cycle_more_is_off(module, name: str, off: set[str], quick: pytest.MonkeyPatch) -> None:
    quick.setattr(module, name, a_cycle_more(getattr(module, name)))
    quick.setattr(results, "schedules", lambda bench: [])
    bench = ThesisBench()
    bench.timing_only = True
    assert {row.item for row in PAPER.rows("schedules", bench) if row.verdict.name == "OFF"} == off


def rounds_down_ties(builder, result, mantissa, sign) -> None:
    """Emit the subtraction of one from a mantissa whose low byte is a half, before it is rounded."""
    builder.emit("LD", Register.R, mantissa)
    builder.emit("XOR", Register.R, Imm(0x80))
    builder.emit("CMP", Register.R, Imm(1))
    builder.emit("ENC")
    builder.emit("STI", mantissa, Imm(0x7F))
    builder.emit("EMC_SetEnab")
    PACKED(builder, result, mantissa, sign)


PACKED = fixed_sums.emit_packed


def less_root(builder, begun, upper) -> None:
    """Emit a first guess of the root that is one less."""
    BEGIN(builder, begun, upper)
    builder.emit("LD", Register.R, begun)
    builder.emit("SUB", Register.R, Imm(1))
    builder.emit("ST", begun, Register.R)


BEGIN = fixed_sums._emit_begin


@pytest.mark.parametrize(
    ("name", "changed"), [("emit_packed", rounds_down_ties), ("_emit_begin", less_root)], ids=["ties", "root"]
)
def test_a_bit_that_is_another_does_not_hold(name: str, changed: Callable, quick: pytest.MonkeyPatch) -> None:
    """Ties rounded down, and a first guess of the root that its steps nearly hide."""
    quick.setattr(fixed_sums, name, changed)
    quick.setattr(results, "_SCHEDULES", ())
    quick.setattr(whole_passes, "LIBRARIES", ())
    off, wrong = judged()
    assert wrong == {"fixed-sums schedule"} and off == {"fixed-sums schedule"}


def test_a_bit_of_shared_columns_that_is_another_does_not_hold(quick: pytest.MonkeyPatch) -> None:
    """Two columns that change places after the exchange."""
    quick.setattr(shared_columns, "_SLOTS", (0, 1, 2, 3))
    quick.setattr(results, "_fixed_sums", lambda bench: None)
    assert [each.item for each in results.schedules(ThesisBench()) if each and not each.held] == [SHARED]
