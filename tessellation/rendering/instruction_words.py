"""Instruction words on the EMCs: from samples to the words of triangles, region by region (3.1.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from microcode import Builder, Mem, Program
from pixelflow.caveats import coded
from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import EMC_HEIGHT, EMC_WIDTH, Node, Run, stages_of
from pixelflow.simd.drawing import ScreenTriangles, doubled_areas
from pixelflow.simd.files import shipped
from pixelflow.simd.report import Json, counted
from tessellation.host.session import PassBegins, Session
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.microprogram.method import Method
from tessellation.microprogram.passes import Plan
from tessellation.microprogram.ports import emit_copy
from tessellation.picture import Standpoint, View, unit
from tessellation.picture.lighting import lit
from tessellation.plan.mapping import BLOCK_SIDE
from tessellation.rendering.instructions import REGION_HEIGHT, REGION_WIDTH, Region
from tessellation.rendering.projection import Projection, sampled_points, standpoint_for, standpoint_of
from tessellation.rendering.renderer import Rendering, execute, require_region
from tessellation.rendering.word_clipping import Clipping, clip_program, vertex_program
from tessellation.rendering.word_sending import (
    CORNER_BYTES,
    PART_BYTES,
    PARTS,
    RECORD_BYTES,
    Areas,
    Record,
    WordPlaces,
    clear_areas,
    emit_records,
    program_of,
    read_records,
    size_step,
)
from tessellation.surface.patch import Patch

# Programs from corners to instruction words: neighbours, triangle set-up, and words for one region.


SEND_STAGE = "words to the GPs"
_SOURCES = shipped("tessellation", "rendering", "microcode")


def neighbours_program(places: WordPlaces, side: int, area: int, *, upper: bool = False) -> Program:
    """Return the program that brings the corners to the east, southeast and south to every PE.

    ``side`` is that of the largest square of PEs in the pass, ``area`` a free address in texture memory: 16 bytes a PE.
    If triangles are to be cut, the records of a cell's lower or ``upper`` triangle fill the first three slots.
    """
    builder = Builder("corners of neighbours")
    given = {"DATA": places.corners, "N": CORNER_BYTES, "SPARE": places.work, "SIDE": side, "PLACES": area}
    if places.planes:
        order = ("SOUTHEAST", "SOUTH", "EAST") if upper else ("EAST", "SOUTHEAST", "SOUTH")
        given |= {name: places.corners + RECORD_BYTES * (slot + 1) for slot, name in enumerate(order)}
        given |= {"DATA": places.record, "N": RECORD_BYTES, "SPARE": places.cutting}
    builder.include(str(_SOURCES / "neighbours.mc"), **given)
    if places.planes:
        builder.stream("eigc")
        emit_copy(builder, Mem(places.record), Mem(places.corners), RECORD_BYTES)
    return builder.build()


def triangle_program(places: WordPlaces, corners: tuple[int, int, int]) -> Program:
    """Return the program that selects three of the corners, where a cell begins: 77 cycles."""
    builder = Builder("triangles")
    builder.mark("corners")
    builder.emit("EMC_SetEnab")
    for index, corner in enumerate(corners):
        source = Mem(places.corners + CORNER_BYTES * corner)
        emit_copy(builder, source, Mem(places.work + CORNER_BYTES * index), CORNER_BYTES)
    emit_copy(builder, Mem(places.marks + 3), Mem(places.coefficients + 78), 1)
    return builder.build()


@cache
def setup_program(places: WordPlaces, width: int, height: int) -> Program:
    """Return the program that computes the coefficients of every PE's triangle."""
    builder = Builder("coefficients of triangles")
    given = {
        "WIDTH": width, "HEIGHT": height,
        "CORNERS": places.work, "COEF": places.coefficients, "SCRATCH": places.scratch,
    }  # fmt: skip
    builder.include(str(_SOURCES / "setup.mc"), **given)
    return builder.build()


@cache
def region_words_program(places: WordPlaces, areas: Areas) -> Program:
    """Return the program that sends each triangle's words for its current region and advances to the next."""
    builder = Builder("words for one region")
    given = {
        "COEF": places.coefficients, "HERE": places.scratch, "SCRATCH": places.region_scratch, "COUNT": size_step(),
    }  # fmt: skip
    builder.include(str(_SOURCES / "here.mc"), **given)
    emit_records(builder, places, areas, SEND_STAGE)
    builder.include(str(_SOURCES / "onward.mc"), COEF=places.coefficients, MORE=places.scratch + 34)
    return builder.build()


# A tessellation that continues to instruction words on the EMCs: the third possibility of the thesis (3.1.2).


_DEPTH_MARGIN = 2.0**-16
"""Share of the depth range kept free at both ends, far above the errors of cutting and dividing."""

_UNIT_LENGTH = 1e-5
"""Tolerance of the length of a normal with a direction."""


class OrderedRecord(NamedTuple):
    """A triangle in a region, as words; ``order`` is its drawing order: pass, PE, half of its cell, piece."""

    order: tuple[int, int, int, int]
    record: Record


class LightDifference(NamedTuple):
    """Difference of corner colours from those of the same light in 64 bits.

    ``steps`` is the largest difference, of 255; ``moved`` counts samples of another colour. Both exclude those that
    ``unlit`` counts, whose normal has no direction.
    """

    steps: int
    moved: int
    unlit: int
    samples: int


class InstructionWords(NamedTuple):
    """All words of a picture, and the runs that made them.

    ``triangles`` are the PEs' own in drawing order, with corners rounded and lit by the PEs and cut into pieces by the
    planes of ``clipping``; one with no piece left counts as without an area. The host can set up the same from them.
    ``cells`` counts triangles of all patches, ``places`` those for their pieces, ``rounds`` the transfers of words over
    all passes. ``colours``, uint8[sample, rgb], are of all samples, patch by patch in the caller's order.
    """

    standpoint: Standpoint
    clipping: Clipping
    triangles: ScreenTriangles
    words: tuple[OrderedRecord, ...]
    runs: tuple[Run, ...]
    width: int
    height: int
    gps: int
    rounds: int
    cells: int
    places: int
    light: LightDifference
    colours: np.ndarray

    @property
    def cycles(self) -> int:
        """EMC cycles after the passes, including waits for the path to the GPs."""
        return sum(run.cycles for run in self.runs)

    @property
    def cycles_by_stage(self) -> dict[str, int]:
        return stages_of(self.runs)

    @property
    def accepted(self) -> int:
        """Triangles that reach into a region of the picture; the others send nothing."""
        return len({each.order for each in self.words})

    @property
    def bytes_sent(self) -> int:
        return len(self.words) * PARTS * PART_BYTES

    def of_region(self, left: int, top: int) -> list[tuple[int, ...]]:
        """Return the words of each triangle in the region with this first pixel, in drawing order."""
        found = [each for each in self.words if (each.record.left, each.record.top) == (left, top)]
        return [each.record.words for each in sorted(found, key=lambda each: each.order)]


def generate_words(
    patches: Sequence[Patch],
    samples: int | Sequence[int],
    view: View,
    *,
    standpoint: Standpoint | None = None,
    library: str | None = None,
    engine: str = "auto",
    config: NodeConfig = THESIS,
    method: Method | None = None,
    gps: int | None = None,
    progress: Callable[[PassBegins], object] | None = None,
    watch: Callable[[Node], None] | None = None,
) -> tuple[Tessellation, InstructionWords]:
    """Tessellate patches and make instruction words of their triangles on the EMCs, pass by pass.

    The camera is placed as for `project_samples`, or is that of ``standpoint`` with a depth range from the nearest
    sample to the farthest. Triangles are cut by the near plane and the guard band if the application's own evaluation
    of the patches requires it. Words go to ``gps`` GPs, or to as many as results do. Other arguments are those of
    `tessellate`. Raises InputError as it does, for a node without a PE for each pixel of a region or with fewer GPs,
    and if a PE has no room.
    """
    require_region(config)
    method = Method() if method is None else method
    gps = replace(method, results="gp", gps=gps).gps_of(config) if gps is not None else method.gps_of(config)
    points = sampled_points(patches, samples, single=method.single_database)
    if standpoint is not None:
        standpoint = standpoint.ranged(points).widened(_DEPTH_MARGIN)
    elif view.eye is None:
        standpoint = standpoint_for(patches, samples, view, single=method.single_database)
    else:
        standpoint = standpoint_of(points, view).widened(_DEPTH_MARGIN)
    clipping = Clipping.of(Projection.of(standpoint), points, standpoint.near)
    maker = _WordMaker(standpoint, clipping, view.width, view.height, gps)
    tessellation = tessellate(
        patches, samples, library=library, engine=engine, config=config, method=method, progress=progress, watch=watch,
        after=maker,
    )  # fmt: skip
    return tessellation, maker.result()


class _WordMaker:
    """Runs the programs after each pass, once for each further region of any triangle, and collects the words."""

    def __init__(self, standpoint: Standpoint, clipping: Clipping, width: int, height: int, gps: int) -> None:
        self._standpoint, self._projection = standpoint, Projection.of(standpoint)
        self._clipping = clipping
        self._width, self._height, self._gps = width, height, gps
        self._area: int | None = None
        self._runs: list[Run] = []
        self._words: list[OrderedRecord] = []
        self._corners: list[tuple[np.ndarray, np.ndarray]] = []
        self._samples: dict[int, np.ndarray] = {}
        self._passes = self._rounds = 0

    def __call__(self, session: Session, plan: Plan) -> None:
        node, places = session.node, WordPlaces.after(plan.memory, len(self._clipping.planes))
        self._run(node, vertex_program(places, plan.work, self._projection, self._standpoint, session.library))
        self._keep_samples(node, places, plan)
        for half in range(2):
            if places.planes or not half:
                self._run(node, self._neighbours(session, places, plan, upper=half == 1))
            if places.planes:
                self._run(node, clip_program(places, self._clipping, self._projection, session.library))
            for number in range(places.planes + 1):
                corners = (0, number + 1, number + 2) if places.planes or not half else (0, 2, 3)
                self._run(node, triangle_program(places, corners))
                self._keep_corners(node, places, plan, (self._passes, half, number))
                self._run(node, setup_program(places, self._width, self._height))
                self._send(session, places, (self._passes, half, number))
        self._passes += 1

    def _run(self, node: Node, program: Program) -> None:
        self._runs.append(node.run(program))

    def _send(self, session: Session, places: WordPlaces, key: tuple[int, int, int]) -> None:
        """Run rounds until no triangle reaches into a further region."""
        node, areas = session.node, Areas(session.config.array, self._gps)
        more = True
        while more:
            clear_areas(node, areas)
            self._run(node, region_words_program(places, areas))
            records = read_records(node, areas)
            self._words += [OrderedRecord((key[0], each.number, *key[1:]), each) for each in records]
            self._rounds += 1
            more = any(each.more for each in records)

    def _neighbours(self, session: Session, places: WordPlaces, plan: Plan, *, upper: bool) -> Program:
        """Return the program that fetches corners from other PEs, those of other panels through texture memory."""
        side = max(placement.side for placement in plan.work.placements)
        if side > BLOCK_SIDE and self._area is None:
            array = session.config.array
            cells = 64 * EMC_WIDTH * array.emcs_per_module + 4 * EMC_HEIGHT * array.modules
            self._area = session.reserve(cells)
        return neighbours_program(places, side, self._area or 0, upper=upper)

    def _keep_samples(self, node: Node, places: WordPlaces, plan: Plan) -> None:
        """Keep point, normal and colour of each sample: float64[sample, 9]."""
        floats = [node.read_float(address) for address in (*places.projection.point, *places.normal)]
        colour = node.read_memory(places.record + 12 if places.planes else places.corners + 9, 3)
        values = np.concatenate([np.stack(floats), colour]).T.astype(np.float64)
        for place in plan.work.placements:
            self._samples[place.patch] = values[place.lanes(node.config.array).reshape(-1)]

    def _keep_corners(self, node: Node, places: WordPlaces, plan: Plan, key: tuple[int, int, int]) -> None:
        """Keep the corners of each triangle and its drawing order."""
        lanes = np.concatenate([
            place.lanes(node.config.array)[:-1, :-1].reshape(-1) for place in plan.work.placements
        ])  # fmt: skip
        found = []
        for corner in range(3):
            data = node.read_memory(places.work + CORNER_BYTES * corner, CORNER_BYTES).astype(np.int64)[:, lanes]
            x, y, depth = (sum(data[at + index] << 8 * index for index in range(3)) for at in (0, 3, 6))
            found.append(np.stack([*(each - (each >> 23 << 24) for each in (x, y)), depth, *data[9:]], axis=-1))
        column, row = (each[lanes] for each in node.coordinates())
        order = np.stack([np.full(len(lanes), key[0]), 128 * row + column], axis=1)
        order = np.concatenate([order, np.broadcast_to(key[1:], (len(lanes), 2))], axis=1)
        self._corners.append((np.stack(found, axis=1), order))

    def result(self) -> InstructionWords:
        corners, order = (np.concatenate(parts) for parts in zip(*self._corners, strict=True))
        last = np.lexsort(order.T[::-1])
        corners, order = corners[last], order[last]
        turned = doubled_areas(corners[..., :2]) < 0
        corners[turned, 1:] = corners[turned, :0:-1]
        seen = doubled_areas(corners[..., :2]) != 0
        kept = corners[seen]
        # A triangle has a place for each of its pieces; it is dropped if no piece has an area.
        whole, triangle = np.unique(order[:, :3], axis=0, return_inverse=True)
        gone = len(whole) - len(np.unique(triangle.reshape(-1)[seen]))
        triangles = ScreenTriangles(kept[..., :2], kept[..., 2], kept[..., 3:], gone)
        words = tuple(sorted(self._words, key=lambda each: each.order))
        return InstructionWords(
            self._standpoint, self._clipping, triangles, words, tuple(self._runs), self._width, self._height, self._gps,
            self._rounds, len(whole), len(corners), self._light(), self._in_order()[:, 6:].astype(np.uint8),
        )  # fmt: skip

    def _in_order(self) -> np.ndarray:
        return np.concatenate([self._samples[patch] for patch in sorted(self._samples)])

    def _light(self) -> LightDifference:
        points, normals, colours = np.split(self._in_order(), (3, 6), axis=1)
        lengths = np.linalg.norm(normals, axis=1)
        known = np.isfinite(lengths) & (np.abs(lengths - 1) < _UNIT_LENGTH)
        standpoint = self._standpoint
        to_eye = unit(standpoint.camera.eye - standpoint.placed(points[known]))
        off = np.abs(lit(normals[known], to_eye) - colours[known]).max(axis=1, initial=0)
        return LightDifference(
            int(off.max(initial=0)), int(np.count_nonzero(off)), int(np.count_nonzero(~known)), len(known)
        )


# Account of instruction words for reports: cycles by stage, bytes, marks, and the error of the light.


def word_facts(words: InstructionWords) -> tuple[tuple[str, str], ...]:
    """Return name and text of each fact; one without a name continues the previous one."""
    stages = ", ".join(f"{name} {cycles:,}" for name, cycles in words.cycles_by_stage.items())
    light = words.light
    return (
        ("picture", coded("not the one of the host's projection: light in binary32, colours linear on the screen and "
         "not in perspective, no light where a sample has no normal, and patches that are not joined", "PF304")),
        ("words", f"{words.cycles:,} cycles on the EMCs before"),
        ("", stages),
        ("", f"{counted(words.bytes_sent, 'byte')} to {counted(words.gps, 'GP')} in {counted(words.rounds, 'round')}"),
        ("cut by", ", ".join(words.clipping.planes)),
        ("marks", f"{_accepted(words)} accepted, in {counted(len(words.words), 'region')}"),
        ("light", f"{light.moved:,} of {counted(light.samples, 'sample')} another colour than in 64 bits, "
         f"by at most {light.steps} of 255"),
        ("", f"{light.unlit:,} have no normal to be lit by" if light.unlit else ""),
    )  # fmt: skip


def _accepted(words: InstructionWords) -> str:
    if not words.clipping.planes:
        return f"{words.accepted:,} of {counted(words.cells, 'triangle')}"
    places = counted(words.places, "place")
    return f"{counted(words.accepted, 'piece')} of {counted(words.cells, 'triangle')}, which have {places} for them,"


def word_data(words: InstructionWords) -> dict[str, Json]:
    """Return the account of the words for JSON."""
    return {
        "cycles": words.cycles,
        "stages": words.cycles_by_stage,
        "bytes": words.bytes_sent,
        "gps": words.gps,
        "rounds": words.rounds,
        "cut_by": [plane.value for plane in words.clipping.planes],
        "triangles": {
            "made": words.cells,
            "places": words.places,
            "accepted": words.accepted,
            "times_regions": len(words.words),
        },
        "light": {
            "largest_difference": words.light.steps,
            "samples_of_another_colour": words.light.moved,
            "samples_without_normal": words.light.unlit,
        },
    }


# A picture drawn from the words: the node executes them, region by region.


def draw_words(
    words: InstructionWords,
    *,
    background: tuple[int, int, int] = (0, 0, 0),
    config: NodeConfig = THESIS,
    engine: str = "auto",
    progress: Callable[[str], object] | None = None,
    watch: Callable[[Node], None] | None = None,
) -> Rendering:
    """Draw the picture on a simulated node; other arguments are those of `tessellation.rendering.render`."""
    return execute(
        word_programs(words, background), words.width, words.height,
        config=config, engine=engine, progress=progress, watch=watch,
    )  # fmt: skip


def word_programs(words: InstructionWords, background: tuple[int, int, int]) -> Iterator[tuple[Region, Program]]:
    """Yield the regions of the picture, row by row, with the program of their words."""
    for top in range(0, words.height, REGION_HEIGHT):
        for left in range(0, words.width, REGION_WIDTH):
            found = words.of_region(left, top)
            yield Region(left, top, np.arange(len(found))), program_of(found, left, top, background)
