"""Fragments in any order: lists in the tile's memory, blended from the farthest on."""

from itertools import permutations

import numpy as np
import pytest

from larrabee_bridge.pipeline.backend import TileStage, render_back_end
from pixelflow.simd.drawing import Blend, Draw, Frame, State, draw_frame
from pixelflow.simd.errors import InputError
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


@pytest.mark.parametrize("samples", [1, 4])
def test_as_many_layers_as_there_is_room_for(samples: int) -> None:
    rng = np.random.default_rng(1)
    depths = rng.permutation(3) / 4
    draws = tuple(Draw(f"{at}", square(at, tuple(rng.integers(0, 256, 3).tolist()), 5), CLEAR) for at in depths)
    frame = Frame(4, 4, (0, 0, 0), draws, samples)
    assert render_back_end(frame, tile=32, layers=3).picture.equals(draw_frame(frame))
    with pytest.raises(InputError, match=r"more than 2 sorted fragments at a sample"):
        render_back_end(frame, tile=32, layers=2)


def test_layers_are_paid_for_where_they_are() -> None:
    """Each further layer is a round more, and looks through one more; an empty list costs a look at its count."""
    frames = [Frame(8, 8, (0, 0, 0), tuple(Draw("", SQUARES[0], CLEAR) for _ in range(n))) for n in (1, 2, 3)]
    cycles = [int(render_back_end(frame, tile=32).stages[TileStage.SORT].sum()) for frame in frames]
    assert cycles[0] < cycles[1] < cycles[2]
    assert cycles[2] - cycles[1] > cycles[1] - cycles[0]


def test_no_layers_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="0 layers"):
        render_back_end(Frame(8, 8, (0, 0, 0), (Draw("", SQUARES[0], CLEAR),)), tile=32, layers=0)
