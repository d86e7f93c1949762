"""Do the examples refuse what they cannot count?"""

from __future__ import annotations

from pathlib import Path

import pytest

from microcode import assemble
from pixelflow.config import load_config
from pixelflow.node import Node
from pixelflow.simd.errors import InputError

MANDELBROT = Path(__file__).parents[2] / "microcode" / "examples" / "mandelbrot.mc"


def test_as_many_rounds_as_a_byte_counts() -> None:
    """Points well within the main cardioid are never left, so they count all rounds."""
    node = Node(load_config(None, ["array.emcs_per_module=8"], "tiny"))
    node.run(assemble(MANDELBROT, LIMIT=255), timing=False)
    x, y = node["cr:float"] - 0.25, node["ci:float"]
    near = x * x + y * y
    inside = near * (near + x) < 0.2 * y * y  # the cardioid has a quarter
    assert inside.any() and set(node["count"][inside].tolist()) == {255}


@pytest.mark.parametrize("limit", [256, 300])
def test_rounds_that_a_byte_does_not_count_are_refused(limit: int) -> None:
    with pytest.raises(InputError, match=r"mandelbrot\.mc:11.*LIMIT is at most 255"):
        assemble(MANDELBROT, LIMIT=limit)
