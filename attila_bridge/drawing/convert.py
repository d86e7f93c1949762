"""Frames as scenes: the integers of the drawing that machines share become clip coordinates, colours and programs.

Pixels of ATTILA come out close to those of 64-bit integers, not the same: edges and depths are computed in float64 from
corners in float32, points on an edge go to another triangle, and colours are cut off where the others are rounded.
Half a step of a colour is added for that reason, in the vertices, or by the program where a texture multiplies them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attila_bridge.scene.model import (
    AttilaScene,
    ClearValues,
    Compare,
    DepthState,
    DrawState,
    Factor,
    Filter,
    Primitive,
    SceneBuffer,
    SceneDraw,
    SceneTexture,
    StencilOperation,
    StencilState,
    Wrap,
)
from pixelflow.simd.drawing import FAR, SUBPIXELS, TEXEL, DepthTest, Draw, Frame, State
from pixelflow.simd.drawing.frame import Blend, Stencil, StencilStep, StencilTest
from pixelflow.simd.errors import Fault, InputError

__all__ = ["DIFFERS", "scene_of_frame"]

DIFFERS = "ATTILA's edges and depths are float64, its colours float32 that are cut off"
"""Why pixels may be others than those of 64-bit integers."""

_HALF = 0.5 / 255
_VERTEX = "!!ARBvp1.0\nMOV result.position, vertex.position;\nMOV result.color, vertex.color;\n{more}END"
_COORDINATES = "MOV result.texcoord[0], vertex.texcoord[0];\n"
_PLAIN = "!!ARBfp1.0\nMOV result.color, fragment.color;\nEND"
_TEXTURED = (
    "!!ARBfp1.0\nTEMP texel;\nPARAM half = {{ {half}, {half}, {half}, 0 }};\n"
    "TEX texel, fragment.texcoord[0], texture[0], 2D;\nMAD result.color, texel, fragment.color, half;\nEND"
)
_BLENDS = {
    Blend.REPLACE: None,
    Blend.OVER: (Factor.SRC_ALPHA, Factor.ONE_MINUS_SRC_ALPHA),
    Blend.ADD: (Factor.SRC_ALPHA, Factor.ONE),
    Blend.MULTIPLY: (Factor.ZERO, Factor.SRC_COLOR),
}
_STEPS = {
    StencilStep.KEEP: StencilOperation.KEEP,
    StencilStep.ZERO: StencilOperation.ZERO,
    StencilStep.REPLACE: StencilOperation.REPLACE,
    StencilStep.UP: StencilOperation.INCR_WRAP,
    StencilStep.DOWN: StencilOperation.DECR_WRAP,
}
_STENCILS = {
    StencilTest.ALWAYS: Compare.ALWAYS,
    StencilTest.EQUAL: Compare.EQUAL,
    StencilTest.DIFFERENT: Compare.NOTEQUAL,
}

Floats = NDArray[np.float32]


def scene_of_frame(frame: Frame, name: str = "frame") -> AttilaScene:
    """Return a frame as a scene; raises InputError with every state that ATTILA does not have here."""
    faults = [Fault("ATTILA draws one sample a pixel here")] if frame.samples != 1 else []
    for draw in frame.draws:
        faults += [Fault(f"draw {draw.name}: {why}", hint=hint) for why, hint in _refusals(draw.state)]
    if faults:
        raise InputError(faults)
    buffers: dict[str, SceneBuffer] = {}
    textures: dict[str, SceneTexture] = {}
    draws = [_draw(number, draw, frame, buffers, textures) for number, draw in enumerate(frame.draws) if draw.triangles]
    red, green, blue = ((each + 0.5) / 255 for each in frame.background)
    programs = {
        "vertices": _VERTEX.format(more=""),
        "vertices with coordinates": _VERTEX.format(more=_COORDINATES),
        "colours": _PLAIN,
        "texels": _TEXTURED.format(half=repr(_HALF)),
    }
    clear = ClearValues((red, green, blue, 1.0), 1.0, 0)
    return AttilaScene(name, "", (frame.width, frame.height), clear, buffers, textures, programs, tuple(draws))


def _refusals(state: State) -> list[tuple[str, str]]:
    found = []
    if state.blend is Blend.SORTED:
        found.append(("ATTILA has no sorted blending", "larrabee sorts layers"))
    if state.cutout:
        found.append(("a fragment that ATTILA's program kills has written its depth", "larrabee draws cutouts"))
    return found


def _draw(
    number: int, draw: Draw, frame: Frame, buffers: dict[str, SceneBuffer], textures: dict[str, SceneTexture]
) -> SceneDraw:
    state, triangles = draw.state, draw.triangles
    texture = state.texture
    count = 3 * len(triangles)
    position = np.ones((count, 4))
    screen = triangles.corners.reshape(count, 2) / SUBPIXELS
    position[:, 0] = 2 * screen[:, 0] / frame.width - 1
    position[:, 1] = 1 - 2 * screen[:, 1] / frame.height
    position[:, 2] = 2 * triangles.depths.reshape(count) / FAR - 1
    color = np.full((count, 4), state.alpha / 255)
    color[:, :3] = triangles.colours.reshape(count, 3) / 255 + (_HALF if texture is None else 0)
    attributes = {"position": f"positions {number}", "color": f"colours {number}"}
    _keep(buffers, attributes["position"], position)
    _keep(buffers, attributes["color"], color)
    units = {}
    if texture is not None and triangles.coordinates is not None:
        height, width = texture.texels.shape[:2]
        coordinates = np.zeros((count, 4))
        coordinates[:, :2] = triangles.coordinates.reshape(count, 2) / TEXEL / (width, height)
        coordinates[:, 3] = 1
        attributes["texcoord0"] = f"coordinates {number}"
        _keep(buffers, attributes["texcoord0"], coordinates)
        units[0] = f"texture {number}"
        textures[units[0]] = SceneTexture(
            units[0], (texture.texels,), Filter.LINEAR, Filter.LINEAR, Wrap.REPEAT, anisotropy=1
        )
    vertices, fragments = ("vertices with coordinates", "texels") if units else ("vertices", "colours")
    return SceneDraw(Primitive.TRIANGLES, count, attributes, None, vertices, fragments, units, _state(state))


def _keep(buffers: dict[str, SceneBuffer], name: str, values: NDArray[np.float64]) -> None:
    buffers[name] = SceneBuffer(name, "vertex", values.astype(np.float32))


def _state(state: State) -> DrawState:
    test = Compare.LESS if state.depth_test is DepthTest.LESS else Compare.ALWAYS
    depth = DepthState(test, state.depth_write)
    mask = (state.colour_write,) * 4
    return DrawState(depth, _stencil(state.stencil), _BLENDS[state.blend], color_mask=mask)


def _stencil(stencil: Stencil | None) -> StencilState | None:
    if stencil is None:
        return None
    steps = (_STEPS[each] for each in (stencil.failed, stencil.hidden, stencil.passed))
    return StencilState(_STENCILS[stencil.test], stencil.reference, *steps)
