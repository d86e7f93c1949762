"""Do `pixelflow compare` and `pixelflow render --machine larrabee` say what happened, in every form?"""

import json
import re
from collections.abc import Iterator
from math import ceil
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.kernels.bezier import tessellate_on_vpu
from pixelflow.cli.main import main
from pixelflow.simd.drawing import Frame
from pixelflow.simd.machine import machine_named
from tessellation import load
from tessellation.scenes import sized

pytest.importorskip("PIL", reason="Pillow is not installed")

SCENE = """
size = [70, 50]
[[generated]]
family = "layers"
depth = 2
columns = 2
rows = 2
"""


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(SCENE, encoding="utf-8")
    return "scene.toml"


@pytest.mark.parametrize("machine", ["pixelflow", "larrabee", "gen6"])
def test_imbalance_and_waiting_are_what_the_parts_timelines_leave(machine: str) -> None:
    """Gaps between what a part does, and what comes after its last; the three shares are one."""
    frame = Frame(150, 100, (10, 20, 30), (sized(150, 100, count=90, pixels=30, seed=2),))
    draw = machine_named(machine).draw
    assert draw is not None
    side = draw(frame, parts=3)
    whole = 3 * side.cycles
    assert side.imbalance is not None and side.waiting is not None
    assert (side.work - side.twice) / whole + side.imbalance + side.waiting == pytest.approx(1)
    assert side.imbalance > 0 and side.waiting > 0 and max(side.ended) <= side.cycles
    if len(side.timeline) == 3:
        ends = [max(span.end for span in spans) for _, spans in side.timeline]
        assert side.imbalance == pytest.approx(sum(max(ends) - end for end in ends) / whole)
        gaps = [
            end - sum(span.end - span.start for span in spans)
            for end, (_, spans) in zip(ends, side.timeline, strict=True)
        ]
        assert side.waiting == pytest.approx((sum(gaps) + 3 * (side.cycles - max(ends))) / whole)


@pytest.mark.parametrize("machine", ["pixelflow", "larrabee", "attila"])
def test_a_part_alone_loses_and_waits_for_nothing(machine: str) -> None:
    frame = Frame(40, 30, (10, 20, 30), (sized(40, 30, count=9, pixels=30, seed=2),))
    draw = machine_named(machine).draw
    assert draw is not None
    side = draw(frame)
    assert (side.imbalance, side.waiting, side.work) == (0, 0, side.cycles)


def pixels(path: str) -> np.ndarray:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image)


def test_the_object_has_both_machines(scene: str, capsys: pytest.CaptureFixture) -> None:
    assert main(["compare", scene, "--json", "--cores", "3", "--core-mhz", "500", "-o", "out.png"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["identical"] and found["triangles"] == 16 and found["size"] == [70, 50]
    node, cores = found["machines"]
    assert (node["machine"], node["parts"], node["lanes"], node["clock_mhz"]) == ("PixelFlow", 1, 8192, 100)
    assert (cores["machine"], cores["parts"], cores["lanes"], cores["clock_mhz"]) == ("Larrabee", 3, 48, 500)
    for each in found["machines"]:
        assert each["milliseconds"] == pytest.approx(each["cycles"] / each["clock_mhz"] / 1e3)
        assert min(each["stages"].values()) > 0 and min(each["instructions"].values()) > 0
    (words,) = [fact["text"] for fact in node["facts"] if fact["name"] == "instruction words"]
    assert words.endswith("(igc.supply)")
    assert not any(fact["name"] == "instruction words" for fact in cores["facts"]), "another machine has no IGC"
    for each in found["machines"]:
        assert each["milliseconds_at"] == pytest.approx({"100": each["cycles"] / 1e5, "500": each["cycles"] / 5e5})
    assert (node["lane_bits"], cores["lane_bits"]) == (8, 32)
    assert node["next_after"] == node["cycles"] and 0 < cores["next_after"] <= cores["cycles"]
    lost = cores["imbalance"] + cores["waiting"]
    assert lost == pytest.approx(1 - cores["busy_cycles"] / (3 * cores["cycles"])) and min(cores["waiting"], lost) > 0
    assert found["tessellation"] is None
    assert pixels("out.png").shape == (50, 70, 3)


def test_the_feed_of_instructions_is_a_bound(scene: str, capsys: pytest.CaptureFixture) -> None:
    """Bytes over 8 and over 2 bytes a cycle: 800 and 200 MB/s at 100 MHz; of two nodes each has a GP of its own."""
    for nodes in (1, 2):
        assert main(["compare", scene, "--machine", "pixelflow", "--nodes", str(nodes), "--json"]) == 0
        (node,) = json.loads(capsys.readouterr().out)["machines"]
        sent = node["bytes"]["instructions to the nodes"]
        (text,) = [fact["text"] for fact in node["facts"] if fact["name"] == "instruction feed"]
        assert text.startswith(f"{sent:,} bytes") and f" {sent * 100 / node['cycles']:,.0f} MB/s" in text
        assert f" {ceil(sent / 8):,} cycles" in text
        assert f" {ceil(ceil(sent / nodes) / 2):,} cycles" in text


def test_both_machines_write_the_same_picture(scene: str) -> None:
    for machine in ("pixelflow", "larrabee"):
        assert main(["render", scene, "--machine", machine, "-o", f"{machine}.png", "-q"]) == 0
    assert np.array_equal(pixels("pixelflow.png"), pixels("larrabee.png"))


def test_larrabee_alone_goes_from_control_points_to_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["render", "enneper", "--samples", "4", "--size", "96x64", "--machine", "larrabee"]
    found = {}
    for who, free in (("host", ["--free-setup"]), ("vpu", [])):
        assert main([*words, *free, "--projection", who, "-o", f"{who}.png", "--json"]) == 0
        found[who] = json.loads(capsys.readouterr().out)
    host, vpu = found["host"], found["vpu"]
    assert host["equals_reference"] and vpu["equals_reference"] and pixels("vpu.png").shape == (64, 96, 3)
    assert (host["tessellation_by"], host["projection"]) == ("a PixelFlow node", None)
    assert vpu["tessellation_by"].endswith("Larrabee")
    assert (
        vpu["tessellation_cycles"]
        == tessellate_on_vpu([patch.points for patch in load("enneper").patches], 4).timing.cycles
    )
    # Four patches of 4x4 samples that share edges: 7x7 vertices, and two triangles in each of 6x6 cells.
    assert (vpu["projection"]["vertices"], vpu["triangles"]["drawn"]) == (49, 72)
    added = {name: cycles for name, cycles in vpu["stages"].items() if name not in host["stages"]}
    assert list(added) == [f"front end: {stage}" for stage in ("assemble", "bin", "index", "transform")] + ["planes"]
    # Of threads alone, and of a core on which they take turns and wait for lines.
    assert sum(added.values()) > 0 and vpu["projection"]["cycles"] > 0
    assert sum(vpu["instructions"].values()) > sum(host["instructions"].values())
    assert not any("camera" in fact["text"] for fact in vpu["facts"])


def test_the_report_says_how_far_the_vector_unit_is_from_64_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["render", "enneper", "--samples", "3", "--size", "40x30", "--machine", "larrabee",
                 "--projection", "vpu", "-v", "-o", "a.png"]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert "front end: transform" in out
    assert "of 25 vertices" in out


@pytest.mark.parametrize(("width", "form"), [(60, ["--explain", "all"]), (80, [])])
def test_no_line_is_wider_than_the_screen(
    scene: str, width: int, form: list[str], capsys: pytest.CaptureFixture
) -> None:
    assert main(["--width", str(width), "compare", scene, *form]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert "PixelFlow" in out and "Larrabee" in out and "every pixel" in out


def leaves(value: object) -> Iterator[int]:
    """Yield the whole numbers of a JSON object."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from leaves(each)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value


def test_a_page_and_the_object_have_all_that_is_explained(scene: str, capsys: pytest.CaptureFixture) -> None:
    """Every cell of every table is in the page, folded; every count of the object is among what is explained."""
    assert main(["compare", scene, "--explain", "all", "--html", "page.html"]) == 0
    text = capsys.readouterr().out
    assert main(["compare", scene, "--html", "short.html"]) == 0
    assert len(capsys.readouterr().out.splitlines()) <= 28
    assert main(["compare", scene, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    pages = [Path(name).read_text(encoding="utf-8") for name in ("page.html", "short.html")]
    assert pages[1].count("<details>") == pages[0].count("<details open>") == 6
    shown = [re.findall(r"[\d,.]*\d", re.sub(r"<[^>]*>", " ", page.partition("<details")[2])) for page in pages]
    assert shown[0] == shown[1]
    figures = set(re.findall(r"\d[\d,.]*\d|\d", text.partition("━━")[2]))
    assert figures <= {each.strip(",.") for each in re.findall(r"\d[\d,.]*\d|\d", pages[1])}
    for machine in found["machines"]:
        for key in ("cycles", "busy_cycles", "stages", "instructions", "bytes", "left_out"):
            assert {f"{each:,}" for each in leaves({key: machine[key]})} <= figures, key


def test_values_of_the_core_model_are_set_and_said(scene: str, capsys: pytest.CaptureFixture) -> None:
    cycles = []
    for more in ([], ["--core", "vector_latency=12", "--core", "dual_issue=false"]):
        words = ["render", "scene.toml", "-o", "a.png", "--machine", "larrabee", *more]
        assert main([*words, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        cycles.append(found["cycles"])
        assert found["equals_reference"]
        assert main([*words, "-v"]) == 0
        assert ("vector_latency 12, dual_issue false" in capsys.readouterr().out) is bool(more)
    assert cycles[1] > cycles[0]  # later results, and one instruction a cycle


WRONG = [
    (["compare", "scene.toml", "--cores", "65"], 2, "1 to 64"),
    (["compare", "scene.toml", "--core-mhz", "0"], 2, "1 to 100000 MHz"),
    (["compare", "scene.toml", "--samples", "4"], 2, "only patches are sampled"),
    (["compare", "scene.toml", "--flat"], 2, "determines"),
    (["compare", "scene.toml", "--up", "y"], 2, "determines which axis is up"),
    (["compare", "enneper", "--samples", "17"], 2, "expected 2 to 16"),
    (
        ["render", "scene.toml", "-o", "a.png", "--machine", "larrabee", "--stats", "s.json"],
        2,
        "watch a PixelFlow node",
    ),
    (["compare", "scene.toml", "-o", "scene.toml"], 3, "scene.toml"),
    (["compare", "buny"], 3, "did you mean bunny?"),
    (["render", "scene.toml", "-o", "a.png", "--cores", "2"], 2, "add --machine larrabee"),
    (["render", "scene.toml", "-o", "a.png", "--machine", "larrabee", "--nodes", "2"], 2, "this is Larrabee"),
    (["render", "scene.toml", "-o", "a.png", "--projection", "emc"], 2, "patches that are named"),
    (["render", "scene.toml", "-o", "a.png", "--projection", "vpu"], 2, "add --machine larrabee"),
    (
        ["render", "scene.toml", "-o", "a.png", "--machine", "larrabee", "--projection", "emc"],
        2,
        "EMCs are PixelFlow's",
    ),
    (["render", "scene.toml", "-o", "a.png", "--machine", "larrabee", "--projection", "vpu"], 2, "has no vertices"),
    (["render", "scene.toml", "-o", "a.png", "--core", "vector_latency=6"], 2, "add --machine larrabee"),
    (["compare", "scene.toml", "--core", "4"], 3, "example: --core vector_latency=4"),
    (["compare", "scene.toml", "--core", "caches=true"], 2, "no picture depends on it"),
    (["compare", "scene.toml", "--core", "vector_latncy=6"], 3, "did you mean vector_latency?"),
    (["compare", "scene.toml", "--core", "vector_latency=0"], 3, "vector_latency: 0 is out of range"),
    (["render", "scene.toml", "-o", "a.png", "--machine", "larabee"], 2, "did you mean larrabee?"),
]


@pytest.mark.parametrize("words, code, message", WRONG, ids=[" ".join(words[:1] + words[2:]) for words, _, _ in WRONG])
def test_what_does_not_go_together_is_refused(
    scene: str, words: list[str], code: int, message: str, capsys: pytest.CaptureFixture
) -> None:
    try:
        found = main(words)
    except SystemExit as left:
        found = left.code
    assert found == code
    assert message in capsys.readouterr().err
    assert not Path("a.png").exists()


def test_what_a_scene_is_made_of_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (4, 4), (9, 9, 9)).save("wood.png")
    before = Path("wood.png").read_bytes()
    Path("scene.toml").write_text('[[body]]\nmesh = "floor"\ntexture = "wood.png"\n', encoding="utf-8")
    assert main(["render", "scene.toml", "--machine", "larrabee", "-o", "wood.png"]) == 3
    assert "the scene is made of this file" in capsys.readouterr().err
    assert Path("wood.png").read_bytes() == before


@pytest.mark.slow
def test_trimmed_patches_are_compared_without_the_tessellation_that_one_machine_has_not(capsys) -> None:
    assert main(["compare", "rosette", "--samples", "2", "--size", "32x24", "--cores", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "trims" in found["tessellation"]["left_out"]
    assert main(["compare", "rosette", "--samples", "2", "--size", "32x24", "--explain", "tessellation"]) == 0
    assert "left out" in " ".join(capsys.readouterr().out.split())
