"""Do texture reads take the texels, the levels and the addresses that their rules give by hand?"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from attila_bridge.function.texture import TextureImage, UnitSampler, texture_bytes
from attila_bridge.isa.execution import Lookup
from attila_bridge.scene import Filter, SceneTexture, Wrap, texture_levels


def texture(
    width: int = 8,
    height: int = 8,
    *,
    low: Filter = Filter.LINEAR,
    high: Filter = Filter.LINEAR,
    wrap: Wrap = Wrap.REPEAT,
    most: int = 1,
    levels: int = 1,
    pattern: str = "noise",
) -> SceneTexture:
    return SceneTexture("t", texture_levels(pattern, width, height, levels, 1), low, high, wrap, most)


def read(
    what: SceneTexture, places: list[tuple[float, float]], lookup: Lookup = Lookup.PLAIN, q: float = 0.0
) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
    """Return colours of the four fragments of a quad, and the addresses of its bilinear steps."""
    sampler = UnitSampler({3: TextureImage(what, 0x10000)})
    coordinates = np.array([[(s, t, 0, q) for s, t in places]], np.float32).reshape(1, 16)
    found = sampler.sample(3, coordinates.view(np.uint32), lookup).view(np.float32).reshape(4, 4)
    reads = sampler.reads[0]
    assert reads.counts[0].tolist() == [len(reads.texels[0])]
    return found, reads.texels[0]


def square(s: float, t: float, step: float) -> list[tuple[float, float]]:
    return [(s, t), (s + step, t), (s, t + step), (s + step, t + step)]


def bytes_of(color: NDArray[np.float32]) -> list[int]:
    return [round(float(each) * 255) for each in color]


def test_addresses_are_in_morton_order() -> None:
    image = TextureImage(texture(256, 128), 0)
    places = {(1, 0): 1, (0, 1): 2, (2, 0): 4, (7, 7): 63, (8, 0): 64, (0, 8): 128, (63, 63): 4095, (64, 0): 4096}
    places |= {(0, 64): 4 * 4096, (65, 64): 5 * 4096 + 1}
    for (i, j), number in places.items():
        address, word = image.fetch(np.array([0]), np.array([i]), np.array([j]))
        assert int(address[0]) == 4 * number
        assert word.view(np.uint8).tolist() == image.texture.levels[0][j, i].tolist()


def test_levels_begin_at_pages() -> None:
    what = texture(64, 64, levels=7)
    image = TextureImage(what, 0x20000)
    assert [image.level_address(level) - 0x20000 for level in range(7)] == [0, *(16384 + 4096 * at for at in range(6))]
    assert texture_bytes(what) == 16384 + 6 * 4096 and texture_bytes(texture(128, 64)) == 32768
    assert texture_bytes(texture(33, 8)) == 16384, "8x8 blocks, as of 64x64: in Morton order"


def test_the_nearest_texel_is_the_one_that_holds_the_place() -> None:
    what = texture(low=Filter.NEAREST, high=Filter.NEAREST)
    found, texels = read(what, [(0.0, 0.0), (0.124, 0.0), (0.126, 0.0), (2.3, -0.01)])
    expected = [what.levels[0][j, i].tolist() for i, j in ((0, 0), (0, 0), (1, 0), (2, 7))]
    assert [bytes_of(each) for each in found] == expected
    assert texels.shape == (1, 4, 4) and texels[0, 2].tolist() == [0x10004] * 4


def test_four_texels_are_mixed_by_their_shares() -> None:
    """A quarter of a texel to the right of texel 2's centre, three quarters above texel 4's."""
    what = texture()
    place = (2.75 / 8, 5.25 / 8)
    found, texels = read(what, [place] * 4)
    t = what.levels[0].astype(np.float32) / np.float32(255)
    near, far = np.float32(0.75), np.float32(0.25)
    expected = t[4, 2] * near * far + t[4, 3] * far * far + t[5, 2] * near * near + t[5, 3] * far * near
    assert np.abs(found[0] - expected).max() < 1e-7
    order = [(2, 4), (3, 4), (2, 5), (3, 5)]
    image = TextureImage(what, 0x10000)
    assert texels[0, 0].tolist() == [int(image.fetch(np.array([0]), *np.array([[i], [j]]))[0][0]) for i, j in order]


@pytest.mark.parametrize(("wrap", "columns"), [(Wrap.REPEAT, [7, 0]), (Wrap.CLAMP_TO_EDGE, [0, 0])])
def test_an_edge_meets_the_other_side_or_itself(wrap: Wrap, columns: list[int]) -> None:
    what = texture(wrap=wrap)
    found, _ = read(what, [(0.0, 0.5625)] * 4)
    level = what.levels[0][4].astype(np.float32) / np.float32(255)
    assert np.abs(found[0] - (level[columns[0]] + level[columns[1]]) / 2).max() < 1e-7


@pytest.mark.parametrize(
    ("step", "low", "levels"),
    [
        (0.5, Filter.LINEAR_MIPMAP_LINEAR, [0]),
        (1.0, Filter.LINEAR_MIPMAP_LINEAR, [0]),
        (2.0, Filter.LINEAR_MIPMAP_LINEAR, [1]),
        (3.0, Filter.LINEAR_MIPMAP_LINEAR, [1, 2]),
        (100.0, Filter.LINEAR_MIPMAP_LINEAR, [4]),
        (2.8, Filter.LINEAR_MIPMAP_NEAREST, [1]),
        (2.9, Filter.LINEAR_MIPMAP_NEAREST, [2]),
        (1.4, Filter.NEAREST_MIPMAP_NEAREST, [0]),
        (3.0, Filter.LINEAR, [0]),
    ],
)
def test_the_level_follows_the_step(step: float, low: Filter, levels: list[int]) -> None:
    """Texels from fragment to fragment; every level has its number in red."""
    what = texture(16, 16, low=low, levels=5, pattern="level")
    found, texels = read(what, square(0.5, 0.5, step / 16))
    reds = [(40 + 37 * level) / 255 for level in levels]
    share = np.log2(step) - levels[0] if len(levels) == 2 else 0.0
    assert found[0, 0] == pytest.approx(reds[0] * (1 - share) + reds[-1] * share, abs=1e-6)
    image = TextureImage(what, 0x10000)
    bounds = [image.level_address(level) for level in range(5)]
    assert [int(np.searchsorted(bounds, each, side="right")) - 1 for each in texels[:, 0, 0]] == levels


def test_a_bias_is_added_to_the_level() -> None:
    what = texture(16, 16, low=Filter.LINEAR_MIPMAP_LINEAR, levels=5, pattern="level")
    found, _ = read(what, square(0.5, 0.5, 1 / 16), Lookup.BIASED, 2.0)
    assert bytes_of(found[0])[0] == 40 + 2 * 37


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(("wrap", "columns"), [(Wrap.CLAMP_TO_EDGE, [7, 7, 0, 4]), (Wrap.REPEAT, [0, 0, 0, 4])])
def test_a_place_that_is_nowhere_is_brought_into_the_texture(wrap: Wrap, columns: list[int]) -> None:
    """Clamped, the upper bound is asked first, as for colours; nothing has no fraction, and is repeated as 0."""
    what = texture(low=Filter.NEAREST, high=Filter.NEAREST, wrap=wrap)
    found, _ = read(what, [(each, 0.5) for each in (NAN, INF, -INF, 0.5)])
    assert [bytes_of(each) for each in found] == [what.levels[0][4, column].tolist() for column in columns]


@pytest.mark.parametrize("place", [NAN, INF])
def test_a_step_that_is_no_number_takes_the_last_level(place: float) -> None:
    what = texture(16, 16, low=Filter.LINEAR_MIPMAP_LINEAR, levels=5, pattern="level")
    found, _ = read(what, [(place, 0.5)] * 4)
    assert [bytes_of(each)[0] for each in found] == [40 + 4 * 37] * 4


@pytest.mark.parametrize("wrap", Wrap)
@pytest.mark.parametrize("place", [NAN, INF, 3e38])
def test_a_step_without_bounds_has_samples_in_bounds(wrap: Wrap, place: float) -> None:
    what = texture(16, 16, low=Filter.LINEAR_MIPMAP_LINEAR, levels=5, most=4, wrap=wrap)
    found, texels = read(what, [(0.5, 0.5), (place, 0.5), (0.5, place), (place, place)])
    assert np.isfinite(found).all() and ((found >= 0) & (found <= 1)).all()
    assert 1 <= len(texels) <= 8


def test_projected_coordinates_are_divided() -> None:
    what = texture(low=Filter.NEAREST, high=Filter.NEAREST)
    found, _ = read(what, [(1.25, 0.5)] * 4, Lookup.PROJECTED, 2.0)
    assert bytes_of(found[0]) == what.levels[0][2, 5].tolist()


def test_long_footprints_take_samples_along_their_axis() -> None:
    """Four texels to the right, one upwards: four samples of the first level, a fifth of the axis apart."""
    what = texture(64, 64, low=Filter.LINEAR_MIPMAP_LINEAR, levels=7, most=8)
    s, t = 32.5 / 64, 20.5 / 64
    found, texels = read(what, [(s, t), (s + 4 / 64, t), (s, t + 1 / 64), (s + 4 / 64, t + 1 / 64)])
    assert texels.shape == (4, 4, 4)
    row = what.levels[0][20].astype(np.float64) / 255
    samples = []
    for k in (1, 2, 3, 4):
        u = 32 + (k - 2.5) * 4 / 5
        i, a = int(np.floor(u)), u - np.floor(u)
        samples.append(row[i] * (1 - a) + row[i + 1] * a)
    assert np.abs(found[0] - np.mean(samples, axis=0)).max() < 1e-6


def test_a_diagonal_footprint_takes_samples_along_the_diagonal() -> None:
    """Both steps point to the upper right, so neither of them is the long axis, but their sum is."""
    what = texture(64, 64, low=Filter.LINEAR, most=4)
    s, t = 0.5, 0.5
    along = [(s, t), (s + 4 / 64, t + 3 / 64), (s + 3 / 64, t + 4 / 64), (s + 7 / 64, t + 7 / 64)]
    image = TextureImage(what, 0x10000)
    _, texels = read(what, along)
    assert len(texels) == 4
    lines = {int(each) for each in texels[:, 0, 0]}
    expected = {
        int(image.fetch(np.array([0]), np.array([at]), np.array([at]))[0][0])
        for at in (int(np.floor(31.5 + (k - 2.5) * 7 * 0.5**0.5 / 5)) for k in (1, 2, 3, 4))
    }
    assert lines == expected


def test_most_samples_are_bounded() -> None:
    what = texture(64, 64, low=Filter.LINEAR, most=2)
    _, texels = read(what, [(0.5, 0.5), (0.75, 0.5), (0.5, 0.5 + 1 / 64), (0.75, 0.5 + 1 / 64)])
    assert len(texels) == 2
    _, texels = read(what, [(0.5, 0.5), (0.75, 0.5), (0.5, 0.5), (0.75, 0.5)])
    assert len(texels) == 2
