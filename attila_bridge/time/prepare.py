"""Preparation of a frame: the arrays of its work become lists of whole numbers, once, before any cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.work import NONE, AttilaWork, DrawWork, ProgramWork, TextureWork
from attila_bridge.isa.operands import RegisterBank
from attila_bridge.time.caches import TRANSACTION_BYTES
from attila_bridge.time.config import AttilaConfig

# Groups: four inputs that a shader executes in step.


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
    """True if it has to be loaded before the draw."""


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
    """True if depth is tested before shading."""
    hierarchical: bool
    """True if hierarchical Z may cull."""
    culls_equal: bool
    """True if a quad as deep as its block is culled."""
    tests: bool
    """True if depth or stencil is tested."""
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
    """Return what each triangle needs of the stream of vertices, and which of them are not needed after it."""
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


# Contents of the buffers that draws by function alone have left: what caches, block states and maxima begin with.
#
# Which size a line was stored in, and whether a line that is as it was cleared was written since, is not known without
# time: a line that differs from the clear counts as stored in the size that its words compress to, any other as clear.


_DEPTH = 0xFFFFFF


@dataclass(frozen=True)
class Contents:
    """Lines that are not as they were cleared, by number."""

    color: Mapping[int, list[int]]
    depth: Mapping[int, list[int]]
    maxima: Mapping[int, int]
    """The greatest depth of each of the lines of depth."""
    rops: bytes
    """The ROP of each line of a buffer."""

    def of(self, rop: int, words: Mapping[int, list[int]]) -> dict[int, list[int]]:
        """Return the lines of one ROP."""
        return {block: line for block, line in words.items() if self.rops[block] == rop}


def contents(work: AttilaWork) -> Contents | None:
    """Return what the draws before those of the work left; None where there are none."""
    before = work.before
    if before is None:
        return None
    color = _written(before.color, work.clear.color or 0)
    depth = _written(before.depth, work.clear.depth_word)
    maxima = {block: max(word & _DEPTH for word in words) for block, words in depth.items()}
    return Contents(color, depth, maxima, before.rops.tobytes())


def _written(lines: NDArray[np.uint32], cleared: int) -> dict[int, list[int]]:
    blocks = np.flatnonzero((lines != np.uint32(cleared)).any(axis=1)).tolist()
    return {block: lines[block].tolist() for block in blocks}


# Frame: its draws, and what the command processor does, in order.


Step: TypeAlias = tuple[str, int]
"""ready or write (cycles), read (bytes of a program), clear (0 colour, 1 depth), draw (its number), swap."""


@dataclass(frozen=True, eq=False)
class FramePlan:
    """What the boxes are given of a frame."""

    draws: tuple[DrawPlan, ...]
    steps: tuple[Step, ...]
    blocks: int
    pixels: int
    color_address: int
    depth_address: int
    clear_color: int
    clear_depth: int
    program_address: int
    uploaded: int
    """Bytes uploaded, programs included."""
    before: Contents | None = None
    """What draws before these have left in the buffers; None where these are all."""


def plan_frame(work: AttilaWork, config: AttilaConfig) -> FramePlan:
    """Return what the boxes of a machine are given of a frame."""
    draws = plans(work, config)
    return FramePlan(
        draws=draws,
        steps=_steps(work, config, draws),
        blocks=work.blocks,
        pixels=work.size[0] * work.size[1],
        color_address=work.color_address,
        depth_address=work.depth_address,
        clear_color=work.clear.color or 0,
        clear_depth=work.clear.depth_word,
        program_address=work.end_address,
        uploaded=sum(each.size for each in work.uploads) + sum(_loaded(draw) for draw in draws),
        before=contents(work),
    )


def _loaded(draw: DrawPlan) -> int:
    """Return the bytes of programs that a draw loads."""
    return sum(each.bytes for each in (draw.vertex_program, draw.fragment_program) if each.loads)


def _upload_cycles(size: int, width: int) -> int:
    """Return the cycles in which bytes go over the command processor's bus, 64 at a time."""
    whole, rest = divmod(size, TRANSACTION_BYTES)
    return whole * -(-TRANSACTION_BYTES // width) + -(-rest // width)


def _steps(work: AttilaWork, config: AttilaConfig, draws: tuple[DrawPlan, ...]) -> tuple[Step, ...]:
    """Return what the command processor does, in order; registers of later draws cost nothing (see the README)."""
    command, width = config.command, config.memory.command_bus
    steps: list[Step] = []
    for draw in draws:
        cold = not draw.number and work.before is None
        if cold:
            ready = command.ready_cycles + draw.first_textures * command.texture_cycles
            ready += command.index_cycles if draw.index_bytes else 0
            steps.append(("ready", ready + draw.tests * command.test_cycles + draw.blends * command.blend_cycles))
        uploads = [upload.size for upload in work.uploads if upload.draw == work.draws[draw.number].number]
        programs = [each.bytes for each in (draw.vertex_program, draw.fragment_program) if each.loads]
        cycles = sum(_upload_cycles(size, width) for size in (*uploads, *programs))
        if cycles:
            steps.append(("write", cycles))
        steps += [("read", size) for size in programs]
        if cold:
            if work.clear.color is not None:
                steps.append(("clear", 0))
            if work.clear.depth is not None or work.clear.stencil is not None:
                steps.append(("clear", 1))
        steps.append(("draw", draw.number))
    return (*steps, ("swap", 0))
