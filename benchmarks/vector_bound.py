"""Bound of fused code: its vector instructions, counted, at the rate of this processor, measured.

An estimate: every counted instruction is taken as one that any vector unit can execute, and that never waits.
"""

from __future__ import annotations

import ctypes
import re
from time import perf_counter

from pixelflow.simd.lanes.native.toolchain import Toolchain

_LABEL = re.compile(r"^\s*([.\w$]+):")
_VECTOR = re.compile(r"%[xyz]mm\d|\bv\d+\.\d+[bhsd]\b")
"""An operand that is a vector: of x86, of AArch64."""
_MOVES = ("vmov", "mov", "vbroadcast", "vpbroadcast", "ld", "st", "dup")

_SUMS = 16
"""Sums that do not wait for each other: more than any processor adds at once, times how long an addition takes."""
_ROUNDS = 200_000


def vector_operations(assembly: str) -> int:
    """Return how many vector instructions other than moves, loads and stores are in the loop of a function's text.

    A move that only some bytes take part in is one. The loop is what is between a label and the jump back to it; 0
    where there is none.
    """
    lines = assembly.splitlines()
    labels: dict[str, int] = {}
    for end, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = end
            continue
        words = line.split("#")[0].split()
        target = words[-1] if len(words) >= 2 else ""
        if target in labels and not _VECTOR.search(line):
            return sum(_is_operation(each) for each in lines[labels[target] : end])
    return 0


def _is_operation(line: str) -> bool:
    words = line.split(maxsplit=1)
    if len(words) < 2 or words[0].startswith((".", "#")) or not _VECTOR.search(words[1]):
        return False
    return not words[0].startswith(_MOVES) or "{%k" in words[1]


def additions_per_second(tools: Toolchain) -> float:
    """Return how many vectors of bytes this processor adds in a second, on one thread; the best of several tries."""
    code = tools.compile([_additions(tools.vectors.width)])
    add = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(*tools.load(code, ["additions"]))
    memory = ctypes.create_string_buffer(2 * _SUMS * tools.vectors.width)
    times = []
    for _ in range(9):
        begin = perf_counter()
        add(memory, _ROUNDS)
        times.append(perf_counter() - begin)
    return _SUMS * _ROUNDS / min(times)


def _additions(width: int) -> str:
    """Return the text of a function that adds a vector from memory to each of the sums, round after round."""
    vector, each = f"<{width} x i8>", range(_SUMS)
    lines = [f"  %more{i} = add {vector} %sum{i}, %one" for i in each]
    first = [f"  %sum{i} = phi {vector} [%one, %entry], [%more{i}, %round]" for i in each]
    last = [
        f"  %at{i} = getelementptr i8, ptr %memory, i64 {width * (1 + i)}\n"
        f"  store {vector} %more{i}, ptr %at{i}, align 1"
        for i in range(_SUMS)
    ]
    return "\n".join(
        [
            "define void @additions(ptr %memory, i64 %rounds) {",
            "entry:",
            f"  %one = load {vector}, ptr %memory, align 1",
            "  br label %round",
            "round:",
            "  %n = phi i64 [0, %entry], [%next, %round]",
            *first,
            *lines,
            "  %next = add i64 %n, 1",
            "  %again = icmp ult i64 %next, %rounds",
            "  br i1 %again, label %round, label %end",
            "end:",
            *last,
            "  ret void",
            "}",
        ]
    )
