"""A picture drawn from the words that the EMCs have made: the node executes them, region by region."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node
from tessellation.rendering.regions import REGION_HEIGHT, REGION_WIDTH, Region
from tessellation.rendering.renderer import Rendering, execute
from tessellation.rendering.words.generate import InstructionWords
from tessellation.rendering.words.received import program_of

__all__ = ["draw_words", "word_programs"]


def draw_words(
    words: InstructionWords,
    *,
    background: tuple[int, int, int] = (0, 0, 0),
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Callable[[str], None] | None = None,
    watch: Callable[[Node], None] | None = None,
) -> Rendering:
    """Draw the picture on a simulated node; other arguments are those of `tessellation.rendering.render`."""
    return execute(
        word_programs(words, background), words.width, words.height,
        config=config, engine=engine, progress=progress, watch=watch,
    )  # fmt: skip


def word_programs(words: InstructionWords, background: tuple[int, int, int]) -> Iterator[tuple[Region, Program]]:
    """Yield the regions of the picture, row by row, with the program of the words that were sent for each."""
    for top in range(0, words.height, REGION_HEIGHT):
        for left in range(0, words.width, REGION_WIDTH):
            found = words.of_region(left, top)
            yield Region(left, top, np.arange(len(found))), program_of(found, left, top, background)
