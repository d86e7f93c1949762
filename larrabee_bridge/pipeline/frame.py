"""A whole picture (neither), from vertices to resolved tiles, and where its cycles go (4.1 to 4.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from larrabee_bridge.pipeline.back_end import BackEnd, render_back_end
from larrabee_bridge.pipeline.back_end_programs import Attributes
from larrabee_bridge.pipeline.bins import BinRule, Bins, Quads, bin_triangles
from larrabee_bridge.pipeline.rasterizer import Rasterized, rasterize
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.pipeline.traffic import RenderTarget, default_targets
from larrabee_bridge.pipeline.work import primset_numbers
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from pixelflow.simd.attendance import Telling
from pixelflow.simd.drawing import Draw, Frame, Picture
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.engine import AUTO
from pixelflow.simd.report import counted

# Larrabee's renderer: a frame is binned, rasterized and drawn tile by tile, all in one call (4.1 to 4.5).
#
# Section numbers are those of Seiler et al. 2008. Triangles come here on the screen: vertices are the front end's.


PRIMSET = 1000
"""Most triangles of a PrimSet (5.2)."""


@dataclass(frozen=True, slots=True, eq=False)
class LarrabeeRun:
    """A frame as Larrabee drew it, and what that took; tiles are counted row by row."""

    frame: Frame
    tile: int
    rasters: tuple[Rasterized, ...]
    """Of each draw."""
    back_end: BackEnd
    cleared: bool = True
    keep_depth: bool = False

    @property
    def targets(self) -> tuple[RenderTarget, ...]:
        """Colour and depth, as the bytes of this run are counted (`binned_traffic`)."""
        return default_targets(self.frame.samples, cleared=self.cleared, keep_depth=self.keep_depth)

    @property
    def picture(self) -> Picture:
        """What was drawn."""
        return self.back_end.picture

    @property
    def setup_cycles(self) -> int:
        """Cycles of the set-up of all triangles, sixteen side by side, each thread alone on a core."""
        return sum(int(raster.set_up.cycles.sum()) for raster in self.rasters)

    @property
    def plane_cycles(self) -> int:
        """Cycles of the planes of all triangles, so too; 0 where the host worked them out."""
        return sum(int(raster.planes.cycles.sum()) for raster in self.rasters)

    @property
    def raster_cycles(self) -> np.ndarray:
        """Cycles of the descents of each tile's triangles, each thread alone on a core: int64[tile]."""
        found = np.zeros(len(self.back_end.quads), np.int64)
        for raster in self.rasters:
            pairs = np.repeat(np.arange(len(found)), np.diff(raster.bins.starts).astype(np.intp))
            np.add.at(found, pairs, raster.descent.cycles)
        return found

    @property
    def instructions(self) -> dict[VectorFamily, int]:
        """Instructions of the rasterizer and of the back end, by family."""
        found = dict(self.back_end.instructions)
        for raster in self.rasters:
            for part in (raster.set_up, raster.planes, raster.descent):
                for family, count in part.instructions.items():
                    found[family] += count
        return found


def render_on_larrabee(
    frame: Frame,
    *,
    tile: int = 64,
    rule: BinRule = BinRule.COVERED,
    bins: Sequence[Bins | None] | None = None,
    primsets: Sequence[np.ndarray | None] | None = None,
    primset: int = PRIMSET,
    cores: int | Sequence[int] = 1,
    config: CoreConfig | None = None,
    texture: TextureConfig | None = None,
    cleared: bool = True,
    keep_depth: bool = False,
    free_setup: bool = False,
    engine: str = AUTO,
    progress: Telling | None = None,
) -> LarrabeeRun:
    """Draw a frame; ``progress`` is told how far it has come.

    ``bins`` are those that a front end has made, one for each draw, or None for a draw that ``rule`` is for;
    ``primsets`` the sequence ids that it gave the triangles. Other
    PrimSets of ``primset`` triangles are binned by cores: ``cores`` is how many take them in turn, or for each PrimSet
    of a draw the one that took it. Neither changes the picture or what the tiles take: a tile reads its sub-bins in the
    order of their sequence ids (4.3). ``cleared`` says that the frame begins with a clear, ``keep_depth`` that somebody
    reads the depths afterwards, so that they are written to memory; the picture has them anyhow. ``free_setup`` lets
    the host work out the planes of triangles, for no cycles. The other arguments
    are those of `render_back_end`. Raises InputError besides for a rule other than COVERED with four samples (the
    others look at pixel centres), and for cores that are none or do not take every PrimSet.
    """
    if frame.samples > 1 and rule is not BinRule.COVERED:
        raise InputError(Fault(f"bins by {rule.name} with {frame.samples} samples", hint="allowed: COVERED"))
    if primset < 1:
        raise InputError(Fault(f"PrimSets of {primset} triangles", hint="at least 1"))
    if bins is not None and len(bins) != len(frame.draws):
        raise InputError(Fault(f"bins of {counted(len(bins), 'draw')}, and the frame has {len(frame.draws)}"))
    _check_cores(cores, max((-(-len(draw.triangles) // primset) for draw in frame.draws), default=0))
    rasters: list[Rasterized] = []

    def quads(number: int, draw: Draw) -> Quads:
        triangles, size = draw.triangles, (frame.width, frame.height)
        if progress is not None:
            progress(f"larrabee: draw {number + 1} of {len(frame.draws)} to tiles", share=number / len(frame.draws))
        found = bins[number] if bins is not None else None
        if found is None and rule is not BinRule.COVERED:
            found = bin_triangles(triangles, *size, tile, rule)
        given = primsets[number] if primsets is not None else None
        ids = primset_numbers(len(triangles), primset) if given is None else given
        rasters.append(
            rasterize(
                *(triangles, *size),
                tile=tile,
                samples=frame.samples,
                bins=found,
                config=config,
                primset=ids,
                attributes=None if free_setup else Attributes.of(draw),
                engine=engine,
            )
        )
        sets = -(-len(triangles) // primset)
        taken = [sequence % cores for sequence in range(sets)] if isinstance(cores, int | np.integer) else cores
        return merged(rasters[-1].quads(), rasters[-1].bins, len(triangles), primset, taken)

    back_end = render_back_end(
        *(frame, quads, tile, config),
        texture=texture,
        cleared=cleared,
        words=lambda number: rasters[number].words,
        engine=engine,
        progress=progress,
    )
    return LarrabeeRun(frame, tile, tuple(rasters), back_end, cleared, keep_depth)


def _check_cores(cores: int | Sequence[int], primsets: int) -> None:
    if isinstance(cores, int | np.integer):
        if cores < 1:
            raise InputError(Fault(f"{cores} cores", hint="at least 1"))
        return
    if isinstance(cores, float):
        raise InputError(Fault(f"{cores} cores", hint="a whole number, or one for each PrimSet"))
    for each in cores:
        if not isinstance(each, int | np.integer) or each < 0:
            raise InputError(Fault(f"a PrimSet taken by core {each}", hint="cores are numbered from 0"))
    if len(cores) < primsets:
        raise InputError(
            Fault(f"{counted(len(cores), 'core')} for {counted(primsets, 'PrimSet')}", hint="one core for each PrimSet")
        )


def merged(quads: Quads, bins: Bins, count: int, primset: int, cores: Sequence[int]) -> Quads:
    """Return quads in the order in which the back end reads their triangles from the sub-bins of cores (4.3).

    ``quads`` are in the order that they promise, ``cores`` as for `sub_bins`, which has the same for one tile.
    """
    tile = np.repeat(np.arange(len(bins.starts) - 1), np.diff(bins.starts).astype(np.intp))
    sequence = bins.triangles // primset
    # Each core has filled its sub-bins PrimSet by PrimSet; of all of a tile the least sequence id is read first.
    filled = np.lexsort((sequence, np.asarray(cores, np.int64)[sequence], tile))
    read = filled[np.lexsort((sequence[filled], tile[filled]))]
    place = np.empty(len(read), np.int64)
    place[read] = np.arange(len(read))
    pair = place[np.searchsorted(tile * count + bins.triangles, quads.tile * count + quads.triangle)]
    which = np.argsort(pair, kind="stable")
    return Quads(*(each[which] for each in (quads.tile, quads.triangle, quads.x, quads.y, quads.masks)))


# Breakdown of a frame's cycles, measured: rasterizer and back end run, and the length of the shader is varied (5.4,
# figure 13).
#
# Section numbers are those of Seiler et al. 2008. Cycles are those of threads, each alone on a core, in both halves, so
# that their shares can be compared; what threads of one core win from each other is in neither.


@dataclass(frozen=True, slots=True)
class QuadCost:
    """Cycles of a qquad in the back end as a line: so many whatever the shader is, and so many an operation of it."""

    fixed: float
    """All of the back end but those operations: clear, set-up, planes, depth and stencil, blending, sort, resolve."""
    per_operation: float
    """For each vector operation of the pixel shader."""

    @classmethod
    def through(cls, short: tuple[int, float], long: tuple[int, float]) -> QuadCost:
        """Return the line through two measurements (vector operations, cycles a qquad); raises InputError for one."""
        if short[0] == long[0]:
            raise InputError(Fault(f"two measurements at {short[0]} operations tell no line", hint="two lengths"))
        slope = (long[1] - short[1]) / (long[0] - short[0])
        return cls(short[1] - slope * short[0], slope)

    def of(self, operations: float) -> float:
        """Return the cycles of a qquad whose shader has so many vector operations."""
        return self.fixed + self.per_operation * operations


@dataclass(frozen=True, slots=True)
class StageCycles:
    """Cycles of a frame that do not depend on the shader: ``raster``, and ``other`` (vertices)."""

    raster: int
    other: int
    quads: int
    """Qquads of the back end."""


def shares(cycles: Mapping[str, int]) -> dict[str, float]:
    """Return the share of each stage in the sum of all; raises InputError where that is 0."""
    whole = sum(cycles.values())
    if not whole:
        raise InputError(Fault("stages without any cycles have no shares"))
    return {stage: value / whole for stage, value in cycles.items()}


def raster_share(stages: StageCycles, quad: QuadCost, operations: float) -> float:
    """Return the share of rasterization under a pixel shader of so many vector operations."""
    return stages.raster / (stages.raster + stages.other + stages.quads * quad.of(operations))


def shader_length_at(share: float, stages: StageCycles, quad: QuadCost) -> float:
    """Return the vector operations of the shader at which rasterization falls to a share; 0 where it is there without.

    From R / (R + O + Q (f + n c)) = s: n = ((R (1 / s - 1) - O) / Q - f) / c. Raises InputError for a share outside
    0 to 1 (both excluded), and where no shader helps: no qquads, or operations that cost nothing.
    """
    if not 0 < share < 1:
        raise InputError(Fault(f"a share of {share}", hint="allowed: above 0, below 1"))
    if raster_share(stages, quad, 0) <= share:
        return 0.0
    if not stages.quads or quad.per_operation <= 0:
        raise InputError(Fault(f"rasterization keeps more than {share:.0%} whatever the shader is"))
    return ((stages.raster * (1 / share - 1) - stages.other) / stages.quads - quad.fixed) / quad.per_operation


@dataclass(frozen=True, slots=True)
class Breakdown:
    """Cycles of a frame by stage, without the additional operations; and how they grow with the shader."""

    cycles: dict[str, int]
    stages: StageCycles
    quad: QuadCost

    @property
    def shares(self) -> dict[str, float]:
        """Share of each stage."""
        return shares(self.cycles)

    def raster_share(self, operations: float = 0) -> float:
        """Return the share of rasterization with so many vector operations more in each shader."""
        return raster_share(self.stages, self.quad, operations)


def breakdown_of(
    frame: Frame, *, tile: int = 64, config: CoreConfig | None = None, vertices: int = 0, longer: int = 40
) -> Breakdown:
    """Run rasterizer and back end of a frame, the latter twice: as it is, and with ``longer`` operations a shader.

    ``vertices`` are the cycles of the front end before the rasterizer, where they are known, and of planes, which are
    the host's here: how shares move with the shader is asked, not what a frame takes. Operations are carried out
    for quads of which something is seen; so one of them costs less than a cycle for each quad that there is.
    """
    raster, quads = 0, []
    for draw in frame.draws:
        found = rasterize(draw.triangles, frame.width, frame.height, tile=tile, samples=frame.samples, config=config)
        raster += int(found.set_up.cycles.sum() + found.descent.cycles.sum())
        quads.append(found.quads())
    count = sum(map(len, quads))
    short, long = (render_back_end(frame, quads, tile, config, length=length).stages for length in (0, longer))
    cycles = {"vertices": vertices, "raster": raster}
    cycles |= {stage.value: int(spent.sum()) for stage, spent in short.items()}
    back = [sum(int(spent.sum()) for spent in each.values()) / max(count, 1) for each in (short, long)]
    quad = QuadCost.through((0, back[0]), (longer, back[1]))
    return Breakdown(
        {stage: spent for stage, spent in cycles.items() if spent}, StageCycles(raster, vertices, count), quad
    )
