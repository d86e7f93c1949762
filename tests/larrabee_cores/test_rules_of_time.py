"""Does the core keep every rule of time, does each value matter, and would a broken rule be noticed?

The closed forms at the end follow from the rules for programs of any length.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from larrabee_bridge.pipeline.account import left_out, line_wait
from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.bins import BinRule, bin_triangles, quads_of
from larrabee_bridge.pipeline.schedule import ScheduleConfig
from larrabee_bridge.pipeline.texture_unit import TextureConfig, TileTextureUnit
from larrabee_bridge.pipeline.tile_memory import ListRoom, TilePlaces, _orders, fibers_of
from larrabee_bridge.pipeline.work import measured_work
from larrabee_bridge.vpu import rotation as at
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.core_image import CoreImage, SharedCore, WorkRecord, WorkTables
from larrabee_bridge.vpu.isa import INSTRUCTIONS
from larrabee_bridge.vpu.issue import Core, Costs
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import assemble_vector
from larrabee_bridge.vpu.ring import (
    RingConfig,
    fewest_fibers,
    found_again,
    line_moves,
    mean_ride,
    ride_clocks,
    stall_share,
)
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles, State, Texture, snap
from pixelflow.simd.drawing.triangles import TEXEL
from pixelflow.simd.lanes.native.plain import works_natively
from pixelflow.simd.lanes.words import ByteMemory
from tests.larrabee.rows import ROWS
from tests.larrabee_cores.rules_of_time import FIELDS, LAST, MAKE, REAL, RULES, SCHEDULES, USE, Frames, Rule
from tests.sabotage.broken_rules import noticed, stands_once


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_cycles_are_those_by_hand(rule: Rule) -> None:
    assert rule.measured() == rule.cycles, rule.why
    assert rule.after().measured() == rule.then != rule.cycles
    assert not works_natively() or rule.measured(native=True) == rule.cycles


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_thread_alone_takes_as_long(rule: Rule) -> None:
    """Beside it the account of a thread alone, whose predictions are right and whose two pipes both reach memory."""
    for row in (rule, rule.after()):
        ideal = replace(row, config={**row.config, "mispredicted_cycles": 0, "two_accesses": True})
        assert row.alone() in (None, ideal.measured())


@pytest.mark.parametrize("rule", SCHEDULES, ids=lambda rule: rule.name)
def test_cycles_of_frames_are_those_by_hand(rule: Frames) -> None:
    assert rule.measured() == rule.cycles, rule.why
    assert rule.after().measured() == rule.then != rule.cycles


def test_every_value_of_the_configuration_has_a_rule() -> None:
    for rules, config in ((RULES, CoreConfig), (SCHEDULES, ScheduleConfig)):
        changed = {key for rule in rules for key in rule.changed}
        assert changed - {*FIELDS, "works", "numbers", "moved"} == {each.name for each in fields(config)}


COUNTS = {
    # Stores @0, @16 with the second of a pair, @32 with halt; the second line is still to be written.
    "a line that was stored to is sent to memory when it leaves": SharedCore(33, 0, 3, 2, 0, 2, 2, 0, 1, 1),
    # A @0, C @311, A @622 in the slice, @638 with halt.
    "a line of the L2 slice takes 15": SharedCore(639, 0, 4, 1, 0, 3, 2, 0, 0, 0),
    # mov @0, sub and jnz three times, halt; one wrong.
    "a branch back is predicted taken": SharedCore(12, 0, 8, 0, 1, None, None, None, None, None),
    # 135 cycles and halt with the last; nine lines of code.
    "an instruction is 8 bytes": SharedCore(271, 0, 135, 1, 0, 0, 0, 9, 0, 0),
    # The first thread has ended in 11; each two products and sums, halt with the sums.
    "a phase begins when the one before has ended": SharedCore(22, 11, 4, 2, 0, None, None, None, None, None),
    # Sixteen lines for one instruction, with halt.
    "a core takes a line in every other cycle": SharedCore(356, 0, 1, 1, 0, 16, 16, 0, 0, 0),
}
"""Accounts of cores by hand: cycles, those of the first phase; cycles with an issue, pairs, wrong predictions; misses
of L1, L2, code; lines written, lines still to be written."""


@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_a_core_are_those_by_hand(name: str) -> None:
    (rule,) = (each for each in RULES if each.name == name)
    assert rule.core() == COUNTS[name]
    assert COUNTS[name].memory_bytes == 64 * sum(each or 0 for each in (COUNTS[name].l2_misses, COUNTS[name].written))


@pytest.mark.parametrize(("second", "cycles"), [(1, 34), (0, 19)])
def test_programs_have_constants_of_their_own(second: int, cycles: int) -> None:
    """They begin in the slice: load @0, sum @16, load @17, sum @33; or @18, where the program is the same."""
    record = WorkRecord(CoreConfig(caches=True))
    one = np.zeros(1, np.int64)
    for order, which in enumerate((0, second)):
        program = assemble_vector(f"range x[16]\ndata x: float {which}.0\nvloadps v1, [x]\n{LAST}\n")
        unit, notes = VectorUnit(program), list[RunNote]()
        unit.run(notes.append, lines=True)
        number = record.program(program)
        record.add(number, notes[0], one, one, one + order, record.ranges(number, np.zeros((1, 0, at.RANGE), np.int64)))
    assert record.count(native=False)[0].cycles == cycles


def test_cycles_of_parts_and_waits() -> None:
    """The first issues @0, the second waits for three cycles and issues @4, halt with it."""
    program = assemble_vector(f"{MAKE}\n{USE}\n")
    unit, core = VectorUnit(program), Core(program, 1, parts=[0, 1, 1])
    unit.run(core)
    assert core.by_part.tolist() == [[1, 4]]
    assert (core.waited.tolist(), core.issuing.tolist(), core.paired.tolist()) == ([3], [2], [1])


def asked(config: TextureConfig, blocks: list[int], side: int = 128) -> np.ndarray:
    """Ask for the texels of blocks, a quad each; return cycles of the unit and lines from memory, added up."""
    texture = Texture(np.zeros((side, side, 4), np.uint8))
    row, column = np.divmod(np.array(blocks), side // 4)
    inside = np.arange(16)
    u, v = ((4 * start[:, None] << 16) + (2 << 16) + 0 * inside for start in (column, row))
    unit, quads = TileTextureUnit(1, config), len(blocks)
    zeros = np.zeros(quads, np.int64)
    return unit.answer(texture, zeros, zeros, np.ones((quads, 16), bool), u, v)[1].sum(axis=1)


BLACK = np.zeros((1, 3, 3), np.uint8)


class Fibers:
    """What `fibers_of` asks of an account."""

    def __init__(self, **values: int) -> None:
        self.texture, self.config = TextureConfig(**values), CoreConfig()


TEXTURE: dict[str, tuple[Callable[..., object], object, int, object]] = {
    # 16 pixels at 4 a cycle; at 16 a cycle.
    "pixels_per_cycle": (lambda **values: asked(TextureConfig(**values), [0])[0], 4, 16, 1),
    # 256 lines twice, in 512 places and in 128, where the least recently used leave before they return.
    "cache_bytes": (lambda **values: asked(TextureConfig(**values), [*range(256)] * 2)[1], 256, 8192, 512),
    # Lines 0 and 512 share a set of eight ways, of 64; and of one way, of 512.
    "ways": (lambda **values: asked(TextureConfig(**values), [0, 512, 0])[1], 2, 1, 3),
    # 10 cycles of work, a switch of 4: f > 0.95 (200 + 2 x 15 - 4 + 14) / 14 = 16.3; with 50: 6.1; with 20: 8.
    "latency": (lambda **values: fibers_of(Fibers(**values), 10, 64), 17, 50, 7),
    "switch_cycles": (lambda **values: fibers_of(Fibers(**values), 10, 64), 17, 20, 8),
    "fibers": (lambda **values: fibers_of(Fibers(**values), 10, 64), 17, 3, 3),
}
"""For each value of the texture unit what depends on it, its usual result, another value, the result with that."""


@pytest.mark.parametrize("key", TEXTURE)
def test_results_of_the_texture_unit_are_those_by_hand(key: str) -> None:
    measured, usual, other, then = TEXTURE[key]
    assert measured() == usual
    assert measured(**{key: other}) == then != usual


@pytest.mark.parametrize(
    ("first", "then", "missed"), [([0, 64], [0, 64], [0, 0]), ([0, 64, 128], [128, 64, 0], [0, 0, 1])]
)
def test_lines_of_a_tile_stay_between_requests(first: list[int], then: list[int], missed: list[int]) -> None:
    """Lines 0, 64 and 128 share a set of two ways, where the last two are found again."""
    texture = Texture(np.zeros((128, 128, 4), np.uint8))
    unit = TileTextureUnit(1, TextureConfig(cache_bytes=8192, ways=2))
    zeros, inside, found = np.zeros(len(first), np.int64), np.ones((len(first), 16), bool), []
    for lines in (first, then):
        row, column = np.divmod(np.array(lines), 32)
        u, v = ((4 * start[:, None] << 16) + (2 << 16) + np.zeros(16, np.int64) for start in (column, row))
        found.append(unit.answer(texture, zeros, zeros, inside, u, v)[1][1].tolist())
    assert found == [[1] * len(first), missed]


@pytest.mark.parametrize(("first", "cycles"), [("vloadps v1, [4]", 4), ("vgatherd v1, v9, [0]", 18)])
def test_a_thread_alone_rests_while_its_access_holds_the_pipes(first: str, cycles: int) -> None:
    """Where a thread leaves every second cycle: two lines, or sixteen; then the sum, and a cycle of rest."""
    program = assemble_vector(f"{first}\n{LAST}\n")
    unit, core = VectorUnit(program, 1, ByteMemory(1 << 12)), Core(program, 1, CoreConfig(back_to_back=False))
    unit.set_vector(9, 64 * np.arange(16))
    unit.run(core, lines=True)
    assert core.cycles.tolist() == [cycles]


@pytest.mark.parametrize("draws", [1, 2])
def test_requests_of_each_draw_wait_for_their_own_lines(draws: int) -> None:
    """Of three quads two are of one work thread, whose only fiber waits for their lines; a second draw finds all."""
    image, points = Texture(np.zeros((64, 64, 4), np.uint8)), np.array([[(0, 0), (7.5, 0), (0, 7.5)]])

    def draw(depth: float) -> Draw:
        return Draw("", snap(points, np.full((1, 3), depth), BLACK, coordinates=4 * points), State(texture=image))

    frame = Frame(8, 8, (0, 0, 0), tuple(draw(0.9 - 0.2 * each) for each in range(draws)))
    one = TextureConfig(fibers=1)
    taken = (render_back_end(frame, config=CoreConfig(memory_cycles=wait), texture=one) for wait in (1000, 2000))
    less, more = (int(each.cycles.sum()) for each in taken)
    assert more - less == 2 * 1000


def test_a_set_up_thread_looks_eight_triangles_ahead() -> None:
    """A round of `ahead.mc` for each of the first eight of a tile has 13 instructions; for each further one `setup.mc`
    looks from one before it at a triangle, not at the end of the list: a shift, three lines, two sums."""
    corner, issued = [(0, 0), (7.5, 0), (0, 7.5)], []
    for count in range(7, 11):
        triangles = snap(np.array([corner] * count), np.zeros((count, 3)), np.repeat(BLACK, count, axis=0))
        frame = Frame(8, 8, (0, 0, 0), (Draw("", triangles, State()),))
        issued.append(sum(render_back_end(frame).instructions.values()))
    eighth, ninth, tenth = np.diff(issued).tolist()
    assert eighth - 13 == ninth - 6 == tenth - 6


def test_every_value_of_the_texture_unit_has_a_rule() -> None:
    assert set(TEXTURE) == {each.name for each in fields(TextureConfig)}


def turns(asks: str, queue: str, fibers: int) -> tuple[list[int], list[int]]:
    """Return the places of each quad's first and second stretch among all of its thread."""
    first, second = _orders(np.array([*asks]) == "1", np.array([*map(int, queue)]), fibers)
    return first.tolist(), second.tolist()


def rides(source: int, to: int, agents: int = 8, clocks: int = 2, **values: int) -> list[int]:
    """Return the clocks of a message that is put on the ring in clock 0, 1 and so on."""
    return [ride_clocks(source, to, agents, clock, RingConfig(**values)) for clock in range(clocks)]


def moves(capacity: int) -> tuple[list[bool], int]:
    """Use lines 1, 2, 1, 3, 2, 1, 1, of which the first 1 and the second 2 are stored to."""
    lines, stores = np.array([1, 2, 1, 3, 2, 1, 1]), np.array([1, 0, 0, 0, 1, 0, 0], bool)
    return found_again(lines, capacity).tolist(), line_moves(lines, stores, capacity)[1]


def left(what: str, parts: int, triangles: ScreenTriangles, **values: object) -> int | None:
    """Return cycles of work left out on six tiles: 1000 bytes written, three PrimSets, 150 groups of 16 triangles."""
    accounts = SimpleNamespace(config=CoreConfig(**{"caches": True, **values}))
    run = SimpleNamespace(
        back_end=SimpleNamespace(accounts=accounts, quads=range(6)),
        rasters=[SimpleNamespace(planes=SimpleNamespace(cycles=range(each))) for each in (100, 50)],
        frame=Frame(8, 8, (0, 0, 0), (Draw("", triangles, State()),)),
    )
    fronts = [SimpleNamespace(vertices=range(each), cut=False) for each in (1, 2)]
    return next(each.cycles for each in left_out(run, parts, fronts, 1000) if each.what == what)


def far_apart(**values: np.ndarray) -> ScreenTriangles:
    """Return 90 triangles without a common corner."""
    points = np.array([[(x, 0), (x + 1, 5), (x, 9)] for x in range(90)])
    return snap(points, np.zeros((90, 3)), np.zeros((90, 3, 3), np.uint8), **values)


def binned(rule: BinRule) -> tuple[list[int], list[int]]:
    """Return where the lists of nine tiles of 64 begin, and their triangles: small ones, large ones, one off it."""
    points = [[(1, 1), (9, 1), (1, 9)], [(60, 1), (70, 1), (60, 9)], [(60, 60), (75, 60), (60, 75)]]
    points += [[(1, 1), (100, 1), (1, 100)], [(70, 70), (80, 70), (70, 80)], [(100, 1), (200, 1), (100, 200)]]
    triangles = snap(np.array(points), np.zeros((6, 3)), np.zeros((6, 3, 3), np.uint8))
    bins = bin_triangles(triangles, 129, 129, 64, rule)
    return bins.starts.tolist(), bins.triangles.tolist()


def quads(right: float) -> list[list[int]]:
    """Return tile, left, top and mask of the quads of half of a square."""
    points = np.array([[(right, 0), (right + 7.5, 0), (right, 7.5)]])
    found = quads_of(snap(points, np.zeros((1, 3)), BLACK), 128, 128)
    return np.stack([found.tile, found.x, found.y, found.masks[:, 0]], axis=1).tolist()


def texels(left: int, top: int, scale: float = 1, *, last: int = 4, side: int = 64) -> list[int]:
    """Ask for texels of a quad, pixels before ``last`` only; return cycles of the unit and lines from memory.

    With a ``scale`` other than 1 the texture has levels.
    """
    texture = Texture(np.zeros((side, side, 4), np.uint8), mipmaps=scale != 1)
    row, column = np.divmod(np.arange(16), 4)
    u, v = ((scale * (each + 0.5) * TEXEL).astype(np.uint32)[None] for each in (column + left, row + top))
    one = np.zeros(1, np.int64)
    work = TileTextureUnit(1).answer(texture, one, one, ((column < last) & (row < last))[None], u, v)[1]
    return work[:, 0].tolist()


def moved_by(core: SharedCore) -> list[int]:
    """Return cycles and bytes to and from memory of the front end of a draw with one PrimSet, on this core."""
    bins = SimpleNamespace(columns=1, rows=1, starts=np.array([0, 1]), entries=1)
    draw = SimpleNamespace(bins=bins, set_up=SimpleNamespace(cycles=range(1)), cores={0: core})
    work = measured_work("x", [draw], np.ones(1, np.int64))
    assert work.front_bytes is not None
    return [int(work.front[0]), int(work.front_bytes[0])]


NO_LISTS = TilePlaces(np.zeros(1, np.int64), 64, 1, False, ListRoom(*np.zeros((2, 1, 3), np.int64)))
BARE, TEXELS, SHARES = far_apart(), {"coordinates": np.zeros((90, 3, 2))}, {"nearness": np.ones((90, 3))}
LISTS, CORNERS = "lists of tiles, cleared", "corners' values side by side"
VERTICES, WRITTEN = "light, texture coordinates, 1 / w", "lines written back"
FORMULAS: dict[str, tuple[Callable[[], object], object]] = {
    # Three hops up, which end in an even clock, or down, in an odd one; four of eight are up from 0 and down from 1.
    "ride up": (lambda: rides(1, 4), [4, 3]),
    "ride down": (lambda: rides(1, 6), [3, 4]),
    "ride of an even sender to the other side": (lambda: rides(0, 4), [4, 5]),
    "ride of an odd one": (lambda: rides(1, 5), [5, 4]),
    "hops of two clocks": (lambda: rides(1, 4, hop_clocks=2), [6, 7]),
    # Of 48, from 2 down over 0 to its link, stop 16: 3 in clock 3; link to 4; ring 0 down to ring 2: 5; link to 6; from
    # stop 16 of 17 two up to 1, agent 33: 8. Longer links: 3; 8, 9; 14, 16.
    "ride over two links": (lambda: rides(2, 33, 48, 1), [8]),
    "links of five clocks": (lambda: rides(2, 33, 48, 1, link_clocks=5), [16]),
    # Of 20, ring 1 has agents 16 to 19 and the link: from 15 one up to its link, put in 1, there in 2; link 3; rings
    # 0 to 1 of 2, up or down alike, by an odd sender down: 4 is even, so 5; link 6; stop 4 to 3, down: 7.
    "ride to a short ring": (lambda: rides(15, 19, 20, 1), [7]),
    # Agents 0 and 1 on a ring, 2 on another, each with a link; put in in clock 0 and in 1. From 0 to 1 up, there in 2;
    # back down, there in 1 and 3. From 0 to 2 down in 1 or 3, link, up in 4 or 6, link, up in 6 or 8; from 1 up in 2,
    # link, down in 5, link, down in 7. From 2 to 0 up in 2, link, up in 4, link, up in 6; to 1 down in 7.
    "mean ride on two rings": (
        lambda: mean_ride(3, RingConfig(agents_of_a_ring=2)),
        (2 + 1 + 1 + 2 + 6 + 7 + 7 + 6 + 6 + 5 + 7 + 6) / 12,
    ),
    # 3 puts out 2; 2 puts out 1, which is written; 1 puts out 3; 2 is written at the end.
    "two lines of three": (lambda: moves(2), ([False, False, True, False, False, False, True], 2)),
    "room for all": (lambda: moves(3), ([False, False, True, False, True, True, True], 2)),
    "one line": (lambda: moves(1), ([*[False] * 6, True], 2)),
    "no line": (lambda: moves(0), ([False] * 7, 2)),
    # A turn of 20 and a latency of 100: the two others fill 40; with a switch of 5, 2 x 25 of 95.
    "share of waiting": (lambda: stall_share(3, 20, 100), 60 / 120),
    "with a switch": (lambda: stall_share(3, 20, 100, 5), 45 / 120),
    "nothing is left": (lambda: stall_share(6, 20, 100), 0),
    # More than 0.95 (100 + 20) / 20 = 5.7; 0.95 (100 - 5 + 25) / 25 = 4.56; 0.95 (95 + 5) / 5 = 19, and so 20.
    "fewest fibers": (lambda: [fewest_fibers(20, 100), fewest_fibers(20, 100, 5), fewest_fibers(5, 95)], [6, 5, 20]),
    "one is enough": (lambda: fewest_fibers(100, 2), 1),
    # 32768 / 2 of the cache for three threads with quads of 1024 bytes; of 64 there may be 64.
    "fibers that fit the cache": (lambda: fibers_of(Fibers(), 10, 1024), 5),
    "most fibers": (lambda: fibers_of(Fibers(latency=5000), 10, 64), 64),
    # A third of 256 blocks each, the remainder for the last: 85 1/3, 170 2/3, 256.
    "blocks of three threads": (lambda: NO_LISTS.shares()[3].tolist(), [85, 85, 86]),
    # Quads 0 to 3 all ask. One fiber waits at once; two when two have asked: 0, 1, 0 again, and so on in the circle: a
    # fiber whose quad has ended begins the next quad in the same turn.
    "turns of one fiber": (lambda: turns("1111", "0000", 1), ([0, 2, 4, 6], [1, 3, 5, 7])),
    "turns of two fibers": (lambda: turns("1111", "0000", 2), ([0, 1, 3, 5], [2, 4, 6, 7])),
    "turns of three fibers": (lambda: turns("1111", "0000", 3), ([0, 1, 2, 4], [3, 5, 6, 7])),
    "turns of more fibers than quads": (lambda: turns("1111", "0000", 9), ([0, 1, 2, 3], [4, 5, 6, 7])),
    # First and second stretches a and b: a0, a1 b1, a2: two have asked; b0, a3; b2, a4 b4; b3.
    "a quad that asks for nothing goes on at once": (
        lambda: turns("10110", "00000", 2),
        ([0, 1, 3, 5, 7], [4, 2, 6, 9, 8]),
    ),
    # The last quads of one queue wait for no quad of the next one.
    "queues have fibers of their own": (lambda: turns("1111", "0011", 4), ([0, 1, 4, 5], [2, 3, 6, 7])),
    # Four pixels a cycle; a block and its neighbours to the right, below, and both.
    "texels of a block": (lambda: texels(8, 4), [4, 4]),
    "texels of nine pixels": (lambda: texels(8, 4, last=3), [3, 1]),
    "texels of four blocks": (lambda: texels(10, 6), [4, 4]),
    "texels at the border": (lambda: texels(60, 0), [4, 4]),
    "texels of a texture of one line": (lambda: texels(0, 0, side=4), [4, 1]),
    # Twice as far apart: those of the level of 32, at its 0 to 3 and 4, four lines; a thousand times: of one texel.
    "texels of another level": (lambda: texels(0, 0, 2), [4, 4]),
    "texels of the last level": (lambda: texels(0, 0, 1000), [4, 1]),
    # 2.8 is between the levels of 32 and 16: 0 to 5, and from the last one, 15, over the border to 2: four lines each.
    "texels between two levels": (lambda: texels(0, 0, 2.8), [8, 8]),
    # One tile, two, four, three (the fourth is beyond its long side), one, and six up to both borders.
    "bins of what is covered": (
        lambda: binned(BinRule.COVERED),
        ([0, 4, 8, 9, 11, 14, 15, 15, 16, 17], [0, 1, 2, 3, 1, 2, 3, 5, 5, 2, 3, 2, 4, 5, 5, 5, 5]),
    ),
    "bins of boxes": (
        lambda: binned(BinRule.BOX),
        ([0, 4, 8, 9, 11, 15, 16, 16, 17, 18], [0, 1, 2, 3, 1, 2, 3, 5, 5, 2, 3, 2, 3, 4, 5, 5, 5, 5]),
    ),
    # Pixel i across and j down is covered up to i + j = 6: a quad, and 3, 2 and 1 pixels in the rows of two more.
    "quads": (lambda: quads(0), [[0, 0, 0, 0xFFFF], [0, 4, 0, 0x137], [0, 0, 4, 0x137]]),
    "quads of two tiles": (lambda: quads(60), [[0, 60, 0, 0xFFFF], [0, 60, 4, 0x137], [1, 64, 0, 0x137]]),
    # Two lines read and one written meanwhile, and one that it leaves in the slice for others.
    "bytes of a PrimSet": (
        lambda: moved_by(COUNTS["a line that was stored to is sent to memory when it leaves"]),
        [33, 64 * (2 + 1 + 1)],
    ),
    "wait for a line": (lambda: line_wait(CoreConfig(caches=True)), 15 + 2 * 5 + 300 + 2),
    "without caches": (lambda: line_wait(CoreConfig()), 0),
    # Of four threads 8 bytes a tile, a line each; one after the other, three PrimSets on two cores in two rounds.
    LISTS: (lambda: left(LISTS, 2, BARE), 2 * 4 * 328),
    # 48 lines of the slice; 6 + 3 x 4 vectors of 16 lines and a store; 150 groups, at most 63 and one for each PrimSet.
    CORNERS: (lambda: left(CORNERS, 2, BARE), 2 * 64 * (48 * 15 + 18 * 17)),
    "of those there are": (lambda: left(CORNERS, 1, BARE), 150 * (48 * 15 + 18 * 17)),
    "without the slice": (lambda: left(CORNERS, 1, BARE, caches=False), 150 * 18 * 17),
    "with coordinates": (lambda: left(CORNERS, 1, far_apart(**TEXELS)), 150 * (48 * 15 + 24 * 17)),
    "and 1 / w": (lambda: left(CORNERS, 1, far_apart(**TEXELS, **SHARES)), 150 * (48 * 15 + 27 * 17)),
    # 270 corners are seventeen times sixteen, nine for the first of two cores: 105 operations of 4, eight lines.
    VERTICES: (lambda: left(VERTICES, 2, BARE), 9 * (105 * 4 + 8 * 328)),
    # 1000 bytes are sixteen lines, six for the first of three cores.
    WRITTEN: (lambda: left(WRITTEN, 3, BARE), 6 * 2),
}
"""Formulas of the chip: a call, and its result by hand."""


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_give_what_they_give_by_hand(name: str) -> None:
    call, result = FORMULAS[name]
    assert call() == result


ROTATION, IMAGE = "larrabee_bridge/vpu/rotation.py", "larrabee_bridge/vpu/core_image.py"
FRAMES = "larrabee_bridge/pipeline/schedule.py"
SABOTAGES = {
    "a thread goes on as long as it can": (ROTATION, "        turn = place + 1\n", "        turn = place\n"),
    "an instruction pairs after a branch": (ROTATION, "cycle + 1 + (m[MISPREDICTED]", "cycle + (m[MISPREDICTED]"),
    "the texture unit takes any number at a time": (ROTATION, "begin = max(cycle + 1 + m[L2_CYCLES], m[UNIT_FREE])",
                                                    "begin = cycle + 1 + m[L2_CYCLES]"),
    "memory gives any number of lines at a time": (ROTATION, "            begin = max(cycle, m[MEMORY_FREE])\n",
                                                   "            begin = cycle\n"),
    "counters of branches have one bit": (
        ROTATION, "min(counter + 1, 3) if taken else max(counter - 1, 0)", "3 if taken else 0"
    ),
    "prefetches bring nothing": (ROTATION, "        if flags & EVICT:", "        if flags & (NEAR | FAR): pass\n"
                                 "        elif flags & EVICT:"),
    "evict does nothing": (ROTATION, "    if there != -1:\n        at = 0", "    if there == -1:\n        at = 0"),
    "lines leave first in, first out": (ROTATION, "            while at > 0:", "            while at < 0:"),
    "any line leaves the L2 slice": (ROTATION, "turns_insert(m, far, m[WAYS], line, there)\n    if",
                                     "turns_insert(m, far + 2 * (line % m[WAYS]), 1, line, there)\n    if"),
    "any line leaves the L1 cache": (ROTATION, "        turns_insert(m, near, m[WAYS], line, there)",
                                     "        turns_insert(m, near + 2 * (line // 64 % m[WAYS]), 1, line, there)"),
    "a second access never pairs": (IMAGE, "& at.TOUCHES and not costs.config.two_accesses", "& at.TOUCHES"),
    "two of a cycle write the same register": (
        ROTATION, "return max(there, turns_latest(m, t, number + I_WRITES)) <= cycle", "return there <= cycle"
    ),
    "vector instructions pair with each other": (IMAGE, "costs.either[number] and not accesses", "not accesses"),
    "a wrong prediction costs nothing": (ROTATION, "m[MISPREDICTED] if wrong else 0", "0"),
    "branches back are predicted not taken": (IMAGE, "= 2 if costs.branches", "= 1 if costs.branches"),
    "branches ahead are predicted taken": (IMAGE, "_leads_back(program, number) else 1", "True else 1"),
    "a load waits for the register of its address alone": (ROTATION, "address + m[ADDRESS] if", "address if"),
    "a place among the misses forgets the later one": (ROTATION, "m[place] = max(m[place], there)", "m[place] = there"),
    "prefetches are without number": (ROTATION, "longest = max(longest, m[place] - cycle)", "pass"),
    "a whole line is read before it is stored": (ROTATION, "if not flags & WHOLE or m[FULL_READ]:", "if 1:"),
    "the pipes are never held": (ROTATION, "        cycle += held\n", "        cycle += 1\n"),
    "a line is there at once when it was asked for": (ROTATION, "            return there\n        m[L1_MISSES]",
                                                      "            return 0\n        m[L1_MISSES]"),
    "the L2 slice takes no time": (ROTATION, "            there += m[L2_CYCLES]\n", "            pass\n"),
    "instructions are always there": (ROTATION, "if m[CODE_CACHED] and", "if 0 and"),
    "an answer does not wait for its texels": (ROTATION, "    if m[request + R_MISSES] > 0:", "    if 0:"),
    "a queue has room for every quad": (ROTATION, ">= m[CAPACITY]:", ">= 1 << 40:"),
    "a work thread takes quads that were not dealt": (ROTATION, "<= m[m[TAKEN] + worker]:", "< 0:"),
    "an answer leaves the old line in the L1 cache": (ROTATION, "            m[near] = -1\n", "            pass\n"),
    "room in a queue is seen when a thread issues": (ROTATION, "            soon = cycle + 1\n", ""),
    "what begins in a shared memory is fast": (FRAMES, "ceil((lock + cycles) / self.speed)", "(lock + cycles)"),
    "lists are not first": (FRAMES, "            0\n            if kind in", "            1\n            if kind in"),
    "frames wait for no numbers but the last": (FRAMES, "each.frame <= work.frame - flight",
                                                "each.frame == work.frame - flight"),
    "the lock asks for no bytes": (FRAMES, "rate = count / (lock + cycles)", "rate = count / cycles"),
    "a phase does not wait for the one before": (ROTATION, "if m[stretch + S_PHASE] > m[PHASE]:", "if 0:"),
    "a switch of fibers is free": (ROTATION, "        m[t + T_FREE] += m[SWITCH]\n", "        pass\n"),
    "the ring is crossed once": (IMAGE, "config.memory_cycles + 2 * config.ring_cycles",
                                 "config.memory_cycles + config.ring_cycles"),
    "writes take no time": (ROTATION, "            there = max(there, m[MEMORY_FREE])\n", ""),
    "stores to lines of the L1 cache are not written": (ROTATION, "            if flags & STORE:", "            if 0:"),
    "every line that leaves is written": (ROTATION, "        if m[far + 2 * m[WAYS] - 1] < 0:", "        if 1:"),
    "a gather takes a cycle": (ROTATION, "held = max(touched * m[number + I_LINE], 1)", "held = 1"),
    "a thread continues past a miss": (ROTATION, "cycle + held + missing)", "cycle + held)"),
    "an instruction pairs before it was fetched": (ROTATION, "max(m[t + T_FETCH], 0 if flags", "max(0, 0 if flags"),
    "the second of a pair holds nothing": (ROTATION, "held = max(held, turns_issue(m, ranges, words, chosen, cycle))",
                                         "turns_issue(m, ranges, words, chosen, cycle)"),
    "a line on its way to the L2 slice is there": (ROTATION, "        there = max(there, cycle)\n",
    "        there = cycle\n"),
    "lines behind one that is used again lose their times": (
        ROTATION, "                m[place + 2 * at + 1] = m[place + 2 * at - 1]\n", ""
    ),
}  # fmt: skip
"""Broken rules: file, text, and what it becomes."""


@pytest.mark.parametrize("change", SABOTAGES.values(), ids=SABOTAGES)
def test_the_text_of_a_sabotage_is_there_once(change: tuple[str, str, str]) -> None:
    assert stands_once(*change)


@pytest.mark.slow
@pytest.mark.parametrize("change", SABOTAGES.values(), ids=SABOTAGES)
def test_a_broken_rule_is_noticed_by_the_table(change: tuple[str, str, str], tmp_path: Path) -> None:
    assert noticed("tests.larrabee_cores.rules_of_time", *change, tmp_path)


# Closed forms: cycles of a step, from programs of two lengths.


def a_step(source: Callable[[int], str], few: int, more: int, **values: object) -> float:
    """Return the cycles that each further step takes."""
    short, long = (Rule("", source(steps), 0, "", {}, 0, **values).measured() for steps in (few, more))
    return (long - short) / (more - few)


def test_the_table_of_a_core_has_room_for_the_registers_of_every_instruction() -> None:
    """Read, read for an address, written; only branches, whose targets are numbers here, are not in the text."""
    lines = [text for text in dict.fromkeys(text for text, *_ in ROWS) if not re.fullmatch(r"\w+ \d+", text)]
    program = assemble_vector("\n".join([*lines, "halt\n"]))
    assert {*INSTRUCTIONS} - {each.declaration.mnemonic for each in program.instructions} == {
        "jmp", "jz", "jnz", "jc", "jnc", "jl", "jge"
    }  # fmt: skip
    costs = Costs.of(program, CoreConfig())
    needed = (each.reads for each in costs.depends), costs.addresses, (each.writes for each in costs.depends)
    room = at.I_ADDRESS - at.I_READS, at.I_WRITES - at.I_ADDRESS, at.INSTRUCTION - at.I_WRITES
    assert tuple(max(map(len, each)) for each in needed) == room == (4, 1, 4)


def test_lines_of_a_run_have_places_on_the_core() -> None:
    """10 to 19 are the run's own, moved by 1,000; up to 49 lines move by 5, up to 79 they share 4 places from 2,000.

    From 80 to 85 there are two records of three lines, which begin at 700 and 900.
    """
    m, stretch = [0] * 300, 100
    m[stretch + at.S_RANGES : stretch + at.S_RANGES_PAST + 1] = at.RANGE, 4 * at.RANGE
    m[stretch + at.S_OWN : stretch + at.S_OWN_SHIFT + 1] = 10, 20, 1000
    ranges = [99, 7, 0, 0, 50, 5, 0, 0, 80, 0, 4, 2000, 86, -80, -3, 4 * at.RANGE, 700, 900]
    lines = (9, 10, 19, 20, 49, 50, 79, 80, 82, 83, 85, 86)
    found = [at.turns_line(m, ranges, stretch, each) for each in lines]
    assert found == [14, 1010, 1019, 25, 54, 2002, 2003, 700, 702, 900, 902, 86]


@pytest.mark.parametrize(("stride", "again", "cycles"), [(0, 1, 2), (4096, 17, 17), (64, 1, 312)])
def test_a_pointer_is_chased_at_the_pace_of_its_level(stride: int, again: int, cycles: int) -> None:
    """A load and an address take 1 + 1 cycles, a line of the L2 slice 15 more, one of memory 310.

    Seventeen lines 4096 bytes apart share a set of eight lines in the L1 cache, and eight sets in the L2 slice.
    """
    places = stride * np.arange(128)
    if again > 1:
        places = stride * (np.arange(128) % again)
    memory = {int(here): int(there) for here, there in zip(places, np.roll(places, -1), strict=True)}
    step = a_step(lambda steps: "; ".join(["load r1, [r1]"] * steps), 40, 80, memory=memory, config=REAL)
    assert step == cycles


STREAM = "shl r15, 16; mov r3, r15; add r3, {past}; again: {ahead}load r2, [r15]; add r15, 64; cmp r15, r3; jnz again"
"""Each thread reads lines of its own, one after the other."""
AHEAD = "vprefetch1 [r15 + 1024]; "


@pytest.mark.parametrize(
    ("threads", "ahead", "cycles"),
    [(1, "", 313), (2, "", 156.5), (4, "", 78.25), (1, AHEAD, 310 / 16), (2, AHEAD, 310 / 32)],
)
def test_streams_take_turns_in_waiting(threads: int, ahead: str, cycles: float) -> None:
    """A load waits 310, and three more instructions follow; prefetches keep 16 lines under way, of two threads 32."""
    step = a_step(lambda lines: STREAM.format(past=64 * lines, ahead=ahead), 64, 128, config=REAL, threads=threads)
    assert step / threads == pytest.approx(cycles, rel=0.01)


@pytest.mark.parametrize(("rate", "cycles"), [(2, 3), (16, 16)])
def test_a_stream_of_stores_has_the_rate_of_memory_or_of_its_loop(rate: int, cycles: int) -> None:
    """Whole lines beyond the slice of 2,048: each sends one, and three cycles are those of the instructions."""
    values = {**REAL, "l2_bytes": 131072, "write_line_cycles": rate}
    text = "mov r3, {}; again: vstored [r15], v1; add r15, 64; cmp r15, r3; jnz again"
    assert a_step(lambda lines: text.format(64 * lines), 3000, 5000, config=values) == cycles


@pytest.mark.parametrize("count", [4, 5, 8, 12])
def test_a_loop_of_multiply_adds_loses_a_cycle_to_its_branch(count: int) -> None:
    """n multiply-adds, with the last one a subtraction, and jnz: n in n + 1 cycles, if n fills the latency of 4."""
    body = "; ".join(f"vmadd231ps v{number}, v20, v21" for number in range(count))
    step = a_step(lambda rounds: f"mov r1, {rounds}; again: {body}; sub r1, 1; jnz again", 20, 60)
    assert step == count + 1


@pytest.mark.parametrize("ways", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("size", [8192, 32768, 65536])
def test_misses_are_those_of_least_recent_use(ways: int, size: int) -> None:
    """Nine patterns of loads over lines of one set, and of a few sets, against a model of sets as ordered tables."""
    program = assemble_vector("load r1, [0]\n")
    for seed in range(9):
        rng = np.random.default_rng(seed)
        sets = size // 64 // ways
        lines = rng.integers(0, 20, 300) * sets + rng.integers(0, 1 + seed % 3, 300)
        kept: dict[int, OrderedDict[int, None]] = {}
        misses = 0
        for line in lines.tolist():
            own = kept.setdefault(line % sets, OrderedDict())
            misses += line not in own
            own[line] = None
            own.move_to_end(line)
            if len(own) > ways:
                own.popitem(last=False)
        image = CoreImage([program], CoreConfig(caches=True, l1_bytes=size, ways=ways))
        words = np.stack([np.zeros(300), np.ones(300), lines], axis=1).astype(np.uint32).reshape(-1)
        row = np.zeros((1, at.STRETCH), np.int64)
        row[0, at.S_PAST], row[0, [at.S_PHASE, at.S_ASK, at.S_WAIT]] = len(words), -1
        head = image.count(words, WorkTables([row]), native=False)
        assert head[at.L1_MISSES] == misses
