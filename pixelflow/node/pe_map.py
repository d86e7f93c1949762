"""The array as a picture: one value of every PE at its x, y place, in characters and as an image.

Characters are about twice as high as wide, so one character stands for s x 2s PEs. A flag is drawn in Braille dots, one
dot a PE (2 x 4 in a character); numbers as the mean over a character's PEs, in ten shades from the least value of the
array to the greatest. The image has a pixel for each PE, black for the least value and white for the greatest.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa import MemoryRange, Program, RangeForm
from pixelflow.node.named_ranges import numbers_of
from pixelflow.simd.errors import Fault, InputError, suggestion
from pixelflow.simd.report import Fact, Part, RasterImage, Report, Shown, number

REGISTERS = ("R", "S", "M")
MAP_FLAGS = {"enable": "E", "carry": "C", "E": "E", "C": "C"}
"""Flags that a map shows, by what users call them, and by their names."""

_SHADES = " .:-=+*#%@"
_EMPTY_BRAILLE = 0x2800
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
_COLUMNS = 64
"""Characters of a map that a terminal or a notebook without images shows."""
_PIXELS = 4
"""Side of a PE on the screen."""


class _Pes(Protocol):
    """A node, as the holder of PE state."""

    def flag(self, name: str) -> NDArray[np.bool_]: ...
    def register(self, name: str) -> NDArray[np.uint8]: ...
    def read_memory(self, start: int, size: int = 1) -> NDArray[np.uint8]: ...
    def coordinates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...


PeValue = np.integer | np.floating | np.bool_
"""A value of a PE: a byte, a number, or a flag."""
_Kind = TypeVar("_Kind", bound=PeValue)


def grid(values: NDArray[_Kind], x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[_Kind] | None:
    """Return values[y, x] with y growing downwards, or None where two PEs share a place or the plane is too wide."""
    width, height = int(x.max()) + 1, int(y.max()) + 1
    if width * height > 4 * len(values) or len(np.unique(y * width + x)) < len(values):
        return None
    plane = np.zeros((height, width), values.dtype)
    plane[y, x] = values
    return plane


class PeMap(Shown):
    """One value of every PE in the plane: ``plane[y, x]``, y downwards."""

    def __init__(self, name: str, plane: NDArray[PeValue]) -> None:
        self.name, self.plane = name, plane

    @classmethod
    def of(cls, name: str, values: NDArray[PeValue], x: NDArray[np.int64], y: NDArray[np.int64]) -> PeMap:
        """Return the map of values[lanes]; raises InputError where PEs share a place, or are too far apart."""
        plane = grid(values, x, y)
        if plane is None:
            message = f"{name} has no map: several PEs share a place in the plane, or it is very sparse"
            raise InputError(Fault(message, hint="EMC_SetLEE and lee.arrangement say where PEs are"))
        return cls(name, plane)

    def __repr__(self) -> str:
        height, width = self.plane.shape
        return f"PeMap({self.name!r}, {width} x {height} PEs, {self._least} to {self._greatest})"

    def __str__(self) -> str:
        return self.text()

    @property
    def _least(self) -> str:
        return number(self._seen.min().item())

    @property
    def _greatest(self) -> str:
        return number(self._seen.max().item())

    @property
    def _seen(self) -> NDArray[PeValue]:
        """The finite values; a zero where there are none."""
        values = self.plane[np.isfinite(self.plane)]
        return values if values.size else np.zeros(1, self.plane.dtype)

    def report(self) -> Report:
        """Return the map in characters, with a legend."""
        head, *rest = self.parts(_COLUMNS)
        return Report(str(head), parts=[part.text or "" if isinstance(part, Fact) else part for part in rest])

    def parts(self, columns: int) -> list[Part]:
        """Return the map for a screen with a number of columns: legend and lines."""
        heading = f"{self.name}, {self.plane.shape[1]} x {self.plane.shape[0]} PEs, y downwards"
        wide, high = self._pes_of_character(columns)
        scale = f"one character: {wide} x {high} PEs"
        if self.plane.dtype == np.bool_:
            side = wide // 2
            dots = "a dot each" if side == 1 else f"a dot for any of {side} x {side}"
            told, lines = [f"{heading}, {scale}, {dots}"], _flag_lines(_any_of(self.plane, side))
        else:
            shades = f"'{_SHADES[0]}' {self._least} to '{_SHADES[-1]}' {self._greatest}"
            if self._seen.min() == self._seen.max() and np.isfinite(self.plane).all():
                return [f"{heading}, {self._least} in every PE"]
            told, lines = [f"{heading}, {shades}", f"{scale}, their mean"], self._value_lines(wide, high)
        return [*told, Fact("\n".join(lines), wrap=False)]

    def picture(self) -> RasterImage:
        """Return the image: a pixel for each PE, from black to white."""
        shades = self._between(255)
        caption = f"{self.name}: black {self._least}, white {self._greatest}"
        return RasterImage(shades.shape[1], shades.shape[0], 1, shades.astype(np.uint8).tobytes(), caption, _PIXELS)

    def _between(self, steps: int, plane: NDArray[PeValue] | None = None) -> NDArray[np.int64]:
        """Return values as whole numbers from 0 for the least to ``steps`` for the greatest; 0 for NaN."""
        values = self.plane if plane is None else plane
        least, greatest = float(self._seen.min()), float(self._seen.max())
        span = greatest - least or 1.0
        with np.errstate(invalid="ignore"):
            scaled = (np.nan_to_num(values.astype(np.float64), nan=least) - least) / span * steps
        return np.rint(scaled).clip(0, steps).astype(np.int64)

    def _pes_of_character(self, columns: int) -> tuple[int, int]:
        """Return the PEs along x and along y of one character."""
        if self.plane.dtype == np.bool_:
            side = 1
            while -(-self.plane.shape[1] // (2 * side)) > columns:
                side *= 2
            return 2 * side, 4 * side
        step = max(1, -(-self.plane.shape[1] // columns))
        return step, 2 * step

    def _value_lines(self, wide: int, high: int) -> list[str]:
        padded = _padded(self.plane, high, wide)
        height, width = padded.shape
        with np.errstate(invalid="ignore", over="ignore"):
            cells = padded.reshape(height // high, high, width // wide, wide).mean(axis=(1, 3), dtype=np.float64)
        return ["".join(_SHADES[shade] for shade in row) for row in self._between(len(_SHADES) - 1, cells)]


class MapView(NamedTuple):
    """The subject of a map: a flag, a register, a range that is one number, or one byte of memory."""

    text: str
    flag: str | None = None
    register: str | None = None
    address: int = 0
    number: MemoryRange | None = None
    """The range, if it is named as a whole and is one number; ``address`` is its first byte."""

    @classmethod
    def named(cls, text: str, program: Program | None, *, addresses: bool = False) -> MapView:
        """Return the map of ``enable``, ``carry``, a register, ``NAME`` or ``NAME[i]``; raises InputError.

        With ``addresses`` also that of a byte, which a node may lack: ``12`` or ``byte 12``.
        """
        number = text.removeprefix("byte ")
        if addresses and number.isascii() and number.isdigit():
            return cls(f"byte {number}", address=int(number[:9]))
        flag = MAP_FLAGS.get(text)
        if flag is not None or text in REGISTERS:
            return cls(text, flag=flag, register=None if flag else text)
        ranges = () if program is None else program.ranges
        name, bracket, index = text.partition("[")
        found = next((each for each in ranges if each.name == name), None)
        if found is None:
            names = [*MAP_FLAGS, *REGISTERS, *(each.name for each in ranges)]
            hint = suggestion(name, names, f"allowed: {', '.join(names)}")
            if any(name == f"{each.name}:{form.value}" for each in ranges for form in RangeForm):
                hint = "a map takes the form that the program declares; NAME[i] is a byte"
            raise InputError(Fault(f"{name!r} is neither a flag nor a register nor a memory range", hint=hint))
        digits = index.removesuffix("]")
        offset = int(digits[:9]) if digits.isascii() and digits.isdigit() else 0
        if (bracket and index != f"{offset}]") or offset >= found.size:
            raise InputError(Fault("no such byte", hint=f"allowed: {name}[0] to {name}[{found.size - 1}]"))
        whole = not bracket and found.form is not RangeForm.BYTES
        return cls(text, address=found.start + offset, number=found if whole else None)

    def values(self, node: _Pes) -> NDArray[np.uint8] | NDArray[np.bool_]:
        """Return bool[lanes] for a flag, uint8[lanes] for a byte: the first one of a number."""
        if self.flag is not None:
            return node.flag(self.flag)
        if self.register is not None:
            return node.register(self.register)
        return node.read_memory(self.address)[0]

    def drawn(self, node: _Pes) -> PeMap:
        """Return the map: of a number its values, of several floats the first; InputError where PEs make no plane."""
        values: NDArray[PeValue] = self.values(node)
        if self.number is not None:
            rows = node.read_memory(self.number.start, self.number.size)
            values = np.atleast_2d(numbers_of(rows, self.number.form))[0]
        return PeMap.of(self.text, values, *node.coordinates())


def first_map(program: Program) -> str:
    """Return the first range of one byte, which shows more than the enables of a run that ends with all PEs enabled."""
    return next((each.name for each in program.ranges if each.size == 1), "enable")


def _any_of(plane: NDArray[PeValue], side: int) -> NDArray[np.bool_]:
    """Return a smaller plane: whether any of ``side`` x ``side`` PEs has the flag."""
    padded = _padded(plane, side, side)
    height, width = padded.shape
    return np.asarray(padded.reshape(height // side, side, width // side, side).any(axis=(1, 3)))


def _flag_lines(plane: NDArray[np.bool_]) -> list[str]:
    """Return the lines of a flag's map: one Braille dot per PE."""
    padded = _padded(plane, 4, 2)
    height, width = padded.shape
    cells = padded.reshape(height // 4, 4, width // 2, 2)
    codes = np.einsum("abcd,bd->ac", cells.astype(np.int64), _DOTS)
    return ["".join(chr(_EMPTY_BRAILLE + code) for code in row) for row in codes]


def _padded(plane: NDArray[_Kind], rows: int, columns: int) -> NDArray[_Kind]:
    height, width = plane.shape
    return np.pad(
        plane, ((0, -height % rows), (0, -width % columns)), mode="minimum" if plane.dtype != bool else "constant"
    )
