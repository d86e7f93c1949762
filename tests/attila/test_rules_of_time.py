"""Does each value move the outputs of its box by the cycles that it says? One row a value, derived by hand.

A row runs one box twice, with the paper's value and with another one. ``before`` and ``after`` are cycles in which
items of a port can be read, or their number; the derivation is in the row. Scripts are in `scripts.py`: DRAW begins a
draw in cycle 11, inputs arrive in the cycle that they name, and each wire takes a cycle unless its latency is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from attila_bridge.function import draw
from attila_bridge.function.coverage import Setup, cover
from attila_bridge.function.work import AttributeWork, InstructionWork, ProgramWork
from attila_bridge.run import units_of
from attila_bridge.scene import Primitive
from attila_bridge.time.caches import LineFill, LineRequest, Tags
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.netlist import Boxes, netlist
from attila_bridge.time.prepare import BatchPlan, DrawPlan, ReadPlan, TrianglePlan, plan_frame
from attila_bridge.time.rop_cache import COLOR_LEVELS, DEPTH_LEVELS, compressed_bytes
from attila_bridge.time.simulation import AttilaRun
from pixelflow.simd.boxes import Level
from pixelflow.simd.configuration import Value
from tests.attila.bench import Send, arrivals, frame_of, plan, program
from tests.attila.moved import SCENES, outcome
from tests.attila.scripts import (
    COMMIT,
    DRAW,
    EVICTED,
    FRAGMENT,
    FRAGMENT_BOXES,
    FRAME,
    GROUP,
    MOV,
    MOV_END,
    ONE,
    PAGE,
    PROCESSED,
    QUADS,
    READ,
    STEPS,
    TRIANGLES,
    WRITE,
    clients,
    cycles,
    memory,
    textured,
)

Outputs = dict[str, list[tuple[int, Any]]]
Run = Callable[[AttilaConfig], Outputs]
Figure = Callable[[Outputs], object]


@dataclass(frozen=True)
class Rule:
    """A value: its key, another value, a script of its box, a figure of the outputs before and after, and why."""

    key: str
    value: Value
    run: Run
    figure: Figure
    before: object
    after: object
    because: str
    given: Mapping[str, Value] = field(default_factory=dict)


def of(pick: Callable[[Boxes], Any], sends: list[Send], *draws: DrawPlan, **more: Any) -> Run:
    return lambda config: arrivals(pick, sends, *(draws or (plan(),)), config=config, **more)


def at(port: str) -> Figure:
    """The cycles of a port."""
    return lambda found: cycles(found, port)


def last(port: str) -> Figure:
    """The last cycle of a port."""
    return lambda found: cycles(found, port)[-1]


def first(port: str) -> Figure:
    """The first cycle of a port; 0 without items."""
    return lambda found: next(iter(cycles(found, port)), 0)


def number(*ports: str) -> Figure:
    """The number of items of ports."""
    return lambda found: sum(len(found[port]) for port in ports)


def stream(port: str, items: Any, begin: int = 21, amount: int = 1) -> list[Send]:
    """An item a cycle."""
    return [(begin + number, port, item, amount) for number, item in enumerate(items)]


# --- vertices --------------------------------------------------------------------------------------------------------

MANY = plan(indices=list(range(100)))
FREE: list[Send] = [(12, "loader_free", 100)]
_FETCH = of(lambda boxes: boxes.fetch, [DRAW], MANY)
_FETCH_FREE = of(lambda boxes: boxes.fetch, [DRAW, *FREE], MANY)
_FETCH_LINES = of(lambda boxes: boxes.fetch, [DRAW, *FREE, (13, "commit_free", (0, 100))], MANY)
_READ_INDICES = of(lambda boxes: boxes.fetch, [DRAW], plan(indices=list(range(1000)), index_bytes=4))
_COMMIT = of(lambda boxes: boxes.commit, COMMIT)
_EIGHT = of(lambda boxes: boxes.commit, COMMIT, plan(vertex_program=program(outputs=8)))
_ASSEMBLY = of(lambda boxes: boxes.assembly, [*TRIANGLES[:3], *stream("vertices", (0, 0, 0), 31)])
_ASK = of(lambda boxes: boxes.assembly, [DRAW], MANY)
_LOADER = of(
    lambda boxes: boxes.loader,
    [(21, "indices", (0, 0, 0, False, False)), (41, "memory_data", (False, 0, 64, 1, 0))],
)
_FOUR_ATTRIBUTES = of(
    lambda boxes: boxes.loader,
    [(21, "indices", (0, 0, 0, False, False)), (41, "memory_data", (False, 0, 64, 1, 0))],
    plan(attributes=tuple(AttributeWork(n, 16 * n, 16, 16) for n in range(4))),
)
_SPREAD = of(lambda boxes: boxes.loader, [(21 + n, "indices", (0, 4 * n, n, False, False)) for n in range(8)])
_CLIPPER = of(lambda boxes: boxes.clipper, TRIANGLES)
_CLIPPER_ASKS = of(lambda boxes: boxes.clipper, [DRAW])

VERTICES = [
    Rule("streamer.request_queue", 4, _FETCH, number("indices"), 8, 4, "each index takes an entry; none is given back"),
    Rule("streamer.output_memory", 24, _FETCH_FREE, number("indices"), 48, 24, "a line for each index, none freed"),
    Rule("streamer.output_queue", 32, _FETCH_LINES, number("indices"), 64, 32, "an entry for each index, none freed"),
    Rule("streamer.index_buffer", 512, _READ_INDICES, number("memory_request"), 16, 8, "64 bytes a request, none read"),
    Rule("streamer.cache_requests", 2, _SPREAD, number("memory_request"), 4, 2, "vertex n is in line n; no line comes"),
    Rule("streamer.cache_inputs", 2, _SPREAD, number("memory_request"), 4, 2, "as requests: lines being read"),
    Rule("streamer.cache_lines", 4, _SPREAD, number("memory_request"), 8, 4, "every line is reserved until it is read",
        {"streamer.cache_requests": 8, "streamer.cache_inputs": 8}),
    Rule("streamer.cache_line", 128, _SPREAD, number("memory_request"), 4, 8, "4 lines of one transaction, or of two"),
    Rule("streamer.cache_port", 4, _LOADER, last("vertex0"), 44, 47,
        "64 bytes over 4 ports: 1 cycle of 16 bytes, 4 of 4"),
    Rule("streamer.attributes", 2, _FOUR_ATTRIBUTES, at("vertex0"), [45], [47],
        "the line is written in 41, and in 42 four are read, then the vertex is loaded; with two the line takes "
        "two cycles, "
        "as do four reads"),
    Rule("memory.loader_bus", 8, _LOADER, last("vertex0"), 44, 51, "64 bytes on the bus: 1 cycle, or 8"),
    Rule("assembly.bus_latency", 13, _COMMIT, at("vertices"), [62, 63], [65, 66], "sent in 51 and 52: 10 + 1, 13 + 1"),
    Rule("streamer.attributes_sent", 2, _EIGHT, at("vertices"), [63, 65], [65, 69],
        "8 outputs hold the bus for 2 cycles, or 4: sent in 51 and 53, or 51 and 55, and 10 more"),
    Rule("assembly.queue", 4, _ASK, number("request"), 8, 4, "a request for each free place; no vertex comes"),
    Rule("clipper.start", 3, _ASSEMBLY, at("triangles"), [35, 36], [35, 38],
        "the third vertex in 33, sent in 34; the end"),
    Rule("clipper.latency", 9, _CLIPPER, at("output"), [29, 33], [32, 36], "in 21, done in 27 or 30, a wire of 2"),
    Rule("clipper.buffer", 2, _CLIPPER_ASKS, number("request"), 4, 2, "a request for each free place"),
    Rule("setup.start", 7, _CLIPPER, at("output"), [29, 33], [29, 36], "sent in 27; the next 4, or 7, later"),
    Rule("setup.input_latency", 4, _CLIPPER, at("output"), [29, 33], [31, 35], "sent in 27 and 31, a wire of 2, or 4"),
    Rule("command.end_latency", 5, _CLIPPER, at("ended"), [33], [36], "sent in 31 with the end of the draw"),
]  # fmt: skip

# --- set-up to interpolation -----------------------------------------------------------------------------------------

_SETUP = of(lambda boxes: boxes.setup, [*TRIANGLES[:4], (25, "triangles", -1)])
_SETUP_ASKS = of(lambda boxes: boxes.setup, [DRAW])
_TRAVERSAL_ASKS = of(lambda boxes: boxes.traversal, [DRAW])
_TILES = plan(
    batches=(BatchPlan(1, 4, tuple((2 * n, 2, n + 1) for n in range(4))),), steps_inside=[(0, 0, 0, 0, 16)] * 8
)
_TRAVERSAL = of(lambda boxes: boxes.traversal, TRIANGLES[:1] + TRIANGLES[3:], _TILES)
_WIDE = plan(
    batches=(BatchPlan(1, 4, tuple((8 * n, 8, n + 1) for n in range(4))),), steps_inside=[(0, 0, 0, 0, 16)] * 32
)
_SLOW_TILES = of(lambda boxes: boxes.traversal, TRIANGLES[:1] + TRIANGLES[3:], _WIDE)
_HZ = of(lambda boxes: boxes.hz, STEPS, plan(hierarchical=True))
_FULL_STEPS = plan(
    step_quads=[tuple(range(16 * n, 16 * n + 16)) for n in range(16)],
    blocks=list(range(16)), rops=bytes(16), shaders=bytes(16), steps_inside=[(0, 0, 0, 0, 16)] * 16,
    steps_covered=[64] * 16, nearest=[0] * 256, tested=b"\x0f" * 256, to_depth=b"\x0f" * 256, to_color=b"\x0f" * 256,
    depth_words=[0] * 1024, color_words=[7] * 1024,
)  # fmt: skip
_HZ_STEPS: list[Send] = [DRAW, (12, "fifo_ready", False), *stream("steps", [(2 * n, 2) for n in range(4)], amount=128)]
_HZ_FILLS = of(lambda boxes: boxes.hz, _HZ_STEPS, _FULL_STEPS)
_HZ_CLEAR = of(lambda boxes: boxes.hz, [(20, "command", ("clear", 0))])
_INTERPOLATOR = of(lambda boxes: boxes.interpolator, [(21, "quads", (0, [(0, 0)]), 4)], plan(fragment_inputs=16))

RASTER = [
    Rule("setup.fifo", 6, _SETUP_ASKS, number("request"), 12, 6, "a request for each free place"),
    Rule("setup.latency", 12, _SETUP, at("output"), [33, 37], [35, 39], "in 21 and 25, 10 or 12 cycles, a wire of 2"),
    Rule("setup.output_latency", 5, _SETUP, at("output"), [33, 37], [36, 40], "done in 31 and 35, a wire of 2, or 5"),
    Rule("traversal.queue", 8, _TRAVERSAL_ASKS, number("request"), 16, 8, "a request for each free place"),
    Rule("traversal.steps", 1, _TRAVERSAL, at("steps"), [26, 27, 28, 29, 30], [26, 27, 28, 29, 30, 31, 32, 33, 34],
        "a tile of 2 steps is found in each of 24 to 27 and opened in the next cycle: 2 steps a cycle, or one "
        "of the 8"),
    Rule("traversal.scan_queue", 1, _SLOW_TILES, last("steps"), 42, 45,
        "4 tiles of 8 steps take 4 cycles each from 25 on; with one place the next is only sought when the last "
        "has left"),
    Rule("hz.access_latency", 9, _HZ, at("quads"), [28, 29], [32, 33],
        "looked up in 21, read in 26, or 30; sent in 27"),
    Rule("hz.queue", 160, _HZ_FILLS, first("ready"), 23, 24,
        "32 quads a cycle from 21: more than 64 of 128 are free up to "
        "63, which 64 in 22 exceed; of 160 up to 95, which 96 in 23 exceed"),
    Rule("hz.cache_line", 4, lambda config: {"quads": sent(HZ, "quads", DRAW, *STEPS[1:], config=config,
        hierarchical=True, step_quads=[(0, 16, 32)], blocks=[0, 4, 8])[0]}, at("quads"), [28, 29], [28, 29, 30, 31],
        "one line, or one a cycle"),
    Rule("hz.cache_lines", 4, lambda config: {"quads": sent(HZ, "quads", DRAW, *STEPS[1:], config=config,
        hierarchical=True, nearest=[0] * 320, step_quads=[tuple(range(0, 320, 16))], blocks=list(range(0, 320, 16)),
        rops=bytes(20))[0]}, last("quads"), 48, 56,
        "a line is free 6 cycles after its look-up: twenty one a cycle from 21, or four in 21 to 24, 27 to 30, ... 48"),
    Rule("hz.cleared", 4, _HZ_CLEAR, at("ended"), [22], [37], "64 blocks: 1 cycle, or 16, from 20; a wire of 2"),
    Rule("fifo.interpolation_latency", 9, _INTERPOLATOR, at("output"), [30], [35],
        "in 21, 4 + 16 / 4, at most 8; with 9 "
        "the wire is longer: 9 + 4"),
    Rule("fifo.interpolators", 2, _INTERPOLATOR, at("output"), [30], [34], "4 + 16 / 4, or 4 + 16 / 2"),
]  # fmt: skip

# --- fragment FIFO and shaders ---------------------------------------------------------------------------------------

_NOT_READY: list[Send] = [(12, "depth_ready0", False), (12, "depth_ready1", False)]
_FIFO = lambda boxes: boxes.fifo  # noqa: E731
_GENERATED = of(_FIFO, [DRAW, *_NOT_READY,
    *stream("quads", [tuple(range(32 * n, 32 * n + 32)) for n in range(8)], amount=128)], _FULL_STEPS)  # fmt: skip
_TESTED = of(_FIFO, [DRAW, *stream("tested0", range(100), amount=4)], _FULL_STEPS)
_BUSY: list[Send] = [(12, "busy0", True), (12, "busy1", True)]
_PAIRS: list[Send] = stream("interpolated", [(0, [(0, n)]) for n in range(200)], amount=4)
_SHADED = of(_FIFO, [DRAW, *_PAIRS], _FULL_STEPS)
_BLOCKED = of(_FIFO, [DRAW, *_BUSY, *stream("tested0", range(60), amount=4),
    *stream("interpolated", [(0, [(0, n)]) for n in range(40)], 40, amount=4)], _FULL_STEPS)  # fmt: skip
_VERTICES: list[Send] = [
    (21 + n, f"vertex{port}", (0, (4 * n + port, False, False))) for n in range(20) for port in range(4)
]
_VERTICES_BUSY = of(_FIFO, [DRAW, *_BUSY, *_VERTICES])
_VERTICES_SHADED = of(_FIFO, [DRAW, *_VERTICES])
_AFTER_A_QUAD = of(_FIFO, [DRAW, (20, "interpolated", (0, [(0, 0)]), 4), *_VERTICES[4:8]])
_ALONE: list[Send] = [*_VERTICES[:4], (100, "vertex0", (0, (4, False, False)))]
_WAITING = of(_FIFO, _ALONE, until=3000)
_READS_TEXTURE = program(InstructionWork(2, (), 256, 0, False), MOV_END)
_GROUPS: list[Send] = [(10, "command", (1, 1)), *stream("groups", [(1, 0, n, ()) for n in range(40)], amount=4)]
_SHADERS = lambda boxes: boxes.shaders[0]  # noqa: E731
_STUCK = of(_SHADERS, _GROUPS[:18], plan(fragment_program=_READS_TEXTURE))
_STUCK_LONG = of(_SHADERS, _GROUPS[:30], plan(fragment_program=_READS_TEXTURE))
_SEVEN = of(_SHADERS, [(10, "command", (1, 7)), *_GROUPS[1:16]],
    plan(fragment_program=program(*_READS_TEXTURE.instructions, temporaries=7)))  # fmt: skip
_SEVEN_OF_VERTICES = of(
    _SHADERS,
    [(10, "command", (0, 7)), *stream("groups", [(0, 0, -1, ())] * 15, amount=4)],
    plan(vertex_program=program(*_READS_TEXTURE.instructions, temporaries=7)),
)
_LONG = of(_SHADERS, GROUP, plan(fragment_program=program(MOV, MOV_END, outputs=16)))
_PLAIN = of(_SHADERS, GROUP)
_TWO = program(MOV, InstructionWork(4, (), -1, -1, True))
_IN_ORDER = of(_SHADERS, GROUP, plan(fragment_program=_TWO))
_FOUR_GROUPS = of(
    _SHADERS, _GROUPS[:5], plan(fragment_program=program(MOV, MOV, MOV, InstructionWork(4, (), -1, -1, True)))
)
_MIXED = of(_SHADERS, [*GROUP, (22, "groups", (1, 1, 0, ()), 4)],
    plan(fragment_program=program(InstructionWork(5, (), -1, -1, True))), plan(number=1))  # fmt: skip

SHADERS = [
    Rule("fifo.generated", 160, _GENERATED, first("ready"), 24, 25,
        "32 quads a cycle from 21: 96 in 23 leave less than 64 of 128 free; 128 in 24 of 160"),
    Rule("fifo.tested", 16, _TESTED, first("consumer0"), 67, 51,
        "a quad a cycle from 21; 16 are given to the interpolator, so in 66 the 46th leaves 30 held, 2 of 32 "
        "free; of 16 "
        "the 30th, in 50, leaves 14"),
    Rule("fifo.interpolated", 8, _TESTED, number("interpolation"), 16, 8, "a quad at a time, each reserving a place"),
    Rule("fifo.shaded", 32, _SHADED, number("input0"), 128, 32, "every interpolated quad is shaded, none comes back"),
    Rule("fifo.shader_inputs", 8, _BLOCKED, number("interpolation"), 20, 18,
        "16 places of interpolated quads, and one more for each group that waits at the busy shader: 16 / 4, or 8 / 4"),
    Rule("fifo.shader_batch", 4, _AFTER_A_QUAD, number("input0"), 2, 1,
        "vertices go to the shader of the last quad; once 4 of its inputs are given and no quad is left, to the next"),
    Rule("fifo.vertex_inputs", 20, _VERTICES_BUSY, first("vertices_ready"), 32, 33,
        "four come a cycle from 21; 8 groups wait at two busy shaders up to 28, then 4, 8 and 12 vertices are "
        "held, in 31 "
        "more than 16 - 8; of 20 in 32"),
    Rule("fifo.vertex_outputs", 16, _VERTICES_SHADED, number("input0", "input1"), 12, 4,
        "four places a group, none leaves"),
    Rule("fifo.vertex_wait", 500, _WAITING, at("input1"), [1023], [523],
        "the group before in 21, more than 1000 after it "
        "or 500, and a wire"),
    Rule("shader.threads", 56, _STUCK, first("busy"), 0, 38,
        "a group a cycle from 21, 17 of them, none ends without a ticket: 15 of 32 slots free, or 1 of 18 in 37"),
    Rule("shader.buffers", 8, _STUCK_LONG, first("busy"), 0, 50,
        "29 groups leave 3 of 32 slots free, or 1 of 30 in 49"),
    Rule("shader.registers", 224, _SEVEN, first("busy"), 36, 28,
        "28 registers a group, two groups must have room: 448 - 28 x 15 < 56 in 35; 224 - 28 x 7 in 27"),
    Rule("shader.registers", 224, _SEVEN_OF_VERTICES, first("busy"), 36, 28,
        "two groups of the kind that takes more, here of vertices: as above"),
    Rule("shader.fetch_delay", 9, _LONG, last("output"), 43, 47,
        "the reader is fetched in 22, refused until 27 where it goes; with 9 it is fetched in 30, decoded in "
        "31: 4 later"),
    Rule("shader.output_latency", 9, _LONG, last("output"), 43, 41, "16 outputs: 8 + 3 of at most 11, or 9"),
    Rule("shader.output_delay", 1, _PLAIN, at("output"), [31], [29],
        "decoded in 22, done in 26, sent in 27: 1 + 3, or 1 + 1"),
    Rule("shader.batch_wait", 32, _IN_ORDER, at("output"), [96], [64],
        "21 + 64, fetched in 86, decoded in 87, done in 91, "
        "sent in 92, 4 on its way; 32 earlier", {"shader.window": False}),
    Rule("shader.window", False, _IN_ORDER, at("output"), [32], [96],
        "fetched in 22 at once, decoded in 23, sent in 28; "
        "a batch waits 64 cycles"),
    Rule("shader.results", 1, _MIXED, at("output"), [32, 33], [32, 34],
        "decoded in 22 and 23, both written in 27 and sent in 28 and 29; with one place the second is decoded "
        "again in 25, "
        "written in 29 and sent in 30"),
    Rule("shader.thread_rate", 8, _FOUR_GROUPS, last("output"), 46, 39,
        "16 instructions from 21, one a cycle: the last in 36, sent in 42; two a cycle from 22: in 29, sent in 35"),
]  # fmt: skip

# --- texture units ---------------------------------------------------------------------------------------------------

_TEXTURE = lambda boxes: boxes.textures[0][0]  # noqa: E731
_IDLE = of(_TEXTURE, [])
_FETCH_ONE: Run = lambda config: textured(ONE, config=config)  # noqa: E731


def _lines(*blocks: int) -> Run:
    """Reads of one texel each, of a line each, without an answer of memory."""
    samples = [((((block, 16, 15),),),) for block in blocks]
    draw = plan(reads=(ReadPlan({n: n for n in range(len(blocks))}, samples),))
    return of(_TEXTURE, stream("requests", [(n, 0, n, 0, 20 + n) for n in range(len(blocks))]), draw)


def _three_samples(config: AttilaConfig) -> Outputs:
    """A read of three samples, two of line 1, which comes from 40 to 52, and one of line 0, from 56 to 68."""
    draw = plan(reads=(ReadPlan({0: 0}, [tuple((((block, 16, 15),),) for block in (1, 1, 0))]),))
    sends: list[Send] = [(21, "requests", (0, 0, 0, 0, 20))]
    sends += [(40 + 4 * part, "memory_data", (False, 64 * part, 64, 8, part)) for part in range(8)]
    return arrivals(_TEXTURE, sends, draw, config=config)


_GIVEN = {"texture.request_queue": 64}

TEXTURES = [
    Rule("texture.request_queue", 1, _IDLE, number("tickets"), 4, 1, "a ticket for each place"),
    Rule("texture.address_latency", 9, _FETCH_ONE, at("address"), [29], [32], "in 21, begun in 22, 6 + 1, or 9 + 1"),
    Rule("texture.filter_latency", 9, _FETCH_ONE, at("results"), [69], [74],
        "filtered from 61, 4 + 1 or 9 + 1; sent in 68"),
    Rule("texture.decompression", 9, _FETCH_ONE, at("results"), [69], [74], "the line is there in 52; 4 cycles, or 9"),
    Rule("texture.port", 16, _FETCH_ONE, at("results"), [69], [66],
        "256 bytes over 16 ports of 4, or 16: 4 cycles, or 1"),
    Rule("memory.texture_bus", 16, _FETCH_ONE, at("results"), [69], [72],
        "the last 64 bytes hold the bus 1 cycle, or 4"),
    Rule("texture.cache_requests", 2, _lines(0, 1, 2, 3, 4, 5), number("memory_request"), 16, 8,
        "4 lines of 4 transactions are asked, or 2", _GIVEN),
    Rule("texture.cache_inputs", 2, _lines(0, 1, 2, 3, 4, 5), number("memory_request"), 16, 8, "as requests", _GIVEN),
    Rule("texture.line", 64, _lines(0, 1), number("memory_request"), 8, 2, "a transaction a line", _GIVEN),
    Rule("texture.ways", 2, _lines(0, 16, 32, 48), number("memory_request"), 16, 8,
        "blocks of one set: each way is reserved until its line comes", _GIVEN),
    Rule("texture.lines", 8, _lines(0, 8, 16, 24, 32, 40), number("memory_request"), 24, 16,
        "two sets of 16 have 3 blocks each; one set of 8 has all 6, and 4 ways",
        {**_GIVEN, "texture.cache_requests": 8, "texture.cache_inputs": 8}),
    Rule("texture.wait_window", 1, _lines(0, 1, 2, 3), number("memory_request"), 16, 4,
        "a sample without its line waits in the window; with one place the next is not fetched", _GIVEN),
    Rule("texture.access_queue", 1, _lines(0, 1, 2, 3), number("memory_request"), 16, 4,
        "one access at a time", _GIVEN),
]  # fmt: skip

# --- depth and colour units ------------------------------------------------------------------------------------------


def _rop(kind: str) -> Callable[[Boxes], Any]:
    return lambda boxes: boxes.depth[0] if kind == "depth" else boxes.color[0]


def _rops(kind: str) -> list[Rule]:
    """Rows that both kinds have: depths are tested, colours blended."""
    works = {"tests": True} if kind == "depth" else {"blends": True}
    passes = plan() if kind == "depth" else plan(color_mask=0)
    done = "tested" if kind == "depth" else "ended"
    quads = stream("quads", range(40), amount=4)
    busy: list[Send] = [(12, "consumer", False)] if kind == "depth" else []
    one = of(_rop(kind), QUADS, plan(**works))
    two = of(_rop(kind), [DRAW, *stream("quads", (0, 1, -1), amount=4)], plan(**works))
    many = of(_rop(kind), [DRAW, *quads], plan(**works, step_quads=[tuple(range(16))] * 4, blocks=[0, 1, 2, 3]))

    def ten(apart: int) -> Run:
        """Ten quads, each of a block of its own."""
        draw = plan(**works, step_quads=[(16 * n,) for n in range(10)], blocks=[apart * n for n in range(10)],
            to_depth=b"\x0f" * 160, to_color=b"\x0f" * 160, tested=b"\x0f" * 160,
            depth_words=[0] * 640, color_words=[7] * 640)  # fmt: skip
        return of(_rop(kind), [DRAW, *stream("quads", range(0, 160, 16), amount=4)], draw, blocks=256)

    lines = ten(16)
    clear = of(_rop(kind), [(20, "command", ("clear", 0))])
    at_end = {"depth": 0, "color": 1}[kind]
    four: Figure = lambda found: cycles(found, "alu_start")[:4]  # noqa: E731
    rows = [
        Rule(f"{kind}.alu_latency", 3, one, last(done), 46 + at_end, 47 + at_end,
        "as blending: arithmetic begins in 41"),
        Rule(f"{kind}.alu_rate", 3, two, at("alu_start"), [42, 43], [42, 45], "both words are there by 40"),
        Rule(f"{kind}.decompression", 1, one, at("alu_start"), [42], [35], "8 cycles of the line, or 1"),
        Rule(f"{kind}.port", 64, one, at("alu_start"), [42], [38],
        "256 bytes over a port of 32, or 64: 8 cycles, or 4"),
        Rule(f"{kind}.fetch_queue", 4, many, first("ready"), 0, 31,
            "a quad a cycle from 21; the line is there in 39, 17 wait; with 4 places 6 wait before them in 30"),
        Rule(f"{kind}.cache_requests", 2, lines, first("ready"), 31, 29,
            "a line of one set a quad: 4 ways take 4, then 6 wait in 30; 2 requests take 2, and 6 wait in 28"),
        Rule(f"{kind}.cache_inputs", 1, lines, four, [42, 50, 58, 66], [42, 58, 74, 90],
            "a line is decompressed while another is written, one in 8 cycles; one at a time takes 8 + 8"),
        Rule(f"{kind}.lines", 8, ten(8), number("memory_request"), 2, 6,
            "two sets of five lines: one is evicted of each; of one set of ten, six"),
        Rule(f"{kind}.cache_outputs", 1, lines, last("alu_start"), 114, 154,
            "the fifth to tenth line push out another each, begun in 74, 82, ...; with one at a time the seventh waits "
            "18 after the sixth: 8 to read it, 8 to compress, 1 on the bus, 1 until its place is free; so do the "
            "others"),
        Rule(f"{kind}.extra_write_port", False, many, lambda found: cycles(found, "alu_start")[7:9], [49, 50], [49, 58],
            "the first line is written from 33 on, the second, asked for 16 later, from 49 to 56; results of 45 to 48 "
            "are written, the next waits, with it four operations"),
        Rule(f"{kind}.cleared", 2000, clear, at("ended"), [277], [153], "262,144 states from 20: 256 cycles, or 132"),
        Rule(f"{kind}.block_states", 1024, clear, at("ended"), [277], [22], "256 cycles, or 1"),
    ]  # fmt: skip
    if kind == "color":
        rows += [
            Rule("color.op_queue", 8, many, lambda found: cycles(found, "alu_start")[7:13], [49, 58, 59, 60, 61, 62],
                [49, 50, 51, 52, 53, 58], "one port: four operations wait for the line, or eight",
                {"color.extra_write_port": False}),
            Rule("color.read_queue", 4, of(_rop(kind), [DRAW, *quads], plan(step_quads=[tuple(range(16))] * 4,
                blocks=[0, 1, 2, 3])), first("ready"), 45, 32, "one is allocated a cycle from 22, one begun in 23 and "
                "39: 16 wait in 38, or 4 in 26; 6 wait before them in 44, or 31", {"color.alu_rate": 16}),
            Rule("color.ways", 1, lines, number("memory_request"), 6, 9, "ten lines of one set: 4 stay, or 1"),
            Rule("color.input_queue", 4, lines, first("ready"), 31, 27,
                "as above: 4 are taken; 6 wait in 30, or 2 in 26"),
        ]  # fmt: skip
    if kind == "depth":
        stalled = of(_rop(kind), [DRAW, *busy, *quads], passes)
        rows += [
            Rule("depth.input_queue", 4, stalled, first("ready"), 35, 31,
                "8 are written from 22 on and stay; 6 wait before them in 34, or 2 in 30"),
            Rule("depth.write_queue", 4, stalled, first("ready"), 35, 31, "8, or 4, are written; 6 wait in 34, or 30"),
        ]  # fmt: skip
    return rows


_EVICTION = of(
    lambda boxes: boxes.depth[0],
    [DRAW, *((21 + 60 * step, "quads", 16 * step, 4) for step in range(5))],
    EVICTED,
    blocks=128,
)
_SWAP = of(lambda boxes: boxes.color[0], [*QUADS, (60, "command", ("swap", 0))])
_DISPLAY = of(lambda boxes: boxes.display, [(21, "states0", {}), (21, "states1", {})])
_UNREAD = of(lambda boxes: boxes.display, [(21, "states0", dict.fromkeys(range(64), 64)), (21, "states1", {})])

ROPS = [
    *_rops("depth"),
    *_rops("color"),
    Rule("color.extra_read_port", False, lambda config: blended(0, 16, 32, 48, 64, config=config), at("alu_start"),
        [42, 50, 58, 66, 75], [42, 50, 66, 67, 75],
        "the line that is pushed out is read from 55 to 63; the third quad is read in 55, or 63, the fourth in 64"),
    Rule("color.cache_outputs", 1, lambda config: blended(0, 16, 32, 48, 64, 80, 1, apart=1, config=config),
        last("alu_start"), 90, 99,
        "the seventh pushes no line out and is begun 8 after the sixth; with one at a time it waits as well: the fifth "
        "is accepted in 44 and the others 18 later each, as above, so in 80, decompressed by 88, written by 96, begun "
        "in 97"),
    Rule("hz.enabled", False, _EVICTION, number("maxima"), 1, 0, "a maximum of the line that is evicted, or none"),
    Rule("hz.update_latency", 7, _EVICTION, last("maxima"), 275, 278,
        "the fifth quad in 261 finds all ways taken; the old line is read from 263 for 8 cycles, and a wire of "
        "4, or 7"),
    Rule("depth.compression", 11, _EVICTION, last("memory_request"), 280, 283,
        "compressed from 271 on, 8 or 11; a wire"),
    Rule("depth.ways", 2, _EVICTION, number("memory_request"), 1, 3,
        "five lines of one set: one, or three, are evicted"),
    Rule("depth.compress", False, _EVICTION, number("memory_request"), 1, 4, "64 bytes, or 256 in four transactions"),
    Rule("color.cleared", 512, of(lambda boxes: boxes.color[0], [*QUADS, (60, "command", ("swap", 0))], blocks=4097),
        last("ended"), 85, 87, "states in 81, so sent in 80: 2049 of this unit's take 3 cycles, or 5; a wire of 2"),
    Rule("color.compression", 3, _SWAP, at("states"), [81], [76],
        "told in 60, flushed from 61 on: accepted and read in 62 for 8 cycles, compressed for 8, or 3; sent in 78 and "
        "done in 79, noticed in 80"),
    Rule("color.compress", False, _SWAP, number("memory_request"), 1, 4, "64 bytes, or 256 in four transactions"),
    Rule("memory.color_bus", 16, _SWAP, at("states"), [81], [84], "64 bytes hold the bus for 1 cycle, or 4"),
    Rule("display.decompression", 2, _DISPLAY, at("ended"), [92], [156],
        "from 24 on, when the processor has passed the end of the copy on: a cycle, or two, for each of 64 blocks; a "
        "wire of 2"),
    Rule("display.updated", 16, _DISPLAY, at("ended"), [92], [93],
        "64 states of each of two units are kept by 23, or 25, at 1024 a cycle from each, or 16"),
    Rule("color.cleared", 8, _DISPLAY, at("ended"), [92], [95], "32 states of a unit are copied in 1 cycle, or 4"),
    Rule("display.queue", 16, _UNREAD, number("memory_request"), 32, 16,
        "blocks in the queue are asked for, none comes"),
]  # fmt: skip

# --- memory and command processor ------------------------------------------------------------------------------------


def _memory(*accesses: tuple[int, bool, int]) -> Run:
    return lambda config: {"data": [(cycle, None) for cycle in memory(*accesses, config=config)]}


def _answers(client: str) -> Run:
    """Four reads of a client, of a channel each: the cycles in which it has their answers."""

    def run(config: AttilaConfig) -> Outputs:
        number = clients().index(client)
        sends: list[Send] = [(30 + n, f"{client}_request", (False, 256 * n, 64, number, n)) for n in range(4)]
        return arrivals(lambda boxes: boxes.memory, sends, plan(), config=config)

    return run


def _ask_in_turn(config: AttilaConfig) -> Outputs:
    """Two reads of a colour unit and one of the streamer, of a channel each."""
    color, fetch = (clients().index(each) for each in ("SU0::ColorWrite", "StreamerFetch"))
    sends: list[Send] = [(30 + at, "SU0::ColorWrite_request", (False, 256 * at, 64, color, at)) for at in range(2)]
    sends.append((31, "StreamerFetch_request", (False, 512, 64, fetch, 2)))
    return arrivals(lambda boxes: boxes.memory, sends, plan(), config=config)


def _narrow_write(config: AttilaConfig) -> Outputs:
    """A write of a colour unit."""
    request = (True, 0, 64, clients().index("SU0::ColorWrite"), 0)
    return arrivals(lambda boxes: boxes.memory, [(30, "SU0::ColorWrite_request", request)], plan(), config=config)


def _bus(key: str, client: str) -> Rule:
    return Rule(f"memory.{key}", 16, _answers(client), at(f"{client}_data"), [46, 47, 48, 49], [46, 50, 54, 58],
        "data from 40 to 43, the bus reserved in 44, sent in 45; one a cycle, or one in 4 over 16 bytes")  # fmt: skip


def _flood(write: bool) -> Run:
    """A request a cycle of one client to one page."""

    def run(config: AttilaConfig) -> Outputs:
        number = clients().index("SU0::ColorWrite")
        sends: list[Send] = [
            (30 + n, "SU0::ColorWrite_request", (write, 64 * (n % 4), 64, number, n)) for n in range(70)
        ]
        return arrivals(lambda boxes: boxes.memory, sends, plan(), config=config)

    return run


def _accepts(what: int) -> Figure:
    """The first cycle in which another client sees that only reads (1) or nothing (0) is accepted."""
    return lambda found: next((cycle for cycle, each in found["SU1::ZStencilTest_state"] if each == what), 0)


THREE_WRITES = ((30, WRITE, 0), (31, WRITE, 64), (32, WRITE, 128))
_PROCESSOR = of(lambda boxes: boxes.processor, PROCESSED, plan(), steps=FRAME)

MEMORY = [
    Rule("memory.read_latency", 14, _memory((30, READ, 0)), at("data"), [40], [44], "from start to data"),
    Rule("memory.write_latency", 9, _memory((30, WRITE, 0), (31, READ, 64)), at("data"), [36, 56], [39, 59],
        "a write 6, or 9; the read starts 4 + 6 + 6, or 4 + 9 + 6, later"),
    Rule("memory.write_to_read", 9, _memory((30, WRITE, 0), (31, READ, 64)), at("data"), [36, 56], [36, 59],
        "as above"),
    Rule("memory.page_open", 25, _memory((30, READ, 0), (31, READ, PAGE)), at("data"), [40, 60], [40, 65],
        "after 20, or 25"),
    Rule("memory.open_pages", 4, _memory((30, READ, 0), (31, READ, PAGE)), at("data"), [40, 60], [40, 44],
        "both are open"),
    Rule("memory.page_bytes", 8192, _memory((30, READ, 0), (31, READ, PAGE // 2)), at("data"), [40, 60], [40, 44],
        "the address is of page 1, which is not open, or of page 0, which is"),
    Rule("memory.bus_bits", 32, _memory((30, READ, 0), (31, READ, 64)), at("data"), [40, 44], [40, 48],
        "4 cycles, or 8"),
    Rule("memory.max_reads", 1, _memory((30, READ, 0), (31, READ, 64), (32, WRITE, 128)), at("data"), [40, 44, 54],
        [40, 50, 70], "reads in 30 and 34, the write 14 later; with one read the write in 44, the read 16 later"),
    Rule("memory.max_writes", 2, _memory(*THREE_WRITES, (35, READ, 192)), at("data"),
        [36, 40, 44, 64], [36, 40, 60, 70],
        "two writes are a run, which goes on in 38; of at most two it ends: the read in "
        "50, the write 14 later"),
    Rule("memory.interleave", 512, _memory((30, READ, 0), (31, READ, 256)), at("data"), [40], [40, 44],
        "the second read is of channel 1, or of channel 0"),
    Rule("memory.channels", 1, _memory((30, READ, 0), (31, READ, 256)), at("data"), [40], [40, 44],
        "all are of channel 0"),
    _bus("fetch_bus", "StreamerFetch"),
    _bus("display_bus", "DAC"),
    Rule("memory.color_bus", 16, _memory((30, WRITE, 0)), at("data"), [36], [39], "its data come in 30, or up to 33"),
    Rule("memory.color_bus", 16, _ask_in_turn, at("StreamerFetch_data"), [48], [51],
        "after two answers of the colour unit, sent in 45 and 46, or 49: answers of all clients go in one order"),
    Rule("memory.color_bus", 16, _narrow_write, lambda found: found["SU0::ColorWrite_state"], [], [(31, 1), (33, 2)],
        "while its bus is busy for 2 cycles more a client may only read"),
    _bus("depth_bus", "SU0::ZStencilTest"),
    Rule("memory.service_queue", 1, _memory((30, READ, 0), (31, READ, 64)), at("data"), [40, 44], [40, 56],
        "the place is kept until the answer has left its bus in 46: data to 43, reserved in 44, sent in 45"),
    Rule("memory.read_buffers", 1, _memory((30, READ, 0), (31, READ, 64)), at("data"), [40, 44], [40, 56],
        "the same way"),
    Rule("memory.request_queue", 32, _flood(READ), _accepts(0), 86, 43,
        "one comes a cycle from 30, one ends in 4 from 43: less than 20 of 64 free after 56 - 11 in 85, of 32 "
        "after 13 in 42"),
    Rule("memory.request_queue", 32, _flood(WRITE), _accepts(0), 87, 45,
        "one comes a cycle from 30, one ends in 4 from 39: less than 20 of 64 free after 57 - 12 in 86, of 32 after "
        "15 - 2 in 44", {"memory.write_buffers": 128}),
    Rule("memory.reserve", 1, _flood(READ), _accepts(0), 86, 99,
        "less than 20 free, or less than 10 after 69 - 14 in 98"),
    Rule("memory.write_buffers", 16, _flood(WRITE), _accepts(1), 58, 37,
        "one ends in 4 from 39: less than 10 of 32 free after 28 - 5 in 57, of 16 after 7 in 36"),
    Rule("command.start_latency", 4, _PROCESSOR, last("color0_command"), 253, 256, "the swap begins in 252"),
    Rule("memory.command_bus", 64, _PROCESSOR, at("fetch_command"), [88], [81],
        "the program comes in 80: 8 cycles with that one, or 1"),
]  # fmt: skip

# --- formulas of a frame ---------------------------------------------------------------------------------------------


def _phases(scene: str) -> Run:
    return lambda config: {phase: [(cycles, None)] for phase, cycles in outcome(scene, config)[0].items()}


FRAMES = [
    Rule("command.ready_cycles", 34, _phases("texture"), at("Ready"), [101], [69],
        "66 and 2 at the end, or 34 and 2; 16 for a texture, 2 for each of 6 more levels, 5 for a third attribute"),
    Rule("command.frame_cycles", 3, _phases("texture"), at("Ready"), [101], [103],
        "the end of the frame takes 1 cycle, or 3, and the first of the swap counts as ready"),
    Rule("command.texture_cycles", 8, _phases("texture"), at("Ready"), [101], [93], "68 + 12 + 5, and 16, or 8"),
    Rule("command.level_cycles", 1, _phases("texture"), at("Ready"), [101], [95], "68 + 16 + 5, and 12, or 6"),
    Rule("command.attribute_cycles", 1, _phases("texture"), at("Ready"), [101], [97], "68 + 16 + 12, and 5, or 1"),
    Rule("command.further_cycles", 1, _phases("two units"), at("Ready"), [121], [118], "101 + 16, and 4, or 1"),
    Rule("command.index_cycles", 3, _phases("mesh"), at("Ready"), [79], [76], "68 + 5, and 6, or 3"),
    Rule("command.test_cycles", 2, _phases("again and again"), at("Ready"), [89], [86],
        "68 + 5 + 6 + 5 + 5, or 68 + 5 + 6 + 2 + 5"),
    Rule("command.blend_cycles", 2, _phases("again and again"), at("Ready"), [89], [86],
        "68 + 5 + 6 + 5 + 5, or 68 + 5 + 6 + 5 + 2"),
    Rule("command.array_cycles", 4, _phases("depths"), at("Ready"), [88], [94],
        "68 + 5 + 5 of the first draw; the other waits for the end of its fragments: a cycle before each of 3 uploads, "
        "2 for each of 3 arrays, or 4, and one for the swap", {"gpu.pipelined_draws": False}),
    Rule("command.setup_latency", 5, _phases("depths"), at("Draw"), [52], [54],
        "the geometry of the second draw waits for set-up, which hears of the draw 2 cycles later"),
    Rule("command.padding", 8, _phases("texture"), at("MemoryWrite"), [2833], [2801],
        "8 bytes a cycle: arrays 12 + 12 + 6, levels 2048 + 512 + 128 + 32 + 8 + 2 + 1, programs of 3 and 1 "
        "instructions and "
        "16 more: 38 + 34; 8 instructions of 16 bytes less are 16 cycles, twice"),
]  # fmt: skip

RULES = [*VERTICES, *RASTER, *SHADERS, *TEXTURES, *ROPS, *MEMORY, *FRAMES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.key)
def test_a_value_takes_the_cycles_of_its_row(rule: Rule) -> None:
    config = PAPER.with_values(rule.given)
    assert rule.figure(rule.run(config)) == rule.before, rule.because
    assert rule.figure(rule.run(config.with_values({rule.key: rule.value}))) == rule.after, rule.because


# --- rules without a value -------------------------------------------------------------------------------------------


def victims(ways: int, blocks: int, *, first_way: int | None = None, used: tuple[int, ...] = ()) -> list[int]:
    """Ways that are given to blocks of one set, each released at once."""
    tags = Tags(ways, 1, blocks)
    if first_way is not None:
        tags.first_way = first_way
    for way in used:
        tags.use(way)
    lines = []
    for block in range(blocks):
        lines.append(tags.fetch(block))
        tags.release(lines[-1])
    return lines


def tagged(ways: int, sets: int, requests: int, steps: str) -> list[object]:
    """What calls of tags return, and each request that is taken: line, block, old block, spill, fill, masked.

    "dirty" and "mask" set those of a line; "filled" and "spilled" end a half of the request taken so many before.
    """
    tags = Tags(ways, sets, requests)
    taken: list[LineRequest] = []
    found: list[object] = []
    for step in steps.split(", "):
        name, *numbers = step.split()
        args = [int(each) for each in numbers]
        if name == "take":
            taken.append(each := tags.queue.popleft())
            kinds = "spill" * each.spill, "fill" * each.fill, "masked" * each.masked
            found.append(" ".join([str(each.line), str(each.block), str(each.old), *filter(None, kinds)]))
        elif name in ("filled", "spilled"):
            found.append(tags.finish(taken[args[0]], name == "spilled"))
        elif name == "queued":
            found.append(len(tags.queue))
        elif name in ("dirty", "mask"):
            getattr(tags, name)[args[0]] = args[1]
        elif (one := getattr(tags, name)(*args)) is not None:
            found.append(one)
    return found


def filled(
    *blocks: int, answers: Mapping[int, int], line: int = 128, inputs: int = 2, decompression: int = 0,
    write: int = 2, width: int = 64, refused: Sequence[int] = (), size: int = 64,
) -> list[tuple[object, ...]]:  # fmt: skip
    """Reads of lines of a cache: cycle, address and bytes of what is asked for, and blocks that are there.

    ``answers`` are tickets by cycle, of ``size`` bytes; in cycles ``refused`` nothing is accepted.
    """
    tags = Tags(len(blocks), 1, len(blocks))
    fill = LineFill(tags, line, inputs, 5, decompression, write)
    for block in blocks:
        tags.fetch(block)
    found: list[tuple[object, ...]] = []
    for cycle in range(60):
        if cycle in answers:
            fill.answered(cycle, (False, 0, size, 5, answers[cycle]), width)
        if sent := fill.step(cycle, cycle not in refused):
            found.append((cycle, *sent[1:3]))
        if fill.filled >= 0:
            found.append((cycle, fill.filled))
    return found


def culled(nearest: int, equal: bool) -> bool:
    """Whether hierarchical Z drops a quad of this depth behind a maximum of 5."""
    draw = plan(hierarchical=True, nearest=[nearest] * 64, culls_equal=equal)
    sends = [STEPS[0], (15, "maxima0", (0, 5)), *STEPS[1:]]
    return len(arrivals(lambda boxes: boxes.hz, sends, draw)["quads"]) == 1


def inside(value: float, a: float) -> bool:
    """Whether the first fragment of a tile is inside an edge with this value there, rising to the right by ``a``."""
    edges = np.array([[[a, 0, value], [0, 0, 1], [0, 0, 1]]], np.float64)
    setup = Setup(edges, np.zeros((1, 3)), np.zeros(1, bool), np.zeros(1, bool), np.ones(1), np.zeros((1, 4), np.int64))
    zero = np.zeros(1, np.int64)
    return bool(cover(setup, zero.astype(np.int32), zero, zero, (0, 0, 8, 8)).inside[0, 0])


WORDS = [0x10000000, 0x20000000, 0x40000000, 0x70000000]
"""Of one quad: with the 0 of the rest five high parts, of which two are near neither end."""


def states(*second: Send) -> object:
    """States of blocks sent to the display: after a quad of WORDS, and one of 0 over it in ``second``."""
    draws = plan(color_words=WORDS * 64), plan(number=1, color_words=[0] * 256)
    sends: list[Send] = [*QUADS, (60, "command", ("swap", 0)), *second]
    return arrivals(lambda boxes: boxes.color[0], sends, *draws)["states"][-1][1]


AGAIN: list[Send] = [
    (400, "command", ("draw", 1)), (410, "quads", 0, 4), (411, "quads", -1, 4), (450, "command", ("swap", 0)),
]  # fmt: skip
CLEARED: list[Send] = [(100, "command", ("clear", 0)), *AGAIN]


def crossbar() -> tuple[int, int]:
    """Groups that two shaders get of six quads each, one ROP's for a busy shader, the other ROP's for an idle one."""
    draw = plan(rops=bytes((0, 1)), shaders=bytes((0, 1)), blocks=[0, 4])
    pairs = stream("interpolated", [(0, [(0, n), (1, 16 + n)]) for n in range(6)], amount=8)
    found = arrivals(lambda boxes: boxes.fifo, [DRAW, (12, "busy0", True), *pairs], draw)
    return len(found["input0"]), len(found["input1"])


def inputs(*sends: Send) -> list[int]:
    """Cycles in which the first shader gets groups from the fragment FIFO."""
    return cycles(arrivals(_FIFO, [DRAW, *sends], plan()), "input0")


def sent(
    pick: Callable[[Boxes], Any], ports: str, *sends: Send, config: AttilaConfig = PAPER, **changes: object
) -> list[list[tuple[int, Any]]]:
    """What a box sends at some ports in a draw with changes."""
    found = arrivals(pick, sends, plan(**changes), config=config)
    return [found[port] for port in ports.split()]


def fifo(ports: str, *sends: Send, early: bool = True) -> list[list[tuple[int, Any]]]:
    """What the fragment FIFO sends at some ports."""
    return sent(_FIFO, ports, DRAW, *sends, early=early)


def groups(*steps: InstructionWork) -> list[tuple[int, int]]:
    """When forty groups leave a shader, and their quads; one comes a cycle from 21 on."""
    (found,) = sent(_SHADERS, "output", *_GROUPS, fragment_program=program(*steps))
    return [(cycle, item[2]) for cycle, item in found]


def _two_draws() -> list[tuple[int, int]]:
    """When the first shader gets the quads of a second draw, one of each ROP; the first has five, all of the second."""
    draws = [plan(number=at, rops=bytes((0, 1)), shaders=bytes((0, 0)), blocks=[0, 4]) for at in range(2)]
    pairs = [(0, [(1, 16), (1, 17)]), (0, [(1, 18), (1, 19)]), (0, [(1, 20)])]
    sends: list[Send] = [DRAW, (12, "busy0", True), *stream("interpolated", pairs, amount=8), (40, "busy0", False)]
    sends.append((60, "interpolated", (0, [(0, -1), (1, -1)]), 8))
    sends += [(80 + at, "output0", (1, 0, 16 + at, ()), 4) for at in range(5)]
    sends += [(200, "command", ("draw", 1)), (210, "interpolated", (1, [(0, 0), (1, 16)]), 8)]
    return [(cycle, item[2]) for cycle, item in arrivals(_FIFO, sends, *draws)["input0"]][5:]


def left(*steps: InstructionWork, sends: Sequence[Send] = GROUP, **values: Any) -> list[int]:
    """When groups leave a shader whose program has these steps."""
    (found,) = sent(_SHADERS, "output", *sends, fragment_program=program(*steps, **values))
    return [cycle for cycle, _ in found]


def batches(*sends: Send) -> list[int]:
    """When groups of two instructions leave a shader that works in batches."""
    (found,) = sent(_SHADERS, "output", _GROUPS[0], *sends, config=PAPER.with_values({"shader.window": False}),
        fragment_program=_TWO, vertex_program=_TWO)  # fmt: skip
    return [cycle for cycle, _ in found]


def _vertices_of_batch(cycle: int, number: int, last: bool = False) -> Send:
    return (cycle, "groups", (0, 0, -1, ((number, False, last),)), 4)


def in_batches(*sends: Send, steps: ProgramWork, **values: Value) -> list[tuple[int, int]]:
    """When groups leave a shader that works in batches: the first entry of vertices, or the quad."""
    config = PAPER.with_values({"shader.window": False, **{f"shader.{key}": value for key, value in values.items()}})
    (found,) = sent(_SHADERS, "output", (10, "command", (0, 1)), *sends, config=config, vertex_program=steps,
        fragment_program=steps)  # fmt: skip
    return [(cycle, item[3][0][0] if item[3] else item[2]) for cycle, item in found]


def _later(cycle: int) -> Send:
    return (cycle, "groups", (1, 0, 1, ()), 4)


TICKETS: list[Send] = [(12 + at, "ticket0", 0) for at in range(3)]
LOADER = lambda boxes: boxes.loader  # noqa: E731
CACHE = lambda boxes: boxes.cache  # noqa: E731
_VERTEX: list[Send] = [(21, "indices", (0, 0, 0, False, False)), (22, "indices", (0, 1, 1, False, False))]
_LINE: Send = (41, "memory_data", (False, 0, 64, 1, 0))


BACK: list[Send] = [(40, "output0", (1, 0, 1, ()), 4), (50, "output0", FRAGMENT, 4)]
"""Quad 1, then quad 0."""
ASSEMBLY, CLIPPER, SETUP, TRAVERSAL, HZ = (
    lambda boxes: boxes.assembly, lambda boxes: boxes.clipper, lambda boxes: boxes.setup, lambda boxes: boxes.traversal,
    lambda boxes: boxes.hz,
)  # fmt: skip
ASKED: list[Send] = [DRAW, *((12 + at, "requests", 1) for at in range(4))]
FOUR: list[Send] = [(21, "triangles", 0), (22, "triangles", 1), (23, "triangles", 2), (24, "triangles", -1)]


def outcomes(*found: int) -> tuple[TrianglePlan, ...]:
    """Triangles of three vertices, and a further one each, with these outcomes."""
    return tuple(TrianglePlan(3 + at, 1, outcome, 100.0) for at, outcome in enumerate(found))


def in_turn() -> int:
    """When a group leaves that reads texels between eight others; these come before its next turn."""
    plain, end = InstructionWork(4, (), -1, -1, False), InstructionWork(4, (), -1, -1, True)
    sends: list[Send] = [
        *((10, "command", (1, 1)), TICKETS[0], *stream("groups", [(1, 1, quad, ()) for quad in range(8)], amount=4)),
        *((29, "groups", (1, 0, 8, ()), 4), (40, "result0", 8)),
    ]
    reader, others = program(_READS_TEXTURE.instructions[0], plain, plain, end), program(*[plain] * 5, end)
    found = arrivals(_SHADERS, sends, plan(fragment_program=reader), plan(number=1, fragment_program=others))
    return next(cycle for cycle, group in found["output"] if group[2] == 8)


def traversed(*sends: Send) -> list[list[tuple[int, Any]]]:
    """Steps and end of a draw of a batch of four triangles, two scan tiles, and one of two, one scan tile."""
    draw = BatchPlan(4, 2, ((0, 2, 1), (2, 2, 2))), BatchPlan(2, 1, ((4, 2, 1),))
    six = [(21 + at, "triangles", at) for at in range(6)]
    return sent(TRAVERSAL, "steps ended", DRAW, *six, (27, "triangles", -1), *sends, batches=draw,
        steps_inside=[(0, 0, 0, 0, 16)] * 16)  # fmt: skip


def depths(*blocks: int, more: tuple[Send, ...] = (), nearest: int = 0, hierarchical: bool = True) -> list[object]:
    """What leaves hierarchical Z of quads of these blocks that come in 21."""
    values = _FULL_STEPS
    return sent(HZ, "quads", DRAW, *STEPS[1:], *more, hierarchical=hierarchical, nearest=[nearest] * 1024,
        step_quads=[tuple(range(0, 16 * len(blocks), 16))], blocks=list(blocks), steps_covered=values.steps_covered,
        steps_inside=values.steps_inside)[0]  # fmt: skip


def processed(ports: str, steps: tuple[tuple[str, int], ...], *sends: Send, pipelined: bool = True) -> list[object]:
    """What the command processor sends at some ports in a frame of these steps."""
    config = PAPER.with_values({"gpu.pipelined_draws": pipelined})
    found = arrivals(lambda boxes: boxes.processor, sends, plan(), plan(number=1), steps=steps, config=config)
    return [found[port] for port in ports.split()]


def uploaded(*sends: Send) -> list[object]:
    """What the command processor asks for and begins in an upload of 150 bytes and a draw."""
    found = arrivals(lambda boxes: boxes.processor, sends, plan(), steps=(("upload", 0), ("draw", 0)),
        uploads=((8192, 150),))  # fmt: skip
    return [[(cycle, item[1:3]) for cycle, item in found["memory_request"]], cycles(found, "fetch_command")]


def two_draws(end: int = 300) -> list[Any]:
    """What the command processor sends for two draws with uploads between them, its phases, and its spans.

    The geometry of the second ends in ``end``.
    """
    steps = (("draw", 0), ("upload", 0), ("read", 150), ("read", 64), ("registers", 6), ("draw", 1), ("swap", 0))
    sends: list[Send] = [(50, "clipper_ended", 0), (80, "memory_data", (False, 0, 64, 0, 0)),
        (82, "memory_data", (False, 64, 64, 0, 0)), (95, "memory_data", (False, 128, 22, 0, 0)), *_fragments(200),
        (230, "memory_data", (False, 0, 64, 0, 0)), (end, "clipper_ended", 1), *_fragments(400),
        (420, "color0_ended", 0), (420, "color1_ended", 0), (430, "display_ended", 0)]  # fmt: skip
    second = plan(number=1, fragment_program=replace(program(), address=4096))
    box: list[Any] = []
    found = arrivals(lambda boxes: box.append(boxes.processor) or boxes.processor, sends, plan(), second, steps=steps,
        uploads=((8192, 64),))  # fmt: skip
    state = box[-1].state
    ports = "fetch_command", "setup_command", "color0_command"
    return [[(cycle, item[1:3]) for cycle, item in found["memory_request"]], *(cycles(found, each) for each in ports),
        {phase: count for phase, count in state.phases.items() if count}, state.spans]  # fmt: skip


def frame() -> list[object]:
    """Steps, programs, uploads and their transactions, the last two of each draw, of a frame of two draws."""
    planned = plan_frame(draw(SCENES["depths"](), units_of(PAPER)), PAPER)
    return [planned.steps, planned.programs, planned.uploads[2:], planned.written[:4], planned.written[-2:]]


def given_back(primitive: Primitive) -> list[int]:
    """Vertices of twelve that each triangle gives back."""
    scene = SCENES["corners"]()
    scene = replace(scene, draws=(replace(scene.draws[0], primitive=primitive),))
    return [each.frees for each in plan_frame(draw(scene, units_of(PAPER)), PAPER).draws[0].triangles]


def planned(scene: str) -> tuple[DrawPlan, ...]:
    """Plans of the draws of a small scene."""
    return plan_frame(draw(SCENES[scene](), units_of(PAPER)), PAPER).draws


def begun(compress: bool) -> dict[int, int]:
    """States of lines of WORDS and of zeros, with which a colour unit begins."""
    box = Boxes(PAPER.with_values({"color.compress": compress}), frame_of()).color[0]
    box.state.cache.begin(7, {3: WORDS * 16, 5: [0] * 64})
    return box.state.cache.states


def of_second(pick: Callable[[Boxes], Any], port: str, sends: Sequence[Send], **changes: object) -> list[int]:
    """When items of a port come in the second draw, which has changes."""
    told = [(11, "command", ("draw", 1)) if each == DRAW else each for each in sends]
    other = plan(triangles=outcomes(1, 2, 0))
    return cycles(arrivals(pick, told, other, plan(number=1, **changes)), port)


def wires() -> set[tuple[str, int, int]]:
    """Wires that take more than a cycle or carry more than one: name, latency, and what arrives in a cycle at most."""
    net = netlist(Boxes(PAPER, frame_of()))
    figures = {(each.name, each.latency, 0 if isinstance(each, Level) else each.bandwidth) for each in net.wires}
    return {(name.translate(_NO_DIGITS), *rest) for name, *rest in figures if rest not in ([1, 1], [1, 0])}  # type: ignore[misc]


_NO_DIGITS = str.maketrans("", "", "0123456789")


def _fragments(cycle: int) -> list[Send]:
    return [(cycle, f"{each}_ended", 0) for each in FRAGMENT_BOXES]


def draws(pipelined: bool) -> list[object]:
    """When geometry and fragments of two draws begin, and the swap after them."""
    ends: list[Send] = [(100, "clipper_ended", 0), *_fragments(200), (250, "clipper_ended", 1), *_fragments(300)]
    steps = (("draw", 0), ("draw", 1), ("swap", 0))
    found = processed("fetch_command setup_command color0_command", steps, *ends, pipelined=pipelined)
    return [[cycle for cycle, _ in port] for port in found]


SHADED = stream("interpolated", [(0, [(0, 0)]), (0, [(0, 1)]), (0, [(0, -1), (1, -1)])], amount=4)


TILES: list[Send] = [
    *stream("tested0", (0, 1, 16, 17), amount=4), *stream("tested1", (32, 33, 48, 49), amount=4)
]  # fmt: skip
"""Two quads of two tiles of each of two ROPs."""


def interpolated(*sends: Send, second: int = 1) -> list[object]:
    """Quads that go to the interpolator together, every fourth cycle: two tiles in each of two ROPs."""
    draw = plan(fragment_inputs=16, blocks=[0, second, 4, 5], rops=bytes((0, 0, 1, 1)), tested=b"\x0f" * 64)
    return [item[1] for _, item in arrivals(_FIFO, [DRAW, *sends], draw)["interpolation"]]


def committed(*sends: Send) -> Outputs:
    """What commit sends of two vertices, asked for in 15 and 16, of which the first is shaded in 50."""
    first: list[Send] = [
        *COMMIT[:3],
        (21, "indices", (0, 0, 0, False, False, 0)),
        (50, "shaded0", (0, (0, False, False))),
    ]
    return arrivals(lambda boxes: boxes.commit, [*first, *sends], MANY)


def blended(*blocks: int, apart: int = 8, answers: tuple[tuple[int, int], ...] = (), blends: bool = True,
    config: AttilaConfig = PAPER, more: Sequence[Send] = ()) -> Outputs:  # fmt: skip
    """Outputs of a colour unit with a quad of each block, from 21 on; blocks 16 apart share a set.

    ``answers`` have the cycles and bytes of what comes from memory.
    """
    count = 16 * len(blocks)
    draw = plan(blends=blends, step_quads=[(at,) for at in range(0, count, 16)], blocks=list(blocks),
        to_color=b"\x0f" * count, color_words=[7] * 4 * count)  # fmt: skip
    sends: list[Send] = [(21 + apart * at, "quads", 16 * at, 4) for at in range(len(blocks))]
    sends.append((21 + apart * len(blocks), "quads", -1, 4))
    sends += [(at, "memory_data", (False, 0, size, 4, number)) for number, (at, size) in enumerate(answers)]
    return arrivals(lambda boxes: boxes.color[0], [DRAW, *sends, *more], draw, blocks=256, config=config)


def narrow(write: bool) -> Outputs:
    """A write of 24 bytes, or two reads of two channels, over a bus of 16."""
    client = clients().index("SU0::ColorWrite")
    requests = [(write, 256 * at, 24, client, at) for at in range(1 if write else 2)]
    sends = stream("SU0::ColorWrite_request", requests, 30)
    config = PAPER.with_values({"memory.color_bus": 16})
    return arrivals(lambda boxes: boxes.memory, sends, plan(), config=config)


def compressed(kind: str) -> list[int]:
    """Bytes sent to memory for a line, pushed out by four others, in which a quad of zeros alone was written."""
    words = WORDS * 80
    words[256:260] = [0] * 4
    draw = plan(tests=True, blends=True, blocks=EVICTED.blocks, step_quads=EVICTED.step_quads, depth_words=words,
        color_words=words, **dict.fromkeys(("to_depth", "to_color", "tested"), b"\x0f" * 80))  # fmt: skip
    sends: list[Send] = [DRAW, *((21 + 60 * at, "quads", 16 * (4 - at), 4) for at in range(5))]
    return [item[2] for _, item in arrivals(_rop(kind), sends, draw, blocks=128)["memory_request"]]


def fills(*sends: Send) -> Mapping[str, int]:
    """Fill of the fragment FIFO's queues, added up over the cycles."""
    found: list[Any] = []
    arrivals(lambda boxes: found.append(boxes.fifo) or boxes.fifo, [DRAW, *sends], plan())
    counts = found[-1].state.counts.items()
    return {name.partition("Queue")[0]: count for name, count in counts if count and "Occup" in name}


def _covered_line(color_bytes: int) -> list[tuple[int, bool]]:
    """Transactions of a colour unit in which a draw writes all quads of a line, and the next one blends one."""
    sends: list[Send] = [DRAW, *stream("quads", (*range(16), -1), amount=4), (100, "command", ("draw", 1))]
    draws = plan(step_quads=[tuple(range(16))], color_bytes=color_bytes), plan(number=1, blends=True)
    return asked(arrivals(lambda boxes: boxes.color[0], [*sends, (110, "quads", 0, 4)], *draws))


def _blended_after() -> tuple[list[tuple[int, bool]], list[int]]:
    """Transactions and arithmetic of a colour unit in which a draw writes a quad, and the next one blends it."""
    sends: list[Send] = [*QUADS, (100, "command", ("draw", 1)), (110, "quads", 0, 4)]
    sends.append((200, "memory_data", (False, 0, 64, 4, 0)))
    found = arrivals(lambda boxes: boxes.color[0], sends, plan(), plan(number=1, blends=True))
    return asked(found), cycles(found, "alu_start")


def reserved() -> tuple[int, int]:
    """Lines given to another block of the only line, after one and after two of its uses are over."""
    tags = Tags(1, 1, 2)
    found = []
    for _ in range(2):
        tags.fetch(0)
    for _ in range(2):
        tags.release(0)
        found.append(tags.fetch(1))
    return found[0], found[1]


def asked(found: Outputs) -> list[tuple[int, bool]]:
    """When transactions go to memory, and whether they write."""
    return [(cycle, item[0]) for cycle, item in found["memory_request"]]


def again() -> list[int]:
    """Cycles in which the arithmetic begins with two quads of one place."""
    sends = [DRAW, *stream("quads", (0, 16, -1), amount=4)]
    draw = plan(tests=True, blocks=[0, 0], step_quads=[(0,), (16,)])
    return cycles(arrivals(lambda boxes: boxes.depth[0], sends, draw), "alu_start")


def overtaken() -> list[int]:
    """When a group leaves whose second instruction would write a register before the first one does."""
    draw = plan(
        fragment_program=program(InstructionWork(13, (), 256, -1, False), MOV, InstructionWork(4, (), -1, -1, True))
    )
    return cycles(arrivals(_SHADERS, GROUP, draw), "output")


def writes(config: AttilaConfig = PAPER) -> list[bool]:
    """Which transactions of a colour unit write: a quad and a swap, and once more the same."""
    draws = plan(), plan(number=1)
    sends = [*QUADS, (60, "command", ("swap", 0)), *AGAIN]
    found = arrivals(lambda boxes: boxes.color[0], sends, *draws, config=config)
    return [item[0] for _, item in found["memory_request"]]


def touched(quad: int) -> list[tuple[int, int]]:
    """Addresses and bytes that a colour unit without compression writes: a clear line, and then a quad of it."""
    sends = [*QUADS, (60, "command", ("swap", 0)), AGAIN[0], (410, "quads", quad, 4), *AGAIN[2:]]
    found = arrivals(lambda boxes: boxes.color[0], sends, plan(), plan(number=1), config=UNCOMPRESSED)
    return [item[1:3] for _, item in found["memory_request"]]


def trilinear() -> list[int]:
    """When the addresses of two reads of two bilinear steps are there."""
    draw = plan(reads=(ReadPlan({0: 0, 1: 1}, [((*ONE, *ONE),), ((*ONE, *ONE),)]),))
    return cycles(arrivals(_TEXTURE, stream("requests", [(0, 0, 0, 0, 20), (1, 0, 1, 0, 21)]), draw), "address")


def filtered() -> list[int]:
    """When two reads of one line, of four bilinear steps and of one, leave; the line comes from 100 on."""
    draw = plan(reads=(ReadPlan({0: 0, 1: 1}, [((*ONE, *ONE, *ONE, *ONE),), (ONE,)]),))
    sends = stream("requests", [(0, 0, 0, 0, 20), (1, 0, 1, 0, 21)])
    sends += [(100 + 4 * part, "memory_data", (False, 64 * part, 64, 8, part)) for part in range(4)]
    return cycles(arrivals(_TEXTURE, sends, draw), "results")


def two_lines() -> list[int]:
    """When a read leaves whose bilinear step is in two lines, which come from 40 to 52 and from 56 to 68."""
    sends: list[Send] = [(21, "requests", (0, 0, 0, 0, 20))]
    sends += [(40 + 4 * part, "memory_data", (False, 64 * part, 64, 8, part)) for part in range(8)]
    draw = plan(reads=(ReadPlan({0: 0}, [((((0, 8, 7), (1, 8, 15)),),)]),))
    return cycles(arrivals(_TEXTURE, sends, draw), "results")


def looked_up(maximum: int) -> list[int]:
    """When a quad that comes in 21 and the end of its draw leave hierarchical Z, and a maximum comes."""
    sends = [STEPS[0], (maximum, "maxima0", (9, 5)), *STEPS[1:]]
    return cycles(arrivals(lambda boxes: boxes.hz, sends, plan(hierarchical=True)), "quads")


UNCOMPRESSED = PAPER.with_values({"color.compress": False})
_ENDS: list[Send] = [(22, "indices", (0, 0, 1, True, True, 0)), (60, "shaded1", (0, (1, True, True)))]
HELD: list[tuple[str, Callable[[], object], object, str]] = [
    ("indices come in the order of memory", lambda: [
        [(cycle, item[1:3]) for cycle, item in requests] + [(cycle, item[1]) for cycle, item in indices[::16]]
        for requests, indices in [sent(lambda boxes: boxes.fetch, "memory_request indices", DRAW, *FREE,
            (30, "memory_data", (False, 64, 64, 2, 1)), (40, "memory_data", (False, 60, 4, 2, 0)),
            (100, "memory_data", (False, 128, 12, 2, 2)), indices=list(range(20)), index_bytes=4, index_address=60)]],
        [[(13, (60, 4)), (14, (64, 64)), (15, (128, 12)), (41, 0), (57, 16)]],
        "up to the next 64 bytes, in 12, 13, 14; what comes first is kept until 40: then an index a cycle, 17 of them"),
    ("an index is a hit until its line is free", lambda: [(cycle, item[3:]) for cycle, item in sent(CACHE, "commit",
        DRAW, *stream("indices", [(0, 7, 0, False), (0, 8, 1, False), (0, 7, 2, False)]), (30, "freed", ("left", 0)),
        (31, "indices", (0, 7, 4, False)), (32, "freed", ("left", 2)), (33, "freed", ("kept", 2)),
        (34, "indices", (0, 7, 5, True)))[0]],
        [(22, (False, False, 0)), (23, (False, False, 1)), (24, (True, False, 0)), (32, (False, False, 2)),
         (35, (True, True, 2))], "the first to use 7 has left, so it has another line, which is kept"),
    ("a freed line is used last", lambda: [item[5] for _, item in sent(CACHE, "commit", DRAW, (20, "indices",
        (0, 0, 0, False)), (21, "freed", ("left", 0)), (22, "freed", ("free", 0)), *stream("indices",
        [(0, at, at, False) for at in range(1, 49)], 23))[0]][-2:], [47, 0], "48 lines, 1 to 47 before it"),
    ("loaded vertices go to the ports in turn", lambda: sent(LOADER, "vertex0 vertex1 free", *_VERTEX,
        (26, "indices", (0, 0, 2, True, False)), _LINE),
        [[(44, (0, (0, False, False)))], [(45, (0, (1, False, False)))], [(27, 1), (44, 1), (45, 1)]],
        "the line is written in 41; a request is free with each, in 26 that of a hit, which is not loaded"),
    ("loaded vertices wait for the shaders", lambda: sent(LOADER, "vertex0 vertex1", (12, "ready", False),
        (60, "ready", True), *_VERTEX, _LINE), [[(61, (0, (0, False, False)))], [(62, (0, (1, False, False)))]],
        "sent in 60 and 61"),
    ("an attribute may be in two lines", lambda: sent(LOADER, "memory_request vertex0", _VERTEX[0], _LINE,
        (45, "memory_data", (False, 64, 64, 1, 1)), attributes=(AttributeWork(0, 56, 16, 16),)),
        [[(24, (False, 0, 64, 1, 0)), (25, (False, 64, 64, 1, 1))], [(48, (0, (0, False, False)))]],
        "bytes 56 to 71; the second comes in 45, 4 later than where one is enough"),
    ("a hit that ends a draw passes the shaders", lambda: cycles(committed(*_ENDS), "vertices"), [62, 72],
        "the first is sent in 51 and takes 11; the second in 61, though its vertex is shaded"),
    ("a line asked for again is kept", lambda: committed((52, "indices", (0, 0, 1, True, False, 0)))["freed"][:2],
        [(52, ("left", 0)), (53, ("kept", 0))], "its last user has left in 51, and an index finds it in 52"),
    ("a line is given back once", lambda: committed((22, "indices", (0, 0, 1, True, False, 0)))["free"],
        [(23, (0, 1)), (52, (1, 0)), (53, (1, 0)), (54, (0, 1))],
        "in 22, as the index before has it too; an entry with each vertex, in 51 and 52; the line after the last"),
    ("a line not asked for is free", lambda: committed((53, "indices", (0, 0, 1, True, False, 0)))["freed"][:2],
        [(52, ("left", 0)), (53, ("free", 0))], "in 53 it is too late"),
    ("a batch waits for the last group of it", lambda: (batches(_GROUPS[1], _later(60)), batches(*_GROUPS[1:4])),
        ([135, 136], [98, 99, 100]), "64 after 60, or 23: in 125, or 88, the second instruction of each begins"),
    ("another batch waits again", lambda: batches(_GROUPS[1], _later(200)), [96, 275], "each 75 after it came"),
    ("a full shader closes the batch", lambda: batches(*_GROUPS[1:33])[:2], [62, 63],
        "31 of 32 slots are taken in 51; the second instructions begin in 52"),
    ("the last vertices of a draw close it, too", lambda: batches((10, "command", (0, 1)),
        (21, "groups", (0, 0, -1, ((0, False, True),)), 4)), [32], "the second instruction in 22"),
    ("slots of groups are used again", lambda: groups(), [(31 + at, at) for at in range(40)],
        "fetched in 21 + n, 10 cycles before it leaves; 32 slots"),
    ("and begin at the first instruction", lambda: groups(MOV, InstructionWork(4, (), -1, -1, True))[-1], (110, 39),
        "80 instructions from 21 on, one a cycle"),
    ("a group continues after its texture read", lambda: sent(_SHADERS, "request0 output", *GROUP, *TICKETS,
        (60, "result0", 0), fragment_program=_READS_TEXTURE), [[(23, (0, 0, 0, 0, 22))], [(71, FRAGMENT)]],
        "decoded in 22; ready in 61, fetched then, decoded in 62, done in 66, sent in 67"),
    ("groups continue as their texels come", lambda: [[item[2] for _, item in sent(_SHADERS, "output", *_GROUPS[:4],
        *TICKETS, *stream("result0", (2, 0, 1), 60), fragment_program=_READS_TEXTURE)[0]]], [[2, 0, 1]],
        "in the order of the texture unit"),
    ("a result is used in the cycle in which it is written",
        lambda: left(InstructionWork(5, (), 256, -1, False), MOV_END), [36],
        "refused in 23 and 25, decoded in 27, 9 before it leaves"),
    ("a program ends with its last result", lambda: left(InstructionWork(20, (), 256, -1, False),
        InstructionWork(4, (), -1, -1, True)), [47], "decoded in 22, done in 42, sent in 43"),
    ("outputs leave one group after the other", lambda: left(InstructionWork(4, (), -1, -1, True), sends=_GROUPS[:3],
        outputs=16), [38, 46], "sent in 27, 11 on its way; 8 cycles for 16 outputs, sent in 35"),
    ("a texture read may end a program", lambda: [left(InstructionWork(latency, (), 256, 0, True),
        sends=[*GROUP, *TICKETS, (at, "result0", 0)]) for latency, at in ((2, 60), (60, 40))], [[65], [87]],
        "finished in 61 and sent, or in 83, as its other result is there in 82"),
    ("registers of groups are given back", lambda: sent(_SHADERS, "busy", (10, "command", (1, 7)), *_GROUPS[1:],
        fragment_program=program(temporaries=7))[0], [], "28 a group, of which 7 at most are in it: 196 of 448"),
    ("a texture read waits for a ticket", lambda: cycles({"": sent(_SHADERS, "request0", *_GROUPS[:3], TICKETS[0],
        (50, "ticket0", 0), fragment_program=_READS_TEXTURE)[0]}, ""), [23, 52],
        "the second is refused in 23, 25, ... 49, goes in 51"),
    ("a result does not overtake another", overtaken, [43],
        "done in 35; the second, of 4 cycles, is refused in 23, 25, ... 31 and goes in 33; the end is decoded "
        "in 34, done in 38"),
    ("quads wait in the queues of the FIFO",
        lambda: fills(*_NOT_READY, (21, "quads", (0,), 4), (31, "depth_ready0", True),
            (40, "interpolated", (0, [(0, 0)]), 4), (70, "output0", FRAGMENT, 4)),
        {"RastStamp": 10, "IntStamp": 1, "ShadedStamp": 30},
        "the depth unit takes it in 31; interpolated in 40, given to the shader in 41, back in 70, sent in 71"),
    ("a vertex waits for others", lambda: fills((21, "vertex0", (0, (0, False, False))))["VertexInput"], 1001,
        "it is the first: from 21 on, more than 1000"),
    ("words of a line are those of its quads", lambda: (compressed("depth"), compressed("color")), ([64], [64]),
        "the words of the quads before and after it take 256"),
    ("a write waits until writes are accepted", lambda: [cycle for cycle, _ in arrivals(lambda boxes: boxes.depth[0],
        [DRAW, (12, "memory_state", 1), (400, "memory_state", 2), *((21 + 60 * at, "quads", 16 * at, 4)
        for at in range(5))], EVICTED, blocks=128)["memory_request"]], [401], "compressed by 279"),
    ("a line that was written in part is stored before it is read", _blended_after,
        ([(129, True), (130, False)], [25, 219]),
        "found in 111: read from 112, compressed from 120, sent in 128, done in 129 and asked for; it comes in 200, "
        "decompressed, written from 208, read in 216, begun in 217"),
    ("a line is not read before it has been written", lambda: asked(blended(0, 16, 32, 48, 64, 0)),
        [(72, True), (74, False), (90, True)],
        "the fifth quad evicts it: read from 55, compressed from 63, sent in 71, a cycle on the bus; in 73 it is asked "
        "for, not in 63, and the next line, evicted by that, is read"),
    ("a line that is pushed out is written over when it has left",
        lambda: (blended(0, 16, 32, 48, blends=False)["ended"],
        blended(0, 16, 32, 48, 64, blends=False)["ended"]), ([(56, 0)], [(76, 0)]),
        "the end comes in 53, or 61; the fifth quad finds its line read from 55, compressed from 63, sent in 71: it is "
        "written in 72, and the draw has ended in 74; a wire of 2"),
    ("a line that is being written is not taken", lambda: cycles(blended(0, 16, 32, 48, 64, 0, blends=False),
        "alu_start")[4:], [57, 75], "allocated in 72, though its quad came in 61"),
    ("a line of memory is read, decompressed and written", lambda: cycles(blended(0, 16, 32, 48, 64, 0,
        answers=((100, 64),)), "alu_start")[4:], [75, 119],
        "64 bytes a cycle on the bus: decompressed from 100, written from 108, its quad read in 116, begun in 117"),
    ("a compressed line is read before it is written over", lambda: writes()[:2], [True, False],
        "the swap has stored 64 bytes; they are asked for, and do not come"),
    ("other pieces are not", lambda: touched(3), [(0, 64), (64, 64), (128, 64), (192, 64), (64, 64)],
        "quad 3 of a tile, in Morton order, is at 2, 2: place 5 of its line, row by row, with the bytes 80 to 95"),
    ("of a line written in part, touched pieces are stored", lambda: writes(UNCOMPRESSED), [True] * 5,
        "4 pieces of 64 bytes of a line that was clear; then the one with the quad"),
    ("samples of a read follow each other", lambda: [cycles(textured(ONE, ONE), port)
        for port in ("address", "filter", "results")], [[29, 30], [66, 67], [70]], "6 + 1 and 4 + 1 each"),
    ("a line that is there is read at once", lambda: sent(_TEXTURE, "results", (21, "requests", (0, 0, 0, 0, 20)),
        *((40 + 4 * at, "memory_data", (False, 64 * at, 64, 8, at)) for at in range(4)),
        (100, "requests", (1, 0, 1, 0, 99)), reads=(ReadPlan({0: 0, 1: 1}, [(ONE,), (ONE,)]),))[0], [(69, 0), (119, 1)],
        "begun in 101, fetched in 109, read in 110, filtered from 111 to 116, handed on in 117, sent in 118"),
    ("a sample without room is tried again in the next cycle", lambda: cycles(_three_samples(PAPER.with_values(
        {"texture.access_queue": 1})), "results"), [85],
        "line 1 is written by 60, line 0 by 76: with one place the second sample finds none in 60, and one in 61; the "
        "third is read in 76, filtered from 77 to 82, handed on in 83 and sent in 84"),
    ("lines of a read are fetched when one address is there and all have begun", lambda: cycles({"": sent(_TEXTURE,
        "results", (21, "requests", (0, 0, 0, 0, 20)), *((40 + 4 * at, "memory_data", (False, 64 * at, 64, 8, at))
        for at in range(4)), (100, "requests", (1, 0, 1, 0, 99)),
        reads=(ReadPlan({0: 0, 1: 1}, [(ONE,), (ONE, ONE)]),))[0]}, ""), [69, 120],
        "begun in 101 and 102, there in 108: fetched in 109 and 110, filtered from 111 and 112 to 117, "
        "handed on in 118, sent in 119"),
    ("a ticket is given back with a place", lambda: len(_lines(0, 1, 2, 3)(PAPER.with_values(
        {"texture.access_queue": 1}))["tickets"]), 5, "four, and one for the first read; three wait"),
    ("a line is free after it was read", lambda: cycles(arrivals(_TEXTURE, [(21, "requests", (0, 0, 0, 0, 20)),
        (22, "requests", (1, 0, 1, 0, 21)), (40, "memory_data", (False, 0, 64, 8, 0))], plan(reads=(ReadPlan(
        {0: 0, 1: 1}, [((((0, 16, 15),),),), ((((16, 16, 15),),),)]),)), config=PAPER.with_values(
        {"texture.ways": 1, "texture.line": 64})), "memory_request"), [32, 47],
        "of one way; decompressed from 40, written in 44, read in 45, in which the next is fetched"),
    ("addresses take a cycle for each bilinear step", trilinear, [30, 32], "begun in 22 and 24, 6 + 2 each"),
    ("the filter takes a cycle for each bilinear step", filtered, [135, 136],
        "the line is there in 112; begun in 124, 4 + 4, sent in 134; the second is begun in 128 only, 4 + 1"),
    ("a step waits for all of its lines", two_lines, [85], "the second is there in 68, 16 after the one of a step "
    "alone"),
    ("vertices are given back with the last triangle of a primitive", lambda: [given_back(each) for each in Primitive],
        [[3] * 4, [1] * 9 + [3], [1] * 9 + [3], [0, 4] * 3, [0, 2] * 4 + [0, 4]],
        "one of a strip or fan with each triangle, two or four of a quad with its second; the last give all back"),
    ("a triangle that has left makes room", lambda: (len(sent(SETUP, "request", *ASKED, *FOUR[:3],
        triangles=outcomes(4, 4, 4))[0]), len(sent(ASSEMBLY, "request", *ASKED, *((31 + at, "vertices", 0) for at in
        range(8)), triangles=tuple(TrianglePlan(3 * at, 3, 4, 100.0) for at in range(1, 5)), indices=[0] * 30)[0])),
        (15, 14), "12 and three more; 8, and six of two triangles that no later one uses"),
    ("a degenerate triangle takes a cycle", lambda: sent(ASSEMBLY, "triangles", *ASKED, *((31 + at, "vertices", 0)
        for at in range(5)), triangles=outcomes(4, 0, 4), indices=[0, 1, 2, 3, 4])[0], [(35, 0), (37, 2), (38, -1)],
        "the third vertex in 33: sent in 34; the second vanishes in 35"),
    ("a degenerate triangle answers no request", lambda: sent(ASSEMBLY, "triangles", *ASKED[:3], *((31 + at, "vertices",
        0) for at in range(6)), triangles=outcomes(0, 4, 0, 4), indices=list(range(6)))[0], [(36, 1), (38, 3)],
        "two are asked for; the third vertex in 33, and a triangle in each of 34 to 37"),
    ("a triangle outside vanishes", lambda: sent(CLIPPER, "output ended", *ASKED, *FOUR, triangles=outcomes(4, 1, 4)),
        [[(29, 0), (33, 2), (37, -1)], [(37, 0)]], "done in 27 to 30, sent in 27, 31, 35, 4 apart; a wire of 2"),
    ("so does one that is not drawn", lambda: sent(SETUP, "output ended", *ASKED, *FOUR, triangles=outcomes(4, 2, 4)),
        [[(33, 0), (35, 2), (36, -1)], [(36, 0)]], "done in 31 to 34; a wire of 2"),
    ("four triangles are a batch, or the last ones", traversed, [[(28, (0, 2)), (29, (2, 2)), (31, (4, 2)),
        (32, (-1, 1))], [(33, 0)]], "begun in 25, descents in 26 and 27, steps sent in 27 and 28; begun in 28, sent in "
        "30; the end"),
    ("traversal waits for hierarchical Z", lambda: traversed((12, "ready", False), (40, "ready", True))[0],
        [(42, (0, 2)), (43, (2, 2)), (45, (4, 2)), (46, (-1, 1))], "begun before; the first descent in 40"),
    ("the end waits as well", lambda: (traversed((31, "ready", False), (50, "ready", True))[0][2:],
        depths(0, 1, 2, more=((28, "fifo_ready", False), (40, "fifo_ready", True)))),
        ([(31, (4, 2)), (51, (-1, 1))], [(28, (0, 16, 32)), (41, (-1,))]), "of a traversal, and of hierarchical Z"),
    ("a line of the buffer a cycle", lambda: (depths(0, 1, 2), depths(0, 16, 32)), ([(28, (0, 16, 32)), (29, (-1,))],
        [(28, (0,)), (29, (16,)), (30, (32,)), (31, (-1,))]), "blocks of one line, or of three"),
    ("quads wait for the FIFO", lambda: depths(0, 1, 2, more=((12, "fifo_ready", False), (40, "fifo_ready", True))),
        [(41, (0, 16, 32)), (42, (-1,))], "all at once, in 40"),
    ("a maximum counts that was written before the line is read", lambda: [depths(0, 1, 2,
        more=((at, "maxima0", (1, 5)),), nearest=9)[0] for at in (15, 24)],
        [(28, (0, 32)), (28, (0, 16, 32))], "read in 26, written in 20, or 29"),
    ("without hierarchical Z quads pass", lambda: depths(0, 1, 2, hierarchical=False), [(22, (0, 16, 32)), (24, (-1,))],
        "in the cycle in which they come, the end a cycle later"),
    ("geometry of a draw goes on beside the fragments before", lambda: (draws(True), draws(False)),
        ([[1, 101], [3, 203], [1, 201, 302]], [[1, 202], [3, 204], [1, 202, 302]]),
        "begun in 100 and 200, where what precedes it ends, or in 201; set-up hears of a later draw 2 cycles after the "
        "others; the swap in 301"),
    ("a clear of depths ends with hierarchical Z", lambda: processed("depth0_command hz_command fetch_command",
        (("clear", 1), ("ready", 7), ("draw", 0)), (50, "depth0_ended", 0), (50, "depth1_ended", 0),
        (60, "hz_ended", 0)), [[(1, ("clear", 0)), (68, ("draw", 0))]] * 2 + [[(68, ("draw", 0))]],
        "in 60, and 7 cycles more"),
    ("a program begins a page and ends with its last bytes", lambda: processed("memory_request fetch_command",
        (("read", 150), ("read", 10), ("draw", 0)), (80, "memory_data", (False, 0, 64, 0, 0)),
        (82, "memory_data", (False, 64, 64, 0, 0)), (120, "memory_data", (False, 128, 22, 0, 0)),
        (140, "memory_data", (False, 0, 10, 0, 0))),
        [[(1, (False, 0, 64, 0, 0)), (2, (False, 64, 64, 0, 0)), (3, (False, 128, 22, 0, 0)),
          (123, (False, 4096, 10, 0, 0))], [(142, ("draw", 0))]], "22 bytes take 3 cycles, to 122, 10 take 2"),
    ("the display waits for both ROPs, and for each line of memory", lambda: sent(lambda boxes: boxes.display,
        "memory_request ended", (21, "states0", {0: 64, 2: 256}), (30, "states1", {1: 64}),
        *((100 + 10 * at, "memory_data", (False, 0, 64, 7, at)) for at in range(6))),
        [[(35, (False, 0, 64, 7, 0)), (36, (False, 256, 64, 7, 1)),
          *((37 + at, (False, 512 + 64 * at, 64, 7, 2 + at)) for at in range(4))], [(214, 0)]],
        "kept by 31, begun in 33, asked for from 34 on; the third block is there in 150, it and 61 clear ones take a "
        "cycle each"),
    ("maxima go before a look-up", lambda: (looked_up(20), looked_up(21)), ([28, 29], [29, 30]),
        "the quad is looked up in 21, but in 22 where the buffer takes a maximum"),
    ("a quad waits for another one of its place", again, [42, 46],
        "begun in 41, done in 43 and written in 44; then the second is read, and begun in 45"),
    ("a group of vertices that has left makes room", lambda: cycles({"": fifo("input0", *_VERTICES,
        (60, "output0", (0, 0, -1, tuple((at, False, False) for at in range(4))), 4))[0]}, "")[5:], [32, 62],
        "48 places are taken by twelve groups, every other one of this shader; four are free in 61"),
    ("the last vertex of a draw completes a group", lambda: inputs((21, "vertex0", (0, (0, False, True)))), [22],
        "it does not wait for three more, as one that is not the last does"),
    ("quads leave a depth unit in order", lambda: sent(lambda boxes: boxes.depth[0], "tested", DRAW,
        (12, "consumer", False), (40, "consumer", True), *stream("quads", range(12), amount=4))[0],
        [(41 + at, at) for at in range(12)], "8 are written and 4 wait until 40"),
    ("the turn of interpolation stays within a scan tile", lambda: [interpolated(*stream("tested0", (0, 1, 16),
        amount=4), (22, "tested1", 32, 4), second=block) for block in (1, 8)],
        [[[(0, 0)], [(0, 1), (0, 16)], [(1, 32)]], [[(0, 0)], [(0, 1), (1, 32)], [(0, 16)]]],
        "in 26 the first ROP has two quads, of blocks 0 and 1, or 0 and 8"),
    ("quads go to the depth unit in order", lambda: fifo("depth0", _NOT_READY[0], (30, "depth_ready0", True),
        (21, "quads", (0, 1, 2), 12))[0], [(31, 0), (32, 1), (33, 2)], "one a cycle from 30"),
    ("shaded quads leave in order, the end last", lambda: fifo("color0 color1 ended", *SHADED, *BACK),
        [[(52, 0), (53, 1), (54, -1)], [(52, -1)], [(55, 0)]],
        "quad 0 is back in 50, sent in 51; the end of the other ROP too; a wire of 2 for the end of the draw"),
    ("a shaded quad waits for the colour unit", lambda: fifo("color0", (12, "color_ready0", False),
        (60, "color_ready0", True), *SHADED, *BACK)[0], [(61, 0), (62, 1), (63, -1)], "taken in 60"),
    ("late tests come after the shaders", lambda: fifo("interpolation input0 depth0 color0 color1 ended",
        (21, "quads", (0, 1), 8), (40, "interpolated", (0, [(0, 0), (0, 1)]), 8), *BACK, (60, "tested0", 0, 4),
        (61, "tested0", 1, 4), (62, "tested0", -1, 4), (63, "tested1", -1, 4), early=False),
        [[(23, (0, [(0, 0), (0, 1)]))], [(42, FRAGMENT), (43, (1, 0, 1, ()))], [(52, 0), (53, 1)],
         [(62, 0), (63, 1), (64, -1)], [(65, -1)], [(66, 0)]], "each a cycle after it came, and a wire"),
    ("shaded vertices leave four a cycle", lambda: [cycles({"": each}, "") for each in fifo("shaded0 shaded1 shaded3",
        (21, "output0", (0, 0, -1, tuple((at, False, False) for at in range(4))), 4),
        (21, "output1", (0, 0, -1, tuple((at, False, False) for at in (4, 5, 6, -1))), 4))],
        [[33, 34], [33, 34], [33]], "sent in 22 and 23, a wire of 11; the fourth of the second group is none"),
    ("the next draw's vertices wait for others again", lambda: fifo("input1",
        *((21, f"vertex{at}", (0, (at, False, at == 3))) for at in range(4)), (30, "vertex0", (0, (4, False, False)))
        )[0][0][0], 1023, "more than 1000 after the group in 21; a wire"),
    ("the round over the ROPs begins at the first in each draw", _two_draws, [(212, 0), (213, 16)],
        "the draw before has ended at the second, whose last quad came alone"),
    ("vertices go before quads", lambda: inputs((20, "interpolated", (0, [(0, 0)]), 4), *_VERTICES[:8])[:2], [22, 24],
        "groups of vertices in 21 and 22, the second to the other shader; the quad that came in 20 goes in 23"),
    ("the turn of interpolation changes with the scan tile",
        lambda: interpolated(*TILES)[:3],
        [[(0, 0), (1, 32)], [(1, 33), (1, 48)], [(1, 49), (0, 1)]],
        "in 22 there is one quad of each ROP, and none is left to take the turn from the second; in 26 its tiles 0 "
        "and 1 go together, as they are of one scan tile; in 30 it has one quad left"),
    ("the turn of interpolation stays where no quad is left",
        lambda: interpolated((21, "tested1", 32, 4), (30, "tested0", 0, 4), (30, "tested1", 33, 4)),
        [[(1, 32)], [(1, 33), (0, 0)]], "the second ROP's quad goes in 22 and leaves it the turn"),
    ("an upload goes 64 bytes at a time", lambda: (uploaded(),
        uploaded((5, "memory_state", 1), (30, "memory_state", 2))),
        ([[(1, (8192, 64)), (9, (8256, 64)), (17, (8320, 22))], [21]],
         [[(1, (8192, 64)), (31, (8256, 64)), (39, (8320, 22))], [43]]),
        "8 cycles each, the last 3; the draw begins a cycle after them, in 20, or in 42 where the second waits for 30"),
    ("the fragment program of a draw waits for the fragments before", two_draws,
        [[(2, (8192, 64)), (51, (0, 64)), (52, (64, 64)), (53, (128, 22)), (201, (4096, 64))], [1, 105], [3, 241],
         [1, 239, 402], {"Ready": 1, "Draw": 103, "MemoryWrite": 8, "MemoryRead": 84, "EndGeometry": 204,
         "EndFragment": 2, "Swap": 28}, [("upload", 1, 1, 10), ("vertex", 0, 0, 50), ("upload", 2, 50, 97),
         ("upload", 4, 98, 104), ("upload", 3, 200, 237), ("fragment", 0, 0, 238), ("vertex", 5, 104, 300),
         ("fragment", 5, 238, 400), ("vertex", 6, 401, 430)]],
        "upload in 1, 8 cycles and one more; the first program once the geometry has ended, in 50: the last 22 bytes "
        "hold the bus from 95 to 97; the second is held in 97; registers 98 to 104, geometry in 104; in 200 "
        "fragments end and it is asked for: from 230 to 237; ends are seen again in 238, and the draw's fragments "
        "begin; swap 401, whose first cycle counts as ready. Write 2 to 10, read 50 to 97 and 200 to 237, draw 0 to 2, "
        "10 to 50 and 239 to 300, fragments' end 238 and 400"),
    ("wires take a cycle for one item but for these", wires, {
        *((f"{each}State", 2, 1) for each in ("ClipperCommand", "TriangleSetupCommand", "TriangleTraversalCommand",
            "HZCommand", "FFIFOCommand", "SU::ZStencilTestCommand", "SU::ColorWriteCommand", "DAC")),
        ("TriangleSetupCommand", 3, 1), ("FS::CommShaderCommand", 1, 2), ("StreamerCommitDeAlloc", 1, 4),
        ("StreamerCommitDeAllocOC", 1, 2), ("SL::StreamerLoaderDeAlloc", 1, 2), ("VS::ShaderOutput", 11, 1),
        ("PrimitiveAssemblyInput", 14, 1), ("ClipperExecution", 6, 1), ("RasterizerNewTriangle", 2, 1),
        ("TriangleSetup", 10, 1), ("TriangleSetupOutput", 2, 1), ("HZInputFragment", 1, 128), ("HZOutput", 1, 128),
        ("HZBuffer", 5, 3), ("SU::HZUpdate", 4, 1), ("InterpolatorInput", 1, 8), ("Interpolation", 8, 8),
        ("InterpolatorOutput", 1, 8), ("SU::ZStencilInput", 1, 4), ("SU::ZStencilOutput", 1, 4),
        ("SU::ColorWriteInput", 1, 4), ("SU::ZStencilTest", 2, 1), ("SU::ColorWriteBlend", 2, 1),
        ("FS::ShaderCommand", 1, 4), ("FS::ShaderOutput", 11, 4), ("FSTU::TextureAddressALU", 10, 1),
        ("FSTU::TextureFilter", 8, 1), ("MemoryModule", 10, 1),
        *((f"{each}MemoryData", 1, 2) for each in ("CommandProcessor", "StreamerLoader", "StreamerFetch",
            "SU::ZStencilTest", "SU::ColorWrite", "DAC", "FSTU::Texture"))},
        "10 + 16 / 4 from commit to assembly, 4 + 16 / 4 at most to interpolate, 6 + 4 for addresses, 4 + 4 to filter; "
        "32 quads from traversal, one to and from a ROP, of both at once to the interpolator; three accesses to the "
        "buffer of maxima; reads of memory take longer than writes"),
    ("groups that wait leave one a cycle", lambda: inputs((12, "busy0", True), *_VERTICES[:16], (60, "busy0", False)),
        [61, 62], "two of four groups are this shader's; sent in 60 and 61"),
    ("a line is as large as the spread of its words asks", lambda: [[compressed_bytes(words, 256, levels) for words in
        ([0, 127], [0, 32, 96, 128], [0, 64, 128], [0, 2 << 13, 4 << 13], [0, 2 << 21, 4 << 21])]
        for levels in (COLOR_LEVELS, DEPTH_LEVELS)], [[64, 64, 128, 256, 256], [64, 64, 128, 192, 256]],
        "high parts 0 to 3; 0, 1, 3, 4 near an end; 0, 2, 4 are not: the next level, of depths one more"),
    ("a frame loads, clears, draws and loads again", frame, [(("ready", 76), ("write", 132), ("read", 304),
        ("read", 272), ("clear", 0), ("clear", 1), ("draw", 0), ("upload", 0), ("upload", 1), ("upload", 2),
        ("upload", 3), ("read", 272), ("registers", 6), ("draw", 1), ("frame", 1), ("swap", 0)),
        ((45056, 304), (49152, 272), (65536, 272)), ((61440, 96), (65536, 272)),
        ((80, 32768), (88, 32832), (96, 32896), (104, 36864)), ((202, 49344), (204, 49408))],
        "66 + 5 + 5; arrays of 192, 192 and 96 bytes and programs of 3 and 1 and 16 more instructions, 8 bytes a "
        "cycle: 24 + 24 + 12 + 38 + 34; the second draw has arrays and a fragment program of its own. The first 64 "
        "bytes are written 8 cycles after 4 before 76, the last but one of the program in 202, the last 16 in 204"),
    ("quads tested late wait for the colour unit", lambda: fifo("color0", (12, "color_ready0", False),
        (80, "color_ready0", True), (21, "quads", (0, 1), 8), (40, "interpolated", (0, [(0, 0), (0, 1)]), 8), *BACK,
        *stream("tested0", (0, 1, -1), 60, 4), early=False)[0], [(81, 0), (82, 1), (83, -1)], "in order, from 80 on"),
    ("inputs of vertices count for a shader's batch, too", lambda: [[(cycle, item[:3]) for cycle, item in port]
        for port in sent(_FIFO, "input0 input1", DRAW, *_VERTICES[:4], (30, "interpolated", (0, [(0, 0)]), 4),
        *((40, f"vertex{at}", (0, (4 + at, False, False))) for at in range(4)),
        config=PAPER.with_values({"fifo.shader_batch": 8}))],
        [[(22, (0, 0, -1)), (32, (1, 0, 0))], [(41, (0, 0, -1))]],
        "four vertices and a quad of four are eight, so the next vertices go to the other shader"),
    ("a clear empties the buffer of maxima and the lines that were read", lambda: [arrivals(HZ, [DRAW,
        (15, "maxima0", (0, 5)), *STEPS[1:], (60, "command", ("clear", 0)), (70, "command", ("draw", 1)),
        (80, "steps", (0, 1), 64), (81, "steps", (-1, 1), 4)], *(plan(number=at, hierarchical=True, nearest=[9] * 64)
        for at in range(2)))[port] for port in ("quads", "ended")],
        [[(29, (-1,)), (87, (0,)), (88, (-1,))], [(30, 0), (62, 0), (89, 1)]],
        "9 is behind 5 in the first draw, a wire of 2; 64 blocks are cleared in 60; the second reads its line again"),
    ("outputs leave two a cycle", lambda: left(InstructionWork(4, (), -1, -1, True), sends=_GROUPS[:3], outputs=3),
        [32, 34], "sent in 27 and 29: 2 cycles for 3 outputs, and 3"),
    ("groups over the threads begin when another has left", lambda: cycles({"": sent(_SHADERS, "output", *_GROUPS[:4],
        config=PAPER.with_values({"shader.threads": 8, "shader.buffers": 4}),
        fragment_program=program(InstructionWork(20, (), -1, -1, True)))[0]}, ""), [47, 48, 70],
        "two begin, done in 42 and 43, sent a cycle later; the third is fetched in 44, done in 65, sent in 66"),
    ("a group of a batch waits for its own result", lambda: in_batches(_vertices_of_batch(21, 0, True),
        steps=program(MOV, MOV_END)), [(36, 0)], "refused in 23 and 25, decoded in 27, done in 31, sent in 32"),
    ("a refused instruction lets the others of its batch pass", lambda: in_batches(_vertices_of_batch(21, 0),
        _vertices_of_batch(22, 1, True), results=1, steps=program(InstructionWork(4, (), -1, -1, False),
        InstructionWork(3, (), -1, -1, True))), [(33, 1), (34, 0)],
        "of the first in 24, as the second writes in 27; it is decoded again in 26, after the other one in 25"),
    ("a group left behind by its batch goes on alone", lambda: in_batches(_vertices_of_batch(21, 0),
        _vertices_of_batch(22, 1, True), TICKETS[0], (50, "ticket0", 0), (60, "result0", 0), (80, "result0", 1),
        steps=_READS_TEXTURE), [(71, 0), (93, 1)],
        "the first waits to 60, is fetched in 61, done in 66; the second reads in 63, goes on in 81, in which the "
        "batch ends; so it is fetched 2 later, done in 88"),
    ("batches of vertices go before those of fragments", lambda: in_batches((21, "groups", (1, 0, 5, ()), 4),
        _vertices_of_batch(30, 0, True), steps=_TWO), [(42, 0), (96, 5)],
        "fetched in 31 and 32, after a turn in 30; the fragments' batch closes 64 after 21"),
    ("a quad without a place in the plan reads the first line", lambda: sent(_TEXTURE, "results",
        (21, "requests", (3, 0, 0, 0, 20)), *((40 + 4 * at, "memory_data", (False, 64 * at, 64, 8, at))
        for at in range(4)), reads=(ReadPlan({}, []),))[0], [(69, 3)], "as one that reads it by the plan"),
    ("quads that fail their tests reach no colour unit", lambda: [(any(each.to_depth), any(each.to_color))
        for each in planned("depths")], [(True, True), (True, False)],
        "the second draw is behind the first, or as far"),
    ("texels of a line are one", lambda: planned("texture")[0].reads[0].samples[0], ((((224, 16, 15),),),),
        "64 texels on 8 pixels: level 3, of one line, 57,344 / 256"),
    ("a frame begins with lines in the sizes of their words", lambda: (begun(True), begun(False)),
        ({3: 256, 5: 64}, {3: 256, 5: 256}), "or all of them uncompressed"),
    ("quads of a line have words of their own", lambda: [arrivals(lambda boxes: boxes.color[0], [DRAW,
        *stream("quads", (*quads, -1), 21, 4), (60, "command", ("swap", 0))], plan(step_quads=[quads[:1], quads[1:]],
        blocks=[0, 0], color_words=[*[0] * 4 * quads[0], *WORDS, *[0] * 252]))["states"][-1][1]
        for quads in ((0, 1), (2, 3), (3, 19))], [{0: 256}, {0: 256}, {0: 64}],
        "zeros do not take the place of other quads' words, but of those before in their own place"),
    ("boxes ask for one item a cycle while they have room", lambda: [sent(box, "request", DRAW,
        indices=list(range(100))) for box in (ASSEMBLY, CLIPPER, SETUP, TRAVERSAL)],
        [[[(begin + at, 1) for at in range(room)]] for begin, room in ((12, 8), (12, 4), (12, 12), (13, 16))],
        "from 11 on; traversal from 12"),
    ("the end of a draw passes where its last triangle does not", lambda: (
        sent(CLIPPER, "output ended", *ASKED, *FOUR[:2], (23, "triangles", -1), triangles=outcomes(4, 1)),
        sent(SETUP, "output ended", *ASKED, *FOUR[:2], (23, "triangles", -1), triangles=outcomes(4, 2))),
        ([[(29, 0), (33, -1)], [(33, 0)]], [[(33, 0), (35, -1)], [(35, 0)]]),
        "sent in 27 and, done in 29, 4 later; sent in 31 and, done in 33, at once"),
    ("triangles leave when they are asked for", lambda: [sent(box, "output", DRAW, (12, "requests", 1), *FOUR,
        (60, "requests", 1), triangles=outcomes(4, 4, 4)) for box in (CLIPPER, SETUP)],
        [[[(29, 0), (62, 1)]], [[(33, 0), (62, 1)]]], "the second in 60"),
    ("quads that were tested leave in order", lambda: sent(lambda boxes: boxes.depth[0], "tested", DRAW,
        (12, "consumer", False), (100, "consumer", True), *stream("quads", (0, 1, 2), amount=4), tests=True)[0],
        [(101, 0), (102, 1), (103, 2)], "written by 50"),
    ("lines are read one after the other to be stored", lambda: cycles(arrivals(lambda boxes: boxes.color[0], [DRAW,
        *stream("quads", (0, 16, -1), 21, 4), (60, "command", ("swap", 0))], plan(step_quads=[(0,), (16,)],
        blocks=[0, 1]), config=PAPER.with_values({"color.extra_read_port": False})), "states"), [89],
        "read from 62 and 70 on, compressed from 70 and 78, the second sent in 86, done in 87, noticed in 88"),
    ("boxes do what the draw that they are told has", lambda: (
        of_second(lambda boxes: boxes.fetch, "indices", [DRAW], indices=[5, 6]),
        of_second(lambda boxes: boxes.commit, "vertices", COMMIT, vertex_program=program(outputs=8)),
        of_second(ASSEMBLY, "triangles", [*ASKED, *stream("vertices", [1] * 5, 31)], triangles=outcomes(4, 4, 4),
            indices=[0, 1, 2, 3, 4]),
        of_second(CLIPPER, "output", [*ASKED, *FOUR], triangles=outcomes(4, 4, 4)),
        of_second(SETUP, "output", [*ASKED, *FOUR], triangles=outcomes(4, 4, 4)),
        of_second(TRAVERSAL, "steps", TRIANGLES[:1] + TRIANGLES[3:], batches=_TILES.batches,
            steps_inside=_TILES.steps_inside),
        of_second(HZ, "quads", STEPS, hierarchical=True),
        of_second(lambda boxes: boxes.interpolator, "output", [(21, "quads", (1, [(0, 0)]), 4)], fragment_inputs=16),
        of_second(lambda boxes: boxes.depth[0], "tested", QUADS, tests=True),
        of_second(lambda boxes: boxes.color[0], "ended", QUADS, blends=True),
        of_second(_TEXTURE, "address", [(21, "requests", (3, 1, 0, 0, 20))], reads=(ReadPlan({0: 0}, [(ONE, ONE)]),)),
        ), ([13, 14], [63, 65], [35, 36, 37, 38], [29, 33, 37, 41], [33, 34, 35, 36], [26, 27, 28, 29, 30], [28, 29],
        [30], [45, 46], [47], [29, 30]), "as in rows above; the first draw's triangles are not drawn"),
    ("texture units take requests in turn", lambda: [[(cycle, item[0]) for cycle, item in port] for port in
        sent(_SHADERS, "request0 request1", *_GROUPS[:7], *((12 + at, f"ticket{unit}", 0) for unit in range(2)
        for at in range(3)), fragment_program=_READS_TEXTURE, config=PAPER.with_values({"texture.units": 2,
        "texture.request_group": 2}))], [[(23, 0), (24, 1), (25, 2)], [(27, 4), (28, 3), (29, 5)]],
        "three while one comes each cycle; the fourth finds no ticket in 25, so the turn goes on; it is fetched again "
        "in 26, before the sixth, which comes then"),
    ("a step of two lines is fetched as requests are free", lambda: [cycles({"": each}, "") for each in sent(_TEXTURE,
        "memory_request results", (21, "requests", (0, 0, 0, 0, 20)), *((40 + 4 * at + 24 * (at > 3), "memory_data",
        (False, 64 * at, 64, 8, at)) for at in range(8)), reads=(ReadPlan({0: 0}, [((((0, 8, 7), (1, 8, 15)),),)]),),
        config=PAPER.with_values({"texture.cache_requests": 1}))], [[32, 33, 34, 35, 62, 63, 64, 65], [109]],
        "the first is there in 60, in which the second is fetched; its last bytes come in 92, decompressed in 96, "
        "written in 100, read then, filtered from 101 to 106, handed on in 107, sent in 108"),
    ("addresses are those of the oldest read", lambda: sent(_TEXTURE, "address", *stream("requests", [(0, 0, at, 0, 20)
        for at in range(3)]), reads=(ReadPlan({at: at for at in range(3)}, [((*ONE, *ONE),)] * 3),))[0],
        [(30, 0), (32, 1), (34, 2)], "begun in 22, 24, 26, 6 + 2 each"),
    ("a line is kept until its last step was read", lambda: cycles(arrivals(_TEXTURE, [*stream("requests",
        [(at, 0, at, 0, 20) for at in range(2)]), (40, "memory_data", (False, 0, 64, 8, 0))], plan(reads=(ReadPlan(
        {0: 0, 1: 1}, [((((0, 8, 7),), ((0, 8, 7),)),), ((((16, 16, 15),),),)]),)), config=PAPER.with_values(
        {"texture.ways": 1, "texture.line": 64})), "memory_request"), [33, 48],
        "fetched in 31 and 32; there in 45, read then and in 46, in which the next is fetched"),
    ("lines read last stay in a texture cache", lambda: [(cycle, item[1]) for cycle, item in sent(_TEXTURE,
        "memory_request", *((cycle, "requests", (at, 0, at, 0, 20)) for at, cycle in
        enumerate((21, 100, 200, 300, 400))),
        *((cycle, "memory_data", (False, 0, 64, 8, at)) for at, cycle in enumerate((60, 140, 340))),
        reads=(ReadPlan({at: at for at in range(5)}, [((((block, 16, 15),),),) for block in (0, 16, 0, 32, 0)]),),
        config=PAPER.with_values({"texture.ways": 2, "texture.line": 64}))[0]], [(32, 0), (111, 1024), (311, 2048)],
        "11 after each request; the fourth read takes the line of the second, the last finds its own"),
    ("a line is used last whose last texel is the last of a step", lambda: [item[1] for _, item in sent(_TEXTURE,
        "memory_request", *((cycle, "requests", (at, 0, at, 0, 20)) for at, cycle in enumerate((21, 200, 300))),
        *((cycle, "memory_data", (False, 0, 64, 8, at)) for at, cycle in enumerate((60, 100, 240))),
        reads=(ReadPlan({at: at for at in range(3)}, [((step,),) for step in (((0, 8, 15), (16, 8, 14)),
        ((32, 16, 15),), ((0, 16, 15),))]),), config=PAPER.with_values({"texture.ways": 2, "texture.line": 64}))[0]],
        [0, 1024, 2048], "the second read takes the line of the second, so the last finds its own"),
    ("an uncompressed line moves in four pieces", lambda: [(asked(found), cycles(found, "alu_start")[4:]) for found in
        [blended(0, 16, 32, 48, 64, 0, config=UNCOMPRESSED, answers=tuple((100 + 4 * at, 64) for at in range(4)))]],
        [([*((at, True) for at in range(72, 76)), *((at, False) for at in range(77, 81)),
        *((at, True) for at in range(93, 97))], [78, 131])],
        "read from 55, compressed from 63, sent in 71 to 74, done in 75, when the fifth quad is read; asked for in 76 "
        "to 79; the next line is read from 76, compressed from 84, sent in 92 to 95; all is there in 112, "
        "decompressed, written from 120, the sixth quad read in 128"),
    ("a line that is stored leaves a cycle for each piece", lambda: [(asked(found), cycles(found, "states"))
        for found in (arrivals(lambda boxes: boxes.color[0], [*QUADS, (60, "command", ("swap", 0))], plan(),
        config=UNCOMPRESSED.with_values({"memory.color_bus": width})) for width in (64, 16))],
        [([(79 + at, True) for at in range(4)], [84]), ([(79 + 4 * at, True) for at in range(4)], [96])],
        "read from 62, compressed from 70, sent from 78 on, one or four apart; noticed after the last one ends"),
    ("vertices of a line are read from it together", lambda: [cycles({"": each}, "") for each in sent(LOADER,
        "memory_request vertex0 vertex1 vertex2 vertex3", *((21 + at, "indices", (0, at, at, False, False))
        for at in range(4)), _LINE)], [[24], [44], [45], [46], [47]],
        "two are read and loaded in 42, two in 43; sent from 43 on"),
    ("a frame takes the cycles of all phases, and the one in which it ends", lambda: [(each.cycles, each.drawing)
        for each in [AttilaRun({"Ready": 1, "Draw": 2, "EndGeometry": 3, "EndFragment": 4, "Swap": 5}, 0, {})]],
        [(16, 9)], "1 + 2 + 3 + 4 + 5, and 1; draws 2 + 3 + 4"),
    ("entries of the output queue are used in a round", lambda: ([item[2] for _, item in sent(lambda boxes: boxes.fetch,
        "indices", DRAW, *FREE, (13, "commit_free", (100, 100)), indices=list(range(66)))[0]][-3:],
        len(sent(lambda boxes: boxes.commit, "vertices", DRAW, *stream("requests", [1] * 66, 12), *stream("indices",
        [(0, at, at % 64, True, False, at % 48) for at in range(66)]), indices=list(range(66)))[0])),
        ([63, 0, 1], 66), "of 64; repeated vertices leave at once"),
    ("each triangle frees the vertices that no later one has", lambda: len(sent(ASSEMBLY, "request", *ASKED,
        *stream("vertices", [0] * 8, 31), triangles=outcomes(*[4] * 8), indices=[0] * 30)[0]), 12,
        "8 places, and one of each of four triangles that the Clipper asks for"),
    ("set-up asks for no triangle after the last", lambda: len(sent(SETUP, "request", *ASKED, *FOUR,
        triangles=outcomes(4, 4, 4))[0]), 12, "the end comes in 24, before the first has left"),
    ("a batch ends with its last descent", lambda: sent(TRAVERSAL, "steps", *TRIANGLES[:1], *TRIANGLES[3:],
        batches=(BatchPlan(1, 6, ((0, 2, 1),)),), steps_inside=_TILES.steps_inside)[0], [(26, (0, 2)), (31, (-1, 1))],
        "descents in 24 to 29, the only scan tile found in the first; the end in 30"),
    ("lines of maxima fill empty places first", lambda: cycles({"": sent(HZ, "quads", DRAW, (21, "steps", (0, 1), 64),
        (60, "steps", (1, 1), 64), (100, "steps", (2, 1), 64), hierarchical=True, step_quads=[(0,), (16,), (32,)],
        blocks=[0, 16, 0], steps_inside=[(15, 0, 0, 0, 1)] * 3, steps_covered=[4] * 3)[0]}, ""), [28, 67, 102],
        "7 later where the buffer is read; the third finds its line, is tested in 100 and sent in 101"),
    ("a line keeps whether it was read", lambda: tagged(2, 1, 2, "allocate 1, fetch 0, take, filled 0, dirty 1 1, "
        "release 1, allocate 2, take"), [0, 1, "1 0 -1 fill", True, 1, "1 -1 0 spill"], "the second was"),
    ("at most 32 quads leave hierarchical Z in a cycle", lambda: [(cycle, len(quads)) for cycle, quads in
        arrivals(HZ, [DRAW, (12, "fifo_ready", False), (100, "fifo_ready", True), *stream("steps", [(0, 2), (2, 2)],
        amount=128), (23, "steps", (-1, 1), 4)], _FULL_STEPS)["quads"]], [(101, 32), (102, 32), (103, 1)],
        "64 wait until 100; then the end"),
    ("culled quads take no place among the 32", lambda: [(cycle, len(quads)) for cycle, quads in
        arrivals(HZ, [DRAW, (12, "fifo_ready", False), (12, "maxima0", (0, 5)), (100, "fifo_ready", True),
        *stream("steps", [(0, 2), (2, 2)], amount=128), (23, "steps", (-1, 1), 4)],
        replace(_FULL_STEPS, hierarchical=True, nearest=[9] * 256))["quads"]], [(101, 32), (102, 16), (103, 1)],
        "16 of 64 are farther than 5 in their block; then the end"),
    ("begun groups of attributes take the bus", lambda: cycles(arrivals(lambda boxes: boxes.commit, COMMIT,
        plan(vertex_program=program(outputs=5))), "vertices"), [63, 65], "two cycles for five, as for eight"),
    ("a group of a batch is fetched when its delay is over", lambda: in_batches(_GROUPS[1], fetch_delay=9,
        steps=program(MOV, MOV, MOV, InstructionWork(4, (), -1, -1, True))), [(114, 0)],
        "in 21 at once; the batch is closed after 64 cycles: in 86, 95 and 104; sent in 110, 4 on its way"),
    ("a full shader closes no empty batch", lambda: len(in_batches(*_GROUPS[1:32], _later(900), _later(901),
        steps=program(*_TWO.instructions, outputs=16))), 33,
        "31 groups end before many have left, 8 cycles each; the next ones begin the other batch"),
    ("padded vertices leave the room that they took", lambda: [cycles(arrivals(_FIFO, [DRAW,
        *((21 + 9 * at, "vertex0", (0, (at, False, True))) for at in range(2)),
        (40, "output0", (0, 0, -1, ((0, False, True), *[(-1, False, False)] * 3)), 4)],
        plan(), config=PAPER.with_values({"fifo.vertex_outputs": 4})), f"input{at}") for at in range(2)], [[22], [42]],
        "four places: the first group comes back in 40, its vertex leaves in 41, and the second goes"),
    ("a group that waits for texels has one place in the window", in_turn, 72, "nine groups take turns: fetched in 36, "
        "45, 54 and, when one has ended, 62; sent in 68, 4 on its way"),
    ("attributes are interpolated four a cycle", lambda: [(cycle, item[1]) for cycle, item in sent(_FIFO,
        "interpolation", DRAW, *stream("tested0", range(4), amount=4), fragment_inputs=5)[0]],
        [(23, [(0, 0)]), (25, [(0, 1), (0, 2)]), (27, [(0, 3)])], "two cycles for five: in 22, 24, 26"),
    ("a quad without a live fragment vanishes", lambda: [(cycle, item[1]) for cycle, item in sent(_FIFO,
        "interpolation", DRAW, *stream("tested0", range(3), amount=4), tested=bytes([15, 0, 15]))[0]],
        [(23, [(0, 0)]), (25, [(0, 2)])], "each a cycle after it came"),
    ("a shader's batch begins anew after its turn", lambda: [[(cycle, item[:3]) for cycle, item in port] for port in
        sent(_FIFO, "input0 input1", DRAW, (30, "interpolated", (0, [(0, 0), (0, 1)]), 8), (40, "interpolated",
        (0, [(0, 2)]), 4), *((50, f"vertex{at}", (0, (at, False, False))) for at in range(4)),
        config=PAPER.with_values({"fifo.shader_batch": 8}))],
        [[(32, (1, 0, 0)), (33, (1, 0, 1)), (42, (1, 0, 2)), (51, (0, 0, -1))], []],
        "eight inputs, and then four, so it stays the shader of the vertices"),
    ("samples are fetched as others are read and filtered", lambda: cycles({"": sent(_TEXTURE, "memory_request",
        (21, "requests", (0, 0, 0, 0, 20)), *((40 + 4 * at, "memory_data", (False, 64 * at, 64, 8, at))
        for at in range(4)), (100, "requests", (1, 0, 1, 0, 99)), reads=(ReadPlan({0: 0, 1: 1}, [(ONE,), (ONE, ONE,
        (((1, 16, 15),),))]),), config=PAPER.with_values({"texture.access_queue": 1}))[0]}, ""),
        [32, 33, 34, 35, 119, 120, 121, 122],
        "of three samples the first is fetched in 109 and read in 110, when the second is fetched; filtered from 111 "
        "to 116, so the second is read, and the third fetched, in 117"),
    ("one line at a time is written into the cache", lambda: cycles(blended(0, 16, apart=1,
        config=PAPER.with_values({"color.decompression": 1})), "alu_start"), [35, 43],
        "the second is decompressed while the first is written, and written for 8 cycles after it"),
    ("the end of geometry is seen two cycles after its fragments begin", lambda: (two_draws(220)[-1][6],
        two_draws(220)[-2]["Draw"]), (("vertex", 5, 104, 240), 43), "in 238; draws 0 to 2, 10 to 50, 239 to 240"),
    ("a block among clear ones is asked for in its turn", lambda: [[(cycle, item[1] if item else 0) for cycle, item in
        port] for port in sent(lambda boxes: boxes.display, "memory_request ended", (21, "states0", {0: 64, 4: 64}),
        (30, "states1", {}), (37, "memory_data", (False, 0, 64, 7, 0)), (60, "memory_data", (False, 0, 64, 7, 1)))],
        [[(35, 0), (39, 1024)], [(122, 0)]],
        "the first in 34, the fifth enters in 37; it is finished in 61, the 59 clear ones after it by 120"),
    ("assembly asks for no vertex without room while others come", lambda: len(sent(ASSEMBLY, "request", DRAW,
        (12, "requests", 1), *stream("vertices", [0] * 8, 31), triangles=outcomes(*[4] * 8), indices=[0] * 30)[0]), 9,
        "8 places, and one of the only triangle that the Clipper asks for, sent in 34"),
    ("the last line of a draw is not given back in the next", lambda: arrivals(lambda boxes: boxes.commit,
        [*COMMIT, (200, "command", ("draw", 1))], plan(indices=[0, 1]), plan(number=1))["free"],
        [(52, (1, 0)), (53, (0, 1)), (53, (1, 0))], "an entry in 51 and 52, the first line in 52; then all are free"),
    ("a dead quad takes no cycle of a colour unit", lambda: cycles(arrivals(lambda boxes: boxes.color[0], [DRAW,
        *stream("quads", (0, 1, -1), amount=4)], plan(to_color=bytes([15, 0, *[15] * 62]))), "alu_start"), [25],
        "the first is allocated in 22, begun in 23, a wire of 2"),
    ("a line that was covered need not be read", lambda: (_covered_line((1 << 16) - 1), _covered_line(0x7777)),
        ([], [(129, True), (130, False)]), "but with a component that is not written, as a line written in part"),
    ("maxima are depths without stencil, of all words", lambda: arrivals(lambda boxes: boxes.depth[0], [DRAW,
        *((21 + 60 * step, "quads", 16 * step, 4) for step in range(5))],
        replace(EVICTED, depth_words=[0x5000009] * 320), blocks=128)["maxima"], [(275, (0, 0xFFFFFF))],
        "the other quads of the line are clear; in 275 as above"),
    ("of a line that was read all pieces are stored", lambda: [item[0] for _, item in arrivals(
        lambda boxes: boxes.color[0], [*QUADS, (60, "command", ("swap", 0)), *AGAIN[:3], *((500 + 4 * at, "memory_data",
        (False, 64 * at, 64, 4, at)) for at in range(4)), (600, "command", ("swap", 0))], plan(),
        plan(number=1, blends=True), config=UNCOMPRESSED)["memory_request"]], [*[True] * 4, *[False] * 4, *[True] * 4],
        "stored, read by the second draw, and stored again after one quad"),
    ("reads are asked for before lines are stored", lambda: asked(blended(0, 16, 32, 48, 64, 0, config=UNCOMPRESSED,
        more=[(77, "memory_state", 0), (100, "memory_state", 2)])), [*((at, True) for at in range(72, 76)), (77, False),
        *((at, False) for at in range(101, 104)), *((at, True) for at in range(104, 108))],
        "nothing is accepted from 77 to 99, when the next line is compressed; three in 100 to 102, then its pieces"),
    ("nothing is asked for while an answer holds the bus", lambda: asked(blended(0, 16, 32, 48, 64, 0,
        config=UNCOMPRESSED.with_values({"memory.color_bus": 16}), answers=((90, 64),))), [*((at, True)
        for at in (72, 76, 80, 84)), *((at, False) for at in (89, 90, 94, 95)), *((at, True)
        for at in (105, 109, 113, 117))], "4 cycles a piece: stored by 87, asked for in 88, 89, and from 93 on"),
    ("one new line a cycle is fetched", lambda: sent(_TEXTURE, "results", *((cycle, "requests", (at, 0, at, 0, 20))
        for at, cycle in enumerate((21, 100, 101))), *((40 + 4 * at, "memory_data", (False, 64 * at, 64, 8, at))
        for at in range(4)), reads=(ReadPlan({at: at for at in range(3)}, [((((9, 16, 15),),),),
        ((((0, 5, 4), (1, 5, 9), (2, 6, 15)),),), ((((9, 16, 15),),),)]),))[0], [(69, 0), (122, 2)],
        "three for the second read, in 109 to 111; so the third, whose line is there, is fetched in 112, sent 9 later"),
    ("as many results are written as groups work at a time", lambda: cycles({"": sent(_SHADERS, "output", *_GROUPS[:3],
        config=PAPER.with_values({"shader.results": 1, "shader.thread_rate": 8}), fragment_program=program(
        InstructionWork(5, (), -1, -1, False), InstructionWork(4, (), -1, -1, True)))[0]}, ""), [32, 33],
        "two a cycle: the first group's, decoded in 22 and 23, are both written in 27"),
    ("nothing is uploaded while the fragments of a draw wait", lambda: [cycles(found, port) for found in [arrivals(
        lambda boxes: boxes.processor, [(50, "clipper_ended", 0), *_fragments(200)], *(plan(number=at)
        for at in range(3)), steps=(("draw", 0), ("draw", 1), ("upload", 0), ("draw", 2)), uploads=((8192, 64),))]
        for port in ("fetch_command", "color0_command", "memory_request")], [[1, 51], [1, 201], [202]],
        "the second's geometry begins in 50, its fragments in 200, the upload of the third draw a cycle later"),
    ("runs begin anew after the other kind", lambda: (memory((30, READ, 0), (31, WRITE, 64), (32, WRITE, 128),
        (33, WRITE, 192), (49, READ, 1024)), memory((30, READ, 0), (31, READ, 64), (32, WRITE, 128), (33, WRITE, 192),
        (34, READ, 1024), config=PAPER.with_values({"memory.max_reads": 1}))),
        ([40, 50, 54, 58, 78], [40, 50, 70, 80, 100]),
        "writes 14 after the read, in 44 and 48, are a run, which goes on in 52; the read 16 later. Of at most one "
        "read the write follows in 44, a read in 60, a write in 74, a read in 90"),
    ("each set has its own order", lambda: tagged(2, 2, 4, "use 2, use 1, fetch 0, fetch 1, fetch 2"), [0, 3, 1],
        "way 1 of set 0, way 0 of set 1: the other one of each; then the last used of the first set"),
    ("lines of a set follow each other", lambda: tagged(8, 2, 16, "fetch 1, fetch 3, fetch 0"), [12, 13, 4],
        "8 and 0 begin the sets; searches from ways 1, 2, 3 find 4, 5 and, in the other set, 4"),
    ("a fetch needs an unreserved line and a request", lambda: tagged(2, 2, 2, "fetch 0, fetch 2, fetch 4, fetch 1, "
        "take, filled 0, fetch 1, fetch 0, release 0, fetch 4, release 0, take, filled 1, fetch 4, fetch 0"),
        [0, 1, -1, -1, "0 0 -1 fill", True, 2, 0, -1, "1 2 -1 fill", True, 0, -1],
        "4 finds both ways reserved, 1 no request of two; 0 is a hit, so it has to be released twice; then it is gone"),
    ("reservations are counted", lambda: tagged(1, 1, 4, "fetch 0 3, fetch 0 2, release 0 4, fetch 1, release 0 9, "
        "fetch 1, fetch 2, release 0, fetch 2"), [0, 0, -1, 0, -1, 0], "3 + 2 - 4 is one left; never less than none"),
    ("a dirty line is written back when another block takes it", lambda: tagged(1, 1, 2, "fetch 0, take, filled 0, "
        "dirty 0 1, release 0, fetch 1, take, spilled 1, fetch 1, filled 1, release 0 2, fetch 2, take"),
        [0, "0 0 -1 fill", True, 0, "0 1 0 spill fill", False, 0, True, 0, "0 2 1 fill"],
        "complete with both halves; then it is clean"),
    ("an allocated line is reserved and needs no request", lambda: tagged(2, 1, 1, "allocate 0, allocate 0, "
        "allocate 1, allocate 2, release 0, allocate 2, release 0, allocate 2, fetch 0"), [0, 0, 1, -1, -1, 0, -1],
        "0 twice; released twice it is another's, and both ways are reserved"),
    ("unless it is dirty", lambda: tagged(2, 1, 1, "allocate 0, dirty 0 1, release 0, allocate 1, allocate 2, "
        "dirty 1 1, release 1, allocate 3, take, spilled 0, allocate 3, take"),
        [0, 0, 1, -1, "0 -1 0 spill masked", True, 1, "1 -1 2 spill masked"],
        "1 pushes 0 out, 3 has to wait for that request before it pushes 2 out; both lines were not read"),
    ("a line written in part is read when it is fetched", lambda: (tagged(1, 1, 1, "allocate 0, mask 0 3, dirty 0 1, "
        "fetch 0 1 7, release 0, fetch 0 1 7, take, fetch 0 1 7"), tagged(1, 1, 0, "allocate 0, mask 0 7, fetch 0 1 7, "
        "mask 0 3, release 0 2, fetch 0 1 7")), ([0, -1, 0, "0 0 0 spill fill masked", 0], [0, 0, -1]),
        "once it is not reserved, and stored before; a full one, 7 of 7, needs no request"),
    ("a line begins without written bytes", lambda: (tagged(1, 1, 0, "allocate 0, mask 0 7, release 0, allocate 1, "
        "release 0, fetch 1 1 7"), tagged(1, 1, 1, "allocate 0, mask 0 7, dirty 0 1, release 0, allocate 1, take, "
        "spilled 0, release 0, fetch 1 1 7, take")),
        ([0, 0, -1], [0, 0, "0 -1 0 spill masked", True, 0, "0 1 1 fill masked"]), "7 was written of the block before"),
    ("a flush stores valid lines as requests are free", lambda: tagged(2, 2, 2, "fetch 0, take, filled 0, fetch 1, "
        "take, filled 1, fetch 2, take, filled 2, release 2, flush, queued, take, take, flush, queued, spilled 3, "
        "flush, fetch 1, take, spilled 4, spilled 5, flush"), [0, "0 0 -1 fill", True, 2, "2 1 -1 fill", True, 1,
        "1 2 -1 fill", True, False, 2, "0 -1 0 spill", "1 -1 2 spill", False, 0, True, False, -1, "2 -1 1 spill", True,
        True, True],
        "two of three, the third with the next free one, after which its block is not there; done with the last"),
    ("a line is asked for in pieces, the next when it is there", lambda: (filled(7, 8, answers={10: 0, 12: 1}, inputs=1,
        width=32, write=3), filled(7, 8, answers={10: 0, 12: 1}, inputs=1, width=32, write=3, decompression=4)),
        ([(0, 896, 64), (1, 960, 64), (16, 1024, 64), (16, 7), (17, 1088, 64)],
         [(0, 896, 64), (1, 960, 64), (20, 1024, 64), (20, 7), (21, 1088, 64)]),
        "2 cycles a piece on the bus: complete in 13, written in 3 cycles; decompressed in 4 before"),
    ("lines are written in order", lambda: (filled(7, 8, answers={5: 2, 9: 3, 20: 0, 21: 1}, refused=(1, 2)),
        filled(7, 8, answers={5: 2, 9: 3, 20: 0, 21: 1}, refused=(1, 2), decompression=4)),
        ([(0, 896, 64), (3, 960, 64), (4, 1024, 64), (5, 1088, 64), (23, 7), (25, 8)],
         [(0, 896, 64), (3, 960, 64), (4, 1024, 64), (5, 1088, 64), (27, 7), (31, 8)]),
        "the first is complete in 21, 2 cycles each; decompressed in 25 and, from then on, in 29"),
    ("nothing is asked for while the bus is held", lambda: filled(1, 2, line=96, width=16, answers={1: 0}),
        [(0, 96, 64), (4, 160, 32), (5, 192, 64), (6, 256, 32)], "64 bytes over 16 hold it from 1 to 4"),
    ("the first way of a search rotates", lambda: victims(8, 8), [4, 4, 4, 4, 5, 6, 7, 4],
        "0 to 3 are remembered; searches begin at 1 to 7 and 0: the first way past 3 from there, 4 up to a "
        "beginning of 4"),
    ("a line is reserved as often as it was fetched", reserved, (-1, 0), "both uses must be over"),
    ("the search ends at the last way", lambda: victims(8, 1, first_way=4, used=(5, 6, 7)), [3],
        "from 5 on all are remembered; then the one used longest ago, not 0"),
    ("replacement remembers four ways", lambda: victims(5, 1, first_way=4, used=(0, 1, 2, 3)), [4],
        "the search begins at 0; of three remembered ways 0 would be taken"),
    ("a way used again is the last", lambda: (victims(4, 1, used=(0, 1, 2, 3, 0)), victims(4, 1, used=(2,))),
        ([1], [0]), "else 0, the first used; the others keep their order"),
    ("equal depths are culled where less is asked", lambda: (culled(5, True), culled(5, False), culled(4, True)),
        (True, False, False), "not less than 5; with lequal it may pass; 4 is nearer"),
    ("an edge within 1e-12 of a fragment is on it", lambda: (inside(5e-13, 1), inside(-5e-13, 1), inside(5e-13, -1)),
        (True, True, False), "an edge that rises to the right owns what is on it, one that falls does not"),
    ("an edge further than 1e-12 is not", lambda: (inside(2e-12, -1), inside(-2e-12, 1)), (True, False), "by its sign"),
    ("reads go before a second write", lambda: (memory((30, WRITE, 0), (31, WRITE, 64), (32, READ, 128)),
        memory((30, WRITE, 0), (31, WRITE, 128), (32, READ, 64))), ([36, 56, 66], [36, 56, 66]),
        "one write is no run: the read starts 16 after it, in 46, and the write 14 after that"),
    ("an even and an odd page are open",
        lambda: memory((30, READ, 0), (31, READ, PAGE // 2), (32, READ, 64), (33, READ, PAGE)), [40, 60, 64, 84],
        "the second opens its page 20 after the first; the third finds its own open, 4 later; the fourth closes that"),
    ("uploads leave a page open and a channel turned to writes", lambda: (
        memory((30, READ, PAGE), written=((25, PAGE),)), memory((30, READ, 2 * PAGE), written=((25, PAGE),))),
        ([51], [55]), "16 after the write in 25; another page 20 after it"),
    ("a bus takes whole cycles", lambda: [cycles(narrow(write), port) for write, port in ((True, "module0"),
        (False, "SU0::ColorWrite_data"))], [[37], [46, 48]], "24 bytes over 16 take 2, for a write and for an answer"),
    ("a bus serves answers and data in turn", lambda: memory((30, READ, 0), (60, WRITE, 64), (61, READ, 64)),
        [40, 66, 86], "written once the data are there, in 60; a read of the same bytes starts 16 later"),
    ("a read waits for the first write of its bytes", lambda: memory((30, READ, 2 * PAGE), (31, WRITE, 0),
        (32, WRITE, PAGE), (33, WRITE, 0), (34, READ, 0)), [40, 56, 76, 92, 112],
        "the first write opens its page in 50, and the read starts 16 later; the other writes open theirs in 86, 20 "
        "after it, and in 106"),
    ("a write ends a run of reads", lambda: memory((30, READ, 0), (31, READ, 64), (32, WRITE, 128), (33, WRITE, 192),
        config=PAPER.with_values({"memory.max_reads": 1})), [40, 50, 70, 80],
        "one read, the write 14 later in 44, the next read in 60, before the other write in 74"),
    ("a write that comes in a longer run of reads waits for its end", lambda: memory((30, READ, 0), (31, READ, 64),
        (32, READ, 128), (33, READ, 192), (41, WRITE, 1024), (42, READ, 1088), (43, READ, 1152), (44, READ, 1216),
        config=PAPER.with_values({"memory.max_reads": 2})), [40, 44, 48, 52, 56, 60, 64, 74],
        "it is there in 42, after three reads, and the rule of the recorded machine is an equality: not two. So the "
        "reads start every 4 cycles from 30 to 54, the write 14 after the last; after two or more it would start in "
        "52, 14 after the third"),
    ("a read ends a run of writes", lambda: memory((30, WRITE, 0), (31, WRITE, 64), (35, READ, 128), (51, WRITE, 192),
        (52, READ, 1024)), [36, 40, 60, 64, 74], "in 34 two writes are a run; after the read in 50 reads go first"),
    ("a client whose bus is reserved may only read", lambda: _ask_in_turn(PAPER)["SU0::ColorWrite_state"],
        [(45, 1), (47, 2)], "for its answers in 44 and 45"),
    ("two writes are a run", lambda: memory(*THREE_WRITES, (35, READ, 192)), [36, 40, 44, 64],
        "the third goes in 38, before the read, which starts 16 later"),
    ("a read waits for a write of its bytes",
        lambda: memory((30, WRITE, 0), (31, WRITE, 4 * PAGE), (32, READ, 4 * PAGE)), [36, 56, 76],
        "the second write opens a page in 50, 20 after the first; the read starts 16 later and not before it"),
    ("a line once uncompressed stays so", lambda: states(*AGAIN), {0: 256},
        "all of its words are 0 now, which takes 64 bytes"),
    ("a clear forgets that", lambda: states(*CLEARED), {0: 64}, "the block is clear before the second draw"),
    ("a round over the ROPs ends at a full shader", crossbar, (0, 4),
        "four groups wait for the busy shader; then its ROP's next quad ends each round before the other ROP's"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "measured", "expected", "because"), HELD, ids=lambda each: each if isinstance(each, str) else ""
)
def test_a_rule_holds(rule: str, measured: Callable[[], object], expected: object, because: str) -> None:
    assert measured() == expected, because
