"""Do the recipes for contributors run, as one program in a process of its own?"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.documents.marks import is_there

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_recipes_run(tmp_path: Path) -> None:
    """Instructions and machines are registered in that process alone."""
    blocks = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    (tmp_path / "recipes.py").write_text("\n".join(blocks), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "recipes.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert "two additions" in found.stdout


def test_the_places_that_it_names_exist() -> None:
    named = re.findall(r"`((?:pixelflow|microcode|tessellation|larrabee_bridge|tests|\.ci)[a-z_/]*(?:\.py)?)`", TEXT)
    assert named and not [each for each in named if "/" in each and not is_there(ROOT / each)]
