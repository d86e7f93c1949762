"""Plan of a draw: what the work of a draw says, in lists of whole numbers for the boxes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["AttributePlan", "BatchPlan", "DrawPlan", "InstructionPlan", "ProgramPlan", "ReadPlan", "TrianglePlan"]


@dataclass(frozen=True, slots=True)
class InstructionPlan:
    """One instruction as the decoder of a shader sees it."""

    latency: int
    """Cycles until its result can be used."""
    sources: tuple[int, ...]
    """Registers read that instructions can write."""
    destination: int
    """The register written; -1: none."""
    texture: int
    """Which texture read of the program it is; -1: none."""
    is_end: bool


@dataclass(frozen=True, slots=True)
class ProgramPlan:
    """A program and the registers that a thread of it takes."""

    instructions: tuple[InstructionPlan, ...]
    inputs: int
    outputs: int
    temporaries: int
    resources: int
    bytes: int
    """In memory, padded."""
    loads: bool
    """Whether it has to be loaded before the draw."""


@dataclass(frozen=True, slots=True)
class AttributePlan:
    """An attribute of vertices in memory."""

    address: int
    stride: int
    size: int


@dataclass(frozen=True, slots=True)
class TrianglePlan:
    """One assembled triangle."""

    needs: int
    """Vertices of the stream that have to be there."""
    frees: int
    """Vertices that it was the last to use."""
    outcome: int
    area: float
    """In pixels, negative where it faces away."""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Triangles that are traversed at once."""

    triangles: int
    descents: int
    scans: tuple[tuple[int, int, int], ...]
    """Of each scan tile: first step, steps, descents after which it is known."""


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """One texture read of the fragment program."""

    unit: int
    place: dict[int, int]
    """Where the samples of each quad begin in `samples`."""
    samples: list[tuple[tuple[tuple[tuple[int, int], ...], ...], ...]]
    """By quad: samples, of each its bilinear steps, of each its lines and how many texels are in them."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawPlan:
    """All of one draw."""

    number: int
    """Its place among the draws that take time."""
    indices: list[int]
    attributes: tuple[AttributePlan, ...]
    index_bytes: int
    """0 where the draw has no indices."""
    index_address: int
    triangles: tuple[TrianglePlan, ...]
    batches: tuple[BatchPlan, ...]
    vertex_program: ProgramPlan
    fragment_program: ProgramPlan
    early: bool
    """Whether depth is tested before shading."""
    hierarchical: bool
    """Whether hierarchical Z may cull."""
    culls_equal: bool
    """Whether a quad as deep as its block is culled."""
    tests: bool
    """Whether depth or stencil is tested."""
    blends: bool
    color_mask: int
    color_bytes: int
    """Mask of the 16 bytes of a quad whose components are written."""
    fragment_inputs: int
    """Attributes that are interpolated."""
    textures: int
    """Textures that this draw binds."""
    first_textures: int
    """Textures that are bound for the first time in the frame."""
    step_quads: list[tuple[int, ...]]
    """Of each step its quads with a covered fragment."""
    blocks: list[int]
    """Of each step its line of the frame buffer."""
    rops: bytes
    shaders: bytes
    steps_inside: list[tuple[int, int, int, int, int]]
    """Of each step how many quads have 0 to 4 fragments within the triangle, wherever on the screen."""
    steps_covered: list[int]
    """Of each step how many fragments are within triangle, scissor and viewport."""
    nearest: list[int]
    tested: bytes
    """Fragments that passed the tests."""
    to_depth: bytes
    """Fragments that come alive to the depth unit."""
    to_color: bytes
    """Fragments that come alive to the colour unit."""
    depth_words: list[int]
    color_words: list[int]
    reads: tuple[ReadPlan, ...]
