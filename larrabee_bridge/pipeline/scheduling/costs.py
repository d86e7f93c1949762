"""From bins to work: cycles of triangles and of bin entries, summed up over PrimSets and bins.

The cycles may come from programs that ran (the rasterizer's for each triangle and tile, the back end's for each quad)
or from a formula; `formula_costs` is one, for where nothing was run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from larrabee_bridge.pipeline.coverage.binning import Bins
from larrabee_bridge.pipeline.coverage.quads import Quads
from larrabee_bridge.pipeline.scheduling.work import FrameWork
from pixelflow.simd.config.param import check_values, param
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.units import Standing

__all__ = ["FormulaCosts", "PairCosts", "bins_of", "entry_quads", "formula_costs", "frame_work", "primset_numbers"]


@dataclass(frozen=True, slots=True, eq=False)
class PairCosts:
    """Cycles of a core, int64 each: of each triangle, of each entry of a :class:`Bins` in its order, of each tile."""

    triangle: np.ndarray
    """Front end, once: vertices, set-up, clipping, and whatever of the rasterizer is done once a triangle."""
    front: np.ndarray
    """Front end, for each entry: rasterizing into the tile."""
    back: np.ndarray
    """Back end, for each entry: interpolants, quads, blending."""
    tile: np.ndarray
    """Back end, once for each tile that has entries: prefetch or clear, and the write."""


def frame_work(
    name: str,
    bins: Bins,
    costs: PairCosts,
    *,
    primset: int = 1000,
    draws: Sequence[int] = (0,),
    frame: int = 0,
    reads: tuple[str, ...] = (),
    writes: tuple[str, ...] = ("back buffer",),
) -> FrameWork:
    """Sum cycles up: PrimSets of at most ``primset`` triangles that do not cross a draw; bins that have entries.

    ``draws`` holds the first triangle of each draw. Raises InputError for costs that do not fit the bins.
    """
    wanted = (bins.entries, bins.entries, bins.columns * bins.rows)
    if (len(costs.front), len(costs.back), len(costs.tile)) != wanted:
        given = f"{len(costs.front)}, {len(costs.back)} and {len(costs.tile)}"
        message = f"{name}: {given} costs for {wanted[0]} entries, front and back, and {wanted[2]} tiles"
        raise InputError(Fault(message))
    numbers = primset_numbers(len(costs.triangle), primset, draws)
    front = np.zeros(int(numbers[-1]) + 1 if len(numbers) else 1, np.int64)
    np.add.at(front, numbers, costs.triangle)
    np.add.at(front, numbers[bins.triangles], costs.front)
    filled = np.diff(bins.starts) > 0
    back = costs.tile.astype(np.int64)
    np.add.at(back, np.repeat(np.arange(len(back)), np.diff(bins.starts).astype(np.intp)), costs.back)
    return FrameWork(name, front, back[filled] if filled.any() else back[:1], reads, writes, frame)


def primset_numbers(count: int, primset: int, draws: Sequence[int] = (0,)) -> np.ndarray:
    """Return the sequence id of each of ``count`` triangles' PrimSets: int64[triangle].

    ``draws`` holds the first triangle of each draw. Raises InputError for PrimSets of less than one triangle.
    """
    if primset < 1:
        raise InputError(Fault(f"PrimSets of {primset} triangles", hint="at least 1"))
    numbers = np.empty(count, np.int64)
    begun = 0
    for first, last in zip(draws, [*draws[1:], count], strict=True):
        numbers[first:last] = begun + np.arange(last - first) // primset
        begun += -(-(last - first) // primset)
    return numbers


def bins_of(quads: Sequence[Quads], width: int, height: int, tile: int = 64) -> tuple[Bins, Quads]:
    """Return the bins of draws from their quads, and the quads of all as one, triangles counted through all draws.

    ``quads`` hold them so already, draw after draw; each quad's triangle is in its tile's bin.
    """
    names = ("tile", "triangle", "x", "y", "masks")
    whole = Quads(*(np.concatenate([getattr(each, name) for each in quads]) for name in names)).ordered()
    columns, rows = -(-width // tile), -(-height // tile)
    new = np.ones(len(whole), bool)
    new[1:] = (np.diff(whole.tile) != 0) | (np.diff(whole.triangle) != 0)
    starts = np.searchsorted(whole.tile[new], np.arange(columns * rows + 1))
    return Bins(tile, columns, rows, starts, whole.triangle[new]), whole


def entry_quads(bins: Bins, quads: Quads, triangles: int) -> np.ndarray:
    """Return how many quads each bin entry has: int64[entry]; raises InputError where a quad has no entry."""
    place = np.repeat(np.arange(bins.columns * bins.rows), np.diff(bins.starts).astype(np.intp))
    keys = place * triangles + bins.triangles
    wanted = quads.tile * triangles + quads.triangle
    at = np.searchsorted(keys, wanted)
    if len(wanted) and (at.max() >= len(keys) or not np.array_equal(keys[at], wanted)):
        raise InputError(Fault("there are quads of triangles that are not in their tile's bin", hint="equal tiles?"))
    return np.bincount(at, minlength=len(keys))


def _guess(default: int, text: str) -> int:
    """Return a dataclass field for cycles that no source gives."""
    source = "no source gives it"
    return param(default, text, unit="cycles", source=source, standing=Standing.INVENTED, low=0, high=1000000)


@dataclass(frozen=True)
class FormulaCosts:
    """Cycles by formula, for studies without a program; nothing here was executed. Raises InputError out of ranges."""

    # fmt: off
    triangle_cycles: int = _guess(60, "front end: vertices, set-up and clipping of a triangle")
    pair_cycles: int = _guess(60, "front end: rasterizing a triangle into a tile, whatever it covers")
    mask_cycles: int = _guess(6, "front end: a quad's mask")
    entry_cycles: int = _guess(40, "back end: interpolants of a triangle in a tile")
    quad_cycles: int = _guess(150, "back end: depth test, shader and blending of a quad")
    tile_cycles: int = _guess(1000, "back end: clear and write of a tile")
    # fmt: on

    def __post_init__(self) -> None:
        check_values(self)


def formula_costs(bins: Bins, quads: Quads, triangles: int, config: FormulaCosts | None = None) -> PairCosts:
    """Return costs by formula: linear in triangles, entries, quads and tiles."""
    config = config or FormulaCosts()
    per_entry = entry_quads(bins, quads, triangles)
    return PairCosts(
        triangle=np.full(triangles, config.triangle_cycles, np.int64),
        front=config.pair_cycles + config.mask_cycles * per_entry,
        back=config.entry_cycles + config.quad_cycles * per_entry,
        tile=np.full(bins.columns * bins.rows, config.tile_cycles, np.int64),
    )
