"""Fog between layers that come in any order (6.2): panes of glass that cross each other, and all of it in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.study import KernelResult
from larrabee_bridge.kernels.transparency import back_end_run
from larrabee_bridge.pipeline.back_end import LayerFog, render_back_end
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.simd.drawing import FAR, Blend, Draw, Frame, State, draw_frame, snap

_SIZE = 384, 256
_PANES = 24
_TILE = 32
_OPAQUE = State()
_GLASS = State(blend=Blend.SORTED, alpha=90, depth_write=False)
_FULL = 255
_EDGE = 0.02
"""How far panes stay from the nearest depth and the farthest."""


def _quad(name: str, corners: NDArray[np.float64], depths: NDArray[np.float64], colour: object, state: State) -> Draw:
    """Return two triangles of one colour: corners float64[4, xy] in turn, depths float64[4]."""
    order = [[0, 1, 2], [0, 2, 3]]
    colours = np.broadcast_to(np.asarray(colour, np.uint8), (2, 3, 3))
    return Draw(name, snap(corners[order], depths[order], colours), state)


def crossing_panes(count: int = _PANES, width: int = _SIZE[0], height: int = _SIZE[1], seed: int = 6) -> Frame:
    """Return panes of glass that cross each other and a wall that leans back, each pane a draw of its own."""
    rng = np.random.default_rng(seed)
    scale = np.array([width, height], float)
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
    wall = _quad("wall", (0.1 + 0.8 * square) * scale, np.array([0.6, 0.95, 0.95, 0.6]), (30, 50, 90), _OPAQUE)
    panes = []
    for number in range(count):
        low, size = rng.uniform(-0.1, 0.6, 2), rng.uniform(0.3, 0.9, 2)
        corners = np.clip(low + size * square, 0, 1)
        slope, middle = rng.uniform(-0.4, 0.4, 2), rng.uniform(0.3, 0.7)
        tilt = (corners - corners.mean(axis=0)) @ slope
        room = min(middle, 1 - middle) - _EDGE
        depths = middle + tilt * min(1.0, room / np.abs(tilt).max())
        panes.append(
            _quad(
                f"pane {number}",
                corners * scale,
                depths,
                rng.permuted(np.array((20, rng.integers(60, 200), 250))),
                _GLASS,
            )
        )
    return Frame(width, height, (235, 235, 240), (wall, *panes))


def exact_fog(frame: Frame, fog: LayerFog) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return colours of sorted layers with fog between them, in float64, and how far off bytes may be at most.

    float64[row, column, rgb] and float64[row, column]. Each sorted draw covers a pixel once; what it covers and how far
    it is comes from drawing it alone. A step that leaves the share t of a colour leaves t of its error, and adds half a
    step for rounding; one through fog adds 255 times what its share is off by, which is half of 1/255 for being a
    byte, and what `LayerFog.error` says.
    """
    solid = draw_frame(
        replace(frame, draws=tuple(each for each in frame.draws if each.state.blend is not Blend.SORTED))
    )
    panes = [each for each in frame.draws if each.state.blend is Blend.SORTED]
    alone = [draw_frame(replace(frame, draws=(replace(each, state=_OPAQUE),))) for each in panes]
    depths = np.array([each.depths for each in alone])
    depths[depths >= solid.depths] = -1
    colours = np.array([each.colours for each in alone], float)
    order = np.argsort(-depths, axis=0, kind="stable")
    colour, error, depth = solid.colours.astype(float), np.zeros(solid.depths.shape), solid.depths
    half, dim = 0.5, np.asarray(fog.colour, float)
    off = 0.5 + _FULL * fog.error
    for place in range(len(panes)):
        which = order[place]
        there = np.take_along_axis(depths, which[None], axis=0)[0]
        glass = np.take_along_axis(colours, which[None, ..., None], axis=0)[0]
        share = np.array([each.state.alpha / _FULL for each in panes])[which]
        taken = there >= 0
        left = fog.left(depth - there)
        mixed = left[..., None] * colour + (1 - left[..., None]) * dim
        blended = (1 - share)[..., None] * mixed + share[..., None] * glass
        colour = np.where(taken[..., None], blended, colour)
        error = np.where(taken, (1 - share) * (left * error + off + half) + half, error)
        depth = np.where(taken, there, depth)
    left = fog.left(depth)
    return left[..., None] * colour + (1 - left[..., None]) * dim, left * error + off + half


def fog_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Draw 24 panes that cross each other, with fog between them and without."""
    frame, fog = crossing_panes(), LayerFog()
    found = render_back_end(frame, tile=_TILE, config=config, every_tile=True, fog=fog)
    plain = render_back_end(frame, tile=_TILE, config=config, every_tile=True)
    if progress is not None:
        progress("fog: float64")
    exact, bound = exact_fog(frame, fog)
    off = np.abs(found.picture.colours - exact).max(axis=-1)
    quads = int(found.quads.sum())
    cycles, without = int(found.cycles.sum()), int(plain.cycles.sum())
    return KernelResult(
        work=f"{_PANES} panes of glass that cross each other before a wall, {frame.width}x{frame.height}; fog that "
        f"leaves {fog.left(np.array([FAR]))[0]:.0%} of light from the farthest depth; the back end, all before it is "
        "the host's",
        reference=f"float64, from which no pixel is further than {off.max():.2f} steps of 255, where rounding to bytes "
        f"may do {bound.max():.2f} at most",
        error=float((off > bound).sum()),
        error_of="pixels further off than rounding allows",
        unit="layer of 4x4",
        units=quads,
        phases=(back_end_run(found),),
        limit=f"{cycles / quads:.0f} cycles a layer of 4x4, {without / quads:.0f} without fog, where the wall is one: "
        "exp2 in floats and a "
        "blend in bytes before each layer and after the last, as many of them as the longest of sixteen lists has; "
        f"lists of a tile take {np.median(found.list_bytes):,.0f} bytes, and the longest tile "
        f"{found.cycles.max() / found.cycles.mean():.1f} times the mean; integers and compares are no flops",
        picture=found.picture.colours.astype(np.uint8),
    )
