"""The back end: tiles that stay in a core's memory while their triangles are drawn (4.5), and the frame's result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from larrabee_bridge.pipeline.back_end_programs import (
    Attributes,
    TileStage,
    constants_of,
    program_of,
    texture_of,
    work_parameters,
)
from larrabee_bridge.pipeline.bins import QUAD, TILES, Quads, quads_of
from larrabee_bridge.pipeline.texture_unit import TextureConfig, TileTextureUnit
from larrabee_bridge.pipeline.tile_memory import (
    AHEAD,
    CLEARS,
    LISTS,
    RESOLVES,
    Accounts,
    DealtDraw,
    DrawPlaces,
    DrawRequests,
    DrawStretches,
    ListRoom,
    TileMemory,
    TilePlaces,
    add_shared,
    draw_bytes,
    fibers_of,
    keep_programs,
    list_room,
)
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily, vector_share
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import LINE_BYTES
from pixelflow.simd.attendance import Telling
from pixelflow.simd.configuration import check_values
from pixelflow.simd.drawing import FAR, Blend, Draw, Frame, Picture, Texture
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.engine import AUTO

# Result of a frame's back end: the picture, the cycles of each tile, and counts.
#
# Bytes between tiles and memory are counted by `larrabee_bridge.pipeline.traffic`.


_COLOUR_BYTES = 4
"""Of a pixel, resolved, that leaves the core at the end of its tile."""


class BackEnd(NamedTuple):
    """A frame drawn tile by tile; tiles are numbered row by row, ``columns`` in a row."""

    picture: Picture
    tile: int
    columns: int
    accounts: Accounts
    texture: TileTextureUnit
    tile_bytes: int
    """Size of a tile in a core's memory: colours and depths of all samples, and the heads of lists of fragments."""
    list_bytes: np.ndarray
    """Size of each tile's lists of sorted fragments: int64[tile]."""
    quads: np.ndarray
    """int64[tile]."""
    covered: int
    """Lanes of all quads that a triangle covers in some sample."""

    @property
    def threads(self) -> np.ndarray:
        """Cycles of each thread of a tile, alone on a core: int64[tile, 4], the set-up thread first."""
        return self.accounts.cycles

    @property
    def cycles(self) -> np.ndarray:
        """Cycles of a core for each tile, its four threads taking turns: int64[tile]."""
        return self.accounts.turns()

    @property
    def memory_bytes(self) -> np.ndarray:
        """Bytes of each tile from and to memory, texels and its colours at the end among them: int64[tile]."""
        moved = self.texture.bytes + _COLOUR_BYTES * self.tile**2 * (self.quads > 0)
        for tile, core in self.accounts.shared.items():
            moved[tile] += core.memory_bytes
        return moved

    @property
    def fits_l2(self) -> bool:
        """True if a tile's pixels fit the slice of the L2 cache that belongs to a core, as 4.1 has it.

        Of 256 KB, 128x128 pixels take a half with one sample, and twice 256 KB with four; 64x64 take a half with four.
        Lists of sorted fragments count with their length in the longest tile; triangles and queued quads do not count.
        """
        return self.tile_bytes + int(self.list_bytes.max(initial=0)) <= self.accounts.config.l2_bytes

    @property
    def stages(self) -> dict[TileStage, np.ndarray]:
        """Cycles of all four threads of a tile by stage: int64[tile] each; together they are those of ``threads``."""
        return self.accounts.stages

    @property
    def instructions(self) -> dict[VectorFamily, int]:
        """Instructions executed, by family."""
        return self.accounts.families

    @property
    def vector_share(self) -> float:
        """Share of the vector unit's instructions in all; 0 without any."""
        return vector_share(self.instructions) or 0.0

    @property
    def utilisation(self) -> float:
        """Share of the lanes of all quads that a triangle covers in some sample; 0 without quads."""
        quads = int(self.quads.sum())
        return self.covered / (QUAD * QUAD * quads) if quads else 0.0


# The back end of Larrabee's renderer: tiles that stay in a core's memory while their triangles are drawn (4.5).
#
# Section numbers are those of Seiler et al. 2008. For each tile a set-up thread reads the triangles and their quads and
# deals them to three work threads, which test, shade and blend; all four are programs for the vector unit. Each tile
# has separate threads, and tiles are executed side by side.


KnownWords: TypeAlias = Callable[[int], np.ndarray | None]
"""Words of a draw's triangles with their planes, by its number (`plane_words`); called after the draw's quads."""
KnownQuads: TypeAlias = Sequence[Quads] | Callable[[int, Draw], Quads]
"""The quads of each draw of a frame, by its number."""

_OWN_PLANES = "leave out --free-setup: a program of the core computes planes in floats"
_PLANE_LANES = 0xFF
"""Lanes of the last line of a quad's planes that hold planes."""

_MOST_BYTES = 1 << 23
"""Of the memory of tiles that are executed side by side."""
_MOST_TILES = 512


def render_back_end(
    frame: Frame,
    quads: KnownQuads | None = None,
    tile: int = 64,
    config: CoreConfig | None = None,
    *,
    texture: TextureConfig | None = None,
    length: int = 0,
    words: KnownWords | None = None,
    engine: str = AUTO,
    most_tiles: int = _MOST_TILES,
    progress: Telling | None = None,
) -> BackEnd:
    """Draw a frame tile by tile, at most ``most_tiles`` of them side by side; no result depends on it.

    ``quads`` are those of each draw, drawn in their order within a tile; without them they are computed in 64-bit
    integers, as are planes of triangles without ``words``, for no cycles. The first command of the frame is a clear;
    tiles in which nothing is drawn are left out. ``length`` adds vector operations to every shader, which change its
    cost alone. Raises InputError for a tile that does not exist.
    """
    if tile not in TILES:
        raise InputError(Fault(f"a tile of {tile} pixels", hint=f"allowed: {', '.join(map(str, TILES))}"))
    config = config or CoreConfig()
    check_values(config)
    columns, rows = -(-frame.width // tile), -(-frame.height // tile)
    found = [_by_tile(_quads(frame, number, quads, tile)) for number in range(len(frame.draws))]
    accounts = Accounts(columns * rows, config, engine, texture or TextureConfig())
    unit = TileTextureUnit(columns * rows, accounts.texture)
    sorts = any(draw.state.blend is Blend.SORTED for draw in frame.draws)
    room = list_room(frame.draws, found, tile, columns * rows, frame.samples)
    background = frame.background[0] | frame.background[1] << 8 | frame.background[2] << 16
    colours = np.full((columns * rows, tile, tile), background, np.uint32)
    depths = np.full_like(colours, FAR)
    busy = np.zeros(columns * rows, np.int64)
    for each in found:
        busy += np.bincount(each.tile, minlength=columns * rows)
    worked = np.flatnonzero(busy)
    done = 0
    places = TilePlaces(worked, tile, frame.samples, sorts, room.of(worked))
    run = _Run(frame, columns, length, accounts, unit, room, words, places, found)
    for numbers in run.chunks(worked, most_tiles):
        if progress is not None:
            progress(f"larrabee: tile {done + 1:,} of {len(worked):,}", share=done / len(worked))
        done += len(numbers)
        colours[numbers], depths[numbers] = run.tiles(numbers)
    run.finish()
    return BackEnd(
        picture=_picture(colours, depths, frame, columns),
        tile=tile,
        columns=columns,
        accounts=accounts,
        texture=unit,
        tile_bytes=run.tile_bytes,
        list_bytes=run.list_bytes,
        quads=busy,
        covered=sum(int(np.bitwise_count(np.bitwise_or.reduce(each.masks, axis=1)).sum()) for each in found),
    )


def _quads(frame: Frame, number: int, quads: KnownQuads | None, tile: int) -> Quads:
    draw = frame.draws[number]
    if quads is None:
        return quads_of(draw.triangles, frame.width, frame.height, tile, frame.samples)
    return quads(number, draw) if callable(quads) else quads[number]


def _by_tile(quads: Quads) -> Quads:
    """Return quads tile by tile, in the given order within each tile."""
    if not (np.diff(quads.tile) < 0).any():
        return quads
    return quads.part(np.argsort(quads.tile, kind="stable"))


class _DrawRun:
    """A draw of a frame: its programs, its places among all tiles, and what its fibers are chosen by."""

    def __init__(self, run: _Run, number: int, quads: Quads) -> None:
        frame, self.number, self.quads = run.frame, number, quads
        self.draw = frame.draws[number]
        self.texture = texture_of(self.draw)
        self.attributes = Attributes.of(self.draw, run.accounts.config)
        self.places = DrawPlaces(quads, run.places, self.attributes)
        self.looking = {"SAMPLES": frame.samples, **self.attributes.parameters}
        sorts, tile = run.places.sorts, run.places.tile
        self.dealing = {"SAMPLES": frame.samples, "SORTS": int(sorts), **self.attributes.parameters, "TILE": tile}
        parts = (0,) if self.texture is None else (1, 2)
        self.working = [work_parameters(frame, self.draw, self.attributes, part, sorts, run.length) for part in parts]
        self.setters = program_of("ahead", **self.looking), program_of("setup", **self.dealing)
        self.workers = [program_of("work", **each) for each in self.working]
        self.spent = self.asked = 0
        """Cycles of work threads, and requests for texels."""
        keep_programs(run.accounts, self.setters, self.workers, self.places.quad_bytes)
        if self.texture is not None:
            run.unit.keep(self.texture)

    def fibers(self, accounts: Accounts) -> int:
        """Return the number of fibers of its work threads, once all tiles have been executed."""
        return fibers_of(accounts, self.spent / max(self.asked, 1), self.places.quad_bytes)


Runs: TypeAlias = list[tuple[np.ndarray, RunNote]]


class _Run:
    """A frame being drawn."""

    def __init__(
        self,
        frame: Frame,
        columns: int,
        length: int,
        accounts: Accounts,
        unit: TileTextureUnit,
        room: ListRoom,
        words: KnownWords | None,
        places: TilePlaces,
        quads: Sequence[Quads],
    ) -> None:
        """``places`` are those of all tiles with ``quads``, the ones of each draw."""
        self.frame, self.columns, self.length, self.accounts, self.unit = frame, columns, length, accounts, unit
        self.room, self.words, self.places = room, words, places
        red, green, blue = frame.background
        samples, sorts = frame.samples, int(places.sorts)
        self.clear = {"SAMPLES": samples, "SORTS": sorts, "COLOUR": red | green << 8 | blue << 16, "FAREST": FAR}
        self.list_bytes = np.zeros(accounts.tiles, np.int64)
        accounts.record.program(program_of("clear", **self.clear))
        self.draws = [_DrawRun(self, number, each) for number, each in enumerate(quads) if len(each)]
        self.last: list[tuple[str, dict[str, int], int]] = []
        """Programs over all blocks after the last draw, with their phases."""
        if sorts:
            self.last.append(("lists", {"SAMPLES": samples}, LISTS))
        if samples > 1:
            self.last.append(("resolve", {"SORTS": sorts}, RESOLVES))
        for name, parameters, _ in self.last:
            accounts.record.program(program_of(name, **parameters))
        self._waits = any(each.texture is not None for each in self.draws)
        """True if tiles are timed after the last one, since a draw's fibers are chosen by all of its tiles."""
        self._later: list[Callable[[], None]] = []
        """Functions that add the stretches of tiles kept until then, in order."""

    @property
    def tile_bytes(self) -> int:
        """Bytes of a tile's pixels, without lists of fragments."""
        return self.places.blocks * self.places.block_bytes

    def chunks(self, numbers: np.ndarray, most: int) -> Iterator[np.ndarray]:
        """Yield groups of tiles that fit the memory together, in their order."""
        need = np.zeros(self.accounts.tiles, np.int64)
        for each in self.draws:
            tiles = each.places.tiles
            need[tiles] = np.maximum(need[tiles], each.places.bytes)
        while len(numbers):
            total = np.cumsum((self.tile_bytes + need + self.room.bytes)[numbers[:most]])
            many = max(1, int(np.searchsorted(total, _MOST_BYTES, side="right")))
            yield numbers[:many]
            numbers = numbers[many:]

    def tiles(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Draw tiles; return their colours and depths."""
        whole = self.places
        places = TilePlaces(numbers, whole.tile, whole.samples, whole.sorts, self.room.of(numbers))
        parts = [
            each.quads.part(slice(*np.searchsorted(each.quads.tile, (numbers[0], numbers[-1] + 1))))
            for each in self.draws
        ]
        needs = [draw_bytes(part, whole.samples, each.attributes) for part, each in zip(parts, self.draws, strict=True)]
        memory = TileMemory(places, self.columns, max(needs))
        self._shared("clear", self.clear, memory, CLEARS)
        for each, part in zip(self.draws, parts, strict=True):
            if len(part):
                self._draw(each, part, memory)
        for name, parameters, phase in self.last:
            self._shared(name, parameters, memory, phase)
        self.list_bytes[numbers] = memory.list_bytes()
        self.unit.finish()
        if not self._waits:
            self.accounts.finish(more=True)
        return memory.pixels()

    def _then(self, add: Callable[[], None]) -> None:
        """Add stretches, now or later."""
        if self._waits:
            self._later.append(add)
        else:
            add()

    def finish(self) -> None:
        """Time the tiles that were drawn."""
        while self._later:
            self._later.pop(0)()
        self.accounts.finish()

    def _shared(self, name: str, parameters: dict[str, int], memory: TileMemory, phase: int) -> None:
        """Run a program over all blocks of the tiles, a third of them on each work thread."""
        places = memory.places
        tile, thread, start, blocks = places.shares()
        room = places.scratches if phase == LISTS else places.lists
        scalars = {0: start, 5: blocks, 9: room[tile, thread]}
        whose = places.numbers[tile]
        runs = self.accounts.run(name, parameters, memory.memory, whose, thread + 1, scalars, blocks)
        program = program_of(name, **parameters)
        self._then(partial(add_shared, self.accounts, program, places, self.places, runs, phase))

    def _draw(self, about: _DrawRun, quads: Quads, memory: TileMemory) -> None:
        draw, places, attributes = about.draw, memory.places, about.attributes
        known = None if self.words is None else self.words(about.number)
        if known is None and attributes.floats:
            raise InputError(Fault("planes = float: these planes are the host's, in integers", hint=_OWN_PLANES))
        dealt = memory.put(draw.triangles, quads, attributes, known, about.places)
        # Triangles run side by side: the set-up thread's work on one does not depend on those before.
        ones = np.ones_like(dealt.pairs)
        scalars = {0: dealt.lists, 1: ones, 2: places.pixels_of(dealt.pairs), 3: dealt.headers, 14: dealt.ahead}
        whose = places.numbers[dealt.pairs]
        set_up = self.accounts.run(
            "setup", about.dealing, memory.memory, whose, 0 * whose, scalars, dealt.sizes, {1: _PLANE_LANES}
        )
        first, looked = self._look(about, dealt, memory)
        before = int(self.accounts.cycles[:, 1:].sum())
        work = [self._work(about.working[0], dealt, memory)]
        requests: np.ndarray | None = None
        if about.texture is not None:
            requests = self._filter(about.texture, attributes, dealt, memory)
            work.append(self._work(about.working[1], dealt, memory))
            about.asked += int(requests[0].sum())
            about.spent += int(self.accounts.cycles[:, 1:].sum()) - before
        self._then(partial(self._add, about, places, dealt, first, looked, set_up, work, requests))

    def _add(
        self,
        about: _DrawRun,
        places: TilePlaces,
        dealt: DealtDraw,
        first: np.ndarray,
        looked: Runs,
        set_up: Runs,
        work: Sequence[Runs],
        requests: np.ndarray | None,
    ) -> None:
        """Add the stretches of a draw."""
        stretches = DrawStretches(self.accounts, places, dealt, about.number, about.places)
        stretches.look(about.setters[0], looked, dealt.pairs[first])
        if requests is None:
            stretches.set_up(about.setters[1], set_up, 0)
            stretches.work(about.workers[0], work[0])
            return
        fibers = about.fibers(self.accounts)
        stretches.set_up(about.setters[1], set_up, fibers)
        layout = constants_of(self.frame.samples, places.sorts, about.attributes)
        asked = DrawRequests(requests[0], requests[1], requests[2], fibers)
        stretches.fibers(about.workers, work, asked, layout["TEXELS"] // LINE_BYTES)

    def _look(self, about: _DrawRun, dealt: DealtDraw, memory: TileMemory) -> tuple[np.ndarray, Runs]:
        """Run the set-up threads' prefetches for the first triangles of their lists; return these pairs, and notes."""
        first = np.flatnonzero(np.diff(dealt.pairs, prepend=-1))
        many = np.minimum(np.diff(np.append(first, len(dealt.pairs))), AHEAD)
        scalars = {14: dealt.lists[first], 1: many}
        tiles = memory.places.numbers[dealt.pairs[first]]
        return first, self.accounts.run("ahead", about.looking, memory.memory, tiles, 0 * tiles, scalars, many)

    def _work(self, parameters: dict[str, int], dealt: DealtDraw, memory: TileMemory) -> Runs:
        """Run the work threads of a draw, or a part of it; return the notes."""
        tile, thread = dealt.owner
        scalars = {0: dealt.queues, 5: dealt.counts, 9: memory.places.lists[tile, thread]}
        whose = memory.places.numbers[tile]
        return self.accounts.run("work", parameters, memory.memory, whose, thread + 1, scalars, dealt.counts)

    def _filter(self, texture: Texture, attributes: Attributes, dealt: DealtDraw, memory: TileMemory) -> np.ndarray:
        """Answer the requests of a draw; return, for each record, if it asks and the unit's work: int64[3, record]."""
        layout = constants_of(self.frame.samples, self.places.sorts, attributes)
        records = memory.records(dealt, attributes)
        asked, u, v, texels = (layout[name] // 4 for name in ("ASKED", "U", "V", "TEXELS"))
        order = dealt.order
        wanted = (records[order, asked, None] >> np.arange(16, dtype=np.uint32) & 1).astype(bool)
        coordinates = [records[order, start : start + 16] for start in (u, v)]
        tile = memory.places.numbers[dealt.tile]
        answers, taken = self.unit.answer(texture, tile, dealt.thread, wanted, *coordinates)
        records[order, texels : texels + 16] = answers.reshape(len(answers), 64).view(np.uint32)
        found = np.zeros((3, len(order)), np.int64)
        found[0, order], found[1:, order] = wanted.any(axis=1), taken
        return found


def _picture(colours: np.ndarray, depths: np.ndarray, frame: Frame, columns: int) -> Picture:
    def whole(tiles: np.ndarray) -> np.ndarray:
        side = tiles.shape[1]
        rows = tiles.reshape(-1, columns, side, side).transpose(0, 2, 1, 3).reshape(-1, columns * side)
        return rows[: frame.height, : frame.width]

    rgb = np.ascontiguousarray(whole(colours)).astype("<u4", copy=False).view(np.uint8).reshape(frame.height, -1, 4)
    return Picture(rgb[..., :3].copy(), (whole(depths) & np.uint32(FAR)).astype(np.int64))
