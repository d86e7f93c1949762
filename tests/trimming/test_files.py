"""Patch files with trims: what is read, what is refused and where, and who refuses trimmed patches."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.compare import mesh_on_larrabee
from pixelflow.cli.main import main
from pixelflow.simd.errors import InputError
from tessellation import BUILT_IN, Method, Patch, format_bpt, load, parse_bpt, tessellate
from tessellation.picture import View
from tessellation.rendering import project_samples
from tessellation.rendering.instruction_words import generate_words
from tessellation.surface.patch import MAX_COUNT, MIN_COUNT
from tessellation.surface.trim_curves import TOLERANCES, Trim, TrimCurve, TrimLoop, trim_polygon
from tests.trimming.shapes import SHAPES, polygon

_POINTS = [f"{i / 2} {j / 2} {i * j}" for i in range(3) for j in range(3)]
_SQUARE = ["trim 1", "loop 4", "curve 1 0 0 1 0", "curve 1 1 0 1 1", "curve 1 1 1 0 1", "curve 1 0 1 0 0"]


def test_the_description_of_the_form_gives_the_limits() -> None:
    """Degrees, the tolerance as a share, and an extent as a polygon of segments takes it."""
    said = " ".join((Path(__file__).parents[2] / "tessellation/data/README.md").read_text("utf-8").split())
    assert f"{MIN_COUNT - 1} to {MAX_COUNT - 1})" in said
    assert all(f"{each:g}" in said for each in TOLERANCES)
    net = np.zeros((3, 3, 3))
    net[..., 0], net[..., 1] = np.meshgrid([0, 1, 2], [0, 2.5, 5], indexing="ij")
    assert trim_polygon(net, SHAPES["circle"], 0.01).tolerance == 0.01 * 5


def text(*section: str) -> bytes:
    """Return a file of two patches, a section past the first one from line 12 on."""
    return "\n".join(["2", "2 2", *_POINTS, *section, "2 2", *_POINTS, ""]).encode()


def test_all_shapes_read_back(plane: Patch) -> None:
    patches = [Patch(plane.points, trim) for trim in SHAPES.values()]
    written = format_bpt([Patch(plane.points), *patches])
    read = parse_bpt(written.encode(), "shapes.bpt").patches
    assert [patch.trim for patch in read] == [None, *SHAPES.values()]
    assert format_bpt(read) == written


def test_a_section_belongs_to_the_patch_before(rosette: tuple[Patch, ...]) -> None:
    first, second = parse_bpt(text(*_SQUARE), "one.bpt").patches
    assert second.trim is None and first.trim == Trim((polygon((0, 0), (1, 0), (1, 1), (0, 1)),))
    assert [len(patch.trim.loops) for patch in rosette if patch.trim] == [2] * 4
    assert repr(first).startswith("Patch(3x3 points, ") and "rosette" in BUILT_IN


_FAULTS = [
    (["trim 1", "loop 4", *_SQUARE[2:5], "curve 1 0 1 0 0.5"], (17, None), "loop 1 of patch 1 is not closed"),
    (["trim 1", "loop 4", *_SQUARE[2:5]], (13, 6), "loop 1 of patch 1 says 4 pieces and has 3"),
    (["trim 2", *_SQUARE[1:]], (12, 6), "patch 1: the trim says 2 loops and has 1"),
    (["trim", *_SQUARE[1:]], (12, None), "expected trim and the number of loops"),
    (["trim 0"], (12, None), "expected trim and the number of loops"),
    (["trim 1", "loop many", *_SQUARE[2:]], (13, None), "expected loop and the number of pieces"),
    (["trm 1", *_SQUARE[1:]], (12, None), "expected the header of patch 2"),
    ([*_SQUARE, *_SQUARE], (18, 1), "patch 1 has a second trim"),
    ([*_SQUARE[:5], "curve 1 0 1 0 nan"], (17, 15), "not a number: nan"),
    ([*_SQUARE[:5], "curve 1 0 1 0 1e999"], (17, 15), "1e999 is outside of the parameter square"),
    ([*_SQUARE[:5], "curve 2 0 1 0 -0.5 0 0"], (17, 15), "-0.5 is outside of the parameter square"),
    ([*_SQUARE[:5], "curve 12 0 1 0 0"], (17, 7), "degree 12 of a trim curve"),
    ([*_SQUARE[:5], "curve 0 0 1"], (17, 7), "degree 0 of a trim curve"),
    ([*_SQUARE[:5], "curve"], (17, None), "degree, which is missing, of a trim curve"),
    ([*_SQUARE[:5], "curve 1 0 1 0"], (17, None), "degree 1 has 4 numbers, found 3"),
    ([*_SQUARE[:5], "rational 1 0 1 1 0 0 -1"], (17, 22), "a weight of -1"),
    ([*_SQUARE[:4], "curve 1 0.9 1 0 1", _SQUARE[5]], (16, 9), "piece 3 of loop 1 begins at (0.9, 1.0)"),
    (["trim 1", "loop 3", "curve 1 .2 .2 .8 .8", "curve 3 .8 .8 .8 .2 .2 .8 .2 .7", "curve 1 .2 .7 .2 .2"], (15, None),
     "trim loop 1 crosses or touches itself near (0.54"),
    (["trim 1", "loop 2", "curve 1 .2 .2 .8 .8", "curve 1 .8 .8 .2 .2"], (15, None), "crosses or touches itself"),
    (["trim 2", "loop 3", "curve 1 0 0 .6 0", "curve 1 .6 0 0 .6", "curve 1 0 .6 0 0", "loop 3", "curve 1 .1 .1 1 .1",
      "curve 1 1 .1 .1 1", "curve 1 .1 1 .1 .1"], (18, None), "trim loops 1 and 2 meet"),
    (["loop 3"], (12, None), "expected trim and the number of loops"),
]  # fmt: skip


@pytest.mark.parametrize(("section", "place", "message"), _FAULTS, ids=[each[2][:40] for each in _FAULTS])
def test_faults(section: list[str], place: tuple[int, int | None], message: str) -> None:
    """What is wrong, in which line and column, and what is allowed."""
    with pytest.raises(InputError) as caught:
        parse_bpt(text(*section), "faulty.bpt")
    first = caught.value.faults[0]
    assert message in first.message and first.hint is not None
    assert first.place is not None and (first.place.line, first.place.column) == place


def test_a_fault_hides_no_other() -> None:
    with pytest.raises(InputError) as caught:
        parse_bpt(text(*_SQUARE[:5], "curve 1 0 1 2 0").replace(b"2 2\n0.0 0.0 0", b"2 2\n0.0 x 0"), "two.bpt")
    assert len(caught.value.faults) == 3  # x in both patches, 2 in the trim of the first


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TrimCurve(((0, 0),)), "a trim curve of degree 0"),
        (lambda: TrimCurve(((0, 0), (0.5, 1.5))), "control point (0.5, 1.5)"),
        (lambda: TrimCurve(((0, 0), (float("nan"), 1))), "control point (nan, 1)"),
        (lambda: TrimCurve(((0, 0), (1, 1)), (1.0,)), "1 weights for 2 control points"),
        (lambda: TrimCurve(((0, 0), (1, 1)), (1.0, 0.0)), "a weight of 0"),
        (lambda: TrimLoop(()), "no pieces"),
        (lambda: TrimLoop((TrimCurve(((0, 0), (1, 1))),)), "piece 1 of a trim loop begins at (0, 0)"),
        (lambda: Trim(()), "no loops"),
        (lambda: Method(trim_tolerance=0.5), "a trim tolerance of 0.5"),
    ],
)
def test_trims_made_by_programs(make, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(").replace(")", r"\)")):
        make()


def test_loops_that_meet_name_their_patch(plane: Patch) -> None:
    bow = Patch(plane.points, Trim((polygon((0.1, 0.1), (0.9, 0.9), (0.9, 0.1), (0.1, 0.9)),)))
    with pytest.raises(InputError, match=r"patch 2: trim loop 1 crosses or touches itself near \(0.5"):
        tessellate([plane, bow], 4)


def test_who_does_not_draw_them(rosette: tuple[Patch, ...]) -> None:
    """EMCs project samples, and Larrabee has no program: refused with the reason, before any work."""
    for draw in (project_samples, generate_words):
        with pytest.raises(InputError, match="patch 1 is trimmed: its border has points that are not samples"):
            draw(rosette, 4, View())
    with pytest.raises(InputError, match="patch 1 is trimmed: trims are counted by PixelFlow"):
        mesh_on_larrabee(rosette, 4)


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The mesh, the cycles of the trim, and what is not counted."""
    monkeypatch.chdir(tmp_path)
    assert (
        main(
            ["tessellate", "rosette", "--samples", "4", "--trim-tolerance", "0.02", "--weld", "-o", "out.obj", "--json"]
        )
        == 0
    )
    report = json.loads(capsys.readouterr().out)
    trims = report["trims"]
    assert (trims["patches"], trims["loops"], trims["curves"]) == (4, 8, 32)
    assert report["result"]["by_stage"]["trim"] > 0 and report["mesh"]["cracks"] == 0
    assert trims["points_on_gps"] > 0 and trims["gp_cycles_by_formula"] > 0 and trims["bound"] > 0
    lines = (tmp_path / "out.obj").read_text().splitlines()
    assert sum(line.startswith("f ") for line in lines) == report["mesh"]["triangles"]
    points = np.array([line.split()[1:] for line in lines if line.startswith("v ")], float)
    assert np.isfinite(points).all()


def test_each_thing_that_is_not_counted_is_one_fact(capsys: pytest.CaptureFixture[str]) -> None:
    """Database, results and trims: each begins anew, and what goes on from a line before has no name."""
    assert main(["tessellate", "rosette", "--samples", "3", "--width", "200", "-v"]) == 0
    shown = capsys.readouterr().out.splitlines()
    facts = [line.removeprefix("not counted").strip() for line in shown if line.startswith("not counted")]
    assert [each.split()[0] for each in facts] == ["load", "reading", "trims"]
    assert facts[-1].endswith("by formula")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["enneper", "--trim-tolerance", "0.01"], "no patch of enneper is trimmed"),
        (["rosette", "--trim-tolerance", "1"], "expected a share from 0.0001 to 0.1; found '1'"),
        (["rosette", "--trim-tolerance", "nan"], "expected a share from 0.0001 to 0.1; found 'nan'"),
    ],
)
def test_options(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        raise SystemExit(main(["tessellate", *words]))
    assert caught.value.code == 2 and message in capsys.readouterr().err


def test_the_shipped_file_is_of_its_own_making(enneper: tuple[Patch, ...]) -> None:
    """Enneper's patches, with trims."""
    for patch, plain in zip(load("rosette").patches, enneper, strict=True):
        np.testing.assert_array_equal(patch.points, plain.points)
