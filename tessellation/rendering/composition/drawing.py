"""A picture drawn by nodes with roles: rasterizers, shaders, and the frame buffer that gets finished pixels.

Each node is simulated by itself, region after region and sample after sample. What a rasterizer leaves in image
composition memory is merged with what the others leave there, and lies in the shader's when that begins. How long all
that takes together, with waits, the network says (`network.py`), from what each node has executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Node, Run
from pixelflow.simd.drawing import Frame, Picture, State
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.telling import Telling
from pixelflow.simd.workers import HERE, Workers
from tessellation.rendering.composition.finishing import finished_place, finishing_program, sample_program
from tessellation.rendering.composition.merging import DEPTH_BYTES, depths_of, merge, shares
from tessellation.rendering.composition.network import PIXEL_BYTES, NetworkTime, check_room, run_network
from tessellation.rendering.composition.records import DeferredRecords, FinishedRecords, FrameRecords
from tessellation.rendering.composition.roles import RecordWork, SampleWork, ShadingWork
from tessellation.rendering.composition.transfers import Roles
from tessellation.rendering.instructions import COPY_STAGE
from tessellation.rendering.regions import REGION_HEIGHT, Region
from tessellation.rendering.renderer import NodeRuns, RegionRun, collect, plain_triangles, render, require_region

__all__ = ["Composed", "draw_on_nodes", "require_shaders"]


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """A picture, what each node executed for it, and where there is more than one what the network did."""

    picture: Picture
    roles: Roles
    nodes: tuple[NodeRuns, ...]
    """Rasterizers, then shaders."""
    time: NetworkTime | None
    loading: tuple[Run, ...]
    """Of textures, by each node that reads some: once for all pictures with them, and not among what they executed."""


def draw_on_nodes(
    frame: Frame,
    roles: Roles | None = None,
    *,
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Telling | None = None,
    watch: Callable[[Node], None] | None = None,
    workers: Workers = HERE,
) -> Composed:
    """Draw a frame; ``watch`` is called with each node before it runs. Raises InputError for what nodes do not draw.

    ``workers`` simulate the regions of a plain frame by one node, as in `render`; all others are drawn here.
    """
    roles = Roles() if roles is None else roles
    require_region(config)
    if roles.alone and frame.plain:
        triangles, size = plain_triangles(frame), (frame.width, frame.height)
        drawn = render(
            triangles, *size, background=frame.background, config=config, engine=engine, progress=progress,
            watch=watch, workers=workers,
        )  # fmt: skip
        return Composed(drawn.picture, roles, (drawn,), None, ())
    if frame.plain and not roles.shaders:
        records: FrameRecords = FinishedRecords(frame)
    else:
        records = DeferredRecords(frame, config)
        require_shaders(roles, (draw.state for draw in frame.draws), frame.samples)
    if not roles.alone:
        check_room(config, records.size)
    return _Drawing(frame, roles, records, config, engine, watch).composed(progress)


def require_shaders(roles: Roles, states: Iterable[State], samples: int) -> None:
    """Raise InputError for several nodes without a shader where draws in these states need one."""
    if roles.alone or roles.shaders:
        return
    if samples > 1 or not all(state.plain for state in states):
        what = f"{samples} samples a pixel" if samples > 1 else "textures or glass"
        text = f"{roles.rasterizers} nodes draw {what}, and none of them shades"
        raise InputError(Fault(text, hint="give --shaders 1 or more"))


class _Drawing:
    """The nodes of a picture, at work."""

    def __init__(
        self,
        frame: Frame,
        roles: Roles,
        records: FrameRecords,
        config: NodeConfig,
        engine: str,
        watch: Callable[[Node], None] | None,
    ) -> None:
        self.frame, self.roles, self.records, self.config = frame, roles, records, config
        self.deferred = records if isinstance(records, DeferredRecords) else None
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
        loaded = [records.loaded(node, shades=roles.alone) for node in self.rasterizers]
        loaded += [records.loaded(node, shades=True) for node in self.shaders if roles.shaders]
        picture = Picture.empty(frame.width, frame.height)
        for number, region in enumerate(records.regions):
            if progress is not None and region.left == 0:
                last = min(region.top + REGION_HEIGHT, frame.height) - 1
                progress(f"rows {region.top} to {last} of {frame.height}")
            pixels = self._region(number, region)
            collect(self.rasterizers[0], pixels, region, picture)
        names = ("node",) if roles.alone else roles.names
        nodes = tuple(NodeRuns(tuple(runs), name) for runs, name in zip(self.runs, names, strict=False))
        time = None
        if not roles.alone:
            time = run_network(
                self.drawn, self.shaded, record_bytes=records.size, samples=records.samples, config=self.config
            )
        return Composed(picture, roles, nodes, time, tuple(run for run in loaded if run is not None))

    def _region(self, number: int, region: Region) -> tuple[np.ndarray, np.ndarray]:
        """Return depths, int64[lane], and colours, uint8[lane, rgb], of a region."""
        records, shaders = self.records, self.roles.shaders
        samples: list[np.ndarray] = []
        works: list[SampleWork] = []
        which, turn = (self.roles.shader_of(number), number // shaders) if shaders else (0, number)
        for sample in range(records.samples):
            slot = self._slot(number * records.samples + sample)
            samples.append(merge([self._drawn(index, region, sample, slot) for index in range(self.roles.rasterizers)]))
            if self.deferred is not None:
                slot = self._slot(turn * records.samples + sample)
                works.append(self._shaded(self.deferred, which, region, samples[-1], sample, slot))
        depths = depths_of(samples[0])
        if self.deferred is None:
            return depths, samples[0][DEPTH_BYTES:].T
        node, place = self.shaders[which], finished_place(self.config.array)
        finished = self._ran(which, region, node.run(finishing_program(place, records.samples)), "finishing")
        if shaders:
            self.shaded[which].append(ShadingWork(tuple(works), finished))
        return depths, node.read_memory(place, PIXEL_BYTES).T

    def _slot(self, turn: int) -> int | None:
        """Return where a record lies in image composition memory, which they fill in turn; None for a node alone."""
        if self.roles.alone:
            return None
        held = self.config.composition.regions_held
        return self.config.array.composition_start + turn % held * self.records.size

    def _drawn(self, index: int, region: Region, sample: int, slot: int | None) -> np.ndarray:
        """Let a rasterizer draw its share, and return its records as they are to leave: uint8[byte, lane]."""
        node, share = self.rasterizers[index], self.shares[index]
        numbers = region.triangles
        own = region.only((numbers >= share.start) & (numbers < share.stop))
        run = node.run(self.records.program(own, sample, slot))
        self.runs[index].append(RegionRun.of(region, len(own.triangles), run))
        copying = run.by_stage.get(COPY_STAGE, 0)
        self.drawn[index].append(RecordWork(run.cycles - copying, copying))
        return self.records.read(node, slot)

    def _shaded(
        self, records: DeferredRecords, which: int, region: Region, record: np.ndarray, sample: int, slot: int | None
    ) -> SampleWork:
        """Let a shader take a record, shade it and add it up; return its cycles."""
        node, receiving = self.shaders[which], 0
        if slot is not None:
            node.write_memory(slot, record)
            receiving = self._ran(which, region, records.received(node, slot), "receiving")
        runs = records.shaded(node, region, sample)
        added = node.run(sample_program(records.colours, sample, records.samples))
        return SampleWork(receiving, sum(self._ran(which, region, run, "shading") for run in (*runs, added)))

    def _ran(self, which: int, region: Region, run: Run, does: str) -> int:
        """Put a run to a shader's account; return its cycles."""
        number = which if self.roles.alone else self.roles.rasterizers + which
        self.runs[number].append(RegionRun.of(region, 0, run, does))
        return run.cycles
