"""How long do nodes with roles take together, worked out by hand, and what do they merge and finish?"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.config import CompositionConfig, NodeConfig
from pixelflow.simd.drawing import Blend, Draw, Frame, State, Texture, draw_frame, snap
from pixelflow.simd.errors import InputError
from tessellation.picture import SceneSource
from tessellation.rendering import RecordWork, Roles, SampleWork, ShadingWork, draw_on_nodes, merge, run_network, shares
from tessellation.rendering.account import uncounted_pixels
from tessellation.rendering.composition import depths_of
from tessellation.rendering.machine import ended_of
from tessellation.rendering.network import Cargo, check_room, transfers_of
from tessellation.scenes import load_scene
from tests.documents.marks import table_after

DOCUMENT, MARK = "docs/pages/shading.md", "read by: tests/rendering/test_composition.py"
NETWORK = CompositionConfig(emc_bytes_per_cycle=2, node_cycles=5)
APART = CompositionConfig(emc_bytes_per_cycle=2, node_cycles=5, overlap=False)
SENDING = 256 * 6 // 2
"""256 pixels of an EMC, 6 bytes each."""
FULL = "waits for room in image composition memory"


def works(*nodes: list[int], copying: int = 13) -> list[list[RecordWork]]:
    return [[RecordWork(drawing, copying) for drawing in node] for node in nodes]


def run(*nodes: list[int], network: CompositionConfig = NETWORK, record_bytes: int = 6):
    return run_network(works(*nodes), record_bytes=record_bytes, network=network)


def test_one_region_of_three_nodes() -> None:
    # The slowest node is the second: it has copied at 1,013, and then grants. The first has that at 1,014 and begins;
    # three times 5 cycles further, in the frame buffer, its first byte is at 1,029 and its last 767 later.
    found = run([400], [1000], [500])
    assert found.transfer_cycles == SENDING == 768
    assert found.came == (1014 + 3 * 5 + 767,) and found.cycles == 1796
    assert found.waits == (0, 0, 0)
    assert run([400], [1000], [500], record_bytes=64).cycles == 1014 + 3 * 5 + 256 * 64 // 2 - 1
    odd = CompositionConfig(emc_bytes_per_cycle=5, node_cycles=5)
    assert run([400], [1000], [500], network=odd).transfer_cycles == 308  # 1,536 bytes in 307.2 cycles


def test_nodes_that_are_done_are_lost_to_imbalance_and_all_wait_for_the_wires() -> None:
    # As above: 413, 1,013 and 513 cycles of work in one go, and all pixels in the frame buffer at 1,796.
    found = run([400], [1000], [500])
    assert ended_of(found) == (413, 1013, 513)
    busy, imbalance, wires = 413 + 1013 + 513, 600 + 0 + 500, 3 * (1796 - 1013)
    assert sum(node.busy for node in found.nodes) == busy and busy + imbalance + wires == 3 * found.cycles
    # Of regions drawn in 100 and copied in 13 both nodes wait before each copy but the first.
    waits = run([100] * 3, [100] * 3)
    first, second = ended_of(waits)
    assert first - sum(waits.nodes[0].waited.values()) == second - sum(waits.nodes[1].waited.values()) == 3 * 113


def test_short_regions_wait_for_the_wires() -> None:
    # Each region is drawn in 100 cycles and 13 more are the copy, but 768 go by until the next may be copied. The first
    # copies end at 113, the grant is there at 114, the first node sends until 882, the second until 887.
    found = run([100] * 3, [100] * 3)
    assert found.came[0] == 114 + 2 * 5 + 767 == 891
    # The second node copies from 887 to 900 and grants; so it goes on.
    assert found.came == (891, 901 + 777, 901 + 787 + 777)
    assert found.waits == ((882 - 213) + (1669 - 995), (887 - 213) + (1674 - 1000))
    assert found.nodes[0].sent_bytes == 3 * 8192 * 6 and found.nodes[0].sending == 3 * SENDING


def test_long_regions_hide_the_way() -> None:
    found = run([2000] * 4, [1500] * 4)
    # The second node has always granted before the first has copied, at 2,013 cycles a region.
    assert found.came == tuple(2013 * region + 2 * 5 + 767 for region in (1, 2, 3, 4))
    # It has drawn its third region at 1,513 + 1,513 + 1,500 = 4,526, but the second, which came at 4,031, leaves it
    # until 4,799; and the fourth at 4,799 + 13 + 1,500, where the third leaves it until 6,039 + 5 + 768.
    assert found.waits == (0, (4799 - 4526) + (6812 - 6312))


def test_memory_for_two_regions_lets_a_node_run_ahead() -> None:
    # Wires that take 24 cycles. The second node has two regions ready at 226, long before the first has one at 2,013.
    # With room for one it can begin its third, of 2,000 cycles, only when it has copied the second, at 2,038 + 13.
    uneven = [2000, 100, 100], [100, 100, 2000]
    one, two = (CompositionConfig(emc_bytes_per_cycle=64, node_cycles=1, regions_held=held) for held in (1, 2))
    # At 2,014 the first byte comes to the second node, at 2,038 it has left, at 2,051 the next is copied, granted.
    assert run(*uneven, network=one).came == (2038, 2126 + 25, 2038 + 13 + 2013 + 1 + 1 + 24)
    assert run(*uneven, network=two).came == (2038, 2126 + 25, 226 + 2013 + 1 + 1 + 24)


def test_without_overlap_everything_adds_up() -> None:
    # A region: 2,000 + 13 + 768. The second node is free 5 cycles later and has 500 to spare.
    found = run([2000] * 3, [1500] * 3, network=APART)
    assert found.came == tuple(2781 * region - 1 + 10 for region in (1, 2, 3))
    assert found.nodes[0].waited == {"waits until what it copied has gone": 2 * 768}


def shading(*cycles: int, finishing: int, receiving: int = 0) -> ShadingWork:
    return ShadingWork(tuple(SampleWork(receiving, each) for each in cycles), finishing)


def test_a_shader_takes_the_samples_and_sends_pixels() -> None:
    # One rasterizer, one shader, one region of two samples of 4 bytes: 512 cycles on the wires each.
    work = [[shading(20, 30, finishing=40, receiving=9)]]
    found = run_network(works([100, 100], copying=10), work, record_bytes=4, samples=2, network=NETWORK)
    # Copied at 110; all of it is at the shader at 110 + 5 + 511 = 626, which takes it until 635 and grants the second.
    # Meanwhile that is drawn, at 210, and copied when the first has gone, at 622 + 10. The grant comes at 636. It is
    # there at 636 + 516 = 1,152, shaded and finished 9 + 30 + 40 later; 256 pixels of 3 bytes are 384 cycles.
    assert found.cycles == 1231 + 5 + 383
    raster, shader = found.nodes
    assert raster.waited == {FULL: 622 - 210} and shader.waited == {"waits for records": 626 + 1152 - (635 + 20)}
    assert (raster.sent_bytes, shader.sent_bytes) == (2 * 8192 * 4, 8192 * 3)
    # With room for two the second follows the first on the wires: 512 later.
    two = CompositionConfig(emc_bytes_per_cycle=2, node_cycles=5, regions_held=2)
    found = run_network(works([100, 100], copying=10), work, record_bytes=4, samples=2, network=two)
    assert found.cycles == 110 + 2 * 512 + 5 - 1 + 9 + 30 + 40 + 5 + 383


@pytest.mark.parametrize("composed", [False, True])
def test_what_is_done_with_all_pixels_is_named_as_not_counted(composed: bool) -> None:
    text = uncounted_pixels(640, 480, composed=composed)
    assert "PF302" in text and "307,200" in text


def test_records_that_fill_image_composition_memory_leave_their_place_to_pixels() -> None:
    # 64 bytes: 8,192 cycles. The record of the second region is granted only when the pixels of the first have left.
    work = [[shading(100, finishing=10, receiving=130)] * 2]
    found = run_network(works([100, 100], copying=10), work, record_bytes=64, network=NETWORK)
    first = 110 + 5 + 8191 + 130 + 100 + 10
    assert found.came[0] == first + 5 + 383
    second = first + 384 + 1 + 5 + 8191 + 130 + 100 + 10
    assert found.came[1] == second + 5 + 383
    less = run_network(works([100, 100], copying=10), work, record_bytes=61, network=NETWORK)
    assert less.came[1] < second - 2 * 384


def test_a_shader_that_is_busy_takes_no_record_and_one_that_shades_has_the_next_one_come() -> None:
    # The second record comes while the first, which lies in main memory already, is shaded for 5,000 cycles.
    busy = [[shading(5000, finishing=10, receiving=9)] * 2]
    found = run_network(works([100, 100], copying=10), busy, record_bytes=4, network=NETWORK)
    assert found.nodes[1].waited == {"waits for records": 110 + 5 + 511}
    assert found.cycles == 626 + 2 * (9 + 5000 + 10) + 5 + 383


def test_a_slow_shader_holds_up_the_rasterizers_and_a_second_one_helps() -> None:
    drawn = works([100] * 6)
    one = run_network(drawn, [[shading(5000, finishing=0)] * 6], record_bytes=6, network=NETWORK)
    # The first record is there at 113 + 5 + 767. From then on the shader always has one.
    assert one.cycles >= 885 + 6 * 5000 + 5 + 383 and one.cycles < 885 + 6 * 5000 + 6 * 900
    two = run_network(drawn, [[shading(5000, finishing=0)] * 3] * 2, record_bytes=6, network=NETWORK)
    assert two.cycles < 0.6 * one.cycles
    assert one.nodes[0].waited[FULL] > two.nodes[0].waited[FULL] > 0


def test_the_order_of_transfers() -> None:
    roles = Roles(3, 2)
    assert roles.names == ("rasterizer 1", "rasterizer 2", "rasterizer 3", "shader 1", "shader 2", "frame buffer")
    found = transfers_of(roles, regions=3, samples=2, record=10, pixels=3)
    assert [(each.kind is Cargo.PIXELS, each.region, each.sample, each.first, each.last) for each in found] == [
        (False, 0, 0, 0, 3), (False, 0, 1, 0, 3), (False, 1, 0, 0, 4), (False, 1, 1, 0, 4),
        (False, 2, 0, 0, 3), (False, 2, 1, 0, 3), (True, 0, 0, 3, 5), (True, 1, 0, 4, 5), (True, 2, 0, 3, 5),
    ]  # fmt: skip
    for bad in ((0, 1), (1, -1)):
        with pytest.raises(InputError, match="1 or more rasterizers"):
            Roles(*bad)


def test_no_frame_is_faster_than_its_parts_and_boxes_may_be_ticked_in_any_order() -> None:
    rng = np.random.default_rng(8)
    for seed in range(40):
        nodes, shaders, regions = rng.integers(1, 6), rng.integers(0, 4), rng.integers(1, 7)
        samples = 4 if shaders and seed % 2 else 1
        network = CompositionConfig(
            emc_bytes_per_cycle=int(rng.integers(1, 30)), node_cycles=int(rng.integers(1, 9)),
            overlap=bool(rng.integers(2)), regions_held=int(rng.integers(1, 4)),
        )  # fmt: skip
        drawn = works(*rng.integers(0, 3000, (nodes, regions * samples)).tolist())
        shaded = [
            [
                shading(*rng.integers(0, 4000, samples).tolist(), finishing=40, receiving=20)
                for _ in range(shader, regions, shaders)
            ]
            for shader in range(shaders)
        ]
        size = int(rng.integers(4, 65))
        how = {"record_bytes": size, "samples": samples, "network": network}
        found = run_network(drawn, shaded, **how)
        assert len(found.came) == regions and found.came[-1] == found.cycles
        assert found.cycles >= max(node.busy + waited for node, waited in zip(found.nodes, found.waits, strict=True))
        assert found.cycles >= regions * samples * found.transfer_cycles
        assert found == run_network(drawn, shaded, **how, shuffle_seed=seed)


@pytest.mark.parametrize("given", [[[RecordWork(1, 1)], []], [[RecordWork(1, 1)], [RecordWork(1, 1)] * 2]])
def test_nodes_that_draw_other_regions_are_refused(given: list) -> None:
    with pytest.raises(InputError, match="same regions"):
        run_network(given, record_bytes=6)


def test_values_out_of_range_are_refused() -> None:
    for name in ("emc_bytes_per_cycle", "node_cycles"):
        with pytest.raises(InputError, match=rf"composition\.{name}: 0"):
            NodeConfig(composition=CompositionConfig(**{name: 0}))
    full = NodeConfig(composition=CompositionConfig(regions_held=10))
    draw_on_nodes(frame(4), Roles(2, 0), config=full)  # 60 of 64 bytes
    with pytest.raises(InputError, match="10 records of 7 bytes do not fit image composition memory"):
        check_room(full, 7)
    check_room(full, 6)


def frame(count: int = 40, samples: int = 1) -> Frame:
    rng = np.random.default_rng(9)
    points = rng.uniform((0, 0), (200, 100), (count, 1, 2)) + rng.uniform(-25, 25, (count, 3, 2))
    triangles = snap(points, rng.random((count, 3)), rng.integers(0, 256, (count, 3, 3)).astype(np.uint8))
    return Frame(200, 100, (9, 8, 7), (Draw("some", triangles),), samples)


@pytest.mark.parametrize("roles", [Roles(1), Roles(2), Roles(5), Roles(1, 1), Roles(4, 2), Roles(3, 5)], ids=str)
def test_nodes_with_any_roles_draw_the_same_picture(roles: Roles) -> None:
    found = draw_on_nodes(frame(), roles)
    assert found.picture.equals(draw_frame(frame()))
    assert len(found.nodes) == roles.rasterizers + roles.shaders
    if found.time is not None:
        assert [node.busy for node in found.time.nodes] == [node.cycles for node in found.nodes]


def mixed(samples: int, mipmaps: bool) -> Frame:
    """Shaded, textured, cut-out and sorted triangles in perspective, in three regions, two of them narrow."""
    rng = np.random.default_rng(4)
    texture = Texture(rng.integers(0, 256, (8, 16, 4)).astype(np.uint8), mipmaps)

    def some(name: str, state: State, depth: float) -> Draw:
        points = rng.uniform((60, 0), (135, 70), (5, 1, 2)) + rng.uniform(-25, 25, (5, 3, 2))
        colours, coordinates = rng.integers(0, 256, (5, 3, 3)), rng.uniform(-20, 20, (5, 3, 2))
        found = snap(points, depth + 0.3 * rng.random((5, 3)), colours, coordinates, rng.uniform(0.2, 1, (5, 3)))
        return Draw(name, found, state)

    glass = State(blend=Blend.SORTED, alpha=120, depth_write=False)
    draws = (some("plain", State(), 0.5), some("wood", State(texture=texture), 0.5), some("glass", glass, 0.3))
    return Frame(132, 66, (1, 2, 3), draws, samples)


@pytest.mark.parametrize(("samples", "mipmaps"), [pytest.param(1, True, marks=pytest.mark.slow), (4, False)])
def test_nodes_with_any_roles_draw_textures_samples_and_glass_alike(*, samples: int, mipmaps: bool) -> None:
    frame = mixed(samples, mipmaps)
    expected = draw_frame(frame)
    assert not expected.equals(draw_frame(replace(frame, draws=frame.draws[:2])))
    for roles in (Roles(1), Roles(2, 2)):
        found = draw_on_nodes(frame, roles)
        assert found.picture.equals(expected), roles
        assert len(found.loading) == (roles.shaders or 1), "who shades has the textures"
    names = {name for node in found.nodes[2:] for name in node.cycles_by_stage}
    assert {"receive", "division", "texels"} <= names
    assert not names & set(found.nodes[0].cycles_by_stage) - {"clear", "edges", "depth", "values"}


def role_rows(samples: int, *several: tuple[int, int, int]) -> Iterator[list[str]]:
    """Yield the rows of the document's table for so many rasterizers, shaders and bytes a cycle."""
    scene = load_scene("teapot", SceneSource(size=(320, 240), patch_samples=4)).frame
    for rasterizers, shaders, width in several:
        config = NodeConfig(composition=CompositionConfig(emc_bytes_per_cycle=width))
        found = draw_on_nodes(replace(scene, samples=samples), Roles(rasterizers, shaders), config=config)
        nodes, time = [node.cycles for node in found.nodes], found.time
        wires = max(node.sending for node in time.nodes) if time is not None else "-"
        yield [
            str(samples), f"{rasterizers} + {shaders}", str(width) if time is not None else "-",
            str(time.record_bytes) if time is not None else "-",
            *(each if isinstance(each, str) else f"{each:,}" for each in (
                time.cycles if time is not None else nodes[0], max(nodes[:rasterizers]),
                max(nodes[rasterizers:], default="-"), wires,
            )),
        ]  # fmt: skip


@pytest.mark.slow
def test_the_table_of_roles() -> None:
    rows = [
        *role_rows(1, (1, 0, 2), (4, 0, 2), (4, 1, 2), (4, 2, 2), (4, 2, 8)),
        *role_rows(4, (1, 0, 2), (4, 1, 2), (4, 2, 8)),
    ]
    assert table_after(DOCUMENT, MARK)[2:] == [f"| {' | '.join(row)} |" for row in rows]


def test_what_a_sample_costs_a_shader_by_hand() -> None:
    found = draw_on_nodes(frame(4, samples=4), Roles(1, 1))
    raster, shader = (node.cycles_by_stage for node in found.nodes)
    # Four regions, four samples: 16 bytes of depth, material and colours; linear ones are finished already.
    assert found.time is not None and found.time.record_bytes == 16
    assert raster["copy for composition"] == 16 * (1 + 2 * 16)
    assert shader == {
        "receive": 16 * (2 + 2 * 16),
        "samples added up": 16 * (1 + 3 * 6),
        "finished pixels": 4 * (1 + 3 * 5),
    }


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--shaders", "-1"], 2, "expected a whole number, 0 or more, found '-1'"),
        (["--shaders", "two"], 2, "expected a whole number, 0 or more, found 'two'"),
        (["--shaders", "41"], 2, "expected 0 to 40 nodes, as a machine has"),
        (["--nodes", "30", "--shaders", "11"], 2, "30 nodes and 11 shaders"),
        (["--shaders", "1", "--machine", "larrabee"], 2, "is PixelFlow's"),
        (["--shaders", "1", "--projection", "emc-words"], 2, "the words are drawn by the node that made them"),
        (["-D", "composition.regions_held=10", "--shaders", "1"], 3, "10 records of 20 bytes do not fit image compos"),
        (["--nodes", "2"], 3, "2 nodes draw 4 samples a pixel, and none of them shades"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_roles_are_refused(tmp_path: Path, capsys, words: list[str], code: int, message: str) -> None:
    pytest.importorskip("PIL")
    scene = "enneper"
    if message.startswith("2 nodes"):
        scene = str(tmp_path / "four.toml")
        Path(scene).write_text('samples = 4\n[[generated]]\nfamily = "sized"\ncount = 1\npixels = 9\n')
    out = tmp_path / "x.png"
    assert main(["render", scene, "--size", "32x24", "-o", str(out), *words]) == code
    assert message in " ".join(capsys.readouterr().err.split()) and not out.exists()


def test_equal_depths_stay_with_the_first_node_and_empty_pixels_lose() -> None:
    def records(*depths: int, tag: int) -> np.ndarray:
        return np.array([[depth >> 16, depth >> 8 & 255, depth & 255, tag] for depth in depths], np.uint8).T

    empty = (1 << 24) - 1
    found = merge([
        records(9, empty, 7, 256, tag=1), records(5, empty, 7, 255, tag=2), records(5, empty - 1, 7, 65536, tag=3)
    ])  # fmt: skip
    assert depths_of(found).tolist() == [5, empty - 1, 7, 255]
    assert found[3].tolist() == [2, 3, 1, 2]
    assert shares(10, 4) == [range(3), range(3, 6), range(6, 8), range(8, 10)]


def test_the_command_says_what_nodes_do(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip("PIL")
    words = ["render", "enneper", "--samples", "3", "--size", "96x64", "-o", str(tmp_path / "o.png"), "--nodes", "2"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    network = found["composition"]
    assert found["equals_reference"] and network["standing"].startswith("executed")
    assert (network["transfer_cycles"], network["record_bytes"], network["shaders"]) == (768, 6, 0)
    # One region: the second node grants when it has drawn, the first begins, two wires of 2 cycles, 767 more.
    first, second = (node["cycles"] for node in found["nodes"])
    assert network["frame_cycles"] == max(first, second + 1) + 2 * 2 + 767 == found["cycles"]
    assert found["composition_cycles"] == found["cycles"] - found["slowest_node_cycles"]


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_picture_has_its_background_where_nothing_is_drawn(nodes: int) -> None:
    corners = np.array([[[1.0, 1.0], [6.0, 1.0], [6.0, 6.0]]])
    triangle = snap(corners, np.full((1, 3), 0.5), np.full((1, 3, 3), 9, np.uint8))
    found = draw_on_nodes(Frame(8, 8, (1, 2, 3), (Draw("one", triangle),)), Roles(nodes)).picture
    assert found.colours[7, 0].tolist() == [1, 2, 3] and found.colours[1, 3].tolist() == [9, 9, 9]
