"""Meaning: covered quads through tests, shading and blending."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.coverage import DEPTH_MOST, Setup, Steps, cover
from attila_bridge.function.layout import (
    DEPTH_OUTPUT,
    QUAD_X,
    QUAD_Y,
    QUADS,
    TILE,
    clamped,
    line_of,
    registers_of,
    writes_depth,
)
from attila_bridge.function.shading import COLOR, Shaded, Shader
from attila_bridge.function.texture import UnitSampler
from attila_bridge.function.work import TextureWork
from attila_bridge.isa.operands import COMPONENTS, GROUP_LANES, RegisterBank
from attila_bridge.scene import Compare, DrawState, Factor, StencilOperation

# Quads that share a place on the screen are executed one after the other, all others together.


Places = NDArray[np.int64]


def in_turn(places: Places) -> Iterator[Places]:
    """Yield positions in turns in which no place is repeated; equal places follow each other in order."""
    if not len(places):
        return
    order = np.argsort(places, kind="stable")
    found = places[order]
    starts = np.flatnonzero(np.concatenate([[True], found[1:] != found[:-1]]))
    rank = np.arange(len(found)) - np.repeat(starts, np.diff(np.append(starts, len(found))))
    if not rank.any():
        yield np.arange(len(places))
        return
    by_rank = np.argsort(rank, kind="stable")
    past = np.cumsum(np.bincount(rank))
    for number, end in enumerate(past):
        yield order[by_rank[past[number - 1] if number else 0 : end]]


# Depth and stencil tests on words of the depth buffer: stencil in the 8 bits above 24 bits of depth.


Words = NDArray[np.uint32]
Bits = NDArray[np.bool_]
_DEPTH = np.uint32(0xFFFFFF)
_EIGHT = np.uint32(24)

_COMPARES: dict[Compare, Callable[[Words, Words], Bits]] = {
    Compare.NEVER: lambda new, old: np.zeros(new.shape, np.bool_),
    Compare.LESS: np.less,
    Compare.EQUAL: np.equal,
    Compare.LEQUAL: np.less_equal,
    Compare.GREATER: np.greater,
    Compare.NOTEQUAL: np.not_equal,
    Compare.GEQUAL: np.greater_equal,
    Compare.ALWAYS: lambda new, old: np.ones(new.shape, np.bool_),
}
_OPERATIONS: dict[StencilOperation, Callable[[Words, int], Words]] = {
    StencilOperation.KEEP: lambda old, ref: old,
    StencilOperation.ZERO: lambda old, ref: np.zeros_like(old),
    StencilOperation.REPLACE: lambda old, ref: np.full_like(old, ref),
    StencilOperation.INCR: lambda old, ref: np.minimum(old + np.uint32(1), np.uint32(255)),
    StencilOperation.DECR: lambda old, ref: np.where(old > 0, old - np.uint32(1), np.uint32(0)),
    StencilOperation.INVERT: lambda old, ref: ~old & np.uint32(255),
    StencilOperation.INCR_WRAP: lambda old, ref: old + np.uint32(1) & np.uint32(255),
    StencilOperation.DECR_WRAP: lambda old, ref: old - np.uint32(1) & np.uint32(255),
}


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """Result of the tests."""

    passed: Bits
    words: Words
    """The buffer after."""


def has_tests(state: DrawState) -> bool:
    """Return whether a draw tests depth or stencil."""
    return state.depth is not None or state.stencil is not None


def run_tests(state: DrawState, live: Bits, depth: Words, words: Words) -> Tested:
    """Test ``live`` fragments against the words of the buffer: stencil first, then depth, as in GL."""
    old_depth, old_stencil = words & _DEPTH, words >> _EIGHT
    nearer = np.ones(live.shape, np.bool_)
    if state.depth is not None:
        nearer = _COMPARES[state.depth.func](depth, old_depth)
    allowed = np.ones(live.shape, np.bool_)
    stencil = old_stencil
    if state.stencil is not None:
        rule = state.stencil
        allowed = _COMPARES[rule.func](np.full_like(old_stencil, rule.ref), old_stencil)
        failed, hidden, both = (
            _OPERATIONS[each](old_stencil, rule.ref) for each in (rule.fail, rule.zfail, rule.zpass)
        )
        stencil = np.where(live, np.where(allowed, np.where(nearer, both, hidden), failed), old_stencil)
    passed = live & allowed & nearer
    new_depth = old_depth
    if state.depth is not None and state.depth.write:
        new_depth = np.where(passed, depth, old_depth)
    return Tested(passed, stencil << _EIGHT | new_depth)


# Colour: float32 colours blended with the buffer, cut off to bytes and written under a mask of components.


Floats = NDArray[np.float32]
_ONE = np.float32(1)
_BYTE = np.float32(1.0 / 255.0)
_MOST = np.float32(255)
_SHIFTS = np.arange(0, 32, 8, dtype=np.uint32)


def _alpha(color: Floats) -> Floats:
    return np.broadcast_to(color[..., 3:], color.shape)


def _saturated(source: Floats, target: Floats) -> Floats:
    found = np.broadcast_to(np.minimum(source[..., 3:], _ONE - target[..., 3:]), source.shape).copy()
    found[..., 3] = _ONE
    return found


_FACTORS: dict[Factor, Callable[[Floats, Floats], Floats]] = {
    Factor.ZERO: lambda source, target: np.zeros_like(source),
    Factor.ONE: lambda source, target: np.ones_like(source),
    Factor.SRC_COLOR: lambda source, target: source,
    Factor.ONE_MINUS_SRC_COLOR: lambda source, target: _ONE - source,
    Factor.DST_COLOR: lambda source, target: target,
    Factor.ONE_MINUS_DST_COLOR: lambda source, target: _ONE - target,
    Factor.SRC_ALPHA: lambda source, target: _alpha(source),
    Factor.ONE_MINUS_SRC_ALPHA: lambda source, target: _ONE - _alpha(source),
    Factor.DST_ALPHA: lambda source, target: _alpha(target),
    Factor.ONE_MINUS_DST_ALPHA: lambda source, target: _ONE - _alpha(target),
    Factor.SRC_ALPHA_SATURATE: _saturated,
}


def packed(colors: Floats) -> Words:
    """Return float32[..., 4] colours as words: clamped to 0..1, times 255, truncated; red in the lowest byte."""
    scaled = (clamped(colors) * _MOST).astype(np.uint32)
    red, green, blue, alpha = (scaled[..., at] for at in range(4))
    return red | green << np.uint32(8) | blue << np.uint32(16) | alpha << np.uint32(24)


def color_word(color: Sequence[float]) -> int:
    """Return the word of a clear colour."""
    return int(packed(np.array(color, np.float32)))


def mask_word(mask: Sequence[bool]) -> int:
    """Return the bits of a colour word that a mask of components selects."""
    return sum(0xFF << 8 * at for at, each in enumerate(mask) if each)


def write_colors(state: DrawState, live: Bits, colors: Floats, words: Words) -> Words:
    """Return the words of the buffer after ``live`` fragments were written; colours float32[..., 4]."""
    if state.blend is not None:
        source = clamped(colors)
        target = (words[..., None] >> _SHIFTS & np.uint32(255)).astype(np.float32) * _BYTE
        first, second = (_FACTORS[each](source, target) for each in state.blend)
        colors = source * first + target * second
    mask = np.where(live, np.uint32(mask_word(state.color_mask)), np.uint32(0))
    return words & ~mask | packed(colors) & mask


# Fragments of a draw: coverage, tests, shading and colour of its quads, in stretches of bounded memory.


STRETCH = 1024
"""Steps executed together: 65,536 fragments."""
POSITION = 0
"""The input register of a fragment program that holds the position on the screen."""
_OVER = 64
Bytes = NDArray[np.uint8]


def mask_of(fragments: Bits) -> Bytes:
    """Return bool[quads, 4] as masks of four bits."""
    # Four booleans are a word of bytes 0 or 1; the product gathers them in its highest byte.
    words = np.ascontiguousarray(fragments).view(np.uint32)[:, 0]
    return (words * np.uint32(0x01020408) >> np.uint32(24)).astype(np.uint8)


def _least(values: Words) -> Words:
    return np.minimum(np.minimum(values[:, 0], values[:, 1]), np.minimum(values[:, 2], values[:, 3]))


@dataclass(slots=True, eq=False)
class FrameBuffers:
    """The colour and the depth buffer, quad by quad: uint32[quads, 4]."""

    width: int
    height: int
    across: int
    """Quads in a row of the buffers, which are whole over-tiles."""
    color: Words
    depth: Words

    @classmethod
    def cleared(cls, width: int, height: int, color: int, depth: int) -> FrameBuffers:
        """Return buffers full of these words."""
        across, up = (-(-size // _OVER) * _OVER // 2 for size in (width, height))
        return cls(
            *(width, height, across),
            np.full((across * up, 4), color, np.uint32),
            np.full((across * up, 4), depth, np.uint32),
        )

    def place(self, x: Places, y: Places) -> Places:
        """Return the numbers of quads at x, y in pixels."""
        return y // 2 * self.across + x // 2

    def rows(self, words: Words) -> Words:
        """Return a buffer as uint32[height, width], row 0 at the bottom."""
        quads = words.reshape(-1, self.across, 2, 2).transpose(0, 2, 1, 3)
        return quads.reshape(-1, 2 * self.across)[: self.height, : self.width].copy()

    def tiles(self) -> tuple[Places, Places]:
        """Return x and y in pixels of the 8x8 tile of each line of the buffers."""
        up = 2 * len(self.color) // self.across
        y, x = (TILE * each.ravel() for each in np.indices((up // TILE, 2 * self.across // TILE)))
        order = np.argsort(line_of(x, y, self.width))
        return x[order], y[order]

    def lines(self, words: Words) -> Words:
        """Return a buffer as uint32[lines, 64], the sixteen quads of a tile row by row."""
        x, y = self.tiles()
        quad = 2 * np.arange(16)
        places = self.place(x[:, None] + quad % TILE, y[:, None] + quad // TILE * 2)
        return words[places].reshape(len(x), 64)


class FragmentStage:
    """Fragments of one draw; results are [quads] or [quads, 4], 16 quads a step, as in `QuadWork`."""

    def __init__(
        self,
        frame: FrameBuffers,
        state: DrawState,
        shader: Shader,
        setup: Setup,
        vertices: Shaded,
        corners: NDArray[np.int64],
        sampler: UnitSampler,
    ) -> None:
        self._frame, self._state, self._shader, self._setup = frame, state, shader, setup
        program = shader.program
        self._inputs = registers_of(program, RegisterBank.INPUT)
        # [corner, component, triangle]: each is looked up for all quads at once.
        self._corners = {
            number: np.ascontiguousarray(vertices.output(number)[corners].transpose(1, 2, 0), np.float64)
            for number in self._inputs
            if number != POSITION
        }
        self._late = has_tests(state) and writes_depth(program)
        x, y, width, height = state.scissor or (0, 0, frame.width, frame.height)
        self._window = (x, y, min(width, frame.width - x), min(height, frame.height - y))
        self._sampler = sampler
        self._read: list[Places] = []

    def run(self, steps: Steps) -> None:
        """Execute all steps."""
        quads = QUADS * len(steps.x)
        self.inside, self.covered, self.tested, self.killed = (np.zeros(quads, np.uint8) for _ in range(4))
        self.nearest = np.full(quads, DEPTH_MOST, np.uint32)
        tests, colors = has_tests(self._state), any(self._state.color_mask)
        # Pages of zeros are shared until they are written, so unused arrays cost no memory.
        self.depth_words = np.zeros((quads, 4), np.uint32)
        self.color_words = np.zeros((quads, 4), np.uint32)
        for start in range(0, len(steps.x), STRETCH):
            part = slice(start, start + STRETCH)
            triangle, x, y = steps.triangle[part], steps.x[part], steps.y[part]
            self._stretch(start * QUADS, triangle, x, y, tests, colors)

    @property
    def textures(self) -> tuple[TextureWork, ...]:
        """The texture reads of all quads that were shaded."""
        if not self._sampler.reads:
            return ()
        quads = np.concatenate(self._read).astype(np.int32)
        return tuple(
            TextureWork(
                quads=quads,
                loops=np.concatenate([[0], np.cumsum(np.concatenate(reads.counts))]),
                samples=np.concatenate(reads.samples).astype(np.int32),
                texels=np.concatenate(reads.texels),
            )
            for _, reads in sorted(self._sampler.reads.items())
        )

    def _stretch(
        self, first: int, triangle: NDArray[np.int32], x: Places, y: Places, tests: bool, colors: bool
    ) -> None:
        found = cover(self._setup, triangle, x, y, self._window)
        self.inside[first : first + len(found.inside)] = mask_of(found.inside)
        covered = mask_of(found.covered)
        chosen = np.flatnonzero(covered)
        if not len(chosen):
            return
        found = found.only(chosen)
        step, quad = chosen // QUADS, chosen % QUADS
        here = first + chosen
        qx, qy = x[step] + QUAD_X[quad], y[step] + QUAD_Y[quad]
        place = self._frame.place(qx, qy)
        self.covered[here] = covered[chosen]
        self.nearest[here] = _least(np.where(found.covered, found.depth, np.uint32(DEPTH_MOST)))
        live, depth = found.covered, found.depth
        if tests and not self._late:
            live = self._test(here, place, live, depth)
        else:
            self.tested[here] = self.covered[here]
        shaded = np.flatnonzero(mask_of(live))
        if not len(shaded):
            return
        here, place, live, depth = here[shaded], place[shaded], live[shaded], depth[shaded]
        inputs = self._interpolated(triangle[step[shaded]], found.weights[:, :, shaded], qx[shaded], qy[shaded], depth)
        results = self._shader.quads(inputs, len(shaded), self._sampler)
        self._read.append(here)
        killed = results.killed.reshape(-1, 4)
        self.killed[here] = mask_of(killed & live)
        live = live & ~killed
        if tests and self._late:
            depth = np.trunc(clamped(results.output(DEPTH_OUTPUT)[:, 2].astype(np.float64)) * DEPTH_MOST)
            live = self._test(here, place, live, depth.astype(np.uint32).reshape(-1, 4))
        if colors:
            self._write(here, place, live, results.output(COLOR).reshape(-1, 4, COMPONENTS))

    def _test(self, here: Places, place: Places, live: Bits, depth: Words) -> Bits:
        """Test quads, those at one place in order; return the fragments that passed."""
        passed = np.zeros_like(live)
        words = self._frame.depth
        for turn in in_turn(place):
            at = place[turn]
            found = run_tests(self._state, live[turn], depth[turn], words[at])
            words[at] = found.words
            passed[turn] = found.passed
            self.depth_words[here[turn]] = found.words
        self.tested[here] = mask_of(passed)
        return passed

    def _write(self, here: Places, place: Places, live: Bits, colors: NDArray[np.float32]) -> None:
        """Write colours of quads, those at one place in order."""
        words = self._frame.color
        for turn in in_turn(place):
            at = place[turn]
            words[at] = write_colors(self._state, live[turn], colors[turn], words[at])
            self.color_words[here[turn]] = words[at]

    def _interpolated(
        self, triangle: NDArray[np.int32], weights: NDArray[np.float64], x: Places, y: Places, depth: Words
    ) -> dict[int, NDArray[np.float32]]:
        """Return the inputs of quads, float32[quads, 16]."""
        inputs = {}
        with np.errstate(all="ignore"):
            shares = weights * (1.0 / (weights[0] + weights[1] + weights[2]))
            for number, corners in self._corners.items():
                values = inputs[number] = np.empty((len(triangle), 4, COMPONENTS), np.float32)
                for component in range(COMPONENTS):
                    first, second, third = (shares[at] * corners[at, component][triangle] for at in range(3))
                    first += second
                    first += third
                    values[..., component] = first.T
        if POSITION in self._inputs:
            f = np.arange(4)
            position = np.ones((len(x), 4, COMPONENTS), np.float32)
            position[..., 0], position[..., 1] = x[:, None] + f % 2, y[:, None] + f // 2
            position[..., 2] = depth / DEPTH_MOST
            inputs[POSITION] = position
        return {number: values.reshape(-1, GROUP_LANES) for number, values in inputs.items()}
