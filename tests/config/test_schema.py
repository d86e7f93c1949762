"""Does the JSON Schema of configuration files accept what the loader accepts, and refuse what it refuses?"""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from pixelflow.config import PRESETS, NodeConfig, json_schema, load_config, override_faults
from pixelflow.simd.configuration import Param, leaves
from pixelflow.simd.errors import InputError

VALIDATOR = Draft202012Validator(json_schema())
LEAVES = {key: (known, default) for key, known, _, default in leaves(PRESETS["thesis"])}


def nested(values: dict[str, object]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in values.items():
        *sections, leaf = key.split(".")
        table = found
        for name in sections:
            table = table.setdefault(name, {})
        table[leaf] = value
    return found


def test_it_is_a_schema_of_the_draft_it_names() -> None:
    Draft202012Validator.check_schema(json_schema())
    assert json_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert json.loads(json.dumps(json_schema())) == json_schema()


@pytest.mark.parametrize("preset", PRESETS)
def test_the_presets_are_valid(preset: str) -> None:
    VALIDATOR.validate({"preset": preset, **nested(PRESETS[preset].values)})


def test_every_value_is_described() -> None:
    def values(schema: dict, prefix: str = ""):
        for name, below in schema["properties"].items():
            if "properties" in below:
                yield from values(below, f"{prefix}{name}.")
            else:
                yield f"{prefix}{name}", below

    found = dict(values(json_schema()))
    assert set(found) - {"preset"} == set(LEAVES)
    for key, (known, default) in LEAVES.items():
        described = found[key]
        assert (described["default"], described["x-unit"], described["x-source"]) == (default, known.unit, known.source)


BAD = {
    "unknown key": "[array]\nmoduels = 4",
    "unknown section": "[arrray]\nmodules = 4",
    "a section as a value": "array = 4",
    "a value as a section": "[clock_mhz]\nx = 1",
    "a boolean is no number": "[array]\nmodules = true",
    "a number is no boolean": "[sdram]\nrefresh = 1",
    "a text is no number": '[array]\nmodules = "4"',
    "a fraction": "[array]\nmodules = 1.5",
    "too low": "[array]\nmodules = 0",
    "too high": "[array]\nmodules = 9",
    "not among the few": "[sdram]\nbanks = 3",
    "unknown preset": 'preset = "tinny"',
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_bad_files_are_refused_by_both(text: str, tmp_path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    assert not VALIDATOR.is_valid(tomllib.loads(text))
    with pytest.raises(InputError):
        load_config(path)


@st.composite
def one_value(draw: st.DrawFn) -> tuple[str, object]:
    key = draw(st.sampled_from(sorted(LEAVES)))
    known: Param = LEAVES[key][0]
    near = [edge + step for edge in (known.low, known.high) if edge is not None for step in (-1, 0, 1)]
    near += list(known.allowed or ())
    anything = st.integers(-(10**6), 10**6) | st.booleans() | st.sampled_from(["zero", "figure9", "x"])
    return key, draw(st.sampled_from(near) | anything if near else anything)


@given(one_value())
def test_one_value_is_judged_alike(pair: tuple[str, object]) -> None:
    key, value = pair
    written = json.dumps(value)
    by_loader = not override_faults(f"{key}={written}")
    if isinstance(LEAVES[key][1], str) and not isinstance(value, str):
        return  # -D takes any word as text
    assert VALIDATOR.is_valid(nested({key: value})) == by_loader


def test_the_default_tree_is_what_the_defaults_say() -> None:
    assert NodeConfig().values == {key: default for key, (_, default) in LEAVES.items()}
