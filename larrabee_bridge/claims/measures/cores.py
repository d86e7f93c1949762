"""Measures for claims about many cores: the ring, fibers, scaling, balance of bins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from larrabee_bridge.claims.bench import Printed, SceneBench
from larrabee_bridge.claims.measures.scene_costs import costs_of
from larrabee_bridge.pipeline.scheduling import CORES, FrameWork, ScheduleConfig, balance_of, scaling_of
from larrabee_bridge.vpu.memory.fibers import fewest_fibers, run_fibers
from larrabee_bridge.vpu.memory.ring import RingConfig, RingMessage, RingNetwork
from pixelflow.evidence import Measured

__all__ = ["FILLING", "SCENES", "scenes_of", "work_of"]

SCENES = ("herd", "fleet", "works", "anthill")
"""Composed scenes of many triangles, by name, which fill a part of the screen."""
FILLING = ("meadow", "swarm", "tray")
"""Scenes that fill the screen, where there are such."""
_FRAMES = 4
"""Frames after one another."""
_TILES = (64, 128)
_PRIMSETS = (1000, 200)
_FRAMES_A_SECOND, _UNIT_HERTZ = 60, 10**9
_STRETCH = 60
"""Cycles from one texture access of the stated shader to the next."""
_ACCESSES = 4
_LATENCIES = (100, 200, 400, 800)


def ring_rules(bench: SceneBench, printed: Printed) -> Measured:
    """Send random messages between many cores; count who was accepted when, and who waited on the way."""
    config = RingConfig()
    cores = max(CORES)
    network = RingNetwork(cores, config)
    rng = np.random.default_rng(5)
    pairs = [rng.choice(cores, 2, replace=False).tolist() for _ in range(400)]
    messages = [RingMessage(source, to, clock) for clock, (source, to) in enumerate(pairs)]
    rides = [ride for each in network.run(messages) for ride in each.rides]
    late = sum(ride.accepted - ride.put != ride.leg.hops * config.hop_clocks for ride in rides)
    wrong = sum(ride.accepted % 2 != ride.leg.direction for ride in rides)
    bits = 8 * config.width_bytes
    text = f"{bits} bits, {config.agents_of_a_ring} cores a ring, {network.rings} rings for {cores} cores;"
    text += f" {len(rides):,} rides: {late} held up on a ring, {wrong} accepted in the other direction's clock"
    figures = {"bits": bits, "most_cores_on_a_ring": config.agents_of_a_ring, "rings": network.rings}
    return Measured(text, figures | {"rides": len(rides), "held_up": late, "wrong_clock": wrong})


def fibers_needed(bench: SceneBench, printed: Printed) -> Measured:
    """Find the fewest fibers of a stated shader by formula; run them, and one fewer."""
    qquad = (_STRETCH,) * (_ACCESSES + 1)
    found, enough, fewer = {}, {}, {}
    for latency in _LATENCIES:
        found[latency] = count = fewest_fibers(_STRETCH, latency)
        for shares, fibers in ((enough, count), (fewer, count - 1)):
            shares[latency] = run_fibers([qquad] * 64 * count, fibers, latency).stall_share
    counts = ", ".join(f"{count} for {latency} clocks" for latency, count in found.items())
    text = f"fibers, with an access every {_STRETCH} cycles: {counts}; run, they wait for at most"
    text += f" {max(enough.values()):.1%} of the cycles, with one fewer for {min(fewer.values()):.1%} or more"
    figures = {f"fibers_{latency}": count for latency, count in found.items()}
    figures |= {f"stall_{latency}": round(share, 4) for latency, share in enough.items()}
    return Measured(text, figures | {f"stall_one_fewer_{latency}": round(share, 4) for latency, share in fewer.items()})


def scenes_of(bench: SceneBench) -> tuple[str, ...]:
    """Return the composed scenes that are looked at on a bench: all of the first kind, of the second those it has."""
    return (*SCENES, *(name for name in FILLING if name in bench.scenes))


def _at(bench: SceneBench, tile: int) -> tuple[str, ...]:
    """Return the scenes that are looked at with tiles of a size: with large ones only the first, to save time."""
    return scenes_of(bench) if tile == _TILES[0] else SCENES


def work_of(bench: SceneBench, name: str, tile: int, primset: int) -> FrameWork:
    """Return a frame of a scene, in tiles and PrimSets of these sizes."""
    return costs_of(bench, name, tile).work(name, primset)


def _missed(bench: SceneBench, *tiles: int) -> str:
    """Return how far fitted tiles are from those that were executed."""
    parts = []
    for tile in tiles:
        found = [costs_of(bench, name, tile) for name in _at(bench, tile)]
        executed = sum(len(each.executed) for each in found)
        parts.append(f"{executed} tiles of {tile}x{tile} executed, others fitted with a residual of")
        parts[-1] += f" {_span([each.residual for each in found])}"
    return "; ".join(parts)


def _short_of_linear(bench: SceneBench) -> dict[tuple[str, int, int, int], float]:
    """Return by which share the most cores fall short of linear, relative to the fewest.

    For each scene, tile, size of PrimSets, and frames after one another.
    """

    def compute() -> dict[tuple[str, int, int, int], float]:
        found = {}
        for tile in _TILES:
            for name in _at(bench, tile):
                for primset in _PRIMSETS:
                    work = work_of(bench, name, tile, primset)
                    for frames in (1, _FRAMES):
                        works = [replace(work, frame=number) for number in range(frames)]
                        scaling = scaling_of(works, ScheduleConfig(), CORES)
                        found[name, tile, primset, frames] = scaling.below_linear[-1]
        return found

    return bench.once("short of linear", compute)


def _span(values: list[float]) -> str:
    return f"{min(values):.1%} to {max(values):.1%}"


def scaling_of_cores(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule frames of composed scenes on 8 to 48 cores, with frames that overlap and alone."""
    found = _short_of_linear(bench)
    parts = []
    for tile in _TILES:
        scenes = _at(bench, tile)
        overlapped = ", ".join(f"{name} {found[name, tile, _PRIMSETS[0], _FRAMES]:.1%}" for name in scenes)
        alone = _span([found[name, tile, _PRIMSETS[0], 1] for name in scenes])
        parts.append(f"{tile}x{tile} tiles: {overlapped} below, {alone} where a frame is alone")
    text = f"{CORES[0]} to {CORES[-1]} cores, {_FRAMES} frames that overlap; {'; '.join(parts)}; "
    figures = {
        f"{name}_{tile}_{'overlapped' if frames > 1 else 'alone'}": round(below, 4)
        for (name, tile, primset, frames), below in found.items()
        if primset == _PRIMSETS[0]
    }
    figures |= {
        f"residual_{name}_{tile}": round(costs_of(bench, name, tile).residual, 4)
        for tile in _TILES
        for name in _at(bench, tile)
    }
    return Measured(text + _missed(bench, *_TILES), figures)


def scaling_of_primsets(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule the same with both sizes of PrimSets."""
    found, scenes = _short_of_linear(bench), scenes_of(bench)
    parts, figures = [], {}
    for frames, what in ((_FRAMES, "overlapped"), (1, "alone")):
        means = [float(np.mean([found[name, _TILES[0], primset, frames] for name in scenes])) for primset in _PRIMSETS]
        parts.append(f"{means[0]:.1%} and {means[1]:.1%} {what}")
        figures |= {f"{what}_{primset}": round(mean, 4) for primset, mean in zip(_PRIMSETS, means, strict=True)}
    better = sum(
        found[name, _TILES[0], _PRIMSETS[1], _FRAMES] <= found[name, _TILES[0], _PRIMSETS[0], _FRAMES]
        for name in scenes
    )
    text = f"in the mean of the scenes, PrimSets of {_PRIMSETS[0]:,} and {_PRIMSETS[1]}: {', '.join(parts)};"
    text += f" not worse in {better} of {len(scenes)} scenes"
    return Measured(text, figures | {"not_worse": better})


def balance_of_bins(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the bins of composed scenes with their mean."""
    scenes = scenes_of(bench)
    found = {name: balance_of([work_of(bench, name, _TILES[0], _PRIMSETS[0]).back]) for name in scenes}
    text = "bins from 0.5x to 2x the mean: " + ", ".join(f"{name} {each.within:.0%}" for name, each in found.items())
    text += f"; above 3x {_span([each.above for each in found.values()])},"
    text += f" the longest {max(each.greatest for each in found.values()):.1f}x"
    filling = [name for name in scenes if name in FILLING]
    text += f"; of these {', '.join(filling)} {'fill' if len(filling) > 1 else 'fills'} the screen" if filling else ""
    figures = {f"within_{name}": round(each.within, 4) for name, each in found.items()}
    figures |= {f"above_{name}": round(each.above, 4) for name, each in found.items()}
    figures |= {f"greatest_{name}": round(each.greatest, 2) for name, each in found.items()}
    return Measured(f"{text}; {_missed(bench, _TILES[0])}", figures)


def units_of_scenes(bench: SceneBench, printed: Printed) -> Measured:
    """Add up the cycles of composed scenes: cores at 1 GHz that draw them 60 times a second."""
    works = {name: work_of(bench, name, _TILES[0], _PRIMSETS[0]) for name in scenes_of(bench)}
    units = {name: work.cycles * _FRAMES_A_SECOND / _UNIT_HERTZ for name, work in works.items()}
    text = "our scenes need " + ", ".join(f"{name} {count:.1f}" for name, count in units.items()) + " units"
    return Measured(f"{text}; {_missed(bench, _TILES[0])}", {f"units_{name}": round(u, 3) for name, u in units.items()})
