"""Do the examples in the documents of this package assemble and run?"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from microcode import assemble, check
from pixelflow.config import THESIS, TINY
from pixelflow.node import Node

PACKAGE = Path(__file__).parents[2] / "microcode"
LANGUAGE = (PACKAGE / "LANGUAGE.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```mc\n(.*?)^```", LANGUAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_example_of_the_language_reference(number: int) -> None:
    assert not [f for f in check(assemble(BLOCKS[number])) if "never" not in f.message]


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 5


def test_python_of_the_readme(capsys) -> None:
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        exec(block, {})
    assert "LD R, x[1]" in capsys.readouterr().out


def test_the_places_of_lanes_are_those_of_the_machine() -> None:
    block = LANGUAGE[LANGUAGE.index("**Lanes, x and y.**") :]
    written = dict(re.findall(r"^    ([xy]) = (.+?)  +\(", block, re.MULTILINE))
    assert written == {"x": "16 emc + 8 (panel mod 2) + pe / 4", "y": "16 m + 4 (panel / 2) + pe mod 4"}
    lane = np.arange(8192)
    pe, panel, emc, m = lane % 32, lane // 32 % 8, lane // 256 % 8, lane // 2048
    x, y = Node(THESIS, engine="rows").coordinates()
    assert (x == 16 * emc + 8 * (panel % 2) + pe // 4).all() and (y == 16 * m + 4 * (panel // 2) + pe % 4).all()


def test_the_example_of_neighbours_agrees_with_its_remarks() -> None:
    (block,) = [each for each in BLOCKS if "EMC_PixSwap" in each]
    node, program = Node(TINY, engine="rows"), assemble(block)
    node.run(program)
    (seen,) = [each for each in program.ranges if each.name == "seen"]
    x, _ = node.coordinates()
    assert (node.memory[seen.start] == x ^ 1).all()
