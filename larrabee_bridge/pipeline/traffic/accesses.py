"""Accesses: which blocks of 4x4 pixels of which targets, and which lines of textures, a frame needs, in drawing order.

Depth is tested before anything else, and what fails costs nothing ("perfect hierarchical depth culling", 5.3), unless
the stencil steps where it fails. A pixel sees the same fragments in the same order in either kind of renderer, so this
is worked out once for both. Texture lines are those of pixels that ask for texels, as in the back end: where something
is seen, or with a cutout wherever depth alone does not hide it. They are for the ratio of the two kinds of renderer;
the texture bytes of a run are those of `larrabee_bridge.pipeline.backend.TextureUnit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from larrabee_bridge.pipeline.coverage.quads import QUAD, Quads, quads_of
from larrabee_bridge.pipeline.traffic.settings import BLOCK
from pixelflow.simd.drawing import (
    CENTRE,
    FAR,
    SAMPLES,
    Blend,
    DepthTest,
    Draw,
    Frame,
    Interpolation,
    Stencil,
    StencilStep,
    StencilTest,
)
from pixelflow.simd.drawing.mipmaps import filtered
from pixelflow.simd.drawing.triangles import TEXEL
from pixelflow.simd.errors import Fault, InputError

__all__ = ["Accesses", "accesses_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Accesses:
    """Qquads of which something is not hidden, in drawing order: int64 or bool[quad].

    ``block`` numbers 4x4 blocks of the screen row by row, ``tile`` its tiles; ``triangle`` counts through all draws.
    Quad q reads texture lines ``lines[starts[q] : starts[q + 1]]``, each once.
    """

    samples: int
    block: np.ndarray
    tile: np.ndarray
    triangle: np.ndarray
    depth_read: np.ndarray
    depth_written: np.ndarray
    colour_read: np.ndarray
    colour_written: np.ndarray
    starts: np.ndarray
    lines: np.ndarray

    def __len__(self) -> int:
        return len(self.block)

    def by_tiles(self) -> Accesses:
        """Return them tile after tile, in each in drawing order: as the back ends of bins come to them."""
        order = np.argsort(self.tile, kind="stable")
        counts = np.diff(self.starts)[order]
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts.astype(np.intp))
        return Accesses(
            samples=self.samples,
            block=self.block[order],
            tile=self.tile[order],
            triangle=self.triangle[order],
            depth_read=self.depth_read[order],
            depth_written=self.depth_written[order],
            colour_read=self.colour_read[order],
            colour_written=self.colour_written[order],
            starts=np.concatenate([[0], np.cumsum(counts)]),
            lines=self.lines[np.repeat(self.starts[:-1][order], counts.astype(np.intp)) + within],
        )


def accesses_of(frame: Frame, tile: int = 64, quads: tuple[Quads, ...] | None = None) -> Accesses:
    """Return the accesses of a frame; ``quads`` are those of each draw, where they are known already.

    Sorted blends count as they are drawn. Works triangle after triangle: some tens of microseconds for each.
    """
    found = _Found(frame)
    first = 0
    bases: dict[int, int] = {}
    next_line = 0
    for number, draw in enumerate(frame.draws):
        if quads is None:
            drawn = quads_of(draw.triangles, frame.width, frame.height, tile, frame.samples)
        else:
            drawn = quads[number]
        texture = draw.state.texture
        if texture is not None and id(texture) not in bases:
            bases[id(texture)] = next_line
            rows, columns = texture.texels.shape[:2]
            next_line += -(-rows // QUAD) * -(-columns // QUAD)
        found.draw(draw, drawn, first, bases.get(id(texture), 0))
        first += len(draw.triangles)
    return found.told()


class _Found:
    """The depth and stencil of every block while a frame is drawn, and the accesses so far."""

    def __init__(self, frame: Frame) -> None:
        self.samples = frame.samples
        self.places = (CENTRE,) if frame.samples == 1 else SAMPLES
        self.columns = -(-frame.width // QUAD)
        blocks = self.columns * -(-frame.height // QUAD)
        self.depths = np.full((blocks, BLOCK, frame.samples), FAR, np.int64)
        self.stencils = np.zeros((blocks, BLOCK, frame.samples), np.uint8)
        self.rows: list[tuple[np.ndarray, ...]] = []
        self.lines: list[np.ndarray] = []

    def draw(self, draw: Draw, quads: Quads, first: int, base: int) -> None:
        order = np.argsort(quads.triangle, kind="stable")
        edges = np.searchsorted(quads.triangle[order], np.arange(len(draw.triangles) + 1)).tolist()
        textured = draw.state.texture is not None
        if draw.state.texture is not None and draw.state.texture.mipmaps:
            hint = "lines of several levels are counted by the texture unit of the back end alone"
            raise InputError(Fault(f"draw {draw.name}: accesses of a texture with mipmaps", hint=hint))
        planes = [Interpolation.of(draw.triangles, place, textured=textured) for place in self.places]
        for number, (begin, end) in enumerate(pairwise(edges)):
            if begin < end:
                chosen = order[begin:end]
                part = Quads(*(getattr(quads, name)[chosen] for name in ("tile", "triangle", "x", "y", "masks")))
                self._triangle(draw, part, number, planes, (first + number, base))

    def _triangle(
        self, draw: Draw, quads: Quads, number: int, planes: list[Interpolation], names: tuple[int, int]
    ) -> None:
        state = draw.state
        block = quads.y // QUAD * self.columns + quads.x // QUAD
        i = quads.x[:, None] + np.arange(BLOCK) % QUAD
        j = quads.y[:, None] + np.arange(BLOCK) // QUAD
        covered = (quads.masks[:, None, :] >> np.arange(BLOCK, dtype=np.uint16)[:, None] & 1).astype(bool)
        pixels = (np.full(i.size, number), i.reshape(-1), j.reshape(-1))
        depths = np.stack([each.depths(*pixels).reshape(i.shape) for each in planes], axis=-1)
        there = self.depths[block]
        tested = state.depth_test is DepthTest.LESS
        nearer: np.ndarray = depths < there if tested else np.ones_like(covered)
        stencil = state.stencil
        steps = (stencil.failed, stencil.hidden) if stencil is not None else ()
        culls = tested and all(step is StencilStep.KEEP for step in steps)
        alive: np.ndarray = covered & nearer if culls else covered
        texture = state.texture if state.colour_write or state.cutout > 0 else None
        if texture is not None:
            place = covered.argmax(axis=-1).reshape(-1)
            found = np.stack([each.texels(*pixels) for each in planes])[place, np.arange(len(place))]
            u, v = (found[:, axis].reshape(i.shape) for axis in range(2))
        asking = alive
        if texture is not None and state.cutout:
            alive = alive & (filtered(texture, u, v)[..., 3] >= state.cutout)[..., None]
        seen = alive & nearer
        stepped = np.zeros(len(quads), bool)
        if stencil is not None:
            seen, stepped = self._step(stencil, block, alive, nearer)
        counts = np.zeros(len(quads), np.int64)
        if texture is not None:
            wanted = np.any(asking if state.cutout else seen, axis=-1)
            lines, counts = _texture_lines(u, v, wanted, texture.texels.shape[:2])
            self.lines.append(lines + names[1])
        if state.depth_write:
            self.depths[block] = np.where(seen, depths, there)
        touches = np.any(alive, axis=(1, 2))
        alive_quad, seen_quad = touches | (counts > 0), np.any(seen, axis=(1, 2))
        blended = state.blend is not Blend.REPLACE
        colour = seen_quad & state.colour_write
        self.rows.append(
            tuple(
                each[alive_quad]
                for each in (
                    block,
                    quads.tile,
                    np.full(len(quads), names[0]),
                    touches & (tested or stencil is not None),
                    seen_quad & state.depth_write | stepped,
                    colour & blended,
                    colour,
                    counts,
                )
            )
        )

    def _step(
        self, stencil: Stencil, block: np.ndarray, alive: np.ndarray, nearer: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Test and step the stencil; return what is seen, and in which quads it was stepped."""
        found = self.stencils[block]
        passed = alive
        if stencil.test is not StencilTest.ALWAYS:
            same = found == stencil.reference
            passed = alive & (same if stencil.test is StencilTest.EQUAL else ~same)
        where = (
            (alive & ~passed, stencil.failed),
            (passed & ~nearer, stencil.hidden),
            (passed & nearer, stencil.passed),
        )
        stepped = np.zeros(len(block), bool)
        result = found.copy()
        for chosen, step in where:
            if step is not StencilStep.KEEP:
                stepped |= chosen.any(axis=(1, 2))
                result[chosen] = _stepped(step, found, stencil.reference)[chosen]
        self.stencils[block] = result
        return passed & nearer, stepped

    def told(self) -> Accesses:
        """Return the accesses of all draws."""
        kinds = (np.int64, np.int64, np.int64, bool, bool, bool, bool, np.int64)
        columns = [
            np.concatenate([np.zeros(0, kind), *each]).astype(kind)
            for kind, each in zip(kinds, zip(*self.rows, strict=True) if self.rows else [()] * 8, strict=True)
        ]
        block, tile, triangle, depth_read, depth_written, colour_read, colour_written, counts = columns
        written = (depth_read, depth_written, colour_read, colour_written)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return Accesses(
            self.samples, block, tile, triangle, *written, starts, np.concatenate([np.zeros(0, np.int64), *self.lines])
        )


def _stepped(step: StencilStep, found: np.ndarray, reference: int) -> np.ndarray:
    match step:
        case StencilStep.ZERO:
            return np.zeros_like(found)
        case StencilStep.REPLACE:
            return np.full_like(found, reference)
        case StencilStep.UP:
            return found + np.uint8(1)
        case _:
            return found - np.uint8(1)


def _texture_lines(
    u: np.ndarray, v: np.ndarray, needed: np.ndarray, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lines of the four texels of each pixel that needs them, each once a quad, and how many a quad has."""
    height, width = shape
    columns = -(-width // QUAD)
    x, y = (at - TEXEL // 2 >> 16 for at in (u, v))
    places = [
        (y + down & height - 1) // QUAD * columns + (x + across & width - 1) // QUAD
        for down in (0, 1)
        for across in (0, 1)
    ]
    lines = np.where(needed[:, :, None], np.stack(places, axis=-1), -1).reshape(len(u), -1)
    lines.sort(axis=1)
    new = (lines >= 0) & np.concatenate([np.ones((len(u), 1), bool), lines[:, 1:] != lines[:, :-1]], axis=1)
    return lines[new], new.sum(axis=1)
