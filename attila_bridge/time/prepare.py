"""Preparation of a frame: the arrays of its work become lists of whole numbers, once, before any cycle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.work import NONE, AttilaWork, DrawWork, ProgramWork, TextureWork
from attila_bridge.isa.operands import RegisterBank
from attila_bridge.time.config import AttilaConfig

# Groups: four inputs that a shader carries out in step.


VERTICES, FRAGMENTS = 0, 1
"""Kinds of groups."""

Group: TypeAlias = tuple[int, int, int, "tuple[Vertex, ...]"]
"""Kind, draw, the quad of fragments (-1 for vertices), the vertices."""

Vertex: TypeAlias = tuple[int, bool, bool]
"""Entry of the output queue (-1: padding), whether it only stands for a vertex that is there already, whether it is
the last one of its draw."""


# Plan of a draw: what the work of a draw says, in lists of whole numbers for the boxes.


@dataclass(frozen=True, slots=True)
class InstructionPlan:
    """One instruction as the decoder of a shader sees it."""

    latency: int
    """Cycles until its result can be used."""
    sources: tuple[int, ...]
    """Registers read that instructions can write."""
    destination: int
    """The register written; -1: none."""
    texture: int
    """Which texture read of the program it is; -1: none."""
    is_end: bool


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A program and the registers that a thread of it takes."""

    instructions: tuple[InstructionPlan, ...]
    inputs: int
    outputs: int
    temporaries: int
    resources: int
    bytes: int
    """In memory, padded."""
    loads: bool
    """Whether it has to be loaded before the draw."""


@dataclass(frozen=True, slots=True)
class AttributePlan:
    """An attribute of vertices in memory."""

    address: int
    stride: int
    size: int


@dataclass(frozen=True, slots=True)
class TrianglePlan:
    """One assembled triangle."""

    needs: int
    """Vertices of the stream that have to be there."""
    frees: int
    """Vertices that it was the last to use."""
    outcome: int
    area: float
    """In pixels, negative where it faces away."""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Triangles that are traversed at once."""

    triangles: int
    descents: int
    scans: tuple[tuple[int, int, int], ...]
    """Of each scan tile: first step, steps, descents after which it is known."""


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """One texture read of the fragment program."""

    unit: int
    place: dict[int, int]
    """Where the samples of each quad begin in `samples`."""
    samples: list[tuple[tuple[tuple[tuple[int, int], ...], ...], ...]]
    """By quad: samples, of each its bilinear steps, of each its lines and how many texels are in them."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawPlan:
    """All of one draw."""

    number: int
    """Its place among the draws that take time."""
    indices: list[int]
    attributes: tuple[AttributePlan, ...]
    index_bytes: int
    """0 where the draw has no indices."""
    index_address: int
    triangles: tuple[TrianglePlan, ...]
    batches: tuple[BatchPlan, ...]
    vertex_program: ProgramPlan
    fragment_program: ProgramPlan
    early: bool
    """Whether depth is tested before shading."""
    hierarchical: bool
    """Whether hierarchical Z may cull."""
    culls_equal: bool
    """Whether a quad as deep as its block is culled."""
    tests: bool
    """Whether depth or stencil is tested."""
    blends: bool
    color_mask: int
    color_bytes: int
    """Mask of the 16 bytes of a quad whose components are written."""
    fragment_inputs: int
    """Attributes that are interpolated."""
    textures: int
    """Textures that this draw binds."""
    first_textures: int
    """Textures that are bound for the first time in the frame."""
    step_quads: list[tuple[int, ...]]
    """Of each step its quads with a covered fragment."""
    blocks: list[int]
    """Of each step its line of the frame buffer."""
    rops: bytes
    shaders: bytes
    steps_inside: list[tuple[int, int, int, int, int]]
    """Of each step how many quads have 0 to 4 fragments within the triangle, wherever on the screen."""
    steps_covered: list[int]
    """Of each step how many fragments are within triangle, scissor and viewport."""
    nearest: list[int]
    tested: bytes
    """Fragments that passed the tests."""
    to_depth: bytes
    """Fragments that come alive to the depth unit."""
    to_color: bytes
    """Fragments that come alive to the colour unit."""
    depth_words: list[int]
    color_words: list[int]
    reads: tuple[ReadPlan, ...]


_COUNTS = np.array([bin(mask).count("1") for mask in range(16)], dtype=np.int64)
_WRITABLE = (RegisterBank.TEMPORARY, RegisterBank.ADDRESS)

Lines = tuple[tuple[int, int], ...]


def plans(work: AttilaWork, config: AttilaConfig) -> tuple[DrawPlan, ...]:
    """Return the plan of each draw of a frame."""
    bound: set[int] = set() if work.before is None else set(work.before.textures)
    made = []
    for number, draw in enumerate(work.draws):
        first = len(set(draw.state.textures) - bound)
        bound.update(draw.state.textures)
        made.append(_plan(number, draw, config, first))
    return tuple(made)


def _plan(number: int, draw: DrawWork, config: AttilaConfig, first_textures: int) -> DrawPlan:
    state, quads = draw.state, draw.quads
    steps = len(quads.triangle)
    tests = state.depth_test or state.stencil_test
    covered, tested, killed = quads.covered, quads.tested, quads.killed
    kept = tested & ~killed & 15
    inside = _COUNTS[quads.inside.reshape(steps, 16)] if steps else np.zeros((0, 16), dtype=np.int64)
    stamps = np.stack([(inside == fragments).sum(axis=1) for fragments in range(5)], axis=1)
    mask = state.color_mask & 15
    return DrawPlan(
        number=number,
        indices=draw.vertices.indices.tolist(),
        attributes=tuple(AttributePlan(a.address, a.stride, a.size) for a in draw.vertices.attributes),
        index_bytes=state.index_bytes if state.indexed else 0,
        index_address=state.index_address,
        triangles=_triangles(draw),
        batches=_batches(draw),
        vertex_program=_program(draw.vertex_program, config),
        fragment_program=_program(draw.fragment_program, config),
        early=state.early_z,
        hierarchical=state.hz and config.hz.enabled,
        culls_equal=state.depth_func == "less",
        tests=tests,
        blends=state.blend,
        color_mask=mask,
        color_bytes=sum(mask << 4 * fragment for fragment in range(4)),
        fragment_inputs=draw.fragment_program.inputs,
        textures=len(state.textures),
        first_textures=first_textures,
        step_quads=_covered_quads(covered, steps),
        blocks=quads.block.tolist(),
        rops=quads.rop.tobytes(),
        shaders=quads.shader.tobytes(),
        steps_inside=[(row[0], row[1], row[2], row[3], row[4]) for row in stamps.tolist()],
        steps_covered=_COUNTS[covered.reshape(steps, 16)].sum(axis=1).tolist() if steps else [],
        nearest=quads.nearest.tolist(),
        tested=tested.tobytes(),
        to_depth=(covered if state.early_z else covered & ~killed & 15).tobytes(),
        to_color=kept.tobytes(),
        depth_words=quads.depth_words.reshape(-1).tolist(),
        color_words=quads.color_words.reshape(-1).tolist(),
        reads=tuple(_reads(each, config.texture.line) for each in draw.textures),
    )


def _covered_quads(covered: NDArray[np.uint8], steps: int) -> list[tuple[int, ...]]:
    """Return the covered quads of each step."""
    found = np.flatnonzero(covered)
    ends = np.searchsorted(found, np.arange(steps + 1) * 16).tolist()
    numbers = found.tolist()
    return [tuple(numbers[ends[step] : ends[step + 1]]) for step in range(steps)]


def _triangles(draw: DrawWork) -> tuple[TrianglePlan, ...]:
    """Return what each triangle needs of the stream of vertices, and which of them nobody needs after it."""
    corners = draw.triangles.corners.tolist()
    outcomes, areas = draw.triangles.outcome.tolist(), draw.triangles.area.tolist()
    last_use: dict[int, int] = {}
    for number, used in enumerate(corners):
        for position in used:
            last_use[position] = number
    freed = Counter(last_use.values())
    unused = len(draw.vertices.indices) - len(last_use)
    made = []
    for number, used in enumerate(corners):
        frees = freed[number] + (unused if number == len(corners) - 1 else 0)
        made.append(TrianglePlan(max(used) + 1, frees, outcomes[number], areas[number]))
    return tuple(made)


def _batches(draw: DrawWork) -> tuple[BatchPlan, ...]:
    made = []
    ends = draw.quads.batch_steps.tolist()
    for number, batch in enumerate(draw.batches):
        rows = batch.scans.tolist()
        firsts = [row[3] for row in rows] + [ends[number + 1]]
        scans = tuple(
            (row[3], firsts[index + 1] - row[3], 0 if row[4] == NONE else row[4] + 1) for index, row in enumerate(rows)
        )
        made.append(BatchPlan(len(batch.triangles), len(batch.descents), scans))
    return tuple(made)


def _program(program: ProgramWork, config: AttilaConfig) -> ProgramPlan:
    reads = 0
    instructions = []
    for each in program.instructions:
        texture = NONE
        if each.texture_unit != NONE:
            texture, reads = reads, reads + 1
        sources = tuple({register for register in each.sources if RegisterBank(register >> 8) in _WRITABLE})
        instructions.append(InstructionPlan(each.latency + 1, sources, each.destination, texture, each.is_end))
    padded = len(instructions) + config.command.padding
    return ProgramPlan(
        tuple(instructions),
        program.inputs,
        program.outputs,
        program.temporaries,
        program.registers,
        padded * config.command.instruction_bytes,
        not program.loaded_before,
    )


def _reads(texture: TextureWork, line_bytes: int) -> ReadPlan:
    """Return the samples of a texture read by quad: of each bilinear step its lines and how many texels they hold."""
    shift = line_bytes.bit_length() - 1
    lines = (texture.texels >> shift).reshape(-1, 16)
    known: dict[bytes, Lines] = {}
    steps: list[Lines] = []
    for row, key in zip(lines.tolist(), (row.tobytes() for row in lines), strict=True):
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(Counter(row).items())
        steps.append(found)
    begins = texture.loops.tolist()
    samples = []
    for index, number in enumerate(texture.samples.tolist()):
        first, end = begins[index], begins[index + 1]
        size = max(1, (end - first) // number)
        samples.append(tuple(tuple(steps[at : at + size]) for at in range(first, end, size)))
    place = {quad: index for index, quad in enumerate(texture.quads.tolist())}
    return ReadPlan(texture.unit, place, samples)
