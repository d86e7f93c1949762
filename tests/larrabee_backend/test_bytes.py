"""Bytes of pixels between memory and tiles: read once, written once, and what is saved of that, by hand."""

from functools import cache

import numpy as np
import pytest

from larrabee_bridge.pipeline.account import grounds_of_cores
from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.frame import FrameSetting, LarrabeeRun, render_on_larrabee
from larrabee_bridge.pipeline.picture import side_of
from larrabee_bridge.pipeline.traffic import TileSizes, Traffic, bin_contents, binned_traffic, default_targets
from larrabee_bridge.vpu.config import CORE_MHZ, CoreConfig
from pixelflow.simd.drawing import Blend, Draw, Frame, State
from pixelflow.simd.units import Standing
from tests.larrabee_backend.soups import square

FIRST = square(0.5, (1, 2, 3), 8)
"""In the first tile of six: 70 x 40 pixels in tiles of 32."""


def frame(triangles, samples: int = 1, times: int = 1) -> Frame:
    return Frame(70, 40, (0, 0, 0), tuple(Draw(str(number), triangles) for number in range(times)), samples)


def traffic_of(run: LarrabeeRun) -> Traffic:
    counts = [len(draw.triangles) for draw in run.frame.draws]
    contents = bin_contents([raster.quads() for raster in run.rasters], counts)
    return binned_traffic(
        TileSizes.of(run.frame.width, run.frame.height, run.tile), contents, default_targets(run.frame.samples)
    )


@pytest.mark.parametrize("samples", [pytest.param(1, marks=pytest.mark.slow), 4])
def test_every_pixel_is_written_once(samples: int) -> None:
    """Colours are written as one sample of 4 bytes; depths are dropped, and tiles end with the screen."""
    found = traffic_of(render_on_larrabee(frame(square(0.5, (1, 2, 3), 200), samples), FrameSetting(tile=32)))
    assert found.read["colour"] == found.read["depth"] == found.written["depth"] == 0
    assert found.written["colour"] == 4 * 70 * 40


def test_bytes_do_not_depend_on_how_often_pixels_are_drawn() -> None:
    once, often = (traffic_of(render_on_larrabee(frame(FIRST, times=times), FrameSetting(tile=32))) for times in (1, 5))
    assert once.targets == often.targets == 4 * 32 * 32
    # But the bins do: two triangles of four quads a draw, of which they share two; 16 bytes an entry, 2 a mask or
    # place, and 2 for the mask of each quad that is not covered wholly: those on the diagonal.
    assert (once.written["bins"], often.written["bins"]) == (2 * 16 + 6 * 2 + 4 * 2, 5 * (2 * 16 + 6 * 2 + 4 * 2))


def test_tiles_without_triangles_are_not_written() -> None:
    run = render_on_larrabee(frame(FIRST), FrameSetting(tile=32))
    assert traffic_of(run).written["colour"] == 4 * 1024
    assert run.back_end.threads.sum(axis=1)[1:].tolist() == [0] * 5


@pytest.mark.parametrize(
    ("tile", "samples", "sorts", "size"),
    [
        (32, 1, 0, 32 * 32 * 8),
        (64, 4, 0, 64 * 64 * 4 * 8),
        (128, 1, 0, 128 * 128 * 8),  # half of the slice
        (128, 4, 0, 128 * 128 * 4 * 8),  # twice the slice
        (32, 1, 1, 32 * 32 * (8 + 4)),  # with where the list of each pixel begins
    ],
)
def test_whether_a_tile_stays_in_its_slice_of_the_cache(tile: int, samples: int, sorts: int, size: int) -> None:
    state = State(blend=Blend.SORTED, depth_write=False) if sorts else State()
    draws = (Draw("any", FIRST.part(np.zeros(0, np.int64)), state),)
    found = render_back_end(Frame(8, 8, (0, 0, 0), draws, samples), tile=tile)
    assert found.tile_bytes == size
    assert found.fits_l2 == (size <= 256 * 1024)
    left = max(256 * 1024 - size, 0)
    assert found._replace(list_bytes=np.array([left, 0])).fits_l2 == (size <= 256 * 1024)
    assert not found._replace(list_bytes=np.array([0, left + 1])).fits_l2, "lists of the longest tile count"


@cache
def first() -> LarrabeeRun:
    return render_on_larrabee(frame(FIRST), FrameSetting(32, CoreConfig(caches=True)))


def test_misses_of_all_cores_are_added_up() -> None:
    accounts = (first().back_end.accounts.shared, *(raster.cores for raster in first().rasters))
    near, far = (
        sum(getattr(core, name) for cores in accounts for core in cores.values()) for name in ("l1_misses", "l2_misses")
    )
    assert near > far > 0
    found = dict(side_of(first(), 1, CORE_MHZ).facts)["memory"]
    assert [int(each.replace(",", "")) for each in found.split() if each[0].isdigit()] == [near, far]


def test_a_clock_that_was_set_is_invented() -> None:
    run = first()
    clocks = [grounds_of_cores(run, mhz)["clock_mhz"].constants[0] for mhz in (CORE_MHZ, 500)]
    assert [(each.value, each.standing) for each in clocks] == [(1000, Standing.DERIVED), (500, Standing.INVENTED)]
