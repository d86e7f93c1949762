"""Are unwritten bytes, colliding writes, overlapping operands and dead code told, before a run and during it?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from microcode import assemble, check
from pixelflow.cli.main import main
from pixelflow.config import TINY
from pixelflow.debugger.memory_check import MemoryCheck
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.simd.lanes import AUTO
from tessellation import tessellate
from tessellation.surface.bpt import load

RING = """\
overlay out[32] at 352
range x[2]
EMC_TreeIntoMem_Li x, 2, 1, 0, 0
EMC_TreeIntoMem_Li out, 4, 0, 0, 0
LD R, x
ST out[4], R
EMC_MarkWrite
SIGNAL 0
WAIT 1
stream tigc
WAIT 0
TAS_MemWrBase4 1
SIGNAL 1
"""
"""A ring shift with equal bases: of every two PEs of an EMC one gives the base 0, and the next one x in its second
word. All EMCs write to address 0 of each SDRAM at once."""

GENERATED = RING.replace("TAS_MemWrBase4 1", "TAS_MemWrBlock4 2")

UNWRITTEN = """\
range a[2]
range k[1]
EMC_TreeLTZero_Li 0, 2, 1, 0, -8
STI k, #1
EMC_SetEnab
LD R, k
ADD R, a[1]
CMP R, #7
EC
EMC_MarkRead
"""


def found_by(program: Program, engine: str = "rows") -> list[str]:
    node = Node(engine=engine)
    watch = MemoryCheck(node)
    node.load(program)
    node.run(program)
    return [str(each) for each in watch.findings]


# --- during a run ----------------------------------------------------------------------------------------------------


def test_writes_of_a_round_that_collide_name_both_writers() -> None:
    """x of PE 0.0.0.1 is 0, of 0.1.0.1 16: word 1 of the port, which goes to SDRAM 1, differs; word 0 is the same."""
    found = found_by(assemble(RING))
    assert len(found) == 4  # modules, each told once
    assert found[0].startswith("<text>:12: cycle ")
    assert "PE 0.0.0.1" in found[0] and "PE 0.1.0.1" in found[0]
    assert "module 0," in found[0]
    # 8 EMCs collide in 7 pairs a round; an EMC has 256 marked PEs, so 128 rounds.
    assert f"({7 * 128 - 1} more collisions" in found[0]


def test_a_collision_is_in_the_module_that_is_written() -> None:
    """All addresses are 0, and the word for SDRAM 0 is x: PE 0 of module 0 writes to module 1."""
    text = RING.replace("out[4], R", "out[16], R").replace("TAS_MemWrBase4 1", "TAS_MemWrOver4 1, 0")
    found = [each for each in found_by(assemble(text)) if "different data" in each]
    assert len(found) == 4
    assert "PE 0.0.0.0" in found[0] and "address 0x0 of module 1, SDRAM 0" in found[0]


def test_what_all_write_alike_loses_nothing() -> None:
    assert found_by(assemble(RING.replace("LD R, x", "LD R, x[1]"))) == []  # 0 everywhere


def test_one_emc_a_module_collides_with_nobody() -> None:
    assert found_by(assemble(RING.replace("EMC_MarkWrite", "EMC_TreeLTZero_Li 0, 2, 1, 0, -16\nEMC_MarkWrite"))) == []


def test_a_mark_that_depends_on_a_byte_nobody_wrote_is_told() -> None:
    (found,) = found_by(assemble(UNWRITTEN))
    assert found.startswith("<text>:10: cycle ")
    # k goes to 512 PEs alone, so that all of R depends on k or on a; a is the byte that nobody wrote anywhere.
    assert "8,192 PEs" in found and "byte 1 (a)" in found
    assert "<text>:7" in found


def test_only_pes_that_lack_the_byte_are_told() -> None:
    (found,) = found_by(assemble(UNWRITTEN.replace("ADD R, a[1]", "ADD R, #1")))
    assert f"of {8192 - 512:,} PEs" in found and "byte 2 (k)" in found and "<text>:6 reads" in found


@pytest.mark.parametrize(
    "mend",
    [
        ("range k[1]", "range k[1]\ndata a: 0, 0\ndata k: 0"),  # initial contents
        ("EMC_MarkRead", "EMC_SetEnab"),  # nothing comes of it
        ("LD R, k\nADD R, a[1]", "LD R, k\nADD R, a[1]\nLD R, #0"),  # written over
    ],
)
def test_what_does_not_matter_is_not_told(mend: tuple[str, str]) -> None:
    assert found_by(assemble(UNWRITTEN.replace(*mend))) == []


def test_an_address_from_a_byte_nobody_wrote_is_told() -> None:
    (found,) = found_by(assemble(RING.replace("EMC_TreeIntoMem_Li out, 4,", "EMC_TreeIntoMem_Li out, 2,")))[:1]
    assert "byte 354 (out)" in found


def test_a_byte_that_comes_from_another_pe_is_followed() -> None:
    """PixCopy by 1: the lower PE of each two sends to the upper one; where x < 8 the sender has the byte."""
    source = "range k[1]\nrange got[1]\nEMC_TreeLTZero_Li 0, 2, 1, 0, -8\nSTI k, #1\nEMC_SetEnab\n"
    source += "STI got, #0\nEMC_PixCopy got, k, 1, 1\nLD R, got\nCMP R, #1\nEC\nEMC_MarkRead\n"
    (found,) = found_by(assemble(source))
    assert f"of {(8192 - 512) // 2:,} PEs" in found and "byte 0 (k)" in found


def test_memory_from_outside_counts_as_written(tmp_path: Path) -> None:
    program, node = assemble(UNWRITTEN), Node()
    watch = MemoryCheck(node)
    node.load(program)
    node.write_memory(0, node.memory[:3])
    node.run(program)
    assert watch.findings == []


@pytest.mark.parametrize("engine", ["bit-serial", "rows", "compiled", "macro", AUTO])
@pytest.mark.parametrize("source", [RING, UNWRITTEN, 'include "float32/tuned.mc"\nrange a[4]\nCALL fadd, a, a, a\n'])
def test_the_checker_changes_neither_bits_nor_cycles(engine: str, source: str) -> None:
    if engine in ("compiled", "macro"):
        pytest.importorskip("llvmlite", reason="needs llvmlite: pip install 'pixelflow-sim[fast]'")
    program = assemble(source)
    plain, watched = Node(engine=engine), Node(engine=engine)
    watch = MemoryCheck(watched)
    before, after = plain.run(program), watched.run(program)
    assert before.total_cycles == after.total_cycles
    assert plain.texture_memory[0].digest() == watched.texture_memory[0].digest()
    if engine != "macro":  # whose kernels leave scratch memory alone
        assert plain.digest() == watched.digest()
    assert [str(each) for each in watch.findings] == found_by(program)


def test_the_checker_costs_nothing_when_off() -> None:
    """Nobody subscribes, so that a run skips straight code as before."""
    node = Node(TINY)
    assert not node.bus.watched
    MemoryCheck(node)
    assert node.bus.watched


@pytest.mark.parametrize("name", ["triangle", "texture_copy", "vector_add", "panel_sum"])
def test_examples_have_no_finding(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", name, "--check-memory", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory_check"] == {"findings": [], "left_out": 0}


@pytest.mark.slow
def test_a_tessellation_has_no_finding() -> None:
    watched: list[MemoryCheck] = []
    patches = load("enneper").patches[:1]
    tessellate(patches, 2, config=TINY, engine=AUTO, watch=lambda node: watched.append(MemoryCheck(node)))
    assert watched and [each.findings for each in watched] == [[] for _ in watched]


CALLS = {
    "float32/tuned.mc": ("fadd", "fsub", "fmul", "fdiv", "fadd_finite", "fmul_finite", "fdiv_finite"),
    "float32/plain.mc": ("fadd", "fsub", "fmul", "fdiv"),
    "integer/arithmetic.mc": ("iadd32", "isub32", "imullo32"),
}


@pytest.mark.parametrize(("file", "routine"), [(file, name) for file, names in CALLS.items() for name in names])
def test_results_of_the_library_depend_on_operands_alone(file: str, routine: str) -> None:
    """Scratch is undefined when a routine is called: no result may depend on what lies there."""
    ranges = "range a[4]\nrange b[4]\nrange d[4]\ndata a: lane 4\ndata b: float 3\n"
    source = f'include "{file}"\n{ranges}CALL {routine}, d, a, b\n'
    program, node = assemble(source), Node(TINY)
    watch = MemoryCheck(node)
    node.load(program)
    cycle = node.run(program).total_cycles
    watch.shown("d", range(8, 12), cycle)
    assert [str(each) for each in watch.findings] == []


def test_what_is_shown_matters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.mc").write_text("range a[1]\nrange b[1]\nLD R, a\nADD R, #1\nST b, R\n")
    words = ["run", str(tmp_path / "p.mc"), "--check-memory", "-q"]
    assert main(words) == 0
    assert main([*words, "--range", "b", "--pe", "5"]) == 1
    found = capsys.readouterr()
    assert "0.0.0.5," in found.out and "(a)" in found.out
    assert "1 finding" in found.err


@pytest.mark.parametrize("option", ["--timing-only", "--function-only"])
def test_runs_that_have_no_events_of_memory_refuse_the_check(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "triangle", "--check-memory", option]) == 2
    assert "--check-memory" in capsys.readouterr().err


# --- before a run ----------------------------------------------------------------------------------------------------

FLOATS = 'include "float32/tuned.mc"\nrange a[8]\nrange b[4]\nrange d[8]\noverlay half[4] at a + 2\n'
INTEGERS = FLOATS.replace("float32/tuned.mc", "integer/arithmetic.mc")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (FLOATS + "CALL fadd, half, a, b", "what fadd takes as d overlaps a by a part: bytes 2..5 and 0..3"),
        (FLOATS + "CALL fsqrt, half, a", "what fsqrt takes as d overlaps a by a part"),
        (INTEGERS + "CALL imul32, a, a, d", "what imul32 takes as d overlaps a: bytes 0..7 and 0..3"),
        (INTEGERS + "CALL idiv32, b, d, a, b", "what idiv32 takes as b overlaps q"),
        (
            "proc p(x, y) apart x\nLD R, x\nADD R, y[1]\nend\nrange a[2]\nCALL p, a[1], a",
            "what p takes as x overlaps y",
        ),
    ],
)
def test_operands_that_overlap_against_the_declaration_are_told(source: str, said: str) -> None:
    (found,) = check(assemble(source))
    assert said in str(found)


@pytest.mark.parametrize(
    "call",
    ["CALL fadd, a, a, b", "CALL fadd, d, a, half", "CALL fadd, a, a, a", "CALL fadd, d[4], d, a"],
)
def test_operands_that_may_overlap_are_not_told(call: str) -> None:
    assert check(assemble(FLOATS + call)) == []


def test_a_contract_names_parameters() -> None:
    with pytest.raises(Exception, match="c is not a parameter of p"):
        assemble("proc p(a) whole c\nLD R, a\nend")


def test_a_contract_outlives_the_object_file() -> None:
    program = assemble(FLOATS + "CALL fadd, d, a, b")
    (fadd,) = [each for each in program.routines if each.name == "fadd"]
    assert fadd.entire == ("d",)
    again = Program.from_json(program.to_json())
    assert again.routines == program.routines
    older = json.loads(program.to_json())
    for routine in older["routines"]:
        del routine["entire"], routine["apart"]
    assert Program.from_json(json.dumps(older)).sha256 == program.sha256


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("JMP on\nLD R, S\nskipped: LD R, M\non: HALT", ["<text>:2:1"]),  # a label that nobody jumps to is no way in
        ("LD R, S\nHALT\nproc p()\nLD R, S\nend", ["p is never called"]),
        ("again: LD R, S\nJMP again\nLD R, M", ["<text>:3:1"]),
        ("CALL p\nHALT\nproc p()\nLD R, S\nend", []),
        ('include "float32/tuned.mc"\nrange a[4]\nCALL fadd, a, a, a', []),  # not all that is included is called
    ],
)
def test_code_that_no_way_leads_to_is_told(source: str, said: list[str]) -> None:
    found = [str(each) for each in check(assemble(source))]
    assert len(found) == len(said) and all(text in each for text, each in zip(said, found, strict=True))


@pytest.mark.parametrize(("source", "code"), [(GENERATED, 1), (RING, 0)])
def test_a_collision_that_no_data_can_avert_is_told_before_a_run(
    source: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The generator gives all EMCs one address; bases come from the PEs, so that only a run knows."""
    (tmp_path / "p.mc").write_text(source)
    assert main(["asm", str(tmp_path / "p.mc"), "--check"]) == code
    assert ("0x0" in capsys.readouterr().err) == bool(code)


def test_the_language_says_what_a_round_is() -> None:
    text = (Path(__file__).parents[2] / "microcode" / "LANGUAGE.md").read_text(encoding="utf-8")
    assert "**Rounds.**" in text and "--check-memory" in text
