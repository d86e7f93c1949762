"""Does `import pixelflow` offer a first session, load nothing by itself, and say what is wrong with an argument?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import pixelflow as pf
from microcode import Builder
from pixelflow.isa import Imm, Mem, Program
from pixelflow.node import Node
from pixelflow.simd.errors import InputError
from tessellation import Patch, encode, load, tessellate

SOURCE = """\
range small[1]
range wide[3]
range ramp[4]: float
range pair[8]: float
range text[9]
range raw[2]: bytes
EMC_TreeIntoMem_Li small, 1, 1, 0, 0
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return pf.assemble(SOURCE)


@pytest.fixture
def node(program: Program) -> Node:
    node = Node(pf.TINY, "rows")
    node.run(program)
    return node


def _fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_import_loads_no_room() -> None:
    code = (
        "import sys; before = set(sys.modules); import pixelflow; import json; "
        "print(json.dumps([name for name in sys.modules if name not in before and name != 'json']))"
    )
    loaded = json.loads(_fresh(code))
    assert [name for name in loaded if name.partition(".")[0] in ("pixelflow", "microcode", "tessellation")] == [
        "pixelflow"
    ]
    assert "numpy" not in loaded and "rich" not in loaded


def test_all_names_are_those_of_their_rooms() -> None:
    import microcode
    import pixelflow.node
    import tessellation

    assert pf.Node is pixelflow.node.Node and pf.assemble is microcode.assemble
    assert pf.tessellate is tessellation.tessellate and pf.load is tessellation.load
    assert all(getattr(pf, name) is not None for name in pf.__all__) and set(pf.__all__) <= set(dir(pf))
    with pytest.raises(AttributeError, match="no attribute 'Nonesuch'"):
        _ = pf.Nonesuch


def test_a_star_import_brings_all_of_them() -> None:
    _fresh("import pixelflow as face\nfrom pixelflow import *\nassert set(face.__all__) <= set(globals())")


def test_an_example_is_assembled_by_its_name(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert pf.assemble("triangle.mc").range("colour").size == 1
    (tmp_path / "triangle.mc").write_text("LD R, #1\n")
    assert pf.assemble("triangle.mc").ranges == ()


@pytest.mark.parametrize(
    ("name", "kind", "shape"),
    [
        ("small", "uint8", (256,)), ("wide", "uint32", (256,)), ("ramp", "float32", (256,)),
        ("pair", "float32", (2, 256)),
        ("text", "uint8", (9, 256)), ("raw", "uint8", (2, 256)), ("raw:word", "uint16", (256,)),
        ("pair:word", "uint64", (256,)), ("ramp:bytes", "uint8", (4, 256)), ("text:bytes", "uint8", (9, 256)),
    ],
)  # fmt: skip
def test_a_range_has_the_type_that_it_says(node: Node, name: str, kind: str, shape: tuple[int, ...]) -> None:
    assert (node[name].dtype, node[name].shape) == (np.dtype(kind), shape)
    written = np.arange(np.prod(shape)).reshape(shape) % 251
    node[name] = written
    assert np.array_equal(node[name], written)


def test_bytes_lie_low_first(node: Node) -> None:
    node["wide"] = 0x030201
    assert node["wide:bytes"][:, 7].tolist() == [1, 2, 3] == node.read_memory(1, 3)[:, 7].tolist()
    node["wide"] = -2
    assert (node["wide"] == 0xFFFFFE).all()
    node["pair"] = [[1.0], [2.0]]
    assert node["pair:bytes"][:, 0].tolist() == [0, 0, 0x80, 0x3F, 0, 0, 0, 0x40]


def test_what_is_read_is_a_copy(node: Node) -> None:
    with pytest.raises(ValueError, match="read-only"):
        node["small"][0] = 9
    with pytest.raises(ValueError, match="read-only"):
        node["text"][0] = 9
    assert np.array_equal(node["small"], node.coordinates()[0])


def test_a_map_is_a_picture_of_the_plane(node: Node) -> None:
    shown = node.map("small")
    x, y = node.coordinates()
    assert np.array_equal(shown.plane[y, x], node["small"]) and repr(shown).startswith("PeMap('small', 16 ")
    image = shown.picture()
    assert (image.width, image.height) == (16, 16) and image.data[:16] == bytes(17 * column for column in range(16))
    node["ramp"] = np.where(x < 8, np.nan, x)
    assert "8 to 15" in repr(node.map("ramp"))
    flags = node.map("enable").report().parts
    assert "⣿" * 8 in str(flags[-1])


def test_a_map_is_the_same_image_in_png(node: Node) -> None:
    image_file = pytest.importorskip("PIL.Image", reason="the extra `image` writes pictures")
    import base64
    import io

    page = node.map("small")._repr_html_()
    data = base64.b64decode(page.partition("base64,")[2].partition('"')[0])
    read = np.asarray(image_file.open(io.BytesIO(data)))
    assert np.array_equal(read, node.map("small").plane * 17) and len(page) < 3_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda node: node["smal"], "did you mean small"),
        (lambda node: node[5], "called by its name, not by int"),
        (lambda node: node["text:word"], "a word has 1 to 8 bytes"),
        (lambda node: node["wide:float"], "4 bytes each"),
        (lambda node: node["small:words"], "allowed: bytes, word, float"),
        (lambda node: node.__setitem__("small", 256), "whole numbers from -128 to 255"),
        (lambda node: node.__setitem__("small", 1.5), "whole numbers"),
        (lambda node: node.__setitem__("small", "x"), "expected numbers"),
        (lambda node: node.__setitem__("small", [1, 2, 3]), r"takes \[256\] values, or one for all PEs; found \[3\]"),
        (lambda node: node.map("small[1]"), r"small\[0\] to small\[0\]"),
        (lambda node: Node(pf.TINY, "rows")["small"], "no program has run"),
        (lambda node: node.run("LD R, #1"), "expected a Program, found str"),
        (lambda node: node.run(None), "expected a Program, found NoneType None"),
        (lambda node: node.load(None), "expected a Program"),
        (lambda node: next(node.steps(None)), "expected a Program"),
        (lambda node: node.run(node.program, max_cycles="9"), "a whole number, found str '9'"),
        (lambda node: node.register("Q"), "register 'Q'"),
        (lambda node: node.set_register("R", [1, 2]), r"uint8\[256\]"),
        (lambda node: node.write_float(0, [1.0, 2.0]), r"float32\[256\]"),
        (lambda node: node.read_word(0, 9), "1 to 8 bytes, not 9"),
        (lambda node: Mem(8.0), "expected a whole number as the address of a byte, found float 8.0"),
        (lambda node: Imm("a"), "expected a whole number as an immediate"),
        (lambda node: Node("rows"), "there is no preset 'rows'"),
        (lambda node: Node("tihny"), "did you mean tiny"),
        (lambda node: Node(engine="fast"), "no engine 'fast'"),
        (lambda node: pf.assemble(None), "expected the text of a program"),
        (lambda node: Builder("x").range("a", 1.5), "expected a number of bytes for range a"),
        (lambda node: load(None), "expected the name of a model"),
        (lambda node: tessellate("teapot"), "a list of Patch, not str"),
        (lambda node: tessellate([1]), "patch 1 is not a Patch but int"),
        (lambda node: tessellate(load("enneper").patches, 2.5), "a number of samples"),
        (lambda node: tessellate(load("enneper"), config=3), "expected a NodeConfig"),
        (lambda node: Patch("x"), "array of numbers"),
        (lambda node: pf.sweep("walk", "x", {"samples": 1}), "allowed: run, tessellate"),
        (lambda node: pf.sweep("run", "triangle", {"sdram.trdc_cycles": 1}), "did you mean sdram.trcd_cycles"),
        (lambda node: pf.sweep("run", "triangle", {}), "a sweep needs axes"),
        (lambda node: pf.sweep("run", "triangle", {"param.NOSUCH": (1, 2)}), "all points failed, 2 of them: .*NOSUCH"),
        (lambda node: pf.sweep("run", "nosuch.mc", {"param.A": (1, 2)}), "all points failed, 2 of them: nosuch.mc"),
        (lambda node: pf.sweep("run", node.program, {"gni.gp_count": 1}), "name of a program's file, found Program"),
        (lambda node: pf.sweep("tessellate", load("enneper").patches, {"samples": 2}), "a model's file, found tuple"),
        (lambda node: pf.sweep("run", "triangle", {"gni.gp_count": 1}, options="--preset tiny"), r"'--preset', 'tiny'"),
        (lambda node: pf.sweep("run", "triangle", {"gni.gp_count": [None]}), "takes numbers, words or True and False"),
        (lambda node: pf.sweep("run", "triangle", {"gni.gp_count": []}), "found none"),
        (lambda node: node.write_word(0, 4, 1 << 40), "whole numbers from 0 to 4294967295, found 1099511627776"),
        (lambda node: node.write_word(0, 1, 1.7), "whole numbers from 0 to 255, found 1.7"),
        (lambda node: node.write_word(0, 8, -1), "whole numbers from 0 to 18446744073709551615, found -1"),
        (lambda node: node.write_word(0, 1, np.arange(256) + 1), "whole numbers from 0 to 255"),
        (lambda node: node.write_word(0, 8, 1 << 64), "whole numbers from 0"),
        (lambda node: node.write_float(0, 1e300), "1e[+]300 is past the largest float of 4 bytes"),
        (lambda node: node.set_register("R", 256), "whole numbers from 0 to 255, found 256"),
        (lambda node: node["R"], r"node.register\('R'\) reads a register"),
        (lambda node: node["E"], r"node.flag\('E'\) reads a flag"),
        (lambda node: node["wide[0]"], r'node\["wide:bytes"\] has the bytes'),
        (lambda node: node.map("ramp:float"), "a map takes the form that the program declares"),
        (lambda node: node.run(node.program, max_cycles=-1), "0 or more, found -1"),
        (
            lambda node: tessellate(load("enneper").patches, True),
            "a number of samples, or one for each patch, found bool",
        ),
        (lambda node: tessellate(load("enneper").patches, "16"), "one for each patch, found str '16'"),
        (lambda node: pf.assemble("x.mc", {"LIMIT": "4"}), "LIMIT=4"),
        (lambda node: pf.assemble("mandelbrot.mc", LIMIT="4"), "expected a number for param LIMIT, found str '4'"),
    ],
)
def test_wrong_arguments_raise_the_projects_error(node: Node, call: Callable[[Node], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(node)


def test_a_sweep_from_python_is_the_commands_table() -> None:
    found = pf.sweep("run", "vector_add", {"extra.other_result": (0, 4)}, options=("--timing-only", "--preset", "tiny"))
    assert not found.failed
    cells = found.table().to_dict()
    assert cells["extra.other_result"] == [0, 4] and cells["run.cycles"][0] == 13 <= cells["run.cycles"][1]
    names = list(cells)
    assert names[0] == "extra.other_result" and names[-3:] == ["version", "program_sha256", "config_sha256"]
    assert {len(each) for name in names[-2:] for each in cells[name]} == {8}
    assert len(found._repr_html_()) < 2_000


def test_values_of_a_sweep_are_any_iterable_and_failures_are_counted() -> None:
    options = ("--timing-only", "--preset", "tiny")
    for values in (np.array([0, 4]), range(0, 5, 4), iter([0, np.int64(4)])):
        found = pf.sweep("run", "vector_add", {"extra.other_result": values}, options=options)
        assert found.table().to_dict()["extra.other_result"] == [0, 4]
    assert len(pf.sweep("run", "vector_add", {"extra.other_result": np.array(4)}, options=options)) == 1
    mixed = pf.sweep("run", "vector_add", {"max-cycles": (1, 100)}, options=options)
    assert "1 failed" in repr(mixed)


def test_presets_go_by_name_and_a_patch_file_is_tessellated() -> None:
    assert Node("tiny", "rows").config is pf.TINY
    found = pf.tessellate(pf.load("enneper"), 2, config="tiny")
    assert found.cycles == tessellate(load("enneper").patches, 2, config=pf.TINY).cycles > 0


def test_names_of_ranges_are_listed(node: Node) -> None:
    assert list(node) == ["small", "wide", "ramp", "pair", "text", "raw"]
    assert "small" in node and "smal" not in node and 5 not in node and not list(Node(pf.TINY, "rows"))


def test_words_and_floats_that_fit_are_written(node: Node) -> None:
    node.write_word(0, 4, 0xFFFFFFFF)
    assert (node.read_word(0, 4) == 0xFFFFFFFF).all()
    node.write_word(0, 8, (1 << 64) - 1)
    assert (node.read_word(0, 8) == np.uint64((1 << 64) - 1)).all()
    node.write_float(0, [np.inf] * node.lanes)
    assert np.isinf(node.read_float(0)).all()


def test_parameters_have_names() -> None:
    assert pf.assemble("mandelbrot.mc", LIMIT=4).sha256 != pf.assemble("mandelbrot.mc").sha256


def test_a_map_of_equal_values_says_them(node: Node) -> None:
    node["small"] = 7
    assert str(node.map("small")).startswith("small, 16 x 16 ")
    assert np.array_equal(node.map("E").plane, node.map("enable").plane)


def test_a_patch_becomes_a_mesh_file() -> None:
    flat = np.stack([*np.meshgrid(np.arange(4.0), np.arange(4.0)), np.zeros((4, 4))], axis=-1)
    mesh = tessellate([pf.Patch(flat)], 2, config=pf.TINY).mesh()
    lines = encode(mesh, "flat.obj").decode().splitlines()
    corners = {tuple(map(float, line.split()[1:])) for line in lines if line.startswith("v ")}
    assert corners == {(x, y, 0.0) for x in (0.0, 3.0) for y in (0.0, 3.0)}
    with pytest.raises(InputError, match="no mesh format has the ending"):
        encode(mesh, "flat")


def test_print_shows_characters_and_rows(node: Node) -> None:
    lines = str(node.map("small")).splitlines()
    assert lines[0].startswith("small, 16 x 16 ") and lines[-1][0] == " " and lines[-1][-1] == "@"
    table = str(node.run(pf.assemble("triangle.mc")).table("lines"))
    assert "cycles" in table and "triangle.mc" in table and len(table.splitlines()) > 5


def test_tables_are_data_frames_where_there_is_a_library(node: Node) -> None:
    run = node.run(pf.assemble("triangle.mc"))
    assert list(run.tables()) == ["streams", "families", "routines", "lines"]
    lines = run.table("lines").to_dict()
    assert sum(lines["cycles"]) == run.cycles == 15 and set(lines) == {"file", "line", "cycles", "source"}
    with pytest.raises(InputError, match="did you mean lines"):
        run.table("line")


def test_a_long_table_is_cut_where_people_look_alone() -> None:
    found = tessellate(load("enneper").patches, 2, config=pf.TINY)
    table = found.runs[0].table("lines")
    rows = len(table.to_dict()["line"])
    assert rows > 100 and f" {rows - 60:,} " in table._repr_html_() and len(table._repr_html_()) < 20_000


def test_results_are_short_and_have_pictures() -> None:
    pytest.importorskip("PIL", reason="the extra `image` writes pictures")
    file = load("teapot")
    found = tessellate(file.patches, 16)
    for each in (file, found, found.mesh(), found.mesh(weld=True)):
        page = each._repr_html_()
        assert len(repr(each)) < 100 and "data:image/png" in page and len(page) < 20_000


def test_pandas_and_polars_hold_the_same(node: Node) -> None:
    pytest.importorskip("pandas", reason="the extra `frames`")
    pytest.importorskip("polars", reason="the extra `frames`")
    table = node.run(pf.assemble("triangle.mc")).table("lines")
    assert table.to_pandas().to_dict("list") == table.to_dict() == table.to_polars().to_dict(as_series=False)
    assert table.to_pandas()["cycles"].sum() == 15
