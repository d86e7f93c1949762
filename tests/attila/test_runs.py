"""What does `pixelflow run --machine attila` report, and does a run that begins at a later draw draw the same?"""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from attila_bridge.run import PHASES, run_scene
from attila_bridge.time.config import PAPER
from attila_bridge.time.prepare import contents
from pixelflow.cli.main import main
from pixelflow.simd.configuration import leaves
from pixelflow.simd.errors import CycleLimitError, InputError
from pixelflow.simd.machine import machine_named, machine_names
from pixelflow.simd.observe import Bus, Executed
from pixelflow.simd.units import Standing
from tests.attila.recorded import drawn, quad, scene_body, scene_of

README = (Path(__file__).parents[2] / "attila_bridge" / "README.md").read_text(encoding="utf-8")
LESS = {"state": {"depth": {"func": "less", "write": True}}}
CLEAR = {"color": [0, 0, 0, 1], "depth": 1.0}
RED, GREEN, BLUE = ([[each == number for each in range(3)] + [1.0]] * 6 for number in range(3))
DRAWS = (
    drawn(quad(0, 0, 24, 24, 0.3), RED, **LESS),
    drawn(quad(8, 8, 32, 32, 0.6), GREEN, **LESS),
    drawn(quad(0, 16, 32, 20, 0.1), BLUE, **LESS),
)
SCENE = scene_of(*DRAWS, size=(32, 32), clear=CLEAR)


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "three.json"
    path.write_text(json.dumps(scene_body(*DRAWS, size=(32, 32), clear=CLEAR)))
    return str(path)


def test_the_machine_is_registered() -> None:
    assert "attila" in machine_names()
    machine = machine_named("attila")
    assert machine.clock_mhz(machine.configuration()) == 600 and set(machine.presets) == {"paper", "case"}


def test_an_object_has_the_columns_of_recorded_runs(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--machine", "attila", file, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "pixelflow.attila-run/1" and found["from_draw"] == 0
    assert found["cycles"] == 1 + sum(found[phase] for phase in PHASES)
    assert found["cycles_drawing"] == sum(found[f"cp_{each}"] for each in ("Draw", "EndGeometry", "EndFragment"))
    # Two triangles a draw, and the end of each draw counts as one.
    assert found["Triangles_PA"] == 9 and found["IndexesSent_StF"] == 18
    assert found["statistics"]["Triangles_PA"] == 9


@pytest.mark.parametrize("first", [1, 2])
def test_a_later_beginning_draws_the_same_picture(first: int) -> None:
    whole, hot = run_scene(SCENE), run_scene(SCENE, from_draw=first)
    assert np.array_equal(whole.image, hot.image) and np.array_equal(whole.work.depth, hot.work.depth)
    assert hot.cycles < whole.cycles and hot.columns["cp_Clear"] == 0
    assert hot.columns["IndexesSent_StF"] == 6 * (3 - first)


def test_buffers_begin_with_what_draws_before_have_left() -> None:
    work = run_scene(SCENE, from_draw=1).work
    left = contents(work)
    assert left is not None
    # The first square covers nine tiles of 8x8 whole; its depth is the same throughout.
    assert len(left.color) == len(left.depth) == 9
    assert set(left.maxima.values()) == {int(0.3 * (2**24 - 1))} or len(set(left.maxima.values())) == 1
    assert all(line == [0xFF0000FF] * 64 for line in left.color.values())
    assert sum(len(left.of(rop, left.color)) for rop in (0, 1)) == 9


def test_hierarchical_z_knows_the_depths_of_draws_without_time() -> None:
    near, far = drawn(quad(0, 0, 32, 32, 0.2), RED, **LESS), drawn(quad(0, 0, 32, 32, 0.8), GREEN, **LESS)
    run = run_scene(scene_of(near, far, size=(32, 32), clear=CLEAR), from_draw=1)
    # 256 quads of 32x32 pixels, all past the maxima of their blocks.
    assert run.columns["CulledHZFragments_HZ"] >= 256 and run.columns["z_tested"] == 0
    assert run.columns["color_write_bytes"] == 0


def test_a_report_says_which_draws_took_no_time(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--machine", "attila", file, "--from-draw", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["from_draw"] == 2


def test_a_draw_that_is_not_there_is_refused(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="there is no draw 3"):
        run_scene(SCENE, from_draw=3)
    assert main(["run", "--machine", "attila", file, "--from-draw", "3"]) not in (0, 1)
    assert "the scene's draws are 0 to 2" in capsys.readouterr().err


def test_programs_have_no_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "one.s"
    program.write_text("nop\n")
    assert main(["run", "--machine", "gen6", str(program), "--from-draw", "1"]) != 0
    assert "have no draws" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["kanata", "vcd"])
def test_a_trace_has_the_steps_of_a_frame(file: str, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("vcd")
    trace = tmp_path / f"trace.{ending}"
    assert main(["run", "--machine", "attila", file, "--trace", str(trace)]) == 0
    text = trace.read_text(encoding="utf-8")
    assert all(each in text for each in ("draw", "clear", "swap", "upload"))


def test_steps_of_a_frame_follow_each_other_and_fragments_their_geometry() -> None:
    told: list[Executed] = []
    bus = Bus()
    bus.subscribe(told.append, Executed)
    run = run_scene(SCENE, bus=bus)
    steps = [each for each in told if each.stream == "vertex"]
    uploads = [each.index for each in told if each.stream == "upload"]
    assert sorted([*uploads, *(each.index for each in steps)]) == list(range(len(steps) + len(uploads)))
    assert all(a.cycle + a.cycles <= b.cycle + 1 for a, b in pairwise(steps))
    assert steps[-1].cycle + steps[-1].cycles <= run.cycles
    fragments = [each for each in told if each.stream == "fragment"]
    assert len(fragments) == 3
    for each in fragments:
        (geometry,) = (step for step in steps if step.index == each.index)
        assert each.cycle >= geometry.cycle and each.cycle + each.cycles >= geometry.cycle + geometry.cycles
    assert run.cycles == run_scene(SCENE).cycles


def test_the_first_scene_of_the_readme_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(example, names)
    assert "run" in names


def test_the_page_names_every_fitted_value() -> None:
    fitted = {key for key, about, _, _ in leaves(PAPER) if about.standing is Standing.FITTED}
    page = (Path(__file__).parents[2] / "docs/pages/attila.md").read_text(encoding="utf-8")
    named = page.partition("## Standing of values")[2].partition("\n## ")[0]
    assert fitted == set(re.findall(r"`(command\.[a-z_]+)`", named))


@pytest.mark.parametrize("watched", [False, True])
def test_a_limit_stops_a_run_that_says_how_far_it_is(watched: bool) -> None:
    """An event in the limit's cycle is one too many; the last event of a frame is in the cycle before its last."""
    bus, told = Bus(), list[object]()
    if watched:
        bus.subscribe(lambda event: None, Executed)
    cycles = run_scene(SCENE).cycles
    assert (
        run_scene(SCENE, bus=bus, max_cycles=cycles, progress=lambda text, share=None: told.append(text)).cycles
        == cycles
    )
    assert told[-1] == f"cycle {cycles - 1:,} of at most {cycles:,}"
    with pytest.raises(CycleLimitError, match="cycle limit 700 reached: the next event is at cycle 805"):
        run_scene(SCENE, bus=bus, max_cycles=700)


def test_uploads_leave_pages_open_and_channels_turned_to_writes() -> None:
    """Pages of 4 KB: frame 0 to 7, arrays 8 to 10, programs of 19 and 17 instructions of 16 bytes 11 and 12.

    The first 256 bytes of each are in channel 0, 48 and 16 in channel 1. A page of a channel is four of these; 2 and 3
    are opened, in both channels. The last write of channel 1 begins 4 cycles before the loads, that of channel 0 6, and
    a read begins 16 cycles after a write: the first comes in the first cycle of the loads and waits 9, the fifth in the
    fifth and waits 7.
    """
    found = run_scene(scene_of(drawn([(0.0, 0.0, 0.5), (1.0, 0.0, 0.5), (0.0, 1.0, 0.5)]))).statistics
    for name, counts in (("WriteBytesMemoryBus", [632, 64]), ("OpenPages", [2, 2]), ("WriteToReadPenalty", [9, 7])):
        assert [found[f"{name}{channel:02}_MC"] for channel in range(4)] == [*counts, 0, 0]


def test_a_run_tells_how_far_it_is_and_takes_no_other_cycles() -> None:
    told: list[float] = []
    found = run_scene(SCENE, progress=lambda text, share=None: told.append(-1.0 if share is None else share))
    assert found.cycles == run_scene(SCENE).cycles
    assert told[0] == -1.0 and told[1:] == sorted(told[1:]) and len(set(told[1:])) > 2
    assert 0.0 <= told[1] < told[-1] == 1.0
