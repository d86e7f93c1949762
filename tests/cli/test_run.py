"""`pixelflow run`: report, expectations, state in and out, and every kind of bad input."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli import run as attended
from pixelflow.cli.programs import example_files
from pixelflow.config import TINY
from pixelflow.isa import INSTRUCTIONS, Program
from pixelflow.simd.lanes import AUTO, available, choose

CYCLES = 9
"""Of the program in conftest.py: LEE load 2, routine 4, LEE compare 3."""


def doubled() -> list[int]:
    """What the program leaves in x on the tiny machine: 2 * (column + 3), figure 9 by hand."""
    columns = [8 * (lane // 32 % 2) + lane % 32 // 4 for lane in range(256)]
    return [2 * (column + 3) for column in columns]


def test_the_report(pixelflow, folder: Path) -> None:
    result = pixelflow("run", "prog.mc", "--preset", "tiny")
    assert result.code == 0
    lines = result.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"prog.mc: {CYCLES} cycles, 90 ns")
    assert lines[1].endswith(f"({TINY.sha256[:6]}) · engine {choose(AUTO).engine}")
    assert "load [x]" in result.out and "16 assumptions (PF101)" in lines[-1]
    whole = " ".join(pixelflow("run", "prog.mc", "--preset", "tiny", "-v").out.split())
    assert "10 instructions (2 fitted, 8 invented)" in whole


def test_guesses_are_those_that_took_part(pixelflow, folder: Path) -> None:
    def values(name: str, source: str, *options: str) -> list[str]:
        (folder / name).write_text(source)
        found = json.loads(pixelflow("run", name, "--preset", "tiny", "--json", *options).out)
        return [value.partition(" ")[0] for value in found["guesses"]["values"]]

    assert values("none.mc", "LD R, #1\n") == ["igc.supply"]
    called = values("call.mc", "CALL f\nroutine f()\nend\n")
    assert called == ["igc.control_cycles", "igc.supply", "extra.start"]
    read = "EMC_MarkRead\nSIGNAL 0\nWAIT 1\nstream tigc\nWAIT 0\nTAS_MemRdBlock4 2\nSIGNAL 1\n"
    plain = values("read.mc", read)
    assert "tasic.read_overhead_cycles" in plain and "sdram.cl_cycles" in plain
    assert not any("refresh" in key or "check_commands" in key or "twr" in key for key in plain)
    more = values("read.mc", read, "-D", "sdram.refresh=true", "-D", "sdram.check_commands=true")
    assert set(more) - set(plain) == {
        "sdram.refresh_interval_cycles", "sdram.trfc_cycles", "sdram.check_commands",
    }  # fmt: skip
    assert max(map(len, pixelflow("run", "read.mc", "--preset", "tiny").out.splitlines())) <= 80


def test_quiet_prints_results_only(pixelflow, folder: Path) -> None:
    assert pixelflow("run", "prog.mc", "-q").out == ""
    out = pixelflow("run", "prog.mc", "-q", "--preset", "tiny", "--range", "x", "--pe", "4").out
    assert [line.split() for line in out.splitlines() if line.strip()][-1] == ["4", "0.0.0.4", "8"]


@pytest.mark.parametrize("engine", available())
def test_json_is_the_same_on_every_engine(pixelflow, folder: Path, engine: str) -> None:
    arguments = [
        "run",
        "prog.mc",
        "--preset",
        "tiny",
        "--engine",
        engine,
        "--json",
        "--range",
        "x",
        "--range",
        "y:float",
    ]
    found = json.loads(pixelflow(*arguments, "--pe", "all").out)
    assert found["schema"] == "pixelflow.run/1"
    assert found["result"]["cycles"] == CYCLES
    assert found["result"]["seconds_at_clock"] == CYCLES / 100e6
    assert found["config"]["sha256"] == TINY.sha256
    assert found["state"]["ranges"] == {"x": doubled(), "y": [1.5] * 256}
    assert found["state"]["enabled"] == sum(value // 2 - 3 < 8 for value in doubled())
    assert found["profile"]["stages"] == {"load [x]": 2, "double": 7}
    assert found["profile"]["families"] == {
        "start-up": 1,
        "move": 2,
        "arithmetic": 1,
        "linear expression": 5,
    }
    assert found["not_modelled"]


def test_source_object_file_and_standard_input_agree(
    pixelflow, folder: Path, object_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from io import BytesIO, TextIOWrapper

    def digest(*arguments: str) -> str:
        result = pixelflow("run", *arguments, "--json", "--preset", "tiny")
        return json.loads(result.out)["state"]["digest"]

    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO((folder / "prog.mc").read_bytes())))
    assert digest("prog.mc") == digest("prog.mco") == digest("-")
    assert digest("prog.mc", "-P", "OFFSET=3") == digest("prog.mc")
    assert digest("prog.mc", "-P", "OFFSET=0x4") != digest("prog.mc")


def test_profile(pixelflow, folder: Path) -> None:
    out = pixelflow("run", "prog.mc", "--profile").out
    for expected in ("linear expression", "double", "(main)", "prog.mc:7", "EMC_TreeIntoMem_Li x, 1, 1, 0, OFFSET"):
        assert expected in out


def test_expectations(pixelflow, folder: Path) -> None:
    assert pixelflow("run", "prog.mc", "--expect-cycles", CYCLES).code == 0
    result = pixelflow("run", "prog.mc", "--expect-cycles", CYCLES + 1, "--output", "state.npz")
    assert result.code == 1 and re.findall(r"\d+", result.err) == [str(CYCLES + 1), str(CYCLES)]
    assert (folder / "state.npz").exists()


def test_the_cycle_limit(pixelflow, folder: Path) -> None:
    assert pixelflow("run", "prog.mc", "--max-cycles", CYCLES).code == 0
    result = pixelflow("run", "prog.mc", "--max-cycles", CYCLES - 1, "--output", "state.npz")
    assert result.code == 5 and "after 6 cycles" in result.out
    assert "prog.mc:10" in result.err and "--max-cycles" not in result.err


def test_what_there_is_at_the_cycle_limit_is_shown_and_saved_as_asked(pixelflow, folder: Path) -> None:
    words = ("run", "prog.mc", "--preset", "tiny", "--max-cycles", CYCLES - 1)
    result = pixelflow(*words, "--json", "--range", "x", "--output", "state.npz")
    found = json.loads(result.out)
    assert result.code == 5
    assert found["result"]["reason"] == "cycle limit" and found["result"]["cycles"] == CYCLES - 3, "not the compare"
    assert found["state"]["ranges"]["x"] == doubled()[:8], "the routine before it was carried out"
    with np.load(folder / "state.npz") as saved:
        assert saved["memory"][0].tolist() == doubled() and json.loads(str(saved["header"]))["stopped"] == "cycle limit"
    assert pixelflow(*words, "--show-map", "x", "-q").out.strip()
    untimed = pixelflow(*words, "--function-only", "--json")
    assert untimed.code == 5 and json.loads(untimed.out)["result"]["reason"] == "cycle limit"


def test_an_endless_loop_ends_at_a_limit_that_says_it_is_the_default(
    pixelflow, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert attended.DEFAULT_LIMIT == 100_000_000
    monkeypatch.setattr(attended, "DEFAULT_LIMIT", 1000)
    (folder / "endless.mc").write_text("again: LD R, #1\nJMP again\n")
    result = pixelflow("run", "endless.mc", "--preset", "tiny", "-q")
    assert result.code == 5 and "endless.mc:1 (EIGC)" in result.err and "--max-cycles N" in result.err
    (folder / "long.mc").write_text("LOOP 1001\nLD R, #1\nENDL\n")
    assert pixelflow("run", "long.mc", "--preset", "tiny").code == 5
    assert pixelflow("run", "long.mc", "--preset", "tiny", "--max-cycles", "none").code == 0


def test_timing_only_counts_the_same_cycles(pixelflow, folder: Path) -> None:
    found = json.loads(pixelflow("run", "prog.mc", "--timing-only", "--json").out)
    assert found["result"]["cycles"] == CYCLES
    assert found["state"] == {}
    assert pixelflow("run", "prog.mc", "--timing-only", "--dump", "memory").code == 2


def test_deadlock_and_machine_faults_have_codes_of_their_own(pixelflow, folder: Path) -> None:
    (folder / "stuck.mc").write_text("LD R, #1\nWAIT 2\n")
    result = pixelflow("run", "stuck.mc")
    assert result.code == 4
    assert "stuck.mc:2" in result.err and "sem 2" in result.err
    words = [word for name in ("EPOP", "HALT") for word in INSTRUCTIONS.make(name).encode()]
    Program(tuple(words)).save(folder / "fault.mco")
    result = pixelflow("run", "fault.mco")
    assert result.code == 6
    assert "EPOP" in result.err


def test_state_out_and_in_again(pixelflow, folder: Path) -> None:
    (folder / "next.mc").write_text("range x[1]\nLD R, x\nADD R, #1\nST x, R\n")
    assert pixelflow("run", "prog.mc", "--preset", "tiny", "--output", "state.npz").code == 0
    with np.load(folder / "state.npz", allow_pickle=False) as state:
        assert state["memory"].shape == (384, 256) and state["memory"].dtype == np.uint8
        assert state["memory"][0].tolist() == doubled()
        assert json.loads(str(state["header"]))["cycles"] == CYCLES
        assert state["E"].dtype == bool
    arguments = ["run", "next.mc", "--preset", "tiny", "--memory", "state.npz", "--json", "--range", "x", "--pe", "all"]
    found = json.loads(pixelflow(*arguments).out)
    assert found["state"]["ranges"]["x"] == [value + 1 for value in doubled()]


def test_the_same_run_writes_the_same_bytes(pixelflow, folder: Path) -> None:
    for name in ("a.npz", "b.npz", "a.json", "b.json"):
        pixelflow("run", "prog.mc", "--preset", "tiny", "--output", name)
    assert (folder / "a.npz").read_bytes() == (folder / "b.npz").read_bytes()
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()
    state = json.loads((folder / "a.json").read_text())
    assert state["memory"][4][:2] == f"{doubled()[4]:02x}"
    assert state["registers"]["R"] == doubled()


def test_initial_memory_by_range_names(pixelflow, folder: Path) -> None:
    (folder / "show.mc").write_text("range a[1]\nrange f[4]\nrange b[3]\nLD R, a\n")
    lanes = np.arange(256)
    np.savez(
        folder / "in.npz",
        a=lanes.astype(np.uint8),
        f=(lanes / 4).astype(">f4"),
        b=np.stack([lanes, lanes + 1, lanes + 2]).astype(np.uint8),
    )
    arguments = ["run", "show.mc", "--preset", "tiny", "--memory", "in.npz", "--json", "--pe", "9"]
    found = json.loads(pixelflow(*arguments, "--range", "a", "--range", "f:float", "--range", "b").out)
    assert found["state"]["ranges"] == {"a": [9], "f": [2.25], "b": [0x0B0A09]}
    out = pixelflow("run", "show.mc", "--preset", "tiny", "--memory", "in.npz", "--range", "b:bytes", "--pe", "9").out
    assert "09 0a 0b" in out


def test_dumps(pixelflow, folder: Path) -> None:
    arguments = ["run", "prog.mc", "--preset", "tiny", "-q", "--pe", "0.0.1.4-5"]
    out = pixelflow(*arguments, "--dump", "registers", "--dump", "enables", "--dump", "memory").out
    rows = [line.split() for line in out.splitlines()]
    assert ["36", "0.0.1.4", "9", "0", "18", "00", "00", "0", "0"] in rows
    assert ["0", "128"] in rows
    assert ": 128 of 256" in out
    assert "(0.0.1.5)\n    0  18 00 00 c0 3f 00" in out


def test_maps(pixelflow, folder: Path) -> None:
    out = pixelflow("run", "prog.mc", "--preset", "tiny", "-q", "--show-map", "enable", "--show-map", "x").out
    lines = out.splitlines()
    assert lines[1].startswith("enable, 16 x 16 ")
    assert lines[2:6] == ["⣿⣿⣿⣿⠀⠀⠀⠀"] * 4
    assert lines[7].startswith("x, 16 x 16 ") and lines[7].endswith("' ' 6 to '@' 36")
    assert lines[9][0] == " " and lines[9][-1] == "@" and len(lines[9]) == 16
    wide = pixelflow("run", "prog.mc", "-q", "--show-map", "y[3]", "--show-map", "R").out
    assert "y[3], 128 x 64 " in wide and max(map(len, wide.splitlines())) <= 80
    flat = pixelflow("run", "prog.mc", "-D", "lee.arrangement=zero", "--show-map", "R")
    assert flat.code == 0 and flat.err.count("\n") == 1


@pytest.mark.parametrize("name", example_files())
def test_the_map_that_a_run_names_is_that_of_the_example(pixelflow, folder: Path, name: str) -> None:
    """The comment at the head of an example says how to see what it computes."""
    head, ran = example_files()[name].read_text(), pixelflow("run", name, "--function-only").out
    written = re.search(rf"^;   pixelflow run {name}.*--show-map (\w+)", head, re.MULTILINE)
    named = re.search(rf"pixelflow (run {name}) --function-only --show-map (\w+)", ran)
    assert (named and named[2]) == (written and written[1])
    assert "--show-map" not in pixelflow("run", name, "--timing-only").out


def test_a_map_as_a_picture_has_a_square_for_each_pe(pixelflow, folder: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="pillow (extra: image) is not installed")
    assert pixelflow("run", "prog.mc", "--preset", "tiny", "--picture", "x", "x.png").code == 0
    with image.open(folder / "x.png") as picture:
        shades = np.asarray(picture)
    assert np.array_equal(shades, np.broadcast_to(np.arange(64) // 4 * 17, (64, 64)))
    for words, message in ((("x", "x.jpg"), "--picture"), (("q", "x.png"), "neither a flag nor a register")):
        result = pixelflow("run", "prog.mc", "--picture", *words)
        assert result.code == 2 and message in result.err


BAD_ARGUMENTS = [
    (["--pe", "0,x"], 2, "--pe 0,x: error: 'x' is not a number or a range of numbers"),
    (["--pe", "8192"], 2, "8192 does not exist\n    allowed: PE 0 to 8191"),
    (["--pe", "5-3"], 2, "5-3: the upper end is below the lower\n    write: 3-5"),
    (["--pe", ""], 2, "is not a number"),
    (["--pe", "4.0.0.0"], 2, "4 does not exist\n    allowed: module 0 to 3"),
    (["--pe", "0.0.0.32"], 2, "allowed: PE 0 to 31"),
    (["--pe", "1.2"], 2, "'1.2' is not a choice of PEs"),
    (["--pe", "9" * 5000], 2, "does not exist"),
    (["--range", "z"], 2, "the program has no memory range 'z'\n    ranges: x, y"),
    (["--range", "y:flaot"], 2, "'flaot' is not a form\n    allowed: bytes, word, float"),
    (["--range", "x:float"], 2, "x has 1 byte"),
    (["--show-map", "enabel"], 2, "nor a memory range\n    did you mean enable?"),
    (["--show-map", "y[4]"], 2, "no such byte\n    allowed: y[0] to y[3]"),
    (["--show-map", "y["], 2, "no such byte"),
    (["-o", "state.png"], 2, "--picture NAME state.png"),
    (["--picture", "state.png"], 2, "expected 2 arguments: NAME FILE.png"),
    (["--output", "state.txt"], 2, "the name must end in .npz or .json"),
    (["--output", "-"], 2, "not text for standard output"),
    (["--output", "none/state.npz"], 3, "the folder none does not exist"),
    (["-P", "OFFSET"], 2, "expected NAME=NUMBER"),
    (["-P", "OFFSET=three"], 2, "expected NAME=NUMBER"),
    (["-P", "OFSET=3"], 2, "-P OFSET=3: error: the file has no param OFSET\n    did you mean OFFSET?"),
    (["-P", "FOO=1"], 2, "-P FOO=1: error: the file has no param FOO\n    its params: OFFSET"),
    (["--expect-cycles", "-1"], 2, "expected a whole number, 0 or more, found '-1'"),
    (["--expect-cycles", "few"], 2, "expected a whole number, 0 or more, found 'few'"),
    (["--profil"], 2, "unknown option --profil; did you mean --profile?"),
    (["--frobnicate"], 2, "unknown option --frobnicate\n"),
    (["-D", "array.modules=true"], 3, "expected a whole number, found true"),
    (["--config", "none.toml"], 3, "none.toml: error: no such file"),
    (["--memory", "none.npz"], 3, "none.npz: error: no such file"),
    (["--memory", "prog.mc"], 3, "prog.mc: error: is not a numpy .npz archive"),
    (["--memory", "."], 3, ".: error: is a folder, not an archive of arrays"),
]


@pytest.mark.parametrize(
    ("arguments", "code", "expected"), BAD_ARGUMENTS, ids=[" ".join(a[0])[:40] for a in BAD_ARGUMENTS]
)
def test_bad_arguments(pixelflow, folder: Path, arguments: list[str], code: int, expected: str) -> None:
    before = sorted(folder.rglob("*"))
    result = pixelflow("run", "prog.mc", *arguments)
    assert (result.code, result.out) == (code, "")
    assert expected in result.err
    assert "Traceback" not in result.err and "internal" not in result.err
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"z": np.zeros(256, np.uint8)}, "in.npz[z]: error: the program has no memory range of this name"),
        ({"x": np.zeros(255, np.uint8)}, "found uint8[255]\n    expected uint8[1, 256], or 1-byte numbers [256]"),
        ({"x": np.zeros(256, np.int64)}, "found int64[256]"),
        ({"x": np.zeros((2, 256), np.uint8)}, "found uint8[2, 256]"),
        ({"memory": np.zeros((385, 256), np.uint8)}, "expected uint8[384, 256]"),
        ({"memory": np.zeros((384, 256), np.float32)}, "found float32[384, 256]"),
        ({"x": np.array(["a"] * 256)}, "found <U1[256]"),
        ({"x": np.array([None] * 256)}, "is not a numpy .npz archive of plain arrays"),
    ],
    ids=range(8),
)
def test_bad_memory_files(pixelflow, folder: Path, arrays: dict, expected: str) -> None:
    np.savez(folder / "in.npz", **arrays)
    result = pixelflow("run", "prog.mc", "--preset", "tiny", "--memory", "in.npz")
    assert (result.code, result.out) == (3, "")
    assert expected in result.err


def test_a_damaged_memory_file(pixelflow, folder: Path) -> None:
    np.savez(folder / "in.npz", x=np.zeros(256, np.uint8))
    whole = (folder / "in.npz").read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 5):
        (folder / "in.npz").write_bytes(whole[:cut])
        assert pixelflow("run", "prog.mc", "--preset", "tiny", "--memory", "in.npz").code == 3
    flipped = bytearray(whole)
    flipped[150] ^= 1
    (folder / "in.npz").write_bytes(flipped)
    assert pixelflow("run", "prog.mc", "--preset", "tiny", "--memory", "in.npz").code == 3


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"\x00\xff", b'{"schema": "pixelflow.program/0"}', b"[" * 100_000]
)
def test_bad_object_files(pixelflow, folder: Path, content: bytes) -> None:
    (folder / "bad.mco").write_bytes(content)
    result = pixelflow("run", "bad.mco")
    assert (result.code, result.out) == (3, "")
    assert re.match(r"bad\.mco(:1)?: error: ", result.err)


ENDLESS = {
    "gen6": "TOP:\nadd (1) g1<1>D g1<0,1,0>D 1D\njmpi (1) TOP\n",
    "larrabee": "top: add r1, 1\njmp top\n",
}
STRAIGHT = {
    "gen6": "mov (8) g1<1>F 2.0F\n" + "add (8) g1<1>F g1<8,8,1>F 1.0F\n" * 20,
    "larrabee": "vloadps v1, [64]\n" + "vaddps v1, v1, v1\n" * 20,
}


@pytest.mark.parametrize("machine", STRAIGHT)
def test_the_cycle_limit_of_other_machines_is_exact(pixelflow, folder: Path, machine: str) -> None:
    (folder / "chain.s").write_text(STRAIGHT[machine])
    words = ("run", "--machine", machine, "chain.s", "--json")
    found = json.loads(pixelflow(*words).out)["cycles"]
    cycles = found if machine == "gen6" else found[0]
    assert cycles > 40, "results are waited for"
    assert pixelflow(*words, "--max-cycles", cycles).code == 0
    result = pixelflow(*words, "--max-cycles", cycles - 1)
    assert result.code == 5 and f" {cycles - 1} " in result.err
    assert pixelflow(*words, "--max-cycles", "none").code == 0


@pytest.mark.parametrize("machine", ENDLESS)
@pytest.mark.parametrize("traced", [(), ("--trace", "kanata")], ids=["", "traced"])
def test_an_endless_program_of_another_machine_ends_at_the_limit(
    pixelflow, folder: Path, machine: str, traced: tuple[str, ...]
) -> None:
    (folder / "endless.s").write_text(ENDLESS[machine])
    result = pixelflow("run", "--machine", machine, "endless.s", "--max-cycles", 500, *traced)
    assert result.code == 5 and "endless.s:" in result.err


@pytest.mark.parametrize("machine", ENDLESS)
def test_another_machines_own_limit_says_that_it_is_the_default(
    pixelflow, folder: Path, machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = {"gen6": "gen6_bridge.time.run", "larrabee": "larrabee_bridge.machine"}[machine]
    monkeypatch.setattr(f"{module}.LONGEST", 2000)
    (folder / "endless.s").write_text(ENDLESS[machine])
    result = pixelflow("run", "--machine", machine, "endless.s")
    assert result.code == 5 and "2,000 instructions" in result.err
    assert "--max-cycles N" in result.err
