"""The section of a patch file that trims the patch before it, and the lines that patch files are made of.

After the control points of a patch may stand

    trim 2                          so many loops
    loop 4                          of so many pieces, for each loop
    curve 1  0 0  1 0               degree, then degree + 1 control points u v, for each piece
    rational 2  1 0 1  1 1 0.7  0 1 1    or with a weight past each point

A piece begins where the one before ends, and the first where the last ends. Files without such a section are what they
were before there was one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pixelflow.simd.errors import Fault, InputError, Place, nearest
from tessellation.surface.trims.curves import MAX_DEGREE, MAX_WEIGHT, Trim, TrimCurve, TrimLoop, at_weight, in_square

__all__ = ["KEYWORDS", "NUMBER", "WHOLE", "PatchLine", "TrimSection", "format_trim", "lines_of"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
WHOLE = re.compile(r"\d{1,9}\Z", re.ASCII)

KEYWORDS = ("trim", "loop", "curve", "rational")
"""The words with which lines of a section begin."""

_MOST = 10_000
"""Of loops, and of pieces of one."""


class PatchLine(NamedTuple):
    """A line that is not blank: its number, its text, and its words."""

    number: int
    text: str
    words: tuple[str, ...]

    @property
    def header(self) -> tuple[int, int] | None:
        """The two whole numbers of a patch header, or None for another kind of line."""
        words = self.words
        if len(words) == 2 and all(WHOLE.match(word) for word in words):
            return int(words[0]), int(words[1])
        return None

    @property
    def of_trim(self) -> bool:
        """Whether it begins as the lines of a section do."""
        return self.words[0] in KEYWORDS


def lines_of(data: bytes, name: str) -> list[PatchLine]:
    """Return the lines of a file that are not blank; raise InputError where it is no UTF-8 text."""
    if b"\0" in data:
        at = data[: data.index(b"\0")].count(b"\n") + 1
        raise InputError(
            Fault("not a text file (it holds a zero byte)", Place(name, at), "a .bpt file is UTF-8 text, not UTF-16")
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        at = data[: problem.start].count(b"\n") + 1
        byte = data[problem.start]
        raise InputError(Fault(f"byte 0x{byte:02X} is not UTF-8 text", Place(name, at))) from None
    numbered = enumerate(re.split(r"\r\n|\n|\r", text), start=1)
    return [PatchLine(number, line, tuple(line.split())) for number, line in numbered if line.strip()]


class FaultSink(Protocol):
    """Takes one fault, at a word of a line where that is known."""

    def __call__(
        self, message: str, line: PatchLine | None = None, word: int | None = None, hint: str | None = None
    ) -> None: ...


class TrimSection:
    """One pass over the lines of a section, from the line ``trim`` on, that collects loops and faults."""

    def __init__(self, lines: Sequence[PatchLine], at: int, patch: int, fault: FaultSink) -> None:
        """``patch`` is the number of the patch, from 1 on."""
        self.at = at
        """The next line to be read; past the section once that is read."""
        self._lines, self._patch, self._fault = lines, patch, fault
        self._faults = 0
        self.places: list[list[PatchLine]] = []
        """The line of each piece, loop by loop."""

    def fault(self, message: str, line: PatchLine, word: int | None = None, hint: str | None = None) -> None:
        """Record a fault."""
        self._faults += 1
        self._fault(message, line, word, hint)

    def read(self) -> Trim | None:
        """Return the trim, or None where it has faults."""
        head = self._lines[self.at]
        self.at += 1
        count = self._count(head, "trim", "loops")
        loops: list[TrimLoop | None] = []
        while self._next("loop") is not None:
            loops.append(self._loop(len(loops) + 1))
        if count is not None and count != len(loops):
            message = f"patch {self._patch}: the trim says {count} loop{'s' * (count != 1)} and has {len(loops)}"
            self.fault(message, head, 1, self._hint() or "each begins with a line loop")
        self._leave_rest()
        if self._faults:
            return None
        return Trim(tuple(loop for loop in loops if loop is not None))

    def _next(self, *keywords: str) -> PatchLine | None:
        """Return the next line if it begins with one of these words."""
        line = self._lines[self.at] if self.at < len(self._lines) else None
        return line if line is not None and line.words[0] in keywords else None

    def _hint(self) -> str | None:
        """Return the keyword that the next line may have meant."""
        if self.at == len(self._lines) or NUMBER.match(word := self._lines[self.at].words[0]):
            return None
        guess = nearest(word, KEYWORDS)
        return f"line {self._lines[self.at].number} begins with {word[:20]!r}: did you mean {guess}?" if guess else None

    def _leave_rest(self) -> None:
        """Pass over lines that only a section has; they are faults."""
        first = True
        while self._next(*KEYWORDS) is not None:
            line = self._lines[self.at]
            if first:
                what = "a second trim" if line.words[0] == "trim" else f"a line {line.words[0]!r} where none belongs"
                self.fault(f"patch {self._patch} has {what}", line, 0, f"the order is {', '.join(KEYWORDS[:3])}")
            first = False
            self.at += 1

    def _count(self, line: PatchLine, keyword: str, noun: str) -> int | None:
        """Return the number in a line ``trim 2`` or ``loop 4``."""
        words = line.words
        number = int(words[1]) if words[0] == keyword and len(words) == 2 and WHOLE.match(words[1]) else 0
        if not 1 <= number <= _MOST:
            self.fault(f"expected {keyword} and the number of {noun}", line, hint=f"allowed: 1 to {_MOST:,}")
            return None
        return number

    def _loop(self, number: int) -> TrimLoop | None:
        head, before = self._lines[self.at], self._faults
        self.at += 1
        count = self._count(head, "loop", "pieces")
        pieces: list[TrimCurve | None] = []
        lines: list[PatchLine] = []
        while (line := self._next("curve", "rational")) is not None:
            self.at += 1
            pieces.append(self._piece(line))
            lines.append(line)
        self.places.append(lines)
        if count is not None and count != len(pieces):
            message = f"loop {number} of patch {self._patch} says {count} piece{'s' * (count != 1)}"
            self.fault(f"{message} and has {len(pieces)}", head, 1, self._hint() or "each is a line curve or rational")
        found = [piece for piece in pieces if piece is not None]
        if self._faults > before or not found:
            return None
        for index in range(1, len(found)):
            (u, v), (p, q) = found[index].points[0], found[index - 1].points[-1]
            if (u, v) != (p, q):
                hint = f"the piece before it ends at ({p!r}, {q!r})"
                self.fault(f"piece {index + 1} of loop {number} begins at ({u!r}, {v!r})", lines[index], 2, hint)
        (u, v), (p, q) = found[-1].points[-1], found[0].points[0]
        if (u, v) != (p, q):
            hint = f"its first piece begins at ({p!r}, {q!r})"
            self.fault(
                f"loop {number} of patch {self._patch} is not closed: it ends at ({u!r}, {v!r})", lines[-1], hint=hint
            )
        return TrimLoop(tuple(found)) if self._faults == before else None

    def _piece(self, line: PatchLine) -> TrimCurve | None:
        """Take one piece: its kind, degree and control points."""
        before = self._faults
        rational = line.words[0] == "rational"
        if len(line.words) < 2 or not WHOLE.match(line.words[1]) or not 1 <= int(line.words[1]) <= MAX_DEGREE:
            found = f" {line.words[1][:20]}" if len(line.words) > 1 else ", which is missing,"
            self.fault(f"degree{found} of a trim curve", line, 1 if len(line.words) > 1 else None,
                       f"allowed: 1 to {MAX_DEGREE}")  # fmt: skip
            return None
        each = 3 if rational else 2
        degree, given = int(line.words[1]), len(line.words) - 2
        if given != each * (degree + 1):
            what = f"{degree + 1} points {'u v weight' if rational else 'u v'}"
            hint = "numbers are separated by blanks, not commas" if "," in line.text else f"they are {what}"
            self.fault(f"degree {degree} has {each * (degree + 1)} numbers, found {given}", line, hint=hint)
            return None
        values = [self._number(line, word, weight=word % 3 == 1 and rational) for word in range(2, len(line.words))]
        if self._faults > before:
            return None
        points = tuple(zip(values[::each], values[1::each], strict=True))
        return TrimCurve(points, tuple(values[2::3]) if rational else None)

    def _number(self, line: PatchLine, word: int, *, weight: bool) -> float:
        text = line.words[word]
        if not NUMBER.match(text):
            self.fault(f"not a number: {text[:40]}", line, word, "allowed: finite decimal numbers")
            return 0.0
        value = float(text) + 0.0
        if weight and not at_weight(value):
            self.fault(f"a weight of {text[:40]}", line, word, f"allowed: {1 / MAX_WEIGHT:g} to {MAX_WEIGHT:g}")
        elif not weight and not in_square(value):
            hint = "allowed: 0 to 1, also for control points between the ends"
            self.fault(f"{text[:40]} is outside of the parameter square", line, word, hint)
        return value


def format_trim(trim: Trim) -> list[str]:
    """Return the lines of a section, which reads back to the same float64 numbers."""
    lines = [f"trim {len(trim.loops)}"]
    for loop in trim.loops:
        lines.append(f"loop {len(loop.pieces)}")
        for piece in loop.pieces:
            weights = [[weight] for weight in piece.weights] if piece.weights is not None else [[]] * len(piece.points)
            numbers = [
                value for point, weight in zip(piece.points, weights, strict=True) for value in (*point, *weight)
            ]
            kind = "curve" if piece.weights is None else "rational"
            lines.append(" ".join([kind, str(piece.degree), *(repr(float(value)) for value in numbers)]))
    return lines
