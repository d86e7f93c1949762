"""A picture drawn by one node, region after region; every cycle is the sum of what executed.

Regions are independent, and their programs clear what they draw on: pixels and cycles of one are the same on any node,
whatever it did before.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node, Run, stages_of
from pixelflow.simd.drawing import DEPTH_FRACTION, FAR, Frame, Picture, ScreenTriangles, State
from pixelflow.simd.errors import Fault, InputError
from tessellation.rendering.instructions import (
    CHANNELS,
    REGION_HEIGHT,
    REGION_WIDTH,
    Around,
    Region,
    TriangleData,
    region_program,
    regions,
)


class RegionRun(NamedTuple):
    """Account of one region, or of a step of it."""

    left: int
    top: int
    triangles: int
    cycles: int
    by_stage: Mapping[str, int]
    run: Run
    does: str = "drawing"
    """The step, in a word."""

    @classmethod
    def of(cls, region: Region, triangles: int, run: Run, does: str = "drawing") -> RegionRun:
        return cls(region.left, region.top, triangles, run.cycles, run.by_stage, run, does)


@dataclass(frozen=True, slots=True, eq=False)
class NodeRuns:
    """Runs of a node for a picture, region by region. The GPs' work is not modelled."""

    regions: tuple[RegionRun, ...]
    """One or more for each region, in execution order."""
    name: str = "node"

    @property
    def cycles(self) -> int:
        """EMC cycles of all regions."""
        return sum(each.cycles for each in self.regions)

    @property
    def cycles_by_stage(self) -> dict[str, int]:
        return stages_of(self.regions)

    @property
    def drawn(self) -> int:
        """Triangles drawn, once for each sample and each region that they reach into."""
        return sum(each.triangles for each in self.regions)

    @property
    def places(self) -> int:
        """Number of regions."""
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
    progress: Callable[[str], object] | None = None,
    watch: Callable[[Node], None] | None = None,
    node: Node | None = None,
) -> Rendering:
    """Draw triangles on a simulated node, or on an existing ``node``.

    ``progress`` is called with a line of text before each row of regions, ``watch`` with the node before it runs.
    Raises InputError for a node that does not have a PE for each pixel of a region.
    """
    require_region(config)
    data = TriangleData.of(triangles)
    programs = ((each, region_program(data, each, background)) for each in regions(triangles, width, height))
    if node is None and watch is None:
        with _node_of_thread(config, engine) as kept:
            return execute(programs, width, height, progress=progress, node=kept)
    return execute(programs, width, height, config=config, engine=engine, progress=progress, watch=watch, node=node)


def execute(
    programs: Iterable[tuple[Region, Program]],
    width: int,
    height: int,
    *,
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Callable[[str], object] | None = None,
    watch: Callable[[Node], None] | None = None,
    node: Node | None = None,
) -> Rendering:
    """Run the programs of a picture's regions on a node and collect the pixels; arguments are those of `render`."""
    node = Node(config, engine) if node is None else node
    if watch is not None:
        watch(node)
    found = (_executed(node, region, program) for region, program in programs)
    return put_together(found, width, height, progress)


def drawn_regions(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    background: tuple[int, int, int],
    node: Node,
    during: Callable[[Region], Around | None],
    chosen: Callable[[Sequence[Region]], int],
) -> Iterator[RegionDrawn]:
    """Draw the regions of a picture on a node, each when it is asked for, overlapped with the work ``during`` it.

    ``chosen`` returns the index of the next one of those that remain.
    """
    require_region(node.config)
    data, waiting = TriangleData.of(triangles), list(regions(triangles, width, height))
    while waiting:
        region = waiting.pop(chosen(waiting))
        yield _executed(node, region, region_program(data, region, background, during=during(region)))


RegionDrawn = tuple[RegionRun, Picture]


class _Kept(threading.local):
    """The node of a thread that draws: kept from one picture to the next, absent meanwhile."""

    node: Node | None = None
    of: tuple[NodeConfig, str] | None = None


_kept = _Kept()


@contextlib.contextmanager
def _node_of_thread(config: NodeConfig, engine: str) -> Iterator[Node]:
    """Lend the node that this thread has drawn with; an interrupted one is not used again."""
    of = config, engine
    node = _kept.node if _kept.of == of else None
    _kept.node, _kept.of = None, of
    node = Node(*of) if node is None else node
    yield node
    _kept.node = node


def _executed(node: Node, region: Region, program: Program) -> RegionDrawn:
    run = node.run(program)
    program.forget()
    return RegionRun.of(region, len(region.triangles), run), _plane(node, _drawn(node, program))


def put_together(
    found: Iterable[RegionDrawn], width: int, height: int, progress: Callable[[str], object] | None = None
) -> Rendering:
    """Return the picture of regions that arrive row by row."""
    picture = Picture.empty(width, height)
    done: list[RegionRun] = []

    def corners() -> Iterator[tuple[int, int]]:
        for top in range(0, height, REGION_HEIGHT):
            if progress is not None:
                progress(f"rows {top} to {min(top + REGION_HEIGHT, height) - 1} of {height}")
            yield from ((left, top) for left in range(0, width, REGION_WIDTH))

    for corner, (took, part) in zip(corners(), found, strict=True):
        _put(part, corner, picture)
        done.append(took)
    return Rendering(tuple(done), picture=picture)


def region_programs(frame: Frame) -> tuple[Program, ...]:
    """Return the programs that draw a frame of opaque triangles, region by region."""
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
    """Copy the pixels of a region into the picture; those beyond its edge are left out."""
    _put(_plane(node, pixels), (region.left, region.top), picture)


def _plane(node: Node, pixels: tuple[np.ndarray, np.ndarray]) -> Picture:
    """Return pixels in lane order as a picture of one region."""
    x, y = node.coordinates()
    depths, colours = pixels
    lanes = np.full(REGION_HEIGHT * REGION_WIDTH, len(depths))  # one past the last, where no PE is
    lanes[np.ravel_multi_index((y, x), (REGION_HEIGHT, REGION_WIDTH))] = np.arange(len(depths))
    colours = np.append(colours, np.zeros((1, 3), np.uint8), axis=0).take(lanes, axis=0)
    depths = np.append(depths, FAR).take(lanes)
    return Picture(colours.reshape(REGION_HEIGHT, REGION_WIDTH, 3), depths.reshape(REGION_HEIGHT, REGION_WIDTH))


def _put(part: Picture, corner: tuple[int, int], picture: Picture) -> None:
    """Copy the picture of a region, whose first pixel is at (left, top), into the whole."""
    left, top = corner
    place = slice(top, top + REGION_HEIGHT), slice(left, left + REGION_WIDTH)
    height, width = picture.depths[place].shape
    picture.depths[place] = part.depths[:height, :width]
    picture.colours[place] = part.colours[:height, :width]


def _drawn(node: Node, program: Program) -> tuple[np.ndarray, np.ndarray]:
    """Return the depths, int64[lane], and colours, uint8[lane, rgb], that PEs have drawn."""
    depth, *colours = (program.range(name) for name in ("depth", *CHANNELS))
    whole = DEPTH_FRACTION // 8  # bytes of the fraction
    depths = node.read_word(depth.start + whole, depth.size - whole).astype(np.int64)
    return depths, np.stack([node.read_memory(place.start + place.size - 1)[0] for place in colours], axis=-1)


def plain_triangles(frame: Frame) -> ScreenTriangles:
    """Return the triangles of a frame, in drawing order.

    Raises InputError, naming the draws, for a frame that needs more than the nearest depth and a colour of each pixel.
    """
    require_plain(((draw.name, draw.state) for draw in frame.draws), frame.samples)
    return ScreenTriangles.joined([draw.triangles for draw in frame.draws])


def require_plain(draws: Iterable[tuple[str, State]], samples: int) -> None:
    """Raise InputError as `plain_triangles` does, for callers that know states before they make triangles."""
    others = [name for name, state in draws if not state.plain]
    wanted = [f"{', '.join(others)}: blending, textures, stencil or other tests"] if others else []
    wanted += [f"{samples} samples a pixel"] if samples != 1 else []
    if wanted:
        hint = "what is drawn here are opaque triangles without textures, at one sample; pixelflow render draws others"
        raise InputError(Fault(f"not drawn on PixelFlow here: {'; '.join(wanted)}", hint=hint))
