"""Are the files of a run executed in the order of the page that follows one?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "pages" / "gen6.md"
RUN = """
import sys
from pathlib import Path
from gen6_bridge.machine import run_program
from gen6_bridge.program import assemble_eu
from pixelflow.simd.observe import Bus, Executed

root, order = Path(sys.argv[1]), {}

def called(frame, event, argument):
    path = Path(frame.f_code.co_filename)
    if event == "call" and path.is_relative_to(root / "gen6_bridge"):
        order[path.relative_to(root).as_posix()] = None

bus = Bus()
bus.subscribe(lambda event: None, Executed)
sys.setprofile(called)
run_program(assemble_eu("mov (8) g1<1>D 1D\\njmpi (1) END\\nEND:\\nnop\\n"), bus=bus).report()
sys.setprofile(None)
print(*order)
"""
"""In a process without anything kept from another run."""


def test_files_are_executed_in_the_order_of_the_page() -> None:
    steps = re.findall(r"^\d+\. `(gen6_bridge/[a-z_/]+\.py)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    command = [sys.executable, "-c", RUN, str(ROOT)]
    order = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert len(steps) == 11 and [name for name in order if name in steps] == steps
