"""Scripts for single boxes: what comes to them, in which cycle, and how their outputs are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attila_bridge.function.work import InstructionWork
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.netlist import Boxes
from attila_bridge.time.prepare import ReadPlan
from attila_bridge.time.texture_unit import TexturePipeline
from tests.attila.bench import Send, arrivals, plan

DRAW: Send = (11, "command", ("draw", 0))
QUADS: list[Send] = [DRAW, (21, "quads", 0, 4), (22, "quads", -1, 4)]
TRIANGLES: list[Send] = [DRAW, (15, "requests", 1), (16, "requests", 1), (21, "triangles", 0), (22, "triangles", -1)]
FRAGMENT = (1, 0, 0, ())
"""A group of the quad 0 of the draw 0."""
MOV = InstructionWork(4, (), 256, -1, False)
"""Writes r0: three cycles of its table, and one."""
MOV_END = InstructionWork(4, (256,), -1, -1, True)
"""Reads r0 and ends."""


def cycles(found: dict[str, list[tuple[int, Any]]], port: str) -> list[int]:
    return [cycle for cycle, _ in found[port]]


COMMIT: list[Send] = [
    DRAW, (15, "requests", 1), (16, "requests", 1),
    (21, "indices", (0, 0, 0, False, False, 0)), (22, "indices", (0, 1, 1, False, False, 1)),
    (50, "shaded0", (0, (0, False, False))), (50, "shaded1", (0, (1, False, False))),
]  # fmt: skip
STEPS: list[Send] = [DRAW, (21, "steps", (0, 1), 64), (22, "steps", (-1, 1), 4)]
GROUP: list[Send] = [(10, "command", (1, 1)), (21, "groups", FRAGMENT, 4)]
ONE = (((0, 16, 15),),)
"""A sample of one bilinear step, whose 16 texels are in line 0."""


def _texture(boxes: Boxes) -> TexturePipeline:
    return boxes.textures[0][0]


def textured(
    *steps: object, config: AttilaConfig = PAPER, pick: Callable[[Boxes], TexturePipeline] = _texture
) -> dict[str, list[tuple[int, Any]]]:
    """Return what a unit does with a read executed in 20, which comes in 21; its line comes in 40, 44, 48 and 52."""
    sends: list[Send] = [(21, "requests", (3, 0, 0, 0, 20))]
    sends += [(40 + 4 * part, "memory_data", (False, 64 * part, 64, 8, part)) for part in range(4)]
    draw = plan(reads=(ReadPlan({0: 0}, [steps]),))  # type: ignore[list-item]
    return arrivals(pick, sends, draw, config=config)


EVICTED = plan(tests=True, blocks=[0, 16, 32, 48, 64], step_quads=[(0,), (16,), (32,), (48,), (64,)],
    depth_words=[9] * 320, to_depth=b"\x0f" * 80, tested=b"\x0f" * 80)  # fmt: skip
"""Five lines of one set: the fifth takes the place of the first."""


def memory(
    *accesses: tuple[int, bool, int], config: AttilaConfig = PAPER, written: tuple[tuple[int, int], ...] = ()
) -> list[int]:
    """Return in which cycles data of accesses are on channel 0; each has its cycle, whether it writes, its address."""
    color = next(each for each in range(20) if clients()[each] == "SU0::ColorWrite")
    sends: list[Send] = [
        (cycle, "SU0::ColorWrite_request", (write, address, 64, color, number))
        for number, (cycle, write, address) in enumerate(accesses)
    ]
    return cycles(arrivals(lambda boxes: boxes.memory, sends, plan(), config=config, written=written), "module0")


def clients() -> list[str]:
    found: list[str] = []
    arrivals(lambda boxes: found.extend(each.name for each in boxes.clients) or boxes.interpolator, [], plan())
    return found


READ, WRITE = False, True
PAGE = 2 * 4 * 4096
"""Bytes to the next page that shares the open one."""
FRAGMENT_BOXES = ("setup", "traversal", "hz", "fifo", "depth0", "depth1", "color0", "color1")
PROCESSED: list[Send] = [
    (80, "memory_data", (False, 0, 64, 0, 0)), (200, "clipper_ended", 0),
    *((251, f"{box}_ended", 0) for box in FRAGMENT_BOXES),
]  # fmt: skip
FRAME = (("ready", 10), ("read", 64), ("draw", 0), ("swap", 0))
