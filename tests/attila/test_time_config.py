"""Configuration and statistics of the machine: everything is declared, read, and has the public names."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from typing import cast

import pytest

from attila_bridge.function import Units, draw
from attila_bridge.run import units_of
from attila_bridge.scene import read_scene
from attila_bridge.statistics import STATISTICS, counts_of
from attila_bridge.time.config import CASE, PAPER, PRESETS
from attila_bridge.time.simulation import run
from pixelflow.simd.configuration import constants_of, leaves, named
from pixelflow.simd.errors import InputError
from pixelflow.simd.units import Standing
from tests.attila.recorded import TEXTURED, drawn, folder, quad, scene_body, scene_of
from tests.recorded.attila_names import NAMES, NEGATED, overridden

SIZE = (32, 32)
TEXTURE = {
    "size": [64, 64],
    "format": "rgba8",
    "pattern": "noise",
    "seed": 1,
    "levels": 7,
    "min": "linear_mipmap_linear",
    "mag": "linear",
    "wrap": "repeat",
    "anisotropy": 1,
}


def test_a_hundred_values_each_with_its_source() -> None:
    found = list(leaves(PAPER))
    assert len(found) >= 100
    for key, what, _, _ in found:
        assert what.text and what.source, key


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """Note every value of a configuration that is read."""
    seen: set[str] = set()
    for section in fields(PAPER):
        kind = type(getattr(PAPER, section.name))
        names = {each.name for each in fields(kind)}

        def noted(self: object, name: str, names: set[str] = names, section: str = section.name) -> object:
            if name in names:
                seen.add(f"{section}.{name}")
            return object.__getattribute__(self, name)

        monkeypatch.setattr(kind, "__getattribute__", noted)
    yield seen


def test_every_value_is_read(read: set[str]) -> None:
    """Depth with blending, a texture, indices; groups in order."""
    state = {"depth": {"func": "less", "write": True}, "blend": {"src": "one", "dst": "one"}}
    clear: dict[str, object] = {"color": [0, 0, 0, 1], "depth": 1.0}
    body = scene_body(drawn(quad(0, 0, 32, 32), state=state, indices="i"), size=SIZE, clear=clear)
    indices = {"use": "index", "type": "uint16", "components": 1, "data": [0, 1, 2, 3, 4, 5]}
    body["buffers"] = {"i": indices, **dict(cast(dict[str, object], body["buffers"]))}
    places = [(corner[0] / 32, corner[1] / 32) for corner in quad(0, 0, 32, 32)]
    texture = drawn(quad(0, 0, 32, 32), coordinates=places, fragment=TEXTURED)
    scenes = [read_scene(json.dumps(body)), scene_of(texture, size=SIZE, textures={"t": dict(TEXTURE)})]
    batches = PAPER.with_values({"shader.window": False, "shader.fetch_delay": 12, "texture.request_queue": 128})
    read.clear()
    works = [draw(scene, units_of(PAPER)) for scene in scenes]
    for work in works:
        run(work, max_cycles=100_000)
        run(work, batches, max_cycles=100_000)
    assert not set(PAPER.values) - read


def test_presets_differ_in_what_the_paper_says() -> None:
    assert PRESETS == {"paper": PAPER, "case": CASE}
    assert (CASE.gpu.shaders, CASE.texture.units, CASE.shader.threads + CASE.shader.buffers) == (1, 3, 384)
    assert (PAPER.gpu.shaders, PAPER.shader.threads + PAPER.shader.buffers) == (2, 128)


def test_the_case_study_says_which_of_its_values_are_guesses() -> None:
    found = {each.key: each for each in constants_of(CASE)}
    guessed = {key for key, each in found.items() if each.standing is Standing.INVENTED}
    assert guessed == {"gpu.vertex_ports", "shader.fetch_delay", "texture.request_rate", "texture.request_queue"}
    assert found["shader.registers"].source.endswith("section 5") and found["gpu.shaders"].value == 1
    moved = constants_of(CASE.with_values({"texture.units": 2}), named(["texture.units"]))
    assert [(each.standing, each.value) for each in moved] == [(Standing.INVENTED, 2)]


def test_overrides_have_the_public_names() -> None:
    changed = overridden(PAPER, {"MemoryBuses": "2", "FRAGMENTSHADER.ThreadWindow": "FALSE", "DisableHZ": "TRUE"})
    assert (changed.memory.channels, changed.shader.window, changed.hz.enabled) == (2, False, False)
    assert overridden(PAPER, {"DisableCompression": "TRUE"}).color.compress is False
    assert set(NAMES.values()) <= set(PAPER.values) and set(NAMES) >= NEGATED


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"MemoryBusses": "2"}, "MemoryBusses: no parameter of this name is built"),
        ({"MemoryBuses": "three"}, "expected a whole number, found three"),
        ({"MemoryBuses": "3"}, "memory.channels"),
        ({"ThreadWindow": "maybe"}, "expected TRUE or FALSE, found maybe"),
    ],
)
def test_faulty_overrides_are_refused(overrides: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        overridden(PAPER, overrides)


def test_three_hundred_statistics_each_told_once() -> None:
    names = Counter((each.box, each.name) for each in STATISTICS)
    assert len(names) >= 300 and set(names.values()) == {1}
    assert all(each.unit and each.doc.endswith(".") for each in STATISTICS)


def test_a_count_that_is_not_declared_is_refused() -> None:
    with pytest.raises(KeyError):
        counts_of("HZ")["Nothing"] += 1


def test_a_run_has_what_is_declared_and_nothing_else() -> None:
    scene = scene_of(drawn(quad(0, 0, 16, 16)), size=(16, 16))
    found = run(draw(scene, Units())).statistics
    numbers = {True: ("00", "01", "02", "03"), False: ("",)}
    declared = {f"{each.name}{of}_{each.box}" for each in STATISTICS for of in numbers[each.per_channel]}
    assert {re.sub("-[A-Z0-9]+$", "", name) for name in found} == declared


def test_names_are_those_of_the_records() -> None:
    records = folder()
    with (records / "statistics_paper.csv").open(encoding="utf-8") as file:
        known = set(next(csv.reader(file)))
    found = run(draw(scene_of(drawn(quad(0, 0, 16, 16))), Units())).statistics
    assert set(found) - known == {"IdleCycles_MC"}, "a name of our own"
    with (records / "machines.csv").open(encoding="utf-8") as file:
        text = file.read()
    assert [name for name in NAMES if name.split(".")[1] not in text] == []
