"""Measures for claims about bytes: traffic of tiles, and of an immediate-mode renderer of the same frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from larrabee_bridge.claims.bench import CAMERAS, LARGE, LARGE_SHADOWED, Printed, SceneBench, even_mesh
from larrabee_bridge.pipeline.bins import quads_of
from larrabee_bridge.pipeline.traffic import (
    RenderTarget,
    TileSizes,
    Traffic,
    TrafficConfig,
    accesses_of,
    bin_contents,
    binned_traffic,
    corners_of,
    default_targets,
    immediate_traffic,
)
from pixelflow.evidence import Measured, Value, return_pages
from pixelflow.simd.drawing import Frame

_SCREEN = (300, 200)
"""Pixels, with tiles that end at the border."""
_TILE = 64
_SAMPLES = (1, 4)
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


# Bytes of whole frames (5.3, figure 12). Textures, targets and culling are in both renderers; bins and vertices of the
# binned one have bytes that are invented, so these are swept: from none of them to twice as many.


_SIZES = {"none": 0.0, "half": 0.5, "given": 1.0, "twice": 2.0}
"""How many times the invented bytes of bins and vertices are counted."""
TEXTURED = "meadow with textures"
_OPEN = ("tray", "swarm", TEXTURED, LARGE)
"""Scenes without shadow volumes, which fill the screen."""


class FrameBytes(NamedTuple):
    """Bytes of one frame in both renderers."""

    immediate: int
    binned: Mapping[str, int]
    """By the sizes of bins and vertices."""
    fast_clear: int
    """Of an immediate mode that knows cleared blocks."""
    depth_kept: int
    """Of tiles that write their depths as well."""

    @property
    def ratios(self) -> dict[str, float]:
        """Immediate over binned, by the sizes of bins and vertices."""
        return {size: round(self.immediate / count, 2) for size, count in self.binned.items()}


def bytes_of(frame: Frame) -> FrameBytes:
    """Count the bytes of a frame from its blocks of 4x4 pixels, in tiles of 64x64."""
    shape = frame.width, frame.height
    quads = tuple(quads_of(draw.triangles, *shape, _TILE, frame.samples) for draw in frame.draws)
    accesses = accesses_of(frame, _TILE, quads)
    tiles, contents = TileSizes.of(*shape, _TILE), bin_contents(quads, [len(draw.triangles) for draw in frame.draws])
    del quads  # of all draws
    targets = default_targets(frame.samples)
    given = binned_traffic(tiles, contents, targets, accesses=accesses, corners=corners_of(frame))
    invented = sum(way[name] for way in (given.read, given.written) for name in ("bins", "vertices"))
    depths = binned_traffic(tiles, contents, [targets[1]._replace(needed=True)]).written["depth"]
    return FrameBytes(
        immediate=immediate_traffic(accesses).total,
        binned={size: given.total + round((factor - 1) * invented) for size, factor in _SIZES.items()},
        fast_clear=immediate_traffic(accesses, TrafficConfig(fast_clear=True)).total,
        depth_kept=given.total + depths,
    )


Moved = dict[int, dict[str, FrameBytes]]
"""By samples a pixel and scene."""


def _moved(bench: SceneBench) -> Moved:
    def compute() -> Moved:
        found: Moved = {samples: {} for samples in _SAMPLES}
        for name in (*_OPEN, LARGE_SHADOWED):
            frame = bench.frame(name) if name in bench.scenes else bench.seen(name, CAMERAS[1]).frame
            for samples in _SAMPLES:
                found[samples][name] = bytes_of(replace(frame, samples=samples))
                return_pages()
        return found

    return bench.kept("bytes of frames", dict, compute)


def _swept(frames: Mapping[str, FrameBytes]) -> dict[str, float]:
    """Return the ratio of every frame at every size of bins and vertices."""
    return {f"{name}, {size}": ratio for name, each in frames.items() for size, ratio in each.ratios.items()}


def immediate_over_binned(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the bytes of frames both ways: without volumes at one sample and at four, with them at four."""
    moved = _moved(bench)
    lines, figures = [], dict[str, Value]()
    for samples, frames in moved.items():
        for name, each in frames.items():
            key = f"{name.replace(', ', '_').replace(' ', '_')}_{samples}"
            figures |= {f"{size}_{key}": ratio for size, ratio in each.ratios.items()}
            figures[f"fast_clear_{key}"] = round(each.fast_clear / each.binned["given"], 2)
            figures[f"depth_kept_{key}"] = round(each.immediate / each.depth_kept, 2)
            figures[f"immediate_{key}"] = each.immediate
        rows = (f"{name} {' '.join(f'{ratio:.2f}' for ratio in each.ratios.values())}" for name, each in frames.items())
        lines.append(f"{samples} sample{'s' * (samples > 1)}: {', '.join(rows)}")
    text = f"with {', '.join(_SIZES)} of the invented bytes of bins and vertices, {'; '.join(lines)}; where depths are"
    every = [each for frames in moved.values() for each in frames.values()]
    kept = [each.immediate / each.depth_kept for each in every]
    fast = [each.fast_clear / each.binned["given"] for each in every]
    text += f" kept {min(kept):.2f} to {max(kept):.2f}, against fast clears {min(fast):.2f} to {max(fast):.2f}"
    without = {samples: {name: frames[name] for name in _OPEN} for samples, frames in moved.items()}
    one, four = (_swept(without[samples]) for samples in _SAMPLES)
    volumes = _swept({LARGE_SHADOWED: moved[_SAMPLES[-1]][LARGE_SHADOWED]})
    return Measured(text, figures, {"one_sample": one, "four_samples": four, "volumes": volumes})


def binning_moves_less(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the direction alone: does immediate mode move more bytes than tiles?"""
    found = {f"{name}, {samples}": each.ratios["given"] for samples, frames in _moved(bench).items()
             for name, each in frames.items()}  # fmt: skip
    none = [each.ratios["none"] for frames in _moved(bench).values() for each in frames.values()]
    text = f"{sum(ratio > 1 for ratio in found.values())} of {len(found)} frames; without bytes of bins and vertices"
    text += f" {sum(ratio > 1 for ratio in none)}"
    return Measured(text, {"frames": len(found), "more": sum(ratio > 1 for ratio in found.values())}, {"more": found})


def gain_by_bytes(bench: SceneBench, printed: Printed) -> Measured:
    """Compare the frame of most bytes in immediate mode with the one that gains most, at every size of bins."""
    found = {}
    for samples, frames in _moved(bench).items():
        most = max(frames, key=lambda name: frames[name].immediate)
        for size in _SIZES:
            gains = {name: each.ratios[size] for name, each in frames.items()}
            found[f"{size}, {samples}"] = round(gains[most] / max(gains.values()), 2)
    kept = [name for name, share in found.items() if share == 1]
    text = f"{most} moves most bytes, and gains most in {len(kept)} of {len(found)} sizes of bins and samples"
    text += f" ({'; '.join(kept)})"
    return Measured(text, {"kept": len(kept)}, {"highest": found})
