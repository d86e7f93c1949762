"""Irregular shadow maps (6.3, figure 16): samples of the eye in lists of the light's cells, to which triangles descend.

Beside them an ordinary shadow map of the same light: what it costs, and how many samples it gets wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.kernels.parallel_views import BIAS, ShadowViews, hidden_exactly, within_rounding
from larrabee_bridge.kernels.study import CoresRun, KernelResult, carry_out
from larrabee_bridge.kernels.tracing import TracedMesh, knot_on_floor
from larrabee_bridge.kernels.transparency import back_end_run, front_end_run
from larrabee_bridge.pipeline.frame import render_on_larrabee
from larrabee_bridge.pipeline.schedule import FrameWork, ScheduleConfig, schedule
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import FAR, Picture
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import number

_FIRST = 8192
_SHIFT = 7
"""Cells of the light's view: 128 x 128."""
_CELLS = 1 << _SHIFT
_SIDE = 4
"""Cells of a tile's side."""
_ROWS = 4
"""Rows of pixels of a thread."""
_SIXTEENS = 8
"""Sixteens of triangles of a thread that sets them up, and of samples of one that shades."""
_ROUNDING = 12 * 2.0**-16
"""Cells by which float32 may move a sample: at most 12 roundings of terms below 2^8, each by 2^-24 of them."""
_MAP_SHIFT = 9
_MAP_BIAS = 0.06
"""Of the ordinary map, along the light: more than a texel is wide."""
_SIZE = 512
_KNOT = 240, 20

IRREGULAR: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "eye": ((), ("colours", "depths")),
    "casters": ((), ("edges",)),
    "samples": (("depths",), ("points",)),
    "sums": (("points",), ("sums",)),
    "starts": (("sums",), ("starts",)),
    "places": (("points", "starts"), ("lists",)),
    "shadows": (("lists", "edges"), ("hidden",)),
    "shade": (("hidden", "colours"), ("picture",)),
}
"""The graph of RTsets (4.2): what each step reads and writes."""
ORDINARY: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "eye": ((), ("colours", "depths")),
    "map": ((), ("map",)),
    "lookup": (("map", "depths", "colours"), ("picture",)),
}


@dataclass(frozen=True, slots=True, eq=False)
class Shadows:
    """A picture with shadows, and what its steps took, each ``front`` and then ``back``, in the order of the graph."""

    picture: NDArray[np.uint8]
    """uint8[row, column, rgb]."""
    hidden: NDArray[np.bool_]
    """Of each pixel, false where nothing is seen: bool[row, column]."""
    steps: Mapping[str, tuple[CoresRun | None, CoresRun]]

    @property
    def phases(self) -> tuple[CoresRun, ...]:
        """All steps one after the other."""
        return tuple(run for both in self.steps.values() for run in both if run is not None)

    def makespan(self, cores: int, graph: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]) -> int:
        """Return the cycles until the picture is there, where steps wait for nothing but what they read."""
        works = [
            FrameWork(name, np.zeros(1, np.int64) if front is None else front.pieces, back.pieces, *graph[name])
            for name, (front, back) in self.steps.items()
        ]
        return schedule(works, ScheduleConfig(cores=cores)).makespan


class _Memory:
    """Places for arrays of words, one after the other from `_FIRST` on, until memory is made."""

    def __init__(self) -> None:
        self.past = _FIRST

    def words(self, count: int) -> int:
        begin = self.past
        self.past += -(-4 * count // LINE_BYTES) * LINE_BYTES + LINE_BYTES
        return begin

    def made(self) -> tuple[ByteMemory, NDArray[np.uint32]]:
        memory = ByteMemory(self.past)
        return memory, memory.data.view(np.uint32)[0]


def _run(
    name: str, config: CoreConfig | None, memory: ByteMemory, parameters: dict[str, int], **scalars: NDArray[np.int64]
) -> CoresRun:
    unit = VectorUnit(shipped(f"pictures/{name}.mc", **parameters), len(next(iter(scalars.values()))), memory)
    for register, values in scalars.items():
        unit.set_scalar(int(register[1:]), values)
    return carry_out(unit, config)


def _seen(views: ShadowViews, config: CoreConfig | None) -> tuple[Picture, tuple[CoresRun, CoresRun]]:
    run = render_on_larrabee(views.eye_frame(), config=config, keep_depth=True)
    return run.picture, (front_end_run(run), back_end_run(run.back_end))


def _packed(picture: Picture) -> NDArray[np.uint32]:
    given = np.zeros((picture.colours.size // 3, 4), np.uint8)
    given[:, :3] = picture.colours.reshape(-1, 3)
    return given.view(np.uint32)[:, 0]


def _unpacked(words: NDArray[np.uint32], size: int) -> NDArray[np.uint8]:
    return np.stack([words >> shift & 255 for shift in (0, 8, 16)], axis=-1).astype(np.uint8).reshape(size, size, 3)


def _check(size: int) -> None:
    if size < 64 or size % LANES:
        raise InputError(Fault(f"shadows in {size}x{size} pixels", hint=f"64 or more, a multiple of {LANES}"))


def _split(count: int, each: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return first and past numbers, times 4, of shares of ``each``."""
    first = np.arange(0, count, each)
    return 4 * first, 4 * np.minimum(first + each, count)


def irregular_shadows(mesh: TracedMesh, size: int = _SIZE, config: CoreConfig | None = None) -> Shadows:
    """Draw a mesh with the shadows of a light, exact at every sample that the eye sees.

    Raises InputError for a picture whose side is below 64 or no multiple of sixteen.
    """
    _check(size)
    views = ShadowViews.of(mesh, size)
    picture, eye = _seen(views, config)
    pixels, cells, count = size * size, _CELLS * _CELLS, -(-len(mesh) // LANES) * LANES
    at = _Memory()
    light, matrix, bias, tiles = at.words(16), at.words(16), at.words(16), at.words(4 * (_CELLS // _SIDE) ** 2)
    depths, colours, starts = at.words(pixels), at.words(pixels), at.words(cells + LANES)
    plane, triangle = 4 * pixels + 2 * LINE_BYTES, 4 * count
    points, lists = at.words(plane), at.words(5 * plane // 4)
    corners, boxes, records = at.words(9 * count), at.words(4 * count), at.words(LANES * count)
    threads = size // _ROWS
    row = 4 * cells + LINE_BYTES
    counts = at.words(threads * row // 4)
    memory, words = at.made()
    floats = words.view(np.float32)
    scaled = np.array([_CELLS, _CELLS, 1])[:, None]
    _put(floats, light, scaled * views.from_pixels(views.light))
    _put(floats, matrix, scaled * views.light)
    floats[bias // 4] = BIAS
    column, line = (each.reshape(-1) for each in np.meshgrid(np.arange(0, _CELLS, _SIDE), np.arange(0, _CELLS, _SIDE)))
    _put(floats, tiles, np.stack([column, line, column + _SIDE, line + _SIDE], axis=1))
    _put(words, depths, picture.depths)
    _put(words, colours, _packed(picture))
    planes = np.zeros((9, count), np.float32)
    planes[:, : len(mesh)] = mesh.corners.reshape(-1, 9).T
    _put(floats, corners, planes)
    # Of each thread a line past its counts is its own.
    own = counts + row * np.arange(threads)
    first, past = _split(pixels, _ROWS * size)
    shared = {"PLANE": plane, "DEPTHS": depths, "POINTS": points}
    steps: dict[str, tuple[CoresRun | None, CoresRun]] = {"eye": eye}

    def step(name: str, parameters: dict[str, int], **scalars: NDArray[np.int64]) -> None:
        steps[name] = None, _run(name, config, memory, parameters, **scalars)

    begin, end = _split(count, LANES * _SIXTEENS)
    step(
        "casters",
        {"CORNERS": corners, "PLANE": triangle, "MATRIX": matrix, "BOXES": boxes, "RECORDS": records, "BIAS": bias},
        r1=begin,
        r2=end,
    )
    step(
        "samples",
        {**shared, "SIZE": size, "LIGHT": light, "SHIFT": _SHIFT},
        r1=first,
        r2=past,
        r3=own,
        r4=_ROWS * np.arange(threads),
        r5=own + 4 * cells,
    )
    step("sums", {"THREADS": threads, "ROW": row, "COUNTS": counts, "TOTALS": starts}, r1=_split(cells, LANES)[0])
    step("starts", {"TOTALS": starts}, r1=np.array([cells // LANES]))
    step("places", {**shared, "LISTS": lists, "STARTS": starts, "OWN": 4 * cells}, r1=first, r2=past, r3=own)
    step(
        "shadows",
        {"LISTS": lists, "PLANE": plane, "STARTS": starts, "BOXES": boxes, "BOX": triangle, "RECORDS": records,
         "TRIANGLES": triangle, "SHIFT": _SHIFT},
        r1=4 * (line * _CELLS + column),
        r3=tiles + 16 * np.arange(len(line)),
    )  # fmt: skip
    begin, end = _split(pixels, LANES * _SIXTEENS)
    step("shade", {"LISTS": lists, "PLANE": plane, "END": starts + 4 * cells, "COLOURS": colours}, r1=begin, r2=end)
    seen = int(words[starts // 4 + cells]) // 4
    which, flags = (words[(lists + place * plane) // 4 :][:seen] for place in (3, 4))
    hidden = np.zeros(pixels, bool)
    hidden[which // 4] = flags != 0
    return Shadows(_unpacked(words[colours // 4 :][:pixels], size), hidden.reshape(size, size), steps)


def _put(
    words: NDArray[np.float32] | NDArray[np.uint32],
    begin: int,
    values: NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int64] | NDArray[np.uint32],
) -> None:
    words[begin // 4 :][: values.size] = values.reshape(-1)


def ordinary_shadows(mesh: TracedMesh, size: int = _SIZE, config: CoreConfig | None = None) -> Shadows:
    """Draw the same with an ordinary shadow map of 512x512 texels.

    Raises InputError for a picture whose side is below 64 or no multiple of sixteen.
    """
    _check(size)
    views, side = ShadowViews.of(mesh, size), 1 << _MAP_SHIFT
    picture, eye = _seen(views, config)
    seen = render_on_larrabee(views.light_frame(side), config=config, keep_depth=True)
    pixels, threads, at = size * size, size // _ROWS, _Memory()
    light, own, depths, colours = at.words(16), at.words(LANES * threads), at.words(pixels), at.words(pixels)
    texels = at.words(side * side)
    memory, words = at.made()
    # Depths of the map are steps of 24 bits, as those of every target.
    units = np.array([side, side, FAR / views.reach])[:, None]
    matrix = units * views.from_pixels(views.light)
    matrix[2, 3] -= units[2, 0] * _MAP_BIAS
    _put(words.view(np.float32), light, matrix)
    _put(words, depths, picture.depths)
    _put(words, colours, _packed(picture))
    _put(words, texels, seen.picture.depths)
    first, past = _split(pixels, _ROWS * size)
    lookup = _run(
        "lookup",
        config,
        memory,
        {"SIZE": size, "DEPTHS": depths, "COLOURS": colours, "LIGHT": light, "MAP": texels, "SHIFT": _MAP_SHIFT},
        r1=first,
        r2=past,
        r4=_ROWS * np.arange(threads),
        r5=own + LINE_BYTES * np.arange(threads),
    )
    drawn = _unpacked(words[colours // 4 :][:pixels], size)
    darker = _unpacked(_packed(picture) >> np.uint32(1) & np.uint32(0x7F7F7F), size)
    hidden = (drawn == darker).all(axis=-1) & (picture.depths != FAR)
    made = front_end_run(seen), back_end_run(seen.back_end)
    return Shadows(drawn, hidden, {"eye": eye, "map": made, "lookup": (None, lookup)})


def shadow_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Draw a knot above a floor with both, and test every sample again in float64 against every triangle."""
    mesh = knot_on_floor(*_KNOT)
    views = ShadowViews.of(mesh, _SIZE)
    if progress is not None:
        progress("irregular shadow map")
    found = irregular_shadows(mesh, config=config)
    plain = ordinary_shadows(mesh, config=config)
    depths = _seen(views, config)[0].depths
    which, points = views.samples(depths)
    wanted = hidden_exactly(points, views.points(views.light))
    corners = views.points(views.light)
    differing = np.flatnonzero(found.hidden.reshape(-1)[which] != wanted)
    near = within_rounding(points[differing], corners, _ROUNDING * np.array([1 / _CELLS, 1 / _CELLS, 1]))
    coarse = int((plain.hidden.reshape(-1)[which] != wanted).sum())
    cycles = {name: sum(run.cycles for run in both if run) for name, both in found.steps.items()}
    tests = found.steps["shadows"][1]
    other = sum(run.cycles for run in plain.phases)
    both = ", ".join(
        f"{found.makespan(cores, IRREGULAR):,} and {plain.makespan(cores, ORDINARY):,} on {cores}" for cores in (1, 48)
    )
    return KernelResult(
        work=f"{number(len(mesh))} triangles, {_SIZE}x{_SIZE} pixels, {number(len(which))} samples in {_CELLS}x"
        f"{_CELLS} cells of the light's view, {wanted.mean():.0%} hidden; the eye's picture included, with corners and "
        "bins of the host's; targets are handed on as rows of pixels, which is not counted",
        reference="each sample against every triangle in float64",
        error=float((~near).sum()),
        error_of=f"samples differing by more than rounding, {near.sum()} by that (of an ordinary map {number(coarse)})",
        unit="sample",
        units=len(which),
        phases=found.phases,
        limit=f"of all cycles {cycles['shadows'] / sum(cycles.values()):.0%} are descents and tests: every tile of 4x4 "
        f"cells looks at all boxes, a list is tested whole, and the longest of {number(len(tests.pieces))} pieces is "
        f"{tests.pieces.max() / (tests.cycles / 48):.1f} times a 48th of them; an ordinary map takes "
        f"{other / sum(cycles.values()):.2f} times the cycles; through the graph of RTsets both pictures take {both} "
        "cores",
        picture=found.picture,
    )
