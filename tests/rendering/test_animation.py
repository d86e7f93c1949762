"""Are frames one after the other what each is by itself, and does the coarse grain hide what it says?"""

from __future__ import annotations

import functools
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.cli.picture_files import write_animation
from pixelflow.config import THESIS, NodeConfig, load_effective
from pixelflow.node import Node
from pixelflow.simd.drawing import Picture, draw_frame
from pixelflow.simd.report import json_text
from tessellation import Method, load, tessellate
from tessellation.microprogram.gp_traffic import RESULT_BYTES, Returned
from tessellation.microprogram.method import SCHEDULES
from tessellation.plan.schedule import Stage
from tessellation.rendering.animation import (
    RETURNS,
    Animation,
    AnimationFile,
    ReturnBeside,
    animate,
    animation_report,
    balance,
)
from tessellation.rendering.composition import draw_on_nodes
from tessellation.rendering.instructions import Region
from tessellation.scenes import PreparedScene, Scene, SceneSource, prepare_scene
from tests.documents.marks import table_after

SCENE = """
size = [128, 64]
frames = 4
[camera]
zoom = 1.5
[[camera.at]]
frame = 3
azimuth = 20.0
zoom = 3.0
[[body]]
patches = "teapot"
tolerance = 2.0
"""
DOCUMENT, MARK = "docs/pages/sampling.md", "read by: tests/rendering/test_animation.py"


@dataclass(eq=False)
class Kept:
    """A scene that keeps the frames that it has made."""

    prepared: PreparedScene
    scenes: list[Scene] = field(default_factory=list)

    def at(self, frame: int = 0) -> Scene:
        self.scenes.append(self.prepared.at(frame))
        return self.scenes[-1]


def method(way: str, schedule: str = "thesis", gps: int = 2) -> Method:
    if way == "direct":
        return Method(schedule=schedule, results="direct")
    return Method(schedule=schedule, results="gp-coarse", gps=gps)


def animated(
    path: str,
    frames: tuple[int, ...],
    way: str,
    schedule: str = "thesis",
    size: tuple[int, int] | None = None,
    config: NodeConfig = THESIS,
) -> tuple[Animation, list[Scene], list[Picture]]:
    how = method(way, schedule, config.gni.gp_count)
    kept = Kept(prepare_scene(path, SceneSource(size=size, config=config), how))
    assert kept.prepared.sampled is not None
    pictures: list[Picture] = []
    session = kept.prepared.sampled.manager.session
    return animate(kept, session, frames, config, way=way, shown=pictures.append), kept.scenes, pictures


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("animation") / "scene.toml"
    path.write_text(SCENE)
    return str(path)


@pytest.fixture(scope="module")
def by_way(scene: str) -> dict[str, tuple[Animation, list[Scene], list[Picture]]]:
    return {way: animated(scene, (0, 3), way) for way in RETURNS}


@pytest.mark.slow
def test_every_way_draws_what_the_frames_are(by_way) -> None:
    for animation, scenes, pictures in by_way.values():
        assert [each.number for each in animation.frames] == [0, 3] and len(pictures) == 2
        for made, frame, picture in zip(animation.frames, scenes, pictures, strict=True):
            assert made.same and picture.equals(draw_frame(frame.frame))
            assert made.triangles == frame.triangles and frame.choice is not None
            assert made.samples == frame.choice.total


@pytest.mark.slow
def test_samples_that_return_beside_drawing_have_the_bits_of_those_that_are_read_at_once(by_way) -> None:
    direct = by_way["direct"][1]
    for way in ("beside", "after", "interleaved"):
        for one, other in zip(by_way[way][1], direct, strict=True):
            for mine, theirs in zip(one.bodies, other.bodies, strict=True):
                assert mine.points.tobytes() == theirs.points.tobytes()
                assert mine.normals.tobytes() == theirs.normals.tobytes()


@pytest.mark.slow
def test_the_paths_are_busy_with_all_results_whichever_way(by_way) -> None:
    rate = THESIS.gni.gp_memory_mb_per_second / THESIS.clock_mhz
    expected = {0: 0.0, 1: 0.0}
    for frame in by_way["direct"][1]:
        for plan in frame.tessellations[0].plans:
            sent = Returned.of(plan.work, 2)
            for gp, modules in sent.by_gp.items():
                for module in range(4):
                    if modules >> module & 1:
                        expected[gp] += len(sent.lanes(module, THESIS.array)) * RESULT_BYTES / rate
    for way in ("beside", "after"):
        assert by_way[way][0].path_cycles == max(expected.values())
    assert by_way["direct"][0].path_cycles == 0


@pytest.mark.slow
def test_coarse_grain_hides_the_path_beside_scan_conversion_and_nothing_else(by_way) -> None:
    beside, after, direct, interleaved = (by_way[way][0] for way in RETURNS)
    assert 0 < beside.hidden <= beside.path_cycles and after.hidden == direct.hidden == 0
    assert direct.cycles < beside.cycles < after.cycles
    for one, other, plain in zip(beside.frames, after.frames, direct.frames, strict=True):
        assert one.scan == other.scan == plain.scan > 0
        # A frame's last results are what its passes differ by: alone at their end, or beside the drawing before.
        assert one.passes == other.passes == plain.passes
        assert plain.tessellation <= one.tessellation <= other.tessellation
        assert one.cycles == one.tessellation + one.scan + one.carrying + one.left
    # The copies into the ports, 2 cycles for each of 24 bytes, the marks, and hardly a wait.
    assert all(48 < each.carrying < 200 for each in beside.frames[:-1]) and beside.frames[-1].carrying == 0
    assert beside.frames[0].left > 0, "before the first frame nothing is drawn"
    assert not any(each.left or each.carrying for each in after.frames)
    # Interleaved, passes after the first frame's are those whose results are read at once.
    first, second = interleaved.frames
    assert (first.tessellation, second.tessellation) == (beside.frames[0].tessellation, direct.frames[1].tessellation)
    assert [each.scan for each in interleaved.frames] == [each.scan for each in direct.frames]
    assert 0 < beside.hidden <= interleaved.hidden <= interleaved.path_cycles


@pytest.mark.slow
def test_the_report_adds_up(by_way, scene: str) -> None:

    animation = by_way["beside"][0]
    report = animation_report(animation, AnimationFile(scene, (128, 64), "x.gif", load_effective(), "auto"))
    found = json.loads(json_text(report))
    assert found["schema"] == "pixelflow.animate/1" and found["equals_reference"] is True
    assert found["cycles"] == sum(each["cycles"] for each in found["frames"]) == animation.cycles
    assert sum(each["cycles"] for each in found["stages"][:-1]) == found["stages"][-1]["cycles"] == animation.cycles
    drawn = sum(
        cycles for each in animation.frames for stage, cycles in each.drawing.items() if stage != Stage.RETURN.value
    )
    assert sum(each["cycles"] for each in found["stages"] if each["stage"].startswith("scan")) == drawn
    shares = balance(animation).rows
    assert [row[0] for row in shares] == ["0%", "25%", "50%", "75%", "100%"]
    assert shares[0][1] == round(animation.cycles / 2) and shares[0][2] == 0
    samples = sum(each.samples for each in animation.frames) / 2
    assert shares[-1][2] == round(samples * 282 / 240e6 * 100e6 / 2)


@pytest.mark.slow
def test_the_command_writes_every_frame(by_way, scene: str, tmp_path: Path, capsys) -> None:
    image = pytest.importorskip("PIL.Image", reason="pillow (extra: image) is not installed")
    target = tmp_path / "a.png"
    assert main(["animate", scene, "--frames", "3", "-o", str(target), "--json", "-q", "--results", "direct"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["frame"] for each in found["frames"]] == ["3"]
    _, _, pictures = by_way["direct"]
    with image.open(target) as opened:
        assert np.array_equal(np.asarray(opened.convert("RGB")), pictures[1].colours)
    for name in ("b.png", "b.gif"):
        write_animation(str(tmp_path / name), [each.colours for each in pictures], 100)
        with image.open(tmp_path / name) as opened:
            assert opened.n_frames == 2 and opened.size == (128, 64)
            for frame, picture in enumerate(pictures if name.endswith(".png") else ()):
                opened.seek(frame)
                assert np.array_equal(np.asarray(opened.convert("RGB")), picture.colours)


TURNED = """
size = [32, 24]
frames = 2
[[camera.at]]
frame = 1
azimuth = 40.0
"""
DEFERRED = f"""
samples = 4
{TURNED}
[[body]]
patches = "enneper"
samples = 3
texture = "checker"
[[body]]
patches = "enneper"
samples = 2
blend = "sorted"
alpha = 110
place = [0, 0, 0.4]
"""


@pytest.mark.slow
def test_textures_glass_and_four_samples_are_drawn_where_nothing_is_tessellated_anew(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    """Frame by frame as `render` draws them; textures are loaded once, for all frames, in none of their cycles."""
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(DEFERRED)
    pictures: list[Picture] = []
    source = prepare_scene("scene.toml", SceneSource())
    made = animate(source, None, (0, 1), THESIS, shown=pictures.append)
    for each, picture in zip(made.frames, pictures, strict=True):
        frame = source.at(each.number).frame
        alone = draw_on_nodes(frame)
        (loading,) = alone.loading
        assert each.same and picture.equals(draw_frame(frame)) and not frame.plain
        assert (each.scan, each.loading) == (alone.nodes[0].cycles, loading.cycles) and each.loading > 0
    Path("anew.toml").write_text(DEFERRED.replace("samples = 2", "tolerance = 2.0"))
    assert main(["animate", "anew.toml", "-o", "x.png"]) == 3
    assert "anew.toml" in capsys.readouterr().err


ONCE = f"""
{TURNED}
[[body]]
patches = "enneper"
samples = 3
"""
ANEW = """
[[body]]
patches = "enneper"
tolerance = 4.0
place = [0, 0, 1]
"""


def reported(frames: str, capsys) -> dict:
    assert main(["animate", "scene.toml", "--frames", frames, "-o", "x.png", "--json", "-q"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize(
    "rest",
    [
        pytest.param('texture = "checker"\n', id="all once, textured"),
        pytest.param(ANEW, id="one body anew", marks=pytest.mark.slow),
    ],
)
def test_what_is_tessellated_once_is_in_no_frame_and_said_whichever_frames_are_chosen(
    rest: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    """As many cycles before as `tessellate` takes, all frames the others; GPs that share samples save none of them."""
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(ONCE + rest)
    alone = tessellate(load("enneper").patches, 3)
    both, first, second = (reported(frames, capsys) for frames in ("0-1", "0", "1"))
    for found in (both, first, second):
        assert found["tessellation_before_cycles"] == alone.cycles > 0
        assert found["cycles"] == sum(each["cycles"] for each in found["frames"])
        scene = prepare_scene("scene.toml", SceneSource(), method("beside"))
        for each in found["frames"]:
            anew = scene.at(int(each["frame"])).anew
            assert each["passes"] == sum(len(one.runs) for one in anew)
            assert each["samples"] == sum(one.samples for one in anew)
            assert bool(anew) == (rest == ANEW) == bool(each["tessellation_cycles"])
    drawn = ("patches", "samples", "triangles", "passes", "scan_conversion_cycles")
    for one, other in zip(both["frames"], (*first["frames"], *second["frames"]), strict=True):
        assert [one[key] for key in drawn] == [other[key] for key in drawn]
    if rest != ANEW:
        assert both["frames"] == first["frames"] + second["frames"]
        assert second["balance"] is None, "there are no samples to be shared"
        assert second["cycles"] == second["frames"][0]["scan_conversion_cycles"]
        assert not any(each["stage"].startswith("tessellation") for each in both["stages"])
        nothing = ("schedule", "results", "path_cycles", "path_cycles_beside_scan_conversion")
        assert [both[key] for key in nothing] == [None] * 4
    else:
        saved = second["balance"][0]["emc_cycles"] - second["balance"][-1]["emc_cycles"]
        assert 0 < saved == second["frames"][0]["tessellation_cycles"], "the passes of the frame, and no others"
        # A session's first pass configures the LEE, in whichever frame that is: it is in none.
        assert second["frames"][0]["tessellation_cycles"] == both["frames"][1]["tessellation_cycles"]
        assert not any(Stage.LEE.value in each["stage"] for each in (*both["stages"], *second["stages"]))
    assert {found["lee_configuration_cycles"] for found in (both, first, second)} == {1_344 if rest == ANEW else 0}


@pytest.mark.parametrize("option", ["--schedule", "--results"])
def test_options_of_passes_are_refused_where_no_frame_has_any(option: str, tmp_path: Path, monkeypatch, capsys) -> None:
    """Every value, the default among them, before anything is made or written."""
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(ONCE)
    for value in SCHEDULES if option == "--schedule" else RETURNS:
        assert main(["animate", "scene.toml", "-o", "x.png", option, value]) == 2
        shown = " ".join(capsys.readouterr().err.split())
        assert shown.startswith(f"{option} {value}: error: ")
        assert not Path("x.png").exists()
    Path("scene.toml").write_text(ONCE + ANEW)
    value = {"--schedule": "shared-columns", "--results": "direct"}[option]
    assert main(["animate", "scene.toml", "--frames", "1", "-o", "x.png", "--json", "-q", option, value]) == 0
    assert json.loads(capsys.readouterr().out)[option[2:]] == value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["tea", "-o", "x.png"], "the scene has one frame"),
        (["teapot", "-o", "x.png"], "the scene has one frame"),
        (["flight", "-o", "x.png", "--frames", "60"], "flight has no frame 60"),
        (["flight", "-o", "x.png", "--frames", "9-3"], "expected frames as 0,10,20 or 0-59; found '9-3'"),
        (["flight", "-o", "x.jpg"], "name a file that ends in .png or .gif"),
        (["flight", "-o", "-"], "the picture is a PNG or GIF file"),
        (["flight", "-o", "x.png", "--milliseconds", "0"], "--milliseconds"),
        (["flight", "-o", "x.png", "--preset", "tiny"], "needs as many PEs"),
        (["flite", "-o", "x.png"], "did you mean flight?"),
    ],
)
def test_what_cannot_be_animated_is_refused(
    options: list[str], message: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["animate", *options]) != 0
    assert message in " ".join(capsys.readouterr().err.split()) and not list(tmp_path.iterdir())


SIZE = """
size = [640, 480]
frames = 2
[camera]
zoom = 1.2
[[camera.at]]
frame = 1
azimuth = 5.0
"""
TEAPOT = '[[body]]\npatches = "teapot"\ntolerance = 1.0\nplace = [{x}, {y}, 0]\n'


@pytest.mark.slow
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("patches", [32, 512])
def test_a_frame_in_every_way(patches: int, schedule: str, tmp_path: Path) -> None:
    """The passes of the second frame and the drawing of the first are the cycles of the table; so are their bounds."""
    path, side = tmp_path / "crowd.toml", {32: 1, 512: 4}[patches]
    path.write_text(SIZE + "".join(TEAPOT.format(x=7 * x, y=5 * y) for x in range(side) for y in range(side)))
    found = []
    bare, scenes = frame_cycles(animated(str(path), (0, 1), "direct", schedule))
    for gps in (1, 2):
        config = with_gps(gps)
        ways = [frame_cycles(animated(str(path), (0, 1), way, schedule, config=config))[0] for way in RETURNED]
        bound = max(bare, path_of(scenes[1], gps))
        assert bound <= ways[-1] <= ways[1] <= ways[0]
        passes = len(scenes[1].tessellations[0].runs)
        cells = [patches, gps, schedule, passes, *ways, bare, path_of(scenes[1], gps)]
        found.append(f"| {' | '.join(f'{each:,}' if isinstance(each, int) else each for each in cells)} |")
    _, _, *printed = table_after(DOCUMENT, f"{MARK}, bounds")
    assert set(found) <= set(printed), "\n".join(found)


RETURNED = ("after", "beside", "interleaved")


def frame_cycles(made: tuple[Animation, list[Scene], list[Picture]]) -> tuple[int, list[Scene]]:
    """Return the cycles between one picture and the next, and the scenes."""
    animation, scenes, _ = made
    assert all(each.same for each in animation.frames)
    drawn, following = animation.frames
    return following.tessellation + drawn.scan + drawn.carrying + following.left, scenes


def path_of(scene: Scene, gps: int) -> int:
    """Return the cycles in which the busiest path to a GP's memory carries a frame's results, by their bytes."""
    rate = THESIS.gni.gp_memory_mb_per_second / THESIS.clock_mhz
    busy: Counter[int] = Counter()
    for plan in scene.tessellations[0].plans:
        sent = Returned.of(plan.work, gps)
        for gp, modules in sent.by_gp.items():
            lanes = sum(len(sent.lanes(module, THESIS.array)) for module in range(4) if modules >> module & 1)
            busy[gp] += int(lanes * RESULT_BYTES / rate)
    return max(busy.values())


def with_gps(gps: int) -> NodeConfig:
    return replace(THESIS, gni=replace(THESIS.gni, gp_count=gps))


MIXED = """
size = [256, 128]
frames = 2
[camera]
zoom = 1.2
[[camera.at]]
frame = 1
azimuth = 20.0
zoom = 1.6
[[body]]
patches = "enneper"
tolerance = 1.5
[[body]]
patches = "cap.bpt"
tolerance = 1.5
place = [1, 0, 0]
"""
CAP = "1\n2 2\n" + "".join(f"{x} {y} {1 - x * x - y * y}\n" for x in (-1, 0, 1) for y in (-1, 0, 1))


class AnyReturn(ReturnBeside):
    """Regions in any order, with any part of the results during each: whatever a policy chooses is among these."""

    dice = random.Random()

    def fitting(self, regions: Sequence[Region]) -> int:
        return self.dice.randrange(len(regions))

    def beside(self, region: Region) -> object:
        """Choose the size of the parts as if the region had another number of triangles."""
        return super().beside(region._replace(triangles=np.zeros(self.dice.choice((0, 100, 1000, 10_000)), int)))


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Kept]:
    """Return scenes of several passes, whose sessions and programs are kept, by schedule and GPs."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "scene.toml").write_text(MIXED)
    (folder / "cap.bpt").write_text(CAP)

    @functools.cache
    def scene(schedule: str, gps: int) -> Kept:
        how = Method(schedule=schedule, results="gp-coarse", gps=gps)
        return Kept(prepare_scene(str(folder / "scene.toml"), SceneSource(config=with_gps(gps)), how))

    return scene


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 300))])
def test_no_order_of_steps_stops_the_node_or_changes_a_bit(seed: int, mixed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any regions between passes, any bytes during a region, boxes ticked in any order: the same frames."""
    dice = random.Random(seed)
    schedule, gps = SCHEDULES[seed % len(SCHEDULES)], 1 + seed // len(SCHEDULES) % 2
    scene = mixed(schedule, gps)
    (plain, expected, pictures), run = unshuffled(scene, gps), Node.run
    monkeypatch.setattr(AnyReturn, "dice", dice)
    monkeypatch.setattr("tessellation.rendering.animation.ReturnBeside", AnyReturn)
    monkeypatch.setattr(Node, "run", lambda *args, **how: run(*args, shuffle_seed=dice.randrange(1 << 30), **how))
    made, scenes, drawn = replayed(scene, gps, dice.choice(("beside", "interleaved")))
    assert [(each.scan, each.same) for each in made.frames] == [(each.scan, True) for each in plain.frames]
    for one, other, picture, shown in zip(scenes, expected, pictures, drawn, strict=True):
        assert picture.equals(shown)
        for mine, theirs in zip(one.bodies, other.bodies, strict=True):
            assert mine.points.tobytes() == theirs.points.tobytes()
            assert mine.normals.tobytes() == theirs.normals.tobytes()


def replayed(kept: Kept, gps: int, way: str) -> tuple[Animation, list[Scene], list[Picture]]:
    assert kept.prepared.sampled is not None
    kept.scenes.clear()
    pictures: list[Picture] = []
    session = kept.prepared.sampled.manager.session
    made = animate(kept, session, (0, 1), with_gps(gps), way=way, shown=pictures.append)
    return made, list(kept.scenes), pictures


@functools.cache
def unshuffled(kept: Kept, gps: int) -> tuple[Animation, list[Scene], list[Picture]]:
    return replayed(kept, gps, "interleaved")


@pytest.mark.slow
def test_the_table_of_the_readme_is_what_is_executed() -> None:
    _, _, *printed = table_after(DOCUMENT, MARK)
    found = []
    for schedule in SCHEDULES:
        for way in RETURNS:
            made, _, _ = animated("flight", (0, 10, 40, 41), way, schedule, (320, 240))
            parts = [
                sum(getattr(each, name) for each in made.frames)
                for name in ("tessellation", "scan", "carrying", "left")
            ]
            cells = [
                schedule,
                f"`{way}`",
                *(f"{each:,}" for each in (*parts, made.cycles, made.path_cycles, made.hidden)),
            ]
            found.append(f"| {' | '.join(cells)} |")
    assert printed == found
