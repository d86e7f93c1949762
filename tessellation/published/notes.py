"""Why a figure of the thesis and what is computed or measured here differ, each reason under a name.

Only reports and tests read this file.
"""

from __future__ import annotations

from pixelflow.evidence import Note, Range, Reason

__all__ = ["NOTES", "PRINTED_DIGITS"]

PRINTED_DIGITS = "printed-digits"
"""The note that covers a figure which, cut or rounded to the printed digits, is the published one."""


def _model(name: str, section: str, measured: Range, text: str) -> Note:
    return Note(name, section, Reason.MODEL, text, measured)


def _erratum(
    name: str, section: str, text: str, *, measured: Range | None = None, formula: Range | None = None
) -> Note:
    return Note(name, section, Reason.ERRATUM, text, measured, formula)


_ALL = (
    Note(PRINTED_DIGITS, "all", Reason.DIGITS,
        "the thesis prints this figure with few digits, cut or rounded; to as many digits it is the same"),
    _model("own-library", "2.2.3", (-6, 6),
        "no microcode of the machine was published; the routines of the library `plain` are this project's own. "
        "Claimed is every count of table 1 within 6 %; what follows from them differs in proportion"),
    _model("tuned-library", "2.2.3", (-37, -21),
        "the library `tuned` is this project's own too and claims to be at or below every count of table 1"),
    _model("generic-library", "2.2.3", (18, 72),
        "the library `generic` is built of generic instructions with a start-up each, as the section describes its "
        "routines; which instructions are generic is this project's own choice"),
    _model("own-sums", "4.1.3", (0.3, 0.5),
        "all of the difference, to the cycle, is what the float routines of the library `plain` take beyond table 1"),
    _model("all-counted", "5", (4.7, 5.9),
        "counted are all cycles from the first base address to the last normal: with the distribution (2,460 for a "
        "bicubic net), the copies out of the port (976), the marks and the wait for the first transfer, all of which "
        "the thesis leaves out, and with this project's float routines"),
    _model("counted-rates", "5", (-5.9, -5.5),
        "computed from all cycles that are counted (note all-counted): a share of them, or a rate in their time"),
    _model("bytes-touched", "4.2", (-14.8, -0.6),
        "measured are the bytes that the executed program reads or writes; the thesis counts what is reserved. Fewer "
        "temporaries and one byte less of scratch are needed"),
    _model("table8-order", "4.2", (-41.2, -41.1),
        "executed in the order that section 4.2 proposes, where Bernstein values take each other's place"),
    _erratum("read-overhead", "2.2.6, 3.5, 4.1.3",
        "table 6 takes 12 cycles a read, but table 2, section 3.5 and appendix B take 11; the extra cycle is "
        "unexplained and is a parameter of the machine (tasic.read_overhead_cycles)", measured=(9, 9.1)),
    _erratum("table5-n8", "4.1.3",
        "5144 cycles are 8 multiplications and 8 additions and nothing else; the printed 9 and 7, which are right by "
        "the text's own method, take 5007", measured=(-2.4, -2.3), formula=(-2.7, -2.6)),
    _erratum("table7-formula", "4.1.3, 5",
        "table 7 equals the closed formula to the last cycle and holds arithmetic alone; a simulation, which section 5 "
        "says verified it for 4x4 and 8x8, would have had the distribution in it"),
    _erratum("table8-12x12", "4.2",
        "a 12x12 net needs 338 of 320 bytes; the text promises it after a change of the order"),
    _erratum("table9-batch", "4.2",
        "36 bytes are kept for a batch of 32; the other 4 are not explained"),
    _erratum("table11-sum", "4.5",
        "the steps add up to 6 + 2 + 15 x 5 + 7 = 90 thousand cycles, not 97; the 5 is 5.467 cut, and 6,144 + 2,296 + "
        "89,036 = 97,476 is the only reading of the 97,000 that agrees with the other entries", formula=(-7.3, -7.2)),
    _erratum("table11-normals", "4.5",
        "45 thousand cycles to write the normals, against 49,152 by the formula of section 4.1.4",
        measured=(9.2, 9.3), formula=(9.2, 9.3)),
    _erratum("table12-overhead", "5",
        "97,000 leaves out the distribution (2,460), although table 6 counts it, and the stall of the first transfer "
        "(1,288 to 3,256)", formula=(3.2, 4.4)),
    _erratum("table12-parts", "5",
        "no sum of parts that was tried gives all nine rows; what they add to table 7 does not even grow with the net. "
        "Table 7 in thousands plus 8 gives seven of them"),
    _erratum("table12-6x6-8x8", "5",
        "the kindest reading, table 7 in thousands plus 8, gives 210 and 368 where 209 and 367 are printed"),
    _erratum("table12-mixed", "5",
        "simulated (4x4, 8x8) and extrapolated rows stand side by side; tables 7 and 8 say so, table 12 does not"),
    _erratum("table13-row3", "appendix A",
        "called an actual implementation, but table 1 has 253 and 390 for it: one rounded down, the other up",
        measured=(-2.5, 2)),
    _erratum("table13-shape", "appendix A",
        "extrapolated from 3 bytes in a straight line; the products of n bytes by n bytes grow as n squared, so that "
        "no microcode has this shape", measured=(8, 17.8)),
    _erratum("table13-525", "appendix A",
        "25 (1 + 3 n) fits the multiplications of 3, 4 and 5 bytes and gives 475 for 6, where 525 is printed",
        formula=(-9.6, -9.5)),
    _erratum("section1-gp", "1.0",
        "860 thousand samples and 54 thousand patches a second would need 279 operations a sample; 282 give 851 and 53",
        formula=(-1.5, -1)),
    _erratum("section2-index", "2.1.1",
        "the sum has Bernstein polynomials of degree n for n control points, the matrix of degree n - 1; the sum pairs "
        "the first index with u, the matrix with v. The degree is left out of the derivatives (harmless for a unit "
        "normal), and the side of the normal stays open"),
    _erratum("section2-sign", "2.2.1, 2.2.2",
        "figure 4 disables PEs whose result is zero or more, section 2.2.2 those below zero; figure 4 is followed"),
    _erratum("section2-8mb", "2.2.1, 2.2.6, 2.2.7",
        "section 2.2.7 gives a module 8 MB of texture memory; 8 SDRAMs of 2 x 2048 x 512 bytes are the 16 MB of 2.2.1",
        measured=(100, 100), formula=(100, 100)),
    _erratum("section3-panels", "2.2.9, 3.2",
        "two panels of an EMC cannot be adjacent in x, says the text; the equation's P mod 2 makes them so and is "
        "followed"),
    _erratum("section3-loads", "3.2, 4.1.1",
        "about 2000 cycles for 128 patches are 15.6 each; table 3 has 12 each",
        measured=(-23.2, -23.2), formula=(-23.2, -23.2)),
    _erratum("section3-loads-2", "3.2, 4.1.1",
        "about 20 cycles for two patches are 10 each; table 3 has 12 each", formula=(20, 20)),
    _erratum("section3-blocks", "3.5",
        "16 is called the number of blocks per PE; it is that of an EMC"),
    _erratum("section3-bytes", "3.6, 4.2",
        "72 bytes besides the Bernstein values, with details in section 4.2, where no such figure is: table 9 keeps 48 "
        "for coordinates, derivatives and temporaries", measured=(-33.4, -33.3), formula=(-33.4, -33.3)),
    _erratum("section4-waits", "4.1.3, 5",
        "the EMCs never wait, and all stalls are in the transfers: true from the second transfer on"),
    _erratum("section5-rate", "1.0, 5.1, 5.3",
        "2.38 thousand million operations a second are called 2.4, 2 and nearly 2.5",
        measured=(-10, -9.9), formula=(-4.8, -4.7)),
    _erratum("section5-16x16", "5",
        "330 thousand patches of 16x16 samples a second are ten times too many: 32 patches a pass of 0.97 ms are 33",
        measured=(-90.1, -89.9), formula=(-90.1, -89.9)),
    _erratum("section5-share", "5",
        "93 % needs the rounded 2.4 or a smaller whole: 89,036 of 97,000 cycles are 91.8 %",
        measured=(-6.3, -6.2), formula=(-1.4, -1.3)),
    _erratum("section5-factor", "5",
        "a factor of 10 compares eight thousand PEs with one GP; the node has two"),
    _erratum("appendix-b-units", "appendix B",
        "the products come out without the printed factor of 8 writes a PE: it cancels against one write for 8 SDRAMs"),
)  # fmt: skip

NOTES: dict[str, Note] = {note.name: note for note in _ALL}
"""All notes by name, in the order of the thesis's tables and sections."""
