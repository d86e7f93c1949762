"""The division of cycles among stages, and its inversion."""

from __future__ import annotations

import pytest

from larrabee_bridge.pipeline.frame import QuadCost, StageCycles, raster_share, shader_length_at, shares
from pixelflow.simd.errors import InputError


def test_shares_by_hand() -> None:
    assert shares({"raster": 1, "shader": 2, "blend": 1}) == {"raster": 0.25, "shader": 0.5, "blend": 0.25}


def test_the_line_through_two_measurements() -> None:
    line = QuadCost.through((10, 80), (50, 200))
    assert (line.fixed, line.per_operation) == (50, 3)
    assert line.of(20) == 110


def test_the_length_by_hand() -> None:
    """100 of raster are 5 % of 2000; 300 are other stages; 1600 for 10 qquads is 160 each, of which 10 are fixed."""
    stages, quad = StageCycles(raster=100, other=300, quads=10), QuadCost(10, 2)
    assert shader_length_at(0.05, stages, quad) == pytest.approx(75)
    assert raster_share(stages, quad, 75) == pytest.approx(0.05)


@pytest.mark.parametrize("share", [0.032, 0.05, 0.15, 0.201, 0.25])
@pytest.mark.parametrize("raster", [1000, 123456])
def test_the_length_gives_the_share(share: float, raster: int) -> None:
    stages, quad = StageCycles(raster, raster // 3, raster // 70), QuadCost(31, 1.37)
    length = shader_length_at(share, stages, quad)
    assert length > 0
    assert raster_share(stages, quad, length) == pytest.approx(share)
    assert raster_share(stages, quad, length + 1) < share < raster_share(stages, quad, length - 1)


def test_a_share_that_is_there_needs_no_shader() -> None:
    assert shader_length_at(0.5, StageCycles(10, 10, 1), QuadCost(5, 1)) == 0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: shares({"raster": 0}), "without any cycles"),
        (lambda: QuadCost.through((10, 1), (10, 2)), "no line"),
        (lambda: shader_length_at(1.0, StageCycles(1, 1, 1), QuadCost(1, 1)), "a share of 1.0"),
        (lambda: shader_length_at(0.1, StageCycles(1, 1, 0), QuadCost(1, 1)), "whatever the shader is"),
    ],
)
def test_what_is_refused(make: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()
