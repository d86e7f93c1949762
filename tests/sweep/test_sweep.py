"""Does a sweep measure what the commands measure, go on where it was stopped, and not care who does the work?"""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pixelflow.cli.main import main

ROOT = Path(__file__).parents[2]
GRID = ("--set", "param.N=1:3", "--set", "array.panels_per_emc=2,4")


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_rows_are_in_grid_order_and_hold_what_was_executed(sweep) -> None:
    result = sweep(*GRID)
    assert result.code == 0
    found = rows(result.out)
    assert [row["point"] for row in found] == ["1", "2", "3", "4", "5", "6"]
    assert [(row["param.N"], row["array.panels_per_emc"]) for row in found] == [
        (str(n), str(panels)) for n in (1, 2, 3) for panels in (2, 4)
    ]
    assert all(row["run.cycles"] == row["eigc.busy_cycles"] == row["param.N"] for row in found)
    assert all(row["tigc.busy_cycles"] == "" for row in found), "a stream that the program has not"
    assert len({row["program_sha256"] for row in found}) == 3 and len({row["config_sha256"] for row in found}) == 2
    assert "sweep: 6 points: 3 param.N x 2 array.panels_per_emc" in result.err


def test_a_row_is_what_the_command_itself_says(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(ROOT / "microcode/examples/texture_copy.mc")
    assert main(["sweep", "run", source, "--set", "sdram.trp_cycles=2,4", "--set", "sdram.trcd_cycles=2,5"]) == 0
    for row in rows(capsys.readouterr().out):
        words = [word for key in ("sdram.trp_cycles", "sdram.trcd_cycles") for word in ("-D", f"{key}={row[key]}")]
        assert main(["run", source, *words, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert row["run.cycles"] == str(report["result"]["cycles"])
        for stream, account in report["streams"].items():
            assert row[f"{stream}.busy_cycles"] == str(account["busy_cycles"])
            assert row[f"{stream}.wait_cycles"] == str(sum(account["wait_cycles"].values()))
        assert row["config_sha256"] == report["config"]["sha256"]


@pytest.mark.slow
def test_tessellations(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--set", "samples=2", "--set", "schedule=thesis,shared-columns", "--set", "engine=rows"]
    assert main(["sweep", "tessellate", "enneper", *arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["rows"]
    for row in found:
        options = ["--samples", "2", "--schedule", row["schedule"], "--engine", "rows"]
        assert main(["tessellate", "enneper", *options, "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert row["run.cycles"] == report["result"]["cycles"]
        assert (row["exit_code"], row["error"], row["patches"], row["passes"]) == (0, None, 4, 1)
        assert row["run.cycles"] == sum(row[f"eigc.{kind}_cycles"] for kind in ("busy", "wait", "idle"))
        assert row["run.cycles"] == sum(row[f"tigc.{kind}_cycles"] for kind in ("busy", "wait", "idle"))


def test_timing_only_gives_the_same_table(sweep) -> None:
    assert sweep(*GRID, "--timing-only").out == sweep(*GRID).out


def test_wall_times_only_where_they_are_asked_for(sweep) -> None:
    assert "seconds" not in rows(sweep(*GRID).out)[0]
    assert all(float(row["seconds"]) >= 0 for row in rows(sweep(*GRID, "--timing").out))


def test_points_that_fail_are_rows_with_their_error(sweep, folder: Path) -> None:
    (folder / "prog.mc").write_text("param N = 0\nassert N < 3, 'x'\nagain: LD R, #N\nJMP again\n".replace("'", '"'))
    result = sweep("--set", "param.N=1,3", "--set", "sdram.trc_cycles=2,10", "--set", "max-cycles=7")
    assert result.code == 1
    found = rows(result.out)
    assert [row["exit_code"] for row in found] == ["3", "5", "3", "3"]
    assert "sdram.trc_cycles: 2 is below tras_cycles + trp_cycles" in found[0]["error"]
    assert "7" in found[1]["error"] and found[1]["run.cycles"] == ""
    assert "prog.mc:2" in found[3]["error"]
    assert "4 of 4 points failed" in result.err


def test_what_is_wrong_with_every_point_ends_the_sweep(sweep, folder: Path) -> None:
    (folder / "prog.mc").write_text("LDD R, #1\n")
    result = sweep("--set", "sdram.trp_cycles=2,4")
    assert (result.code, result.out) == (3, "")
    assert "prog.mc:1:1: error:" in result.err
    (folder / "prog.mc").write_text("LD R, #1\n")
    assert sweep("--set", "sdram.trp_cycles=2,4", "-D", "array.moduels=1").code == 3


def test_processes_and_shards_give_the_same_bytes(sweep) -> None:
    for path, more in (("one.csv", ()), ("two.csv", ("--jobs", "2"))):
        assert sweep(*GRID, "--out", path, *more).code == 0
    whole = Path("one.csv").read_bytes()
    assert Path("two.csv").read_bytes() == whole
    parts = []
    for shard in ("1/2", "2/2"):
        assert sweep(*GRID, "--out", "part.csv", "--shard", shard).code == 0
        parts.append(Path("part.csv").read_text())
        Path("part.csv").unlink()
    head, *first = parts[0].splitlines(keepends=True)
    second = parts[1].splitlines(keepends=True)[1:]
    assert [line[:2] for line in first + second] == ["1,", "3,", "5,", "2,", "4,", "6,"]
    Path("both.csv").write_text("".join([head, *first, *second]))
    assert sweep(*GRID, "--out", "both.csv").code == 0
    assert Path("both.csv").read_bytes() == whole


@pytest.mark.slow
def test_an_object_file_in_other_processes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["asm", "prog.mc", "-o", "prog.mco", "-q"]) == 0
    words = ["sweep", "run", "prog.mco", "--preset", "tiny", "--set", "array.panels_per_emc=2,4"]
    capsys.readouterr()
    assert main([*words, "--jobs", "2"]) == 0
    assert [row["run.cycles"] for row in rows(capsys.readouterr().out)] == ["2", "2"]


def test_a_table_cut_anywhere_is_continued(sweep) -> None:
    path = Path("points.csv")
    assert sweep(*GRID, "--out", str(path)).code == 0
    whole = path.read_bytes()
    for cut in range(0, len(whole), 97):
        path.write_bytes(whole[:cut])
        result = sweep(*GRID, "--out", str(path))
        assert result.code == 0, (cut, result.err)
        assert path.read_bytes() == whole, cut


def test_finished_points_are_not_measured_again(sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    from pixelflow.cli import sweep_table as sweep_engines

    measured: list[int] = []
    real = sweep_engines.measure
    monkeypatch.setattr(sweep_engines, "measure", lambda point: measured.append(1) or real(point))
    assert sweep(*GRID, "--out", "p.csv").code == 0
    lines = Path("p.csv").read_text().splitlines(keepends=True)
    Path("p.csv").write_text("".join(lines[:2] + lines[4:]))  # without points 2 and 3
    measured.clear()
    result = sweep(*GRID, "--out", "p.csv")
    assert (result.code, len(measured)) == (0, 2)
    assert "p.csv has 4 of 6 points already" in result.err
    assert Path("p.csv").read_text() == "".join(lines)


OTHERS = {
    "another grid": (("--set", "param.N=2:3", "--set", "array.panels_per_emc=2,4"), "point 1 has param.N = 1"),
    "other axes": (("--set", "param.N=1:3"), "this is not a table of the same columns: point, param.N, program_sha256"),
    "another configuration": ((*GRID, "-D", "sdram.trp_cycles=2"), "point 1 has config_sha256 = "),
    "a smaller grid": (("--set", "param.N=1:2", "--set", "array.panels_per_emc=2,4"), "the grid has no point '5'"),
}


@pytest.mark.parametrize(("arguments", "message"), OTHERS.values(), ids=OTHERS)
def test_a_table_of_something_else_is_refused_and_kept(sweep, arguments: tuple[str, ...], message: str) -> None:
    assert sweep(*GRID, "--out", "p.csv").code == 0
    before = Path("p.csv").read_bytes()
    result = sweep(*arguments, "--out", "p.csv")
    assert (result.code, result.out) == (3, "")
    assert message in result.err and "name another file" in result.err
    assert Path("p.csv").read_bytes() == before


@pytest.mark.parametrize("content", [b"notes", b"\xff\xfe\n", b"a,b\n1,2\n", b'{"point": 1}\n'])
def test_a_file_that_is_no_table_is_refused_and_kept(sweep, content: bytes) -> None:
    Path("p.csv").write_bytes(content)
    assert sweep(*GRID, "--out", "p.csv").code == 3
    assert Path("p.csv").read_bytes() == content


def test_a_program_that_has_changed_is_refused(sweep, folder: Path) -> None:
    assert sweep(*GRID, "--out", "p.csv").code == 0
    (folder / "prog.mc").write_text("param N = 2\nLD R, #N\nLD R, #N\n")
    assert "p.csv:2: error: point 1 has program_sha256 = " in sweep(*GRID, "--out", "p.csv").err


def test_a_table_of_another_version_is_refused(sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sweep(*GRID, "--out", "p.csv").code == 0
    before = Path("p.csv").read_bytes()
    monkeypatch.setattr("pixelflow.cli.sweep_table.__version__", "0.0.0")
    result = sweep(*GRID, "--out", "p.csv")
    assert result.code == 3 and "here it is 0.0.0" in result.err
    assert Path("p.csv").read_bytes() == before


def test_a_tessellation_with_another_microcode_library_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from microcode import places as files
    from pixelflow.cli.sweep_table import library_sha256

    words = ["sweep", "tessellate", "enneper", "--set", "samples=2", "--set", "engine=rows", "--out", "t.csv"]
    assert main(words) == 0
    before = Path("t.csv").read_bytes()
    shutil.copytree(files.LIBRARY, "library")
    monkeypatch.setattr(files, "LIBRARY", Path("library").absolute())
    try:
        library_sha256.cache_clear()
        assert main(words) == 0, "a copy is the same library"
        with Path("library/integer/arithmetic.mc").open("a", encoding="utf-8") as source:
            source.write("; changed\n")
        library_sha256.cache_clear()
        capsys.readouterr()
        assert main(words) == 3
    finally:
        library_sha256.cache_clear()
    assert "t.csv:2: error: point 1 has library_sha256 = " in capsys.readouterr().err
    assert Path("t.csv").read_bytes() == before


USAGE = [
    (("--set", "param.N=1:200", "--set", "sdram.trp_cycles=1:200"), "the grid has 40,000 points, more than 10,000"),
    (("--set", "param.N=1", "--set", "param.N=2"), "param.N is an axis already"),
    (("--set", "sdram.trp_cycles=0,1"), "--set sdram.trp_cycles: error: sdram.trp_cycles: 0 is out of range"),
    (("--set", "sdram.trp_cycles=true"), "expected a whole number, found true"),
    (("--set", "sdram.banks=2,3"), "3 is not one of the allowed values"),
    (("--set", "sdrm.trp_cycles=3"), "did you mean sdram.trp_cycles?"),
    (("--set", "engine=row"), "did you mean rows?"),
    (("--set", "max-cycles=0"), "expected a whole number above 0"),
    ((*GRID, "--out", "p.txt"), "'p.txt' is not .csv"),
    ((*GRID, "--shard", "3/2"), "expected I/N with 1 <= I <= N"),
    ((*GRID, "--shard", "0/2"), "argument --shard"),
    ((), "the following arguments are required: --set"),
]


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_usage_errors(sweep, arguments: tuple[str, ...], message: str) -> None:
    result = sweep(*arguments)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_keeps_finished_points(folder: Path, jobs: str) -> None:
    (folder / "prog.mc").write_text("param N = 1\nagain: LD R, #N\nif N > 2\n    JMP again\nend\n")
    words = ["sweep", "run", "prog.mc", "--preset", "tiny", "--jobs", jobs, "--out", "p.csv", "--set", "param.N=1:4"]
    command = [sys.executable, "-m", "pixelflow.cli.main", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if (folder / "p.csv").exists() and (folder / "p.csv").read_text().count("\n") == 3:
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it too
    out, err = process.communicate(timeout=600)
    assert (process.returncode, out) == (130, "")
    assert "the finished points are in p.csv" in err and "Traceback" not in err
    # Appended as they are finished, by two processes in any order.
    assert sorted(row["param.N"] for row in rows((folder / "p.csv").read_text())) == ["1", "2"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process")
def test_a_full_disk_keeps_the_finished_points_and_the_sweep_goes_on_from_there(sweep, folder: Path) -> None:
    import resource

    assert sweep(*GRID, "--out", "whole.csv").code == 0
    whole = Path("whole.csv").read_text()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:  # a file that may not grow any more is, to its writer, a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) - 10, before[1]))
        full = sweep(*GRID, "--out", "part.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert full.code == 3 and "part.csv: error: cannot be written: File too large" in full.err
    assert "the same command continues from there" in full.err
    assert Path("part.csv").read_text().splitlines() == whole.splitlines()[:-1]
    assert sweep(*GRID, "--out", "part.csv").code == 0
    assert Path("part.csv").read_text() == whole
