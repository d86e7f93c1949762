"""How long do nodes take to merge their regions, worked out by hand, and what do they merge?"""

import json
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.config import THESIS, TINY, CompositionConfig, NodeConfig
from pixelflow.simd.drawing import FAR, Picture, draw, snap
from pixelflow.simd.errors import InputError
from tessellation.rendering import RegionWork, compose, composition_time, render, shares, works_of
from tessellation.rendering.composition_time import region_cycles
from tessellation.rendering.nodes import render_on_nodes

NETWORK = CompositionConfig(emc_bytes_per_cycle=2, node_cycles=5)
APART = CompositionConfig(emc_bytes_per_cycle=2, node_cycles=5, overlap=False)
SENDING = 256 * 6 // 2
"""256 pixels of an EMC, 6 bytes each."""


def works(*nodes: list[int], copying: int = 13) -> list[list[RegionWork]]:
    return [[RegionWork(drawing, copying) for drawing in node] for node in nodes]


def test_a_region_on_the_wires() -> None:
    assert region_cycles(THESIS, NETWORK) == SENDING == 768
    assert region_cycles(THESIS, CompositionConfig(emc_bytes_per_cycle=5)) == 308  # 1,536 bytes in 307.2 cycles
    assert region_cycles(THESIS, NETWORK, pixel_bytes=64) == 8192
    assert region_cycles(TINY, NETWORK) == TINY.lanes // TINY.array.emcs * 3


def test_one_region_of_three_nodes() -> None:
    # The slowest node is the second: it has copied at 1,013, and its first byte leaves it 5 cycles after the first
    # node's, which begins at 1,008. The last byte leaves the third node 10 + 768 cycles after that.
    found = composition_time(works([400], [1000], [500]), THESIS, NETWORK)
    assert found.starts == (1008,)
    assert (found.region_cycles, found.latency_cycles, found.cycles) == (768, 10, 1008 + 10 + 768)
    assert found.waits == (0, 0, 0)


def test_short_regions_wait_for_the_wires() -> None:
    # Each region is drawn in 100 cycles and 13 more are the copy, but 768 go by until the next may be copied.
    found = composition_time(works([100] * 3, [100] * 3), THESIS, NETWORK)
    # First copy ends at 113. It leaves node 0 at 113 + 768 = 881, where the second copy begins: to 894. Node 1 is 5
    # later and needs its bytes 5 later.
    assert found.starts == (113, 894, 1675)
    assert found.waits == (2 * (881 - 213), 2 * (881 - 213) + 5)
    assert found.cycles == 1675 + 5 + 768


def test_long_regions_hide_the_way() -> None:
    found = composition_time(works([2000] * 4, [1500] * 4), THESIS, NETWORK)
    assert found.starts == (2013, 4026, 6039, 8052)
    # The faster node has drawn its third region at 4,526, but the second, begun at 4,026, leaves it until 4,799; and
    # its fourth at 4,799 + 13 + 1,500, where the third leaves it until 6,812.
    assert found.waits == (0, 273 + 500)
    assert found.cycles == 8052 + 5 + 768


def test_memory_for_two_regions_lets_a_node_run_ahead() -> None:
    # The first node has its second region ready at 113 + 113 = 226, the third at 339, but there is room only when the
    # first has left, at 113 + 768 = 881. The wires are busy all the time.
    network = CompositionConfig(emc_bytes_per_cycle=2, node_cycles=0, regions_held=2)
    found = composition_time(works([100] * 3), THESIS, network)
    assert found.starts == (113, 881, 1649)
    assert found.waits == (881 - 326,)
    # Wires that take 24 cycles. The second node has two regions ready at 226, long before the first has one at 2,013.
    # With room for one it can begin its third, of 2,000 cycles, only when it has copied the second, at 2,037 + 13.
    uneven = works([2000, 100, 100], [100, 100, 2000])
    one, two = (CompositionConfig(emc_bytes_per_cycle=64, node_cycles=0, regions_held=held) for held in (1, 2))
    assert composition_time(uneven, THESIS, one).starts == (2013, 2126, 4063)
    assert composition_time(uneven, THESIS, two).starts == (2013, 2126, 2239)


def test_without_overlap_everything_adds_up() -> None:
    found = composition_time(works([2000] * 3, [1500] * 3), THESIS, APART)
    assert found.starts == (2013, 2013 + 2781, 2013 + 2 * 2781)  # a region: 2,000 + 13 + 768
    assert found.cycles == 3 * 2781 + 5
    # The faster node has its registers free 5 cycles after the slower one, and has 500 to spare.
    assert found.waits[0] == 2 * 768


@pytest.mark.parametrize("overlap", [True, False])
def test_no_frame_is_faster_than_its_parts(*, overlap: bool) -> None:
    rng = np.random.default_rng(8)
    for _ in range(50):
        nodes, regions = rng.integers(1, 6), rng.integers(1, 9)
        drawing = rng.integers(0, 3000, (nodes, regions))
        network = CompositionConfig(
            emc_bytes_per_cycle=int(rng.integers(1, 9)), node_cycles=int(rng.integers(0, 9)), overlap=overlap
        )
        found = composition_time(works(*drawing.tolist()), THESIS, network)
        sending = found.region_cycles
        assert found.cycles >= (drawing.sum(axis=1) + 13 * regions).max() + sending
        assert found.cycles >= regions * sending + found.latency_cycles
        assert (np.diff(found.starts) >= sending).all()
        slower = composition_time(works(*(drawing + 1).tolist()), THESIS, network)
        assert slower.cycles >= found.cycles
        if overlap:
            apart = composition_time(works(*drawing.tolist()), THESIS, CompositionConfig(
                emc_bytes_per_cycle=network.emc_bytes_per_cycle, node_cycles=network.node_cycles, overlap=False
            ))  # fmt: skip
            assert apart.cycles >= found.cycles


@pytest.mark.parametrize("given", [[], [[RegionWork(1, 1)], []]])
def test_nodes_that_draw_other_regions_are_refused(given: list) -> None:
    with pytest.raises(InputError, match="same regions"):
        composition_time(given)


def test_values_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match=r"composition\.emc_bytes_per_cycle: 0"):
        NodeConfig(composition=CompositionConfig(emc_bytes_per_cycle=0))


def triangles(count: int = 40):
    rng = np.random.default_rng(9)
    points = rng.uniform((0, 0), (200, 100), (count, 1, 2)) + rng.uniform(-25, 25, (count, 3, 2))
    return snap(points, rng.random((count, 3)), rng.integers(0, 256, (count, 3, 3)).astype(np.uint8))


def test_what_is_sent_is_what_was_drawn_and_the_copy_is_executed() -> None:
    scene = triangles()
    alone, sent = render(scene, 200, 100), render(scene, 200, 100, composed=True)
    assert sent.picture.equals(alone.picture) and sent.picture.equals(draw(scene, 200, 100))
    assert sent.cycles == alone.cycles + 4 * 13  # enable all, and 6 bytes loaded and stored
    assert sent.cycles_by_stage["copy for composition"] == 52
    assert works_of([sent])[0] == [RegionWork(each.run.cycles, 13) for each in alone.regions]
    assert works_of([alone])[0] == [RegionWork(each.run.cycles, 0) for each in alone.regions]


@pytest.mark.parametrize("nodes", [2, 5])
def test_what_nodes_send_composes_the_same_picture(nodes: int) -> None:
    scene = triangles()
    pictures = [render(share, 200, 100, composed=True).picture for share in shares(scene, nodes)]
    assert compose(pictures).equals(draw(scene, 200, 100))


def test_ties_and_empty_pixels() -> None:
    def picture(depth: int, colour: int) -> Picture:
        return Picture(np.full((1, 3, 3), colour, np.uint8), np.array([[depth, FAR, 7]]))

    # Depth 5 wins against 9; where all are empty, and where all are equally near, the first node's colour stays.
    found = compose([picture(9, 1), picture(5, 2), picture(5, 3)])
    assert found.depths.tolist() == [[5, FAR, 7]]
    assert found.colours[0, :, 0].tolist() == [2, 1, 1]
    # The farthest depth that can be drawn is nearer than an empty pixel.
    empty, last = Picture.empty(1, 1, (9, 9, 9)), Picture(np.zeros((1, 1, 3), np.uint8), np.array([[FAR - 1]]))
    assert compose([empty, last]).equals(last)
    assert compose([empty]).equals(empty)


def test_the_command_says_that_it_is_a_formula(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("PIL")
    words = ["render", "enneper", "--samples", "3", "--size", "96x64", "-o", str(tmp_path / "o.png"), "--nodes", "2"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    time = found["composition"]
    assert found["equals_reference"] and time["standing"].startswith("formula")
    assert (time["region_cycles"], time["latency_cycles"]) == (768, 2)
    # One region: the slower node, its copy among that, then the way; the second node is late by what it takes to it.
    first, second = (node["cycles"] for node in found["nodes"])
    assert time["frame_cycles"] == max(first, second - 2) + 2 + 768
    assert found["composition_cycles"] == time["frame_cycles"] - found["cycles"]
    assert main(words) == 0
    assert "more than the slowest node (formula) emc_bytes_per_cycle 2, invented;" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_picture_is_black_where_nothing_is_drawn_unless_told_otherwise(nodes: int) -> None:
    corners = np.array([[[1.0, 1.0], [6.0, 1.0], [6.0, 6.0]]])
    triangle = snap(corners, np.full((1, 3), 0.5), np.full((1, 3, 3), 9, np.uint8))
    for options, colour in (({}, [0, 0, 0]), ({"background": (1, 2, 3)}, [1, 2, 3])):
        picture = render_on_nodes(triangle, 8, 8, nodes, **options).picture
        assert picture.colours[7, 0].tolist() == colour and picture.colours[1, 3].tolist() == [9, 9, 9]
