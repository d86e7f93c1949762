"""Several nodes draw one picture: each gets a share of the triangles, and the nearest depth wins, pixel by pixel.

The thesis's image composition network merges the regions of all nodes by depth (2.2.2, steps 4 and 5). What it merges
is here; how long that takes, of which the thesis says nothing, is a formula in `composition_time.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import Frame, Picture, ScreenTriangles
from tessellation.rendering.composition_time import CompositionTime, RegionWork, composition_time
from tessellation.rendering.instructions import COPY_STAGE
from tessellation.rendering.regions import REGION_HEIGHT
from tessellation.rendering.renderer import RegionRun, Rendering, collect, plain_triangles, render, require_region
from tessellation.rendering.shading import (
    ShadedFrame,
    load_textures,
    read_pixels,
    record_program,
    require_drawn,
    shade_region,
    sorted_layers,
)

__all__ = ["Composed", "compose", "render_frame", "render_on_nodes", "shares", "works_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """A picture, what each node drew of it, and with more than one when it is composed: a formula."""

    picture: Picture
    nodes: tuple[Rendering, ...]
    time: CompositionTime | None


def render_frame(
    frame: Frame,
    nodes: int,
    *,
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Callable[[str], None] | None = None,
    watch: Callable[[Node], None] | None = None,
) -> Composed:
    """Draw a frame on nodes side by side, with the arguments of `render`.

    Raises InputError where several are to draw what is not plain, or one what `require_drawn` refuses.
    """
    machine = {"config": config, "engine": engine, "progress": progress, "watch": watch}
    if nodes > 1 or frame.plain:
        triangles, size = plain_triangles(frame), (frame.width, frame.height)
        return render_on_nodes(triangles, *size, nodes, background=frame.background, **machine)
    drawn = _shaded(frame, config, engine, progress, watch)
    return Composed(drawn.picture, (drawn,), None)


def _shaded(
    frame: Frame,
    config: NodeConfig,
    engine: str,
    progress: Callable[[str], None] | None,
    watch: Callable[[Node], None] | None,
) -> Rendering:
    """Draw a frame of opaque draws on one node; textures are loaded first, and that is part of the account."""
    require_region(config)
    require_drawn(((draw.name, draw.state) for draw in frame.draws), frame.samples)
    shaded, node = ShadedFrame.of(frame, config), Node(config, engine)
    picture = Picture.empty(frame.width, frame.height)
    if watch is not None:
        watch(node)
    done: list[RegionRun] = []
    if shaded.textures.textures:
        done.append(RegionRun(0, 0, 0, load_textures(node, shaded.textures)))
    for region in shaded.regions():
        if progress is not None and region.left == 0:
            progress(f"rows {region.top} to {min(region.top + REGION_HEIGHT, frame.height) - 1} of {frame.height}")
        records = node.run(record_program(shaded, region))
        done.append(RegionRun(region.left, region.top, len(region.triangles), records))
        shading = shade_region(node, shaded, shaded.present(region.triangles.tolist()))
        if shading is not None:
            done.append(RegionRun(region.left, region.top, 0, shading))
        layers = sorted_layers(node, shaded, region, plane=0)
        done += [RegionRun(region.left, region.top, 0, run) for run in layers]
        collect(node, read_pixels(node, shaded.record), region, picture)
    return Rendering(picture=picture, regions=tuple(done))


def render_on_nodes(
    triangles: ScreenTriangles,
    width: int,
    height: int,
    nodes: int,
    *,
    background: tuple[int, int, int] = (0, 0, 0),
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Callable[[str], None] | None = None,
    watch: Callable[[Node], None] | None = None,
) -> Composed:
    """Draw triangles on nodes side by side, with the arguments of `render`. Raises InputError as it does."""
    drawn = tuple(
        render(
            share, width, height, background=background, composed=nodes > 1,
            config=config, engine=engine, progress=progress, watch=watch,
        )
        for share in shares(triangles, nodes)
    )  # fmt: skip
    picture = compose([each.picture for each in drawn])
    return Composed(picture, drawn, composition_time(works_of(drawn), config) if nodes > 1 else None)


def shares(triangles: ScreenTriangles, nodes: int) -> list[ScreenTriangles]:
    """Deal triangles to nodes in consecutive shares, so that the first of equal depths stays the first."""
    return [triangles.part(part) for part in np.array_split(np.arange(len(triangles)), nodes)]


def compose(pictures: Sequence[Picture]) -> Picture:
    """Merge the pictures of the nodes: at each pixel the nearest depth, of equal ones the lowest node's."""
    depths = np.stack([picture.depths for picture in pictures])
    nearest = depths.argmin(axis=0)
    row, column = np.indices(nearest.shape)
    colours = np.stack([picture.colours for picture in pictures])
    return Picture(colours[nearest, row, column], depths[nearest, row, column])


def works_of(nodes: Sequence[Rendering]) -> list[list[RegionWork]]:
    """Return what each node has executed, region by region."""
    return [[_work(each.run) for each in node.regions] for node in nodes]


def _work(run: Run) -> RegionWork:
    copying = run.by_stage.get(COPY_STAGE, 0)
    return RegionWork(run.cycles - copying, copying)
