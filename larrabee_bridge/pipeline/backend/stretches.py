"""Stretches of a tile's threads: where their lines lie on a core, queues between them, and fibers that take turns.

In a run every tile has its pixels, and every draw its triangles, lists and records of quads, at places of their own. On
the modelled core the records stand in a ring for each work thread, and a set-up thread keeps its header in one line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from larrabee_bridge.pipeline.backend.accounts import Accounts
from larrabee_bridge.pipeline.backend.tiles import WORKERS, DealtDraw, TileMemory
from larrabee_bridge.vpu.core.cuts import begins_of_block
from larrabee_bridge.vpu.core.turns.places import DEALS_A_QUAD, RANGE, TAKES_A_QUAD
from larrabee_bridge.vpu.core.works import FREE, Queues, Requests
from larrabee_bridge.vpu.memory.fibers import fewest_fibers
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import LINE_BYTES, VectorProgram

__all__ = ["CLEARS", "LISTS", "RESOLVES", "TONES", "WORKS", "DrawRequests", "DrawStretches", "add_shared", "fibers_of"]

CLEARS, WORKS, LISTS, RESOLVES, TONES = range(5)
"""Phases of a tile's work threads: each waits for the end of the one before, since they share blocks otherwise then."""

_KEPT = 1 << 49
"""Lines that a core keeps for itself: the header of its set-up thread, then the rings of records."""
_RING = 1 << 16
_END = 1 << 40
_APART = 32
"""Data of another draw lie 2^32 lines further."""

Runs = Sequence[tuple[np.ndarray, RunNote]]


@dataclass(frozen=True, slots=True, eq=False)
class DrawRequests:
    """Texture requests of a draw, by the record of each quad."""

    asks: np.ndarray
    """1 where it asks, else 0: int64[record]."""
    busy: np.ndarray
    misses: np.ndarray
    """Cycles of the unit, and lines of texels from memory: int64[record] each."""
    fibers: int


def fibers_of(accounts: Accounts, between: float, quad_bytes: int) -> int:
    """Return how many fibers a work thread has whose requests are so many cycles apart."""
    texture, core = accounts.texture, accounts.config
    if texture.fibers:
        return texture.fibers
    wanted = fewest_fibers(max(round(between), 1), texture.latency + 2 * core.l2_cycles, texture.switch_cycles)
    return max(1, min(wanted, core.l1_bytes // 2 // (WORKERS * quad_bytes), 64))


def add_shared(accounts: Accounts, program: VectorProgram, memory: TileMemory, runs: Runs, phase: int) -> None:
    """Add what work threads did to all blocks of their tiles."""
    record = accounts.record
    number, step = record.program(program), record.step()
    ranges = record.ranges(number, np.zeros((1, 0, RANGE), np.int64))
    tile, thread, _, _ = memory.shares()
    for these, note in runs:
        record.add(number, note, memory.numbers[tile[these]], thread[these] + 1, step + these, ranges, phase=phase)
        record.words(note)


class DrawStretches:
    """Adds the stretches of one draw to the record of its tiles."""

    def __init__(self, accounts: Accounts, memory: TileMemory, dealt: DealtDraw, draw: int, quad_bytes: int) -> None:
        self.accounts, self.memory, self.dealt, self.draw = accounts, memory, dealt, draw
        self.lines = quad_bytes // LINE_BYTES
        self.record = accounts.record
        counts = np.zeros(memory.count * WORKERS, np.int64)
        tile, thread = dealt.owner
        counts[tile * WORKERS + thread] = dealt.counts
        self.starts = dealt.queues[0] // LINE_BYTES + self.lines * np.cumsum(np.append(0, counts))
        """The line in which the records of each queue begin, and the end: int64[tile * worker + 1]."""
        self.record.deal(Queues(memory.numbers[dealt.tile], dealt.thread))

    def _ranges(self, program: int, fibers: int) -> np.ndarray:
        """Return the ranges of lines of each tile: int64[tile, 2]."""
        dealt, apart = self.dealt, (self.draw + 1) << _APART
        ring = self.lines * (self.accounts.config.queued_quads + fibers + 2)
        headers = int(dealt.headers[0]) // LINE_BYTES
        table = np.zeros((self.memory.count, 5 + WORKERS, RANGE), np.int64)
        table[:, 0, :2] = self.memory.free // LINE_BYTES, 0
        table[:, 1, :2] = headers, apart
        table[:, 2] = headers + len(dealt.pairs), 0, 1, _KEPT
        table[:, 3, :2] = int(self.starts[0]), apart
        for worker in range(WORKERS):
            begin, past = self.starts[worker:-1:WORKERS], self.starts[worker + 1 :: WORKERS]
            table[:, 4 + worker, 0], table[:, 4 + worker, 1] = past, -begin
            table[:, 4 + worker, 2:] = ring, _KEPT + 1 + worker * _RING
        table[:, 4 + WORKERS, :2] = _END, apart
        self.record.resident |= {
            _KEPT,
            *(_KEPT + 1 + worker * _RING + at for worker in range(WORKERS) for at in range(ring)),
        }
        return self.record.ranges(program, table)

    def look(self, program: VectorProgram, runs: Runs, tiles: np.ndarray) -> None:
        """Add what set-up threads ask for before their first triangle."""
        self._set_up(self.record.program(program), runs, tiles, 0)

    def set_up(self, program: VectorProgram, runs: Runs, fibers: int) -> None:
        """Add the set-up threads: pair after pair."""
        self._set_up(self.record.program(program, _mark(program, DEALS_A_QUAD)), runs, self.dealt.pairs, fibers)

    def _set_up(self, number: int, runs: Runs, tiles: np.ndarray, fibers: int) -> None:
        ranges, step = self._ranges(number, fibers), self.record.step()
        for these, note in runs:
            tile = tiles[these]
            zeros = np.zeros_like(these)
            self.record.add(number, note, self.memory.numbers[tile], zeros, step + these, ranges[tile], phase=FREE)
            self.record.words(note)

    def work(self, program: VectorProgram, runs: Runs) -> None:
        """Add the work threads of a draw without texture: queue after queue."""
        number = self.record.program(program, _mark(program, TAKES_A_QUAD))
        ranges, step = self._ranges(number, 0), self.record.step()
        tile, thread = self.dealt.owner
        for these, note in runs:
            whose = tile[these], thread[these] + 1
            work = self.memory.numbers[whose[0]]
            self.record.add(number, note, work, whose[1], step + these, ranges[whose[0]], phase=WORKS)
            self.record.words(note)

    def fibers(self, programs: Sequence[VectorProgram], runs: Sequence[Runs], asked: DrawRequests, texels: int) -> None:
        """Add the work threads of a draw with a texture: its two programs quad by quad, as fibers take turns.

        ``texels`` is the line of a record that the answer comes to.
        """
        step = self.record.step()
        queue = np.repeat(np.arange(len(self.dealt.counts)), self.dealt.counts.astype(np.intp))
        tile, thread = self.dealt.owner[:, queue]
        order = _orders(asked.asks > 0, queue, asked.fibers)
        request = self._requests(asked, queue, tile, thread, texels)
        first = np.cumsum(self.dealt.counts) - self.dealt.counts
        for part, (program, its_runs) in enumerate(zip(programs, runs, strict=True)):
            number = self.record.program(program, {} if part else _mark(program, TAKES_A_QUAD))
            ranges = self._ranges(number, asked.fibers)
            for these, note in its_runs:
                begins, many = begins_of_block(note, program.index_of[program.labels["quad"]])
                place = np.repeat(np.arange(len(these)), many.astype(np.intp))
                within = np.arange(len(place)) - np.repeat(np.cumsum(many) - many, many.astype(np.intp))
                which = first[these][place] + within
                begin = np.where(within == 0, note.starts[:-1][place], begins)
                past = np.where(within == many[place] - 1, note.starts[1:][place], np.append(begins[1:], 0))
                self.record.add(
                    number,
                    note,
                    self.memory.numbers[tile[which]],
                    thread[which] + 1,
                    step + order[part, which],
                    ranges[tile[which]],
                    phase=WORKS,
                    cuts=(place, begin, past),
                    ask=-1 if part else request[which],
                    wait=request[which] if part else -1,
                )
                self.record.words(note)

    def _requests(
        self, asked: DrawRequests, queue: np.ndarray, tile: np.ndarray, thread: np.ndarray, texels: int
    ) -> np.ndarray:
        """Add the requests of the draw; return the number of each quad's in its tile, or -1: int64[record]."""
        which = np.flatnonzero(asked.asks)
        ring = self.lines * (self.accounts.config.queued_quads + asked.fibers + 2)
        line = _KEPT + 1 + thread * _RING + (self.lines * (np.arange(len(queue)) - _first_of(queue)) + texels) % ring
        work = self.memory.numbers[tile[which]]
        found = np.full(len(queue), -1)
        found[which] = np.arange(len(which)) - _first_of(work) + self.accounts.requested[work]
        np.add.at(self.accounts.requested, work, 1)
        self.record.requests(Requests(work, asked.busy[which], asked.misses[which], line[which], found[which]))
        return found


def _first_of(values: np.ndarray) -> np.ndarray:
    """Return for each place where the run of equal values begins that it is in."""
    new = np.flatnonzero(np.diff(values, prepend=-1))
    return np.repeat(new, np.diff(np.append(new, len(values))).astype(np.intp))


def _orders(asks: np.ndarray, queue: np.ndarray, fibers: int) -> np.ndarray:
    """Return the turn of each quad's first and second stretch among all: int64[part, record].

    Fibers stand in a circle and switch after a request only. So the second stretch of a quad comes when as many quads
    as there are fibers have asked, itself the first of them, or where there are no more quads.
    """
    count = len(asks)
    asking = np.flatnonzero(asks)
    after = np.arange(len(asking)) + fibers - 1
    there = after < len(asking)
    there[there] = queue[asking[after[there]]] == queue[asking[there]]
    last = np.flatnonzero(np.diff(np.append(queue, -1)))
    second = 4 * np.arange(count) + 1
    second[asking[there]] = 4 * asking[after[there]] + 2
    second[asking[~there]] = 4 * last[queue[asking[~there]]] + 3
    order = np.lexsort((np.tile(np.arange(count), 2), np.concatenate([4 * np.arange(count), second])))
    found = np.empty(2 * count, np.int64)
    found[order] = np.arange(2 * count)
    return found.reshape(2, count)


def _mark(program: VectorProgram, mark: int) -> dict[int, int]:
    return {program.index_of[program.labels["quad"]]: mark}
