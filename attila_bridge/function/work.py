"""Work of a frame: what the picture's arithmetic found out and the boxes of `time/` take their time for.

Everything here is a plain integer or an array of integers. y counts upwards, as in the frame buffer; tiles are named by
their position in pixels. A *quad* is 2x2 fragments, fragment f of it at (x + f % 2, y + f // 2); 16 quads are an
8x8 tile (one line of 256 bytes of the colour and of the depth buffer); 2x2 of those a *scan tile* of 16x16 pixels.
Masks of fragments have bit f for fragment f. Counts of end tokens are not in here: tokens are the boxes' business.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

NONE = -1
"""Stands for a register, a texture unit or a triangle that is not there."""

Bytes = NDArray[np.uint8]
Shorts = NDArray[np.int16]
Integers = NDArray[np.int32]
Words = NDArray[np.uint32]
Offsets = NDArray[np.int64]


class TriangleOutcome(IntEnum):
    """What became of an assembled triangle, in the order in which the boxes find out."""

    DEGENERATE = 0
    """ProgramNames an index twice: dropped in assembly."""
    OUTSIDE = 1
    """All corners outside one plane of the frustum: rejected by the Clipper."""
    EMPTY = 2
    """Its area is zero: dropped in setup."""
    CULLED = 3
    """Faces away and faces are culled: dropped in setup."""
    DRAWN = 4
    """Goes to traversal."""


@dataclass(frozen=True, slots=True)
class InstructionWork:
    """One instruction as a shader sees it."""

    opcode: str
    """ATTILA's name in capitals (`MAD`, `TEX`)."""
    latency: int
    """Cycles of the table; a dependent may execute one more cycle after."""
    sources: tuple[int, ...]
    """Registers read, by `register_id`, each as often as it is an operand; constants included."""
    destination: int
    """The register written, by `register_id`; NONE where there is none."""
    write_mask: int
    """Components written: bit 0 is x."""
    texture_unit: int
    """The unit that it reads from; NONE where it reads no texture."""
    is_end: bool
    """True if it is the last one."""


@dataclass(frozen=True, slots=True)
class ProgramWork:
    """A program as loaded: 16 bytes an instruction."""

    name: str
    instructions: tuple[InstructionWork, ...]
    inputs: int
    """Input registers that are read."""
    outputs: int
    """Output registers that are written."""
    temporaries: int
    """Temporary registers: the highest number used + 1."""
    constants: int
    """Constant registers: the highest number used + 1."""
    writes_depth: bool
    """True if a fragment program writes depth, so that the depth test comes after it."""
    kills: bool
    """True if a fragment program may kill fragments."""
    loaded_before: bool
    """True if an earlier draw of the frame loaded the same program, so that it needs no new load."""

    @property
    def registers(self) -> int:
        """Registers that a thread of it takes."""
        return max(1, self.inputs, self.outputs, self.temporaries)


@dataclass(frozen=True, slots=True)
class UploadWork:
    """Bytes that the command processor writes to memory before the draw that uses them first.

    A texture is one for each of its levels, under one name.
    """

    name: str
    address: int
    size: int
    """Bytes that are written, without what is left free up to the next page."""
    draw: int
    """The draw that uses it first."""


@dataclass(frozen=True, slots=True)
class ClearWork:
    """What the frame begins with; None where a buffer is not cleared."""

    color: int | None
    """Red in the lowest byte, alpha in the highest."""
    depth: int | None
    """Depth in 24 bits; stencil is in the 8 bits above them."""
    stencil: int | None

    @property
    def depth_word(self) -> int:
        """The word of the depth buffer after the clear: stencil x 2^24 + depth; not cleared is 0xffffff and 0."""
        depth = 0xFFFFFF if self.depth is None else self.depth
        return (self.stencil or 0) << 24 | depth


@dataclass(frozen=True, slots=True)
class StateWork:
    """State of a draw as boxes need it."""

    depth_test: bool
    depth_func: str
    """never, less, equal, lequal, greater, notequal, gequal, always."""
    depth_write: bool
    stencil_test: bool
    blend: bool
    color_mask: int
    """Components of colour that are written: bit 0 is red."""
    color_write: bool
    """True if any component is."""
    cull: bool
    """True if back faces are dropped."""
    early_z: bool
    """True if the depth unit comes before shading, as the fragment program leaves depth alone."""
    hz: bool
    """True if hierarchical Z may cull in this draw: tests, operations, what was written since the clear."""
    textures: tuple[int, ...]
    """Texture units bound, in order."""
    indexed: bool
    index_bytes: int
    """Bytes of an index in memory; 0 where not indexed."""
    index_address: int
    scissor: tuple[int, int, int, int] | None
    """x, y, width, height in pixels."""


@dataclass(frozen=True, slots=True)
class AttributeWork:
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
    box: Shorts
    """[n, 4] bounding boxes of drawn ones in pixels: least x, least y, greatest x, greatest y, inclusive; else 0."""

    area: NDArray[np.float64]
    """[n] area on the screen in pixels, negative for those that face away; 0 of those that did not come to setup."""

    @property
    def drawn(self) -> Integers:
        """Which triangles go to traversal, in order."""
        return np.flatnonzero(self.outcome == TriangleOutcome.DRAWN).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class BatchWork:
    """Traversal of up to four drawn triangles at once.

    Tiles are visited depth first: of the present level up to four are split at once; what is left of a level waits. A
    *descent* is such a step. Where the top tile is one scan tile there are no descents.
    """

    triangles: tuple[int, ...]
    """Numbers of assembled triangles, at most four."""
    top: tuple[int, int, int]
    """x, y and size in pixels of the tile that covers all of them."""
    descents: Integers
    """[d, 3]: size in pixels of the tiles split, how many (1 to 4), how many of their children stay."""
    scans: Integers
    """[s, 5]: x, y, which triangles are marked (bit k for ``triangles[k]``), the first step (see `QuadWork`), and the
    descent after which the scan tile is known (NONE: from the beginning), in the order in which they are opened."""


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
    """[quads] fragments that the program killed, of those that it was executed for."""
    written: Bytes
    """[quads] fragments whose colour is written (survived everything; 0 where the colour mask is empty)."""
    depth_written: Bytes
    """[quads] fragments whose word of the depth buffer is written by the tests (depth or stencil)."""
    depth_words: Words
    """[quads, 4] words of the depth buffer once this quad has been tested; all 0 where the draw has no test."""
    color_words: Words
    """[quads, 4] words of the colour buffer once this quad has been written; all 0 where the draw writes no colour."""


@dataclass(frozen=True, slots=True, eq=False)
class TextureWork:
    """One texture read of the fragment program, for all quads that are shaded (in the order of `QuadWork`).

    With early Z those are the quads with a fragment that passed, else those with one that is covered.
    """

    instruction: int
    unit: int
    quads: Integers
    """[m] numbers of quads."""
    loops: Offsets
    """[m + 1] where each quad's bilinear steps begin in ``texels``."""
    samples: Integers
    """[m] samples of each quad, one after the other, of one or two bilinear steps each."""
    texels: Words
    """[loops, 4, 4] addresses in bytes of the texels for each fragment of the quad, ((0, 0), (1, 0), (0, 1), (1, 1));
    where a filter takes the nearest one only, the same four times."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawWork:
    """All of one draw."""

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
    """What draws left that were drawn by function alone: they are not among those of the work."""

    draws: int
    color: Words
    """[blocks, 64] words of each line of the colour buffer, in the order of quads."""
    depth: Words
    rops: Bytes
    """[blocks] the ROP that each line belongs to."""
    textures: tuple[int, ...]
    """Units to which a texture was bound."""


@dataclass(frozen=True, slots=True, eq=False)
class AttilaWork:
    """All of one frame of a scene."""

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
    end_address: int
    """The first address past all buffers and textures: programs lie there."""
    draws: tuple[DrawWork, ...]
    color: Words
    """[height, width] the picture, row 0 at the bottom: red in the lowest byte."""
    depth: Words
    """[height, width] the depth buffer: stencil x 2^24 + depth."""
    before: BeforeWork | None = None
    """What the draws before ``draws`` left; None where ``draws`` are all."""

    @property
    def picture(self) -> Bytes:
        """[height, width, 3] red, green, blue with the top row first, as pictures are kept in files."""
        words = self.color[::-1]
        return np.stack([(words >> shift & 255).astype(np.uint8) for shift in (0, 8, 16)], axis=-1)
