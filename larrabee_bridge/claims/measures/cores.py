"""Measures for claims about many cores: the ring, fibers, scaling, balance of bins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from larrabee_bridge.claims.bench import Printed, SceneBench
from larrabee_bridge.claims.measures.scene_costs import PRIMSETS, costs_of
from larrabee_bridge.pipeline.scheduling import CORES, FrameWork, ScheduleConfig, balance_of, scaling_of
from larrabee_bridge.vpu.memory.fibers import fewest_fibers, run_fibers
from larrabee_bridge.vpu.memory.ring import RingConfig, RingMessage, RingNetwork
from pixelflow.evidence import Measured, Value

__all__ = ["FILLING", "SCENES", "VOLUMES", "scenes_of", "work_of"]

SCENES = ("herd", "fleet", "works", "anthill")
"""Composed scenes of many triangles, by name, which fill a part of the screen."""
FILLING = ("meadow", "swarm", "tray")
"""Scenes that fill the screen, where there are such."""
_FRAMES = 4
"""Frames after one another."""
VOLUMES = "shadow volumes"
"""Two-sided stencil volumes alone, which have no shader."""
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
    figures |= {f"stall_one_fewer_{latency}": round(share, 4) for latency, share in fewer.items()}
    return Measured(text, figures, {"stall": {f"{latency} clocks": round(each, 4) for latency, each in enough.items()}})


def scenes_of(bench: SceneBench) -> tuple[str, ...]:
    """Return the composed scenes that are looked at on a bench: all of the first kind, of the second those it has."""
    return (*SCENES, *(name for name in FILLING if name in bench.scenes))


def work_of(bench: SceneBench, name: str, primset: int = PRIMSETS[0]) -> FrameWork:
    """Return a frame of a scene in PrimSets of a size."""
    return costs_of(bench, name).works[primset]


def _executed(bench: SceneBench) -> str:
    tiles = sum(costs_of(bench, name).executed for name in scenes_of(bench))
    return f"all {tiles:,} tiles executed"


def _short_of_linear(bench: SceneBench) -> dict[tuple[str, int, int], float]:
    """Return by which share the most cores fall short of linear, relative to the fewest.

    For each scene, size of PrimSets, and frames after one another.
    """

    def compute() -> dict[tuple[str, int, int], float]:
        found = {}
        for name in scenes_of(bench):
            for primset in PRIMSETS:
                work = work_of(bench, name, primset)
                for frames in (1, _FRAMES):
                    works = [replace(work, frame=number) for number in range(frames)]
                    found[name, primset, frames] = scaling_of(works, ScheduleConfig(), CORES).below_linear[-1]
        return found

    return bench.once("short of linear", compute)


def _span(values: list[float]) -> str:
    return f"{min(values):.1%} to {max(values):.1%}"


def _below(bench: SceneBench, primset: int) -> dict[str, float]:
    """Return the share that is missing of each scene, with frames that overlap and alone."""
    found = _short_of_linear(bench)
    return {
        f"{name}{what}": round(found[name, primset, frames], 4)
        for frames, what in ((_FRAMES, ""), (1, ", alone"))
        for name in scenes_of(bench)
    }


def scaling_of_cores(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule frames of composed scenes on 8 to 48 cores, with frames that overlap and alone."""
    below = _below(bench, PRIMSETS[0])
    overlapped = ", ".join(f"{name} {below[name]:.1%}" for name in scenes_of(bench))
    alone = _span([below[f"{name}, alone"] for name in scenes_of(bench)])
    text = f"{CORES[0]} to {CORES[-1]} cores, {_FRAMES} frames that overlap: {overlapped} below, {alone} where a frame"
    text += f" is alone; {_executed(bench)}"
    return Measured(text, {_key(name): value for name, value in below.items()}, {"below": below})


def _key(name: str) -> str:
    return name.replace(", ", "_") if ", " in name else f"{name}_overlapped"


def scaling_of_primsets(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule the same with both sizes of PrimSets."""
    found, scenes = _short_of_linear(bench), scenes_of(bench)
    parts, figures = [], {}
    for frames, what in ((_FRAMES, "overlapped"), (1, "alone")):
        means = [float(np.mean([found[name, primset, frames] for name in scenes])) for primset in PRIMSETS]
        parts.append(f"{means[0]:.1%} and {means[1]:.1%} {what}")
        figures |= {f"{what}_{primset}": round(mean, 4) for primset, mean in zip(PRIMSETS, means, strict=True)}
    large, small = (_below(bench, primset) for primset in PRIMSETS)
    better = sum(small[name] <= large[name] for name in scenes)
    text = f"in the mean of the scenes, PrimSets of {PRIMSETS[0]:,} and {PRIMSETS[1]}: {', '.join(parts)};"
    text += f" not worse in {better} of {len(scenes)} scenes"
    return Measured(text, figures | {"not_worse": better}, {"below": small})


def balance_of_bins(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the bins of composed scenes with their mean."""
    scenes = scenes_of(bench)
    # Boxes put triangles into bins in which they cover nothing: a core has nothing to do there.
    bins = {name: work_of(bench, name).back for name in scenes}
    found = {name: balance_of([each[each > 0]]) for name, each in bins.items()}
    text = "bins from 0.5x to 2x the mean: " + ", ".join(f"{name} {each.within:.0%}" for name, each in found.items())
    text += f"; above 3x {_span([each.above for each in found.values()])},"
    text += f" the longest {max(each.greatest for each in found.values()):.1f}x"
    filling = [name for name in scenes if name in FILLING]
    text += f"; of these {', '.join(filling)} {'fill' if len(filling) > 1 else 'fills'} the screen" if filling else ""
    within = {name: round(each.within, 4) for name, each in found.items()}
    above = {name: round(each.above, 4) for name, each in found.items()}
    figures: dict[str, Value] = {f"within_{name}": value for name, value in within.items()}
    figures |= {f"above_{name}": value for name, value in above.items()}
    figures |= {f"greatest_{name}": round(each.greatest, 2) for name, each in found.items()}
    return Measured(f"{text}; {_executed(bench)}", figures, {"most": within, "few": above})


def units_of_scenes(bench: SceneBench, printed: Printed) -> Measured:
    """Add up the cycles of composed scenes: cores at 1 GHz that draw them 60 times a second."""
    works = {name: work_of(bench, name) for name in scenes_of(bench)}
    units = {name: round(work.cycles * _FRAMES_A_SECOND / _UNIT_HERTZ, 3) for name, work in works.items()}
    text = "our scenes need " + ", ".join(f"{name} {count:.1f}" for name, count in units.items()) + " units"
    figures: dict[str, Value] = {f"units_{name}": count for name, count in units.items()}
    return Measured(f"{text}; {_executed(bench)}", figures, {"units": units})


def locks_of_scenes(bench: SceneBench, printed: Printed) -> Measured:
    """Count the locks of composed scenes; multiply the printed ones, and divide by the clocks of a frame."""
    clocks = printed["locks"] * printed["clocks"]
    shares = {name: clocks / (printed[name] * 1e9 / printed["frames"]) for name in ("units", "fewer_units")}
    taken = {name: work_of(bench, name).locks for name in scenes_of(bench)}
    text = f"our scenes take {min(taken.values()):,} to {max(taken.values()):,} locks a frame; as printed"
    text += f" {clocks:,.0f} clocks: {shares['units']:.2%} of a frame on {printed['units']} units,"
    text += f" {shares['fewer_units']:.1%} on {printed['fewer_units']}"
    figures = {"all_clocks": clocks, "share": shares["units"], "share_fewer": shares["fewer_units"]}
    each = {"clocks": ScheduleConfig().lock_cycles, **{f"locks_{name}": count for name, count in taken.items()}}
    return Measured(text, figures | each, {"locks": taken})


def shares_of_stages(bench: SceneBench, printed: Printed) -> Measured:
    """Return the rasterizer's share of composed scenes, and of shadow volumes, all under one shader."""
    plain = {name: round(costs_of(bench, name).raster_share, 4) for name in scenes_of(bench)}
    volumes = {VOLUMES: round(costs_of(bench, VOLUMES).raster_share, 4)}
    text = "rasterizer: " + ", ".join(f"{name} {share:.1%}" for name, share in {**plain, **volumes}.items())
    figures: dict[str, Value] = {f"share_{name.replace(' ', '_')}": share for name, share in (plain | volumes).items()}
    return Measured(text, figures, {"games": plain, "volumes": volumes})
