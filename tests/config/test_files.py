"""Configuration files and overrides: what is accepted, and every class of bad input with its message."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelflow.config import PRESETS, THESIS, TINY, load_config, load_effective
from pixelflow.simd.configuration import leaves
from pixelflow.simd.errors import InputError, format_error


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "machine.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def refusal(tmp_path: Path, text: str | bytes, overrides: tuple[str, ...] = ()) -> str:
    with pytest.raises(InputError) as caught:
        load_config(written(tmp_path, text), overrides)
    assert caught.value.exit_code == 3
    return format_error(caught.value).replace(str(tmp_path) + "/", "")


@pytest.mark.parametrize(
    "text",
    [
        "[array]\nmodules = 1\n[lee]\narrangement = 'zero'\n",
        "array.modules = 1\nlee.arrangement = 'zero'",
        "array = { modules = 1 }\n[lee]\narrangement = 'zero'",
        "[array]\r\nmodules = 1\r\n[lee]\r\narrangement = 'zero'\r\n",
        "\ufeff[array]\nmodules = 1 # one\n[lee]\narrangement = 'zero'",
    ],
    ids=["tables", "dotted", "inline", "CRLF", "byte order mark"],
)
def test_ways_to_write_the_same_machine(tmp_path: Path, text: str) -> None:
    config = load_config(written(tmp_path, text))
    assert (config.array.modules, config.lee.arrangement) == (1, "zero")


@pytest.mark.parametrize("text", ["", "\n", "# nothing\n", "[array]"])
def test_an_empty_file_is_the_preset(tmp_path: Path, text: str) -> None:
    assert load_config(written(tmp_path, text)) == THESIS


def test_a_file_starts_from_a_preset_and_overrides_win(tmp_path: Path) -> None:
    path = written(tmp_path, 'preset = "tiny"\n[array]\npanels_per_emc = 4\n')
    effective = load_effective(path, ["array.panels_per_emc=2", "lee.arrangement=zero"])
    assert effective.config.array.shape == (1, 1, 2, 32)
    assert effective.preset == "tiny"
    assert effective.set_by["array.panels_per_emc"] == "-D"
    assert effective.set_by["array.modules"] == "preset tiny"
    assert load_effective(path).set_by["array.panels_per_emc"] == f"{path}:3"


def test_a_preset_that_is_asked_for_wins_over_the_files(tmp_path: Path) -> None:
    path = written(tmp_path, 'preset = "tiny"\nclock_mhz = 50\n')
    assert load_config(path).lanes == 256
    effective = load_effective(path, preset="thesis")
    assert (effective.config.lanes, effective.config.clock_mhz, effective.preset) == (8192, 50, "thesis")


def test_the_preset_can_be_chosen_without_a_file() -> None:
    assert load_config(preset="tiny") == TINY
    with pytest.raises(InputError, match="did you mean tiny"):
        load_config(preset="tinny")


BAD_FILES = {
    "unknown key": (
        "[array]\nmoduels = 4\n",
        "machine.toml:2:1: error: unknown key array.moduels\n"
        "    2 | moduels = 4\n"
        "      | ^^^^^^^\n"
        "    did you mean array.modules?",
    ),
    "key in the wrong section": (
        "[sdram]\nmodules = 4\n",
        "machine.toml:2:1: error: unknown key sdram.modules\n    2 | modules = 4\n      | ^^^^^^^\n"
        "    did you mean array.modules?",
    ),
    "unknown section": (
        "[arry]\nmodules = 4\n",
        "unknown section arry\n    1 | [arry]\n      | ^^^^^^\n    did you mean array?",
    ),
    "boolean for a number": (
        "[array]\nmodules = true\n",
        "array.modules: expected a whole number, found true\n",
    ),
    "number for a boolean": ("[sdram]\nrefresh = 1\n", "sdram.refresh: expected true or false, found 1"),
    "fraction": ("clock_mhz = 100.0\n", "clock_mhz: expected a whole number, found 100.0"),
    "text for a number": ("clock_mhz = '100'\n", "clock_mhz: expected a whole number, found '100'"),
    "list": ("clock_mhz = [100]\n", "clock_mhz: expected a whole number, found a list"),
    "date": ("clock_mhz = 1995-12-01\n", "clock_mhz: expected a whole number, found datetime.date"),
    "section for a value": ("[clock_mhz]\nx = 1\n", "clock_mhz: expected a whole number, found a table"),
    "value for a section": ("array = 4\n", "array is a section, found 4"),
    "list of sections": ("[[array]]\nmodules = 1\n", "array is a section, found a list"),
    "zero": ("[array]\nmodules = 0\n", "array.modules: 0 is out of range"),
    "negative": ("[array]\nmodules = -4\n", "array.modules: -4 is out of range"),
    "absurd size": ("[array]\nmodules = 1000000\n", "allowed: 1 to 8 modules"),
    "an integer of 100 digits": ("[array]\nmodules = 1" + "0" * 100, "an integer of 333 bits is out of range"),
    "an integer of 5000 digits": ("[array]\nmodules = 1" + "0" * 5000, "is not valid TOML"),
    "not a number": ("clock_mhz = nan\n", "expected a whole number, found nan"),
    "a value that is not offered": ("[array]\npanels_per_emc = 3\n", "allowed: 2 or 4 or 8 panels"),
    "inconsistent timing": (
        "[sdram]\ntrc_cycles = 8\n",
        "machine.toml:2:1: error: sdram.trc_cycles: 8 is below tras_cycles + trp_cycles = 6 + 3",
    ),
    "inconsistent timing, the other side": ("[sdram]\ntras_cycles = 9\n", "machine.toml:2:1: error: sdram.trc_cycles"),
    "unknown preset": ('preset = "thesys"\n', "machine.toml:1:1: error: preset: no preset has the name 'thesys'"),
    "preset of the wrong type": ("preset = 3\n", "preset: no preset has the name 3\n"),
    "syntax": ("[array]\nmodules 4\n", "machine.toml:2:9: error: is not valid TOML: Expected '=' after a key"),
    "unterminated text": ('[lee]\narrangement = "figure9\n', "machine.toml:2:23: error: is not valid TOML"),
    "unterminated section": ("[array\n", "is not valid TOML"),
    "duplicate key": (
        "clock_mhz = 1\nclock_mhz = 2\n",
        "is not valid TOML: a name that has a value already is given one again",
    ),
    "duplicate section": ("[array]\n[array]\n", "is not valid TOML"),
    "UTF-16": ("[array]\nmodules = 1\n".encode("utf-16"), "this is UTF-16 text"),
    "binary": (bytes(range(256)), "this is a binary file, not a configuration file: it holds a zero byte"),
    "zeros": (bytes(100), "this is a binary file, not a configuration file: it holds a zero byte"),
    "nested without end": ("x = " + "[" * 100_000, "is nested too deeply to be a configuration file"),
    "too large": (b"#" * (1 << 20) + b"\n", "too large to be a configuration file: over 1 MiB"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_bad_files(tmp_path: Path, kind: str) -> None:
    text, expected = BAD_FILES[kind]
    message = refusal(tmp_path, text)
    assert expected in message
    assert "Traceback" not in message
    assert len(message) < 1000


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    text = "clok_mhz = 1\n[array]\nmodules = 0\nemcs_per_module = 'x'\n[sdram]\nbanks = 3\n"
    message = refusal(tmp_path, text, ("lee.xp=3", "nonsense"))
    starts = [line for line in message.splitlines() if "error:" in line]
    assert [start.split(" error: ")[0] for start in starts] == [
        "-D nonsense:",
        "machine.toml:1:1:",
        "machine.toml:3:1:",
        "machine.toml:4:1:",
        "machine.toml:6:1:",
        "-D lee.xp=3:",
    ]
    assert message.endswith("6 errors")


@pytest.mark.parametrize(
    ("override", "expected"),
    [
        ("array.modules", "expected key=value"),
        ("=4", "expected key=value"),
        ("array.modules=", "expected key=value"),
        ("array.modules=four", "expected a whole number, found 'four'"),
        ("array.modules=1 2", "expected a whole number, found '1 2'"),
        ("array.modules=1\nclock_mhz=3", "expected a whole number"),
        ("array=1", "unknown key array"),
        ("array.module=1", "did you mean array.modules?"),
        ("x" * 1000 + "=1", "unknown key xxx"),
    ],
)
def test_bad_overrides(override: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        load_config(overrides=[override])
    message = format_error(caught.value)
    assert expected in message
    assert max(map(len, message.splitlines())) < 160


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, expected in (
        (tmp_path / "none.toml", "no such file"),
        (tmp_path, "is a folder, not a configuration file"),
        ("a\0b", "cannot be read"),
        (tmp_path / ("x" * 300), "cannot be read: File name too long"),
    ):
        with pytest.raises(InputError, match=expected):
            load_config(path)


KEYS = [key for key, *_ in leaves(THESIS)]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from([*KEYS, "preset", "array", "x"]), st.text() | st.integers()), max_size=4))
def test_any_override_gives_a_configuration_or_one_error(pairs) -> None:
    try:
        config = load_config(overrides=[f"{key}={value}" for key, value in pairs])
    except InputError as error:
        assert error.faults
    else:
        assert config.lanes


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_file_gives_a_configuration_or_one_error(tmp_path_factory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    try:
        assert load_config(path) in PRESETS.values()
    except InputError as error:
        assert error.faults
