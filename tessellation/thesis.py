"""The tables of Keller's thesis (UNC TR95-043) as data, with what is known to be wrong in them.

Only reports and tests read this file: no published number is an input to the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FIGURES", "TABLES", "Table", "table"]

Cell = int | float | str


@dataclass(frozen=True, slots=True)
class Table:
    """One table: the section that prints it, its columns and rows as printed, and known discrepancies."""

    number: int
    title: str
    section: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def row(self, first: Cell) -> dict[str, Cell]:
        """Return the row whose first cell is ``first``, by column name; raises KeyError where there is none."""
        for cells in self.rows:
            if cells[0] == first:
                return dict(zip(self.columns, cells, strict=True))
        raise KeyError(first)


def table(number: int) -> Table:
    """Return table ``number``, 1 to 13."""
    return TABLES[number - 1]


_COUNTS = tuple(f"{n}x{n}" for n in range(4, 13))

# fmt: off
TABLES: tuple[Table, ...] = (
    Table(1, "Peak floating point performance on the PEs", "2.2.3",
        ("operation", "cycles", "ops per PE-second", "ops per second"),
        (("int_to_float", 157, "636 K", "5.2 G"),
         ("add", 390, "256 K", "2.1 G"),
         ("multiply", 253, "395 K", "3.2 G"),
         ("divide", 704, "142 K", "1.2 G"),
         ("sqrt", 698, "143 K", "1.2 G")),
        ("the rates are 100 MHz / cycles, cut or rounded (636.9 K is printed as 636 K)",)),
    Table(2, "Steady state SDRAM data bandwidth", "2.2.6",
        ("access", "cycles", "bytes"),
        (("4 bytes, random", 11, 4), ("4 bytes, alternate banks", 6, 4),
         ("8 bytes, random", 15, 8), ("8 bytes, alternate banks", 8, 8))),
    Table(3, "Cycles required to load base addresses", "4.1.1",
        ("samples", "cycles per patch", "patches", "cycles"),
        (("4x4", 12, 512, 6144), ("8x8", 12, 128, 1536), ("16x16", 12, 32, 384)),
        ("section 3.2 says about 20 cycles for two patches and 2000 for 128: 10 and 15.6 each instead of 12",)),
    Table(4, "Cycles required to load the Bernstein polynomials", "4.1.2",
        ("net", "4x4", "8x8", "16x16", "all"),
        (("4x4", 328, 656, 1312, 2296), ("5x5", 408, 816, 1632, 2856), ("6x6", 488, 976, 1952, 3416),
         ("7x7", 568, 1136, 2272, 3976), ("8x8", 648, 1296, 2592, 4536))),
    Table(5, "Minimum number of operations to process one data transfer", "4.1.3",
        ("column", "multiplies", "adds", "cycles"),
        (("n = 3", 10, 6, 4870), ("n = 4", 10, 7, 5260), ("4 < n < 8", 9, 6, 4617),
         ("n = 8", 9, 7, 5144), ("8 < n", 8, 7, 4754)),
        ("n = 8: 9 multiplies and 7 adds give 5007; 5144 has the only solution 8 and 8",)),
    Table(6, "Cycles required for one transfer of data to the EMCs", "4.1.3",
        ("sends per block", "EMC cycles", "TASIC cycles"),
        ((16, 0, 9728), (8, 66, 5632), (4, 164, 3584), (2, 326, 2560), (1, 616, 2048)),
        ("the TASIC column takes 12 cycles a read where table 2, section 3.5 and appendix B take 11",)),
    Table(7, "Total EMC cycles used in the tessellation computation", "4.1.3",
        ("net", "cycles"),
        tuple(zip(_COUNTS, (89036, 139538, 201614, 275264, 360488, 457286, 565658, 685604, 817124), strict=True)),
        ("arithmetic only, equal to the closed formula to the last cycle; section 5 calls it verified in simulation",
         "simulated for 4x4 and 8x8, extrapolated for the others")),
    Table(8, "PE memory usage during tessellation", "4.2",
        ("net", "bytes"),
        tuple(zip(_COUNTS, (166, 198, 218, 238, 258, 278, 298, 318, 338), strict=True)),
        ("12x12 needs 338 of 320 bytes; the text promises it after a change of order",
         "section 3.6 says 72 bytes besides the Bernstein values, with details in 4.2, which has no such figure")),
    Table(9, "Detailed PE memory usage for a bicubic control patch", "4.2",
        ("address", "usage"),
        ((0, "X: coordinate, u derivative, v derivative, temporary"),
         (16, "Y: coordinate, u derivative, v derivative, temporary"),
         (32, "Z: coordinate, u derivative, v derivative, temporary"),
         (48, "Bernstein coefficients for point in u"), (64, "Bernstein coefficients for derivative in u"),
         (76, "Bernstein coefficients for point in v"), (92, "Bernstein coefficients for derivative in v"),
         (104, "control patch (after local port)"), (140, "administrative (patch number, etc.)"),
         (144, "temporaries (partial results, etc.)"), (152, "scratch space"), (166, "free")),
        ("the control patch line has 36 bytes for batches of 32; the other 4 are not explained",)),
    Table(10, "Tessellation API", "4.4",
        ("class", "method", "description"),
        (("BSP_MGR_C", "constructor", "creates storage for all control patch sizes"),
         ("BSP_MGR_C", "Tessellate", "tessellates all patches of this manager"),
         ("BSP_C", "constructor", "assigns a logical texture memory address and storage for a new patch"),
         ("BSP_C", "Mark", "marks the patch for tessellation"))),
    Table(11, "Tessellation steps for a bicubic Bezier patch", "4.5",
        ("step", "times", "thousands of cycles"),
        (("load base addresses", 1, 6), ("load Bernstein coefficients", 1, 2), ("control patch batches", 15, 5),
         ("cross product for normals", 1, 7), ("write normals", 1, 45)),
        ("6 + 2 + 15 x 5 + 7 = 90, not the 97 of section 5; 5 is 5.467 cut",
         "45 for the normals against 49,152 by the formula of 4.1.4")),
    Table(12, "Tessellation performance", "5.0",
        ("net", "cycles", "milliseconds"),
        tuple(zip(_COUNTS, (97_000, 148_000, 209_000, 283_000, 367_000, 465_000, 574_000, 694_000, 825_000),
                  (0.97, 1.5, 2.1, 2.8, 3.7, 4.7, 5.7, 6.9, 8.3), strict=True)),
        ("not derivable: no additive model found fits all nine rows; 6x6 and 8x8 are off by 1000 under the kindest one",
         "97,000 leaves out 2,460 cycles of distribution and the stall of the first transfer",
         "mixes simulated and extrapolated rows without saying so")),
    Table(13, "Approximate cycle counts for higher-precision floating point operations", "appendix A",
        ("mantissa bytes", "multiply", "add"),
        ((3, 250, 400), (4, 325, 440), (5, 400, 480), (6, 525, 520)),
        ("row 3 is called an actual implementation, table 1 has 253 and 390; the others are extrapolated",
         "multiply is 25 (1 + 3 n) for 3, 4 and 5 and would be 475 for 6")),
)
# fmt: on

FIGURES: dict[str, float] = {
    "bicubic pass": 97_000,
    "operations of a sample": 282,
    "operations of a pass": 2.3e6,
    "floating point rate": 2.4e9,
    "4x4 patches": 530e3,
    "16x16 patches": 330e3,
    "share of peak": 93,
    "node": 3.2e9,
    "24 bytes of every PE": 98_304,
    "explicit": 33_792,
    "base": 16_896,
    "alternate": 9_216,
}
"""What the text prints outside the tables: section 5, then 2.2.4 (bytes a second), 4.1.4 and appendix B (cycles)."""
