"""The tutorials of the site: one Python program each, carried out block by block, and what the blocks print.

A block of text after `<!-- printed -->` is what the block of Python before it prints, a line of dots alone stands for
lines that are left out. A block that prints has such a block. `python -m tests.documents.printed` writes those without
dots anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

__all__ = ["PAGES", "TUTORIALS", "PageBlock", "blocks_of", "outputs_of", "renewed"]

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "pages"
TUTORIALS = ("teacher", "architect", "pim")
_BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n<!-- printed -->\n```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)
_NEXT = "----- the next block -----"


class PageBlock(NamedTuple):
    """A block of Python, and what the page says that it prints; None where it says nothing."""

    code: str
    printed: str | None


def blocks_of(name: str) -> list[PageBlock]:
    """Return the blocks of a page in order."""
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    return [PageBlock(found[1], found[2]) for found in _BLOCK.finditer(text)]


def outputs_of(name: str, folder: Path) -> list[str]:
    """Return what each block prints, in a process of its own, where an instruction may be added.

    Raises AssertionError with what Python says where one fails.
    """
    program = f"\nprint({_NEXT!r})\n".join(block.code for block in blocks_of(name))
    (folder / "page.py").write_text(program, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "page.py"]
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.split(f"{_NEXT}\n")


def renewed(name: str) -> str:
    """Return the text of a page with what its blocks print now, but for those with lines that are left out."""
    with TemporaryDirectory() as folder:
        outputs = iter(outputs_of(name, Path(folder)))

    def written(found: re.Match[str]) -> str:
        printed = next(outputs)
        if not printed or (found[2] is not None and "...\n" in found[2]):
            return found[0]
        return f"```python\n{found[1]}```\n\n<!-- printed -->\n```text\n{printed}```\n"

    return _BLOCK.sub(written, (PAGES / f"{name}.md").read_text(encoding="utf-8"))
