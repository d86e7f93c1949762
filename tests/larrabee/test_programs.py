"""The shipped programs against plain Python, and the command that runs them."""

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.vpu.core_image import take_turns
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import TARGET, assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from microcode.assembler import Builder
from microcode.disassembler import disassemble
from pixelflow.cli.main import main
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes.words import ByteMemory

PROGRAMS = Path(str(resources.files("larrabee_bridge"))) / "programs"
RAY = resources.files("larrabee_bridge").joinpath("programs", "ray.mc")
BLOCKS = resources.files("larrabee_bridge").joinpath("programs", "blocks.mc")


@pytest.mark.parametrize("path", sorted(PROGRAMS.rglob("*.mc")), ids=lambda path: path.stem)
def test_a_program_read_back_gives_the_same_words(path: Path) -> None:
    program = assemble_vector(path)
    assert assemble_vector(disassemble(program)).words == program.words


def test_no_instruction_has_a_gated_form() -> None:
    with pytest.raises(InputError, match=r"unknown suffix \.E"):
        assemble_vector("halt.E\n")
    with pytest.raises(AttributeError, match="no form E"):
        _ = Builder("gated", TARGET).halt.E


def test_a_register_where_a_number_is_needed_is_named_with_its_mask() -> None:
    with pytest.raises(InputError, match=r"an integer is needed here, not a register with \{k1\}"):
        assemble_vector("repeat i in 0 .. v1{k1}\nend\n")


@pytest.mark.parametrize("seed", range(12))
def test_blocks_finds_what_pixels_say(seed: int) -> None:
    """No block with a pixel inside all edges is rejected by one edge alone; accepted blocks are those all inside."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-40, 41, (2, 3))
    c = -(a * rng.integers(10, 54) + b * rng.integers(10, 54)) + rng.integers(-300, 300, 3)
    values = {f"{name}{edge}": int(each[edge]) for name, each in (("A", a), ("B", b), ("C", c)) for edge in range(3)}
    unit = VectorUnit(assemble_vector(BLOCKS.read_text(), **values))
    unit.run()
    y, x = np.mgrid[:64, :64]
    inside = a[:, None, None] * x + b[:, None, None] * y + c[:, None, None] < 0
    blocks = inside.reshape(3, 4, 16, 4, 16).transpose(0, 1, 3, 2, 4).reshape(3, 16, 256)
    touched = [block for block in range(16) if blocks[:, block].any(axis=1).all()]
    filled = [block for block in range(16) if blocks[:, block].all()]
    partial = [block for block in touched if block not in filled]
    assert unit.scalar(2)[0] == sum(1 << block for block in touched)
    assert unit.scalar(3)[0] == sum(1 << block for block in filled)
    assert unit.scalar(4)[0] == len(partial)
    start = next(each.start for each in unit.program.ranges if each.name == "partial")
    assert unit.memory.data[0].view(np.uint32)[start // 4 :][: len(partial)].tolist() == partial


def test_rays_hit_what_float64_says() -> None:
    """Möller and Trumbore with the division, for 200 triangles; rays within rounding of an edge are left out."""
    threads = 200
    rng = np.random.default_rng(9)
    origin, toward = (rng.normal(size=(threads, 3, 16)).astype(np.float32) for _ in range(2))
    corner, e1, e2 = (rng.normal(size=(threads, 3, 1)).astype(np.float32) for _ in range(3))
    target = corner + e1 / 3 + e2 / 3
    direction = (target - origin + 0.3 * toward).astype(np.float32)
    program = assemble_vector(RAY.read_text(), TRIANGLES=2)
    start = {each.name: each.start // 4 for each in program.ranges}
    unit = VectorUnit(program, threads, ByteMemory(1024, threads))
    memory = unit.memory.data.view(np.float32)
    memory[:, start["rays"] :][:, :96] = np.concatenate([origin, direction], axis=1).reshape(threads, 96)
    memory[:, start["corners"] :][:, :9] = np.concatenate([corner, e1, e2], axis=1).reshape(threads, 9)
    unit.run()

    o, d, p0, a, b = (each.astype(np.float64) for each in (origin, direction, corner, e1, e2))
    a, b, p0 = (np.broadcast_to(each, o.shape) for each in (a, b, p0))
    p, r = np.cross(d, b, axis=1), o - p0
    det, q = (a * p).sum(axis=1), np.cross(r, a, axis=1)
    u, v, s = (r * p).sum(axis=1) / det, (d * q).sum(axis=1) / det, (b * q).sum(axis=1) / det
    distances = np.stack([det, u, v, 1 - u - v, s])
    hit = (distances > 0).all(axis=0)
    clear = (np.abs(distances) > 1e-4).all(axis=0)
    found = (unit.scalar(1)[:, None] >> np.arange(16) & 1).astype(bool)
    assert (found == hit)[clear].all()
    assert 0.1 < hit[clear].mean() < 0.9
    near, scale, along, across = memory[:, start["best"] :][:, :64].reshape(threads, 4, 16).transpose(1, 0, 2)
    both = found & clear
    for fraction, exact in ((near, s), (along, u), (across, v)):
        np.testing.assert_allclose((fraction / scale)[both], exact[both], rtol=2e-3)


def test_sixteen_rays_and_a_triangle_in_few_cycles() -> None:
    """A turn of the loop costs 41 vector operations, and 42 cycles where four threads take turns (paper, 6.4: 47)."""
    cycles, operations = {}, {}
    for turns in (1, 11):
        program = assemble_vector(RAY.read_text(), TRIANGLES=turns)
        unit, core = VectorUnit(program, 4), Core(program, 4)
        notes: list[RunNote] = []
        unit.run(notes.append, lines=True)
        core(RunNote.joined(notes))
        cycles[turns] = np.array([core.cycles[0], take_turns(program, RunNote.joined(notes)).cycles])
        operations[turns] = sum(int(counts[0]) for family, counts in core.counts.items() if family.vector)
    assert (operations[11] - operations[1]) / 10 == 41
    assert ((cycles[11] - cycles[1]) / 10).tolist() == [58, 4 * 42]


def larrabee(capsys: pytest.CaptureFixture, *words: str) -> dict:
    assert main([*words, "--machine", "larrabee", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_run_prints_registers_memory_and_cycles(tmp_path, capsys) -> None:
    source = tmp_path / "sum.mc"
    source.write_text(
        "param N = 2\nrange x[64]\ndata x: float 1.0, 2.0, 3.0, 4.0\n"
        "vloadps v1, [x]{4to16}\nvaddps v1, v1, v1{badc}\nadd r0, N\nvstored [x], v1\n"
    )
    words = ("--threads", "3", "--show", "v1,r0", "--range", "x", "--range", "0:8", "-P", "N=5")
    report = larrabee(capsys, "run", str(source), *words, "-D", "vector_latency=7")
    four = np.array([4, 6, 4, 6], np.float32).view(np.uint32).tolist()
    assert report["registers"] == {"v1": four * 4, "r0": [5]}
    assert report["memory"] == {"x": four * 4, "0:8": four[:2]}
    assert report["cycles"] == [15] * 3  # 0, 7 with add beside, 14 with halt beside
    assert report["paired"] == [2] * 3
    assert report["config"]["vector_latency"] == 7
    assert "vector_latency" in report["invented"]


def test_threads_on_a_core_finish_earlier_than_one_after_another(capsys) -> None:
    report = larrabee(capsys, "run", "blocks.mc", "--threads", "6", "--per-core", "4")
    first, second = report["cores"]
    alone = report["cycles"][0]
    assert alone < second["cycles"] < 2 * alone
    assert second["cycles"] < first["cycles"] < 4 * alone
    assert larrabee(capsys, "run", "blocks.mc")["cores"] is None


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["run", "nowhere.mc"], 3, "no such file"),
        (["run", "blocks.mc", "-D", "vector_latency=0"], 3, "out of range"),
        (["run", "blocks.mc", "-D", "latency=1"], 3, "unknown key latency"),
        (["run", "blocks.mc", "-D", "dual_issue=maybe"], 3, "expected true or false"),
        (["run", "blocks.mc", "--show", "v32"], 2, "there is no register v32"),
        (["run", "blocks.mc", "--range", "partiel"], 2, "is not a range of the program"),
        (["run", "blocks.mc", "--range", "65532:8"], 2, "inside the memory"),
        (["run", "blocks.mc", "--range", "0:4100"], 2, "4096 bytes at most"),
        (["run", "blocks.mc", "-D", "caches=true"], 3, "caches belong to cores that threads share"),
        (["isa", "vaddp"], 3, "unknown instruction vaddp"),
    ],
)
def test_what_is_wrong_is_said(capsys, words: list[str], code: int, message: str) -> None:
    assert main([*words, "--machine", "larrabee"]) == code
    assert message in capsys.readouterr().err


def test_the_manual_shows_every_instruction(capsys) -> None:
    entries = larrabee(capsys, "isa")["instructions"]
    assert len(entries) > 60
    assert all(each["manual"] and each["source"] for each in entries)


@pytest.mark.parametrize(("form", "shown"), [("hex", "3fc00000"), ("float", "1.5"), ("int", "1069547520")])
def test_words_are_shown_as_asked(form: str, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    source = tmp_path / "one.mc"
    source.write_text("range x[64]\ndata x: float 1.5\n    vloadps v1, [x]{1to16}\n")
    assert main(["run", "--machine", "larrabee", str(source), "--show", "v1", "--as", form]) == 0
    assert shown in capsys.readouterr().out.lower()


def test_doubles_are_two_words_each(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """1.5 times itself, in all eight lanes; the number of threads, which is one word, is none."""
    source = tmp_path / "wide.mc"
    source.write_text(
        "range x[64]\ndata x: word 0, 0x3FF80000\n vloadq v1, [x]{1to8}\n vmulpd v1, v1, v1\n mov r1, 7\n"
    )
    assert main(["run", "--machine", "larrabee", str(source), "--show", "v1,r1", "--as", "double"]) == 0
    shown = capsys.readouterr().out
    assert f"v1: {' '.join(['2.25'] * 8)}" in shown and "r1: 7" in shown
