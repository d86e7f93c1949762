"""Is a folder of recorded runs judged by class, and does a damaged one say what is wrong?"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from attila_bridge.run import SceneRun, run_scene
from attila_bridge.scene import load_scene
from attila_bridge.time.config import PAPER
from tests.attila.recorded import TEXTURED, drawn, folder, quad, scene_body, scene_of
from tests.recorded.__main__ import main
from tests.recorded.attila import (
    CLASSES,
    FolderJudgement,
    RecordedRun,
    RecordRow,
    RunFigures,
    StatisticRow,
    judge,
    kind_of,
    measure,
    read_records,
    refilled,
    rows_of_families,
    rows_of_statistics,
    statistic_cells,
    within,
)

SMALL = (
    *("place_scissor", "many_0100", "op_frc", "tex_bilinear_016", "vert_fan", "stencil_count", "tri_leg001", "blend_1"),
    *("place_diagonal", "z_front_back_1", "batches_02", "spheres_8_1"),
)
"""Recorded scenes of little work, of different units."""
PAGE = (Path(__file__).parents[2] / "docs/pages/attila.md").read_text(encoding="utf-8")
UNEXPLAINED = [
    (run, name, int(recorded.replace(",", "")), int(here.replace(",", "")))
    for run, name, recorded, here in re.findall(
        r"^\| `(\S+@\S+)` \| `(\w+)` \| ([\d,]+) \| ([\d,]+) \|$", PAGE, re.MULTILINE
    )
]
"""The page's table of unexplained figures: run, statistic, recorded, here."""


def write(path: Path, rows: Sequence[dict[str, object]]) -> Path:
    """Write a folder of runs whose scenes are there already."""
    names = {name: None for row in rows for name in row}
    with (path / "runs.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(names))
        writer.writeheader()
        writer.writerows(rows)
    return path


def scene(path: Path, name: str, side: float = 8) -> SceneRun:
    """Put a scene of a square into a folder, and return its run here."""
    (path / "scenes").mkdir(exist_ok=True)
    body = scene_body(drawn(quad(0, 0, side, side)), size=(16, 16)) | {"name": name}
    (path / "scenes" / f"{name}.json").write_text(json.dumps(body))
    return run_scene(load_scene(path / "scenes" / f"{name}.json"))


def row(name: str, made: SceneRun, **changes: object) -> dict[str, object]:
    """Return a row of `runs.csv` with what a run gives here."""
    first = {"run": f"{name}@paper", "scene": name, "group": "own", "machine": "paper", "overrides": "{}"}
    return first | dict(made.columns) | changes


def judged(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    code = main(["attila", "--data", str(path), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_what_is_recorded_as_it_is_here_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(f"layers_own_{side}", scene(tmp_path, f"layers_own_{side}", side)) for side in (4, 16)]
    code, found = judged(write(tmp_path, rows), capsys)
    assert code == 0 and found["short"] == 0
    assert {each["class"] for each in found["rows"]} == {"A2", "A3", "A5", "A7", "A9"}
    assert found["skipped"]["statistics_paper.csv"] == "not in the folder"
    (slope,) = (each for each in found["rows"] if each["class"] == "A5")
    drawing = [each["cycles_drawing"] for each in rows]
    assert slope["figure"] == "a layer: cycles from 4 to 16" and slope["recorded"] == drawing[1] - drawing[0]


def test_a_recorded_frame_is_traversed_as_it_was_recorded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Above as high as it is wide the recorded machine leaves a frame out; drawn whole it takes longer."""
    (tmp_path / "scenes").mkdir()
    path = tmp_path / "scenes" / "high.json"
    path.write_text(json.dumps(scene_body(drawn(quad(0, 0, 16, 128)), size=(16, 128)) | {"name": "high"}))
    short = []
    for square in (True, False):
        made = run_scene(load_scene(path), config=PAPER.with_values({"traversal.square": square}))
        short.append(judged(write(tmp_path, [row("high", made)]), capsys)[1]["short"])
    assert short[0] == 0 and short[1]


@pytest.mark.parametrize(
    ("first", "last", "figures"),
    [
        ("many_0004", "many_0016", ["a triangle: cycles from 4 to 16"]),
        ("layers512_01", "layers512_04", ["a layer: cycles from 1 to 4"]),
        ("z_front_back_1", "z_front_back_8", ["a layer: cycles from 1 to 8"]),
        ("grid_32", "grid_16", ["a quad of the grid: cycles from 16 to 32"]),
        ("alu_chain_01", "alu_chain_08", ["an instruction: cycles from 1 to 8"]),
        ("ratio_1_08", "ratio_2_08", ["a texture read: cycles from 1 to 2"]),
        ("ratio_1_04", "ratio_1_08", ["an instruction: cycles from 4 to 8"]),
        ("ratio_1_04", "ratio_2_08", []),
        ("vert_program_04", "vert_program_16", ["an instruction: cycles from 4 to 16"]),
        ("vert_mesh_08", "vert_mesh_16", ["a vertex: cycles from 8 to 16"]),
        ("tex_trilinear_256", "tex_trilinear_512", []),
        ("tri_leg004", "tri_leg016", []),
        ("layers_01", "layers_draws_4", []),
    ],
)
def test_slopes_are_of_the_families_that_have_them(first: str, last: str, figures: list[str], tmp_path: Path) -> None:
    """A number of layers, triangles, quads, instructions, reads or vertices; not a size, and not two at once."""
    columns = {"cycles_drawing": 100.0}
    runs = [RecordedRun(f"{name}@paper", name, "own", "paper", {}, columns, "") for name in (first, last)]
    found = rows_of_families([(run, RunFigures(columns=columns)) for run in runs])
    assert [each.figure for each in found if each.kind == "A5"] == figures


@pytest.mark.parametrize(
    ("column", "factor", "kind"),
    [
        ("Triangles_PA", 2, "A2"),
        ("color_write_bytes", 2, "A3"),
        ("cycles_drawing", 1.4, "A7"),
        ("cycles", 1.4, "A9"),
    ],
)
def test_a_figure_that_is_off_fails_its_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], column: str, factor: float, kind: str
) -> None:
    run = scene(tmp_path, "own")
    code, found = judged(write(tmp_path, [row("own", run, **{column: run.columns[column] * factor})]), capsys)
    short = [each for each in found["rows"] if not each["held"]]
    assert code == 1 and {each["figure"] for each in short} >= {column} and kind in {each["class"] for each in short}


def test_a_sweep_in_another_order_falls_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = scene(tmp_path, "own", 16)
    sooner = made.columns["cycles_drawing"] // 2
    # A memory that takes longer cannot make the same draw twice as fast.
    slow = row("own", made, run="own@slow", overrides='{"MEMORYCONTROLLER.ReadLatency": 99}', cycles_drawing=sooner)
    code, found = judged(write(tmp_path, [row("own", made), slow]), capsys)
    (order,) = (each for each in found["rows"] if each["run"] == "own by ReadLatency")
    assert code == 1 and order["class"] == "A8" and not order["held"]
    assert order["figure"] == "as it is slower than ReadLatency=99"


def test_limits_are_shares_of_the_record_and_leave_a_unit() -> None:
    assert within("A7", "", "", 100, 125, 0.25).held and not within("A7", "", "", 100, 126, 0.25).held
    assert within("A5", "", "", 4, 5, 0.10).held and not within("A2", "", "", 4, 5, 0.0).held


def test_statistics_are_judged_by_kind_over_runs() -> None:
    """Sums of units and channels, within 5 % or one; a kind holds in nine of ten runs."""
    found = []
    for number in range(10):
        recorded = {"DataCycles00_MC": 60.0, "DataCycles01_MC": 40.0, "Inputs_ShF-FS0": 10.0, "Reads_SL0": 0.0}
        here = {
            "DataCycles00_MC": 42.0,
            "DataCycles01_MC": 62.0,
            "Inputs_ShF-FS0": 20.0,
            "Reads_SL0": float(number > 8),
        }
        run = RecordedRun(f"{number}@paper", "own", "own", "paper", {}, {}, "", recorded)
        found.append((run, RunFigures(statistics=here)))
    rows = rows_of_statistics(found)
    assert [(row.name, row.runs, row.right, row.held) for row in rows] == [
        ("Inputs_ShF", 10, 0, False), ("DataCycles_MC", 10, 10, True), ("Reads_SL0", 10, 10, True),
    ]  # fmt: skip
    assert statistic_cells(rows[0]) == ("Inputs_ShF", "0%", "2.00") and statistic_cells(rows[2])[2] == "-"


def test_lines_that_come_in_twice_are_told_from_those_that_come_in_once() -> None:
    size = {"size": [128, 128], "format": "rgba8", "levels": 1, "min": "nearest", "mag": "nearest", "wrap": "repeat"}
    texture = {"t": size | {"anisotropy": 1, "pattern": "noise", "seed": 1}}
    one = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    four = [(4 * s, 4 * t) for s, t in one]
    again = []
    for coordinates in (one, four):
        draw = drawn(quad(0, 0, 64, 64), coordinates=coordinates, fragment=TEXTURED)
        again.append(refilled(run_scene(scene_of(draw, size=(64, 64), textures=texture))))
    assert again[0]["texture"] == 0 < again[1]["texture"]


def test_a_folder_without_runs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attila", "--data", str(tmp_path)]) not in (0, 1)
    assert "needs a runs.csv" in capsys.readouterr().err


def test_what_cannot_be_judged_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = scene(tmp_path, "own")
    gone, other = row("gone", run), row("own", run, run="own@public", machine="public")
    refused = row("own", run, run="own@odd", overrides='{"SHADER.Unheard": 1}')
    code, found = judged(write(tmp_path, [row("own", run), gone, other, refused]), capsys)
    assert code == 1 and "Unheard" in found["refused"]["own@odd"]
    assert found["skipped"]["gone@paper"] == "there is no scene gone"
    assert found["skipped"]["1 runs of public"] == "that machine is not built here"


def of_folder(*names: str) -> FolderJudgement:
    """Return the judgement of recorded runs; of all where no scene is named."""
    records = read_records(folder())
    runs = tuple(run for run in records.runs if not names or (run.scene in names and run.name.endswith("@paper")))
    found = judge(replace(records, runs=runs))
    print(f"{len(runs)} runs, {len(found.rows)} figures")
    assert runs and found.rows and not found.refused
    return found


def short(rows: Iterable[RecordRow]) -> list[str]:
    """Return the rows that fall short as the page has them."""
    made = (
        (each.kind, f"`{each.run}`", each.figure, f"{each.recorded:,.0f}", f"{each.here:,.0f}")
        for each in rows
        if not each.held
    )
    return ["| " + " | ".join(row) + " |" for row in made]


def counted(rows: Iterable[RecordRow]) -> list[str]:
    """Return how many rows of each class hold, and do not, as the page has them."""
    held = Counter((each.kind, each.held) for each in rows)
    return [f"| {kind} | {held[kind, True]:,} | {held[kind, False]} |" for kind in CLASSES]


def kinds(rows: Iterable[StatisticRow]) -> list[str]:
    """Return the kinds of statistics that are right in fewer than nine of ten runs as the page has them."""
    return ["| `{}` | {} | {} |".format(*statistic_cells(row)) for row in rows if not row.held]


def test_small_recorded_scenes_are_as_recorded() -> None:
    found = of_folder(*SMALL)
    assert not [row for row in short(found.rows) if not row.startswith("| statistics")]
    assert {kind_of(row.name) for row in found.statistics} == {row.name for row in found.statistics}


@pytest.mark.slow
def test_every_recorded_run_is_as_recorded() -> None:
    """The page names the figures that fall short and counts the others; another folder has other counts."""
    found = of_folder()
    rows = [*short(found.rows), *counted(found.rows), *kinds(found.statistics)]
    assert [row for row in rows if row not in PAGE.splitlines()] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", dict.fromkeys(run for run, *_ in UNEXPLAINED))
def test_unexplained_figures_are_as_the_page_has_them(name: str) -> None:
    """A statistic without a channel's number is the sum over channels."""
    records = read_records(folder())
    run = next(run for run in records.runs if run.name == name)
    ((_, here),) = measure(replace(records, runs=(run,)))
    recorded, ours = {**run.columns, **run.statistics}, {**here.columns, **here.statistics}
    for _, statistic, printed_recorded, printed_here in (each for each in UNEXPLAINED if each[0] == name):
        names = [key for key in ours if key.startswith(statistic)]
        assert sum(recorded[key] for key in names) == printed_recorded
        assert sum(ours[key] for key in names) == printed_here
