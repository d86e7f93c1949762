"""Hand-worked rows: assembly text, state before, what changes, cycles.

Every number here was worked out on paper from the manual entry. A pair (a, b) is the value in even and in odd PEs;
a plain number holds in all. What a row does not mention in ``after`` must not change. Before: R = S = M = 0, C = 0,
E = L = 1, marks and stacks 0, memory 0, unless the row says otherwise. Keys that are numbers are memory addresses.
"""

from __future__ import annotations

from typing import NamedTuple

HALF = (1, 0)
"""Even PEs enabled, odd PEs disabled."""


class Row(NamedTuple):
    text: str
    before: dict
    after: dict
    cycles: int = 1


ROWS = [
    # --- move
    Row("LD R, [7]", {7: 0xA5}, {"R": 0xA5}),
    Row("LD S, #200", {}, {"S": 200}),
    Row("LD M, #-1", {}, {"M": 255}),
    Row("LD M, R", {"R": 9, "M": 1}, {"M": 9}),
    Row("LD R, [383]", {383: 3, "C": 1}, {"R": 3}),
    Row("LD.E R, #5", {"R": 1, "E": HALF}, {"R": (5, 1)}),
    Row("ST [10], R", {"R": 77, "E": HALF}, {10: (77, 0)}),
    Row("ST [10], S", {"S": 78, 10: 1}, {10: 78}),
    Row("STA [10], M", {"M": 79, "E": 0}, {10: 79}),
    Row("STA [10], M", {"M": 79, "E": 0, "L": HALF}, {10: (79, 0)}),
    Row("STI [10], #0x80", {"E": HALF, 10: 9}, {10: (0x80, 9)}),
    Row("STE [10]", {"E": HALF, 10: 9}, {10: (1, 0)}),
    Row("STE [10]", {"E": 0, "L": HALF, 10: 9}, {10: (0, 9)}),
    # --- arithmetic
    Row("ADD R, [4]", {"R": 200, 4: 100}, {"R": 44, "C": 1}),
    Row("ADD R, #1", {"R": 254, "C": 1}, {"R": 255, "C": 0}),
    Row("ADD R, R", {"R": 0x81}, {"R": 2, "C": 1}),
    Row("ADD.E S, #10", {"S": 250, "E": HALF}, {"S": (4, 250), "C": (1, 0)}),
    Row("ADC R, #0", {"R": 255, "C": 1}, {"R": 0, "C": 1}),
    Row("ADC R, #255", {"R": 255, "C": 1}, {"R": 255, "C": 1}),
    Row("ADC M, S", {"M": 1, "S": 2, "C": 1}, {"M": 4, "C": 0}),
    Row("ADC.E R, #255", {"R": 0, "C": 1, "E": HALF}, {"R": (0, 0), "C": 1}),
    Row("ADC.E R, #1", {"R": 5, "C": 1, "E": HALF}, {"R": (7, 5), "C": (0, 1)}),
    Row("SUB R, #1", {"R": 0}, {"R": 255, "C": 0}),
    Row("SUB R, [4]", {"R": 9, 4: 9}, {"R": 0, "C": 1}),
    Row("SUB R, R", {"R": 9, "C": 0}, {"R": 0, "C": 1}),
    Row("SUB.E M, #3", {"M": 4, "E": HALF}, {"M": (1, 4), "C": (1, 0)}),
    Row("SBC R, #0", {"R": 0, "C": 0}, {"R": 255, "C": 0}),
    Row("SBC R, #0", {"R": 0, "C": 1}, {"R": 0, "C": 1}),
    Row("SBC R, #255", {"R": 255, "C": 0}, {"R": 255, "C": 0}),
    Row("SBC.E R, [4]", {"R": 8, 4: 3, "C": 0, "E": HALF}, {"R": (4, 8), "C": (1, 0)}),
    Row("CMP R, #5", {"R": 5}, {"C": 1}),
    Row("CMP R, #5", {"R": 4, "C": 1}, {"C": 0}),
    Row("CMP.E R, #0", {"R": 0, "E": HALF}, {"C": (1, 0)}),
    Row("CMPC R, #5", {"R": 5, "C": 0}, {"C": 0}),
    Row("CMPC R, #5", {"R": 6, "C": 0}, {"C": 1}),
    Row("CMPC.E R, #5", {"R": 9, "C": 0, "E": HALF}, {"C": (1, 0)}),
    # --- logic
    Row("AND R, #0x3C", {"R": 0xF0, "C": 1}, {"R": 0x30}),
    Row("AND.E R, #0", {"R": 0xFF, "E": HALF}, {"R": (0, 0xFF)}),
    Row("OR R, [4]", {"R": 0xF0, 4: 0x0F}, {"R": 0xFF}),
    Row("OR.E S, #1", {"S": 4, "E": HALF}, {"S": (5, 4)}),
    Row("XOR R, #0xFF", {"R": 0xA5, "C": 1}, {"R": 0x5A}),
    Row("XOR.E M, M", {"M": 6, "E": HALF}, {"M": (0, 6)}),
    # --- shift
    Row("SHL R", {"R": 0x81}, {"R": 0x02, "C": 1}),
    Row("SHL R, [4]", {4: 0x40, "C": 1}, {"R": 0x80, "C": 0}),
    Row("SHL.E R", {"R": 0x81, "E": HALF}, {"R": (2, 0x81), "C": (1, 0)}),
    Row("SHR R", {"R": 0x81}, {"R": 0x40, "C": 1}),
    Row("SHR S, #2", {"C": 1}, {"S": 1, "C": 0}),
    Row("SHR.E R", {"R": 3, "E": HALF}, {"R": (1, 3), "C": (1, 0)}),
    Row("ROL R", {"R": 0x40, "C": 1}, {"R": 0x81, "C": 0}),
    Row("ROL M, S", {"S": 0x80, "C": 0}, {"M": 0, "C": 1}),
    Row("ROL.E R", {"R": 0x80, "C": 1, "E": HALF}, {"R": (1, 0x80), "C": 1}),
    Row("ROR R", {"R": 0x02, "C": 1}, {"R": 0x81, "C": 0}),
    Row("ROR R, [4]", {4: 1}, {"R": 0, "C": 1}),
    Row("ROR.E R", {"R": 1, "C": 0, "E": HALF}, {"R": (0, 1), "C": (1, 0)}),
    Row("SHLP", {"R": 0x80, "S": 0x81}, {"R": 0x01, "S": 0x02, "C": 1}),
    Row("SHLP.E", {"R": 1, "S": 0x80, "E": HALF}, {"R": (3, 1), "S": (0, 0x80)}),
    Row("SHRP", {"R": 0x03, "S": 0x01}, {"R": 0x01, "S": 0x80, "C": 1}),
    Row("SHRP.E", {"R": 1, "S": 0, "C": 1, "E": HALF}, {"R": (0, 1), "S": (0x80, 0), "C": (0, 1)}),
    Row("MSTEP", {"R": 0xFF, "S": 0x01, "M": 0xFF}, {"R": 0xFF, "S": 0x00}),  # t = 0x1FE
    Row("MSTEP", {"R": 0x03, "S": 0x02, "M": 0xFF, "C": 1}, {"R": 0x01, "S": 0x81}),  # bit 0 of S clear: t = 3
    Row("MSTEP.E", {"R": 1, "S": 3, "M": 2, "E": HALF}, {"R": (1, 1), "S": (0x81, 3)}),  # t = 3
    # --- enable
    Row("EMC_SetEnab", {"E": HALF}, {"E": 1}),
    Row("EMC_SetEnab", {"E": 0, "L": HALF}, {"E": HALF}),
    Row("EC", {"C": HALF, "E": 0}, {"E": HALF}),
    Row("EC", {"C": 1, "E": 0, "L": HALF}, {"E": HALF}),
    Row("ENC", {"C": HALF, "E": 0}, {"E": (0, 1)}),
    Row("ENC", {"C": 0, "E": 0, "L": HALF}, {"E": HALF}),
    Row("EANDC", {"C": 1, "E": HALF}, {}),
    Row("EANDC", {"C": HALF}, {"E": HALF}),
    Row("EANDNC", {"C": HALF}, {"E": (0, 1)}),
    Row("EORC", {"C": HALF, "E": 0}, {"E": HALF}),
    Row("EORC", {"C": 1, "E": 0, "L": HALF}, {"E": HALF}),
    Row("EORNC", {"C": HALF, "E": 0}, {"E": (0, 1)}),
    Row("EORNC", {"C": 0, "E": 0, "L": HALF}, {"E": HALF}),
    Row("ENOT", {"E": HALF}, {"E": (0, 1)}),
    Row("ENOT", {"E": 0, "L": HALF}, {"E": HALF}),
    Row("EPUSH", {"E": HALF, "E0": 1, "E1": 0, "E2": 1}, {"E0": HALF, "E1": 1, "E2": 0, "E3": 1}),
    # A single EPOP without its EPUSH is a fault of the stream, so the pair is worked out as a whole.
    Row("EPUSH\nENC\nEPOP", {"E": HALF, "C": 1}, {}, 3),
    Row("EPUSH\nENC\nEPUSH\nEPOP\nEPOP", {"E": HALF, "C": 1}, {}, 5),
    # --- linear expression; in the thesis arrangement PE 0 of panel 0 lies at (0, 0) and PE 1 at (0, 1)
    Row("EMC_TreeIntoMem_Li [8], 1, 0, 0, 300", {}, {8: 44}, 2),
    Row("EMC_TreeIntoMem_Li [8], 4, 0, 0, -2", {"E": HALF}, {8: (254, 0), 9: (255, 0), 10: (255, 0), 11: (255, 0)}, 5),
    Row(
        "EMC_TreeIntoMem_Li [8], 8, 0, 0, 0x0102030405060708",
        {},
        {8: 8, 9: 7, 10: 6, 11: 5, 12: 4, 13: 3, 14: 2, 15: 1},
        9,
    ),
    Row("EMC_TreeAddMem_Li [8], 2, 0, 0, 1", {8: 255, 9: 255}, {8: 0, 9: 0, "C": 1}, 5),
    Row("EMC_TreeAddMem_Li [8], 2, 0, 0, 1", {8: 255, "E": HALF}, {8: (0, 255), 9: (1, 0)}, 5),
    Row("EMC_TreeLTZero_Li 0, 1, 0, 0, -1", {}, {}, 2),
    Row("EMC_TreeLTZero_Li 0, 2, 0, 0, 0", {}, {"E": 0}, 3),
    Row("EMC_TreeGEZero_Li 0, 1, 0, 0, 127", {"E": HALF}, {}, 2),
    Row("EMC_TreeGEZero_Li 0, 1, 0, 0, 128", {}, {"E": 0}, 2),  # one byte: 128 is -128
    Row("EMC_TreeEQZero_Li 0, 2, 0, 0, 65536", {}, {}, 3),
    Row("EMC_TreeEQZero_Li 0, 2, 0, 0, 256", {}, {"E": 0}, 3),
    Row("EMC_TreeNEZero_Li 0, 2, 0, 0, 256", {"E": HALF}, {}, 3),
    Row("EMC_TreeNEZero_Li 0, 1, 0, 0, 256", {}, {"E": 0}, 2),
    Row("EMC_TreeLTMem_Li [8], 2, 0, 0, 0x1FF", {8: (0, 0xFF), 9: (2, 1)}, {"E": HALF}, 3),
    Row("EMC_TreeGEMem_Li [8], 2, 0, 0, 0x1FF", {8: (0, 0xFF), 9: (2, 1)}, {"E": (0, 1)}, 3),
    # --- between PEs of a panel; distance 1: odd PEs take from the even PE before them
    Row("EMC_PixCopy [8], [4], 2, 1", {4: (1, 9), 5: (2, 9)}, {8: (0, 1), 9: (0, 2)}, 6),
    Row("EMC_PixCopy [8], [4], 1, 1", {4: (1, 9), "E": HALF}, {}, 4),
    Row("EMC_PixCopy [8], [4], 3, 16", {"E": 0, 4: 1, 5: 1, 6: 1}, {}, 53),
    Row("EMC_PixSwap [8], [4], 1, 1", {4: (1, 9)}, {8: (9, 1)}, 4),
    Row("EMC_PixSwap [4], [4], 1, 1", {4: (1, 9)}, {4: (9, 1)}, 4),
    Row("EMC_PixSwap [8], [4], 1, 1", {4: (1, 9), "E": HALF}, {8: (9, 0)}, 4),
    # --- marks
    Row("EMC_MarkRead", {"E": HALF, "MR": (0, 1)}, {"MR": HALF}),
    Row("EMC_MarkWrite", {"E": HALF, "MW": (0, 1)}, {"MW": HALF}),
    Row("EMC_ClearMarks", {"E": HALF, "MR": 1, "MW": 1}, {"MR": (0, 1), "MW": (0, 1)}),
    # --- start-up and return: START and RET are written by `routine`
    Row(
        "CALL f\nroutine f()\n    ENOT\n    STI [8], #1\n    STA [9], R\nend",
        {"E": HALF, "R": 5},
        {9: (5, 0), "E": 0},
        4,
    ),
    Row(
        "CALL f\nroutine f()\n    LD R, #7\n    ENC\n    STA [9], R\n    EMC_SetEnab\nend",
        {"E": HALF, "C": 1},
        {"R": 7, 9: (7, 0)},
        5,
    ),
    # --- control takes no cycle
    Row("HALT\nLD R, #1", {}, {}, 0),
    Row("LOOP 3\nADD R, #2\nENDL", {}, {"R": 6}, 3),
    Row("LOOP 0\nADD R, #2\nENDL", {}, {}, 0),
    Row("LOOP 2\nLOOP 3\nADD R, #1\nENDL\nENDL", {}, {"R": 6}, 6),
    Row("JMP past\nLD R, #1\npast: LD S, #1", {}, {"S": 1}, 1),
    Row('MARK "stage"\nLD R, #1', {}, {"R": 1}, 1),
    Row("SIGNAL 3\nSIGNAL 3\nWAIT 3\nWAIT 3\nLD R, #1", {}, {"R": 1}, 1),
    Row("CALL f, [8], #3\nproc f(a, k)\n    LD R, #k\n    STI a[1], #9\nend", {}, {"R": 3, 9: 9}, 2),
    Row(
        "CALL f, [8]\nproc f(a)\n    LOOP 3\n    STI a[0], #9\n    ADDP a, 2\n    ENDL\nend",
        {},
        {8: 9, 10: 9, 12: 9},
        3,
    ),
]
# fmt: skip
