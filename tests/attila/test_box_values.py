"""Does every declared value of a box move its outputs by as many cycles as it says?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.netlist import Boxes
from attila_bridge.time.prepare import DrawPlan
from tests.attila.bench import Send, arrivals, plan, program
from tests.attila.scripts import (
    COMMIT,
    DRAW,
    EVICTED,
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
    cycles,
    memory,
    textured,
)

Run = Callable[[AttilaConfig], dict[str, list[tuple[int, Any]]]]


def _of(pick: Callable[[Boxes], Any], sends: list[Send], draw: DrawPlan, **more: Any) -> Run:
    return lambda config: arrivals(pick, sends, draw, config=config, **more)


def _color(sends: list[Send], **changes: object) -> Run:
    return _of(lambda boxes: boxes.color[0], sends, plan(**changes))


_CLIPPER = _of(lambda boxes: boxes.clipper, TRIANGLES, plan())
_ASSEMBLY = _of(lambda boxes: boxes.assembly,
    [*TRIANGLES[:3], *((cycle, "vertices", 0) for cycle in (31, 32, 33))], plan())  # fmt: skip
_SETUP = _of(lambda boxes: boxes.setup, [*TRIANGLES[:4], (25, "triangles", -1)], plan())
_HZ = _of(lambda boxes: boxes.hz, STEPS, plan(hierarchical=True))
_INTERPOLATOR = _of(lambda boxes: boxes.interpolator, [(21, "quads", (0, [(0, 0)]), 4)], plan(fragment_inputs=16))
_DEPTH = _of(lambda boxes: boxes.depth[0], QUADS, plan(tests=True))
_EVICTION = _of(lambda boxes: boxes.depth[0],
    [DRAW, *((21 + 60 * step, "quads", 16 * step, 4) for step in range(5))], EVICTED, blocks=128)  # fmt: skip
_SWAP = _color([*QUADS, (60, "command", ("swap", 0))])
_DISPLAY = _of(lambda boxes: boxes.display, [(21, "states0", {}), (21, "states1", {})], plan())
_PROCESSOR = _of(lambda boxes: boxes.processor, PROCESSED, plan(), steps=FRAME)
_LOADER = _of(lambda boxes: boxes.loader,
    [(21, "indices", (0, 0, 0, False, False)), (41, "memory_data", (False, 0, 64, 1, 0))], plan())  # fmt: skip
_LONG = program(MOV, MOV_END, outputs=16)
_SHADER = _of(lambda boxes: boxes.shaders[0], GROUP, plan(fragment_program=_LONG))


@pytest.mark.parametrize(
    ("run", "port", "key", "value", "later"),
    [
        (_of(lambda boxes: boxes.commit, COMMIT, plan()), "vertices", "assembly.bus_latency", 13, 3),
        (_of(lambda boxes: boxes.commit, COMMIT, plan(vertex_program=program(outputs=8))), "vertices",
            "streamer.attributes_sent", 2, 4 - 2 + 4 - 2),
        (_ASSEMBLY, "triangles", "clipper.start", 3, 2),
        (_CLIPPER, "output", "clipper.latency", 9, 3),
        (_CLIPPER, "output", "setup.start", 7, 3),
        (_CLIPPER, "output", "setup.input_latency", 4, 2),
        (_CLIPPER, "ended", "command.end_latency", 5, 3),
        (_SETUP, "output", "setup.latency", 12, 2),
        (_SETUP, "output", "setup.output_latency", 5, 3),
        (_HZ, "quads", "hz.access_latency", 9, 4),
        (_EVICTION, "maxima", "hz.update_latency", 7, 3),
        (_EVICTION, "memory_request", "depth.compression", 11, 3),
        (_INTERPOLATOR, "output", "fifo.interpolation_latency", 9, 5),
        (_INTERPOLATOR, "output", "fifo.interpolators", 2, 4),
        (_SHADER, "output", "shader.fetch_delay", 9, 4),
        (_SHADER, "output", "shader.output_latency", 9, -2),
        (lambda config: textured(ONE, config=config), "address", "texture.address_latency", 9, 3),
        (lambda config: textured(ONE, config=config), "results", "texture.filter_latency", 9, 5),
        (lambda config: textured(ONE, config=config), "results", "texture.decompression", 9, 5),
        (lambda config: textured(ONE, config=config), "results", "texture.port", 16, -3),
        (_DEPTH, "tested", "depth.alu_latency", 3, 1),
        (_DEPTH, "tested", "depth.decompression", 1, -7),
        (_DEPTH, "tested", "depth.port", 64, -4),
        (_color(QUADS, blends=True), "ended", "color.alu_latency", 3, 1),
        (_color(QUADS, blends=True), "ended", "color.decompression", 10, 2),
        (_color(QUADS, blends=True), "ended", "color.port", 16, 8),
        (_SWAP, "states", "color.compression", 3, -5),
        (_SWAP, "states", "memory.color_bus", 16, 3),
        (_color([(20, "command", ("clear", 0))]), "ended", "color.cleared", 2048, -128),
        (_color([(20, "command", ("clear", 0))]), "ended", "color.block_states", 1024, -255),
        (_of(lambda boxes: boxes.hz, [(20, "command", ("clear", 0))], plan()), "ended", "hz.cleared", 4, 15),
        (_DISPLAY, "ended", "display.decompression", 2, 64),
        (_DISPLAY, "ended", "display.updated", 16, 3),
        (_PROCESSOR, "color0_command", "command.start_latency", 4, 3),
        (_PROCESSOR, "color0_command", "memory.command_bus", 64, 0),
        (_PROCESSOR, "fetch_command", "memory.command_bus", 64, -7),
        (_LOADER, "vertex0", "memory.loader_bus", 8, 7),
        (_LOADER, "vertex0", "streamer.cache_port", 4, 3),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)  # fmt: skip
def test_a_declared_value_moves_the_last_output(run: Run, port: str, key: str, value: int, later: int) -> None:
    """The last item of a port comes as many cycles later as the value gives."""
    before, after = run(PAPER), run(PAPER.with_values({key: value}))
    assert cycles(after, port)[-1] - cycles(before, port)[-1] == later


@pytest.mark.parametrize(
    ("accesses", "key", "value", "later"),
    [
        ([(30, READ, 0)], "memory.read_latency", 14, 4),
        ([(30, WRITE, 0)], "memory.write_latency", 9, 3),
        ([(30, WRITE, 0), (31, READ, 64)], "memory.write_latency", 9, 3),
        ([(30, WRITE, 0), (31, READ, 64)], "memory.write_to_read", 9, 3),
        ([(30, READ, 0), (31, WRITE, 64)], "memory.read_latency", 14, 4),
        ([(30, READ, 0), (31, READ, PAGE)], "memory.page_open", 25, 5),
        ([(30, READ, 0), (31, READ, 64)], "memory.bus_bits", 32, 4),
        ([(30, WRITE, 0)], "memory.color_bus", 16, 3),
        ([(30, READ, 0), (31, READ, PAGE)], "memory.open_pages", 4, -16),
        ([(30, READ, 0), (31, READ, PAGE // 2)], "memory.page_bytes", 8192, -16),
    ],
)  # fmt: skip
def test_a_value_of_memory_moves_the_data(
    accesses: list[tuple[int, bool, int]], key: str, value: int, later: int
) -> None:
    assert memory(*accesses, config=PAPER.with_values({key: value}))[-1] - memory(*accesses)[-1] == later
