"""The picture that a frame is, in 64-bit integers: in each pixel fragment after fragment, in the order of drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pixelflow.simd.drawing.account import Picture
from pixelflow.simd.drawing.frame import Blend, Draw, Frame, State
from pixelflow.simd.drawing.framebuffer import Framebuffer, divided, layers_of, turns_of
from pixelflow.simd.drawing.interpolation import Interpolation
from pixelflow.simd.drawing.mipmaps import details, filtered, trilinear
from pixelflow.simd.drawing.spans import covered_samples, first_samples
from pixelflow.simd.drawing.triangles import ScreenTriangles

__all__ = ["draw_frame"]


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


def _fragments(target: Framebuffer, draw: Draw) -> Iterator[_Fragments]:
    """Yield the fragments of a draw, in batches."""
    triangles, texture = draw.triangles, draw.state.texture
    planes = [Interpolation.of(triangles, place, textured=texture is not None) for place in target.places]
    for batch, covered in covered_samples(triangles, target.width, target.height, target.places):
        where = (batch.triangle, batch.column, batch.row)
        at = covered.argmax(axis=1)
        depths = np.stack([each.depths(*where) for each in planes], axis=1)
        source = _at_sample(np.stack([each.colours(*where) for each in planes], axis=1), at)
        alpha = np.full(len(at), draw.state.alpha, np.int64)
        if texture is not None:
            uv = _at_sample(np.stack([each.texels(*where) for each in planes], axis=1), at)
            if texture.mipmaps:
                texel = trilinear(texture, uv[:, 0], uv[:, 1], _detail(triangles, target, planes, where))
            else:
                texel = filtered(texture, uv[:, 0], uv[:, 1])
            source, alpha = divided(source * texel[:, :3]), divided(alpha * texel[:, 3])
            covered &= (texel[:, 3] >= draw.state.cutout)[:, None]
        yield _Fragments(batch.row * target.width + batch.column, covered, depths, source, alpha)


def _detail(
    triangles: ScreenTriangles,
    target: Framebuffer,
    planes: Sequence[Interpolation],
    where: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return the detail of the blocks that pixels lie in: int64[pixel]."""
    triangle, column, row = (np.repeat(each, 4) for each in where)
    column, row = column & ~1, row & ~1
    column += np.tile([0, 1, 0, 1], len(where[0]))
    row += np.tile([0, 0, 1, 1], len(where[0]))
    sample = first_samples(triangles, target.places, triangle, column, row)
    uv = _at_sample(np.stack([each.texels(triangle, column, row) for each in planes], axis=1), sample)
    return details(*(uv[:, axis].reshape(-1, 4) for axis in range(2)))


def _at_sample(values: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """Return values[fragment, sample, ...] of one sample each."""
    return values[np.arange(len(values)), sample]


def _meet(target: Framebuffer, fragments: _Fragments, state: State) -> list[_Fragments]:
    """Test fragments, one a pixel, against what is there, and write them; return those that are to be sorted."""
    seen = target.tested(fragments.pixel, fragments.covered, fragments.depths, state)
    if state.blend is Blend.SORTED:
        return [replace(fragments, covered=seen).part(np.any(seen, axis=1))]
    if state.colour_write:
        target.blend(state.blend, fragments.pixel, seen, fragments.source, fragments.alpha)
    return []


def _resolve(target: Framebuffer, lists: list[_Fragments]) -> None:
    """Blend what sorted draws have left: at each sample the farthest first."""
    if not lists:
        return
    names = ("pixel", "covered", "depths", "source", "alpha")
    every = _Fragments(*(np.concatenate([getattr(each, name) for each in lists]) for name in names))
    turns = turns_of(every.pixel, every.covered, every.depths)
    for turn in range(int(turns.max(initial=-1)) + 1):
        some = np.flatnonzero((turns == turn).any(axis=1))
        for layer in layers_of(every.pixel[some]):  # samples of a pixel may have fragments of their own
            which = some[layer]
            part = every.part(which)
            target.blend(Blend.SORTED, part.pixel, turns[which] == turn, part.source, part.alpha)
