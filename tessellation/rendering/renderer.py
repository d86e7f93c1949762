"""A picture drawn by one node, region after region; every cycle is the sum of what executed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node, Run, stages_of
from pixelflow.simd.drawing import DEPTH_FRACTION, Frame, Picture, ScreenTriangles, State
from pixelflow.simd.errors import Fault, InputError
from tessellation.rendering.instructions import CHANNELS, Around, TriangleData, region_program
from tessellation.rendering.regions import REGION_HEIGHT, REGION_WIDTH, Region, regions

__all__ = [
    "NodeRuns",
    "RegionRun",
    "Rendering",
    "collect",
    "execute",
    "plain_triangles",
    "region_programs",
    "render",
    "require_plain",
    "require_region",
]


@dataclass(frozen=True, slots=True, eq=False)
class RegionRun:
    """What one region took."""

    left: int
    top: int
    triangles: int
    run: Run


@dataclass(frozen=True, slots=True, eq=False)
class NodeRuns:
    """What a node executed for a picture, region by region. The GPs' work is not modelled."""

    regions: tuple[RegionRun, ...]
    """One or more for each region, in the order in which they ran."""
    name: str = "node"

    @property
    def cycles(self) -> int:
        """EMC cycles of all regions."""
        return sum(each.run.cycles for each in self.regions)

    @property
    def cycles_by_stage(self) -> dict[str, int]:
        """Cycles for clearing, edges, depth and colour, and for the copy where the pictures of nodes are merged."""
        return stages_of(each.run for each in self.regions)

    @property
    def drawn(self) -> int:
        """Triangles drawn, once for each region that they reach into and each sample."""
        return sum(each.triangles for each in self.regions)

    @property
    def places(self) -> int:
        """How many regions there are."""
        return len({(each.left, each.top) for each in self.regions})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Rendering(NodeRuns):
    """A picture by one node, and its account."""

    picture: Picture


def render(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    *,
    background: tuple[int, int, int] = (0, 0, 0),
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Callable[[str], None] | None = None,
    watch: Callable[[Node], None] | None = None,
    node: Node | None = None,
    beside: Callable[[Region], Around | None] | None = None,
) -> Rendering:
    """Draw triangles on a simulated node, or on a ``node`` that is there already.

    ``progress`` is called with a line of text before each row of regions. ``watch`` is called with the node before it
    runs. ``beside`` is asked for each region what goes on beside its drawing. Raises InputError for a node that does
    not have a PE for each pixel of a region.
    """
    require_region(config)
    data = TriangleData.of(triangles)
    programs = (
        (region, region_program(data, region, background, beside=beside(region) if beside else None))
        for region in regions(triangles, width, height)
    )
    return execute(programs, width, height, config=config, engine=engine, progress=progress, watch=watch, node=node)


def execute(
    programs: Iterable[tuple[Region, Program]],
    width: int,
    height: int,
    *,
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Callable[[str], None] | None = None,
    watch: Callable[[Node], None] | None = None,
    node: Node | None = None,
) -> Rendering:
    """Run the programs of a picture's regions on a node and collect the pixels; arguments are those of `render`."""
    node = Node(config, engine) if node is None else node
    picture = Picture.empty(width, height)
    done: list[RegionRun] = []
    if watch is not None:
        watch(node)
    for region, program in programs:
        if progress is not None and region.left == 0:
            progress(f"rows {region.top} to {min(region.top + REGION_HEIGHT, height) - 1} of {height}")
        run = node.run(program)
        collect(node, _drawn(node, program), region, picture)
        done.append(RegionRun(region.left, region.top, len(region.triangles), run))
    return Rendering(tuple(done), picture=picture)


def region_programs(frame: Frame) -> tuple[Program, ...]:
    """Return the programs with which a node draws a frame of opaque triangles, region by region."""
    triangles = plain_triangles(frame)
    data = TriangleData.of(triangles)
    drawn = regions(triangles, frame.width, frame.height)
    return tuple(region_program(data, region, frame.background) for region in drawn)


def require_region(config: NodeConfig) -> None:
    """Raise InputError for a node that does not have a PE for each pixel of a region."""
    if config.lanes != REGION_WIDTH * REGION_HEIGHT:
        raise InputError(
            Fault(f"a region of {REGION_WIDTH}x{REGION_HEIGHT} pixels needs as many PEs, the node has {config.lanes}")
        )


def collect(node: Node, pixels: tuple[np.ndarray, np.ndarray], region: Region, picture: Picture) -> None:
    """Put the pixels of a region where they belong; what lies beyond the picture's edge is left out."""
    height, width = picture.depths.shape
    x, y = node.coordinates()
    seen = (x + region.left < width) & (y + region.top < height)
    place = (y[seen] + region.top, x[seen] + region.left)
    depths, colours = pixels
    picture.depths[place], picture.colours[place] = depths[seen], colours[seen]


def _drawn(node: Node, program: Program) -> tuple[np.ndarray, np.ndarray]:
    """Return depths, int64[lane], and colours, uint8[lane, rgb], of the pixels that PEs have drawn."""
    depth, *colours = (program.range(name) for name in ("depth", *CHANNELS))
    depths = (node.read_word(depth.start, depth.size) >> np.uint64(DEPTH_FRACTION)).astype(np.int64)
    return depths, np.stack([node.read_memory(place.start + place.size - 1)[0] for place in colours], axis=-1)


def plain_triangles(frame: Frame) -> ScreenTriangles:
    """Return the triangles of a frame in one piece, in their order.

    Raises InputError, naming the draws, for a frame that the PEs' program does not draw: it keeps the nearest depth and
    a colour, once a pixel.
    """
    require_plain(((draw.name, draw.state) for draw in frame.draws), frame.samples)
    return ScreenTriangles.joined([draw.triangles for draw in frame.draws])


def require_plain(draws: Iterable[tuple[str, State]], samples: int) -> None:
    """Raise InputError, as `plain_triangles` does, for draws of those names and states at ``samples`` a pixel.

    For callers that know how something is to look before they make its triangles.
    """
    others = [name for name, state in draws if not state.plain]
    wanted = [f"{', '.join(others)}: blending, textures, stencil or other tests"] if others else []
    wanted += [f"{samples} samples a pixel"] if samples != 1 else []
    if wanted:
        hint = "what is drawn here are opaque triangles without textures, at one sample; pixelflow render draws others"
        raise InputError(Fault(f"not drawn on PixelFlow here: {'; '.join(wanted)}", hint=hint))
