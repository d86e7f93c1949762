"""Fragments in any order: lists in the tile's memory, blended from the farthest on."""

from itertools import permutations

import numpy as np
import pytest

from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.back_end_programs import TileStage
from larrabee_bridge.pipeline.bins import quads_of
from pixelflow.simd.drawing import Blend, Draw, Frame, State, draw_frame
from tests.larrabee_backend.soups import square

CLEAR = State(blend=Blend.SORTED, alpha=128, depth_write=False)
SQUARES = [square(0.2, (255, 0, 0)), square(0.5, (0, 255, 0)), square(0.8, (0, 0, 255))]


def over(colour, there) -> list[int]:
    return [(2 * (s * 128 + d * 127) + 255) // 510 for s, d in zip(colour, there, strict=True)]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_of_drawing_does_not_matter(order: tuple[int, ...]) -> None:
    draws = tuple(Draw(str(number), SQUARES[number], CLEAR) for number in order)
    found = render_back_end(Frame(16, 8, (9, 9, 9), draws), tile=32)
    expected = over((255, 0, 0), over((0, 255, 0), over((0, 0, 255), (9, 9, 9))))
    assert (found.picture.colours == expected).all()


def test_of_equal_depths_the_one_drawn_first_is_blended_first() -> None:
    draws = (Draw("first", square(0.5, (255, 0, 0)), CLEAR), Draw("then", square(0.5, (0, 255, 0)), CLEAR))
    found = render_back_end(Frame(8, 8, (0, 0, 0), draws), tile=32)
    assert (found.picture.colours == over((0, 255, 0), over((255, 0, 0), (0, 0, 0)))).all()


@pytest.mark.parametrize(("samples", "count"), [(1, 17), (1, 40), (4, 23)])
def test_lists_have_no_limit(samples: int, count: int) -> None:
    """Depths meet in threes, so that the order of drawing decides among equals; squares are of 3 to 13 pixels."""
    rng = np.random.default_rng(count)
    depths = rng.permutation(count) // 3 / count
    draws = tuple(
        Draw(str(at), square(at, tuple(rng.integers(0, 256, 3).tolist()), rng.integers(3, 14)), CLEAR) for at in depths
    )
    frame = Frame(13, 9, (30, 20, 10), draws, samples)
    found = render_back_end(frame, tile=32)
    assert found.picture.equals(draw_frame(frame))
    # Depth, colour and place of each fragment, and what is left of pages.
    covered = [np.bitwise_count(quads_of(each.triangles, 13, 9, 32, samples).masks).sum() for each in draws]
    assert 12 * sum(covered) <= found.list_bytes.sum() <= 12 * sum(covered) * 1024 / 1008


def test_pages_follow_each_other() -> None:
    """A work thread has some 22,000 fragments here, a page at least 1,008, then less than a line of each is left."""
    draws = tuple(Draw(str(at), square(at / 16, (200, 16 * at, 9), 64), CLEAR) for at in range(16))
    frame = Frame(64, 64, (0, 0, 0), draws)
    found = render_back_end(frame, tile=64)
    assert found.picture.equals(draw_frame(frame))
    fragments = int(sum(np.bitwise_count(quads_of(each.triangles, 64, 64, 64).masks).sum() for each in draws))
    assert fragments == 16 * 64 * 64
    assert 12 * fragments <= found.list_bytes[0] <= 12 * fragments * 1024 / 1008


def test_layers_are_paid_for_where_they_are() -> None:
    """Each further layer is put among one more before it; an empty list costs a look at where it begins."""
    frames = [Frame(8, 8, (0, 0, 0), tuple(Draw("", SQUARES[0], CLEAR) for _ in range(n))) for n in (1, 2, 3)]
    cycles = [int(render_back_end(frame, tile=32).stages[TileStage.SORT].sum()) for frame in frames]
    assert cycles[0] < cycles[1] < cycles[2]
    assert cycles[2] - cycles[1] > cycles[1] - cycles[0]
