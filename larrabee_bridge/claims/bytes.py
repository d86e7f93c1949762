"""Measures for claims about bytes: traffic of tiles, and of an immediate-mode renderer of the same frames."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from larrabee_bridge.claims.bench import Printed, SceneBench, even_mesh
from larrabee_bridge.pipeline.bins import quads_of
from larrabee_bridge.pipeline.rasterizer import rasterize
from larrabee_bridge.pipeline.traffic import (
    BLOCK,
    BinContents,
    RenderTarget,
    TileSizes,
    Traffic,
    TrafficConfig,
    bin_contents,
    binned_traffic,
    corners_of,
    default_targets,
    expected_ratio,
    harmonic,
    immediate_traffic,
    layer_accesses,
    random_layers,
)
from pixelflow.evidence import Measured, Value
from pixelflow.simd.drawing import Draw, Frame

_SCREEN = (300, 200)
"""Pixels, with tiles that end at the border."""
_TILE = 64
_DEPTHS = (2, 4, 16)
_SAMPLES = (1, 4)
_LAYERED = (1600, 1200)
"""Pixels of the paper's screen."""
_AREA = 800
"""Pixels of the triangles of a layer."""
_SAMPLE_BYTES = 4


def bytes_of_tiles(bench: SceneBench, printed: Printed) -> Measured:
    """Count bytes of a screen that is covered three times, with and without what saves some."""
    pixels = _SCREEN[0] * _SCREEN[1]
    triangles = even_mesh(*_SCREEN, 700, layers=3)

    def moved(samples: int, *, cleared: bool, needed: bool, resolved: bool = False) -> dict[str, float]:
        quads = quads_of(triangles, *_SCREEN, _TILE, samples)
        targets = (
            RenderTarget("colour", cleared=cleared, resolved=resolved),
            RenderTarget("depth", cleared=cleared, needed=needed),
        )
        found: Traffic = binned_traffic(TileSizes.of(*_SCREEN, _TILE), bin_contents([quads]), targets)
        each = pixels * _SAMPLE_BYTES
        return {
            f"{way}_{name}": values[name] / each
            for way, values in (("read", found.read), ("written", found.written))
            for name in ("colour", "depth")
        }

    plain = moved(1, cleared=False, needed=True)
    saving = moved(1, cleared=True, needed=False)
    four = moved(4, cleared=True, needed=False, resolved=True)
    text = f"a screen covered 3 times: each of its {pixels:,} pixels read {plain['read_colour']:g} and written"
    text += f" {plain['written_colour']:g} time; cleared, read {saving['read_colour']:g}; depth that is not needed,"
    text += f" written {saving['written_depth']:g}; four samples resolved, {four['written_colour']:g} colour written"
    figures = {f"plain_{name}": value for name, value in plain.items()}
    figures |= {f"saving_{name}": value for name, value in saving.items()}
    return Measured(text, figures | {f"four_{name}": value for name, value in four.items()})


_VARIANTS = ("targets", "half", "with bins", "twice", "depth kept", "fast clear")
"""Colours and depths alone; with bins and vertices of half the invented bytes, of these bytes, and of twice as many.
Then "with bins" with depths written by tiles, and against an immediate mode that knows cleared blocks."""
_SIZES = ("targets", "half", "with bins", "twice")
"""Those that differ in the invented bytes only, starting with none."""

_INVENTED = ("entry_bytes", "position_bytes", "mask_bytes", "vertex_bytes")

Ratios = dict[tuple[str, int, int], float]
"""Bytes of immediate mode over those of tiles, by variant, layers and samples."""


def _ratios(bench: SceneBench) -> Ratios:
    return bench.once("immediate over binned", _compute_ratios)


def _compute_ratios() -> Ratios:
    found = {}
    width, height = _LAYERED
    mesh = even_mesh(width, height, _AREA)
    corners = corners_of(Frame(width, height, (0, 0, 0), (Draw("layer", mesh),)))
    sizes = TileSizes.of(width, height, _TILE)
    for samples in _SAMPLES:
        if samples == 1:
            quads = quads_of(mesh, width, height, _TILE)
        else:
            quads = rasterize(mesh, width, height, tile=_TILE, samples=samples).quads()
        layer = bin_contents([quads])
        for depth in _DEPTHS:
            accesses = layer_accesses(random_layers(width * height // BLOCK, depth, seed=depth), samples)
            plain, fast = (immediate_traffic(accesses, TrafficConfig(fast_clear=fast)) for fast in (False, True))
            contents = _stacked(layer, depth, len(mesh))
            shared = np.concatenate([corners + number * (corners.max() + 1) for number in range(depth)])
            needed = replace(default_targets(samples)[1], needed=True)
            half, binned, twice = (
                binned_traffic(sizes, contents, default_targets(samples), corners=shared, config=_sized(factor))
                for factor in (0.5, 1, 2)
            )
            kept = binned_traffic(sizes, contents, (default_targets(samples)[0], needed), corners=shared)
            pairs = (
                (plain.targets, binned.targets),
                (plain.total, half.total),
                (plain.total, binned.total),
                (plain.total, twice.total),
                (plain.total, kept.total),
                (fast.total, binned.total),
            )
            for name, (immediate, tiles) in zip(_VARIANTS, pairs, strict=True):
                found[name, depth, samples] = immediate / tiles
    return found


def _sized(factor: float) -> TrafficConfig:
    """Return the configuration whose invented sizes are this many times as large."""
    usual = TrafficConfig()
    return replace(usual, **{name: round(factor * getattr(usual, name)) for name in _INVENTED})


def _stacked(layer: BinContents, depth: int, triangles: int) -> BinContents:
    """Return the contents of bins with this many layers of one mesh, each with separate triangles."""
    entries = np.concatenate([layer.entries + np.array([0, triangles * number]) for number in range(depth)])
    return replace(
        layer,
        entries=entries,
        full_16=depth * layer.full_16,
        full_4=depth * layer.full_4,
        partial_4=depth * layer.partial_4,
    )


def _row(found: Ratios, variant: str, samples: int) -> str:
    return ", ".join(f"{found[variant, depth, samples]:.2f}" for depth in _DEPTHS)


def immediate_over_binned(bench: SceneBench, printed: Printed) -> Measured:
    """Count bytes of layers in random order, both ways."""
    found = _ratios(bench)
    lines = []
    for samples in _SAMPLES:
        closed = ", ".join(f"{float(expected_ratio(depth, samples)):.2f}" for depth in _DEPTHS)
        lines.append(f"{samples} sample{'s' * (samples > 1)}: {_row(found, 'targets', samples)}, targets alone")
        lines[-1] += f" (closed form without reuse: {closed}); {_row(found, 'with bins', samples)} with bins and"
        lines[-1] += f" vertices ({_row(found, 'half', samples)} of half the bytes, {_row(found, 'twice', samples)} of"
        lines[-1] += f" twice), {_row(found, 'depth kept', samples)} where depths are kept as well,"
        lines[-1] += f" {_row(found, 'fast clear', samples)} with bins and against fast clears"
    text = f"{', '.join(map(str, _DEPTHS))} layers at {'; '.join(lines)}"
    names = {
        "targets": "ratio",
        "half": "half",
        "with bins": "with_bins",
        "twice": "twice",
        "depth kept": "depth_kept",
        "fast clear": "fast_clear",
    }
    figures: dict[str, float] = {
        f"{names[variant]}_{depth}_{samples}": round(value, 4) for (variant, depth, samples), value in found.items()
    }
    figures |= {f"harmonic_{depth}": round(float(harmonic(depth)), 4) for depth in _DEPTHS}
    for depth in _DEPTHS:
        for samples in _SAMPLES:
            expected = expected_ratio(depth, samples, blocks=_LAYERED[0] * _LAYERED[1] // BLOCK)
            figures[f"expected_{depth}_{samples}"] = round(float(expected), 4)
    every = {
        f"{variant}, {depth} layers, {samples}": round(value, 4) for (variant, depth, samples), value in found.items()
    }
    return Measured(text, figures, {"ratio": every})


def ratio_by_depth(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the same ratios by number of layers, with the bytes of bins and vertices, which grow as well."""
    found = _ratios(bench)
    figures: dict[str, Value] = {}
    parts = []
    grows = {}
    for samples in _SAMPLES:
        for variant in _SIZES:
            row = [found[variant, depth, samples] for depth in _DEPTHS]
            grows[f"{variant}, {samples}"] = int(all(low < high for low, high in pairwise(row)))
        row = [found["with bins", depth, samples] for depth in _DEPTHS]
        figures[f"monotone_{samples}"] = bool(grows[f"with bins, {samples}"])
        figures[f"most_at_{samples}"] = most = _DEPTHS[row.index(max(row))]
        parts.append(f"{samples} sample{'s' * (samples > 1)} {_row(found, 'with bins', samples)}")
        parts[-1] += ", which grows throughout" if figures[f"monotone_{samples}"] else f", most at {most} layers"
    kept = [name for name, each in grows.items() if each]
    text = (
        f"{', '.join(map(str, _DEPTHS))} layers, with bins and vertices: {'; '.join(parts)}; over bytes of these from"
    )
    text += f" none to twice as many it grows throughout in {len(kept)} of {len(grows)}: {'; '.join(kept) or 'none'}"
    return Measured(text, figures, {"grows": grows})
