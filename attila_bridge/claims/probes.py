"""Probes: scenes that are made to show one unit at work, and machines that tell what their wires carried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attila_bridge.run import AttilaRun, run_scene
from attila_bridge.scene.model import (
    AttilaScene,
    ClearValues,
    Compare,
    DepthState,
    DrawState,
    Factor,
    Filter,
    Primitive,
    SceneBuffer,
    SceneDraw,
    SceneTexture,
    Wrap,
)
from attila_bridge.time.config import AttilaConfig
from pixelflow.simd.observe import Bus, Carried

__all__ = ["DEPTH", "OVER", "WireLog", "corners", "giants", "layers", "probe", "reading", "texture", "watched"]

_VERTEX = "!!ARBvp1.0\nMOV result.position, vertex.position;\nMOV result.color, vertex.color;\n{more}END"
_COORDINATES = "MOV result.texcoord[0], vertex.texcoord[0];\n"
_FRAGMENT = "!!ARBfp1.0\nMOV result.color, fragment.color;\nEND"
DEPTH = DrawState(DepthState(Compare.LESS, write=True))
OVER = DrawState(blend=(Factor.SRC_ALPHA, Factor.ONE_MINUS_SRC_ALPHA))

Floats = NDArray[np.float64]


@dataclass(slots=True)
class WireLog:
    """What wires carried: amounts by wire and cycle, and latencies."""

    sent: dict[str, Counter[int]] = field(default_factory=dict)
    """By wire: cycle of sending, and how much."""
    arrived: dict[str, Counter[int]] = field(default_factory=dict)
    latencies: dict[str, set[int]] = field(default_factory=dict)

    def __call__(self, carried: Carried) -> None:
        """Note one transfer."""
        self.sent.setdefault(carried.wire, Counter())[carried.cycle] += carried.amount
        self.arrived.setdefault(carried.wire, Counter())[carried.arrives] += carried.amount
        self.latencies.setdefault(carried.wire, set()).add(carried.arrives - carried.cycle)

    def most(self, wire: str) -> int:
        """Return the most that a wire was given in one cycle."""
        return max(self.sent.get(wire, {0: 0}).values())

    def held(self, into: Sequence[str], out: Sequence[str], each: int = 1) -> int:
        """Return the most that lay between wires at once: what had arrived by ``into``, less what had been sent by
        ``out``, of which one takes ``each``."""
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


def watched(scene: AttilaScene, config: AttilaConfig) -> tuple[AttilaRun, WireLog]:
    """Run a scene and note what its wires carry."""
    bus, log = Bus(), WireLog()
    bus.subscribe(log, Carried)
    return run_scene(scene, config=config, bus=bus), log


def probe(
    positions: Floats,
    *,
    size: int = 256,
    state: DrawState = DrawState(),  # noqa: B008 - frozen
    fragment: str = _FRAGMENT,
    textures: Mapping[int, SceneTexture] | None = None,
    coordinates: Floats | None = None,
    indices: Sequence[int] | None = None,
) -> AttilaScene:
    """Return a scene of one draw of triangles: ``positions`` is [vertex, 4], white with half opacity."""
    count = len(positions)
    buffers = {
        "positions": SceneBuffer("positions", "vertex", positions.astype(np.float32)),
        "colours": SceneBuffer("colours", "vertex", np.full((count, 4), 0.5, np.float32)),
    }
    attributes = {"position": "positions", "color": "colours"}
    if coordinates is not None:
        buffers["coordinates"] = SceneBuffer("coordinates", "vertex", coordinates.astype(np.float32))
        attributes["texcoord0"] = "coordinates"
    if indices is not None:
        buffers["indices"] = SceneBuffer("indices", "index", np.array(indices, np.uint32))
    units = dict(textures or {})
    draw = SceneDraw(
        Primitive.TRIANGLES, count if indices is None else len(indices), attributes,
        None if indices is None else "indices", "vertices", "fragments",
        {unit: each.name for unit, each in units.items()}, state,
    )  # fmt: skip
    programs = {"vertices": _VERTEX.format(more=_COORDINATES if coordinates is not None else ""), "fragments": fragment}
    clear = ClearValues((0.0, 0.0, 0.0, 1.0), 1.0, None)
    known = {each.name: each for each in units.values()}
    return AttilaScene("probe", "", (size, size), clear, buffers, known, programs, (draw,))


def layers(count: int, *, nearest_first: bool = False) -> Floats:
    """Return the corners of full screens, two triangles each, behind each other."""
    square = np.array([(-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)], np.float64)
    depths = np.linspace(0.9, -0.9, count)
    rows = [np.column_stack([square, np.full(6, depth), np.ones(6)]) for depth in depths]
    return np.concatenate(rows[::-1] if nearest_first else rows)


def giants(count: int) -> Floats:
    """Return triangles that each cover the whole screen and more, the farthest first."""
    one = np.array([(-1, -1), (3, -1), (-1, 3)], np.float64)
    depths = np.linspace(0.9, -0.9, count)
    return np.concatenate([np.column_stack([one, np.full(3, depth), np.ones(3)]) for depth in depths])


def texture(side: int, *, levels: bool = False, anisotropy: int = 1, name: str = "texture") -> SceneTexture:
    """Return a square texture of a pattern that repeats in no line of the cache."""
    made = []
    while True:
        row, column = np.indices((side, side))
        words = row * 0x9E3779B1 + column * 0x85EBCA6B + len(made)
        made.append(np.stack([words >> shift & 255 for shift in (0, 8, 16, 24)], axis=-1).astype(np.uint8))
        if not levels or side == 1:
            break
        side //= 2
    least = Filter.LINEAR_MIPMAP_LINEAR if levels else Filter.LINEAR
    return SceneTexture(name, tuple(made), least, Filter.LINEAR, Wrap.REPEAT, anisotropy)


def reading(reads: int, instructions: int) -> str:
    """Return a program of ``instructions``, so many of which read the same texture at the same place."""
    lines = ["!!ARBfp1.0", f"TEMP {', '.join(f't{n}' for n in range(max(1, reads)))};", "TEMP s;"]
    lines += [f"TEX t{n}, fragment.texcoord[0], texture[0], 2D;" for n in range(reads)]
    sums = [f"ADD s, {'t0' if n == 1 else 's'}, t{n};" for n in range(1, reads)]
    sums = sums or ["MUL s, t0, fragment.color;" if reads else "MOV s, fragment.color;"]
    more = instructions - 1 - reads - len(sums)
    lines += sums + ["MAD s, s, fragment.color, s;"] * more
    return "\n".join([*lines, "MOV result.color, s;", "END"])


def corners(count: int, legs: float) -> Iterator[tuple[float, float, float, float]]:
    """Yield corners of small triangles side by side, in a screen of 256 pixels."""
    for number in range(count):
        x, y = -1 + 2 * (4 + 6 * (number % 40)) / 256, -1 + 2 * (4 + 6 * (number // 40)) / 256
        for right, up in ((0, 0), (legs, 0), (0, legs)):
            yield x + 2 * right / 256, y + 2 * up / 256, 0.0, 1.0
