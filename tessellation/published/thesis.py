"""The tables and figures of Keller's thesis (UNC TR95-043) as data.

What is known to be wrong in them stands in `notes.py`. Only reports and tests read this file: no published number is an
input to the machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.evidence import Digits, Figure

__all__ = ["DIGITS", "FIGURES", "GP_RATE", "TABLES", "TITLE", "PrintedTable", "table"]

TITLE = "Keller, UNC TR95-043"

Cell = int | float | str


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """One table: the section that prints it, its columns and rows as printed, and notes on the whole of it by name."""

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


def table(number: int) -> PrintedTable:
    """Return table ``number``, 1 to 13."""
    return TABLES[number - 1]


_COUNTS = tuple(f"{n}x{n}" for n in range(4, 13))

# fmt: off
TABLES: tuple[PrintedTable, ...] = (
    PrintedTable(1, "Peak floating point performance on the PEs", "2.2.3",
        ("operation", "cycles", "ops per PE-second", "ops per second"),
        (("int_to_float", 157, "636 K", "5.2 G"),
         ("add", 390, "256 K", "2.1 G"),
         ("multiply", 253, "395 K", "3.2 G"),
         ("divide", 704, "142 K", "1.2 G"),
         ("sqrt", 698, "143 K", "1.2 G"))),
    PrintedTable(2, "Steady state SDRAM data bandwidth", "2.2.6",
        ("access", "cycles", "bytes"),
        (("4 bytes, random", 11, 4), ("4 bytes, alternate banks", 6, 4),
         ("8 bytes, random", 15, 8), ("8 bytes, alternate banks", 8, 8)),
        ("table2-table6",)),
    PrintedTable(3, "Cycles required to load base addresses", "4.1.1",
        ("samples", "cycles per patch", "patches", "cycles"),
        (("4x4", 12, 512, 6144), ("8x8", 12, 128, 1536), ("16x16", 12, 32, 384))),
    PrintedTable(4, "Cycles required to load the Bernstein polynomials", "4.1.2",
        ("net", "4x4", "8x8", "16x16", "all"),
        (("4x4", 328, 656, 1312, 2296), ("5x5", 408, 816, 1632, 2856), ("6x6", 488, 976, 1952, 3416),
         ("7x7", 568, 1136, 2272, 3976), ("8x8", 648, 1296, 2592, 4536))),
    PrintedTable(5, "Minimum number of operations to process one data transfer", "4.1.3",
        ("column", "multiplies", "adds", "cycles"),
        (("n = 3", 10, 6, 4870), ("n = 4", 10, 7, 5260), ("4 < n < 8", 9, 6, 4617),
         ("n = 8", 9, 7, 5144), ("8 < n", 8, 7, 4754))),
    PrintedTable(6, "Cycles required for one transfer of data to the EMCs", "4.1.3",
        ("sends per block", "EMC cycles", "TASIC cycles"),
        ((16, 0, 9728), (8, 66, 5632), (4, 164, 3584), (2, 326, 2560), (1, 616, 2048)),
        ("table2-table6",)),
    PrintedTable(7, "Total EMC cycles used in the tessellation computation", "4.1.3",
        ("net", "cycles"),
        tuple(zip(_COUNTS, (89036, 139538, 201614, 275264, 360488, 457286, 565658, 685604, 817124), strict=True)),
        ("table7-formula",)),
    PrintedTable(8, "PE memory usage during tessellation", "4.2",
        ("net", "bytes"),
        tuple(zip(_COUNTS, (166, 198, 218, 238, 258, 278, 298, 318, 338), strict=True)),
        ("section3-bytes",)),
    PrintedTable(9, "Detailed PE memory usage for a bicubic control patch", "4.2",
        ("address", "usage"),
        ((0, "X: coordinate, u derivative, v derivative, temporary"),
         (16, "Y: coordinate, u derivative, v derivative, temporary"),
         (32, "Z: coordinate, u derivative, v derivative, temporary"),
         (48, "Bernstein coefficients for point in u"), (64, "Bernstein coefficients for derivative in u"),
         (76, "Bernstein coefficients for point in v"), (92, "Bernstein coefficients for derivative in v"),
         (104, "control patch (after local port)"), (140, "administrative (patch number, etc.)"),
         (144, "temporaries (partial results, etc.)"), (152, "scratch space"), (166, "free")),
        ("table9-batch",)),
    PrintedTable(10, "Tessellation API", "4.4",
        ("class", "method", "description"),
        (("BSP_MGR_C", "constructor", "creates storage for all control patch sizes"),
         ("BSP_MGR_C", "Tessellate", "tessellates all patches of this manager"),
         ("BSP_C", "constructor", "assigns a logical texture memory address and storage for a new patch"),
         ("BSP_C", "Mark", "marks the patch for tessellation"))),
    PrintedTable(11, "Tessellation steps for a bicubic Bezier patch", "4.5",
        ("step", "times", "thousands of cycles"),
        (("load base addresses", 1, 6), ("load Bernstein coefficients", 1, 2), ("control patch batches", 15, 5),
         ("cross product for normals", 1, 7), ("write normals", 1, 45)),
        ("pass-97000",)),
    PrintedTable(12, "Tessellation performance", "5.0",
        ("net", "cycles", "milliseconds"),
        tuple(zip(_COUNTS, (97_000, 148_000, 209_000, 283_000, 367_000, 465_000, 574_000, 694_000, 825_000),
                  (0.97, 1.5, 2.1, 2.8, 3.7, 4.7, 5.7, 6.9, 8.3), strict=True)),
        ("table12-eight", "table12-odd")),
    PrintedTable(13, "Approximate cycle counts for higher-precision floating point operations", "appendix A",
        ("mantissa bytes", "multiply", "add"),
        ((3, 250, 400), (4, 325, 440), (5, 400, 480), (6, 525, 520))),
)
# fmt: on

DIGITS: dict[str, Digits] = {
    "table 1, a PE": Digits.CUT,
    "table 1, all PEs": Digits.ROUNDED,
    "table 11": Digits.CUT,
    "table 12": Digits.ROUNDED,
    "section 1": Digits.ROUNDED,
    "section 2": Digits.ROUNDED,
    "section 4": Digits.ROUNDED,
    "section 5": Digits.ROUNDED,
    "appendix b": Digits.ROUNDED,
}
"""How each table, or each column of one, prints few digits: one rule for all of its rows."""


# fmt: off
GP_RATE = Figure("1.0", 0.24, "GFlops", 0.01)
"""The rate of a GP, with which the thesis compares; nothing here could measure it."""

FIGURES: dict[str, Figure] = {
    "samples of a GP": Figure("1.0", 860, "10^3/s", 10),
    "4x4 patches of a GP": Figure("1.0", 54, "10^3/s", 1),
    "triangles of 8x8 samples": Figure("1.0", 98, "triangles"),
    "triangles of 6x6 samples": Figure("1.0", 50, "triangles"),
    "PE memory": Figure("2.2.1", 384, "bytes"),
    "texture memory of an SDRAM": Figure("2.2.1", 2, "MB"),
    "texture memory of a module": Figure("2.2.1", 16, "MB"),
    "texture memory of a node": Figure("2.2.1", 64, "MB"),
    "texture memory of a module again": Figure("2.2.7", 8, "MB"),
    "8 bytes through the LEE": Figure("2.2.4", 700, "GB/s", 100),
    "ports of the node": Figure("2.2.4", 3.2, "GB/s", 0.1),
    "ports against path to a GP": Figure("2.2.4", 16, "times", 1),
    "loads of 2 patches": Figure("3.2", 20, "cycles"),
    "loads of 128 patches": Figure("3.2", 2000, "cycles"),
    "a random read of 4 bytes": Figure("3.5", 11, "cycles"),
    "rate of the geometry network": Figure("3.8", 800, "MB/s"),
    "rate into GP memory": Figure("3.8", 200, "MB/s"),
    "rate out of GP memory": Figure("3.8", 200, "MB/s"),
    "blocks of an EMC": Figure("3.5", 16, "blocks"),
    "values of a bicubic patch": Figure("3.5", 480, "bytes"),
    "PE memory without ports": Figure("3.6", 320, "bytes"),
    "coordinates and derivatives": Figure("3.6", 72, "bytes"),
    "share of distribution": Figure("4.1.3", 3, "percent", 1),
    "waits after the first transfer": Figure("4.1.3", 0, "cycles"),
    "SDRAM of the word at 0": Figure("4.3", 0, "SDRAM"),
    "SDRAM of the word at 4": Figure("4.3", 1, "SDRAM"),
    "SDRAM of the word at 8": Figure("4.3", 2, "SDRAM"),
    "bank bit": Figure("4.3", 6, "bit"),
    "24 bytes of every PE to a GP": Figure("4.1.4", 98_000, "cycles", 1000),
    "path to GP memory": Figure("4.1.4", 200, "MB/s"),
    "bicubic pass": Figure("5", 97_000, "cycles", 1000),
    "time of a bicubic pass": Figure("5", 0.97, "ms", 0.01),
    "operations of a sample": Figure("5", 282, "operations"),
    "operations of a pass": Figure("5", 2.3, "10^6", 0.1),
    "floating point rate": Figure("5", 2.4, "GFlops", 0.1),
    "rate in short": Figure("5.1", 2, "GFlops", 1),
    "rate in the conclusion": Figure("5.3", 2.5, "GFlops", 0.1),
    "4x4 patches": Figure("5", 530, "10^3/s", 10),
    "16x16 patches": Figure("5", 330, "10^3/s", 10),
    "samples": Figure("1.0", 8.5, "10^6/s", 0.1),
    "share of peak": Figure("5", 93, "percent", 1),
    "gain over a GP": Figure("5", 10, "times", 1),
    "every PE gives its own addresses": Figure("appendix B", 33_792, "cycles"),
    "one base for three PEs": Figure("appendix B", 17_000, "cycles", 1000),
    "writes to alternate banks": Figure("appendix B", 9_216, "cycles"),
    "in summary": Figure("appendix B", 9_000, "cycles", 1000),
}
# fmt: on
"""What the text prints outside the tables and what follows from a run or a formula, by section."""
