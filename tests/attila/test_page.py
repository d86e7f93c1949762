"""Are files executed in the order that the page of the machine gives?"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import FrameType

import attila_bridge
from attila_bridge.run import run_scene
from attila_bridge.scene import load_scene
from tests.attila.recorded import TEXTURED, drawn, quad, scene_body

ROOM = Path(attila_bridge.__file__).parent
PAGE = (ROOM.parent / "docs/pages/attila.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^\| \d+ \| `([a-z_/]+\.py)` \|", PAGE, re.MULTILINE)
TEXTURE = {
    "size": [8, 8], "format": "rgba8", "pattern": "noise", "seed": 1, "levels": 1, "min": "linear", "mag": "linear",
    "wrap": "repeat", "anisotropy": 1,
}  # fmt: skip


def test_a_frame_passes_the_files_in_the_order_of_the_page(tmp_path: Path) -> None:
    """Of a box its first tick counts, of other files their first call."""
    state = {"state": {"depth": {"func": "less", "write": True}}}
    square = drawn(quad(0, 0, 16, 16), fragment=TEXTURED, **state)
    path = tmp_path / "one.json"
    path.write_text(
        json.dumps(scene_body(square, clear={"color": [0, 0, 0, 1], "depth": 1.0}, textures={"t": TEXTURE}))
    )
    order: dict[str, None] = {}

    def called(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(ROOM)):
            name = str(Path(code.co_filename).relative_to(ROOM))
            if (code.co_name == "tick") == (name in BOXES):
                order.setdefault(name)

    sys.setprofile(called)
    try:
        _ = run_scene(load_scene(path)).columns
    finally:
        sys.setprofile(None)
    assert [name for name in order if name in STEPS] == STEPS


BOXES = {str(path.relative_to(ROOM)) for path in (ROOM / "time").glob("*.py") if "def tick" in path.read_text()}


def test_every_box_is_on_the_page() -> None:
    assert {*STEPS} >= BOXES
