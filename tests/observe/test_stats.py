"""Do statistics say what was executed, with units, null for what is not known, and the same bytes each time?"""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import microcode
from pixelflow.cli.main import main
from pixelflow.config import TINY
from pixelflow.node import Node
from pixelflow.observe.node_statistics import STATISTICS, Collector
from pixelflow.simd.errors import CycleLimitError, InternalError, MachineFault

HALVES = """\
STI [0], #1
EMC_TreeLTZero_Li 0, 1, 1, 0, -8
STI [1], #1
STI [2], #1
EMC_SetEnab
STI [3], #1
"""
"""All PEs for a cycle; two cycles of compare; those with x < 8 for two; a cycle that enables; all for one."""


def collected(text: str, **how) -> dict:
    node = Node(TINY)
    collector = Collector()
    collector.attach(node.bus)
    node.run(microcode.assemble(text), **how)
    return collector.runs[0].values


def test_enabled_pes_are_summed_over_the_busy_cycles() -> None:
    program = microcode.assemble(HALVES)
    cycles = [instruction.cycles for instruction in program.instructions]
    left = int((Node(TINY).coordinates()[0] < 8).sum())
    lanes = TINY.lanes
    assert 0 < left < lanes
    # What an instruction does to enables holds from the cycle after it on.
    expected = lanes * (cycles[0] + cycles[1]) + left * (cycles[2] + cycles[3] + cycles[4]) + lanes * cycles[5]
    values = collected(HALVES)
    assert values["array.enabled_pe_cycles"] == expected
    assert values["eigc.busy_cycles"] == sum(cycles)


def test_enabled_pes_do_not_count_while_the_stream_waits() -> None:
    texture = "stream tigc\n" + "TAS_SetStep 1\n" * 30 + "SIGNAL 1\n"
    values = collected("STI [0], #1\nWAIT 1\nSTI [1], #1\n" + texture)
    assert values["eigc.wait_cycles.sem1"] == values["eigc.wait_cycles"] == 30
    assert values["array.enabled_pe_cycles"] == 2 * TINY.lanes


def test_what_a_timing_only_run_cannot_know_is_null() -> None:
    values = collected(HALVES, function=False)
    assert values["array.enabled_pe_cycles"] is None
    assert values["eigc.busy_cycles"] == collected(HALVES)["eigc.busy_cycles"]


def test_busy_wait_and_idle_that_are_not_the_total_stop_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from pixelflow.node.account import Run

    monkeypatch.setattr(Run, "busy", property(lambda self: 1))
    with pytest.raises(InternalError, match="busy 1 \\+ wait 0 \\+ idle 0 are not"):
        collected(HALVES)


def test_bytes_and_signals_by_hand() -> None:
    load = "TAS_SetGpAddress 1, 0\nTAS_MemLoad 1, 40, 0\n"
    values = collected(f"SIGNAL 0\nWAIT 1\nstream tigc\nWAIT 0\n{load}{load}SIGNAL 1\n")
    assert values["gni.from_gni0.bytes"] == 2 * 40 * 32  # two loads of 40 blocks
    assert values["bytes.from_gps.moved"] == values["bytes.from_gps.carried"] == 2 * 40 * 32
    assert values["bytes.to_emcs.moved"] == 0
    assert values["tasic0.accesses"] == 2 * 40
    assert (values["sem0.sent"], values["sem1.taken"]) == (1, 1)


def test_one_stream_alone_has_no_bytes_on_the_ports() -> None:
    assert not [name for name in collected(HALVES) if name.startswith(("bytes.", "tasic", "gni."))]


def test_every_statistic_is_declared_whole_and_once() -> None:
    names = [each.name for each in STATISTICS]
    assert len(set(names)) == len(names)
    for each in STATISTICS:
        assert each.doc.strip().endswith(".") and each.unit and each.events


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "halves.mc"
    path.write_text(HALVES)
    return path


def test_json_and_csv_hold_the_same_numbers_and_the_same_bytes_each_time(source: Path, tmp_path: Path) -> None:
    for time in ("a", "b"):
        files = [str(tmp_path / f"{time}.{suffix}") for suffix in ("json", "csv")]
        assert main(["run", str(source), "-q", "--stats", files[0], "--stats", files[1]]) == 0
    for suffix in ("json", "csv"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["schema"] == "pixelflow.stats/1"
    run = found["runs"][0]
    assert run["reason"] == "halt" and run["units"].keys() == run["statistics"].keys()
    with (tmp_path / "a.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["statistic"]: int(row["value"]) for row in rows} == run["statistics"]
    assert {row["program_sha256"] for row in rows} == {run["program"]["sha256"]}
    assert {row["config_sha256"] for row in rows} == {found["config"]["sha256"]}


@pytest.mark.parametrize(
    ("text", "code", "reason"),
    [
        ("STI [3], #1\nWAIT 2", 4, "deadlock"),
        ("loop 9\nSTI [3], #1\nend", 5, "cycle limit"),
        ("STI [3], #1\nEPOP", 6, "fault"),
    ],
)
def test_a_run_that_was_stopped_leaves_its_statistics(tmp_path: Path, text: str, code: int, reason: str) -> None:
    source, out = tmp_path / "p.mc", tmp_path / "s.json"
    source.write_text(text)
    assert main(["run", str(source), "-q", "--max-cycles", "4", "--stats", str(out)]) == code
    run = json.loads(out.read_text())["runs"][0]
    assert run["reason"] == reason
    found = run["statistics"]
    assert found["eigc.busy_cycles"] > 0
    assert sum(found[f"eigc.{name}_cycles"] for name in ("busy", "wait", "idle")) == found["run.cycles"]


TWO = """\
LD R, #1
SIGNAL 0
loop 90
ADD R, #1
end
{last}
stream tigc
WAIT 0
loop 30
TAS_SetStep 1
end
SIGNAL 1
WAIT 2
"""


@pytest.mark.parametrize(("limit", "tigc", "waits"), [(60, 30, 28), (20, 18, 0)])
def test_the_other_stream_goes_on_until_a_run_is_stopped(limit: int, tigc: int, waits: int) -> None:
    """The signal of cycle 1 is taken in cycle 2, so the texture stream is busy from 2 to 32, then waits for good."""
    node = Node(TINY)
    collector = Collector()
    collector.attach(node.bus)
    with pytest.raises(CycleLimitError):
        node.run(microcode.assemble(TWO.format(last="SIGNAL 2")), max_cycles=limit)
    found = collector.runs[0].values
    assert found["eigc.busy_cycles"] == limit and found["run.cycles"] == limit
    assert (found["tigc.busy_cycles"], found["tigc.wait_cycles.sem0"]) == (tigc, 2)
    assert found.get("tigc.wait_cycles.sem2", 0) == waits
    assert (found["sem0.sent"], found["sem0.taken"]) == (1, 1)


def test_a_fault_is_raised_in_its_own_cycle() -> None:
    node = Node(TINY)
    collector = Collector()
    collector.attach(node.bus)
    with pytest.raises(MachineFault):
        node.run(microcode.assemble(TWO.format(last="EPOP")))
    found = collector.runs[0].values
    assert (found["tigc.busy_cycles"], found["tigc.wait_cycles.sem2"]) == (30, 92 - 32)


def test_a_run_that_goes_on_from_a_checkpoint_does_not_guess_what_was_before() -> None:
    load = "TAS_SetGpAddress 1, 0\nTAS_MemLoad 1, 40, 0\n"
    program = microcode.assemble(f"SIGNAL 0\nWAIT 1\nSTI [0], #1\nstream tigc\nWAIT 0\n{load}{load}SIGNAL 1\n")
    node = Node(TINY)
    saved: list = []
    whole, rest = Collector(), Collector()
    whole.attach(node.bus)
    node.run(program, save_at=100, save=saved.append)
    other = Node(TINY)
    rest.attach(other.bus)
    other.resume(program, saved[0])
    before, after = whole.runs[0].values, rest.runs[0].values
    assert before.keys() - after.keys() == {"array.enabled_pe_cycles.module0"}
    for name, value in after.items():
        assert value in (before[name], None)
    unknown = {name for name, value in after.items() if value is None}
    assert unknown == {"array.enabled_pe_cycles", "tasic0.accesses", "tasic0.slots", "gni.from_gni0.bytes"}


def test_a_run_that_never_began_leaves_no_file(tmp_path: Path) -> None:
    source, out = tmp_path / "p.mc", tmp_path / "s.json"
    source.write_text("STI 3")
    assert main(["run", str(source), "--stats", str(out)]) == 3
    assert not out.exists()


def test_a_name_without_a_known_suffix_is_refused_before_the_run(source: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["run", str(source), "--stats", "s.txt"]) == 2
    assert ".json" in capsys.readouterr().err


def test_the_dictionary_names_every_statistic(capsys: pytest.CaptureFixture) -> None:
    assert main(["stats", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["statistics"]
    assert [each["name"] for each in listed] == [each.name for each in STATISTICS]
    assert main(["stats", "list"]) == 0
    text = capsys.readouterr().out
    assert all(each.name in text for each in STATISTICS)
    assert max(map(len, text.splitlines())) <= 80


def test_a_node_may_be_watched_over_many_runs() -> None:
    node = Node(TINY)
    collector = Collector()
    collector.attach(node.bus)
    for _ in range(3):
        node.run(microcode.assemble(HALVES))
    assert len({tuple(run.values.items()) for run in collector.runs}) == 1 and len(collector.runs) == 3
    assert np.all(node.read_memory(3) == 1)
