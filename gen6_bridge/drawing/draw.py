"""A frame on execution units: tests and blending by fixed functions, pixels by threads, draw after draw.

Stencil and depth are tested before a pixel is shaded, or where a texel can kill it, afterwards. Draws with sorted
fragments are shaded at the end of the frame, turn by turn: in each turn the farthest remaining fragment of each sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.drawing.account import (
    PIPE_LANES,
    FrameAccount,
    counted_by_units,
    grounds_of_units,
    left_out,
    pixels_of_draw,
)
from gen6_bridge.drawing.rasterizer import Pixels, pixel_threads, pixels_of
from gen6_bridge.drawing.shaders import (
    COLUMNS,
    CONSTANTS,
    PLANES,
    ROWS,
    SAMPLE,
    ShadedVertices,
    ShaderKind,
    pixel_shader,
)
from gen6_bridge.isa.execution import FloatRules
from gen6_bridge.time import EU_MHZ, CarriedStep, EuConfig, ThreadTraces
from gen6_bridge.unit import ExecutionUnit, Request
from gen6_bridge.unit.messages import RENDER_CACHE, SAMPLER, looked_at, texels
from pixelflow.caveats import coded
from pixelflow.simd.attendance import Telling
from pixelflow.simd.drawing import (
    Blend,
    Draw,
    DrawnFrame,
    Frame,
    Framebuffer,
    Texture,
    coordinate_bits,
    layers_of,
    places_of,
    turns_of,
)
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted

# Fixed functions past the shader: the sampler and the render target, which answer messages.


_COMPONENTS = 4
_SAMPLE_BYTES = 16


class PixelFunctions:
    """Sampler and render target of threads side by side.

    Writes are kept as they are; tests and blending, which depend on the order of drawing, follow later.
    """

    def __init__(self, threads: int, channels: int, texture: Texture | None) -> None:
        self._channels, self._texture = channels, texture
        self.written = np.zeros((threads, channels, _COMPONENTS), np.float32)
        """Red, green, blue and opacity of each channel, 0 to 1."""
        self.kept = np.zeros((threads, channels), np.bool_)
        """Channels that took part in the write."""
        self.sampled = 0
        """Bytes of requested texels: four a texel, four texels a sample, twice that between two mipmaps."""

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Filter the texture at each channel's place, or keep a write."""
        if request.target == SAMPLER and self._texture is not None:
            self.sampled += _SAMPLE_BYTES * looked_at(self._texture, request)
            return texels(self._texture, request)
        if request.target == RENDER_CACHE:
            self.written[request.thread] = request.payload.view(np.float32).reshape(_COMPONENTS, self._channels).T
            self.kept[request.thread] = request.enabled >> np.arange(self._channels) & 1
        return None

    @property
    def bytes(self) -> NDArray[np.int64]:
        """Written values rounded to bytes, a NaN as 0: int64[thread, channel, component]."""
        with np.errstate(invalid="ignore"):  # channels that wrote no colours may hold any bits
            within = np.clip(np.nan_to_num(self.written.astype(np.float64)), 0, 1)
        return np.rint(within * 255).astype(np.int64)


# Shading of a draw's pixels: threads with their payload, executed side by side, and their writes.


_AT_ONCE = 1024
"""Threads that are executed side by side."""
_TRANSLUCENT = (Blend.OVER, Blend.ADD, Blend.SORTED)

Shaded = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]
"""Colour int64[pixel, rgb], opacity int64[pixel], and whether each pixel was kept: bool[pixel]."""


def kind_of(draw: Draw, samples: int, channels: int, *, cut: bool, colours: bool) -> ShaderKind:
    """Return the kind of shader for a draw, which may kill pixels (``cut``) and write ``colours``."""
    state = draw.state
    textured, correct = state.texture is not None and (colours or cut), not bool(draw.triangles.level.all())
    return ShaderKind(
        textured=textured,
        translucent=colours and state.blend in _TRANSLUCENT,
        cut=cut,
        colours=colours,
        samples=samples,
        channels=channels,
        correct=correct,
        bits=coordinate_bits(draw.triangles) if correct and textured else 0,
        mipmaps=state.texture is not None and state.texture.mipmaps,
    )


def shaded(draw: Draw, pixels: Pixels, kind: ShaderKind, account: FrameAccount) -> Shaded:
    """Shade pixels of a draw and enter its threads in the account."""
    program, config = pixel_shader(kind), account.config
    arithmetic = FloatRules(fused=config.fused, flushes=config.flushes)
    threads = pixel_threads(draw, pixels, kind.channels, places_of(kind.samples))
    values, kept = np.zeros((len(pixels), 4), np.int64), np.zeros(len(pixels), np.bool_)
    steps: list[list[CarriedStep]] = []
    for begin in range(0, len(threads), _AT_ONCE):
        part = threads.part(begin, begin + _AT_ONCE)
        functions = PixelFunctions(len(part), kind.channels, draw.state.texture)
        unit = ExecutionUnit(
            program.code, len(part), dispatch=part.dispatched, functions=functions, arithmetic=arithmetic
        )
        for register, words in ((COLUMNS, part.columns), (ROWS, part.rows), (SAMPLE, part.sample)):
            unit.set_register(register, words.astype(np.uint16))
        unit.set_register(CONSTANTS, np.array([draw.state.alpha, draw.state.cutout], np.uint32))
        unit.set_register(PLANES, part.planes)
        traces = ThreadTraces(unit)
        unit.run(traces)
        steps += traces.steps
        lit = part.pixel >= 0
        values[part.pixel[lit]], kept[part.pixel[lit]] = functions.bytes[lit], functions.kept[lit]
        if functions.sampled:
            account.traffic["texels"] += functions.sampled
    account.took(pixels_of_draw(draw.name), program, steps)
    account.threads += len(threads)
    account.there += int(threads.there.sum())
    account.visible += len(pixels)
    return values[:, :3], values[:, 3], kept


_WIDTHS = (8, 16)
_PIXEL_BYTES = 4


def draw_on_gen6(
    frame: Frame,
    *,
    parts: int = 1,
    config: EuConfig | None = None,
    progress: Telling | None = None,
    vertices: Sequence[ShadedVertices | None] = (),
) -> DrawnFrame:
    """Draw a frame on ``parts`` execution units, with pixel threads of the configuration's channels.

    ``vertices`` are the shaded vertices of the first draws; their threads end before the draw's pixels begin. Raises
    InputError for threads of fewer than eight channels.
    """
    config = replace(config or EuConfig(), units=parts)
    if config.channels not in _WIDTHS:
        hint = "threads of pixels have 8 or 16 channels: two or four subspans of 2x2 pixels"
        raise InputError(Fault(f"channels is {config.channels}", hint=hint))
    painter = _Painter(frame, Framebuffer.cleared(frame), FrameAccount(config))
    whole, done = max(1, sum(len(draw.triangles) for draw in frame.draws)), 0
    for draw, shaded_vertices in zip_longest(frame.draws, vertices):
        if progress is not None:
            progress(f"gen6: {draw.name}, {counted(len(draw.triangles), 'triangle')}", share=done / whole)
        done += len(draw.triangles)
        if shaded_vertices is not None:
            painter.account.took_vertices(draw.name, shaded_vertices)
        painter.draw(draw)
    painter.resolve()
    return _drawn(painter, parts)


def _drawn(painter: _Painter, parts: int) -> DrawnFrame:
    """Return the account of a picture.

    A unit is busy while one of its pipes is held. Cycles after the last thread of its last batch are lost to imbalance.
    In all others it waits: for operands, messages, instructions, branches, or for other units at the end of a batch.
    """
    account, channels = painter.account, painter.account.config.channels
    subspans = f"of {channels} channels, up to {channels // 4} subspans of one triangle each"
    facts = [
        ("threads", f"{account.threads:,} {subspans}"),
        ("not counted", coded("coverage, tests, filter, blending, rounding", "PF501")),
    ]
    if served := account.served[RENDER_CACHE]:
        text = f"held for {served:,} cycles by writes of pixels (a guess), which no thread waits for: not in the cycles"
        facts.append(("render cache", text))
    if account.vertices:
        text = f"{account.vertices:,} by threads of two, each vertex once; w, viewport and corners take no cycles"
        facts.append(("vertices", text))
    if account.turns:
        text = f"shaded in {account.turns} turns; who finds the farthest fragment takes no cycles, and Gen6 had no such"
        facts.append(("sorted draws", text))
    return DrawnFrame(
        machine="Gen6",
        parts=parts,
        lanes=PIPE_LANES * parts,
        clock_mhz=EU_MHZ,
        cycles=account.cycles,
        work=account.held["fpu"] + account.held["math"],
        stages=dict(account.stages),
        mix=dict(account.mix),
        covered_lanes=account.visible / max(1, account.there),
        enabled_lanes=account.there / (channels * account.threads) if account.threads else None,
        traffic=dict(account.traffic),
        picture=painter.target.picture(),
        whose_stages="of the longest unit, draw after draw",
        facts=tuple(facts),
        free=tuple(left_out(account)),
        grounds=grounds_of_units(account.config),
        counted=counted_by_units(account.config, shaded=account.vertices > 0),
        works=account.works(painter.frame),
        part="execution unit",
        timeline=(("the longest unit", tuple(account.spans)),),
        ended=tuple(account.ended),
        twice=account.together,
    )


@dataclass(slots=True)
class _Painter:
    """Frame that is being drawn."""

    frame: Frame
    target: Framebuffer
    account: FrameAccount
    sorted: list[tuple[Draw, Pixels]] = field(default_factory=list)
    """Visible pixels of sorted draws."""

    def draw(self, draw: Draw) -> None:
        """Test, shade and blend what a draw covers."""
        pixels, state = pixels_of(draw, self.target), draw.state
        self.account.stages[pixels_of_draw(draw.name)] += 0
        sorts, colours, cut = state.blend is Blend.SORTED, state.colour_write, state.cutout > 0
        early: Shaded | None = None
        if cut:  # the texel decides first, so the shader runs before the tests
            early = self._shade(draw, pixels, cut=True, colours=colours and not sorts)
            kept = early[2]
            pixels = pixels.part(kept)
            early = (early[0][kept], early[1][kept], early[2][kept])
        seen = self._tested(draw, pixels)
        some = np.flatnonzero(seen.any(axis=1))
        pixels = pixels.part(some, seen[some])
        if sorts:
            self.sorted.append((draw, pixels))
        elif colours:
            source, alpha, _ = self._shade(draw, pixels) if early is None else [each[some] for each in early]
            for layer in layers_of(self._place(pixels)):
                self._blend(draw, pixels.part(layer), source[layer], alpha[layer])

    def resolve(self) -> None:
        """Shade and blend sorted fragments, at each sample the farthest first."""
        if not self.sorted:
            return
        whose = np.repeat(np.arange(len(self.sorted)), [len(pixels) for _, pixels in self.sorted])
        number = np.concatenate([np.arange(len(pixels)) for _, pixels in self.sorted])
        place, samples, depths = (
            np.concatenate(each)
            for each in zip(*((self._place(one), one.samples, one.depths) for _, one in self.sorted), strict=True)
        )
        turns = turns_of(place, samples, depths)
        self.account.turns = int(turns.max(initial=-1)) + 1
        for turn in range(self.account.turns):
            here = turns == turn
            for which, (draw, pixels) in enumerate(self.sorted):
                some = np.flatnonzero(here.any(axis=1) & (whose == which))
                if len(some):
                    part = pixels.part(number[some], here[some])
                    source, alpha, _ = self._shade(draw, part)
                    for layer in layers_of(self._place(part)):
                        self._blend(draw, part.part(layer), source[layer], alpha[layer])

    def _place(self, pixels: Pixels) -> NDArray[np.int64]:
        return pixels.row * self.frame.width + pixels.column

    def _shade(self, draw: Draw, pixels: Pixels, *, cut: bool = False, colours: bool = True) -> Shaded:
        kind = kind_of(draw, self.frame.samples, self.account.config.channels, cut=cut, colours=colours)
        return shaded(draw, pixels, kind, self.account)

    def _tested(self, draw: Draw, pixels: Pixels) -> NDArray[np.bool_]:
        """Return the samples at which pixels are visible, tested in the order of drawing: bool[pixel, sample]."""
        seen, place = np.zeros(pixels.samples.shape, np.bool_), self._place(pixels)
        for layer in layers_of(place):
            seen[layer] = self.target.tested(place[layer], pixels.samples[layer], pixels.depths[layer], draw.state)
        return seen

    def _blend(self, draw: Draw, pixels: Pixels, source: NDArray[np.int64], alpha: NDArray[np.int64]) -> None:
        """Blend pixels, each of them once."""
        self.target.blend(draw.state.blend, self._place(pixels), pixels.samples, source, alpha)
        moved = _PIXEL_BYTES * int(pixels.samples.sum())
        self.account.traffic["render target"] += moved
        if draw.state.blend is not Blend.REPLACE:
            self.account.traffic["render target, read to blend"] += moved
