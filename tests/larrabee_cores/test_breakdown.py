"""Where cycles of a frame go: shadow volumes without a shader, and a long shader."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from larrabee_bridge.pipeline.frame import Breakdown, breakdown_of, shader_length_at
from larrabee_bridge.pipeline.rasterizer import rasterize
from pixelflow.simd.drawing import Draw, Frame, snap
from tessellation.scenes import layers, volumes

SIDE = 128


@cache
def found(count: int) -> Breakdown:
    """A ground under ``count`` shadow volumes; the draws of volumes have no shader, they only count."""
    ground = layers(SIDE, SIDE, depth=1, columns=4, rows=4)
    draws = (ground, *(volumes(SIDE, SIDE, count=count, size=120) if count else ()))
    return breakdown_of(Frame(SIDE, SIDE, (0, 0, 0), draws), tile=32)


def test_shares_are_parts_of_all_stages() -> None:
    assert found(3).shares["raster"] == pytest.approx(found(3).raster_share())
    assert sum(found(3).shares.values()) == pytest.approx(1)


def test_a_long_shader_brings_it_below_5_percent() -> None:
    length = shader_length_at(0.05, found(0).stages, found(0).quad)
    assert 0 < length < 1000
    assert found(0).raster_share(length) == pytest.approx(0.05)
    ground = layers(SIDE, SIDE, depth=1, columns=4, rows=4)
    longer = breakdown_of(Frame(SIDE, SIDE, (0, 0, 0), (ground,)), tile=32, longer=int(length) + 2)
    # That shader was run, and its quads take what the line through shorter ones says.
    whole = longer.quad.of(int(length) + 2) * longer.stages.quads + longer.stages.raster
    assert longer.stages.raster / whole == pytest.approx(0.05, rel=0.01)


def test_an_operation_costs_a_cycle_for_each_quad_that_is_seen() -> None:
    """The ground is seen everywhere; under volumes most quads run no shader."""
    assert found(0).quad.per_operation == pytest.approx(1, rel=0.05)
    assert found(3).quad.per_operation < 0.6


def test_set_up_is_rasterization() -> None:
    """A triangle beside the screen: nothing is drawn, and its edges are worked out all the same."""
    away = snap(np.array([[(-40, -40), (-30, -40), (-40, -30)]]), np.zeros((1, 3)), np.zeros((1, 3, 3)))
    cycles = breakdown_of(Frame(SIDE, SIDE, (0, 0, 0), (Draw("away", away),)), tile=32).cycles
    assert cycles == {"raster": int(rasterize(away, SIDE, SIDE, tile=32).set_up.cycles[0])}
    assert cycles["raster"] > 0
