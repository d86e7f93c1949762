"""Where the results of a pass lie in texture memory, by each way of appendix B (thesis 4.3 and appendix B).

A base address lies on a boundary of the next power of two of what the generator counts from it. Of four PEs three give
a word of every SDRAM, so that a base for three words takes four places: a quarter of them stays empty. Of eight PEs,
with three words in either bank, these are the appendix's six items in the room of eight. The way `split` breaks them
into 4 + 2, two words a bank from one base and one from another, and leaves nothing empty.

Cells are those of one SDRAM, of four bytes: every word of all eight lies at the same. Where an area begins is chosen by
who keeps the results; the addresses inside it are those of `texture/caching.mc`, and differ from module to module by a
distance of one group of PEs, as the LEE computes them from coordinates that do (invented).
"""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.config import NodeConfig
from pixelflow.node import EMC_WIDTH, AddressMap, Cell

__all__ = ["FAR_WAYS", "CellRun", "ResultArea"]

FAR_WAYS = ("alternate", "split")
"""Ways in which EMCs take turns between the banks."""


@dataclass(frozen=True, slots=True)
class CellRun:
    """Neighbouring cells of every SDRAM of a module: the number of the first one, and how many bytes of each SDRAM."""

    first: int
    cells: int


@dataclass(frozen=True, slots=True)
class ResultArea:
    """The place of one pass; ``first`` is the number of its first cell, in the first bank where it takes both."""

    way: str
    first: int
    bank: int
    """From a cell to the same one in the second bank."""
    columns: int
    """PEs of a module side by side."""
    modules: int

    @classmethod
    def at(cls, way: str, first: int, config: NodeConfig) -> ResultArea:
        """Return the area of a machine that begins at a cell."""
        bank = AddressMap(config.sdram).number(Cell(1, 0, 0))
        return cls(way, first, bank, EMC_WIDTH * config.array.emcs_per_module, config.array.modules)

    @property
    def both_banks(self) -> bool:
        """Whether the same cells of the second bank belong to it."""
        return self.way in FAR_WAYS

    @property
    def single(self) -> int:
        """Return where the third words begin, with sets of 4 + 2: past all modules' first sets."""
        return self.first + 16 * self.columns + 16 * (self.modules - 1)

    def pieces(self, module: int) -> tuple[CellRun, ...]:
        """Return what it takes in a module, in each of its banks."""
        if self.way == "split":
            pairs = CellRun(self.first + 32 * module, 16 * self.columns)
            return pairs, CellRun(self.single + 16 * module, 8 * self.columns)
        each = 32 if self.both_banks else 64
        return (CellRun(self.first + 64 * module, each * self.columns),)

    @property
    def cells(self) -> int:
        """Cells from the first to the last that any module takes, in each bank."""
        last = self.pieces(self.modules - 1)[-1]
        return last.first + last.cells - self.first

    @property
    def taken_cells(self) -> int:
        """Cells that it takes in a module, in all banks."""
        return (2 if self.both_banks else 1) * sum(piece.cells for piece in self.pieces(0))
