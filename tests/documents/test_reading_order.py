"""Is the way of a run through the node's files as short as its README says, and are the files there?"""

from __future__ import annotations

import re
from pathlib import Path

NODE = Path(__file__).parents[2] / "pixelflow" / "node"
MOST = 15


def test_the_reading_order_of_a_run_names_files_that_exist() -> None:
    text = (NODE / "README.md").read_text(encoding="utf-8").partition("**Reading order**")[2].partition("\n## ")[0]
    named = re.findall(r"^\d+\. `([a-z_/]+\.py)`", text, re.MULTILINE)
    assert 0 < len(named) <= MOST and len(set(named)) == len(named)
    assert not [name for name in named if not (NODE / name).is_file()]
