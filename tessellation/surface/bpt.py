"""Reader and writer of ``.bpt`` patch files.

The format (UTF-8 text): the number of patches; for each patch a line ``m n`` and then the control points, one
``x y z`` a line, the second index running fastest. Files in circulation disagree about ``m n``: most give the two
degrees, so that (m+1)(n+1) points follow; some give the numbers of points, so that m*n follow. The two can never be
confused for a complete patch, so the reader takes the one that fits the file and reports which. A section that trims
the patch may follow its points::

    trim 2                               the number of loops
    loop 4                               the number of pieces, for each loop
    curve 1  0 0  1 0                    degree, then degree + 1 control points u v, for each piece
    rational 2  1 0 1  1 1 0.7  0 1 1    the same with a weight after each point

A piece begins where the one before ends, and the first where the last ends.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import NamedTuple, NoReturn

import numpy as np

from pixelflow.simd.errors import Fault, InputError, Place, nearest
from pixelflow.simd.files import PATCHES, read_bytes, shipped
from pixelflow.simd.report import RasterImage, Report, Shown, overview, plain_table, plural
from tessellation.surface.patch import MAX_COUNT, MIN_COUNT, Patch, trimmed
from tessellation.surface.reference import flushes
from tessellation.surface.trim_curves import MAX_DEGREE, MAX_WEIGHT, Trim, TrimCurve, TrimLoop, at_weight, in_square

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
WHOLE = re.compile(r"\d{1,9}\Z", re.ASCII)

KEYWORDS = ("trim", "loop", "curve", "rational")
"""First words of the lines of a trim section."""

_MOST = 10_000
"""Most loops of a trim, and most pieces of a loop."""


class PatchLine(NamedTuple):
    """A line that is not blank."""

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


def lines_of(data: bytes, name: str) -> list[PatchLine]:
    """Return the lines of a file that are not blank; raise InputError if it is not UTF-8 text."""
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


class TrimSection:
    """Reader of one trim section: takes its lines from the reader of the file, and reports faults there."""

    def __init__(self, reader: _Reader, patch: int) -> None:
        """``patch`` is the number of the patch, starting at 1."""
        self._reader, self._patch, self.fault = reader, patch, reader.fault
        self.places: list[list[PatchLine]] = []
        """The line of each piece, loop by loop."""

    def read(self) -> Trim | None:
        """Return the trim, or None if it has faults."""
        before = self._reader.fault_count
        head = self._take()
        count = self._count(head, "trim", "loops")
        loops: list[TrimLoop | None] = []
        while self._next("loop") is not None:
            loops.append(self._loop(len(loops) + 1))
        if count is not None and count != len(loops):
            message = f"patch {self._patch}: the trim says {count} loop{'s' * (count != 1)} and has {len(loops)}"
            self.fault(message, head, 1, self._hint() or "each begins with a line loop")
        if (line := self._next(*KEYWORDS)) is not None:
            what = "a second trim" if line.words[0] == "trim" else f"a line {line.words[0]!r} where none belongs"
            self.fault(f"patch {self._patch} has {what}", line, 0, f"the order is {', '.join(KEYWORDS[:3])}")
            while self._next(*KEYWORDS) is not None:
                self._take()
        if self._reader.fault_count > before:
            return None
        return Trim(tuple(loop for loop in loops if loop is not None))

    def _next(self, *keywords: str) -> PatchLine | None:
        """Return the next line if it begins with one of these words."""
        line = self._reader.here
        return line if line is not None and line.words[0] in keywords else None

    def _take(self) -> PatchLine:
        self._reader.at += 1
        return self._reader.lines[self._reader.at - 1]

    def _hint(self) -> str | None:
        """Return a hint if the next line may have meant a keyword."""
        line = self._reader.here
        if line is None or NUMBER.match(word := line.words[0]):
            return None
        guess = nearest(word, KEYWORDS)
        return f"line {line.number} begins with {word[:20]!r}: did you mean {guess}?" if guess else None

    def _count(self, line: PatchLine, keyword: str, noun: str) -> int | None:
        """Return the number in a line ``trim 2`` or ``loop 4``."""
        words = line.words
        number = int(words[1]) if words[0] == keyword and len(words) == 2 and WHOLE.match(words[1]) else 0
        if not 1 <= number <= _MOST:
            self.fault(f"expected {keyword} and the number of {noun}", line, hint=f"allowed: 1 to {_MOST:,}")
            return None
        return number

    def _loop(self, number: int) -> TrimLoop | None:
        before, head = self._reader.fault_count, self._take()
        count = self._count(head, "loop", "pieces")
        pieces: list[TrimCurve | None] = []
        lines: list[PatchLine] = []
        while (line := self._next("curve", "rational")) is not None:
            self._take()
            pieces.append(self._piece(line))
            lines.append(line)
        self.places.append(lines)
        if count is not None and count != len(pieces):
            message = f"loop {number} of patch {self._patch} says {count} piece{'s' * (count != 1)}"
            self.fault(f"{message} and has {len(pieces)}", head, 1, self._hint() or "each is a line curve or rational")
        good = [piece for piece in pieces if piece is not None]
        if self._reader.fault_count > before or not good:
            return None
        for index in range(1, len(good)):
            (u, v), (p, q) = good[index].points[0], good[index - 1].points[-1]
            if (u, v) != (p, q):
                hint = f"the piece before it ends at ({p!r}, {q!r})"
                self.fault(f"piece {index + 1} of loop {number} begins at ({u!r}, {v!r})", lines[index], 2, hint)
        (u, v), (p, q) = good[-1].points[-1], good[0].points[0]
        if (u, v) != (p, q):
            message = f"loop {number} of patch {self._patch} is not closed: it ends at ({u!r}, {v!r})"
            self.fault(message, lines[-1], hint=f"its first piece begins at ({p!r}, {q!r})")
        return TrimLoop(tuple(good)) if self._reader.fault_count == before else None

    def _piece(self, line: PatchLine) -> TrimCurve | None:
        """Take one piece: its kind, degree and control points."""
        before = self._reader.fault_count
        rational = line.words[0] == "rational"
        if len(line.words) < 2 or not WHOLE.match(line.words[1]) or not 1 <= int(line.words[1]) <= MAX_DEGREE:
            degree = f" {line.words[1][:20]}" if len(line.words) > 1 else ", which is missing,"
            word = 1 if len(line.words) > 1 else None
            self.fault(f"degree{degree} of a trim curve", line, word, f"allowed: 1 to {MAX_DEGREE}")
            return None
        each = 3 if rational else 2
        count, given = int(line.words[1]) + 1, len(line.words) - 2
        if given != each * count:
            what = f"{count} points {'u v weight' if rational else 'u v'}"
            hint = _NO_COMMAS if "," in line.text else f"they are {what}"
            self.fault(f"degree {count - 1} has {each * count} numbers, found {given}", line, hint=hint)
            return None
        values = [self._number(line, word, weight=word % 3 == 1 and rational) for word in range(2, len(line.words))]
        if self._reader.fault_count > before:
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


BUILT_IN = {"teapot": "teapot.bpt", "enneper": "enneper.bpt", "rosette": "rosette.bpt"}
"""Files of the models that ship with the package, by name."""

MAX_FAULTS = 20
"""Faults of one file that are reported; the rest is counted."""


def is_patches(name: str) -> bool:
    """Return True for the name of a built-in model or of a patch file."""
    return name in BUILT_IN or Path(name).suffix.lower() == ".bpt"


_GIVE_UP = 1000
"""Faults after which reading stops."""

_TOO_LARGE = 2.0**128 - 2.0**103
"""The smallest magnitude that rounds to an infinity in binary32."""

_NO_WEIGHTS = "a point is x y z: rational patches are not drawn, so a weight has no place"
_NO_COMMAS = "numbers are separated by blanks, not commas"
_OF_NUMBERS = b"0123456789+-.eE \t\r\n"
"""In a file of these characters alone, float() accepts exactly what NUMBER matches."""


class Convention(Enum):
    """Meaning of the two numbers before a control net."""

    DEGREES = "degrees"
    COUNTS = "numbers of points"

    def counts(self, first: int, second: int) -> tuple[int, int]:
        """Return the control points along each index for a header ``first second``."""
        return (first + 1, second + 1) if self is Convention.DEGREES else (first, second)

    def fits(self, header: tuple[int, int], following: int) -> bool:
        """Return True if a header is followed by as many points as it says."""
        rows, columns = self.counts(*header)
        return following > 0 and rows * columns == following


@dataclass(frozen=True, slots=True, repr=False)
class PatchFile(Shown):
    """The patches of one file, its header convention, and notes for the user."""

    name: str
    patches: tuple[Patch, ...]
    convention: Convention
    notes: tuple[str, ...]
    drawer: Callable[[PatchFile], RasterImage | None] | None = field(default=None, compare=False)
    """Makes their picture for a notebook; passed in, since drawing is a layer above."""

    def __repr__(self) -> str:
        return f"PatchFile({self.name!r}, {len(self.patches)} patch{'es' * (len(self.patches) != 1)})"

    def picture(self) -> RasterImage | None:
        """Return a picture of the surfaces, or None without a drawer."""
        return None if self.drawer is None else self.drawer(self)

    def report(self) -> Report:
        """Return the number of patches of each size, and the notes."""
        sizes = Counter(repr(patch) for patch in self.patches)
        facts = (("header", self.convention.value), *(("note", note) for note in self.notes))
        title = f"{self.name}: {len(self.patches)} patch{'es' * (len(self.patches) != 1)}"
        return overview(title, facts, (plain_table(("patches", "count"), tuple(sizes.items()), key="patches"),))


def load(name: str | Path) -> PatchFile:
    """Return the built-in model of that name (``teapot``, ``enneper``), or else the patches of that file."""
    if str(name) in BUILT_IN:
        return parse_bpt(shipped("tessellation", "data", BUILT_IN[str(name)]).read_bytes(), str(name))
    return read_bpt(name)


def read_bpt(path: str | Path) -> PatchFile:
    """Read a ``.bpt`` file; raise InputError with every fault found (the first MAX_FAULTS of them)."""
    if not os.path.lexists(path):
        guess = nearest(str(path), BUILT_IN)
        hint = f"did you mean the built-in {guess}?" if guess else f"built in: {', '.join(sorted(BUILT_IN))}"
        raise InputError(Fault("no such patch file", Place(str(path)), hint))
    return parse_bpt(read_bytes(path, PATCHES), str(path))


def parse_bpt(data: bytes, name: str) -> PatchFile:
    """Return the patches in ``data``; messages call the file ``name``."""
    lines = lines_of(data, name)
    if not lines:
        raise InputError(Fault("the patch file is empty", Place(name, 1), "a .bpt file begins with a patch count"))
    return _Reader(name, lines, plain=not data.translate(None, _OF_NUMBERS)).read()


def format_bpt(patches: Iterable[Patch]) -> str:
    """Return the text of a ``.bpt`` file (degrees convention) that reads back to the same float64 numbers."""
    patches = tuple(patches)
    lines = [str(len(patches))]
    for patch in patches:
        lines.append(f"{patch.degrees[0]} {patch.degrees[1]}")
        lines.extend(" ".join(repr(float(c)) for c in point) for row in patch.points for point in row)
        lines.extend(format_trim(patch.trim) if patch.trim is not None else ())
    return "\n".join(lines) + "\n"


class _Reader:
    """One pass over the lines of a file that collects patches and faults."""

    def __init__(self, name: str, lines: list[PatchLine], *, plain: bool) -> None:
        """``plain`` is True for a file without other characters than _OF_NUMBERS."""
        self.plain, self.name, self.lines = plain, name, lines
        self.at = 0
        self.faults: list[Fault] = []
        self.fault_count = 0
        self.notes: list[str] = []
        self.heads: list[PatchLine] = []  # at which patches were expected, in order
        self.lost = False
        """True if lines were skipped in search of a header, so that patches may be missing for that reason."""
        self.convention = _convention(lines)

    @property
    def here(self) -> PatchLine | None:
        """The next line, None at the end."""
        return self.lines[self.at] if self.at < len(self.lines) else None

    def fault(
        self, message: str, line: PatchLine | None = None, word: int | None = None, hint: str | None = None
    ) -> None:
        """Record one fault, at a word of a line if that is known."""
        self.fault_count += 1
        if self.fault_count >= _GIVE_UP:
            self.refuse()
        if self.fault_count > MAX_FAULTS:
            return
        place = Place(self.name)
        if line is not None:
            shown = line.text.rstrip()[:200]
            column, length = None, 1
            if word is not None:
                start = list(re.finditer(r"\S+", line.text))[word]
                if start.end() <= len(shown):
                    column, length = start.start() + 1, len(start.group())
            place = Place(self.name, line.number, column, shown, length)
        self.faults.append(Fault(message, place, hint))

    def refuse(self) -> NoReturn:
        """Raise the faults so far."""
        if self.fault_count > MAX_FAULTS:
            left = self.fault_count - MAX_FAULTS
            more = " or more; not read further" if self.fault_count >= _GIVE_UP else ""
            self.faults.append(Fault(f"and {left} more faults{more}", Place(self.name)))
        raise InputError(self.faults)

    def read(self) -> PatchFile:
        """Read the whole file or raise with its faults."""
        declared = self.count()
        if declared is None and (self.here is None or self.here.header is None):
            self.refuse()  # neither a count nor a header: not a patch file, so there is nothing more to say about it
        patches: list[Patch] = []
        count = 0
        while (line := self.here) is not None and (declared is None or count < declared or line.header is not None):
            patch = self.patch(count)
            count += 1
            if patch is not None:
                patches.append(patch)
        self.check_count(declared, count)
        if self.fault_count:
            self.refuse()
        self.note_flushed(patches)
        return PatchFile(self.name, tuple(patches), self.convention, tuple(self.notes))

    def count(self) -> int | None:
        """Take the first line: the number of patches."""
        line = self.lines[0]
        if len(line.words) == 1 and WHOLE.match(line.words[0]):
            self.at = 1
            if int(line.words[0]) == 0:
                self.fault("the file says that it holds no patch", line, 0)
            return int(line.words[0])
        self.fault("expected the number of patches, one whole number", line)
        self.at = 0 if line.header else 1
        return None

    def check_count(self, declared: int | None, count: int) -> None:
        """Compare the number of patches with the first line; anything left over is a fault."""
        if declared is None:
            return
        if count > declared > 0 and not self.lost:
            # If the number is right and a patch too many, the place to look is where that patch begins.
            message, hint = f"patch {declared + 1} of {count}", f"line {self.lines[0].number} says how many"
            self.fault(f"{message}, but the file says {plural(declared, 'patch')}", self.heads[declared], hint=hint)
        elif count != declared and not self.lost:
            self.fault(f"the file says {plural(declared, 'patch')} and holds {count}", self.lines[0], 0)
        elif self.at < len(self.lines):
            left = len(self.lines) - self.at
            self.fault(f"text after the last patch ({left} line{'s' * (left > 1)})", self.lines[self.at])

    def patch(self, index: int) -> Patch | None:
        """Take one header and its points; return None if they have faults."""
        before = self.fault_count
        line = self.lines[self.at]
        self.heads.append(line)
        header = line.header
        if header is None:
            self.fault(
                f"expected the header of patch {index + 1}: two whole numbers", line, hint=self.header_hint(index)
            )
            self.skip_to_header()
            return None
        self.at += 1
        counts = self.convention.counts(*header)
        for word, count in enumerate(counts):
            if not MIN_COUNT <= count <= MAX_COUNT:
                low, high = (n - count + header[word] for n in (MIN_COUNT, MAX_COUNT))
                what = "degree" if self.convention is Convention.DEGREES else "number of points"
                self.fault(f"{what} {header[word]} of patch {index + 1}", line, word, f"allowed: {low} to {high}")
        if self.fault_count > before:
            self.skip_to_header()
            return None
        values = self.flawless(counts[0] * counts[1]) or self.points(index, line, counts)
        flawed = self.fault_count > before
        section = TrimSection(self, index + 1)
        trim = section.read() if self.here is not None and self.here.words[0] in KEYWORDS else None
        if flawed or self.fault_count > before:
            return None
        patch = Patch(np.array(values, dtype=np.float64).reshape(*counts, 3), trim)
        self.check_loops(patch, section)
        return patch

    def check_loops(self, patch: Patch, section: TrimSection) -> None:
        """Report loops of a trim that meet, other than along the sides of the square."""
        try:
            polygon = trimmed(patch)
        except InputError as error:
            self.fault(error.faults[0].message, section.places[0][0], hint=error.faults[0].hint)
            return
        if polygon is not None and polygon.contact is not None:
            loop, piece = polygon.contact.second
            hint = "allowed: loops that neither cross nor touch, but along the sides of the square"
            self.fault(str(polygon.contact), section.places[loop][piece], hint=hint)

    def flawless(self, needed: int) -> list[float] | None:
        """Take ``needed`` control points at once if they have no faults; otherwise leave them and return None."""
        if not self.plain:
            return None
        lines = self.lines[self.at : self.at + needed + 1]
        inside = [line.words for line in lines[:needed]]
        rest = lines[needed:]
        if set(map(len, inside)) != {3} or len(inside) < needed or (rest and len(rest[0].words) == 3):
            return None
        words = list(chain.from_iterable(inside))
        try:
            values = list(map(float, words))
        except ValueError:
            return None
        if not max(map(abs, values)) < _TOO_LARGE:
            return None
        self.at += needed
        return values

    def points(self, index: int, header: PatchLine, counts: tuple[int, int]) -> list[tuple[float, ...]]:
        """Take the control points of one patch, one a line."""
        needed = counts[0] * counts[1]
        values: list[tuple[float, ...]] = []
        taken = 0
        while taken < needed and self.at < len(self.lines):
            line = self.lines[self.at]
            if line.header and self.convention.fits(line.header, _triples_after(self.lines, self.at)):
                break  # a header beyond doubt: as many points follow as it says
            self.at += 1
            taken += 1
            values.append(self.point(line))
        if taken < needed:
            self.fault(
                f"patch {index + 1} ({counts[0]}x{counts[1]}) has {taken} of {needed} control points",
                header,
                hint=f"the two numbers of a header are taken as {self.convention.value}",
            )
        elif self.at < len(self.lines) and len(self.lines[self.at].words) == 3:
            extra = self.at
            while self.at < len(self.lines) and len(self.lines[self.at].words) == 3:
                self.at += 1
            if self.at < len(self.lines):
                message = f"{self.at - extra} lines more than the {needed} control points of patch {index + 1}"
                self.fault(message, self.lines[extra])
            else:
                self.at = extra
        return values

    def point(self, line: PatchLine) -> tuple[float, ...]:
        """Take the three coordinates of one line; a fault gives zeros in their place."""
        if len(line.words) != 3:
            hint = _NO_COMMAS if "," in line.text else _NO_WEIGHTS if len(line.words) == 4 else None
            self.fault(f"expected three numbers, found {len(line.words)}", line, hint=hint)
            return (0.0, 0.0, 0.0)
        return tuple(self.coordinate(line, word) for word in range(3))

    def coordinate(self, line: PatchLine, word: int) -> float:
        """Take one coordinate: a finite decimal number that binary32 can hold."""
        text = line.words[word]
        if not NUMBER.match(text):
            hint = _NO_COMMAS if "," in text else "allowed: finite decimal numbers"
            self.fault(f"not a number: {text[:40]}", line, word, hint)
            return 0.0
        value = float(text)
        if not abs(value) < _TOO_LARGE:
            largest = float(np.finfo(np.float32).max)
            self.fault(f"{text[:40]} overflows binary32", line, word, f"the largest is {largest:.9g}")
            return 0.0
        return value

    def header_hint(self, index: int) -> str | None:
        """Return a hint for a line in the place of the header of patch ``index``."""
        line = self.lines[self.at]
        if "," in line.text:
            return _NO_COMMAS
        if len(line.words) == 3 and index > 0:
            return "more control points than the header before says?"
        if index and (guess := nearest(line.words[0], KEYWORDS)):
            return f"did you mean {guess}?"
        return None

    def skip_to_header(self) -> None:
        """Continue at the next line that could be a header."""
        self.lost = True
        while self.at < len(self.lines) and self.lines[self.at].header is None:
            self.at += 1

    def note_flushed(self, patches: list[Patch]) -> None:
        """Note how many coordinates the machine takes for zero."""
        count = sum(int(np.count_nonzero(flushes(patch.points))) for patch in patches)
        if count:
            self.notes.append(
                f"{count} coordinate{'s' * (count > 1)} smaller than 2^-126: the machine takes "
                f"{'them' if count > 1 else 'it'} for zero"
            )
        if self.convention is Convention.COUNTS:
            self.notes.append("the headers give numbers of points, not degrees")


def _triples_after(lines: list[PatchLine], at: int) -> int:
    """Return the number of lines of three words after line ``at``, at most as many as a patch can have, plus one."""
    end = at + 1
    while end < len(lines) and len(lines[end].words) == 3 and end - at <= MAX_COUNT * MAX_COUNT + 1:
        end += 1
    return end - at - 1


def _convention(lines: list[PatchLine]) -> Convention:
    """Return the header convention that more patches of the file fit; degrees if neither does."""
    headers = [(line.header, _triples_after(lines, at)) for at, line in enumerate(lines) if line.header is not None]
    votes = {each: sum(each.fits(header, following) for header, following in headers) for each in Convention}
    return Convention.COUNTS if votes[Convention.COUNTS] > votes[Convention.DEGREES] else Convention.DEGREES
