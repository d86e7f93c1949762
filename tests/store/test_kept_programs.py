"""Assembled programs in the store: the same program as without it, and another one whenever a source has changed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.vpu import issue
from larrabee_bridge.vpu.native import native_runs
from larrabee_bridge.vpu.notes import BasicBlocks
from larrabee_bridge.vpu.program import assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from larrabee_bridge.vpu_run import execute
from microcode import assemble, assembler
from microcode.assembly import assemble_file
from microcode.places import EXAMPLES, LIBRARY
from pixelflow.config import TINY, NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.isa.program import PIXELFLOW, target_of
from pixelflow.simd.errors import InputError
from pixelflow.simd.store import MEANING, PROGRAM, store
from tessellation import load, tessellate
from tessellation.microprogram import passes
from tessellation.microprogram.method import Method
from tests.store.test_store import DAMAGES


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PIXELFLOW_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def assembled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the sources that were assembled, and not found."""
    done: list[str] = []
    real = assembler.assembled
    monkeypatch.setattr(
        assembler, "assembled", lambda source, *more: (done.append(source.file), real(source, *more))[1]
    )
    return done


def files() -> int:
    return sum(each.kind == PROGRAM for each in store().files())


def same(one: Program, other: Program) -> bool:
    return one == other and type(one) is type(other) and one.to_json() == other.to_json()


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.mc")))
def test_every_example_is_the_same_program(name: str, assembled: list[str]) -> None:
    first, again = assemble(f"{name}.mc"), assemble(f"{name}.mc")
    assert assembled == [f"examples/{name}.mc"] and same(first, again) and first is not again


def test_a_changed_source_is_assembled_again(folder: Path, assembled: list[str]) -> None:
    source = folder / "a.mc"
    for number in (1, 2, 1):
        source.write_text(f"LD R, #{number}\n")
        assert assemble(source) == assemble(source) and assemble(source).instructions[0].operands[-1].value == number
    assert len(assembled) == 2


def test_a_changed_include_is_assembled_again(folder: Path, assembled: list[str]) -> None:
    (folder / "a.mc").write_text('include "b.mc"\nLD R, #N\n')
    (folder / "b.mc").write_text('include "c.mc"\nconst N = Q + 1\n')
    for number in (1, 2, 2):
        (folder / "c.mc").write_text(f"const Q = {number}\n")
        assert assemble("a.mc").instructions[0].operands[-1].value == number + 1
    assert len(assembled) == 2


def test_an_include_that_another_file_now_comes_before_is_found_anew(folder: Path) -> None:
    """The library's file first; then one of that name in the program's folder."""
    (folder / "a.mc").write_text('include "integer/arithmetic.mc"\nLD R, #1\n')
    before = assemble("a.mc")
    shutil.copytree(LIBRARY / "integer", folder / "integer")
    with (folder / "integer" / "arithmetic.mc").open("a") as source:
        source.write("LD R, #77\n")
    assert assemble("a.mc") != before
    shutil.rmtree(folder / "integer")
    assert same(assemble("a.mc"), before)


def test_an_include_that_has_gone_is_a_fault(folder: Path) -> None:
    (folder / "a.mc").write_text('include "b.mc"\nLD R, #1\n')
    (folder / "b.mc").write_text("const N = 1\n")
    assemble("a.mc")
    (folder / "b.mc").unlink()
    with pytest.raises(InputError, match=r"b\.mc is not found"):
        assemble("a.mc")


def test_parameters_targets_and_names_are_apart(folder: Path, assembled: list[str]) -> None:
    (folder / "a.mc").write_text("param N = 1\nrange x[4]\nSTI x, #N\n")
    shutil.copy("a.mc", "b.mc")
    programs = [assemble("a.mc"), assemble("a.mc", N=2), assemble("a.mc", N=3), assemble(folder / "a.mc")]
    programs += [assemble("b.mc"), assemble("a.mc", target_of(100, 200))]
    assert len(assembled) == files() == 6
    assert [each.where(0) for each in programs[3:5]] == [f"{folder}/a.mc:3", "b.mc:3"]
    assert [same(each, again) for each, again in zip(programs, (
        assemble("a.mc"), assemble("a.mc", N=2), assemble("a.mc", N=3), assemble(folder / "a.mc"),
        assemble("b.mc"), assemble("a.mc", target_of(100, 200)),
    ), strict=True)] == [True] * 6  # fmt: skip
    assert len(assembled) == 6


def test_faults_are_never_kept(folder: Path) -> None:
    (folder / "a.mc").write_text("LD R, #1000\n")
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            assemble("a.mc")
        assert str(caught.value.faults[0].place).startswith("a.mc:1")
    assert not files()


def test_an_instruction_declared_elsewhere_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it means may be another thing in the next process."""
    declaration = PIXELFLOW.instructions["LD"]
    (folder / "a.mc").write_text("LD R, #1\n")
    monkeypatch.setattr(declaration.meaning, "__module__", "somebody.elses")
    assemble("a.mc")
    assert not files()


def test_a_text_is_kept_where_it_includes_files_and_with_those_of_the_working_folder(
    folder: Path, assembled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assemble("LD R, #1\n")
    assert not files()
    text, numbers = 'include "b.mc"\nLD R, #N\n', (3, 4, 4)
    for at, number in enumerate(numbers):
        place = folder / str(min(at, 1))
        place.mkdir(exist_ok=True)
        (place / "b.mc").write_text(f"const N = {number}\n")
        monkeypatch.chdir(place)
        assert assemble(text).instructions[0].operands[-1].value == number
    assert len(assembled) == 3 and files() == 1


@pytest.mark.parametrize("damage", ["cut off", "of others", "another object"])
def test_damage_leads_to_the_same_program(folder: Path, damage: str) -> None:
    before = assemble("mandelbrot.mc")
    (kept,) = store().path.glob("*.program")
    if damage == "cut off":
        kept.write_bytes(kept.read_bytes()[:1000])
    elif damage == "of others":
        os.chmod(kept, 0o666)
    else:
        kept.unlink()
        store().put(PROGRAM, kept.stem, b"not a pickle")
    assert same(assemble("mandelbrot.mc"), before)


def test_it_is_found_without_the_assembler(folder: Path) -> None:
    import subprocess
    import sys

    text = (
        "import sys; from microcode.assembly import assemble_file; from microcode.places import EXAMPLES\n"
        "from pixelflow.isa.program import PIXELFLOW\n"
        "print(assemble_file(EXAMPLES / 'mandelbrot.mc', 'mandelbrot', PIXELFLOW, {}).sha256,\n"
        "      'microcode.assembler' in sys.modules)"
    )
    found = [subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout for _ in range(2)]
    expected = assemble_file(EXAMPLES / "mandelbrot.mc", "mandelbrot", PIXELFLOW, {}).sha256
    assert [each.split() for each in found] == [[expected, "True"], [expected, "False"]]


def test_a_pass_of_a_tessellation_is_the_same_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pass of a session is kept, under all that it depends on; another net or machine is another one."""
    patches = load("teapot").patches[:3]

    def programs(which: int, config: NodeConfig, method: Method | None = None) -> list[Program]:
        found = tessellate(patches[:which], 4, config=config, method=method, engine="rows")
        return [run.program for run in found.runs]

    ways = ((2, TINY, None), (3, TINY, None), (2, load_config(None, ["sdram.trp_cycles=4"], "tiny"), None),
            (2, TINY, Method(control_points="lee")))  # fmt: skip
    first = [programs(*way) for way in ways]
    assert files() == len(ways)
    monkeypatch.setattr(passes, "_pass_builder", lambda *work: pytest.fail("made again"))
    again = [programs(*way) for way in ways]
    assert all(same(a, b) for some, others in zip(first, again, strict=True) for a, b in zip(some, others, strict=True))


@pytest.mark.parametrize("damage", [None, *DAMAGES])
def test_kept_meanings_are_those_recorded(damage: str | None) -> None:
    """Reads, writes, forms, addresses, basic blocks and frames of a program of the vector unit."""

    def recorded() -> tuple[object, ...]:
        program = assemble_vector("vmadd231ps v1{k1}, v2, [r3]\nagain: add r1, 70000\ncmp r1, r2\njl again\nhalt\n")
        runs = native_runs(program, VectorUnit(program, 1).lanes.shape)
        made, blocks = runs.program, BasicBlocks.of(program)
        parts = [(part.form, part.operands) for part in made.parts]
        found = (program.dependences, parts, made.fixed, made.accessing, made.addresses, made.begins, made.places)
        return *found, blocks.bounds.tolist(), blocks.touching, blocks.block_at, runs.frame(frozenset())

    first = recorded()
    files = [Path(each.path) for each in store().files() if each.kind == MEANING]
    assert len(files) == 5
    if damage is not None:
        for file in files:
            file.write_bytes(DAMAGES[damage](file.read_bytes()))
    assert recorded() == first


@pytest.mark.parametrize("damage", [None, *DAMAGES])
def test_kept_times_are_those_found(damage: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of a core's automaton: found by a process, kept at its end, and found again where they are whole."""
    program = assemble_vector("again: add r1, 1\nvaddps v1, v2, [r3]\nvmulps v3, v1, v1\ncmp r1, r2\njl again\nhalt\n")
    found: list[int] = []
    after = issue._Timing.after
    monkeypatch.setattr(issue._Timing, "after", lambda self, *some: (found.append(1), after(self, *some))[1])

    def cycles() -> tuple[list[int], int]:
        found.clear()
        monkeypatch.setattr(issue, "_KNOWN", {})
        core = execute(program, 3, scalars={2: np.array([1, 5, 9])}).core
        issue._keep()
        return core.cycles.tolist(), len(found)

    first, steps = cycles()
    assert steps and first[0] < first[1] < first[2]
    if damage is not None:
        for each in store().files():
            if each.kind == MEANING:
                Path(each.path).write_bytes(DAMAGES[damage](Path(each.path).read_bytes()))
    assert cycles() == (first, steps if damage else 0)
    assert cycles() == (first, 0)
