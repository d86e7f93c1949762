"""Does traversal by scanlines visit what the descent visits, in its own order and time?"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from attila_bridge.function import Units, draw
from attila_bridge.function.work import DrawWork
from attila_bridge.run import run_scene
from attila_bridge.scene import AttilaScene
from attila_bridge.time.config import PAPER
from attila_bridge.time.simulation import run
from pixelflow.simd.errors import InputError
from tests.attila.recorded import Corner, drawn, quad, scene_of
from tests.recorded.attila_names import overridden

LINES = PAPER.with_values({"traversal.recursive": False})


def scanned(*corners: Corner, size: int = 64) -> DrawWork:
    return draw(scene_of(drawn(list(corners)), size=(size, size)), Units(recursive=False)).draws[0]


def test_the_walk_goes_up_before_it_goes_down() -> None:
    """Tiles of 16 pixels from the middle: its row to the left, then to the right; the rows above, the rows below."""
    (batch,) = scanned((2, 2, 0.5), (60, 2, 0.5), (2, 60, 0.5)).batches
    rows = [(1, 1), (0, 1), (2, 1)], [(1, 2), (0, 2)], [(0, 3)], [(1, 0), (0, 0), (2, 0), (3, 0)]
    assert [(int(x) // 16, int(y) // 16) for x, y, *_ in batch.scans] == [tile for row in rows for tile in row]
    assert len(batch.descents) == 0 and (batch.scans[:, 2] == 1).all()


def test_the_walk_leaves_an_over_tile_when_it_is_done() -> None:
    """Of 128x128 pixels each quarter is an over-tile: none is come back to."""
    (batch,) = scanned((2, 2, 0.5), (126, 2, 0.5), (2, 126, 0.5), size=128).batches
    quarters = [(int(x) // 64, int(y) // 64) for x, y, *_ in batch.scans]
    changes = [each for at, each in enumerate(quarters) if at == 0 or each != quarters[at - 1]]
    assert changes == [(1, 1), (0, 1), (1, 0), (0, 0)]


def test_each_triangle_goes_by_itself() -> None:
    work = scanned(*quad(2, 2, 60, 60), *quad(10, 10, 20, 20))
    assert [each.triangles for each in work.batches] == [(0,), (1,), (2,), (3,)]
    assert (np.diff(work.quads.triangle) >= 0).all()


def random_scene(seed: int) -> AttilaScene:
    random = np.random.default_rng(seed)
    size = int(random.choice([32, 64, 128]))
    places = random.uniform(-0.6 * size, 1.6 * size, (9, 2)) if seed % 3 else random.integers(0, size + 1, (9, 2))
    corners = [(float(x), float(y), 0.5) for x, y in places]
    colors = random.integers(0, 256, (9, 4)) / 255
    state = {"blend": {"src": "one", "dst": "one"}}
    return scene_of(drawn(corners, colors.tolist(), state=state), size=(size, size))


@pytest.mark.parametrize("seed", range(40))
def test_pictures_are_those_of_the_descent(seed: int) -> None:
    """Three triangles that add up, often cut off by the screen: a tile left out or drawn twice would show."""
    scene = random_scene(seed)
    lines, descent = draw(scene, Units(recursive=False)), draw(scene)
    assert (lines.color == descent.color).all()
    quads = lines.draws[0].quads
    steps = Counter(zip(quads.triangle.tolist(), quads.tile_x.tolist(), quads.tile_y.tolist(), strict=True))
    assert not steps or max(steps.values()) == 1


def test_a_scan_tile_takes_two_cycles() -> None:
    """Four tiles of 8x8 in a scan tile, two a cycle, and a cycle before the first; triangles wait for no others."""
    scene = scene_of(drawn(quad(2, 2, 60, 60)), size=(64, 64))
    found = run_scene(scene, config=LINES)
    (first, second) = found.work.draws[0].batches
    assert found.statistics["UtilizationCycles_TT"] == 2 * (len(first.scans) + len(second.scans)) + 1
    assert found.columns["GeneratedFragments_TT"] == 256 * (len(first.scans) + len(second.scans)) + 4


def test_the_descent_opens_a_tile_a_cycle_after_it_was_found() -> None:
    """Two descents lead to sixteen scan tiles of two triangles, four cycles each; a cycle before, and the descents."""
    found = run_scene(scene_of(drawn(quad(2, 2, 60, 60)), size=(64, 64)))
    (batch,) = found.work.draws[0].batches
    steps = 4 * sum(int(marks).bit_count() for marks in batch.scans[:, 2].tolist())
    assert len(batch.descents) == 2
    assert found.statistics["UtilizationCycles_TT"] == 1 + 2 + steps // 2


def test_a_frame_and_a_machine_have_to_agree() -> None:
    scene = scene_of(drawn(quad(2, 2, 60, 60)), size=(64, 64))
    with pytest.raises(InputError, match=r"traversal\.recursive is False; the frame was drawn for True"):
        run(draw(scene), LINES)
    with pytest.raises(InputError, match=r"traversal\.recursive is True; the frame was drawn for False"):
        run(draw(scene, Units(recursive=False)))
    assert overridden(PAPER, {"RASTERIZER.RecursiveMode": "FALSE"}) == LINES
