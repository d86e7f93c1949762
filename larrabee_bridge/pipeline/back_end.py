"""The back end: tiles that stay in a core's memory while their triangles are drawn (4.5), and the frame's result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

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
    DrawRequests,
    DrawStretches,
    ListRoom,
    TileMemory,
    add_shared,
    draw_bytes,
    fibers_of,
    list_room,
)
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily, vector_share
from larrabee_bridge.vpu.notes import RunNote
from larrabee_bridge.vpu.program import LINE_BYTES, VectorProgram
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


@dataclass(frozen=True, slots=True, eq=False)
class BackEnd:
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

_CHUNK_BYTES = 1 << 27
_CHUNK_TILES = 512
"""Tiles that are executed side by side."""


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
    progress: Telling | None = None,
) -> BackEnd:
    """Draw a frame tile by tile.

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
    run = _Run(frame, tile, columns, sorts, length, accounts, unit, room, words)
    background = frame.background[0] | frame.background[1] << 8 | frame.background[2] << 16
    colours = np.full((columns * rows, tile, tile), background, np.uint32)
    depths = np.full_like(colours, FAR)
    busy = np.zeros(columns * rows, np.int64)
    for each in found:
        busy += np.bincount(each.tile, minlength=columns * rows)
    worked = np.flatnonzero(busy)
    done = 0
    for numbers in run.chunks(worked, found):
        if progress is not None:
            progress(f"larrabee: tile {done + 1:,} of {len(worked):,}", share=done / len(worked))
        done += len(numbers)
        colours[numbers], depths[numbers] = run.tiles(numbers, found)
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
    order = np.argsort(quads.tile, kind="stable")
    return _taken(quads, order)


def _taken(quads: Quads, which: np.ndarray | slice) -> Quads:
    return Quads(quads.tile[which], quads.triangle[which], quads.x[which], quads.y[which], quads.masks[which])


@dataclass(eq=False)
class _Run:
    """A frame being drawn."""

    frame: Frame
    tile: int
    columns: int
    sorts: bool
    length: int
    accounts: Accounts
    unit: TileTextureUnit
    room: ListRoom
    words: KnownWords | None
    background: int = field(init=False)
    list_bytes: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        red, green, blue = self.frame.background
        self.background = red | green << 8 | blue << 16
        self.list_bytes = np.zeros(self.accounts.tiles, np.int64)

    @property
    def tile_bytes(self) -> int:
        """Bytes of a tile's pixels, without lists of fragments."""
        return (self.tile // QUAD) ** 2 * constants_of(self.frame.samples, self.sorts, Attributes())["BLOCK_BYTES"]

    def _attributes(self, draw: Draw) -> Attributes:
        return Attributes.of(draw, self.accounts.config)

    def chunks(self, numbers: np.ndarray, quads: Sequence[Quads]) -> Iterator[np.ndarray]:
        """Yield groups of tiles that fit the memory together, in their order."""
        count = self.accounts.tiles
        need = np.zeros(count, np.int64)
        for draw, each in zip(self.frame.draws, quads, strict=True):
            size = constants_of(self.frame.samples, self.sorts, self._attributes(draw))["QUAD_BYTES"]
            np.maximum(need, np.bincount(each.tile, minlength=count) * size, out=need)
        while len(numbers):
            total = np.cumsum((self.tile_bytes + need + self.room.bytes)[numbers[:_CHUNK_TILES]])
            many = max(1, int(np.searchsorted(total, _CHUNK_BYTES, side="right")))
            yield numbers[:many]
            numbers = numbers[many:]

    def tiles(self, numbers: np.ndarray, quads: Sequence[Quads]) -> tuple[np.ndarray, np.ndarray]:
        """Draw tiles; return their colours and depths."""
        samples = self.frame.samples
        parts = [_taken(each, slice(*np.searchsorted(each.tile, (numbers[0], numbers[-1] + 1)))) for each in quads]
        needs = [
            draw_bytes(part, samples, self._attributes(draw))
            for part, draw in zip(parts, self.frame.draws, strict=True)
        ]
        memory = TileMemory(
            numbers, self.columns, self.tile, samples, self.sorts, max(needs, default=0), self.room.of(numbers)
        )
        parameters = {"SAMPLES": samples, "SORTS": int(self.sorts), "COLOUR": self.background, "FAREST": FAR}
        self._shared("clear", parameters, memory, CLEARS, memory.lists)
        for number, (draw, part) in enumerate(zip(self.frame.draws, parts, strict=True)):
            if len(part):
                self._draw(number, draw, part, memory)
        if self.sorts:
            self._shared("lists", {"SAMPLES": samples}, memory, LISTS, memory.scratches)
        if samples > 1:
            self._shared("resolve", {"SORTS": int(self.sorts)}, memory, RESOLVES, memory.lists)
        self.list_bytes[numbers] = memory.list_bytes()
        self.unit.finish()
        self.accounts.finish()
        return memory.pixels()

    def _shared(self, name: str, parameters: dict[str, int], memory: TileMemory, phase: int, room: np.ndarray) -> None:
        """Run a program over all blocks of the tiles, a third of them on each work thread."""
        tile, thread, start, blocks = memory.shares()
        scalars = {0: start, 5: blocks, 9: room[tile, thread]}
        whose = memory.numbers[tile]
        runs = self.accounts.run(name, parameters, memory.memory, whose, thread + 1, scalars, blocks)
        add_shared(self.accounts, program_of(name, **parameters), memory, runs, phase)

    def _draw(self, number: int, draw: Draw, quads: Quads, memory: TileMemory) -> None:
        texture = texture_of(draw)
        attributes = self._attributes(draw)
        layout = constants_of(self.frame.samples, self.sorts, attributes)
        known = None if self.words is None else self.words(number)
        if known is None and attributes.floats:
            raise InputError(Fault("planes = float: these planes are the host's, in integers", hint=_OWN_PLANES))
        dealt = memory.put(draw.triangles, quads, attributes, known)
        stretches = DrawStretches(self.accounts, memory, dealt, number, layout["QUAD_BYTES"])
        parameters = {
            "SAMPLES": self.frame.samples,
            "SORTS": int(self.sorts),
            **attributes.parameters,
            "TILE": self.tile,
        }
        # Triangles run side by side: the set-up thread's work on one does not depend on those before.
        ones = np.ones_like(dealt.pairs)
        scalars = {0: dealt.lists, 1: ones, 2: memory.pixels_of(dealt.pairs), 3: dealt.headers, 14: dealt.ahead}
        whose = memory.numbers[dealt.pairs]
        runs = self.accounts.run(
            "setup", parameters, memory.memory, whose, 0 * whose, scalars, dealt.sizes, {1: _PLANE_LANES}
        )
        program = program_of("setup", **parameters)
        self._look(attributes, dealt, memory, stretches)
        if texture is None:
            stretches.set_up(program, runs, 0)
            stretches.work(*self._work(draw, attributes, 0, dealt, memory)[:2])
            return
        first, asking, asked = self._work(draw, attributes, 1, dealt, memory)
        found = self._filter(texture, attributes, dealt, memory)
        second, answering, answered = self._work(draw, attributes, 2, dealt, memory)
        fibers = fibers_of(
            self.accounts, int((asked + answered).sum()) / max(int(found[0].sum()), 1), layout["QUAD_BYTES"]
        )
        stretches.set_up(program, runs, fibers)
        stretches.fibers(
            (first, second),
            (asking, answering),
            DrawRequests(found[0], found[1], found[2], fibers),
            layout["TEXELS"] // LINE_BYTES,
        )

    def _look(self, attributes: Attributes, dealt: DealtDraw, memory: TileMemory, stretches: DrawStretches) -> None:
        """Run the set-up threads' prefetches for the first triangles of their lists."""
        parameters = {"SAMPLES": self.frame.samples, **attributes.parameters}
        first = np.flatnonzero(np.diff(dealt.pairs, prepend=-1))
        many = np.minimum(np.diff(np.append(first, len(dealt.pairs))), AHEAD)
        scalars = {14: dealt.lists[first], 1: many}
        tiles = memory.numbers[dealt.pairs[first]]
        runs = self.accounts.run("ahead", parameters, memory.memory, tiles, 0 * tiles, scalars, many)
        stretches.look(program_of("ahead", **parameters), runs, dealt.pairs[first])

    def _work(
        self, draw: Draw, attributes: Attributes, part: int, dealt: DealtDraw, memory: TileMemory
    ) -> tuple[VectorProgram, list[tuple[np.ndarray, RunNote]], np.ndarray]:
        """Run the work threads of a draw; return the program, its notes, and cycles: int64[tile, work thread]."""
        before = self.accounts.cycles[:, 1:].copy()
        parameters = work_parameters(self.frame, draw, attributes, part, self.sorts, self.length)
        program = program_of("work", **parameters)
        tile, thread = dealt.owner
        scalars = {0: dealt.queues, 5: dealt.counts, 9: memory.lists[tile, thread]}
        whose = memory.numbers[tile]
        runs = self.accounts.run("work", parameters, memory.memory, whose, thread + 1, scalars, dealt.counts)
        return program, runs, self.accounts.cycles[:, 1:] - before

    def _filter(self, texture: Texture, attributes: Attributes, dealt: DealtDraw, memory: TileMemory) -> np.ndarray:
        """Answer the requests of a draw; return, for each record, if it asks and the unit's work: int64[3, record]."""
        layout = constants_of(self.frame.samples, self.sorts, attributes)
        records = memory.records(dealt, attributes)
        asked, u, v, texels = (layout[name] // 4 for name in ("ASKED", "U", "V", "TEXELS"))
        order = dealt.order
        wanted = (records[order, asked, None] >> np.arange(16, dtype=np.uint32) & 1).astype(bool)
        coordinates = [records[order, start : start + 16] for start in (u, v)]
        tile = memory.numbers[dealt.tile]
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
