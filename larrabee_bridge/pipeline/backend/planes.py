"""Planes of triangles by a program, sixteen side by side: what numpy's integers are, bit for bit (`planes.mc`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from larrabee_bridge.pipeline.backend.programs import Attributes, constants_of, program_of
from larrabee_bridge.vpu.core import Core, CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import LINE_BYTES, VectorProgram
from larrabee_bridge.vpu.unit.vector_unit import VectorUnit
from pixelflow.simd.drawing import SAMPLES, ScreenTriangles
from pixelflow.simd.lanes.choice import AUTO
from pixelflow.simd.lanes.wide.bytememory import ByteMemory

__all__ = ["PlaneWords", "plane_program", "plane_words"]

_FIRST = 4096
"""Bytes that are left to the program's own constants."""
_CORNER_WORDS = 6


@dataclass(frozen=True, slots=True, eq=False)
class PlaneWords:
    """Triangles as the back end reads them, and the run that made them: a thread for each sixteen of them."""

    words: np.ndarray
    """uint32[triangle, word], laid out as ``layout.mc`` says."""
    program: VectorProgram
    core: Core
    note: RunNote
    lines: tuple[int, int]
    """In which lines of memory the input begins, and the triangles."""


def plane_program(samples: int, attributes: Attributes) -> VectorProgram:
    """Return the program for pixels of 1 or 4 samples."""
    places = {f"{axis}{number}": at[k] for number, at in enumerate(SAMPLES) for k, axis in enumerate("XY")}
    told = attributes.parameters | ({"BITS": attributes.bits} if attributes.correct else {})
    return program_of("planes", SAMPLES=samples, **told, **(places if samples > 1 else {}))


def plane_words(
    triangles: ScreenTriangles,
    samples: int,
    attributes: Attributes,
    config: CoreConfig | None = None,
    engine: str = AUTO,
) -> PlaneWords:
    """Work out the planes of triangles of a draw, one or more, at so many samples a pixel."""
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
    program = plane_program(samples, attributes)
    unit, core = VectorUnit(program, groups, memory, engine), Core(program, groups, config)
    number = np.arange(groups)
    unit.set_scalar(0, _FIRST + LINE_BYTES * vectors * number)
    unit.set_scalar(1, end + LANES * size * number)
    unit.set_scalar(2, (1 << np.minimum(count - LANES * number, LANES)) - 1)
    notes: list[RunNote] = []
    unit.run(notes.append, lines=True)
    note = RunNote.joined(notes)
    core(note)
    words = memory.data[0, end:].view(np.uint32).reshape(-1, size // 4)[:count]
    return PlaneWords(words, program, core, note, (_FIRST // LINE_BYTES, end // LINE_BYTES))
