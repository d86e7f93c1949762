"""Vertices by threads, and the fixed functions past them: the division by w, the viewport, corners as integers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.assembler import EuProgram
from gen6_bridge.code.isa.meanings.execution import FloatRules
from gen6_bridge.drawing.vertex_shader import ATTRIBUTES, ENTRY_FLOATS, VERTEX_CONSTANTS, vertex_shader
from gen6_bridge.time import CarriedStep, EuConfig, ThreadTraces
from gen6_bridge.unit import ExecutionUnit
from gen6_bridge.unit.shared import Urb

__all__ = ["ShadedVertices", "UrbEntries", "VertexConstants", "on_the_screen", "shade_vertices"]

_AT_ONCE = 1024
"""Threads that are carried out side by side."""
_A_THREAD = 2
_ROW_BYTES = 32
"""What handles and offsets in the URB count."""
_ENTRY_BYTES = 4 * ENTRY_FLOATS


class UrbEntries(Urb):
    """Entries of vertices in the URB."""

    def __init__(self, entries: int) -> None:
        super().__init__(np.zeros(entries * _ENTRY_BYTES, np.uint8))

    @property
    def floats(self) -> NDArray[np.float32]:
        """All entries: float32[vertex, 16]."""
        return self.bytes.view(np.float32).reshape(-1, ENTRY_FLOATS)


@dataclass(frozen=True, slots=True, eq=False)
class VertexConstants:
    """What is the same for all vertices of a draw, each rounded once to float32.

    ``matrix`` is float[4, 4], to clip space; ``eye``, ``key`` and ``fill`` float[3], the directions of length 1;
    ``colour`` linear red, green and blue; ``light`` what is there without the two, and the strength of each.
    """

    matrix: NDArray[np.float64]
    eye: NDArray[np.float64]
    colour: tuple[float, float, float]
    key: NDArray[np.float64]
    fill: NDArray[np.float64]
    light: tuple[float, float, float]
    gamma: float

    @property
    def words(self) -> NDArray[np.float32]:
        """As the payload has them: float32[36]."""
        groups = [*self.matrix, *(np.append(each, 0.0) for each in (self.eye, self.colour, self.key, self.fill))]
        return np.concatenate([*groups, [*self.light, 1 / self.gamma]]).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class ShadedVertices:
    """What threads have made of the vertices of a draw, and what they carried out.

    ``clip`` is float32[vertex, xyzw], ``colours`` float32[vertex, rgb] from 0 to 1, ``coordinates`` float32[vertex,
    uv].
    """

    clip: NDArray[np.float32]
    colours: NDArray[np.float32]
    coordinates: NDArray[np.float32]
    program: EuProgram
    steps: list[list[CarriedStep]]

    @property
    def written(self) -> int:
        """Bytes that went to the URB."""
        return len(self.clip) * _ENTRY_BYTES


def shade_vertices(
    points: NDArray[np.number],
    normals: NDArray[np.number],
    coordinates: NDArray[np.number] | None,
    constants: VertexConstants,
    config: EuConfig | None = None,
) -> ShadedVertices:
    """Shade each vertex once: ``points`` and ``normals`` float[vertex, 3], ``coordinates`` float[vertex, 2]."""
    config, program, count = config or EuConfig(), vertex_shader(), len(points)
    attributes = np.zeros((count + count % _A_THREAD, 3, 4), np.float32)
    attributes[:count, 0, :3], attributes[:count, 0, 3], attributes[:count, 1, :3] = points, 1, normals
    if coordinates is not None:
        attributes[:count, 2, :2] = coordinates
    # A register for each attribute, its halves the two vertices of a thread.
    payload = attributes.reshape(-1, _A_THREAD, 3, 4).transpose(0, 2, 1, 3).reshape(-1, 3 * 2 * 4)
    handles = np.arange(len(attributes), dtype=np.uint32).reshape(-1, _A_THREAD) * np.uint32(_ENTRY_BYTES // _ROW_BYTES)
    entries, steps = UrbEntries(count), list[list[CarriedStep]]()
    dispatch = np.full(len(payload), 0xFF)
    if count % _A_THREAD:
        dispatch[-1] = 0x0F
    for begin in range(0, len(payload), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        arithmetic = FloatRules(fused=config.fused, flushes=config.flushes)
        unit = ExecutionUnit(
            program.code, len(payload[part]), dispatch=dispatch[part], functions=entries, arithmetic=arithmetic
        )
        unit.set_register(0, handles[part])
        unit.set_register(VERTEX_CONSTANTS, constants.words)
        unit.set_register(ATTRIBUTES, payload[part])
        traces = ThreadTraces(unit)
        unit.run(traces)
        steps += traces.steps
    found = entries.floats
    return ShadedVertices(found[:, 4:8], found[:, 8:11], found[:, 12:14], program, steps)


def on_the_screen(clip: NDArray[np.float32], width: int, height: int) -> NDArray[np.float32]:
    """Return x and y in pixels and the depth of vertices in clip space: float32[vertex, 3], each step rounded once.

    A fixed function of this generation. Its arithmetic is not public; here: the inverse of w, then products and a sum.
    """
    inverse = np.float32(1) / clip[:, 3]
    x, y, depth = (clip[:, axis] * inverse for axis in range(3))
    half = np.array([width, height], np.float32) / np.float32(2)
    return np.stack([x * half[0] + half[0], half[1] - y * half[1], depth], axis=1)
