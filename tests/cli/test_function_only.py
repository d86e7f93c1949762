"""`pixelflow run --function-only`: the state of a full run, a report without cycles, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

SOURCE = """\
range got[1]
MARK "ask"
EMC_TreeIntoMem_Li [352], 4, 0, 0, 512
EMC_MarkRead
SIGNAL 0
WAIT 1
CALL take, got
routine take(d)
    LD R, [320]
    ADD R, #7
    ST d, R
end
stream tigc
WAIT 0
TAS_MemRdBlock4 1
SIGNAL 1
"""


@pytest.fixture
def exchange(folder: Path) -> Path:
    (folder / "both.mc").write_text(SOURCE)
    return folder


@pytest.mark.parametrize("program", ["prog.mc", "both.mc"])
def test_the_state_is_that_of_a_full_run(pixelflow, exchange: Path, program: str) -> None:
    more = ("--preset", "tiny", "--dump", "registers", "--dump", "memory", "--pe", "all")
    full = json.loads(pixelflow("run", program, "--json", *more).out)
    alone = json.loads(pixelflow("run", program, "--json", "--function-only", *more).out)
    assert alone["schema"] == "pixelflow.untimed_run/1" and "cycle" not in json.dumps(alone["streams"])
    assert alone["state"] == full["state"] and alone["guesses"]["instructions"] == full["guesses"]["instructions"]
    assert alone["result"] == {"instructions": full["result"]["instructions"], "reason": "halt"}
    for stream, counts in alone["streams"].items():
        assert counts["instructions"] == full["streams"][stream]["instructions"]
    for name in ("full.npz", "alone.npz"):
        only = ("--function-only",) if name == "alone.npz" else ()
        assert pixelflow("run", program, "--preset", "tiny", "--output", name, *only).code == 0
    with np.load("full.npz") as one, np.load("alone.npz") as other:
        assert all(np.array_equal(one[key], other[key]) for key in one.files if key != "header")
        assert json.loads(str(one["header"])).keys() - json.loads(str(other["header"])).keys() == {"cycles"}
    assert pixelflow("diff", "full.npz", "alone.npz").code == 0


def test_the_report_says_that_no_time_was_simulated(pixelflow, exchange: Path) -> None:
    out = pixelflow("run", "both.mc", "--preset", "tiny", "--function-only", "--range", "got", "--pe", "3", "-v").out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert {"1 ask", "1 take", "3 0.0.0.3 7"} <= set(lines)
    assert "cycle" not in out and "MHz" not in out


def test_initial_memory_and_maps(pixelflow, folder: Path) -> None:
    (folder / "next.mc").write_text("range x[1]\nLD R, x\nADD R, #1\nST x, R\n")
    np.savez(folder / "in.npz", x=np.arange(256).astype(np.uint8))
    arguments = ("run", "next.mc", "--preset", "tiny", "--memory", "in.npz", "--show-map", "x", "-q")
    full, alone = pixelflow(*arguments), pixelflow(*arguments, "--function-only")
    assert alone.code == 0 and alone.out == full.out != ""


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (["--expect-cycles", "9"], "--expect-cycles"),
        (["--expect-cycles", "0"], "--expect-cycles"),
        (["--profile"], "--profile"),
        (["--save-at", "3", "s.npz"], "--save-at"),
        (["--load", "s.npz"], "--load"),
        (["--stats", "s.json"], "--stats"),
        (["--trace", "vcd"], "--trace"),
        (["--trace", "vcd", "--window", "0:4"], "--trace"),
        (["--record", "r.npz"], "--record"),
        (["--live"], "--live"),
        (["--frame"], "--frame"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_needs_time_is_refused(pixelflow, folder: Path, options: list[str], option: str) -> None:
    before = sorted(folder.iterdir())
    result = pixelflow("run", "prog.mc", "--function-only", *options)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"{option}: error: ")
    assert sorted(folder.iterdir()) == before


def test_neither_time_nor_data_is_nothing(pixelflow, folder: Path) -> None:
    result = pixelflow("run", "prog.mc", "--function-only", "--timing-only")
    assert result.code == 2 and result.err.startswith("--function-only: error: ")


def test_what_stops_a_run_has_its_exit_code(pixelflow, folder: Path) -> None:
    (folder / "stuck.mc").write_text("LD R, #1\nWAIT 2\n")
    (folder / "fault.mc").write_text("CALL f, [383]\nroutine f(d)\nLD R, d[1]\nend\n")
    (folder / "endless.mc").write_text("again: LD R, #1\nJMP again\n")
    results = [
        pixelflow("run", name, "--function-only", *more)
        for name, *more in (("stuck.mc",), ("fault.mc",), ("endless.mc", "--max-cycles", "100"))
    ]
    assert [result.code for result in results] == [4, 6, 5]
    assert "stuck.mc:2" in results[0].err
    assert "fault.mc:3: " in results[1].err and "endless.mc" in results[2].err


def test_times_that_somebody_set_are_in_vain(pixelflow, exchange: Path) -> None:
    sizes = ("-D", "array.modules=2", "-D", "sdram.rows=64", "-D", "igc.call_depth=3")
    times = ("-D", "sdram.trp_cycles=4", "-D", "sdram.refresh=true")
    result = pixelflow("run", "both.mc", "--preset", "tiny", "--function-only", *sizes, *times)
    noted = [line.split()[1] for line in result.err.splitlines() if "made no difference: no time" in line]
    assert result.code == 0 and noted == ["sdram.trp_cycles", "sdram.refresh"]
