"""Are the rows of several sizes and scenes what single comparisons say, and does a refusal become a row?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from pixelflow.simd.comparison.comparison import Contender, Sides, asked_of
from pixelflow.simd.comparison.grid import GridPoint, grid_parts
from pixelflow.simd.comparison.triangle_sizes import Way, by_triangle_size
from pixelflow.simd.drawing import Blend, Draw, DrawnFrame, Frame, State, Work, draw_frame
from pixelflow.simd.errors import Fault, InputError, UsageError
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Table
from tessellation.scenes import QUESTIONS, sized

FRAME = Frame(40, 30, (9, 9, 9), (sized(40, 30, count=3, pixels=20),))
SCENE = 'size = [40, 30]\n[[generated]]\nfamily = "sized"\ncount = 3\npixels = 20\n'


def toy(name: str, cycles: int) -> Contender:
    def draw(frame: Frame) -> DrawnFrame:
        return DrawnFrame(name, 1, 4, 10.0, cycles, cycles, {}, {"all": 7}, 0.5, None, {"out": 8}, draw_frame(frame))

    return Contender(name, draw)


def refusing(name: str, why: str, *, early: bool = False) -> Contender:
    def refuse(*words: object) -> DrawnFrame:
        raise InputError(Fault(why))

    return Contender(name, refuse, refuse=refuse if early else None)


def test_who_refuses_is_left_out_with_its_reason() -> None:
    late = Sides({"a": toy("A", 5), "b": refusing("B", "no stencil"), "c": toy("C", 6)})
    found = late.compared("scene", FRAME)
    assert [side.machine for side in found.sides] == ["A", "C"] and found.refused == (("B", "no stencil"),)
    early = Sides({"b": refusing("B", "no stencil", early=True), "a": toy("A", 5)})
    early.require([], 1)
    assert early.drawing == ["a"] and early.compared("scene", FRAME).refused == (("B", "no stencil"),)


def test_where_all_refuse_nothing_is_compared() -> None:
    sides = Sides({"a": refusing("A", "no depth"), "b": refusing("B", "no stencil")})
    with pytest.raises(InputError) as caught:
        sides.compared("scene", FRAME)
    assert [fault.message for fault in caught.value.faults] == ["no depth", "no stencil"]


def test_an_option_that_is_wrong_is_no_refusal() -> None:
    def wrong(frame: Frame) -> DrawnFrame:
        raise UsageError("--tile", "there is no such tile")

    with pytest.raises(UsageError):
        Sides({"a": toy("A", 5), "b": Contender("B", wrong)}).compared("scene", FRAME)


def test_rows_are_pictures_by_machines_and_refusals_have_no_figures() -> None:
    sides = {"a": toy("A", 5), "b": refusing("B", "no stencil")}
    points = [GridPoint(name, Sides(sides).compared(name, FRAME)) for name in ("one", "two")]
    table, *texts = grid_parts(points, "scene")
    assert isinstance(table, Table)
    cycles = [column.heading for column in table.columns].index("cycles")
    assert [(row[0], row[1], row[cycles]) for row in table.rows] == [
        ("one", "A", 5), ("one", "B", None), ("two", "A", 5), ("two", "B", None),
    ]  # fmt: skip
    assert any("B refuses" in each and "no stencil" in each for each in texts)


@pytest.mark.parametrize(("abouts", "named"), [(("", ""), False), (("of threads", ""), True), (("x", "x"), False)])
def test_cycles_of_others_are_told_where_there_are_others(abouts: tuple[str, str], named: bool) -> None:
    ways = [Way(name, toy(name, 5).draw, about=about) for name, about in zip("AB", abouts, strict=True)]
    beside = by_triangle_size(FRAME, ways)
    assert beside is not None
    text = " ".join(each for each in beside.parts if isinstance(each, str))
    assert ("cycles of B" in text) is named


def test_who_refuses_names_the_machines_that_would_draw(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Shadow volumes need the order of draws; four samples are ATTILA's limit, and the stencil PixelFlow's."""
    words = '[[generated]]\nfamily = "volumes"\ncount = 2\nsize = 9\n'
    both = "size = [40, 30]\nsamples = 4\n" + words
    for text, machines, able in (
        ("size = [40, 30]\n" + words, ["pixelflow"], "--machine attila, gen6 or larrabee would draw it"),
        (both, ["pixelflow"], "--machine gen6 or larrabee would draw it"),
        (both, ["pixelflow", "attila"], "--machine gen6 or larrabee would draw it"),
    ):
        Path(scene).write_text(text, encoding="utf-8")
        assert main(["compare", scene, *(word for name in machines for word in ("--machine", name))]) == 3
        assert able in " ".join(capsys.readouterr().err.split())
    assert main(["render", scene, "-o", "a.png"]) == 3
    assert "gen6 or larrabee would draw it" in " ".join(capsys.readouterr().err.split())


def test_texels_and_blending_are_asked_for_by_draws_that_have_them() -> None:
    assert asked_of(FRAME) == set(Work) - {Work.TEXELS, Work.BLENDING}
    glass = Draw("glass", FRAME.draws[0].triangles, State(blend=Blend.OVER, alpha=100))
    assert asked_of(Frame(40, 30, (0, 0, 0), (glass,))) == set(Work) - {Work.TEXELS}


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(SCENE, encoding="utf-8")
    return "scene.toml"


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


MACHINES = ("--machine", "gen6", "--machine", "attila")


def test_rows_of_sizes_are_what_single_runs_say(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = told(capsys, "compare", scene, *MACHINES, "--sizes", "40x30,64x48")["sizes"]
    assert [row["size"] for row in rows] == ["40x30", "64x48"]
    for row in rows:
        single = told(capsys, "compare", scene, *MACHINES, "--size", row["size"])
        assert row["machines"] == single["machines"] and row["identical"] == single["identical"]
        assert [each["machine"] for each in row["machines"]] == ["Gen6", "ATTILA"]


def test_the_study_draws_what_compare_draws(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("study", "machines", "--scenes", scene, "--size", "40x30", *MACHINES)
    (row,) = told(capsys, *words)["scenes"]
    assert row["name"] == scene and row["machines"] == told(capsys, "compare", scene, *MACHINES)["machines"]
    assert main(["--width", "80", *words]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.slow
def test_all_machines_are_every_one_that_draws(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("compare", scene, "--machine", "all", "--sizes", "40x30")
    (row,) = told(capsys, *words)["sizes"]
    assert {each["machine"] for each in row["machines"]} >= {"PixelFlow", "Larrabee", "ATTILA", "Gen6"}


def test_triangle_sizes_are_drawn_by_the_machines_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("study", "triangle-sizes", "--sizes", "40", "--count", "3", "--machine", "gen6")
    (row,) = told(capsys, *words)["sizes"]
    draw = machine_named("gen6").draw
    assert draw is not None
    side = draw(Frame(640, 480, (0, 0, 0), (sized(640, 480, count=3, pixels=40),)))
    assert row["gen6_cycles"] == pytest.approx(side.cycles / 3) and "larrabee_cycles" not in row


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["compare", "scene.toml", "--sizes", "40x0"], 2, "expected WxH"),
        (["compare", "scene.toml", "--sizes", ",".join(f"{n}x9" for n in range(1, 18))], 2, "at most 16 sizes"),
        (["compare", "scene.toml", "--sizes", "40x30", "--size", "40x30"], 2, "several pictures with --sizes"),
        (["compare", "scene.toml", "--sizes", "40x30", "-o", "a.png"], 2, "several pictures with --sizes"),
        (["compare", "scene.toml", "--sizes", "40x30", "--explain", "all"], 2, "several pictures with --sizes"),
        (["compare", "scene.toml", "--machine", "gen7"], 2, "'gen7'"),
        (["compare", "scene.toml", "--explain", "source"], 2, "did you mean sources?"),
        (["study", "machines", "--scenes", "layrs"], 3, "did you mean layers?"),
        (["study", "machines", "--scenes", ","], 2, "expected scenes"),
        (["study", "machines", "--machine", "gen6", "--cores", "2"], 2, "add --machine larrabee"),
    ],
    ids=lambda each: " ".join(each)[:60] if isinstance(each, list) else "",
)
def test_what_is_wrong_is_said(
    scene: str, words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        found = main(words)
    except SystemExit as left:
        found = left.code
    assert found == code and message in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(QUESTIONS))
def test_every_question_has_an_answer_or_a_reason_of_every_machine(name: str, capsys) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    pytest.importorskip("PIL", reason="Pillow is not installed")
    (row,) = told(capsys, "study", "machines", "--scenes", name, "--size", "64x48")["scenes"]
    answered = [each["machine"] for each in row["machines"]]
    refused = {each["machine"]: each["reason"] for each in row["refused"]}
    assert sorted([*answered, *refused]) == ["ATTILA", "Gen6", "Larrabee", "PixelFlow"] and all(refused.values())
    for each in row["machines"]:
        assert each["why_different"] or not each["pixels_different"] + each["depths_different"]
