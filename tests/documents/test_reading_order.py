"""Is the way of a run through the node's files as its README says, and are the files there?"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NODE = ROOT / "pixelflow" / "node"
MOST = 15
TEXT = (NODE / "README.md").read_text(encoding="utf-8").partition("**Reading order**")[2].partition("\n## ")[0]
NAMED = re.findall(r"^\d+\. `([a-z_/]+\.py)`", TEXT, re.MULTILINE)

ONE = "LD R, #3\nloop 4\nADD R, #1\nend\nST [0], R"
BOTH = (ROOT / "microcode" / "examples" / "texture_copy.mc").read_text(encoding="utf-8")

# In a process of its own, where nothing is kept from another run.
RUN = """
import json, sys
from pathlib import Path
import pixelflow.node.run.block_diagram  # else it is imported, which counts as a call, in the run
from microcode import assemble
from pixelflow.config import TINY
from pixelflow.node import Node

root, source = Path(sys.argv[1]), sys.argv[2]
program, node, files = assemble(source), Node(TINY, "rows"), set()

def called(frame, event, argument):
    path = Path(frame.f_code.co_filename)
    if event == "call" and path.is_relative_to(root):
        files.add(path.relative_to(root).as_posix())

sys.setprofile(called)
node.run(program)
sys.setprofile(None)
print(json.dumps(sorted(files)))
"""


@cache
def entered(source: str) -> frozenset[str]:
    """Return the files of the node whose functions are called while a program runs."""
    command = [sys.executable, "-c", RUN, str(NODE), source]
    found = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return frozenset(json.loads(found.stdout))


def test_the_reading_order_of_a_run_names_files_that_exist() -> None:
    assert 0 < len(NAMED) <= MOST and len(set(NAMED)) == len(NAMED)
    assert not [name for name in NAMED if not (NODE / name).is_file()]


@pytest.mark.parametrize(("source", "words"), [(ONE, "of one stream enters"), (BOTH, "with a transfer")])
def test_a_run_enters_as_many_files_as_the_readme_says(source: str, words: str) -> None:
    assert len(entered(source)) == int(re.search(rf"{words} (\d+)", " ".join(TEXT.split()))[1])


def test_what_is_to_be_read_is_what_runs() -> None:
    assert set(NAMED) <= entered(BOTH)
