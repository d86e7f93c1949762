"""Do threads of two vertices work out what the same steps give in numpy's float32, and how far is that from 64 bits?"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gen6_bridge.compare import ShadeOffset, project_on_gen6
from gen6_bridge.drawing import VertexConstants, draw_on_gen6, on_the_screen, shade_vertices
from gen6_bridge.drawing.shaders import UrbEntries, vertex_shader
from gen6_bridge.time import EuConfig
from gen6_bridge.unit import Request
from gen6_bridge.unit.messages import URB
from pixelflow.cli.main import main
from pixelflow.simd.drawing import Blend, Frame, State, Texture, draw_frame
from tessellation.picture import View
from tessellation.scenes import Body, Scene, SceneSource, draws_of, load_scene, sized

SOURCE = np.random.default_rng(16)


def constants() -> VertexConstants:
    directions = SOURCE.normal(size=(2, 3))
    key, fill = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return VertexConstants(
        SOURCE.normal(size=(4, 4)), SOURCE.normal(size=3), (0.9, 0.5, 0.2), key, fill, (0.1, 0.85, 0.2), 2.2
    )


def by_numpy(points: np.ndarray, normals: np.ndarray, told: VertexConstants) -> tuple[np.ndarray, np.ndarray]:
    """The shader's steps one after the other, each rounded once to float32."""

    def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        total = a[..., 0] * b[..., 0]
        for term in range(1, a.shape[-1]):
            total = a[..., term] * b[..., term] + total
        return total

    single = np.float32
    points, normals = points.astype(single), normals.astype(single)
    whole = np.concatenate([points, np.ones((len(points), 1), single)], axis=1)
    clip = np.stack([dot(whole, row.astype(single)) for row in told.matrix], axis=1)
    facing = dot(told.eye.astype(single) - points, normals)
    normals = np.where(facing[:, None] < 0, -normals, normals)
    key, fill = (np.clip(dot(normals, each.astype(single)), 0, 1) for each in (told.key, told.fill))
    ambient, first, second = (single(each) for each in told.light)
    light = key * first + fill * second + ambient
    lit = np.clip(light[:, None] * np.array(told.colour, single), 0, 1)
    exponent = single(1 / told.gamma)
    return clip, (lit.astype(np.float64) ** np.float64(exponent)).astype(single)


@pytest.mark.parametrize("count", [1, 2, 7, 2050])
def test_vertices_are_those_of_the_same_steps_in_numpy(count: int) -> None:
    points, normals = SOURCE.normal(size=(2, count, 3))
    coordinates, told = SOURCE.uniform(-40, 40, (count, 2)), constants()
    found = shade_vertices(points, normals, coordinates, told)
    clip, colours = by_numpy(points, normals, told)
    assert np.array_equal(found.clip, clip) and np.array_equal(found.colours, colours)
    assert np.array_equal(found.coordinates, coordinates.astype(np.float32))
    assert len(found.steps) == (count + 1) // 2 and found.written == 64 * count


def test_a_lit_vertex_by_hand() -> None:
    """Key straight on, no fill: 0.5 * (0.1 + 0.85) = 0.475; a normal that looks away is turned."""
    up, side = np.array([0.0, 0, 1]), np.array([1.0, 0, 0])
    told = VertexConstants(np.eye(4), 9 * up, (0.5, 0.5, 2.0), up, side, (0.1, 0.85, 0.2), 2.2)
    found = shade_vertices(np.zeros((2, 3)), np.array([up, -up]), None, told)
    assert found.colours == pytest.approx(np.array([[0.475 ** (1 / 2.2)] * 2 + [1.0]] * 2), rel=1e-6)
    assert (found.clip == [0, 0, 0, 1]).all()


def test_the_screen_by_hand() -> None:
    """The middle, the upper right corner at w = 2, and a point a quarter down."""
    clip = np.array([[0, 0, 0.5, 1], [2, 2, 1, 2], [0, 0.5, 0, 1]], np.float32)
    assert on_the_screen(clip, 64, 48).tolist() == [[32, 24, 0.5], [64, 0, 0.5], [32, 12, 0]]


def test_the_program_breaks_no_rule_and_writes_entries_of_two_vertices() -> None:
    code = vertex_shader().code
    assert not vertex_shader().broken and len(code) == 22
    message = code[-1].operands[-1]
    payload = np.arange(5 * 32, dtype=np.uint8)
    payload[:32] = 0
    payload[:8] = np.array([2, 0], np.uint32).view(np.uint8)  # the first vertex is the second entry
    both, one = UrbEntries(2), UrbEntries(2)
    for entries, enabled in ((both, 0xFF), (one, 0x0F)):
        assert entries.answer(Request(0, 0, URB, message, 8, enabled, payload)) is None
    lower = [byte for row in range(1, 5) for byte in range(32 * row, 32 * row + 16)]
    upper = [byte + 16 for byte in lower]
    assert both.bytes.tolist() == upper + lower and one.bytes.tolist() == 64 * [0] + lower


POINTS = np.array([[0, 0, 0], [2, 0, 0], [2, 0, 1], [0, 1, 1]], float)
CORNERS = np.array([[0, 1, 2], [0, 2, 3]])
NORMALS = np.array([[0, -1, 0]] * 4) + 0.1 * POINTS
NORMALS /= np.linalg.norm(NORMALS, axis=1, keepdims=True)
VIEW = View(width=48, height=32)


def scene(*bodies: Body, samples: int = 1, more: tuple = ()) -> Scene:
    draws = (*draws_of(bodies, VIEW), *more)
    return Scene("test", Frame(VIEW.width, VIEW.height, (9, 9, 9), draws, samples), (), bodies, VIEW)


@pytest.mark.parametrize("samples", [1, 4])
def test_a_scene_from_its_vertices_on(samples: int) -> None:
    noise = Texture(SOURCE.integers(0, 256, (16, 16, 4)).astype(np.uint8))
    glass = State(blend=Blend.SORTED, alpha=90, depth_write=False)
    generated = replace(sized(48, 32, count=3, pixels=40), state=glass)
    given = scene(
        Body("smooth", POINTS, NORMALS, CORNERS, state=State(texture=noise)),
        Body("flat", POINTS + 0.3, NORMALS, CORNERS, flat=True, state=glass),
        samples=samples,
        more=(generated,),
    )
    found = project_on_gen6(given.frame, given.bodies, given.view)
    assert found.frame.draws[2] is generated and len(found.vertices) == 2
    assert [len(each.clip) for each in found.vertices] == [4, 6]  # flat triangles share no vertices
    assert found.offset.vertices == 10 and found.offset.steps <= 1 and found.offset.depth_steps <= 8
    assert found.shade.components == 30 and found.shade.steps <= 1
    drawn = draw_on_gen6(found.frame, vertices=found.vertices)
    assert drawn.picture.equals(draw_frame(found.frame))
    alone = draw_on_gen6(found.frame)
    threads = drawn.stages["smooth: vertices"] + drawn.stages["flat: vertices"]
    assert drawn.cycles == alone.cycles + threads and drawn.traffic["URB"] == 64 * 10
    assert sum(drawn.mix.values()) == sum(alone.mix.values()) + 22 * 5


def test_a_scene_that_ships_is_within_a_step() -> None:
    """Every vertex within 1/256 pixel, every colour within 1 of 255; few of them are another at all."""
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    given = load_scene("nut", SceneSource(size=(96, 72)))
    found = project_on_gen6(given.frame, given.bodies, given.view)
    off, shade = found.offset, found.shade
    assert off.steps <= 1 and off.moved <= off.vertices // 50
    assert shade.steps <= 1 and shade.moved <= shade.components // 50


def test_more_units_take_less_for_the_same_vertices() -> None:
    given = scene(Body("many", np.tile(POINTS, (60, 1)), np.tile(NORMALS, (60, 1)), CORNERS))
    found = project_on_gen6(given.frame, given.bodies, given.view)
    one, six = (draw_on_gen6(found.frame, parts=parts, vertices=found.vertices) for parts in (1, 6))
    assert six.stages["many: vertices"] < one.stages["many: vertices"] and six.work == one.work


def test_triangles_beyond_the_guard_band_are_cut() -> None:
    near = VIEW._replace(zoom=20.0, width=4096, height=4096, field_of_view=1.0)
    body = Body("wide", POINTS * [1, 1, 1e-6], NORMALS, CORNERS)
    frame = Frame(4096, 4096, (0, 0, 0), tuple(draws_of([body], near)))
    (host,), found = frame.draws, project_on_gen6(frame, (body,), near)
    triangles = found.frame.draws[0].triangles
    assert len(triangles) == len(host.triangles) > 2 and found.offset.vertices == 0
    # Both have cut at the same place, but for what float32 has of 2^14 pixels: 10 bits of fraction.
    assert np.abs(triangles.corners - host.triangles.corners).max() <= 8


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    picture = str(tmp_path / "nut.png")
    told = ["render", "nut", "--machine", "gen6", "--projection", "eus", "--size", "48x32", "-o", picture, "--json"]
    assert main([*told, "--eu", "channels=8"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equals_reference"] and found["projection"]["vertices"] == found["projection"]["compared"] == 523
    assert found["projection"]["threads"] == 262 and "nut: vertices" in found["stages"]
    scene_file = tmp_path / "sized.toml"
    scene_file.write_text("size = [64, 48]\n[[generated]]\nfamily = 'sized'\ncount = 3\npixels = 20\n")
    told[1] = str(scene_file)
    assert main(told) == 2
    assert "the scene has no vertices" in capsys.readouterr().err


def test_the_configuration_says_how_sums_are_rounded() -> None:
    points, normals, told = SOURCE.normal(size=(300, 3)), SOURCE.normal(size=(300, 3)), constants()
    plain, fused = (shade_vertices(points, normals, None, told, EuConfig(fused=fused)) for fused in (False, True))
    assert np.count_nonzero(plain.clip != fused.clip) > 0 and plain.clip == pytest.approx(fused.clip, abs=1e-5)


def test_differences_of_two_bodies_add_up() -> None:
    """The largest of steps and texels, the sum of colours."""
    assert ShadeOffset(1, 2, 30, 7).with_other(ShadeOffset(4, 3, 50, 5)) == ShadeOffset(4, 5, 80, 7)
