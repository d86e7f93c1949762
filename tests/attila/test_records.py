"""Are pictures and programs those of the authors' own simulator, where its records are available?"""

from __future__ import annotations

import json

import numpy as np
import pytest

from attila_bridge.assembler import assemble_shader
from attila_bridge.function import draw
from attila_bridge.scene import load_scene
from tests.attila.recorded import folder


def test_all_pictures_are_equal() -> None:
    images = pytest.importorskip("PIL.Image")
    different, scenes = [], sorted((folder() / "scenes").glob("*.json"))
    for file in scenes:
        recorded = np.asarray(images.open(folder() / "frames" / f"{file.stem}.png").convert("RGB"))
        if not np.array_equal(recorded, draw(load_scene(file)).picture):
            different.append(file.stem)
    assert len(scenes) > 100 and not different


def test_programs_are_loaded_in_the_recorded_order() -> None:
    recorded = json.loads((folder() / "programs.json").read_text())
    different = []
    for name, machines in recorded.items():
        scene = json.loads((folder() / "scenes" / f"{name}.json").read_text())
        used = {each[key] for each in scene["draws"] for key in ("vertex_program", "fragment_program")}
        ours = {tuple(assemble_shader(scene["programs"][each]).loaded_text) for each in used}
        for machine in set(machines) - {"public"}:
            if ours != {tuple(text) for text in machines[machine].values()}:
                different.append(name)
    assert recorded and not different
