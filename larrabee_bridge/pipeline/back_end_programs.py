"""Programs of the back end: parameters for a drawing state, and the stage of each instruction."""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import NamedTuple

import numpy as np

from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, VectorProgram, shipped
from larrabee_bridge.vpu_run import VpuRun, execute
from pixelflow.simd.drawing import (
    SAMPLES,
    Blend,
    DepthTest,
    Draw,
    Frame,
    ScreenTriangles,
    StencilStep,
    StencilTest,
    Texture,
    coordinate_bits,
    steady,
)
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.lanes.words import ByteMemory


class Attributes(NamedTuple):
    """Interpolated attributes of a draw's triangles, in addition to depths and colours."""

    textured: bool = False
    correct: bool = False
    """True if colours and coordinates follow perspective."""
    bits: int = 0
    """Bits by which numerators of coordinates are shifted up before the division (`coordinate_bits`)."""
    floats: bool = False
    """True if planes are floats, not the integers of all machines."""

    @classmethod
    def of(cls, draw: Draw, config: CoreConfig) -> Attributes:
        """Return the attributes of a draw; perspective counts only if it is visible."""
        triangles, textured = draw.triangles, texture_of(draw) is not None
        shaded = textured or (draw.state.colour_write and not bool(steady(triangles).all()))
        correct = shaded and not bool(triangles.level.all())
        bits = coordinate_bits(triangles) if correct and textured else 0
        return cls(textured, correct, bits, config.planes == "float")

    @property
    def parameters(self) -> dict[str, int]:
        """Those of ``layout.mc``."""
        found = {"TEXTURED": int(self.textured), "CORRECT": int(self.correct)}
        return found | ({"FLOAT": 1} if self.floats else {})


def texture_of(draw: Draw) -> Texture | None:
    """Return the texture that a draw reads: None if no texel is visible in the picture."""
    return draw.state.texture if draw.state.colour_write or draw.state.cutout > 0 else None


class TileStage(Enum):
    """Stages of the four threads of a tile."""

    CLEAR = "clear"
    SETUP = "set-up"
    """Reading bin entries, planes at quads, dealing: the set-up thread."""
    QUADS = "quads and planes"
    """Taking quads, the steps of their triangles' planes from pixel to pixel, the loop."""
    DEPTH = "depth and stencil"
    SHADE = "shade"
    TEXTURE = "texture requests and answers"
    BLEND = "blend and store"
    SORT = "sorted layers"
    RESOLVE = "resolve"


_STAGES = {
    "clear": {"": TileStage.CLEAR},
    "ahead": {"": TileStage.SETUP},
    "setup": {"": TileStage.SETUP},
    "work": {
        "": TileStage.QUADS,
        "tests": TileStage.DEPTH,
        "late": TileStage.DEPTH,
        "ask": TileStage.TEXTURE,
        "answer": TileStage.TEXTURE,
        "shade": TileStage.SHADE,
        "blend": TileStage.BLEND,
        "next": TileStage.QUADS,
    },
    "lists": {"": TileStage.SORT},
    "resolve": {"": TileStage.RESOLVE},
}
"""Stages by program and the label at which they begin."""


def program_of(name: str, **parameters: int) -> VectorProgram:
    """Return a program of ``programs/backend`` for some parameters, assembled once."""
    return shipped(f"backend/{name}.mc", **parameters)


@cache
def stages_of(name: str, **parameters: int) -> tuple[TileStage, ...]:
    """Return the stage of each instruction of such a program."""
    program = program_of(name, **parameters)
    begins = {program.labels[label]: stage for label, stage in _STAGES[name].items() if label in program.labels}
    found, stage = [], _STAGES[name][""]
    for address in program.addresses:
        stage = begins.get(address, stage)
        found.append(stage)
    return tuple(found)


_CONSTANTS = (
    "BLOCK_BYTES", "STREAM", "PAGE", "COLOUR", "TRIANGLE_BYTES", "ASKED", "U", "V", "TEXELS", "QUAD_BYTES",
    "ENTRY_BYTES", "SETS", "LOOK_BYTES",
)  # fmt: skip
"""The words of ``constants.mc``."""


@cache
def constants_of(samples: int, sorts: bool, attributes: Attributes) -> dict[str, int]:
    """Return the constants of ``layout.mc``: offsets and sizes in memory, in bytes."""
    words = program_of("constants", SAMPLES=samples, SORTS=int(sorts), **attributes.parameters).data[0].values
    return {name: int.from_bytes(bytes(words[4 * at : 4 * at + 4]), "little") for at, name in enumerate(_CONSTANTS)}


def work_parameters(
    frame: Frame, draw: Draw, attributes: Attributes, part: int, sorts: bool, length: int
) -> dict[str, int]:
    """Return the parameters of ``work.mc`` for a draw; ``part`` is 0, or 1 and 2 where it has a texture."""
    state = draw.state
    found = {
        "SAMPLES": frame.samples,
        "PART": part,
        "TEXTURED": int(part > 0),
        "FLAT": int(bool(steady(draw.triangles).all())),
        "CUTOUT": state.cutout,
        "PACKED": int(any(each.state.stencil is not None for each in frame.draws)),
        "LESS": int(state.depth_test is DepthTest.LESS),
        "DEPTH_WRITE": int(state.depth_write),
        "COLOUR_WRITE": int(state.colour_write),
        "BLEND": list(Blend).index(state.blend),
        "OPACITY": state.alpha,
        "SORTS": int(sorts),
        "LENGTH": length,
    }
    if attributes.floats:
        found["FLOAT"] = 1
    if attributes.correct:
        found |= {"CORRECT": 1, "BITS": attributes.bits}
        if state.texture is not None and state.texture.mipmaps and part == 1:
            found["DETAILED"] = 1
    if state.stencil is not None:
        found |= {
            "STENCIL": 1 + list(StencilTest).index(state.stencil.test),
            "REFERENCE": state.stencil.reference,
            "FAILED": list(StencilStep).index(state.stencil.failed),
            "HIDDEN": list(StencilStep).index(state.stencil.hidden),
            "PASSED": list(StencilStep).index(state.stencil.passed),
        }
    return found


# Planes of triangles by a program, sixteen side by side: equal to numpy's integers bit for bit (`planes.mc`) or floats.


_FIRST = 4096
"""Bytes reserved for the program's constants."""
_CORNER_WORDS = 6


class PlaneWords(NamedTuple):
    """Triangles as the back end reads them, and the run that made them: one thread for each sixteen."""

    words: np.ndarray
    """uint32[triangle, word], laid out as ``layout.mc`` says."""
    done: VpuRun
    line: int
    """Line of memory in which the triangles begin."""
    given: int
    taken: int
    """Lines of the values of sixteen triangles at their corners, and of their planes."""


def plane_program(samples: int, attributes: Attributes) -> VectorProgram:
    """Return the program for pixels of 1 or 4 samples."""
    places = {f"{axis}{number}": at[k] for number, at in enumerate(SAMPLES) for k, axis in enumerate("XY")}
    told = attributes.parameters | ({"BITS": attributes.bits} if attributes.correct else {})
    name = "float_planes" if told.pop("FLOAT", 0) else "planes"
    return program_of(name, SAMPLES=samples, **told, **(places if samples > 1 else {}))


def plane_words(
    triangles: ScreenTriangles,
    samples: int,
    attributes: Attributes,
    config: CoreConfig | None = None,
    engine: str = AUTO,
) -> PlaneWords:
    """Compute the planes of triangles of a draw, one or more, at ``samples`` samples a pixel."""
    size = constants_of(samples, False, attributes)["TRIANGLE_BYTES"]
    count = len(triangles)
    groups = -(-count // LANES)
    values = [triangles.depths[..., None], triangles.colours]
    if attributes.correct and triangles.nearness is not None:
        values.append(2 * triangles.nearness[..., None])
    if attributes.textured and triangles.coordinates is not None:
        values.append(triangles.coordinates)
    of_corners = np.concatenate(values, axis=-1).transpose(0, 2, 1).reshape(count, -1)
    vectors = _CORNER_WORDS + of_corners.shape[1]
    given = np.zeros((groups * LANES, vectors), np.int64)
    given[:count, :_CORNER_WORDS] = triangles.corners.reshape(count, -1)
    given[:count, _CORNER_WORDS:] = of_corners
    laid = given.reshape(groups, LANES, vectors).transpose(0, 2, 1).astype(np.int32)
    end = _FIRST + laid.nbytes
    memory = ByteMemory(end + groups * LANES * size)
    memory.data[0, _FIRST:end] = np.ascontiguousarray(laid).view(np.uint8).reshape(-1)
    number = np.arange(groups)
    scalars = {
        0: _FIRST + LINE_BYTES * vectors * number,
        1: end + LANES * size * number,
        2: (1 << np.minimum(count - LANES * number, LANES)) - 1,
    }
    done = execute(plane_program(samples, attributes), groups, memory, scalars, config=config, engine=engine)
    words = memory.data[0, end:].view(np.uint32).reshape(-1, size // 4)[:count]
    return PlaneWords(words, done, end // LINE_BYTES, vectors, LANES * size // LINE_BYTES)
