"""The picture that a frame is, in 64-bit integers: in each pixel fragment after fragment, in the order of drawing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from pixelflow.simd.drawing.frame import (
    Blend,
    DepthTest,
    Draw,
    Frame,
    State,
    Stencil,
    StencilStep,
    StencilTest,
    Texture,
)
from pixelflow.simd.drawing.planes import planes_of, texture_planes_of
from pixelflow.simd.drawing.reference import Picture
from pixelflow.simd.drawing.spans import RowSpans, spans_of
from pixelflow.simd.drawing.triangles import CENTRE, FAR, SAMPLES, TEXEL

__all__ = ["blended", "divided", "draw_frame", "filtered"]


def draw_frame(frame: Frame) -> Picture:
    """Draw a frame. At four samples the colour is their mean, (sum + 2) >> 2, and the depth the first sample's.

    A fragment's colour and texel are taken at the pixel's centre, or at the first of the samples that it covers.
    """
    target = _Target.cleared(frame)
    for draw in frame.draws:
        _draw(target, draw)
    target.resolve_lists()
    colours = target.colours[:, 0]
    if frame.samples > 1:
        colours = (target.colours.sum(axis=1, dtype=np.int64) + 2 >> 2).astype(np.uint8)
    shape = (frame.height, frame.width)
    return Picture(colours.reshape(*shape, 3).copy(), target.depths[:, 0].reshape(shape).copy())


def divided(product: np.ndarray) -> np.ndarray:
    """Return products of two bytes, or sums of them up to 255 * 255, divided by 255 and rounded to nearest."""
    raised = product + 128
    return raised + (raised >> 8) >> 8


def filtered(texture: Texture, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return texels at u, v in 1/65536 texel, modulo 2^32, bilinearly filtered: int64[..., rgba]."""
    height, width = texture.texels.shape[:2]
    texels = texture.texels.astype(np.int64)
    (x, right), (y, below) = ((at - TEXEL // 2 >> 16, at - TEXEL // 2 >> 8 & 255) for at in (u, v))
    total = np.zeros((*u.shape, 4), np.int64)
    for down, across in ((0, 0), (0, 1), (1, 0), (1, 1)):
        weight = (below if down else 256 - below) * (right if across else 256 - right)
        total += weight[..., None] * texels[y + down & height - 1, x + across & width - 1]
    return total + (1 << 15) >> 16


def blended(blend: Blend, source: np.ndarray, alpha: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the colours of pixels under fragments: int64 each, 0 to 255; a fragment that is sorted lies over."""
    match blend:
        case Blend.REPLACE:
            return source
        case Blend.OVER | Blend.SORTED:
            return divided(source * alpha + there * (255 - alpha))
        case Blend.ADD:
            return np.minimum(255, there + divided(source * alpha))
        case Blend.MULTIPLY:
            return divided(source * there)


@dataclass(frozen=True, slots=True, eq=False)
class _Fragments:
    """What draws leave in pixels, in the order of drawing: ``pixel`` int64[fragment], row by row.

    ``covered`` is bool[fragment, sample], ``depths`` int64[fragment, sample], ``source`` the colour int64[fragment,
    rgb] and ``alpha`` int64[fragment].
    """

    pixel: np.ndarray
    covered: np.ndarray
    depths: np.ndarray
    source: np.ndarray
    alpha: np.ndarray

    def part(self, which: np.ndarray) -> _Fragments:
        return _Fragments(
            self.pixel[which], self.covered[which], self.depths[which], self.source[which], self.alpha[which]
        )


@dataclass(slots=True, eq=False)
class _Target:
    """A picture being drawn: [pixel, sample] each, colours [..., rgb] besides."""

    width: int
    height: int
    colours: np.ndarray
    depths: np.ndarray
    stencils: np.ndarray
    places: tuple[tuple[int, int], ...]
    lists: list[_Fragments] = field(default_factory=list)
    """What of sorted draws is seen, in the order of drawing."""

    @classmethod
    def cleared(cls, frame: Frame) -> _Target:
        shape = (frame.height * frame.width, frame.samples)
        colours = np.empty((*shape, 3), np.uint8)
        colours[:] = frame.background
        places = (CENTRE,) if frame.samples == 1 else SAMPLES
        return cls(frame.width, frame.height, colours, np.full(shape, FAR, np.int64), np.zeros(shape, np.uint8), places)

    def blend(self, blend: Blend, fragments: _Fragments, seen: np.ndarray) -> None:
        """Blend fragments, one a pixel, where they are ``seen``: bool[fragment, sample]."""
        there = self.colours[fragments.pixel]
        alpha = fragments.alpha[:, None, None]
        found = blended(blend, fragments.source[:, None], alpha, there.astype(np.int64))
        self.colours[fragments.pixel] = np.where(seen[..., None], found, there)

    def resolve_lists(self) -> None:
        """Blend what sorted draws have left: at each sample the farthest first."""
        if not self.lists:
            return
        names = ("pixel", "covered", "depths", "source", "alpha")
        every = _Fragments(*(np.concatenate([getattr(each, name) for each in self.lists]) for name in names))
        for sample in range(len(self.places)):
            some = every.part(every.covered[:, sample])
            some = some.part(np.argsort(-some.depths[:, sample], kind="stable"))
            here = np.arange(len(self.places)) == sample
            for layer in _layers(some.pixel):
                part = some.part(layer)
                self.blend(Blend.SORTED, part, np.broadcast_to(here, part.covered.shape))


def _draw(target: _Target, draw: Draw) -> None:
    for fragments in _fragments(target, draw):
        for layer in _layers(fragments.pixel):
            _meet(target, fragments.part(layer), draw.state)


def _fragments(target: _Target, draw: Draw) -> Iterator[_Fragments]:
    """Yield the fragments of a draw, in batches."""
    triangles, texture = draw.triangles, draw.state.texture
    spans = [spans_of(triangles, target.width, target.height, place, empty=True) for place in target.places]
    planes = [planes_of(triangles, place) for place in target.places]
    texture_planes = [texture_planes_of(triangles, place) for place in target.places if texture is not None]
    first, last = (np.stack([getattr(each, end) for each in spans]) for end in ("first", "last"))
    some = first.min(axis=0) <= last.max(axis=0)
    first, last = first[:, some], last[:, some]
    whole = spans[0].part(some)
    for batch in RowSpans(whole.triangle, whole.row, first.min(axis=0), last.max(axis=0)).fragments():
        column, where = batch.column, (batch.triangle, batch.column, batch.row)
        covered = ((first[:, batch.span] <= column) & (column <= last[:, batch.span])).T
        at = covered.argmax(axis=1)
        values = np.stack([each.at(*where) for each in planes], axis=1)
        source = _at_sample(values[..., 1:], at)
        alpha = np.full(len(column), draw.state.alpha, np.int64)
        if texture is not None:
            uv = _at_sample(np.stack([each.texels_at(*where) for each in texture_planes], axis=1), at)
            texel = filtered(texture, uv[:, 0], uv[:, 1])
            source, alpha = divided(source * texel[:, :3]), divided(alpha * texel[:, 3])
            covered &= (texel[:, 3] >= draw.state.cutout)[:, None]
        yield _Fragments(batch.row * target.width + column, covered, values[..., 0], source, alpha)


def _at_sample(values: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Return values[fragment, sample, ...] of one sample each."""
    return values[np.arange(len(values)), sample]


def _layers(pixels: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the numbers of fragments that come first in their pixels, then of those that come second, and so on."""
    order = np.argsort(pixels, kind="stable")
    begins = np.flatnonzero(np.diff(pixels[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    by_rank = np.argsort(rank, kind="stable")
    yield from np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1])


def _meet(target: _Target, fragments: _Fragments, state: State) -> None:
    """Test fragments, one a pixel, against what is there, and write them."""
    seen = _tested(target, fragments, state)
    if state.blend is Blend.SORTED:
        target.lists.append(replace(fragments, covered=seen).part(np.any(seen, axis=1)))
    elif state.colour_write:
        target.blend(state.blend, fragments, seen)


def _tested(target: _Target, fragments: _Fragments, state: State) -> np.ndarray:
    """Return at which samples fragments are seen, once stencil and depth are tested and written."""
    pixel, covered, depths = fragments.pixel, fragments.covered, fragments.depths
    there = target.depths[pixel]
    nearer = depths < there if state.depth_test is DepthTest.LESS else np.ones_like(covered)
    passed = covered
    if state.stencil is not None:
        stencil, found = state.stencil, target.stencils[pixel]
        passed = covered & _stencil_test(stencil, found)
        steps = (
            (covered & ~passed, stencil.failed),
            (passed & ~nearer, stencil.hidden),
            (passed & nearer, stencil.passed),
        )
        stepped = [(where, _stepped(stencil, step, found)) for where, step in steps]
        for where, values in stepped:
            found[where] = values[where]
        target.stencils[pixel] = found
    seen = passed & nearer
    if state.depth_write:
        target.depths[pixel] = np.where(seen, depths, there)
    return seen


def _stencil_test(stencil: Stencil, found: np.ndarray) -> np.ndarray:
    match stencil.test:
        case StencilTest.ALWAYS:
            return np.ones(found.shape, bool)
        case StencilTest.EQUAL:
            return found == stencil.reference
        case StencilTest.DIFFERENT:
            return found != stencil.reference


def _stepped(stencil: Stencil, step: StencilStep, found: np.ndarray) -> np.ndarray:
    match step:
        case StencilStep.KEEP:
            return found.copy()
        case StencilStep.ZERO:
            return np.zeros_like(found)
        case StencilStep.REPLACE:
            return np.full_like(found, stencil.reference)
        case StencilStep.UP:
            return found + np.uint8(1)
        case StencilStep.DOWN:
            return found - np.uint8(1)
