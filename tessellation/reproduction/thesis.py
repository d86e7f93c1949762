"""The tables and figures of Keller's thesis (UNC TR95-043) as data, and notes on them.

Only reports and tests read this file: no published number is an input to the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, overload

from pixelflow.evidence import Digits, Figure, Note, Quotation, Reason

# Notes on the thesis: contradictions, alternative readings, and decisions of this model. Contradictions quote both
# places. Figures that nothing here derives are *unexplained*.


def _unexplained(name: str, section: str, text: str) -> Note:
    return Note(name, section, Reason.UNEXPLAINED, text)


def _model(name: str, section: str, text: str) -> Note:
    return Note(name, section, Reason.MODEL, text)


def _contradiction(name: str, section: str, text: str, *places: tuple[str, str]) -> Note:
    return Note(name, section, Reason.CONTRADICTION, text, tuple(Quotation(*each) for each in places))


def _reading(name: str, section: str, text: str, *others: str) -> Note:
    return Note(name, section, Reason.READING, text, readings=others)


_ALL = (
    _unexplained("own-library", "2.2.3",
        "no microcode of the machine was published. The routines of the library are this project's own, and nothing "
        "derives the printed counts from them. That those of `plain` are within 6 % of the print is a check"),
    _model("tuned-library", "2.2.3",
        "the library `tuned` is this project's own too. That it is at or below every count of table 1 is a check; its "
        "distance from them says nothing about the thesis"),
    _model("generic-library", "2.2.3",
        "the library `generic` is built of generic instructions with a start-up each, as the section describes its "
        "routines; which instructions are generic is this project's own choice"),
    _reading("table1-cut", "2.2.3",
        "100 million cycles a second over 157 are 636.94 thousand, printed 636 K: the column of a PE is read as cut, "
        "which all five rows are; that of all PEs is rounded, as 1.1636 and 1.1736 are printed 1.2",
        "both columns rounded, and this row alone wrong"),
    _model("read-overhead", "2.2.6",
        "table 2 counts an access; a read of this machine takes a cycle more, the parameter "
        "tasic.read_overhead_cycles, which was fitted to table 6"),
    _contradiction("table2-table6", "2.2.6, 3.5, 4.1.3",
        "a read takes 11 cycles by table 2 and section 3.5, and 12 by table 6: one send to each of 16 PEs takes what "
        "two sends differ by, and what is left is 128 reads",
        ("2.2.6, table 2", "4 Byte Random Access ... 11"),
        ("3.5", "the SDRAM data bandwidth will be one 4-byte word every 11 cycles"),
        ("4.1.3, table 6", "Sends Per Block 2 ... TASIC Cycles 2,560; 1 ... 2,048")),
    _contradiction("table5-n8", "4.1.3",
        "5,144 is 8 multiplications and 8 additions and nothing else; the operations printed with it take 5,007",
        ("2.2.3, table 1", "Add 390, Multiply 253"),
        ("4.1.3, table 5", "n = 8: Multiplies 9, Adds 7, Cycles 5144")),
    _model("own-sums", "4.1.3",
        "the operations are those that the thesis counts, and each takes what its routine of the library takes alone"),
    _reading("table7-formula", "4.1.3, 5",
        "table 7 is read as the closed formula, which it equals to the last cycle in all nine rows: arithmetic alone",
        "the result of a simulation, as section 5 says of 4x4 and 8x8; that would have the distribution in it"),
    _model("bytes-touched", "4.2",
        "measured are the bytes that the executed program reads or writes; the thesis counts what is reserved"),
    _model("table8-order", "4.2",
        "executed in the order that section 4.2 proposes for 12x12, where Bernstein values take each other's place"),
    _unexplained("table9-batch", "4.2",
        "36 bytes are kept for a batch of 32; nothing says what the other 4 are for"),
    _reading("table11-mean", "4.5",
        "the 5K of a batch is read as the mean of the fifteen, cut; section 4.5 calls the counts approximate",
        "each batch by itself, of which three are 4,870, cut to 4"),
    _contradiction("table11-normals", "4.5",
        "45 thousand cycles to write the normals, which are half of what 4.1.4 counts",
        ("4.1.4", "24 bytes/PE x 8192 PEs / 200 Mbytes/sec x 100MHz = 98K cycles"),
        ("4.5", "the remaining 45K cycles must be absorbed through some other coarse pipelining approach")),
    _reading("bicubic-pass", "5",
        "97,000 is read as the steps of table 11 with all their digits: addresses, Bernstein values of all sizes, "
        "arithmetic. Distribution and the wait for the first transfer are not in it",
        "6,144 + 328 + 2,460 + 89,036 = 97,968, cut as table 11 is: Bernstein values of 4x4 samples and distribution",
        "90 thousand, the sum of the steps as table 11 prints them"),
    _reading("table12-eight", "5",
        "table 12 is read as table 7 in thousands and 8 thousand more, the 6K and 2K of table 11; seven rows of nine "
        "come out",
        "6,144 + table 4 for all sizes + table 7, cut, gives the first two rows",
        "6,144 + 15 x 164 + table 7, cut, gives the same seven rows, with 15 transfers for nets of every size"),
    _unexplained("table12-odd", "5",
        "209 and 367 thousand for 6x6 and 8x8 come out of no sum of parts that was tried; what table 12 adds to table "
        "7 does not grow with the net"),
    _model("all-counted", "5",
        "counted are all cycles from the first base address to the last normal, at the library's own costs"),
    _unexplained("wide-library", "appendix A",
        "the print is approximate and, says appendix A, extrapolated from 3 bytes; nothing derives it from the "
        "routines here, which are written out. 25 (1 + 3 n) and 280 + 40 n fit the print but for 525"),
    _reading("section1-gp", "1.0",
        "“approximately 240 MFlops” and “nearly 860K samples/second” are read as 240 million over the 282 operations "
        "of section 5, 851 thousand, up to the next ten",
        "860 thousand taken literally: then 242.5 MFlops for 282 operations, or 279 operations at 240 MFlops"),
    _contradiction("section2-index", "2.1.1",
        "the polynomials of the sum have degree n for n control points, those of the matrix n - 1; the sum pairs the "
        "first index with u, the matrix with v",
        ("2.1.1", "P(u, v) = sum i = 0 to n-1, j = 0 to m-1 of b(i,j) B(i; n)(u) B(j; m)(v)"),
        ("2.1.1", "[B(0; m-1)(v) ... B(m-1; m-1)(v)] [b(0,0) ... b(m-1,n-1)] [B(0; n-1)(u) ... B(n-1; n-1)(u)]")),
    _contradiction("section2-8mb", "2.2.1, 2.2.7",
        "8 or 16 MB of texture memory for a module",
        ("2.2.1", "16 MBytes per module. The 16 MBytes consists of eight 2 MByte synchronous DRAMs"),
        ("2.2.7", "Each module contains its own 8 MBytes of texture memory")),
    _contradiction("section3-panels", "2.2.9, 3.2",
        "whether two panels of an EMC can be adjacent in x; the equation is followed",
        ("2.2.9", "x(P, I) = 2^xe xp[(P mod 2) x 8 + I/4] + xs[I mod 8]"),
        ("3.2", "it is not possible for two panels on one EMC to be adjacent in X")),
    _unexplained("section3-loads", "3.2",
        "said of control points through the LEE, not of base addresses: about 20 cycles for 2 patches and 2000 for 128 "
        "are 10 and 15.6 each. Table 3's 12 for an address is the nearest that is printed"),
    _contradiction("section3-blocks", "3.5",
        "16 blocks of a PE, or of an EMC",
        ("3.5", "the number of blocks per PE, which is 16"),
        ("3.5", "another EMC may be divided into 16 4x4 patches")),
    _reading("section3-bytes", "3.6, 4.2",
        "72 bytes are read as the 36 of a point and its derivatives and the 36 that table 9 keeps for the control "
        "patch; section 3.6 names only the former",
        "the 48 bytes before table 9's Bernstein coefficients, a temporary of each coordinate among them"),
    _reading("section4-waits", "4.1.3, 5",
        "that the EMCs never wait is read as from the second transfer on",
        "also for the first one, which takes 3,584 cycles while Bernstein values take 328 to 2,296"),
    _model("program-around", "4.1.4, appendix B",
        "the thesis counts the cycles in which the path is busy; measured is the whole program, which also fills the "
        "ports and the path and hands words from box to box, a cycle each"),
    _reading("section5-share", "5",
        "93 % is read as the arithmetic of table 7 in addresses, Bernstein values of 4x4 samples and arithmetic",
        "89,036 of 97,000 cycles are 91.8 %",
        "2.4 GFlops of 282 operations in 89,036 cycles are 92.5 %"),
    _contradiction("section5-rate", "5, 5.3",
        "2.4 or nearly 2.5 thousand million operations a second",
        ("5, item 4", "2.4 billion floating point operations per second"),
        ("5.3", "realized performance of nearly 2.5 billion floating point operations per second")),
    _contradiction("section5-16x16", "4.1.1, 5",
        "330 or 33 thousand patches of 16x16 samples a second",
        ("4.1.1, table 3", "16x16: Number of Patches 32"),
        ("5", "the duration is not affected by the number of patches which are sampled"),
        ("5, item 1", "97,000 cycles (.97 milliseconds) from initialization to completion of the computation"),
        ("5, item 5", "530K 4x4 patches per second, 330K 16x16 patches per second")),
)  # fmt: skip

NOTES: dict[str, Note] = {note.name: note for note in _ALL}
"""Notes by name, in the order of the thesis's tables and sections."""


TITLE = "Keller, UNC TR95-043"

Cell = int | float | str
Cells = TypeVar("Cells", bound=tuple[Cell, ...], covariant=True)


@dataclass(frozen=True, slots=True)
class PrintedTable(Generic[Cells]):
    """One table: its section, columns and rows as printed, and the names of notes on the whole table."""

    number: int
    title: str
    section: str
    columns: tuple[str, ...]
    rows: tuple[Cells, ...]
    notes: tuple[str, ...] = ()

    def row(self, first: Cell) -> dict[str, Cell]:
        """Return the row whose first cell is ``first``, by column name; raises KeyError if there is none."""
        for cells in self.rows:
            if cells[0] == first:
                return dict(zip(self.columns, cells, strict=True))
        raise KeyError(first)


@overload
def table(number: Literal[1]) -> PrintedTable[tuple[str, int, str, str]]: ...
@overload
def table(number: Literal[2, 11]) -> PrintedTable[tuple[str, int, int]]: ...
@overload
def table(number: Literal[3, 5]) -> PrintedTable[tuple[str, int, int, int]]: ...
@overload
def table(number: Literal[4]) -> PrintedTable[tuple[str, int, int, int, int]]: ...
@overload
def table(number: Literal[6, 13]) -> PrintedTable[tuple[int, int, int]]: ...
@overload
def table(number: Literal[7, 8]) -> PrintedTable[tuple[str, int]]: ...
@overload
def table(number: Literal[9]) -> PrintedTable[tuple[int, str]]: ...
@overload
def table(number: Literal[12]) -> PrintedTable[tuple[str, int, float]]: ...
@overload
def table(number: int) -> PrintedTable[tuple[Cell, ...]]: ...
def table(number: int) -> PrintedTable[tuple[Cell, ...]]:
    """Return table ``number``, 1 to 13."""
    return TABLES[number - 1]


_COUNTS = tuple(f"{n}x{n}" for n in range(4, 13))

# fmt: off
TABLES: tuple[PrintedTable[tuple[Cell, ...]], ...] = (
    PrintedTable(1, "Peak floating point performance on the PEs", "2.2.3",
        ("Operation", "Cycles / Op", "Ops / PE-Sec", "Ops / Sec"),
        (("int_to_float", 157, "636 K", "5.2 G"),
         ("add", 390, "256 K", "2.1 G"),
         ("multiply", 253, "395 K", "3.2 G"),
         ("divide", 704, "142 K", "1.2 G"),
         ("sqrt", 698, "143 K", "1.2 G"))),
    PrintedTable(2, "Steady state SDRAM data bandwidth", "2.2.6",
        ("Access Method", "Cycles", "Bytes Transferred"),
        (("4 bytes, random", 11, 4), ("4 bytes, alternate banks", 6, 4),
         ("8 bytes, random", 15, 8), ("8 bytes, alternate banks", 8, 8)),
        ("table2-table6",)),
    PrintedTable(3, "Cycles required to load base addresses", "4.1.1",
        ("Patch Size", "Cycles Per Patch", "Number of Patches", "Total EMC Cycles"),
        (("4x4", 12, 512, 6144), ("8x8", 12, 128, 1536), ("16x16", 12, 32, 384))),
    PrintedTable(4, "Cycles required to load the Bernstein polynomials", "4.1.2",
        ("Control Patch Size", "Cycles for 4x4", "Cycles for 8x8", "Cycles for 16x16", "Cycles for All Sizes"),
        (("4x4", 328, 656, 1312, 2296), ("5x5", 408, 816, 1632, 2856), ("6x6", 488, 976, 1952, 3416),
         ("7x7", 568, 1136, 2272, 3976), ("8x8", 648, 1296, 2592, 4536))),
    PrintedTable(5, "Minimum number of operations to process one data transfer", "4.1.3",
        ("Size of Column", "Multiplies", "Adds", "Cycles"),
        (("n = 3", 10, 6, 4870), ("n = 4", 10, 7, 5260), ("4 < n < 8", 9, 6, 4617),
         ("n = 8", 9, 7, 5144), ("8 < n", 8, 7, 4754))),
    PrintedTable(6, "Cycles required for one transfer of data to the EMCs", "4.1.3",
        ("Sends Per Block", "EMC Cycles", "TASIC Cycles"),
        ((16, 0, 9728), (8, 66, 5632), (4, 164, 3584), (2, 326, 2560), (1, 616, 2048)),
        ("table2-table6",)),
    PrintedTable(7, "Total EMC cycles used in the tessellation computation", "4.1.3",
        ("Control Patch Size", "Total Cycle Count"),
        tuple(zip(_COUNTS, (89036, 139538, 201614, 275264, 360488, 457286, 565658, 685604, 817124), strict=True)),
        ("table7-formula",)),
    PrintedTable(8, "PE memory usage during tessellation", "4.2",
        ("Control Patch Size", "Bytes of Memory Needed"),
        tuple(zip(_COUNTS, (166, 198, 218, 238, 258, 278, 298, 318, 338), strict=True)),
        ("section3-bytes",)),
    PrintedTable(9, "Detailed PE memory usage for a bicubic control patch", "4.2",
        ("Address", "Usage"),
        ((0, "X: coordinate, u derivative, v derivative, temporary"),
         (16, "Y: coordinate, u derivative, v derivative, temporary"),
         (32, "Z: coordinate, u derivative, v derivative, temporary"),
         (48, "Bernstein coefficients for point in u"), (64, "Bernstein coefficients for derivative in u"),
         (76, "Bernstein coefficients for point in v"), (92, "Bernstein coefficients for derivative in v"),
         (104, "control patch (after local port)"), (140, "administrative (patch number, etc.)"),
         (144, "temporaries (partial results, etc.)"), (152, "scratch space"), (166, "free")),
        ("table9-batch",)),
    PrintedTable(10, "Tessellation API", "4.4",
        ("Class", "Method", "Parameters", "Description"),
        (("BSP_MGR_C", "Constructor", "Array of the maximum number of patches of each degree",
          "Creates storage for all control patch sizes"),
         ("BSP_MGR_C", "Tessellate", "None", "Tessellates all patches associated with this manager"),
         ("BSP_C", "Constructor", "The manager, size of control patch and array of control points",
          "Assigns a logical texture memory address and storage for a new patch"),
         ("BSP_C", "Mark", "Resolution at which to tessellate", "Marks the current patch for tessellation"))),
    PrintedTable(11, "Tessellation steps for a bicubic Bezier patch", "4.5",
        ("EMC Operations", "times", "thousands of cycles"),
        (("load base addresses", 1, 6), ("load Bernstein coefficients", 1, 2), ("control patch batches", 15, 5),
         ("cross product for normals", 1, 7), ("write normals", 1, 45)),
        ("bicubic-pass",)),
    PrintedTable(12, "Tessellation performance", "5.0",
        ("Control Patch Size", "Total Cycle Count", "Execution Time (mSecs)"),
        tuple(zip(_COUNTS, (97_000, 148_000, 209_000, 283_000, 367_000, 465_000, 574_000, 694_000, 825_000),
                  (0.97, 1.5, 2.1, 2.8, 3.7, 4.7, 5.7, 6.9, 8.3), strict=True)),
        ("table12-eight", "table12-odd")),
    PrintedTable(13, "Approximate cycle counts for higher-precision floating point operations", "appendix A",
        ("Mantissa Size", "Multiply Cycles", "Addition Cycles"),
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
"""Rounding rule of each table, or of each column of one."""


# fmt: off
GP_RATE = Figure("1.0", 0.24, "GFlops", 0.01)
"""The rate of a GP, with which the thesis compares; it cannot be measured here."""

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
"""Figures printed outside of the tables that follow from a run or a formula, by section."""
