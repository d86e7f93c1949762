"""Busy shares: what went through a unit, by a statistic that counts it, of what could have at its best rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attila_bridge.time.config import AttilaConfig

__all__ = ["BUSY", "CLIENTS", "INTERPOLATED", "BusyRate", "BusyShare", "shares"]

CLIENTS = {
    "CommandProcessor": "programs", "StreamerFetch": "indices", "StreamerLoader": "vertices", "TextureUnit": "textures",
    "ZStencilTest": "depth and stencil", "ColorWrite": "colour", "DAC": "display",
}  # fmt: skip
"""Kinds of clients of memory, as statistics name them, by what they move; uploads are not counted as traffic."""
INTERPOLATED = "InterpolatedFragments"
"""The statistic of the fragment FIFO that tells of the interpolator, which has none of its own."""


@dataclass(frozen=True, slots=True)
class BusyRate:
    """How a kind of unit is judged."""

    unit: str
    """Its suffix in names of statistics, without a number."""
    what: str
    """What is counted, in words."""
    statistic: str
    rate: Callable[[AttilaConfig], float]
    """The most that one unit can do in a cycle."""


@dataclass(frozen=True, slots=True)
class BusyShare:
    """How busy one unit was."""

    rate: BusyRate
    unit: str
    """Its suffix in names of statistics: `ShDX-FS0`."""
    share: float
    """0 to 1."""


def _one(config: AttilaConfig) -> float:
    return 1


def _quads(config: AttilaConfig) -> float:
    """Return the fragments of a cycle of traversal and hierarchical Z."""
    return 64 * config.traversal.steps


BUSY: tuple[BusyRate, ...] = (
    BusyRate("StF", "fetch, indices", "IndexesSent", lambda config: config.streamer.indices),
    BusyRate("StOC", "cache of vertices, indices", "Indices", lambda config: config.streamer.indices),
    BusyRate("SL0", "loader, attributes read", "Reads", lambda config: config.streamer.attributes),
    BusyRate("StC", "commit, vertices", "Outputs", lambda config: config.streamer.vertices),
    BusyRate("PA", "assembly, triangles", "Triangles", lambda config: config.assembly.triangles),
    BusyRate("CLP", "Clipper, triangles", "InputTriangles", lambda config: 1 / config.clipper.start),
    BusyRate("TS", "set-up, triangles", "InputTriangles", lambda config: 1 / config.setup.start),
    BusyRate("TT", "traversal, cycles", "UtilizationCycles", _one),
    BusyRate("HZ", "hierarchical Z, fragments", "InputFragments", _quads),
    BusyRate("FFU", "fragment FIFO, fragments out", "OutputFragments", lambda config: 4 * config.gpu.rops),
    BusyRate("FFU", "interpolator, fragments", INTERPOLATED, lambda config: 4 * config.gpu.rops),
    BusyRate("ShDX", "shaders, instructions", "ExecutedInstructions", lambda config: config.shader.thread_rate),
    BusyRate("TU", "texture filters, bilinear steps", "FilterALUBusyCycles", _one),
    BusyRate("TU", "texture addresses, bilinear steps", "AddressALUBusyCycles", _one),
    BusyRate("ZST", "depth units, quads", "OperatedFragments", lambda config: 1 / config.depth.alu_rate),
    BusyRate("CW", "colour units, quads", "OperatedFragments", lambda config: 1 / config.color.alu_rate),
)
"""Every kind of unit whose work a statistic counts, in the order of the pipeline."""


def shares(counts: Mapping[str, Mapping[str, int]], config: AttilaConfig, cycles: int) -> list[BusyShare]:
    """Return the share of ``cycles`` that each unit was busy; ``counts`` are those of units by their suffixes."""
    return [
        BusyShare(each, unit, counted[each.statistic] / each.rate(config) / max(1, cycles))
        for each in BUSY
        for unit, counted in sorted(counts.items())
        if unit.partition("-")[0] == each.unit
    ]
