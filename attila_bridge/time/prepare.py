"""Preparation of a frame: the arrays of its work become lists of whole numbers, once, before any cycle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.work import (
    NONE,
    AttilaWork,
    AttributeWork,
    DrawWork,
    ProgramWork,
    TextureWork,
)
from attila_bridge.time.caches import TRANSACTION_BYTES
from attila_bridge.time.config import AttilaConfig, CommandConfig

# Groups: four inputs that a shader executes together.


VERTICES, FRAGMENTS = 0, 1
"""Kinds of groups."""

Group: TypeAlias = tuple[int, int, int, "tuple[Vertex, ...]"]
"""Kind, draw, the quad of fragments (-1 for vertices), the vertices."""

Vertex: TypeAlias = tuple[int, bool, bool]
"""Entry of the output queue (-1: padding), True for a repeated vertex, True for the last one of its draw."""


# Plan of a draw: its work in lists of whole numbers for the boxes.


class TrianglePlan(NamedTuple):
    """One assembled triangle."""

    needs: int
    """Vertices of the stream that must have arrived."""
    frees: int
    """Vertices that no later triangle uses."""
    outcome: int
    area: float
    """In pixels, negative where it faces away."""


class BatchPlan(NamedTuple):
    """Triangles that are traversed together."""

    triangles: int
    descents: int
    scans: tuple[tuple[int, int, int], ...]
    """Of each scan tile: first step, steps, descents after which it is found."""


class ReadPlan(NamedTuple):
    """One texture read of the fragment program."""

    place: dict[int, int]
    """Index of each quad in `samples`."""
    samples: list[tuple[tuple[tuple[tuple[int, int, int], ...], ...], ...]]
    """Of each quad its samples, of each its bilinear steps, of each its lines, the number of texels in them, and the
    place of the last one."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawPlan:
    """A draw."""

    number: int
    """Its place among the draws that take time."""
    indices: list[int]
    attributes: tuple[AttributeWork, ...]
    index_bytes: int
    """0 where the draw has no indices."""
    index_address: int
    triangles: tuple[TrianglePlan, ...]
    batches: tuple[BatchPlan, ...]
    vertex_program: ProgramWork
    fragment_program: ProgramWork
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
    first_textures: int
    """Textures bound for the first time in the frame."""
    step_quads: list[tuple[int, ...]]
    """Covered quads of each step."""
    blocks: list[int]
    """Line of the frame buffer of each step."""
    rops: bytes
    shaders: bytes
    steps_inside: list[tuple[int, int, int, int, int]]
    """Of each step the quads with 0, 1, 2, 3 and 4 fragments within the triangle, on the screen or not."""
    steps_covered: list[int]
    """Of each step the fragments within triangle, scissor and viewport."""
    nearest: list[int]
    tested: bytes
    """Fragments that passed the tests."""
    to_depth: bytes
    """Fragments of each quad that reach the depth unit alive."""
    to_color: bytes
    """Fragments of each quad that reach the colour unit alive."""
    depth_words: list[int]
    color_words: list[int]
    reads: tuple[ReadPlan, ...]


_COUNTS = np.array([bin(mask).count("1") for mask in range(16)], dtype=np.int64)

Lines = tuple[tuple[int, int, int], ...]


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
        attributes=draw.vertices.attributes,
        index_bytes=state.index_bytes,
        index_address=state.index_address,
        triangles=_triangles(draw),
        batches=_batches(draw),
        vertex_program=draw.vertex_program,
        fragment_program=draw.fragment_program,
        early=state.early_z,
        hierarchical=state.hz and config.hz.enabled,
        culls_equal=state.depth_func == "less",
        tests=tests,
        blends=state.blend,
        color_mask=mask,
        color_bytes=sum(mask << 4 * fragment for fragment in range(4)),
        fragment_inputs=draw.fragment_program.inputs,
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
    quads = np.flatnonzero(covered)
    ends = np.searchsorted(quads, np.arange(steps + 1) * 16).tolist()
    numbers = quads.tolist()
    return [tuple(numbers[ends[step] : ends[step + 1]]) for step in range(steps)]


def _triangles(draw: DrawWork) -> tuple[TrianglePlan, ...]:
    """Return the triangles, with the vertices that each needs and those that it is the last to need."""
    corners = draw.triangles.corners.tolist()
    outcomes, areas = draw.triangles.outcome.tolist(), draw.triangles.area.tolist()
    together, last_use = draw.triangles.together, dict[int, int]()
    for number, used in enumerate(corners):
        for position in used:
            last_use[position] = number // together * together + together - 1
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


def _reads(texture: TextureWork, line_bytes: int) -> ReadPlan:
    """Return the samples of a texture read by quad."""
    shift = line_bytes.bit_length() - 1
    lines = (texture.texels >> shift).reshape(-1, 16)
    known: dict[bytes, Lines] = {}
    steps: list[Lines] = []
    for row, key in zip(lines.tolist(), (row.tobytes() for row in lines), strict=True):
        if key not in known:
            last = {line: at for at, line in enumerate(row)}
            known[key] = tuple((line, texels, last[line]) for line, texels in Counter(row).items())
        steps.append(known[key])
    begins = texture.loops.tolist()
    samples = []
    for index, number in enumerate(texture.samples.tolist()):
        first, end = begins[index], begins[index + 1]
        size = max(1, (end - first) // number)
        samples.append(tuple(tuple(steps[at : at + size]) for at in range(first, end, size)))
    place = {quad: index for index, quad in enumerate(texture.quads.tolist())}
    return ReadPlan(place, samples)


# Contents of the buffers after draws without time, from which caches, block states and maxima start.
#
# The size in which a line was stored depends on time, as does a write of the value that a line was cleared to: a line
# that differs from the clear counts as stored in the size that its words compress to, any other as clear.


_DEPTH = 0xFFFFFF


class Contents(NamedTuple):
    """Lines that differ from the clear, by number."""

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
    """Return the buffers left by the draws before those of the work; None where there are no such draws."""
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


# Frame: its draws, and the steps of the command processor in order.


Step: TypeAlias = tuple[str, int]
"""ready, write, registers or frame (cycles), upload (its number), read (bytes of a program), clear (0 colour, 1 depth),
draw (its number), swap."""


@dataclass(frozen=True, eq=False)
class FramePlan:
    """A frame as the boxes use it."""

    draws: tuple[DrawPlan, ...]
    steps: tuple[Step, ...]
    blocks: int
    pixels: int
    color_address: int
    depth_address: int
    clear_color: int
    clear_depth: int
    programs: tuple[tuple[int, int], ...]
    """Address and bytes of each program, in the order in which they are loaded."""
    uploaded: int
    """Bytes uploaded, programs included."""
    before: Contents | None = None
    """Buffers left by the draws before these; None where these are all."""
    first_uploads: tuple[tuple[int, int], ...] = ()
    """Address and bytes of each upload before the first draw."""
    uploads: tuple[tuple[int, int], ...] = ()
    """Those after it."""
    written: tuple[tuple[int, int], ...] = ()
    """Transactions of the uploads before the first draw: cycle in which the write begins, and address (formula)."""


def plan_frame(work: AttilaWork, config: AttilaConfig) -> FramePlan:
    """Return the plan of a frame for the boxes of a machine."""
    draws = plans(work, config)
    programs = tuple(each for draw in draws for each in _programs(draw, config.command))
    uploads = _uploads(work, config, draws)
    return FramePlan(
        draws=draws,
        steps=_steps(work, config, draws, uploads),
        blocks=work.blocks,
        pixels=work.size[0] * work.size[1],
        color_address=work.color_address,
        depth_address=work.depth_address,
        clear_color=work.clear.color or 0,
        clear_depth=work.clear.depth_word,
        programs=programs,
        uploaded=sum(each.size for each in work.uploads) + sum(size for _, size in programs),
        before=contents(work),
        first_uploads=tuple(chain.from_iterable(uploads[:1])),
        uploads=tuple(chain.from_iterable(uploads[1:])),
        written=tuple(_upload_writes(work, config, draws, uploads)),
    )


_AHEAD = 4
"""Cycles by which the last write of an upload begins before the upload ends, as recorded reads of programs show."""


def _uploads(work: AttilaWork, config: AttilaConfig, draws: tuple[DrawPlan, ...]) -> list[list[tuple[int, int]]]:
    """Return address and bytes of what is uploaded for each draw: its textures and arrays, then its programs."""
    made = []
    for draw in draws:
        arrays = [(each.address, each.size) for each in work.uploads if each.draw == work.draws[draw.number].number]
        made.append(arrays + _programs(draw, config.command))
    return made


def _upload_writes(
    work: AttilaWork, config: AttilaConfig, draws: tuple[DrawPlan, ...], uploads: list[list[tuple[int, int]]]
) -> Iterator[tuple[int, int]]:
    """Yield the transactions of the uploads before the first draw."""
    cycle = sum(cycles for kind, cycles in _steps(work, config, draws[:1], uploads[:1]) if kind == "ready") - _AHEAD
    for address, size in chain.from_iterable(uploads[:1]):
        for at in range(0, size, TRANSACTION_BYTES):
            cycle += -(-min(TRANSACTION_BYTES, size - at) // config.memory.command_bus)
            yield cycle, address + at


def _programs(draw: DrawPlan, command: CommandConfig) -> list[tuple[int, int]]:
    """Return address and bytes of each program that a draw loads, padding included."""
    return [
        (each.address, (len(each.instructions) + command.padding) * command.instruction_bytes)
        for each in (draw.vertex_program, draw.fragment_program)
        if each.address is not None
    ]


def _upload_cycles(size: int, width: int) -> int:
    """Return the cycles of an upload over the command processor's bus, 64 bytes at a time (formula)."""
    whole, rest = divmod(size, TRANSACTION_BYTES)
    return whole * -(-TRANSACTION_BYTES // width) + -(-rest // width)


def _steps(
    work: AttilaWork, config: AttilaConfig, draws: tuple[DrawPlan, ...], uploads: list[list[tuple[int, int]]]
) -> tuple[Step, ...]:
    """Return the steps of the command processor in order."""
    command, width = config.command, config.memory.command_bus
    steps: list[Step] = []
    later = 0
    for draw in draws:
        cold = not draw.number and work.before is None
        if cold:
            levels = [each.name for each in work.uploads if each.draw == work.draws[0].number]
            ready = command.ready_cycles + draw.first_textures * command.texture_cycles
            ready += max(0, draw.first_textures - 1) * command.further_cycles
            ready += (len(levels) - len(set(levels))) * command.level_cycles
            ready += max(0, len(draw.attributes) - 2) * command.attribute_cycles
            ready += command.index_cycles if draw.index_bytes else 0
            steps.append(("ready", ready + draw.tests * command.test_cycles + draw.blends * command.blend_cycles))
        if draw.number:
            steps += [("upload", later + number) for number in range(len(uploads[draw.number]))]
            later += len(uploads[draw.number])
        elif cycles := sum(_upload_cycles(size, width) for _, size in uploads[0]):
            steps.append(("write", cycles))
        steps += [("read", size) for _, size in _programs(draw, command)]
        if cold:
            if work.clear.color is not None:
                steps.append(("clear", 0))
            if work.clear.depth is not None or work.clear.stencil is not None:
                steps.append(("clear", 1))
        if draw.number:
            steps.append(("registers", command.array_cycles * len(draw.attributes)))
        steps.append(("draw", draw.number))
    return (*steps, ("frame", command.frame_cycles), ("swap", 0))
