"""A picture being drawn: depths, stencils and colours at each sample, and what a fragment does to them.

Fragments come in the order of drawing, one a pixel at a time, from whatever shades them: the tests, the steps of the
stencil and blending are the same for the reference and for machines whose hardware does them by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pixelflow.simd.drawing.account import Picture
from pixelflow.simd.drawing.frame import Blend, DepthTest, Draw, Frame, State, Stencil, StencilStep, StencilTest
from pixelflow.simd.drawing.mipmaps import details, filtered, trilinear
from pixelflow.simd.drawing.planes import Interpolation, planes_of
from pixelflow.simd.drawing.spans import covered_samples, first_samples, spans_of
from pixelflow.simd.drawing.triangles import CENTRE, FAR, SAMPLES, ScreenTriangles


def places_of(samples: int) -> tuple[tuple[int, int], ...]:
    """Return the places of the samples in a pixel, of which there are 1 or 4."""
    return (CENTRE,) if samples == 1 else SAMPLES


def divided(product: np.ndarray) -> np.ndarray:
    """Return products of two bytes, or sums of them up to 255 * 255, divided by 255 and rounded to nearest."""
    raised = product + 128
    return raised + (raised >> 8) >> 8


def blended(blend: Blend, source: np.ndarray, alpha: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the colours of pixels under fragments: 0 to 255, in 32 bits or more; a sorted fragment is over."""
    match blend:
        case Blend.REPLACE:
            return source
        case Blend.OVER | Blend.SORTED:
            return divided(source * alpha + there * (255 - alpha))
        case Blend.ADD:
            return np.minimum(255, there + divided(source * alpha))
        case Blend.MULTIPLY:
            return divided(source * there)


def layers_of(pixels: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the numbers of fragments that come first in their pixels, then of those that come second, and so on."""
    left, first = np.arange(len(pixels)), np.empty(pixels.max(initial=-1) + 1, np.int64)
    while len(left):
        first[pixels[::-1]] = left[::-1]  # numpy assigns in order, so that the first of a pixel stays
        later = first.take(pixels) != left
        yield left[~later]
        left, pixels = left[later], pixels[later]


def turns_of(pixels: np.ndarray, seen: np.ndarray, depths: np.ndarray) -> np.ndarray:
    """Return in which turn fragments of sorted draws are blended at each sample: int64[fragment, sample], -1 for none.

    ``seen`` is bool and ``depths`` int64[fragment, sample], fragments in the order of drawing. In turn 0 each sample
    blends its farthest fragment, of equal depths the one drawn first.
    """
    turns = np.full(seen.shape, -1)
    for sample in range(seen.shape[1]):
        some = np.flatnonzero(seen[:, sample])
        turns[some, sample] = _ranks(pixels[some], FAR - depths[some, sample])
    return turns


def _ranks(pixels: np.ndarray, nearness: np.ndarray | int = 0) -> np.ndarray:
    """Return of each fragment how many in its pixel come before it, where those of less nearness, 0 to FAR, do."""
    order = np.argsort(pixels * (FAR + 1) + nearness, kind="stable")
    begins = np.flatnonzero(np.diff(pixels[order], prepend=-1))
    found = np.empty(len(pixels), np.int64)
    found[order] = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    return found


@dataclass(slots=True, eq=False)
class Framebuffer:
    """A picture being drawn: [pixel, sample] each, pixels row by row; colours uint8[pixel, sample, rgb]."""

    width: int
    height: int
    colours: np.ndarray
    depths: np.ndarray
    stencils: np.ndarray
    places: tuple[tuple[int, int], ...]

    @classmethod
    def cleared(cls, frame: Frame) -> Framebuffer:
        """Return the picture of a frame before its first draw."""
        shape = (frame.height * frame.width, frame.samples)
        colours = np.empty((*shape, 3), np.uint8)
        colours[:] = frame.background
        depths, stencils = np.full(shape, FAR, np.int64), np.zeros(shape, np.uint8)
        return cls(frame.width, frame.height, colours, depths, stencils, places_of(frame.samples))

    def tested(self, pixel: np.ndarray, covered: np.ndarray, depths: np.ndarray, state: State) -> np.ndarray:
        """Return at which samples fragments, one a pixel, are seen, once stencil and depth are tested and written.

        ``covered`` is bool and ``depths`` int64[fragment, sample]; the result is as ``covered``.
        """
        there = self.depths[pixel]
        nearer = depths < there if state.depth_test is DepthTest.LESS else np.ones_like(covered)
        passed = covered
        if state.stencil is not None:
            passed, self.stencils[pixel], _ = stencilled(state.stencil, self.stencils[pixel], covered, nearer)
        seen = passed & nearer
        if state.depth_write:
            self.depths[pixel] = np.where(seen, depths, there)
        return seen

    def blend(self, blend: Blend, pixel: np.ndarray, seen: np.ndarray, source: np.ndarray, alpha: np.ndarray) -> None:
        """Blend fragments, one a pixel, where they are ``seen``: bool[fragment, sample].

        ``source`` is the colour, [fragment, rgb], and ``alpha`` [fragment], from 0 to 255.
        """
        there = self.colours.take(pixel, axis=0)
        source, alpha = source[:, None].astype(np.int32), alpha[:, None, None].astype(np.int32)
        found = blended(blend, source, alpha, there.astype(np.int32))
        self.colours[pixel] = np.where(seen[..., None], found, there)

    def picture(self) -> Picture:
        """Return what is seen: of four samples the mean colour, (sum + 2) >> 2, and the first one's depth."""
        colours = self.colours[:, 0]
        if len(self.places) > 1:
            colours = (self.colours.sum(axis=1, dtype=np.int64) + 2 >> 2).astype(np.uint8)
        shape = (self.height, self.width)
        return Picture(colours.reshape(*shape, 3).copy(), self.depths[:, 0].reshape(shape).copy())


def stencilled(
    stencil: Stencil, found: np.ndarray, covered: np.ndarray, nearer: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which covered samples pass the test, the stencils after the steps, and where a step was not KEEP."""
    passed = covered & _stencil_test(stencil, found)
    after, stepped = found.copy(), np.zeros_like(covered)
    steps = (covered & ~passed, stencil.failed), (passed & ~nearer, stencil.hidden), (passed & nearer, stencil.passed)
    for where, step in steps:
        if step is not StencilStep.KEEP:
            np.copyto(after, _stepped(stencil, step, found), where=where)
            stepped |= where
    return passed, after, stepped


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
        case StencilStep.ZERO:
            return np.zeros_like(found)
        case StencilStep.REPLACE:
            return np.full_like(found, stencil.reference)
        case StencilStep.UP:
            return found + np.uint8(1)
        case _:
            return found - np.uint8(1)


# The picture that every machine must draw: triangles in their order, nearest depth kept, the first of equals.


NOTHING = (1 << 32) - 1
"""Nearest depth of a pixel without a triangle."""


def draw(triangles: ScreenTriangles, width: int, height: int, background: tuple[int, int, int] = (0, 0, 0)) -> Picture:
    """Draw triangles in 64-bit integers."""
    picture = Picture.empty(width, height, background)
    number, depths = nearest(triangles, width, height)
    row, column = np.nonzero(number != NOTHING)
    picture.depths[:] = depths
    picture.colours[row, column] = Interpolation.of(triangles).colours(number[row, column], column, row)
    return picture


def nearest(
    triangles: ScreenTriangles, width: int, height: int, place: tuple[int, int] = CENTRE
) -> tuple[np.ndarray, np.ndarray]:
    """Return which triangle is seen at a place in each pixel, or NOTHING, and its depth: int64[row, column] each."""
    plane = planes_of(triangles, place, colours=False)
    # A depth and below it the number: of equal depths the least, the first in the order of drawing, is kept.
    keys = np.full(height * width, FAR << 32 | NOTHING, np.int64)
    for batch in spans_of(triangles, width, height, place).fragments():
        depth = plane.depths_at(batch.triangle, batch.column, batch.row).astype(np.int64)
        np.minimum.at(keys, batch.row * width + batch.column, depth << 32 | batch.triangle)
    seen = keys.reshape(height, width)
    return seen & NOTHING, seen >> 32


def covered(triangles: ScreenTriangles, width: int, height: int, place: tuple[int, int] = CENTRE) -> np.ndarray:
    """Return how many triangles cover each pixel at a place in it, whatever their depths: int64[row, column]."""
    found = np.zeros(height * width, np.int64)
    for batch in spans_of(triangles, width, height, place).fragments():
        found += np.bincount(batch.row * width + batch.column, minlength=len(found))
    return found.reshape(height, width)


# The picture that a frame is, in 64-bit integers: in each pixel fragment after fragment, in the order of drawing.


_SORTED = 1 << 20
"""Fragments that are sorted together."""


def draw_frame(frame: Frame) -> Picture:
    """Draw a frame. At four samples the colour is their mean, (sum + 2) >> 2, and the depth the first sample's.

    A fragment's colour and texel are taken at the pixel's centre, or at the first of the samples that it covers.
    """
    target, lists = Framebuffer.cleared(frame), list[_Fragments]()
    for draw in frame.draws:
        for fragments in _fragments(target, draw):
            for layer in layers_of(fragments.pixel):
                lists += _meet(target, fragments.part(layer), draw.state)
    _resolve(target, lists)
    return target.picture()


class _Fragments(NamedTuple):
    """Fragments of draws, in the order of drawing: ``pixel`` int64[fragment], row by row.

    ``covered`` is bool[fragment, sample], ``depths`` int32[fragment, sample], ``source`` the colour uint8[fragment,
    rgb], 0 where no colour is written, and ``alpha`` uint8[fragment].
    """

    pixel: np.ndarray
    covered: np.ndarray
    depths: np.ndarray
    source: np.ndarray
    alpha: np.ndarray

    def part(self, which: np.ndarray) -> _Fragments:
        """Return those with some numbers, ascending, each once."""
        if len(which) == len(self.pixel):
            return self
        columns = self.pixel, self.covered, self.depths, self.source, self.alpha
        return _Fragments(*(each.take(which, axis=0) for each in columns))


def _fragments(target: Framebuffer, draw: Draw) -> Iterator[_Fragments]:
    """Yield the fragments of a draw, in batches."""
    triangles, state, texture = draw.triangles, draw.state, draw.state.texture
    coloured = state.colour_write or state.blend is Blend.SORTED
    planes = [
        Interpolation.of(triangles, place, textured=texture is not None, colours=coloured) for place in target.places
    ]
    for batch, covered in covered_samples(triangles, target.width, target.height, target.places):
        where = (batch.triangle, batch.column, batch.row)
        at = covered.argmax(axis=1) if len(planes) > 1 else np.zeros(len(covered), np.intp)
        depths = np.stack([each.depths(*where) for each in planes], axis=1)
        source = np.zeros((len(at), 3), np.uint8)
        if coloured:
            source = _at_sample([each.colours(*where).astype(np.uint8, order="C") for each in planes], at)
        alpha = np.full(len(at), state.alpha, np.uint8)
        if texture is not None:
            uv = _at_sample([each.texels(*where) for each in planes], at)
            if texture.mipmaps:
                texel = trilinear(texture, uv[:, 0], uv[:, 1], _detail(triangles, target, planes, where))
            else:
                texel = filtered(texture, uv[:, 0], uv[:, 1])
            source, alpha = (divided(each).astype(np.uint8) for each in (source * texel[:, :3], alpha * texel[:, 3]))
            covered &= (texel[:, 3] >= state.cutout)[:, None]
        yield _Fragments(batch.row * target.width + batch.column, covered, depths, source, alpha)


def _detail(
    triangles: ScreenTriangles,
    target: Framebuffer,
    planes: Sequence[Interpolation],
    where: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return the detail of the blocks around pixels: int64[pixel]."""
    triangle, column, row = (np.repeat(each, 4) for each in where)
    column, row = column & ~1, row & ~1
    column += np.tile([0, 1, 0, 1], len(where[0]))
    row += np.tile([0, 0, 1, 1], len(where[0]))
    sample = first_samples(triangles, target.places, triangle, column, row)
    uv = _at_sample([each.texels(triangle, column, row) for each in planes], sample)
    return details(*(uv[:, axis].reshape(-1, 4) for axis in range(2)))


def _at_sample(values: Sequence[np.ndarray], sample: np.ndarray) -> np.ndarray:
    """Return of values at each sample, [fragment, ...], those of one sample each."""
    found = values[0]
    for number, each in enumerate(values[1:], start=1):
        here = sample == number
        found[here] = each[here]
    return found


def _meet(target: Framebuffer, fragments: _Fragments, state: State) -> list[_Fragments]:
    """Test fragments, one a pixel, against what is there, and write them; return those that are to be sorted."""
    seen = target.tested(fragments.pixel, fragments.covered, fragments.depths, state)
    if state.blend is Blend.SORTED:
        return [fragments._replace(covered=seen).part(np.flatnonzero(np.any(seen, axis=1)))]
    if state.colour_write:
        target.blend(state.blend, fragments.pixel, seen, fragments.source, fragments.alpha)
    return []


def _resolve(target: Framebuffer, lists: list[_Fragments]) -> None:
    """Blend what sorted draws have left: at each sample the farthest first, in parts of the screen."""
    bands = -(-sum(len(each.pixel) for each in lists) // _SORTED)
    for first, past in pairwise(target.width * target.height * np.arange(bands + 1) // max(bands, 1)):
        some = [each.part(np.flatnonzero((first <= each.pixel) & (each.pixel < past))) for each in lists]
        names = ("pixel", "covered", "depths", "source", "alpha")
        _blend_sorted(target, _Fragments(*(np.concatenate([getattr(each, name) for each in some]) for name in names)))


def _blend_sorted(target: Framebuffer, every: _Fragments) -> None:
    turns = turns_of(every.pixel, every.covered, every.depths)
    order = np.argsort(turns, axis=None, kind="stable") // turns.shape[1]
    for turn, (first, last) in enumerate(pairwise(np.cumsum(np.bincount(turns.ravel() + 1)))):
        some = order[first:last][np.diff(order[first:last], prepend=-1) > 0]  # once each, whatever its samples
        for layer in layers_of(every.pixel[some]):  # samples of a pixel may have separate fragments
            which = some[layer]
            part = every.part(which)
            target.blend(Blend.SORTED, part.pixel, turns[which] == turn, part.source, part.alpha)
