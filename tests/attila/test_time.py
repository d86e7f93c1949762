"""Does the machine come to the same end however it is driven, and does it take what the spec says?"""

from __future__ import annotations

from functools import cache

import pytest

from attila_bridge.function import Units, draw
from attila_bridge.function.work import AttilaWork
from attila_bridge.time.config import CASE, PAPER, AttilaConfig
from attila_bridge.time.simulation import AttilaRun, Simulation, run
from pixelflow.simd.errors import CycleLimitError, InputError
from pixelflow.simd.observe import Bus, Carried
from tests.attila.recorded import Corner, drawn, quad, scene_of

CHAIN = "!!ARBfp1.0\nTEMP a;\nMOV a, fragment.color;\n" + "MAD a, a, a, a;\n" * 4 + "MOV result.color, a;\nEND"


@cache
def frame(kind: str, units: Units) -> AttilaWork:
    """Return the work of a small frame."""
    size = (64, 64)
    layers = [quad(0, 0, 64, 64, depth) for depth in (0.2, 0.6, 0.4)]
    if kind == "plain":
        scene = scene_of(drawn(layers[0]), size=size)
    elif kind == "depth":
        corners: list[Corner] = [corner for layer in layers for corner in layer]
        state = {"depth": {"func": "less", "write": True}}
        scene = scene_of(drawn(corners, state=state), size=size, clear={"color": [0, 0, 0, 1], "depth": 1.0})
    elif kind == "draws":
        scene = scene_of(*(drawn(layer) for layer in layers), size=size)
    else:
        scene = scene_of(drawn(layers[0], fragment=CHAIN), size=size)
    return draw(scene, units)


def units_of(config: AttilaConfig) -> Units:
    return Units(shaders=config.gpu.shaders, rops=config.gpu.rops)


@cache
def result(kind: str, config: AttilaConfig = PAPER, shuffle: int | None = None) -> AttilaRun:
    return Simulation(frame(kind, units_of(config)), config, shuffle=shuffle).finish(200_000)


KINDS = ("plain", "depth", "draws", "chain")


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_boxes_changes_nothing(kind: str) -> None:
    plain = result(kind)
    other = result(kind, shuffle=1)
    assert (other.phases, other.statistics) == (plain.phases, plain.statistics)


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_goes_on_from_a_snapshot(kind: str) -> None:
    plain = result(kind)
    first = Simulation(frame(kind, Units()))
    for part, shuffle in ((2, None), (3, 3), (5, None)):
        first.clock.run_until(plain.cycles * (part - 1) // part)
        second = Simulation(frame(kind, Units()), shuffle=shuffle)
        second.clock.restore(first.clock.snapshot())
        ended = second.finish(200_000)
        assert (ended.phases, ended.statistics) == (plain.phases, plain.statistics)
    ended = first.finish(200_000)
    assert (ended.phases, ended.statistics) == (plain.phases, plain.statistics)


def test_counts_of_a_square_are_those_of_its_fragments() -> None:
    """64 x 64 pixels are 64 lines; every quad of a triangle is shaded, and quads on the diagonal twice."""
    counts = result("plain").statistics
    quads = frame("plain", Units()).draws[0].quads
    assert counts["InputVertices_FFU"] == counts["Misses_StOC"] == 6
    assert counts["ShadedVertices_FFU"] == 8, "filled up to groups of four"
    assert counts["Triangles_PA"] == 2 + 1, "and the end of the draw"
    assert counts["GeneratedFragments_TT"] == 64 * len(quads.triangle) + 4
    covered = int((quads.covered > 0).sum())
    assert 32 * 32 < covered <= 32 * 32 + 32
    assert counts["ShadedFragments_FFU"] == 4 * covered
    assert covered == counts["OperatedFragments_CW-SU0"] + counts["OperatedFragments_CW-SU1"]
    written = sum(counts[f"WriteBytes_CW-SU{rop}"] for rop in range(2))
    assert written == counts["ColorWriteWriteBytes_MC"] == 64 * 64, "64 lines of one colour, 64 bytes each"
    blocks = {name: counts[name] for name in counts if name.startswith("ColorStateBlocks")}
    assert blocks["ColorStateBlocksTotal_DAC"] == blocks["ColorStateBlocksCompressedBest_DAC"] == 64


def test_hierarchical_z_and_depth_agree_with_the_pictures() -> None:
    counts = result("depth").statistics
    tested = sum(counts[f"TestedFragments_ZST-SU{rop}"] for rop in range(2))
    passed = sum(counts[f"PassedFragments_ZST-SU{rop}"] for rop in range(2))
    assert passed == 4096
    assert tested + 4 * counts["CulledHZFragments_HZ"] >= 3 * 4096
    off = result("depth", PAPER.with_values({"hz.enabled": False})).statistics
    assert off["CulledHZFragments_HZ"] == 0
    assert sum(off[f"PassedFragments_ZST-SU{rop}"] for rop in range(2)) == 4096


def test_a_chain_takes_its_latencies() -> None:
    """Six instructions for each fragment, four for each vertex (three and the end of the program is one of them)."""
    plain, chain = result("plain"), result("chain")
    threads = sum(chain.statistics[f"Inputs_ShF-FS{each}"] for each in range(2))
    executed = sum(chain.statistics[f"ExecutedInstructions_ShDX-FS{each}"] for each in range(2))
    vertices = chain.statistics["ShadedVertices_FFU"]
    assert executed == 6 * (threads - vertices) + 3 * vertices
    assert chain.drawing > plain.drawing


@pytest.mark.parametrize("window", [True, False])
def test_the_case_machine_runs_in_and_out_of_order(window: bool) -> None:
    config = CASE.with_values({"shader.window": window})
    counts = result("chain", config).statistics
    assert counts["ReplayCommands_ShDX-FS0"] >= 0
    assert counts["ShadedFragments_FFU"] == result("chain").statistics["ShadedFragments_FFU"]


def test_every_transfer_can_be_watched() -> None:
    bus, seen = Bus(), list[Carried]()
    bus.subscribe(seen.append, Carried)
    watched = run(frame("plain", Units()), bus=bus)
    assert watched.statistics == result("plain").statistics
    wires = {each.wire for each in seen}
    assert {"TriangleSetupOutput", "HZOutput", "FS0::ShaderCommand", "MemoryModule00"} <= wires
    received = sum(each.amount for each in seen if each.wire == "HZOutput")
    assert received == watched.statistics["InputFragments_FFU"]


def test_a_machine_with_other_units_refuses_the_work() -> None:
    with pytest.raises(InputError, match=r"gpu.rops is 1; the frame was drawn for 2"):
        run(frame("plain", Units()), PAPER.with_values({"gpu.rops": 1}))


def test_a_limit_of_cycles_stops_a_frame() -> None:
    with pytest.raises(CycleLimitError):
        run(frame("plain", Units()), max_cycles=500)


def test_phases_are_the_whole_frame() -> None:
    ended = result("draws")
    assert ended.cycles == sum(ended.phases.values()) + 1
    assert ended.drawing == sum(ended.phases[name] for name in ("Draw", "EndGeometry", "EndFragment"))
    assert ended.phases["EndFragment"] == 3, "one for each draw"
    assert ended.rendered < ended.cycles
