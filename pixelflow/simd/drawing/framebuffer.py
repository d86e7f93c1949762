"""A picture being drawn: depths, stencils and colours at each sample, and what a fragment does to them.

Whoever shades fragments hands them here, one a pixel at a time in the order of drawing: the tests, the steps of the
stencil and blending are the same for the reference and for machines whose hardware does them by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pixelflow.simd.drawing.account import Picture
from pixelflow.simd.drawing.frame import Blend, DepthTest, Frame, State, Stencil, StencilStep, StencilTest
from pixelflow.simd.drawing.triangles import CENTRE, FAR, SAMPLES

__all__ = ["Framebuffer", "blended", "divided", "layers_of", "places_of", "turns_of"]


def places_of(samples: int) -> tuple[tuple[int, int], ...]:
    """Return where in a pixel its samples lie, of which there are 1 or 4."""
    return (CENTRE,) if samples == 1 else SAMPLES


def divided(product: np.ndarray) -> np.ndarray:
    """Return products of two bytes, or sums of them up to 255 * 255, divided by 255 and rounded to nearest."""
    raised = product + 128
    return raised + (raised >> 8) >> 8


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


def layers_of(pixels: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the numbers of fragments that come first in their pixels, then of those that come second, and so on."""
    rank = _ranks(pixels)
    by_rank = np.argsort(rank, kind="stable")
    yield from np.split(by_rank, np.cumsum(np.bincount(rank))[:-1])


def turns_of(pixels: np.ndarray, seen: np.ndarray, depths: np.ndarray) -> np.ndarray:
    """Return in which turn fragments of sorted draws are blended at each sample: int64[fragment, sample], -1 for none.

    ``seen`` is bool and ``depths`` int64[fragment, sample], fragments in the order of drawing. In turn 0 each sample
    blends its farthest fragment, of equal depths the one drawn first.
    """
    turns = np.full(seen.shape, -1)
    for sample in range(seen.shape[1]):
        some = np.flatnonzero(seen[:, sample])
        some = some[np.argsort(-depths[some, sample], kind="stable")]
        turns[some, sample] = _ranks(pixels[some])
    return turns


def _ranks(pixels: np.ndarray) -> np.ndarray:
    """Return of each fragment how many in its pixel come before it."""
    order = np.argsort(pixels, kind="stable")
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
            stencil, found = state.stencil, self.stencils[pixel]
            passed = covered & _stencil_test(stencil, found)
            steps = (
                (covered & ~passed, stencil.failed),
                (passed & ~nearer, stencil.hidden),
                (passed & nearer, stencil.passed),
            )
            stepped = [(where, _stepped(stencil, step, found)) for where, step in steps]
            for where, values in stepped:
                found[where] = values[where]
            self.stencils[pixel] = found
        seen = passed & nearer
        if state.depth_write:
            self.depths[pixel] = np.where(seen, depths, there)
        return seen

    def blend(self, blend: Blend, pixel: np.ndarray, seen: np.ndarray, source: np.ndarray, alpha: np.ndarray) -> None:
        """Blend fragments, one a pixel, where they are ``seen``: bool[fragment, sample].

        ``source`` is the colour, int64[fragment, rgb], and ``alpha`` int64[fragment].
        """
        there = self.colours[pixel]
        found = blended(blend, source[:, None], alpha[:, None, None], there.astype(np.int64))
        self.colours[pixel] = np.where(seen[..., None], found, there)

    def picture(self) -> Picture:
        """Return what is seen: of four samples the mean colour, (sum + 2) >> 2, and the first one's depth."""
        colours = self.colours[:, 0]
        if len(self.places) > 1:
            colours = (self.colours.sum(axis=1, dtype=np.int64) + 2 >> 2).astype(np.uint8)
        shape = (self.height, self.width)
        return Picture(colours.reshape(*shape, 3).copy(), self.depths[:, 0].reshape(shape).copy())


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
