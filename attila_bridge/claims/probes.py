"""Probes: scenes that load one unit, and runs that log the traffic of wires."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attila_bridge.run import SceneRun, run_scene
from attila_bridge.scene import (
    COORDINATE_SETS,
    AttilaScene,
    ClearValues,
    Compare,
    DepthState,
    DrawState,
    Factor,
    Filter,
    Floats,
    SceneParts,
    SceneTexture,
    Wrap,
)
from attila_bridge.time.config import PAPER, AttilaConfig
from pixelflow.evidence import Bench
from pixelflow.simd.observe import Bus, Carried, QueueFilled

_FRAGMENT = "!!ARBfp1.0\nMOV result.color, fragment.color;\nEND"
DEPTH = DrawState(DepthState(Compare.LESS, write=True))
OVER = DrawState(blend=(Factor.SRC_ALPHA, Factor.ONE_MINUS_SRC_ALPHA))

QUEUES = {
    "vertices": "StreamerOutputCache lines",
    "clipped": "Clipper triangles",
    "hz": "HierarchicalZ quads",
    "z": "SU0::ZStencilTest fetch",
    "colour": "SU0::ColorWrite fetch",
}
"""Queues whose fill does not follow from their wires, as items may vanish in them; the first of several units."""


@dataclass(slots=True)
class WireLog:
    """Traffic of wires: amounts by wire and cycle, and latencies; the greatest fill of queues."""

    sent: dict[str, Counter[int]] = field(default_factory=dict)
    """Amount by wire and cycle of sending."""
    arrived: dict[str, Counter[int]] = field(default_factory=dict)
    latencies: dict[str, set[int]] = field(default_factory=dict)
    filled: dict[str, int] = field(default_factory=dict)
    """Greatest fill of each queue."""

    def fill(self, queue: QueueFilled) -> None:
        """Note the fill of a queue."""
        self.filled[queue.queue] = max(self.filled.get(queue.queue, 0), queue.fill)

    def queued(self, name: str) -> int:
        """Return the greatest fill of one of `QUEUES`."""
        return self.filled[QUEUES[name]]

    def __call__(self, carried: Carried) -> None:
        """Note one transfer."""
        self.sent.setdefault(carried.wire, Counter())[carried.cycle] += carried.amount
        self.arrived.setdefault(carried.wire, Counter())[carried.arrives] += carried.amount
        self.latencies.setdefault(carried.wire, set()).add(carried.arrives - carried.cycle)

    def most(self, wire: str) -> int:
        """Return the greatest amount sent on a wire in a cycle."""
        return max(self.sent.get(wire, {0: 0}).values())

    def rate(self, wires: Sequence[str], cycles: int) -> int:
        """Return the greatest amount sent on wires together in ``cycles`` consecutive cycles."""
        sent: Counter[int] = Counter()
        for wire in wires:
            sent.update(self.sent.get(wire, {}))
        return max(sum(sent[first + later] for later in range(cycles)) for first in sorted(sent))

    def shortest(self, wire: str) -> int:
        """Return the fewest cycles from one use of a wire to the next."""
        cycles = sorted(self.sent[wire])
        return min(later - sooner for sooner, later in pairwise(cycles))

    def held(self, into: Sequence[str], out: Sequence[str], each: int = 1) -> int:
        """Return the greatest amount between wires: arrivals on ``into`` less ``each`` times what was sent on ``out``.

        Nothing may vanish in between.
        """
        steps: Counter[int] = Counter()
        for wire in into:
            for cycle, amount in self.arrived.get(wire, {}).items():
                steps[2 * cycle] += amount
        for wire in out:
            for cycle, amount in self.sent.get(wire, {}).items():
                steps[2 * cycle + 1] -= each * amount
        now = most = 0
        for cycle in sorted(steps):
            now += steps[cycle]
            most = max(most, now)
        return most


def watched(scene: AttilaScene, config: AttilaConfig, *, queues: bool = False) -> tuple[SceneRun, WireLog]:
    """Run a scene and log its wires, and its queues if ``queues``."""
    bus, log = Bus(), WireLog()
    bus.subscribe(log, Carried)
    if queues:
        bus.subscribe(log.fill, QueueFilled)
    return run_scene(scene, config=config, bus=bus), log


def probe(
    positions: Floats,
    *,
    size: int = 256,
    height: int | None = None,
    state: DrawState = DrawState(),  # noqa: B008 - frozen
    fragment: str = _FRAGMENT,
    textures: Mapping[int, SceneTexture] | None = None,
    coordinates: Floats | None = None,
    indices: Sequence[int] | None = None,
) -> AttilaScene:
    """Return a scene of one draw of triangles: ``positions`` is [vertex, 4], grey with half opacity.

    Coordinates and indices are as `SceneParts` takes them.
    """
    parts = SceneParts()
    colors = np.full((len(positions), 4), 0.5)
    parts.add(
        positions,
        colors,
        fragment=fragment,
        state=state,
        coordinates=coordinates,
        textures=textures or {},
        indices=indices,
    )
    return parts.scene("probe", (size, height or size), ClearValues((0.0, 0.0, 0.0, 1.0), 1.0, None))


def layers(count: int) -> Floats:
    """Return the corners of screens at different depths, two triangles each, the farthest first."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)], np.float64)
    depths = np.linspace(0.9, -0.9, count)
    return np.concatenate([np.column_stack([square, np.full(6, depth), np.ones(6)]) for depth in depths])


def giants(count: int) -> Floats:
    """Return triangles that each cover more than the screen, the farthest first."""
    one = np.array([(-1, -1), (3, -1), (-1, 3)], np.float64)
    depths = np.linspace(0.9, -0.9, count)
    return np.concatenate([np.column_stack([one, np.full(3, depth), np.ones(3)]) for depth in depths])


def texture(side: int, *, levels: bool = False) -> SceneTexture:
    """Return a square texture whose pattern does not repeat within a line of the cache."""
    pyramid: list[NDArray[np.uint8]] = []
    while True:
        row, column = np.indices((side, side))
        words = row * 0x9E3779B1 + column * 0x85EBCA6B + len(pyramid)
        pyramid.append(np.stack([words >> shift & 255 for shift in (0, 8, 16, 24)], axis=-1).astype(np.uint8))
        if not levels or side == 1:
            break
        side //= 2
    least = Filter.LINEAR_MIPMAP_LINEAR if levels else Filter.LINEAR
    return SceneTexture("texture", tuple(pyramid), least, Filter.LINEAR, Wrap.REPEAT, 1)


def reading(reads: int, instructions: int) -> str:
    """Return a program of ``instructions``, ``reads`` of which read the same texture at the same place.

    It has two temporaries, so that registers do not limit the threads.
    """
    lines = ["!!ARBfp1.0", "TEMP s, t;"]
    for number in range(reads):
        lines.append(f"TEX {'t' if number else 's'}, fragment.texcoord[0], texture[0], 2D;")
        lines += ["ADD s, s, t;"] if number else []
    if reads < 2:
        lines.append("MUL s, s, fragment.color;" if reads else "MOV s, fragment.color;")
    more = instructions - 1 - reads - max(1, reads - 1)
    lines += ["MAD s, s, fragment.color, s;"] * more
    return "\n".join([*lines, "MOV result.color, s;", "END"])


def attributes(count: int) -> str:
    """Return a program that reads ``count`` attributes, up to twelve: colour, position, sets of coordinates."""
    names = [
        "fragment.color",
        "fragment.position",
        *(f"fragment.texcoord[{number}]" for number in range(COORDINATE_SETS)),
    ][:count]
    lines = ["!!ARBfp1.0", "TEMP s;", "MOV s, { 1, 1, 1, 1 };", *(f"MUL s, s, {name};" for name in names)]
    return "\n".join([*lines, "MOV result.color, s;", "END"])


def corners(count: int, legs: float) -> Iterator[tuple[float, float, float, float]]:
    """Yield corners of small adjacent triangles on a screen of 256 pixels."""
    for number in range(count):
        x, y = -1 + 2 * (4 + 6 * (number % 40)) / 256, -1 + 2 * (4 + 6 * (number // 40)) / 256
        for right, up in ((0, 0), (legs, 0), (0, legs)):
            yield x + 2 * right / 256, y + 2 * up / 256, 0.0, 1.0


# Bench of the claims: the probe scenes, each run once, with the log of their wires.


MOST_ATTRIBUTES = 12
"""Most attributes of a fragment program."""
_FEW = 64
"""Side in pixels of probes with a log of every wire."""
_SLOW = PAPER.with_values({"memory.read_latency": 100})
"""A slow memory, which fills the queues before it."""


class AttilaBench(Bench):
    """Runs of probe scenes, each executed once."""

    def small(self) -> tuple[SceneRun, WireLog]:
        """Return 400 small indexed triangles, which load the streamer and set-up."""
        points = np.array(list(corners(400, 2.0)))
        indices = [each for number in range(400) for each in (3 * number, 3 * number + 1, 3 * number + 2)]
        again = [each for number in range(0, 24, 3) for each in (number, number + 1, number + 2)] * 20
        return self._run("small", probe(points, indices=(*again, *indices)))

    def crowded(self) -> tuple[SceneRun, WireLog]:
        """Return sixty screens of long shading, which fill all queues before the shaders."""
        return self._run("crowded", probe(giants(60), size=_FEW // 2, fragment=reading(0, 30)), queues=True)

    def hidden(self) -> tuple[SceneRun, WireLog]:
        """Return two triangles that cover the screen, with a depth test, the nearest last, and a slow memory."""
        return self._run("hidden", probe(giants(2), size=2 * _FEW, state=DEPTH), _SLOW, queues=True)

    def covering(self) -> tuple[SceneRun, WireLog]:
        """Return four triangles that cover the screen, without a test."""
        return self._run("covering", probe(giants(4), size=_FEW))

    def interpolated(self, count: int) -> tuple[SceneRun, WireLog]:
        """Return a screen of a program that reads ``count`` attributes."""
        coordinates = np.ones((3, 4))
        scene = probe(giants(1), size=_FEW // 2, fragment=attributes(count), coordinates=coordinates)
        return self._run(f"{count} attributes", scene)

    def long(self) -> tuple[SceneRun, WireLog]:
        """Return a screen of a program of thirty instructions and one temporary register."""
        return self._run("long", probe(giants(2), size=_FEW, fragment=reading(0, 30)))

    def four_registers(self) -> tuple[SceneRun, WireLog]:
        """Return a screen of a program that has four temporaries."""
        program = (
            "!!ARBfp1.0\nTEMP a, b, c, d;\nMOV a, fragment.color;\nADD b, a, a;\nADD c, b, a;\nADD d, c, b;\n"
            + "MAD a, b, c, d;\nMAD b, a, c, d;\n" * 8
            + "MOV result.color, b;\nEND"
        )
        return self._run("four registers", probe(giants(2), size=_FEW, fragment=program))

    def opaque(self) -> tuple[SceneRun, WireLog]:
        """Return layers that are written without a test."""
        return self._run("opaque", probe(layers(2), size=2 * _FEW), queues=True)

    def blended(self) -> tuple[SceneRun, WireLog]:
        """Return layers that are blended, with a slow memory."""
        return self._run("blended", probe(layers(4), size=2 * _FEW, state=OVER), _SLOW, queues=True)

    def _run(
        self, name: str, scene: AttilaScene, config: AttilaConfig = PAPER, *, queues: bool = False
    ) -> tuple[SceneRun, WireLog]:
        return self.once(name, lambda: watched(scene, config, queues=queues), f"the probe {name}")
