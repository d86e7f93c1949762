"""A picture drawn by nodes with roles: rasterizers, shaders, and the frame buffer that gets finished pixels.

Each node is simulated by itself, region after region and sample after sample. What a rasterizer leaves in image
composition memory is merged with what the others leave there, and lies in the shader's when that begins. How long all
that takes together, with waits, the network says (`network.py`), from what each node has executed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import Frame, Picture
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.telling import Telling
from tessellation.rendering.composition.finishing import finished_place, finishing_program, sample_program
from tessellation.rendering.composition.merging import depths_of, merge, shares
from tessellation.rendering.composition.network import NetworkTime, check_room, run_network
from tessellation.rendering.composition.records import Records, records_of
from tessellation.rendering.composition.roles import RecordWork, ShadingWork
from tessellation.rendering.composition.transfers import Roles
from tessellation.rendering.instructions import COPY_STAGE
from tessellation.rendering.regions import REGION_HEIGHT, Region
from tessellation.rendering.renderer import NodeRuns, RegionRun, collect, plain_triangles, render, require_region

__all__ = ["Composed", "draw_on_nodes"]


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """A picture, what each node executed for it, and where there is more than one what the network did."""

    picture: Picture
    roles: Roles
    nodes: tuple[NodeRuns, ...]
    """Rasterizers, then shaders."""
    time: NetworkTime | None


def draw_on_nodes(
    frame: Frame,
    roles: Roles | None = None,
    *,
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Telling | None = None,
    watch: Callable[[Node], None] | None = None,
) -> Composed:
    """Draw a frame; ``watch`` is called with each node before it runs. Raises InputError for what nodes do not draw."""
    roles = Roles() if roles is None else roles
    require_region(config)
    if roles.alone and frame.plain:
        triangles, size = plain_triangles(frame), (frame.width, frame.height)
        drawn = render(
            triangles, *size, background=frame.background, config=config, engine=engine, progress=progress, watch=watch
        )
        return Composed(drawn.picture, roles, (drawn,), None)
    records = records_of(frame, deferred=bool(roles.shaders))
    if not roles.alone:
        check_room(config, roles, records.size)
    if not (roles.alone or roles.shaders or records.finished):
        text = f"{roles.rasterizers} nodes draw {frame.samples} samples a pixel or textures, and none of them shades"
        raise InputError(Fault(text, hint="give --shaders 1 or more"))
    return _Drawing(frame, roles, records, config, engine, watch).composed(progress)


class _Drawing:
    """The nodes of a picture, at work."""

    def __init__(
        self,
        frame: Frame,
        roles: Roles,
        records: Records,
        config: NodeConfig,
        engine: str,
        watch: Callable[[Node], None] | None,
    ) -> None:
        self.frame, self.roles, self.records, self.config = frame, roles, records, config
        nodes = [Node(config, engine) for _ in range(roles.frame_buffer)]
        for node in nodes if watch is not None else ():
            watch(node)
        self.rasterizers = nodes[: roles.rasterizers]
        self.shaders = nodes[roles.rasterizers :] or (nodes if roles.alone else [])
        self.runs: list[list[RegionRun]] = [[] for _ in nodes]
        self.drawn: list[list[RecordWork]] = [[] for _ in self.rasterizers]
        self.shaded: list[list[ShadingWork]] = [[] for _ in range(roles.shaders)]
        self.shares = shares(records.triangles, roles.rasterizers)

    def composed(self, progress: Telling | None) -> Composed:
        """Draw region after region."""
        frame, roles, records = self.frame, self.roles, self.records
        for number, node in enumerate([*self.rasterizers, *(self.shaders if roles.shaders else ())]):
            self.runs[number] += [RegionRun(0, 0, 0, run) for run in records.prepared(node)]
        picture = Picture.empty(frame.width, frame.height)
        for number, region in enumerate(records.regions):
            if progress is not None and region.left == 0:
                last = min(region.top + REGION_HEIGHT, frame.height) - 1
                progress(f"rows {region.top} to {last} of {frame.height}")
            pixels = self._region(number, region)
            collect(self.rasterizers[0], pixels, region, picture)
        names = roles.names
        nodes = tuple(NodeRuns(tuple(runs), name) for runs, name in zip(self.runs, names, strict=False))
        time = None
        if not roles.alone:
            time = run_network(
                self.drawn, self.shaded, record_bytes=records.size, samples=records.samples, config=self.config
            )
        return Composed(picture, roles, nodes, time)

    def _region(self, number: int, region: Region) -> tuple[np.ndarray, np.ndarray]:
        """Return depths, int64[lane], and colours, uint8[lane, rgb], of a region."""
        records = self.records
        samples: list[np.ndarray] = []
        shading: list[int] = []
        which = self.roles.shader_of(number) if self.roles.shaders else 0
        for sample in range(records.samples):
            slot = self._slot(number * records.samples + sample)
            samples.append(merge([self._drawn(index, region, sample, slot) for index in range(self.roles.rasterizers)]))
            if self.shaders:
                turn = (number // max(1, self.roles.shaders)) * records.samples + sample
                shading.append(self._shaded(which, region, samples[-1], sample, self._slot(turn)))
        depths = depths_of(samples[0])
        if not self.shaders:
            return depths, records.colours(samples[0])
        node, place = self.shaders[which], finished_place(self.config.array)
        finished = self._ran(which, region, node.run(finishing_program(place, records.samples)))
        if self.roles.shaders:
            self.shaded[which].append(ShadingWork(tuple(shading), finished))
        return depths, node.read_memory(place, 3).T

    def _slot(self, turn: int) -> int:
        """Return where a record lies in image composition memory, which they fill in turn."""
        held = 1 if self.roles.alone else self.config.composition.regions_held
        return self.config.array.composition_start + turn % held * self.records.size

    def _drawn(self, index: int, region: Region, sample: int, slot: int) -> np.ndarray:
        """Let a rasterizer draw its share, and return its records as they are to leave: uint8[byte, lane]."""
        node, share = self.rasterizers[index], self.shares[index]
        numbers = region.triangles
        own = Region(region.left, region.top, numbers[(numbers >= share.start) & (numbers < share.stop)])
        run = node.run(self.records.program(own, sample, slot))
        self.runs[index].append(RegionRun(region.left, region.top, len(own.triangles), run))
        copying = run.by_stage.get(COPY_STAGE, 0)
        self.drawn[index].append(RecordWork(run.cycles - copying, copying))
        return node.read_memory(slot, self.records.size)

    def _shaded(self, which: int, region: Region, record: np.ndarray, sample: int, slot: int) -> int:
        """Let a shader take a record and shade it; return its cycles."""
        node, records = self.shaders[which], self.records
        node.write_memory(slot, record)
        colours = records.colour_places(slot)
        runs: Sequence[Run] = (*records.shaded(node, slot), node.run(sample_program(colours, sample, records.samples)))
        return sum(self._ran(which, region, run) for run in runs)

    def _ran(self, which: int, region: Region, run: Run) -> int:
        """Put a run to a shader's account; return its cycles."""
        number = which if self.roles.alone else self.roles.rasterizers + which
        self.runs[number].append(RegionRun(region.left, region.top, 0, run))
        return run.cycles
