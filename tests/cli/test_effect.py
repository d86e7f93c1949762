"""Is an option that could have no effect refused, with what to do about it?"""

from __future__ import annotations

from pathlib import Path

import pytest

IDLE = [
    (["run", "prog.mc", "--pe", "3"], "--pe: error: nothing is shown of single PEs"),
    (["run", "prog.mc", "--pe", "3", "--dump", "enables"], "--pe: error: nothing is shown of single PEs"),
    (["run", "prog.mc", "--json", "--show-map", "x"], "--show-map: error: the object of --json has no maps"),
    (["run", "prog.mc", "--json", "--dump", "enables"], "--dump enables: error: --json counts enabled PEs anyway"),
    (["run", "prog.mc", "-q", "--profile"], "--profile: error: --quiet leaves out the report"),
    (["run", "prog.mc", "--timing-only", "--memory", "m.npz"], "--memory: error: a run without PE data"),
    (["run", "prog.mc", "--timing-only", "--engine", "rows"], "--engine: error: a run without PE data uses no engine"),
    (["run", "prog.mc", "--timing-only", "--range", "x"], "--timing-only: error: no PE data changes"),
    (["isa", "-o", "isa.md"], "-o: error: only the manual is written to a file"),
    (["isa", "--md", "--json"], "--md: error: --json prints an object"),
    (["dis", "prog.mc", "--json", "-o", "prog.dis"], "-o: error: --json prints the text in an object"),
    (["asm", "prog.mc", "--json", "--listing"], "--json: error: standard output holds one object only"),
    (["asm", "prog.mc", "--json", "-o", "-"], "--json: error: standard output holds one object only"),
    (["completion", "bash", "--json"], "--json: error: the result is a script"),
    (["sweep", "run", "prog.mc", "--timing-only", "--set", "engine=rows"], "a run without PE data uses no engine"),
]


@pytest.mark.parametrize(("arguments", "message"), IDLE, ids=[" ".join(each[0]) for each in IDLE])
def test_options_without_effect(pixelflow, folder: Path, arguments: list[str], message: str) -> None:
    before = sorted(folder.iterdir())
    result = pixelflow(*arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "more", [["--range", "x"], ["--dump", "memory"], ["--dump", "registers"], ["--output", "o.npz"]]
)
def test_pe_where_single_pes_are_shown(pixelflow, folder: Path, more: list[str]) -> None:
    assert pixelflow("run", "prog.mc", "--preset", "tiny", "--pe", "3", *more).code == 0


def test_check_prints_faults_as_an_object(pixelflow, folder: Path) -> None:
    import json

    (folder / "bad.toml").write_text("[array]\nmoduels = 1\nmodules = 99\n")
    result = pixelflow("config", "check", "bad.toml", "--json")
    assert (result.code, result.err) == (3, "")
    found = json.loads(result.out)
    assert [fault["line"] for fault in found["faults"]] == [2, 3]
    assert "array.moduels" in found["faults"][0]["message"] and "99" in found["faults"][1]["message"]
    assert "array.modules" in found["faults"][0]["hint"]
    assert found["sha256"] is None


def test_config_schema_is_the_schema(pixelflow, folder: Path) -> None:
    import json

    from pixelflow.config import json_schema

    for more in ((), ("--json",)):
        result = pixelflow("config", "schema", *more)
        assert result.code == 0 and json.loads(result.out) == json_schema()
