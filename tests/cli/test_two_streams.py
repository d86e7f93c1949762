"""`pixelflow run` with two streams: the report, timing only, deadlocks, limits, saving and loading."""

import json
import re
from pathlib import Path

import pytest

SOURCE = """\
MARK "ask"
EMC_TreeIntoMem_Li [352], 4, 0, 0, 512
EMC_MarkRead
SIGNAL 0
MARK "use"
WAIT 1
LD R, [320]
stream tigc
MARK "fetch"
WAIT 0
TAS_MemRdBlock4 1
SIGNAL 1
"""


@pytest.fixture
def exchange(folder: Path) -> Path:
    (folder / "both.mc").write_text(SOURCE)
    return folder


def _table(text: str) -> dict[str, list[str]]:
    rows = [line.rsplit(maxsplit=2) for line in text.splitlines()]
    return {row[0]: row[1:] for row in rows if len(row) == 3}


def test_both_streams_stand_side_by_side(pixelflow, exchange: Path) -> None:
    out = pixelflow("run", "both.mc", "--preset", "tiny", "--profile", "-v").out
    rows = _table(out)
    assert rows["cycles"] == ["EIGC", "TIGC"]
    for at in (0, 1):
        total = int(rows["total"][at].replace(",", ""))
        parts = ("busy", "wait sem 0", "wait sem 1", "wait transfer")
        assert sum(int(rows[name][at].replace(",", "")) for name in parts) == total
    assert "TASICs busy: " in out
    assert "wait sem 1" in out and "wait transfer" in out
    assert "8,192 into PEs" in out


def test_json_has_both_streams_and_the_ledger(pixelflow, exchange: Path) -> None:
    full = json.loads(pixelflow("run", "both.mc", "--preset", "tiny", "--json").out)
    timed = json.loads(pixelflow("run", "both.mc", "--preset", "tiny", "--json", "--timing-only").out)
    for found in (full, timed):
        eigc, tigc = found["streams"]["eigc"], found["streams"]["tigc"]
        assert eigc["busy_cycles"] + sum(eigc["wait_cycles"].values()) == eigc["cycles"]
        assert eigc["stage_wait_cycles"] == {"use": eigc["wait_cycles"]}
        assert found["result"]["cycles"] == max(eigc["cycles"], tigc["cycles"])
        assert found["ledger"]["signals"]["0"] == {"sent": 1, "carried": 1, "taken": 1, "left": 0}
        assert found["ledger"]["commands"] == found["ledger"]["dones"] == len(found["tasic_busy_cycles"])
        assert len(set(found["ledger"]["bytes"]["to_emcs"].values())) == 1
    assert timed["streams"] == full["streams"] and timed["ledger"] == full["ledger"]


def test_a_deadlock_has_its_exit_code_and_says_who(pixelflow, exchange: Path) -> None:
    (exchange / "stuck.mc").write_text(SOURCE.replace("SIGNAL 0\n", ""))
    result = pixelflow("run", "stuck.mc", "--preset", "tiny")
    assert (result.code, result.out) == (4, "")
    assert re.search(r"stuck.mc:5 .* 1 \(count 0\).* 6\b", result.err)
    assert re.search(r"sem 1 .* stuck.mc:11 ", result.err)
    assert re.search(r"stuck.mc:9 .* 0 \(count 0\).* 0\b", result.err)


def test_the_cycle_limit_holds_for_a_stream_that_waits(pixelflow, exchange: Path) -> None:
    result = pixelflow("run", "both.mc", "--preset", "tiny", "--max-cycles", 20)
    assert result.code == 5 and "both.mc:" in result.err


def test_marks_that_depend_on_data_refuse_timing_only(pixelflow, exchange: Path) -> None:
    (exchange / "data.mc").write_text(SOURCE.replace("EMC_MarkRead", "EC\nEMC_MarkRead"))
    result = pixelflow("run", "data.mc", "--timing-only")
    assert result.code == 3
    assert "data.mc:12: error: " in result.err and "data.mc:3" in result.err


@pytest.mark.parametrize("program", ["both.mc", "prog.mc"])
def test_save_and_load(pixelflow, exchange: Path, program: str) -> None:
    def state(*options: str) -> dict:
        found = json.loads(pixelflow("run", program, "--preset", "tiny", "--json", *options).out)
        return {name: found[name] for name in ("state", "result", "streams", "ledger", "tasic_busy_cycles")}

    expected = state()
    assert state("--save-at", "5", "saved.npz") == expected
    assert state("--load", "saved.npz") == expected
    assert state("--load", "saved.npz", "--engine", "bit-serial") == expected


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--save-at", "x", "s.npz"], 2, "'x' is not a cycle"),
        (["--save-at", "-1", "s.npz"], 2, "is not a cycle"),
        (["--save-at", "5", "s.txt"], 2, "the name must end in .npz"),
        (["--save-at", "5", "-"], 2, "the name must end in .npz"),
        (["--save-at", "5", "none/s.npz"], 3, "the folder none does not exist"),
        (["--save-at", "5", "s.npz", "--timing-only"], 2, "no state to save"),
        (["--load", "none.npz"], 3, "none.npz: error: no such file"),
        (["--load", "both.mc"], 3, "both.mc: error: is not a checkpoint"),
        (["--load", "saved.npz", "--memory", "saved.npz"], 2, "has the PE memory already"),
        (["--load", "saved.npz", "-D", "array.modules=2"], 3, "saved.npz: error: was saved with another configuration"),
        (["--load", "saved.npz", "--timing-only"], 2, "no state to save or to continue from"),
        (["--save-at", "99999", "s.npz"], 3, "cycle 99999 cannot be saved: the run ends at cycle"),
    ],
    ids=range(12),
)
def test_bad_ways_to_save_and_load(pixelflow, exchange: Path, options: list[str], code: int, message: str) -> None:
    assert pixelflow("run", "both.mc", "--preset", "tiny", "--save-at", "5", "saved.npz").code == 0
    before = sorted(exchange.iterdir())
    result = pixelflow("run", "both.mc", "--preset", "tiny", *options)
    assert result.code == code and message in result.err, result.err
    assert sorted(exchange.iterdir()) == before
