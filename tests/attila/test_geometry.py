"""Do triangles come together, fall out, walk the tiles and lie in memory as they should?"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import cast

import numpy as np
import pytest

from attila_bridge.function import Units, draw
from attila_bridge.function.coverage import assembled
from attila_bridge.function.layout import blocks_of, line_of, rop_of, shader_of
from attila_bridge.function.work import DrawWork, TriangleOutcome
from attila_bridge.run import run_scene
from attila_bridge.scene import Primitive, read_scene
from attila_bridge.time.config import PAPER
from tests.attila.recorded import Corner, drawn, quad, scene_body, scene_of

Places = list[tuple[int, int]]


def first_draw(*corners: Corner, size: tuple[int, int] = (64, 64), **what: object) -> DrawWork:
    return draw(scene_of(drawn(list(corners), **what), size=size)).draws[0]


def scans(work: DrawWork, batch: int = 0) -> Places:
    return [(int(x), int(y)) for x, y, *_ in work.batches[batch].scans]


@pytest.mark.parametrize(
    ("primitive", "count", "triangles"),
    [
        (Primitive.TRIANGLES, 7, [[0, 1, 2], [3, 4, 5]]),
        (Primitive.TRIANGLE_STRIP, 5, [[0, 1, 2], [2, 1, 3], [2, 3, 4]]),
        (Primitive.TRIANGLE_FAN, 5, [[0, 1, 2], [0, 2, 3], [0, 3, 4]]),
        (Primitive.QUADS, 9, [[0, 1, 3], [1, 2, 3], [4, 5, 7], [5, 6, 7]]),
        (Primitive.QUAD_STRIP, 6, [[0, 1, 3], [2, 0, 3], [2, 3, 5], [4, 2, 5]]),
        (Primitive.TRIANGLE_STRIP, 2, []),
    ],
)
def test_primitives_become_triangles(primitive: Primitive, count: int, triangles: list[list[int]]) -> None:
    assert assembled(primitive, count).tolist() == triangles


def test_triangles_fall_out_one_after_the_other() -> None:
    """Six triangles of a square, its middle and two corners far to the left, by an index buffer of 16 bits."""
    square: list[Corner] = [(1, 1, 0.5), (9, 1, 0.5), (9, 9, 0.5), (1, 9, 0.5), (5, 5, 0.5)]
    body = scene_body(drawn([*square, (-9, 0, 0.5), (-1, 9, 0.5)], state={"cull": "back"}, indices="i", count=18))
    indices = [0, 1, 2, 0, 0, 2, 0, 4, 2, 5, 6, 5, 0, 3, 2, 3, 5, 6]
    buffer = {"use": "index", "type": "uint16", "components": 1, "data": indices}
    body["buffers"] = {"i": buffer, **dict(cast(dict[str, object], body["buffers"]))}
    work = draw(read_scene(json.dumps(body))).draws[0]
    found = [TriangleOutcome(each).name for each in work.triangles.outcome]
    assert found == ["DRAWN", "DEGENERATE", "EMPTY", "DEGENERATE", "CULLED", "CULLED"]
    assert work.state.index_bytes == 2 and work.vertices.indices.tolist() == indices
    assert work.triangles.area[0] == pytest.approx(32) and work.triangles.area[4] == pytest.approx(-32)


def test_a_triangle_outside_of_one_plane_is_rejected() -> None:
    assert first_draw((-9, 0, 0.5), (-1, 9, 0.5), (-5, 20, 0.5)).triangles.outcome.tolist() == [TriangleOutcome.OUTSIDE]
    # Outside of two planes, but of none with all corners: it goes on, though no pixel is covered.
    across = first_draw((-20, 60, 0.5), (4, 90, 0.5), (-20, 90, 0.5))
    assert across.triangles.outcome.tolist() == [TriangleOutcome.DRAWN] and not across.quads.covered.any()


def test_one_scan_tile_is_not_tested() -> None:
    work = first_draw((1, 1, 0.5), (3, 1, 0.5), (1, 3, 0.5), (12, 12, 0.5), (14, 12, 0.5), (12, 14, 0.5))
    (batch,) = work.batches
    assert len(batch.descents) == 0
    assert batch.scans.tolist() == [[0, 0, 0b11, 0, -1]]
    # Four tiles, two triangles, sixteen quads each; the triangles take turns tile by tile.
    assert work.quads.triangle.tolist() == [0, 1] * 4
    assert work.quads.tile_x.tolist() == [0, 0, 8, 8, 0, 0, 8, 8] and work.quads.tile_y.tolist() == [0] * 4 + [8] * 4
    assert len(work.quads.covered) == 128


def test_tiles_are_visited_depth_first_four_at_a_time() -> None:
    """A rectangle within 64x64 pixels: the top tile has four children, which are split at once into sixteen."""
    work = first_draw(*quad(2, 2, 60, 60))
    (batch,) = work.batches
    assert batch.descents.tolist() == [[64, 1, 4], [32, 4, 16]]
    corners = [(0, 0), (32, 0), (0, 32), (32, 32)]
    assert scans(work) == [(x + i, y + j) for x, y in corners for i, j in ((0, 0), (16, 0), (0, 16), (16, 16))]
    assert set(batch.scans[:, 4].tolist()) == {1}


def test_what_is_left_of_a_level_waits() -> None:
    """In 128x128 pixels there are sixteen tiles of 32: four are split, and their scan tiles come before the others."""
    work = first_draw(*quad(2, 2, 124, 124), size=(128, 128))
    (batch,) = work.batches
    assert batch.descents.tolist() == [[128, 1, 4], [64, 4, 16]] + [[32, 4, 16]] * 4
    first, second = scans(work)[:16], scans(work)[16:32]
    assert all(x < 64 and y < 64 for x, y in first) and all(x >= 64 and y < 64 for x, y in second)


def test_a_batch_is_four_triangles() -> None:
    corners = [each for at in range(5) for each in ((at, 1, 0.5), (at + 1.0, 1, 0.5), (at, 2, 0.5))]
    work = first_draw(*corners)
    assert [each.triangles for each in work.batches] == [(0, 1, 2, 3), (4,)]
    assert work.quads.batch_steps.tolist() == [0, 16, 20]


def test_a_scissor_bounds_the_top_tile_and_what_is_covered() -> None:
    work = first_draw(*quad(0, 0, 64, 64), state={"scissor": [20, 33, 3, 2]})
    assert work.batches[0].scans[:, :2].tolist() == [[16, 32]]
    assert sum(int(each).bit_count() for each in work.quads.covered) == 6
    assert sum(int(each).bit_count() for each in work.quads.inside) == 256


def test_a_triangle_is_marked_where_it_touches() -> None:
    """A square's diagonal runs through the corners of scan tiles: a tile counts as touched one pixel further out."""
    work = first_draw(*quad(0, 0, 32, 32), size=(32, 32))
    marks = {(int(x), int(y)): int(marks) for x, y, marks, *_ in work.batches[0].scans}
    assert marks[0, 0] == marks[16, 16] == marks[16, 0] == marks[0, 16] == 0b11
    work = first_draw((0, 0, 0.5), (48, 0, 0.5), (0, 48, 0.5))
    assert {(x, y) for x, y in scans(work)} == {(16 * i, 16 * j) for i in range(3) for j in range(3) if i + j < 3}


@pytest.mark.parametrize("seed", range(20))
def test_coverage_is_that_of_exact_arithmetic(seed: int) -> None:
    """Corners at multiples of 1/16 pixel: a centre is inside, outside or on an edge, in fractions."""
    random = np.random.default_rng(seed)
    (ax, ay), (bx, by), (cx, cy) = (random.integers(-64, 16 * 24, (3, 2)) / 16).tolist()
    if (bx - ax) * (cy - ay) < (by - ay) * (cx - ax):
        (bx, by), (cx, cy) = (cx, cy), (bx, by)
    scene = scene_of(drawn([(ax, ay, 0.5), (bx, by, 0.5), (cx, cy, 0.5)]))
    sides = (((ax, ay), (bx, by)), ((bx, by), (cx, cy)), ((cx, cy), (ax, ay)))

    def inside(x: int, y: int) -> bool:
        px, py = Fraction(2 * x + 1, 2), Fraction(2 * y + 1, 2)
        for (x0, y0), (x1, y1) in sides:
            a, b = Fraction(y0) - Fraction(y1), Fraction(x1) - Fraction(x0)
            value = a * (px - Fraction(x0)) + b * (py - Fraction(y0))
            if value < 0 or (value == 0 and not (a > 0 or (a == 0 and b >= 0))):
                return False
        return True

    expected = [[inside(x, y) for x in range(16)] for y in range(16)]
    assert (draw(scene).color & 255 != 0).tolist() == expected


def test_two_triangles_share_no_pixel_and_leave_none_out() -> None:
    """The quads of a tile are in Morton order, as tiles are split down to them."""
    places = [(x + right, y + up) for y in (0, 4) for x in (0, 4) for up in (0, 2) for right in (0, 2)]
    work = first_draw((3, 2, 0.5), (60, 9, 0.5), (50, 61, 0.5), (3, 2, 0.5), (50, 61, 0.5), (7, 55, 0.5))
    covered = np.zeros((64, 64), np.int64)
    quads = work.quads
    for number, mask in enumerate(quads.covered.tolist()):
        step, at = divmod(number, 16)
        x, y = int(quads.tile_x[step]) + places[at][0], int(quads.tile_y[step]) + places[at][1]
        for f in range(4):
            covered[y + f // 2, x + f % 2] += mask >> f & 1
    assert covered.max() == 1 and all((np.diff(np.flatnonzero(row)) == 1).all() for row in covered)


def test_lines_of_the_frame_buffer() -> None:
    """Over-tiles of 64x64 row by row, scan tiles in Morton order, 8x8 tiles row by row."""
    places = {
        (0, 0): 0,
        (8, 0): 1,
        (0, 8): 2,
        (8, 8): 3,
        (16, 0): 4,
        (0, 16): 8,
        (16, 16): 12,
        (32, 0): 16,
        (0, 32): 32,
    }
    places |= {(56, 56): 63, (64, 0): 64, (0, 64): 128, (72, 64): 193}
    for (x, y), line in places.items():
        assert int(line_of(np.array(x), np.array(y), 100)) == line
    assert blocks_of(256, 256) == 1024 and blocks_of(100, 65) == 256


def test_units_of_tiles() -> None:
    x, y = np.meshgrid(np.arange(0, 64, 16), np.arange(0, 64, 16))
    assert rop_of(x, y, 2)[0].tolist() == [0, 1, 0, 1] and (rop_of(x, y, 2) == rop_of(x, y, 2)[0]).all()
    assert rop_of(x, y, 4)[:2].tolist() == [[0, 1, 0, 1], [2, 3, 2, 3]]
    assert shader_of(x, y, 2)[:2].tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
    assert sorted(shader_of(x, y, 4)[:2, :2].ravel().tolist()) == [0, 1, 2, 3] and not shader_of(x, y, 3).any()


@pytest.mark.parametrize(
    ("values", "rows"),
    [({}, 64), ({"traversal.recursive": False}, 64), ({"traversal.square": True}, 32)],
)
def test_a_frame_higher_than_wide_is_drawn_whole(values: dict[str, bool], rows: int) -> None:
    """Asked for, the width counts as the height, as recorded; the tile that begins just there still belongs to it."""
    found = run_scene(scene_of(drawn(quad(0, 0, 16, 64)), size=(16, 64)), config=PAPER.with_values(values)).work.color
    assert (found & 255 == 255).all(axis=1).tolist() == [row < rows for row in range(64)]


def test_a_frame_wider_than_high_is_traversed_as_recorded() -> None:
    """Tiles past its upper side count as generated up to the width: no picture depends on them."""
    scene = scene_of(drawn([(0, 0, 0.5), (64, 0, 0.5), (0, 64, 0.5)]), size=(64, 16))
    first, second = (draw(scene, Units(square=square)).draws[0].batches[0].scans for square in (True, False))
    assert first.tolist() == second.tolist() and max(y for _, y, *_ in first.tolist()) > 16
