"""How fast Larrabee's rasterizer is simulated: small triangles at random places, binned and rasterized with cycles."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

from pixelflow.cli.bench_streams import spread, told_rounds
from pixelflow.cli.screen import Column, Screen, number

__all__ = ["rasterizing", "show_rasterizing"]

_TRIANGLES = 100_000
_AREA = 7.0
"""Pixels of a triangle: what the front of a mesh of 100,000 triangles has on a screen of this size."""
_SCREEN = (1600, 1200)
_TILE = 64
_SEED = 2008


def rasterizing(rounds: int, note: Callable[[str], None]) -> dict[str, Any]:
    """Return times of binning and rasterizing 100,000 triangles, and what the model counted."""
    from larrabee_bridge.binning import bin_triangles
    from larrabee_bridge.rasterizer import rasterize

    triangles = _triangles()
    times: dict[str, list[float]] = {"binning": [], "rasterizing": [], "total": [], "total_of_the_process": []}
    rasterize(triangles.part([0]), *_SCREEN, tile=_TILE)  # its programs are assembled once
    for _ in told_rounds(rounds, note):
        started, busy = perf_counter(), process_time()
        bins = bin_triangles(triangles, *_SCREEN, _TILE)
        binned = perf_counter()
        found = rasterize(triangles, *_SCREEN, tile=_TILE, bins=bins)
        ended = perf_counter()
        for name, seconds in (
            ("binning", binned - started),
            ("rasterizing", ended - binned),
            ("total", ended - started),
            ("total_of_the_process", process_time() - busy),
        ):
            times[name].append(seconds)
    return {
        "triangles": len(triangles),
        "pixels_per_triangle": _AREA,
        "screen": list(_SCREEN),
        "tile": _TILE,
        "seed": _SEED,
        "seconds": {name: spread(each) for name, each in times.items()},
        "pairs": found.pairs,
        "blocks": len(found.blocks),
        "set_up_cycles_per_triangle": int(found.set_up.cycles.sum()) / len(triangles),
        "cycles_per_pair": float(found.descent.cycles.mean()),
        "vector_share": found.vector_share,
    }


def _triangles() -> Any:
    """Return equilateral triangles of one size, turned and placed at random."""
    import numpy as np

    from pixelflow.simd.drawing import snap

    rng = np.random.default_rng(_SEED)
    angles = rng.uniform(0, 2 * np.pi, (_TRIANGLES, 1)) + np.arange(3) * 2 * np.pi / 3
    radius = np.sqrt(4 * _AREA / (3 * np.sqrt(3)))
    centres = rng.uniform(0, 1, (_TRIANGLES, 1, 2)) * _SCREEN
    corners = centres + radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return snap(corners, np.full((_TRIANGLES, 3), 0.5), np.zeros((_TRIANGLES, 3, 3), np.uint8))


def show_rasterizing(screen: Screen, found: dict[str, Any]) -> None:
    """Print the times, triangles a second, and what the model counted."""
    width, height = found["screen"]
    screen.text(
        f"{number(found['triangles'])} triangles of {found['pixels_per_triangle']:g} pixels on {width}x{height}, "
        f"tiles of {found['tile']}: {number(found['pairs'])} pairs, {number(found['blocks'])} blocks"
    )
    screen.table(
        [Column("what", fixed=True), *(Column(name, numbers=True) for name in ("s [min..max]", "triangles/s"))],
        [
            (
                name.replace("_", " "),
                f"{each['median']:.2f} [{each['min']:.2f}..{each['max']:.2f}]",
                number(round(found["triangles"] / each["median"])),
            )
            for name, each in found["seconds"].items()
        ],
    )
    screen.text(
        f"Modelled, each thread alone on a core: set-up {found['set_up_cycles_per_triangle']:.1f} cycles a triangle, "
        f"descent {found['cycles_per_pair']:.1f} cycles a pair, {found['vector_share']:.1%} vector instructions."
    )
