"""Does every block of the tutorial run, in order, with its assertions?"""

from __future__ import annotations

import re
from pathlib import Path

TUTORIAL = Path(__file__).parents[2] / "TUTORIAL.md"


def test_tutorial_runs(capsys) -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    assert len(blocks) >= 8
    names: dict[str, object] = {}
    for block in blocks:
        # Blank lines in front, so that a failure names the line of the tutorial.
        code = "\n" * text[: block.start(1)].count("\n") + block.group(1)
        exec(compile(code, str(TUTORIAL), "exec"), names)
    assert "fsqrt" in capsys.readouterr().out
