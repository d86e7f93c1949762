"""Do the examples in the documents of this package assemble and run?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from microcode import assemble, check

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
