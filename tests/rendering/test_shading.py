"""Does the array shade what 64-bit integers shade: textures, mipmaps, cutouts, samples? What does it cost?"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from pixelflow.config import THESIS
from pixelflow.node import Node
from pixelflow.node.run.tasic_box import TasicSpec, run_cycles
from pixelflow.node.transfer import Direction, Transfer, TransferCommand
from pixelflow.simd.drawing import (
    FAR,
    Blend,
    DepthTest,
    Draw,
    Frame,
    Picture,
    ScreenTriangles,
    State,
    Stencil,
    Texture,
    draw_frame,
    snap,
)
from pixelflow.simd.errors import InputError
from tessellation.rendering import materials
from tessellation.rendering import shading_raster as layers
from tessellation.rendering.machine import draw_on_pixelflow
from tessellation.rendering.materials import (
    ShadedFrame,
    TextureLayout,
    load_textures,
    receive_program,
    require_deferred,
)
from tessellation.rendering.renderer import collect
from tessellation.rendering.shading import shade_region
from tessellation.rendering.shading_raster import record_program, sorted_layers
from tests.documents.marks import table_after

WIDTH, HEIGHT = 140, 70
"""Four regions, three of them cut off by the picture's edge."""
BACKGROUND = (1, 2, 3)


def texture(width: int, height: int, *, mipmaps: bool = False) -> Texture:
    rng = np.random.default_rng(width + 1000 * height)
    return Texture(rng.integers(0, 256, (height, width, 4)).astype(np.uint8), mipmaps)


def triangles(
    count: int, *, size: float = 40, reach: float = 200, perspective: bool = True, seed: int = 1
) -> ScreenTriangles:
    """Return triangles around a corner of four regions, with coordinates up to ``reach`` texels from 0."""
    rng = np.random.default_rng(seed)
    points = rng.uniform((100, 40), (WIDTH, HEIGHT), (count, 1, 2)) + rng.uniform(-size, size, (count, 3, 2))
    colours = rng.integers(0, 256, (count, 3, 3)).astype(np.uint8)
    coordinates = rng.uniform(-reach, reach, (count, 3, 2))
    nearness = rng.uniform(0.1, 1, (count, 3)) if perspective else None
    return snap(points, rng.random((count, 3)), colours, coordinates, nearness)


def frame(*draws: tuple[ScreenTriangles, State], samples: int = 1) -> Frame:
    made = tuple(Draw(f"draw {number}", *each) for number, each in enumerate(draws))
    return Frame(WIDTH, HEIGHT, BACKGROUND, made, samples)


def shaded_picture(whole: Frame, *, sent: bool = False) -> tuple[Picture, Counter[str]]:
    """Draw a frame on a node, every plane of samples; with ``sent`` records go by image composition memory."""
    shaded, node, stages = ShadedFrame.of(whole), Node(THESIS), Counter[str]()
    place = THESIS.array.composition_start
    if shaded.textures.textures:
        load_textures(node, shaded.textures)
    planes = [Picture.empty(whole.width, whole.height) for _ in shaded.places]
    for region in shaded.regions():
        for number, plane in enumerate(planes):
            runs = [node.run(record_program(shaded, region, number, place if sent else None))]
            if sent:
                node.write_memory(0, np.full((240, node.lanes), 0xA5, np.uint8))
                runs.append(node.run(receive_program(shaded.record, place)))
            shading = shade_region(node, shaded, shaded.present(region.triangles.tolist()))
            runs += [shading] if shading else []
            for run in [*runs, *sorted_layers(node, shaded, region, number)]:
                stages.update(run.by_stage)
            depths = (node.read_word(shaded.record.depth.offset, 4) >> np.uint64(8)).astype(np.int64)
            finished = np.stack([node.read_memory(place.offset)[0] for place in shaded.record.finished], axis=-1)
            collect(node, (depths, finished), region, plane)
    colours = sum(plane.colours.astype(np.int64) for plane in planes)
    mean = colours if len(planes) == 1 else colours + 2 >> 2
    return Picture(mean.astype(np.uint8), planes[0].depths), stages


WOOD, LEAF = State(texture=texture(64, 32)), State(texture=texture(16, 64), cutout=120)
SMALLER = State(texture=texture(32, 64, mipmaps=True))

FRAMES = {
    "linear": frame((triangles(6, perspective=False), WOOD)),
    "perspective": frame((triangles(6), WOOD), (triangles(5, seed=2), State())),
    "repeated far from 0": frame((triangles(5, reach=16_000), WOOD), (triangles(5, reach=20, seed=2), WOOD)),
    "a texel, a row and a column": frame(
        (triangles(3, seed=3), State(texture=texture(1, 1))),
        (triangles(3, seed=4), State(texture=texture(128, 1, mipmaps=True))),
        (triangles(3, perspective=False, seed=5), State(texture=texture(1, 8))),
    ),
    "mipmaps": frame((triangles(6), SMALLER), (triangles(4, perspective=False, seed=2), SMALLER), (triangles(2), WOOD)),
    "mipmaps from near and from far": frame(
        (triangles(3, reach=2), SMALLER), (triangles(3, reach=5_000, seed=2), SMALLER), (triangles(90, size=3), SMALLER)
    ),
    "cutouts": frame((triangles(4), LEAF), (triangles(3, seed=2), State())),
    "cutouts with mipmaps": frame((triangles(3), State(texture=SMALLER.texture, cutout=130)), (triangles(3), WOOD)),
}


SLOW = {"repeated far from 0", "mipmaps from near and from far", "cutouts", "cutouts with mipmaps"}


@pytest.mark.parametrize("name", [pytest.param(each, marks=[pytest.mark.slow] * (each in SLOW)) for each in FRAMES])
def test_every_pixel_is_that_of_the_reference(name: str) -> None:
    expected = draw_frame(FRAMES[name])
    assert np.count_nonzero(expected.depths < FAR) > 500
    assert shaded_picture(FRAMES[name])[0].equals(expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["perspective", "mipmaps", "cutouts"])
def test_of_four_samples_each_has_the_values_of_the_first_that_is_covered(name: str) -> None:
    whole = Frame(WIDTH, HEIGHT, BACKGROUND, FRAMES[name].draws, 4)
    assert shaded_picture(whole)[0].equals(draw_frame(whole))


def glass(**others: object) -> State:
    return replace(State(blend=Blend.SORTED, depth_write=False, alpha=110), **others)


@pytest.mark.parametrize("samples", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_layers_that_are_sorted_lie_over_what_is_opaque(samples: int) -> None:
    at_once = triangles(6, seed=6)
    at_once.depths[:] = at_once.depths[0, 0]  # of equal depths the first that was drawn is blended first
    stained = glass(texture=texture(16, 16, mipmaps=True), cutout=90, alpha=200)
    draws = frame((triangles(3), WOOD), (at_once, glass()), (triangles(2, seed=7), stained)).draws
    whole = Frame(WIDTH, HEIGHT, BACKGROUND, draws, samples)
    expected = draw_frame(whole)
    assert not expected.equals(draw_frame(Frame(WIDTH, HEIGHT, BACKGROUND, draws[:1], samples)))
    assert shaded_picture(whole)[0].equals(expected)


def test_of_as_many_sorted_triangles_as_there_can_be_the_last_at_depth_0_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its key is the least of all; with one triangle more there is an error."""
    for where in (materials, layers):
        monkeypatch.setattr(where, "MOST_SORTED", 2)
    corners = np.array([[(0, 0), (400, 0), (0, 400)]], float)
    two, three = (
        snap(np.repeat(corners, count, axis=0), np.zeros((count, 3)), np.full((count, 3, 3), 200)) for count in (2, 3)
    )
    whole = frame((two, glass()))
    assert shaded_picture(whole)[0].equals(draw_frame(whole))
    with pytest.raises(InputError, match=r"3 triangles of draws sorted by depth\n *at most 2"):
        ShadedFrame.of(frame((three, glass())))


def test_the_largest_number_of_a_sorted_triangle_has_two_bytes() -> None:
    assert materials.MOST_SORTED == 2**16 - 1


def test_the_answer_that_a_layer_was_the_last_is_left_out_of_the_cycles_and_said() -> None:
    for state, items in ((glass(), ["whether a layer was the last"]), (State(), [])):
        free = draw_on_pixelflow(Frame(8, 8, BACKGROUND, (Draw("one", triangles(1), state),))).free
        assert [each.what for each in free if "layer" in each.what] == items


def test_the_cycles_of_a_layer_by_hand() -> None:
    corners = np.array([[(0, 0), (400, 0), (0, 400)]], float)
    panes = snap(np.repeat(corners, 3, axis=0), np.array([[0.1] * 3, [0.3] * 3, [0.2] * 3]), np.full((3, 3, 3), 200))
    shaded, node = ShadedFrame.of(Frame(128, 64, BACKGROUND, (Draw("panes", panes, glass()),))), Node(THESIS)
    (region,) = shaded.regions()
    node.run(record_program(shaded, region))
    beginning, *layers, end = sorted_layers(node, shaded, region, 0)
    assert (beginning.cycles, end.cycles) == (1 + 2 + 2 * 6, 1 + 2 * 3)
    assert len(layers) == 3 * 2 + 1  # each is found and blended; the fourth finds none
    key = 5 + 2 + 2 * (2 * 5 + 1) + 2 * 5  # depth by the LEE, the number, two compares, the largest so far
    found, blending = (run.by_stage for run in layers[:2])
    assert found["depth"] == 3 * key + 1 + 2 * 5  # and the next layer's bound
    assert blending == {"blend": 4 + 1 + 3 * (1 + 3 + 8 + 4 + 8 + 6)}


def test_records_that_were_sent_are_shaded_alike() -> None:
    found, stages = shaded_picture(FRAMES["mipmaps"], sent=True)
    assert found.equals(draw_frame(FRAMES["mipmaps"]))
    assert stages["copy for composition"] == 4 * (1 + 2 * 52) and stages["receive"] == 4 * (2 + 2 * 52)
    four = Frame(WIDTH, HEIGHT, BACKGROUND, FRAMES["mipmaps"].draws, 4)
    assert [ShadedFrame.of(each).record.size for each in (FRAMES["mipmaps"], four)] == [1 + 52, 1 + 64]
    assert THESIS.array.composition_bytes == 64


def test_what_a_cutout_lets_through_is_drawn() -> None:
    corners = [[(0, 0), (400, 0), (0, 400)]]
    near, far = (np.full((1, 3), depth) for depth in (0.2, 0.8))
    texels = np.full((2, 2, 4), 255, np.uint8)
    texels[..., 3] = 100
    pane = snap(np.array(corners, float), near, np.full((1, 3, 3), 255), np.zeros((1, 3, 2)))
    wall = snap(np.array(corners, float), far, np.full((1, 3, 3), 60))
    for cutout, colour in ((100, 255), (101, 60)):
        draws = (Draw("pane", pane, State(texture=Texture(texels), cutout=cutout)), Draw("wall", wall))
        whole = Frame(64, 32, BACKGROUND, draws)
        found, _ = shaded_picture(whole)
        assert found.equals(draw_frame(whole)) and np.unique(found.colours).tolist() == [colour]


def test_the_cycles_of_a_region_by_hand() -> None:
    corners = np.array([[(0, 0), (400, 0), (0, 400)]], float)
    flat = np.full((1, 3, 3), 200)
    pane = snap(corners, np.full((1, 3), 0.5), flat, np.zeros((1, 3, 2)))
    shaded, node = ShadedFrame.of(Frame(128, 64, BACKGROUND, (Draw("pane", pane, WOOD),))), Node(THESIS)
    load_textures(node, shaded.textures)
    (region,) = shaded.regions()
    records = node.run(record_program(shaded, region)).by_stage
    assert records["clear"] == 1 + 5 + 1 + 3  # enable, depth by the LEE, the material, three colours
    assert records["depth"] == 5 + 5 + 1
    assert records["values"] == 1 + 3 + 2 * 5  # material, colours of one kind, u and v of four bytes
    shading = shade_region(node, shaded, shaded.present([0]))
    assert shading is not None
    stages = shading.by_stage
    # 256 rounds, a PE of each EMC in each: eight accesses of 12 cycles, then 32 bytes go out; addresses of the next
    # round come in meanwhile, those of the first before. And 7 for marks and signals.
    assert stages["texels"] == 7 + 32 + 256 * (8 * 12 + 32)
    product = 3 + 8 + 4 + 1  # both factors and 0, eight steps, rounding and the quotient by 255, the store
    assert stages["texel times colour"] == 5 + 3 * (1 + product)
    assert stages["levels"] == 4 + 9 + 1  # of the texture, where its only level lies, and in which SDRAMs


@pytest.mark.parametrize(
    ("heading", "perspective", "mipmaps"),
    [
        ("linear, bilinear", False, False),
        ("perspective, bilinear", True, False),
        ("perspective, mipmaps", True, True),
    ],
)
def test_the_table_of_the_readme(heading: str, *, perspective: bool, mipmaps: bool) -> None:
    corners = np.array([[(0, 0), (400, 0), (0, 400)]], float)
    shaded_colours = np.array([[(9, 9, 9), (99, 9, 9), (200, 9, 9)]])
    nearness = np.array([[1, 0.5, 0.5]]) if perspective else None
    pane = snap(corners, np.full((1, 3), 0.5), shaded_colours, corners / 2, nearness)
    state = State(texture=texture(64, 64, mipmaps=mipmaps))
    shaded, node = ShadedFrame.of(Frame(128, 64, BACKGROUND, (Draw("pane", pane, state),))), Node(THESIS)
    loading = load_textures(node, shaded.textures)
    assert (loading.cycles, shaded.textures.bytes_held) == ((24_954, 34_976) if mipmaps else (24_195, 32_768))
    (region,) = shaded.regions()
    records = node.run(record_program(shaded, region)).by_stage
    values = 6 * 5 if perspective else 3 * 4 + 2 * 5  # the divisor, three colours, u and v
    assert records["values"] == 1 + values + (24 if mipmaps else 0)
    shading = shade_region(node, shaded, shaded.present([0]))
    assert shading is not None
    found = {name: f"{cycles:,}" for name, cycles in {**shading.by_stage, "all": shading.cycles}.items()}
    lines = table_after("docs/pages/shading.md", "read by: tests/rendering/test_shading.py")
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in lines]
    column = rows[0].index(heading)
    assert {row[0].split(":")[0]: row[column] for row in rows[2:] if row[column] != "-"} == found


@pytest.mark.parametrize(("alternate", "cycles"), [(False, 32_768), (True, 22_528)])
def test_what_alternating_banks_would_save(*, alternate: bool, cycles: int) -> None:
    transfer = Transfer(Direction.READ, alternate=alternate)
    assert run_cycles(TasicSpec.of(THESIS), TransferCommand(transfer, rounds=256)) == cycles


def test_each_texel_is_where_the_layout_says() -> None:
    levels = texture(64, 16, mipmaps=True)
    layout = TextureLayout.of([texture(8, 8), levels], THESIS)
    for number, place in enumerate(layout.levels[1]):
        texels = levels.levels[number]
        height, width = texels.shape[:2]
        for row in range(height):
            for column in range(width):
                word = (place.row + row // 2) * 512 + place.column + column // 2
                device = 4 * place.half + 2 * (row % 2) + column % 2
                assert np.array_equal(layout.words[word, device], texels[row, column])
    halves = [place.half for place in layout.levels[1]]
    assert halves == [(halves[0] + number) % 2 for number in range(7)]
    taken = [(word, place.half) for level in layout.levels for place in level for word in _words(place)]
    assert len(taken) == len(set(taken)) and layout.bytes_held == 32 * len({word for word, _ in taken})


def _words(place) -> list[int]:
    rows, columns = (
        range(first, first + count) for first, count in ((place.row, place.rows), (place.column, place.columns))
    )
    return [512 * row + column for row in rows for column in columns]


def test_textures_for_which_there_is_no_room_are_refused() -> None:
    large = [texture(1024, 1024), texture(1024, 1024), texture(1024, 512)]
    many = [*large, Texture(large[0].texels.copy()), Texture(large[1].texels.copy())]
    assert TextureLayout.of(large, THESIS).bytes_held == 16 << 20
    with pytest.raises(InputError, match=r"5 textures of 18,874,368 bytes find no room"):
        TextureLayout.of(many, THESIS)


@pytest.mark.parametrize(
    "state",
    [
        State(blend=Blend.OVER, alpha=90),
        State(depth_test=DepthTest.ALWAYS),
        State(stencil=Stencil()),
        State(depth_write=False),
        State(colour_write=False),
    ],
    ids=["blend", "test", "stencil", "depth", "colour"],
)
def test_draws_of_which_more_than_the_nearest_is_seen_are_refused(state: State) -> None:
    draws = [("floor", WOOD), ("glass", state)]
    with pytest.raises(InputError, match=r"here: glass: blending in the order of drawing, stencil or other tests\n"):
        require_deferred(draws)
    require_deferred(draws[:1])
