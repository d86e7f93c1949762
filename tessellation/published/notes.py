"""Notes on the thesis: where it contradicts itself, what can be read in several ways, what this model does of its own.

Contradictions quote both places. What nothing here derives is *unexplained*. Only reports and tests read this file.
"""

from __future__ import annotations

from pixelflow.evidence import Note, Quotation, Reason

__all__ = ["NOTES"]


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
    _unexplained("tuned-library", "2.2.3",
        "the library `tuned` is this project's own too. That it is at or below every count of table 1 is a check; its "
        "distance from them says nothing about the thesis"),
    _unexplained("generic-library", "2.2.3",
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
        "5,144 is 8 multiplications and 8 additions and nothing else; the operations that stand beside it take 5,007",
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
    _reading("pass-97000", "5",
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
        "860 thousand as it stands: then 242.5 MFlops for 282 operations, or 279 operations at 240 MFlops"),
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
    _contradiction("section3-bytes", "3.6, 4.2",
        "72 bytes for points and derivatives, or 48",
        ("3.6", "This requires a total of 72 bytes (details are found in Section 4.2)"),
        ("4.2, table 9", "0 X: Coordinate, U Deriv, V Deriv, Temp ... 48 Bernstein coefficients for point in U")),
    _reading("section4-waits", "4.1.3, 5",
        "that the EMCs never wait is read as from the second transfer on",
        "also for the first one, which takes 3,584 cycles beside 328 to 2,296 of Bernstein values"),
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
"""All notes by name, in the order of the thesis's tables and sections."""
