"""The picture that a frame is, in 64-bit integers: fragment after fragment, in the order of drawing."""

from __future__ import annotations

from dataclasses import dataclass, field

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
from pixelflow.simd.drawing.planes import CENTRE, SAMPLES, Edges, Planes, edges_of, planes_of, texture_planes_of
from pixelflow.simd.drawing.reference import Box, Picture, boxes, pixels_inside
from pixelflow.simd.drawing.triangles import FAR, TEXEL
from pixelflow.simd.records import record

__all__ = ["blended", "divided", "draw_frame", "filtered"]


def draw_frame(frame: Frame) -> Picture:
    """Draw a frame. At four samples the colour is their mean, (sum + 2) >> 2, and the depth the first sample's.

    A fragment's colour and texel are taken at the pixel's centre, or at the first of the samples that it covers.
    """
    target = _Target.cleared(frame)
    for draw in frame.draws:
        _draw(target, draw)
    target.resolve_lists()
    colours = target.colours.astype(np.int64)
    if frame.samples > 1:
        colours = (colours.sum(axis=2) + 2 >> 2)[:, :, None]
    return Picture(colours[:, :, 0].astype(np.uint8), target.depths[:, :, 0].copy())


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


@dataclass(slots=True, eq=False)
class _Target:
    """A picture being drawn: [row, column, sample] each, colours [..., rgb] besides."""

    colours: np.ndarray
    depths: np.ndarray
    stencils: np.ndarray
    places: tuple[tuple[int, int], ...]
    lists: dict[tuple[int, int, int], list[tuple[int, np.ndarray, int]]] = field(default_factory=dict)
    """Of sorted draws, for (row, column, sample): depth, colour, opacity, in the order of drawing."""

    @classmethod
    def cleared(cls, frame: Frame) -> _Target:
        shape = (frame.height, frame.width, frame.samples)
        colours = np.empty((*shape, 3), np.uint8)
        colours[:] = frame.background
        places = (CENTRE,) if frame.samples == 1 else SAMPLES
        return cls(colours, np.full(shape, FAR, np.int64), np.zeros(shape, np.uint8), places)

    def resolve_lists(self) -> None:
        for place, fragments in self.lists.items():
            colour = self.colours[place].astype(np.int64)
            for _, source, alpha in sorted(fragments, key=lambda fragment: -fragment[0]):
                colour = blended(Blend.SORTED, source, np.int64(alpha), colour)
            self.colours[place] = colour


@record(eq=False)
class _Surfaces:
    """Edges and planes of a draw's triangles at each of a pixel's places."""

    edges: tuple[Edges, ...]
    planes: tuple[Planes, ...]
    texture: tuple[Planes, ...]


def _draw(target: _Target, draw: Draw) -> None:
    height, width = target.depths.shape[:2]
    triangles, texture = draw.triangles, draw.state.texture
    surfaces = _Surfaces(
        *(
            tuple(of(triangles, place) for place in target.places)
            for of in (edges_of, planes_of, *([texture_planes_of] if texture is not None else []))
        ),
        *(() if texture is not None else ((),)),
    )
    for number, box in boxes(triangles, width, height):
        _draw_triangle(target, surfaces, number, box, draw.state)


def _draw_triangle(target: _Target, surfaces: _Surfaces, number: int, box: Box, state: State) -> None:
    left, right, top, bottom = box
    part = np.s_[top:bottom, left:right]
    i, j = np.arange(left, right), np.arange(top, bottom)[:, None]
    covered = np.stack([pixels_inside(edges, number, box)[2] for edges in surfaces.edges], axis=-1)
    first = covered.argmax(axis=-1)
    source = _at_first([_values(planes, number, i, j)[..., 1:] for planes in surfaces.planes], first)
    alpha = np.full(source.shape[:-1], state.alpha, np.int64)
    if state.texture is not None:
        uv = _at_first([_raw(planes, number, i, j, 32) for planes in surfaces.texture], first)
        texel = filtered(state.texture, uv[..., 0], uv[..., 1])
        source, alpha = divided(source * texel[..., :3]), divided(alpha * texel[..., 3])
        covered &= (texel[..., 3] >= state.cutout)[..., None]
    depths = np.stack([_values(planes, number, i, j)[..., 0] for planes in surfaces.planes], axis=-1)
    seen = _tested(target, part, covered, depths, state)
    if state.blend is Blend.SORTED:
        for row, column, sample in np.argwhere(seen):
            fragment = (int(depths[row, column, sample]), source[row, column], int(alpha[row, column]))
            target.lists.setdefault((row + top, column + left, sample), []).append(fragment)
    elif state.colour_write:
        there = target.colours[part]
        found = blended(state.blend, source[:, :, None], alpha[:, :, None, None], there.astype(np.int64))
        there[seen] = np.broadcast_to(found, there.shape)[seen]


def _tested(target: _Target, part, covered: np.ndarray, depths: np.ndarray, state: State) -> np.ndarray:
    """Return which samples a fragment is seen at, once stencil and depth are tested and written."""
    there = target.depths[part]
    nearer = depths < there if state.depth_test is DepthTest.LESS else np.ones_like(covered)
    passed = covered
    if state.stencil is not None:
        stencil, found = state.stencil, target.stencils[part]
        passed = covered & _stencil_test(stencil, found)
        steps = (
            (covered & ~passed, stencil.failed),
            (passed & ~nearer, stencil.hidden),
            (passed & nearer, stencil.passed),
        )
        stepped = [(where, _stepped(stencil, step, found)) for where, step in steps]
        for where, values in stepped:
            found[where] = values[where]
    seen = passed & nearer
    if state.depth_write:
        there[seen] = depths[seen]
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


def _values(planes: Planes, number: int, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return depth and colours of a triangle at pixels: int64[row, column, plane]."""
    columns = [
        (planes.a[number, k] * i + planes.b[number, k] * j + planes.c[number, k]) % (1 << bits) >> fraction
        for k, (bits, fraction) in enumerate(zip(Planes.bits, Planes.fractions, strict=True))
    ]
    return np.stack(columns, axis=-1)


def _raw(planes: Planes, number: int, i: np.ndarray, j: np.ndarray, bits: int) -> np.ndarray:
    """Return the planes themselves, modulo 2^bits: int64[row, column, plane]."""
    a, b, c = (values[number] for values in (planes.a, planes.b, planes.c))
    return (a * i[..., None] + b * j[..., None] + c) % (1 << bits)


def _at_first(values: list[np.ndarray], first: np.ndarray) -> np.ndarray:
    """Return values at the first covered place of each pixel; ``values`` has [row, column, ...] for each place."""
    return np.take_along_axis(np.stack(values), first[None, ..., None], axis=0)[0]
