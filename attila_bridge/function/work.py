"""Work of a frame: the results of drawing it that the boxes of `time/` need.

Everything here is a plain integer or an array of integers. y counts upwards, as in the frame buffer; tiles are named by
their position in pixels. A *quad* is 2x2 fragments, fragment f of it at (x + f % 2, y + f // 2); 16 quads are an
8x8 tile (one line of 256 bytes of the colour and of the depth buffer); 2x2 of those are a *scan tile* of 16x16 pixels.
Masks of fragments have bit f for fragment f. End tokens, which boxes send, are not counted here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NONE = -1
"""A register, texture read or descent that does not exist."""
PAGE_BYTES = 4096
"""Bytes of the pages in which buffers, levels of textures, arrays and programs are stored."""

Bytes = NDArray[np.uint8]
Shorts = NDArray[np.int16]
Integers = NDArray[np.int32]
Words = NDArray[np.uint32]
Offsets = NDArray[np.int64]


class TriangleOutcome(IntEnum):
    """Fate of an assembled triangle, in the order of the boxes that decide it."""

    DEGENERATE = 0
    """Names an index twice: dropped in assembly."""
    OUTSIDE = 1
    """All corners outside one plane of the frustum: rejected by the Clipper."""
    EMPTY = 2
    """Its area is zero: dropped in setup."""
    CULLED = 3
    """Faces away and faces are culled: dropped in setup."""
    DRAWN = 4
    """Goes to traversal."""


class InstructionWork(NamedTuple):
    """One instruction as the decoder of a shader sees it."""

    latency: int
    """Cycles until its result can be used: one more than declared."""
    sources: tuple[int, ...]
    """Registers read that instructions can write, by `register_id`."""
    destination: int
    """The register written, by `register_id`, or NONE."""
    texture: int
    """Number among the texture reads of the program, or NONE."""
    is_end: bool
    """True if it is the last one."""


@dataclass(frozen=True, slots=True)
class ProgramWork:
    """A program as loaded."""

    instructions: tuple[InstructionWork, ...]
    inputs: int
    """Input registers that are read."""
    outputs: int
    """Output registers that are written; the depth of a fragment is not one of them."""
    temporaries: int
    """Temporary registers: the highest number used + 1."""
    address: int | None
    """Where the draw loads it from; None where an earlier draw of the frame loaded the same program."""

    registers: int = field(init=False)
    """Registers of one thread."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "registers", max(1, self.inputs, self.outputs, self.temporaries))


class UploadWork(NamedTuple):
    """Bytes that the command processor writes to memory before the draw that uses them first: an array or a level."""

    name: str
    address: int
    size: int
    """Bytes written, without the free rest of the last page."""
    draw: int
    """The draw that uses it first."""


class ClearWork(NamedTuple):
    """Values that the buffers are cleared to; None where one is not cleared."""

    color: int | None
    """Red in the lowest byte, alpha in the highest."""
    depth: int | None
    """Depth in 24 bits; stencil is in the 8 bits above them."""
    stencil: int | None

    @property
    def depth_word(self) -> int:
        """Word of the depth buffer after the clear: stencil x 2^24 + depth, 0 and 0xffffff where not cleared."""
        depth = 0xFFFFFF if self.depth is None else self.depth
        return (self.stencil or 0) << 24 | depth


class StateWork(NamedTuple):
    """State of a draw, as far as boxes need it."""

    depth_test: bool
    depth_func: str
    """never, less, equal, lequal, greater, notequal, gequal, always."""
    stencil_test: bool
    blend: bool
    color_mask: int
    """Components of colour that are written: bit 0 is red."""
    early_z: bool
    """True if depth is tested before shading, since the fragment program does not write it."""
    hz: bool
    """True if hierarchical Z may cull, given the tests and what was written since the clear."""
    textures: tuple[int, ...]
    """Texture units bound, in order."""
    index_bytes: int
    """Bytes of an index in memory; 0 where there are no indices."""
    index_address: int


class AttributeWork(NamedTuple):
    """One attribute of vertices in memory: vertex i at ``address + stride i``."""

    register: int
    """Number of the input register."""
    address: int
    stride: int
    """Bytes from vertex to vertex."""
    size: int
    """Bytes of an element."""


@dataclass(frozen=True, slots=True, eq=False)
class VertexWork:
    """The stream of vertices of a draw."""

    indices: Integers
    """[count] indices in the order in which they are fetched."""
    attributes: tuple[AttributeWork, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TriangleWork:
    """Triangles in the order of assembly."""

    corners: Integers
    """[n, 3] positions in the stream of indices."""
    outcome: Bytes
    """[n] of `TriangleOutcome`."""
    area: NDArray[np.float64]
    """[n] area on the screen in pixels, negative for those that face away; 0 of those that never reached set-up."""
    together: int
    """Triangles of a primitive: two of a quad, whose vertices are given back after both."""

    @property
    def drawn(self) -> Integers:
        """Numbers of the triangles that go to traversal, in order."""
        return np.flatnonzero(self.outcome == TriangleOutcome.DRAWN).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class BatchWork:
    """Traversal of up to four drawn triangles at once.

    Tiles are visited depth first: each *descent* splits up to four tiles of the present level; the rest of the level
    waits. A batch within one scan tile has no descents.
    """

    triangles: tuple[int, ...]
    """Numbers of assembled triangles, at most four."""
    descents: Integers
    """[d, 3]: size in pixels of the tiles split, how many (1 to 4), how many of their children stay."""
    scans: Integers
    """[s, 5]: x, y, marked triangles (bit k for ``triangles[k]``), the first step (see `QuadWork`), and the descent
    that finds the scan tile (NONE: known at the beginning), in the order in which they are opened."""


@dataclass(frozen=True, slots=True, eq=False)
class QuadWork:
    """Quads of a draw in the order in which traversal emits them: by batch, scan tile, 8x8 tile, triangle.

    A *step* is one (8x8 tile, marked triangle) with all of its 16 quads, covered or not: quads 16 s to 16 s + 15 are
    step s, in the order of rows within the tile.
    """

    triangle: Integers
    """[steps] number of the assembled triangle."""
    tile_x: Shorts
    """[steps] position of the 8x8 tile in pixels."""
    tile_y: Shorts
    batch_steps: Offsets
    """[batches + 1] first step of each batch."""
    block: Integers
    """[steps] number of the tile's line in the frame buffer."""
    rop: Bytes
    """[steps] the ROP that it belongs to."""
    shader: Bytes
    """[steps] the shader that it belongs to."""
    inside: Bytes
    """[quads] fragments within triangle and depth range, wherever on the screen."""
    covered: Bytes
    """[quads] fragments within triangle, scissor, viewport and depth range."""
    nearest: Words
    """[quads] least depth of covered fragments, 24 bits; 0xffffffff where none is."""
    tested: Bytes
    """[quads] fragments that passed depth and stencil; what is covered where both are off."""
    killed: Bytes
    """[quads] fragments that the program killed, of those that it shaded."""
    depth_words: Words
    """[quads, 4] words of the depth buffer after this quad was tested; all 0 where the draw has no test."""
    color_words: Words
    """[quads, 4] words of the colour buffer after this quad was written; all 0 where the draw writes no colour."""


@dataclass(frozen=True, slots=True, eq=False)
class TextureWork:
    """One texture read of the fragment program, for all quads that are shaded, in the order of `QuadWork`.

    With early Z those are the quads with a fragment that passed, else those with a covered one.
    """

    quads: Integers
    """[m] numbers of quads."""
    loops: Offsets
    """[m + 1] first bilinear step of each quad in ``texels``."""
    samples: Integers
    """[m] samples of each quad, of one or two bilinear steps each."""
    texels: Words
    """[loops, 4, 4] addresses in bytes of the texels of each fragment, at (0, 0), (1, 0), (0, 1), (1, 1); four times
    the same where the filter takes the nearest texel."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawWork:
    """A draw."""

    number: int
    state: StateWork
    vertex_program: ProgramWork
    fragment_program: ProgramWork
    vertices: VertexWork
    triangles: TriangleWork
    batches: tuple[BatchWork, ...]
    quads: QuadWork
    textures: tuple[TextureWork, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BeforeWork:
    """Buffers left by the draws before the timed ones, which were drawn without time."""

    draws: int
    color: Words
    """[blocks, 64] words of each line of the colour buffer, in the order of quads."""
    depth: Words
    rops: Bytes
    """[blocks] the ROP that each line belongs to."""
    textures: tuple[int, ...]
    """Texture units that were bound."""


@dataclass(frozen=True, slots=True, eq=False)
class AttilaWork:
    """A frame of a scene."""

    size: tuple[int, int]
    """Width and height in pixels."""
    clear: ClearWork
    uploads: tuple[UploadWork, ...]
    """In the order in which they are needed."""
    color_address: int
    depth_address: int
    """Where the buffers begin in memory; line b of 256 bytes is ``address + 256 b``."""
    blocks: int
    """Lines of the colour buffer, and of the depth buffer."""
    draws: tuple[DrawWork, ...]
    color: Words
    """[height, width] the picture, row 0 at the bottom: red in the lowest byte."""
    depth: Words
    """[height, width] the depth buffer: stencil x 2^24 + depth."""
    before: BeforeWork | None = None
    """Buffers left by the draws before ``draws``; None where ``draws`` are all."""

    @property
    def picture(self) -> Bytes:
        """[height, width, 3] red, green, blue, the top row first as in files."""
        words = self.color[::-1]
        return np.stack([(words >> shift & 255).astype(np.uint8) for shift in (0, 8, 16)], axis=-1)
