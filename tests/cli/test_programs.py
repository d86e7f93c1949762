"""`pixelflow asm`, `dis`, `isa`, `about` and `config`."""

import json
import re
import shlex
from pathlib import Path

import pytest

from pixelflow.config import THESIS
from pixelflow.isa import INSTRUCTIONS, Program
from pixelflow.simd.configuration import leaves
from pixelflow.simd.machine import machine_named
from pixelflow.simd.units import GUESSED, Standing
from tessellation import load
from tessellation.scenes import MESHES, SCENES, files_of, read_scene


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_asm_writes_an_object_file(pixelflow, folder: Path) -> None:
    result = pixelflow("asm", "prog.mc")
    assert (result.code, result.err) == (0, "")
    program = Program.load(folder / "prog.mco")
    assert program.sha256[:12] in result.out and result.out.startswith("wrote prog.mco\n")
    assert pixelflow("asm", "prog.mc", "-q", "-o", "-").out == (folder / "prog.mco").read_text()


def test_listing_and_symbols(pixelflow, folder: Path) -> None:
    listing = pixelflow("asm", "prog.mc", "--listing", "--width", "200").out
    assert "ADD R," in listing
    assert names(folder) == ["prog.mc"]
    assert pixelflow("asm", "prog.mc", "--listing", "prog.lst", "--symbols", "prog.sym", "-o", "out.mco").code == 0
    assert names(folder) == ["out.mco", "prog.lst", "prog.mc", "prog.sym"]
    assert (folder / "prog.lst").read_text() == listing
    program = Program.load(folder / "out.mco")
    routine = program.routine("double")
    symbols = json.loads((folder / "prog.sym").read_text())
    assert symbols["routines"]["double"]["entry"] == routine.entry
    assert symbols["routines"]["double"]["parameters"] == ["a"]
    assert symbols["ranges"]["y"]["start"] == program.range("y").start


def test_check(pixelflow, folder: Path) -> None:
    assert pixelflow("asm", "prog.mc", "--check").code == 0
    assert names(folder) == ["prog.mc"]
    (folder / "odd.mc").write_text("LD R, #1\nHALT\nLD R, #2\n")
    result = pixelflow("asm", "odd.mc", "--check")
    assert result.code == 1
    assert "odd.mc:3" in result.err and "warning" in result.err
    assert pixelflow("asm", "odd.mc").code == 0


def test_asm_json(pixelflow, folder: Path) -> None:
    found = json.loads(pixelflow("asm", "prog.mc", "--json").out)
    assert found["schema"] == "pixelflow.asm/1"
    assert [each["name"] for each in found["ranges"]] == ["x", "y"]
    assert names(folder) == ["prog.mc"]


BAD_SOURCES = {
    "unknown mnemonic": (b"LDD R, #1\n", "bad.mc:1:1: error: ", "did you mean LD?"),
    "misspelt instruction": (b"EMC_SetEnb\n", "bad.mc:1:1: error: ", "did you mean EMC_SetEnab?"),
    "operand count": (b"LD R\n", "bad.mc:1:", "error"),
    "operand kind": (b"ST #1, R\n", "bad.mc:1:", "error"),
    "operand range": (b"LD R, #256\n", "bad.mc:1:", "256"),
    "duplicate label": (b"a: LD R, #1\na: LD R, #2\n", "bad.mc:2:", "a"),
    "missing label": (b"JMP nowhere\n", "bad.mc:1:", "nowhere"),
    "unterminated loop": (b"loop 3\nLD R, #1\n", "bad.mc:1", "error"),
    "overlapping ranges": (b"range x[4] at 0\nrange y[4] at 2\nLD R, x\n", "bad.mc:2", "overlap"),
    "range outside the PE": (b"range x[4] at 382\nLD R, x\n", "bad.mc:1", "error"),
    "index outside its range": (b"range x[4]\nLD R, x[4]\n", "bad.mc:2:", "error"),
    "empty": (b"", "bad.mc", "empty"),
    "only comments": (b"; nothing\n", "bad.mc", "empty"),
    "binary": (bytes(range(256)), "bad.mc", "error"),
    "wrong encoding": ("LD R, #1 ; ü\n".encode("latin-1"), "bad.mc", "UTF-8"),
    "missing include": (b'include "none.mc"\n', "bad.mc:1:", "none.mc"),
}


@pytest.mark.parametrize("kind", BAD_SOURCES)
@pytest.mark.parametrize("command", [["asm", "bad.mc"], ["run", "bad.mc", "--output", "state.npz"]], ids=["asm", "run"])
def test_bad_sources(pixelflow, folder: Path, kind: str, command: list[str]) -> None:
    content, place, expected = BAD_SOURCES[kind]
    (folder / "bad.mc").write_bytes(content)
    result = pixelflow(*command)
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith(place)
    assert expected in result.err
    assert "Traceback" not in result.err
    assert names(folder) == ["bad.mc", "prog.mc"]


@pytest.mark.parametrize("content", [b"LD R, #1", b"LD R, #1\r\nLD R, #2\r\n", b"\xef\xbb\xbfLD R, #1\n"])
def test_line_ends_do_not_matter(pixelflow, folder: Path, content: bytes) -> None:
    (folder / "a.mc").write_bytes(content)
    assert pixelflow("asm", "a.mc").code == 0


def test_several_errors_in_one_run(pixelflow, folder: Path) -> None:
    (folder / "bad.mc").write_text("LDD R, #1\nLD R, #300\nJMP nowhere\n")
    result = pixelflow("asm", "bad.mc")
    assert result.err.count("error:") >= 3
    assert result.err.endswith("errors\n")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["prog.mc", "-o", "none/a.mco"], "the folder none does not exist"),
        (["prog.mc", "-o", "prog.mc"], "is a source file; it will not be overwritten"),
        (["prog.mc", "--listing", "other.mc"], "is a source file"),
        (["prog.mc", "-o", "."], "is a folder"),
        (["none.mc"], "none.mc: error: "),
        (["."], "error: "),
    ],
)
def test_asm_files_that_do_not_work(pixelflow, folder: Path, arguments: list[str], expected: str) -> None:
    before = (folder / "prog.mc").read_bytes()
    result = pixelflow("asm", *arguments)
    assert (result.code, result.out) == (3, "")
    assert expected in result.err
    assert names(folder) == ["prog.mc"]
    assert (folder / "prog.mc").read_bytes() == before


def test_a_listing_does_not_eat_the_program(pixelflow, folder: Path) -> None:
    result = pixelflow("asm", "--listing", "prog.mc")
    assert result.code == 2
    assert "PROG.mc" in result.err


def test_dis_round_trip(pixelflow, folder: Path, object_file: Path) -> None:
    text = pixelflow("dis", "prog.mco").out
    (folder / "again.mc").write_text(text)
    assert pixelflow("asm", "again.mc", "-q").code == 0
    assert Program.load(folder / "again.mco").words == Program.load(object_file).words
    assert pixelflow("dis", "prog.mco", "-o", "file.mc").code == 0
    assert (folder / "file.mc").read_text() == text
    found = json.loads(pixelflow("dis", "prog.mco", "--json").out)
    assert found["lines"] == text.splitlines()
    assert pixelflow("dis", "prog.mco", "-o", "prog.mco").code == 3


def test_a_damaged_object_file_is_refused(pixelflow, folder: Path, object_file: Path) -> None:
    text = object_file.read_text()
    at = text.index('"words":["') + 10
    flipped = text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1 :]
    object_file.write_text(flipped)
    result = pixelflow("dis", "prog.mco")
    assert (result.code, result.out) == (3, "")
    assert "prog.mco: error: " in result.err


# --- isa ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mnemonic", list(INSTRUCTIONS))
def test_every_instruction_has_a_page(pixelflow, mnemonic: str) -> None:
    declaration = INSTRUCTIONS[mnemonic]
    result = pixelflow("isa", mnemonic.lower())
    assert result.code == 0
    assert result.out.splitlines()[0] == declaration.synopsis
    assert f"cycles: {declaration.cost_text};" in result.out
    flat = " ".join(result.out.split())
    assert " ".join(declaration.manual.split()) in flat
    assert f"standing: {declaration.standing} ({' '.join(declaration.source.split())})" in flat


def test_the_table_and_the_manual_are_complete(pixelflow, folder: Path) -> None:
    table = " ".join(pixelflow("isa", "--width", 160).out.split())
    manual = pixelflow("isa", "--md").out
    for declaration in INSTRUCTIONS.values():
        assert declaration.synopsis in table
        assert f"### {declaration.mnemonic}\n" in manual
        assert declaration.manual in manual
    assert pixelflow("isa", "--md", "-o", "isa.md").out == ""
    assert (folder / "isa.md").read_text() == manual


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("EMC_TreeLTZro_Li", "did you mean EMC_TreeLTZero_Li?"),
        ("LDD", "did you mean LD?"),
        ("ST.E", "ST has no .E form"),
        ("[red]", "unknown instruction [red]"),
    ],
)
def test_unknown_instructions(pixelflow, word: str, expected: str) -> None:
    result = pixelflow("isa", word)
    assert (result.code, result.out) == (3, "")
    assert expected in result.err


def test_a_gated_form_finds_its_instruction(pixelflow) -> None:
    assert pixelflow("isa", "ld.e").out == pixelflow("isa", "LD").out


# --- about and config --------------------------------------------------------------------------------------------


def test_about_lists_every_guess(pixelflow) -> None:
    rules = json.loads(pixelflow("about", "--model", "--json").out)
    listed = " ".join(rule["rule"] for rule in rules["rules"])
    for declaration in INSTRUCTIONS.values():
        guessed = declaration.standing is not Standing.THESIS
        assert (declaration.mnemonic in listed.replace(",", " ").split()) == guessed
    assert {rule["standing"] for rule in rules["rules"]} == {"derived", "fitted", "invented"}
    text = " ".join(pixelflow("about", "--model").out.split())
    for heading in ("derived: computed", "invented: needed by the model", "not modelled"):
        assert heading in text


@pytest.mark.parametrize("machine", ["pixelflow", "larrabee", "gen6", "attila"])
def test_about_lists_every_assumption(pixelflow, machine: str) -> None:
    """Each value and instruction that is fitted or invented is in one entry, which has a source."""
    record = machine_named(machine)
    found = json.loads(pixelflow("about", "--assumptions", "--machine", machine, "--json").out)["assumptions"]
    values = {key for key, about, _, _ in leaves(record.configuration()) if about.standing in GUESSED}
    assert values == {each["assumption"].partition(" = ")[0] for each in found if " = " in each["assumption"]}
    costs = [each["assumption"].removeprefix("instructions ") for each in found if " = " not in each["assumption"]]
    guessed = [each.mnemonic for each in record.instructions.values() if each.standing in GUESSED]
    assert sorted(name for cost in costs for name in cost.split(", ")) == sorted(guessed)
    assert all(each["source"] and each["standing"] in GUESSED for each in found)


def test_instructions_by_names_and_by_word(pixelflow) -> None:
    several = json.loads(pixelflow("isa", "add", "LD.E", "--json").out)["instructions"]
    assert [each["mnemonic"] for each in several] == ["ADD", "LD"]
    found = json.loads(pixelflow("isa", "--find", "Carry", "--json").out)["instructions"]
    assert 1 < len(found) < len(INSTRUCTIONS)
    assert all("carry" in f"{each['synopsis']} {each['family']} {each['manual']}".lower() for each in found)
    assert pixelflow("isa", "--find", "nothing of the kind").code == 3
    assert pixelflow("isa", "ADD", "--find", "carry").code == 2


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["mandelbrot", "--machine", "larrabee"], "mandelbrot is an example of PixelFlow: pixelflow run mandelbrot"),
        (["mandelbrot", "--machine", "attila"], "mandelbrot is an example of PixelFlow: pixelflow run mandelbrot"),
        (["halve"], "halve is an example of Gen6: pixelflow run halve --machine gen6"),
        (["bloks", "--machine", "larrabee"], "did you mean the example blocks?"),
        (["nope", "--machine", "larrabee"], "examples by name: bezier, blocks, "),
        (["nope", "--machine", "gen6"], "examples by name: halve, mandelbrot"),
    ],
)
def test_a_name_on_another_machine_says_whose_it_is(pixelflow, words: list[str], hint: str) -> None:
    result = pixelflow("run", *words)
    assert result.code == 3 and hint in result.err


def test_every_example_of_every_machine_runs(pixelflow) -> None:
    """Programs that read what a host has put into memory end too, on zeros."""
    found = json.loads(pixelflow("examples", "--json").out)["others"]
    assert {each["machine"] for each in found} == {"attila", "gen6", "larrabee"}
    for each in found:
        if each["machine"] != "larrabee":
            assert pixelflow("run", each["name"], "--machine", each["machine"], "-q").code == 0, each
    shown = pixelflow("examples", "show", "halve", "--machine", "gen6").out
    assert "cmp.g.f0.0" in shown and pixelflow("examples", "show", "halve").code == 3


def test_config_show_names_origin(pixelflow, folder: Path) -> None:
    (folder / "machine.toml").write_text("[array]\nmodules = 2\n")
    result = pixelflow("config", "show", "--config", "machine.toml", "-D", "igc.call_depth=9", "--json")
    values = json.loads(result.out)["values"]
    assert values["array.modules"] == {
        "value": 2,
        "unit": "modules",
        "standing": "thesis",
        "source": "thesis 2.2.1",
        "allowed": "1 to 8",
        "set_by": "machine.toml:2",
        "read_by": "pixelflow/node/pe_array.py",
    }
    assert values["igc.call_depth"]["set_by"] == "-D"
    assert values["clock_mhz"]["set_by"] == "preset thesis"
    table = pixelflow("config", "show", "--config", "machine.toml").out
    assert "machine.toml:2" in table and "array.modules" in table


def test_config_check(pixelflow, folder: Path) -> None:
    (folder / "good.toml").write_text("[array]\nmodules = 2\n")
    (folder / "bad.toml").write_text("[array]\nmodule = 2\nemcs_per_module = 99\n")
    assert pixelflow("config", "check", "good.toml").out.startswith("good.toml: ")
    result = pixelflow("config", "check", "bad.toml")
    assert (result.code, result.out) == (3, "")
    assert "array.modules?" in result.err and result.err.endswith("2 errors\n")


def test_the_fingerprint_in_reports_is_the_configurations(pixelflow) -> None:
    assert f"· {THESIS.sha256[:6]}" in pixelflow("config", "show").out


def test_an_object_file_is_not_assembled_again(pixelflow, object_file: Path) -> None:
    result = pixelflow("asm", "prog.mco")
    assert (result.code, result.out) == (3, "")
    assert "prog.mco: error: " in result.err


def test_examples_are_found_by_name_in_any_folder(pixelflow, folder: Path) -> None:
    found = json.loads(pixelflow("run", "vector_add", "--timing-only", "--json", "--profile").out)
    assert {line["file"] for line in found["profile"]["lines"]} >= {"examples/vector_add.mc"}
    by_path = Path(__file__).parents[2] / "microcode/examples/vector_add.mc"
    assert json.loads(pixelflow("run", by_path, "--timing-only", "--json").out)["result"] == found["result"]
    assert pixelflow("asm", "vector_add.mc").code == 0 and (folder / "vector_add.mco").exists()
    (folder / "vector_add").write_text("LD R, #1\n")  # a file that is here comes first
    assert json.loads(pixelflow("run", "vector_add", "--timing-only", "--json").out)["result"]["cycles"] == 1


def test_scenes_are_copied_with_what_they_are_made_of(pixelflow, folder: Path) -> None:
    found = {each["name"] for each in json.loads(pixelflow("examples", "--json").out)["scenes"]}
    assert found == set(SCENES)
    for name, shipped in SCENES.items():
        assert pixelflow("examples", "copy", name).code == 0
        assert read_scene(f"{name}.toml").bodies == read_scene(shipped).bodies
        assert {file.read_bytes() for file in files_of(f"{name}.toml")} == {
            file.read_bytes() for file in (shipped, *files_of(name))
        }
        assert pixelflow("examples", "show", name, "-q").out == shipped.read_text()
    assert pixelflow("examples", "copy", "tray").code == 3, "it is here already"
    assert pixelflow("examples", "copy", "cutout", "--to", "second.toml").code == 0, "its texture is here already"
    Path("leaves.png").write_bytes(b"of the user")
    refused = pixelflow("examples", "copy", "cutout", "--to", "third.toml")
    assert refused.code == 3 and not Path("third.toml").exists() and Path("leaves.png").read_bytes() == b"of the user"
    assert pixelflow("examples", "copy", "teapot").code == 0 and load("teapot.bpt").patches
    assert "tray" in pixelflow("examples", "show", "trai").err


@pytest.mark.parametrize(
    "words",
    [
        *(("run", name) for name in ("own.toml", "layers", "enneper")),
        ("asm", "own.toml"), ("run", "--machine", "attila", "own.toml"),
        ("run", "--machine", "gen6", "own.toml"), ("run", "--machine", "larrabee", "own.toml"),
        ("render", "prog.mc", "-o", "x.png"), ("render", "life", "-o", "x.png"), ("compare", "prog.mc"),
        ("animate", "prog.mc", "-o", "x.png"), ("tessellate", "own.toml"), ("tessellate", "nut"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_scene_is_no_program_and_a_program_no_scene(pixelflow, folder: Path, words: tuple[str, ...]) -> None:
    """The message is short, and the command that it names does it."""
    (folder / "own.toml").write_text('size = [64, 48]\n[[body]]\nmesh = "nut"\n')
    result = pixelflow(*words)
    assert result.code == 3 and len(result.err.splitlines()) == 2
    command, *rest = shlex.split(re.search(r"pixelflow (.*)", result.err)[1])
    assert command == ("run" if words[0] in ("render", "compare", "animate") else "render")
    small = ["--size", "64x48"] if command == "render" else []
    assert pixelflow(command, *rest, *small, "-q").code == 0


def test_names_that_are_a_scene_there_and_a_mesh_here_are_the_machines_own(pixelflow) -> None:
    assert "floor" in MESHES and pixelflow("run", "--machine", "attila", "floor", "-q").code == 0


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mandlebrot", "did you mean the example mandelbrot?"),
        ("xyz.mc", "examples by name: automata, life, mandelbrot, "),
    ],
)
def test_a_program_that_is_not_there_names_the_examples(pixelflow, folder: Path, name: str, hint: str) -> None:
    result = pixelflow("run", name)
    assert result.code == 3 and result.err.startswith(f"{name}: error: ") and hint in result.err
