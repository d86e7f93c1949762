"""The texture unit: what it counts, by hand."""

from collections import OrderedDict

import numpy as np
import pytest

from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.back_end_programs import TileStage
from larrabee_bridge.pipeline.texture_unit import TextureConfig, TileTextureUnit
from larrabee_bridge.vpu.program import LINE_BYTES
from pixelflow.simd.drawing import TEXEL, Draw, Frame, State, Texture, snap
from pixelflow.simd.drawing.mipmaps import filtered
from pixelflow.simd.errors import InputError
from tests.larrabee_backend.soups import square, texture

GRID = texture(5, 16, 16)


def ask(unit: TileTextureUnit, x: np.ndarray, y: np.ndarray, wanted: np.ndarray | None = None) -> np.ndarray:
    """Ask for texel centres x, y of one quad."""
    wanted = np.ones((1, 16), bool) if wanted is None else wanted
    u, v = ((at * TEXEL + TEXEL // 2).astype(np.uint32)[None] for at in (x, y))
    zero = np.zeros(1, np.int64)
    return unit.answer(GRID, zero, zero, wanted, u, v)[0]


def test_a_pixel_between_two_levels_is_filtered_in_both() -> None:
    texels = np.random.default_rng(1).integers(0, 256, (64, 64, 4)).astype(np.uint8)
    texture = Texture(texels, mipmaps=True)
    column, row = np.arange(16) % 4, np.arange(16) // 4
    # The last level is one texel, and so one line.
    for scale, filters, lines in ((0.5, 16, None), (2.0, 16, None), (2.8, 32, None), (1000.0, 16, 1)):
        unit = TileTextureUnit(1)
        u, v = ((at[None] + 0.5) * scale * TEXEL for at in (column, row))
        where, wanted = np.zeros(1, np.int64), np.ones((1, 16), bool)
        answers, taken = unit.answer(texture, where, where, wanted, u.astype(np.uint32), v.astype(np.uint32))
        assert (int(unit.pixels[0]), int(taken[0, 0])) == (filters, filters // 4)  # four a cycle
        assert lines is None or int(taken[1, 0]) == lines
        if scale == 2.0:
            assert np.array_equal(answers[0].T.reshape(4, 4, 4), texture.levels[1][:4, :4])
        if scale == 1000.0:
            assert (texture.levels[6][0, 0] == answers[0].T).all()


def test_a_quad_of_texel_centres_gets_the_texels() -> None:
    y, x = (each.reshape(-1) for each in np.mgrid[4:8, 8:12])
    found = ask(TileTextureUnit(1), x, y)
    assert np.array_equal(found[0].T, GRID.texels[y, x])


def test_lines_that_a_quad_touches() -> None:
    """Texels 8 to 11 across and 4 to 7 down are one line of 4x4; their neighbours to the right and below are three."""
    unit = TileTextureUnit(1)
    y, x = (each.reshape(-1) for each in np.mgrid[4:8, 8:12])
    ask(unit, x, y)
    assert (unit.misses[0], unit.hits[0], unit.bytes[0]) == (4, 0, 256)
    ask(unit, x, y)
    assert (unit.misses[0], unit.hits[0], unit.bytes[0]) == (4, 4, 256)
    inner = (x < 11) & (y < 7)
    ask(unit, x, y, inner[None])
    assert (unit.misses[0], unit.hits[0]) == (4, 5)
    assert (unit.pixels[0], unit.requests[0].tolist()) == (16 + 16 + 9, [3, 0, 0])
    assert unit.cycles[0] == 4 + 4 + 3  # four pixels a cycle, begun ones rounded up


def test_a_tile_begins_with_an_empty_cache() -> None:
    unit = TileTextureUnit(2)
    y, x = (each.reshape(-1) for each in np.mgrid[4:8, 8:12])
    ask(unit, x, y)
    unit.finish()
    ask(unit, x, y)
    assert (unit.misses[0], unit.hits[0]) == (8, 0)


def test_tiles_have_caches_of_their_own() -> None:
    """Two tiles ask for the same four lines at once: neither finds the other's."""
    unit = TileTextureUnit(2)
    y, x = (each.reshape(-1) for each in np.mgrid[4:8, 8:12])
    u, v = (np.tile(at * TEXEL + TEXEL // 2, (3, 1)).astype(np.uint32) for at in (x, y))
    tile, thread = np.array([0, 1, 1]), np.zeros(3, np.int64)
    unit.answer(GRID, tile, thread, np.ones((3, 16), bool), u, v)
    assert (unit.misses.tolist(), unit.hits.tolist()) == ([4, 4], [0, 4])


def test_textures_lie_in_lines_of_their_own() -> None:
    unit = TileTextureUnit(1)
    y, x = (each.reshape(-1) for each in np.mgrid[4:8, 8:12])
    u, v = ((at * TEXEL + TEXEL // 2).astype(np.uint32)[None] for at in (x, y))
    zero = np.zeros(1, np.int64)
    for each in (GRID, texture(6, 16, 16), GRID):
        unit.answer(each, zero, zero, np.ones((1, 16), bool), u, v)
    assert (unit.misses[0], unit.hits[0]) == (8, 4)


def test_what_no_texture_unit_is() -> None:
    with pytest.raises(InputError, match="pixels_per_cycle: 0 is out of range"):
        TextureConfig(pixels_per_cycle=0)
    with pytest.raises(InputError, match="cache_bytes: 100 is not one of the allowed values"):
        TextureConfig(cache_bytes=100)


def test_coordinates_repeat() -> None:
    x = np.arange(16) - 5
    found = ask(TileTextureUnit(1), x, np.full(16, -3))
    assert np.array_equal(found[0].T, GRID.texels[-3 % 16, x % 16])


def test_only_quads_that_are_seen_ask() -> None:
    """A square behind another one asks for nothing, one before it for all of its pixels."""
    near, far = (Draw("", square(depth, (9, 9, 9), 8), State(texture=GRID)) for depth in (0.2, 0.8))
    for draws, pixels in (((near, far), 64), ((far, near), 128)):
        found = render_back_end(Frame(8, 8, (0, 0, 0), draws), tile=32)
        assert int(found.texture.pixels.sum()) == pixels
        assert int(found.texture.requests.sum()) == 6 * pixels // 64  # four quads, two of them in both triangles
        assert int(found.stages[TileStage.TEXTURE].sum()) > 0


def test_a_texture_of_one_line_misses_once() -> None:
    small = Texture(np.full((4, 4, 4), 200, np.uint8))
    corners = np.array([[(0, 0), (16, 0), (0, 16)]], float)
    draw = Draw("", snap(corners, np.zeros((1, 3)), np.full((1, 3, 3), 255), 7 * corners), State(texture=small))
    found = render_back_end(Frame(16, 16, (0, 0, 0), (draw,)), tile=32)
    assert found.texture.misses.tolist() == [1]
    assert found.texture.hits.sum() == found.texture.requests.sum() - 1
    assert filtered(small, np.array([5]), np.array([9])).tolist() == [[200] * 4]


class SetAssociativeCache:
    """Lines in sets of ``ways``, used one after the other; the least recently used one is given up first."""

    def __init__(self, size: int, ways: int) -> None:
        self.ways = ways
        self.sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(size // (LINE_BYTES * ways))]
        self.hits = self.misses = 0

    def touch(self, line: int) -> bool:
        """Use a line; return whether it was there. It is afterwards."""
        kept = self.sets[line % len(self.sets)]
        there = line in kept
        if there:
            self.hits += 1
            kept.move_to_end(line)
        else:
            self.misses += 1
            kept[line] = None
            if len(kept) > self.ways:
                kept.popitem(last=False)
        return there


@pytest.mark.parametrize("ways", [1, 2, 8])
def test_sets_hold_what_caches_that_are_used_one_line_after_the_other_hold(ways: int) -> None:
    """Quads of several tiles ask in several rounds; each tile's cache keeps what it held from round to round."""
    rng = np.random.default_rng(ways)
    large = texture(7, 256, 256)
    unit = TileTextureUnit(3, TextureConfig(cache_bytes=8192, ways=ways))
    caches = [SetAssociativeCache(8192, ways) for _ in range(3)]
    places = rng.integers(0, 64, (4, 300, 2)) + rng.integers(0, 2, (4, 300, 1)) * 128
    for batch in places:
        tile = np.sort(rng.integers(0, 3, len(batch)))
        at = 4 * batch[:, :, None] * TEXEL + TEXEL * 2
        u, v = (np.repeat(at[:, axis], 16, axis=1).astype(np.uint32) for axis in range(2))
        unit.answer(large, tile, 0 * tile, np.ones((len(batch), 16), bool), u, v)
        for where, (x, y) in zip(tile.tolist(), batch.tolist(), strict=True):
            caches[where].touch(y % 64 * 64 + x % 64)
    assert unit.hits.tolist() == [cache.hits for cache in caches]
    assert unit.misses.tolist() == [cache.misses for cache in caches]
    assert unit.hits.min() > 0
