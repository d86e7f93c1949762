"""Works of the rasterizer: the set-up and the descents of a PrimSet's triangles by the four threads of a core.

They are the last part of a PrimSet's front end (Seiler et al. 2008, figure 7): a thread sets up sixteen triangles and
descends for each of them into its tiles, so that their fields are still in its caches. The masks go to the bins.
Planes follow, of those triangles alone that cover something.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from larrabee_bridge.pipeline.backend.planes import PlaneWords
from larrabee_bridge.pipeline.coverage.binning import Bins
from larrabee_bridge.vpu.core import CoreConfig, SharedCore
from larrabee_bridge.vpu.core.turns.places import RANGE
from larrabee_bridge.vpu.core.works import WorkRecord
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram

__all__ = ["RasterWorks"]

THREADS = 4
"""Of a core (Seiler et al. 2008, 3.1)."""

_CONSTANTS = 64
"""Lines of the programs' own constants."""
_CORNERS = 6 * 64
"""Lines of the corners that a PrimSet's front end has left in the L2 slice: as many as there are in the largest one."""
_KEPT = 1 << 49
_PAIR = _KEPT + _CORNERS
_SCRATCH = _PAIR + 1
_GIVEN = _SCRATCH + 16 * THREADS
_VALUES = 24 * 64
"""Lines of the values at corners that planes are made of, which a PrimSet's front end has left there too."""
_PLANES = 1 << 45
_APART = 1 << 33
_END = 1 << 40


class RasterWorks:
    """Records what threads of the rasterizer carry out, by the PrimSet of their triangles; `count` times it."""

    def __init__(self, primset: np.ndarray, bins: Bins, config: CoreConfig) -> None:
        """``primset`` is the sequence id of each triangle: int64[triangle]."""
        self.primset, self.bins = primset, bins
        self.record = WorkRecord(config)
        self.record.resident |= set(range(_KEPT, _SCRATCH + 16 * THREADS))
        tile = np.repeat(np.arange(bins.columns * bins.rows), np.diff(bins.starts).astype(np.intp))
        order = np.lexsort((tile, bins.triangles))
        self._turn = np.empty(len(order), np.int64)
        self._turn[order] = np.arange(len(order))
        """Triangle by triangle, of each its tiles: the order of a PrimSet, by the number of the pair."""
        self._first = np.searchsorted(bins.triangles[order], np.arange(0, len(primset) + LANES, LANES))
        """The turn of the first pair of each sixteen triangles."""
        self._step = self.record.step()
        self._batch = 0

    def set_up(self, program: VectorProgram, note: RunNote, fields: int) -> None:
        """Add set-ups, sixteen triangles a thread; their fields go to line ``fields`` and on."""
        record, group = self.record, note.threads
        number = record.program(program)
        table = np.zeros((1, 2, RANGE), np.int64)
        table[0, 0] = fields, 0, _CORNERS, _KEPT
        table[0, 1, :2] = _END, _CONSTANTS - fields
        work = self.primset[LANES * group]
        # A thread sets up sixteen triangles, then descends for them.
        order = self._step + 2 * self._first[group]
        record.add(number, note, work, group % THREADS, order, record.ranges(number, table, _CONSTANTS), phase=0)
        record.words(note)

    def planes(self, made: PlaneWords, which: np.ndarray) -> None:
        """Add planes of triangles ``which``, ascending, a thread sixteen at a time; all descents come before."""
        record, group = self.record, made.note.threads
        record.resident |= set(range(_GIVEN, _GIVEN + _VALUES))
        number = record.program(made.program)
        _, triangles = made.lines
        table = np.zeros((1, 2, RANGE), np.int64)
        table[0, 0] = triangles, 0, _VALUES, _GIVEN
        table[0, 1, :2] = _END, _PLANES - triangles
        work = self.primset[which[LANES * group]]
        order = record.step() + group
        ranges = record.ranges(number, table, _CONSTANTS)
        record.add(number, made.note, work, group % THREADS, order, ranges, phase=1)
        record.words(made.note)

    def descend(
        self, program: VectorProgram, note: RunNote, pairs: np.ndarray, lines: Sequence[int], scratch: int
    ) -> None:
        """Add descents of pairs of triangle and tile.

        ``lines`` are where tiles, pairs, scratch memories of ``scratch`` lines each, and results begin.
        """
        record = self.record
        number = record.program(program)
        self._batch += 1
        tiles, table_of_pairs, scratches, results = lines
        table = np.zeros((1, 4, RANGE), np.int64)
        table[0, 0, 0] = tiles
        table[0, 1, :2] = table_of_pairs, _APART
        table[0, 2] = results, 0, 1, _PAIR
        table[0, 3, :2] = _END, (1 + self._batch) * _APART
        which = pairs[note.threads]
        triangle = self.bins.triangles[which]
        thread = triangle // LANES % THREADS
        first = scratches + scratch * note.threads
        own = np.stack([first, first + scratch, _SCRATCH + scratch * thread - first], axis=1)
        order = self._step + 2 * self._turn[which] + 1
        ranges = record.ranges(number, table, _CONSTANTS)
        record.add(number, note, self.primset[triangle], thread, order, ranges, own=own, phase=0)
        record.words(note)

    def count(self) -> dict[int, SharedCore]:
        """Return what a core did for each PrimSet."""
        return self.record.count()
