"""The six exercises, in the order of the course."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError, Place, suggestion
from pixelflow.simd.files import shipped

# An exercise as data: what a solution is given, what every PE must hold after it, and how long it may take.


Values = Mapping[str, NDArray[np.int64]]
"""A whole number for each PE by the name of its range."""

TOUR = shipped("pixelflow.course", "tour.ipynb")
"""A notebook that goes through the first session."""

_STUBS = shipped("pixelflow.course", "stubs")


class Exercise(NamedTuple):
    """One task of the course.

    ``given`` draws values of ranges; ``expected`` says what ranges hold afterwards, from these values and from x and y
    of the PEs. ``ranges`` are the sizes in bytes of what both name, which a solution must keep. ``budget`` is the
    cycles that a good solution needs, with a little room.
    """

    number: int
    name: str
    title: str
    shows: str
    budget: int
    ranges: Mapping[str, int]
    given: Callable[[np.random.Generator, int], Values]
    expected: Callable[[Values, NDArray[np.int64], NDArray[np.int64]], Values]
    hints: tuple[str, ...] = ()
    """From an idea to the shape of a solution."""

    @property
    def stub(self) -> str:
        """The stub that a student begins with: the text of the task, declarations, and no instruction."""
        return source_of(self.name).read_text(encoding="utf-8")


class Mistake(NamedTuple):
    """A byte of a PE that is not as expected; ``given`` are the values of ranges that this PE started with."""

    lane: int
    x: int
    y: int
    range: str
    byte: int
    expected: int
    found: int
    given: Mapping[str, int]


def source_of(name: str) -> Path:
    """Return the file of an exercise's stub."""
    return _STUBS / f"{name}.mc"


_Ints = NDArray[np.int64]


def _random(**below: int) -> Callable[[np.random.Generator, int], Values]:
    """Return what draws a number below a bound for each range and each PE."""
    return lambda rng, lanes: {name: rng.integers(0, most, lanes) for name, most in below.items()}


def _answers(given: Values, x: _Ints, y: _Ints) -> Values:
    return {"answer": np.full(len(x), 42)}


def _stripes(given: Values, x: _Ints, y: _Ints) -> Values:
    return {"side": 1 + (x >= 32) + (x >= 96).astype(np.int64)}


def _sums(given: Values, x: _Ints, y: _Ints) -> Values:
    total = given["a"] + given["b"]
    return {"total": total % (1 << 24), "over": total >> 24}


def _products(given: Values, x: _Ints, y: _Ints) -> Values:
    return {"first": given["a"] * given["b"], "second": given["c"] * given["d"]}


def _greatest(given: Values, x: _Ints, y: _Ints) -> Values:
    panels = given["value"].reshape(-1, _PANEL)
    return {"top": np.repeat(panels.max(axis=1), _PANEL)}


def _looked_up(given: Values, x: _Ints, y: _Ints) -> Values:
    places = zip(x.tolist(), y.tolist(), given["value"].tolist(), strict=True)
    value_at = {(column, row): value for column, row, value in places}
    index = given["index"]
    column, row = index % 8, y // _MODULE_ROWS * _MODULE_ROWS + 4 * (index // 8)
    return {"found": np.array([value_at[place] for place in zip(column.tolist(), row.tolist(), strict=True)])}


_PANEL = 32
_MODULE_ROWS = 16
"""Rows of the plane that belong to one module."""

_BYTE, _WORD24 = 1 << 8, 1 << 24


_ALL = (
    Exercise(
        1, "first", "the first instruction", "LD, ST, STI", 2, {"answer": 1}, _random(), _answers,
        ("A number in an instruction is written #42; a range is a place in memory.",
         "LD brings a number into a register, ST stores the register.",
         "STI does both in one cycle: its operands are the range and the number."),
    ),
    Exercise(
        2, "sides", "some PEs and not others", "linear expressions, enables", 11, {"side": 1}, _random(), _stripes,
        ("Begin with a number for all PEs, and correct it where x is smaller.",
         "x < 96 is 1 x + 0 y - 96 < 0; a byte is enough for a number from -128 to 127.",
         "Three times STI, between them two EMC_TreeLTZero_Li, each of which keeps fewer PEs; then EMC_SetEnab."),
    ),
    Exercise(
        3, "carries", "arithmetic is bytes with carries", "ADD, ADC", 12,
        {"a": 3, "b": 3, "total": 3, "over": 1}, _random(a=_WORD24, b=_WORD24), _sums,
        ("Add the lowest bytes first: what does not fit goes to the next ones.",
         "ADD sets the carry, ADC adds it too.",
         "LD, ADD, ST; LD, ADC, ST; LD, ADC, ST; then LD R, #0 and ADC R, #0 turn the carry into a number."),
    ),
    Exercise(
        4, "products", "loops and routines", "routine, CALL, loop, MSTEP", 28,
        {"a": 1, "b": 1, "c": 1, "d": 1, "first": 2, "second": 2},
        _random(a=_BYTE, b=_BYTE, c=_BYTE, d=_BYTE), _products,
        ("A product of bytes is eight steps, one for each bit of the multiplier.",
         "MSTEP takes multiplier S and multiplicand M, and leaves the product in R (high) and S (low).",
         "routine multiply(product, x, y): load S and M, clear R, loop 8 with MSTEP, store S and R."),
    ),
    Exercise(
        5, "neighbours", "PEs that exchange data", "EMC_PixSwap, CMP", 75,
        {"value": 1, "top": 1}, _random(value=_BYTE), _greatest,
        ("After an exchange each of two PEs knows both values and keeps the greater.",
         "Distances 1, 2, 4, 8 and 16 in turn; CMP R, top sets the carry where R >= top, EC enables there.",
         "repeat k in 0 .. 4: EMC_PixSwap other, top, 1, 1 << k; LD, CMP, EC, ST top, EMC_SetEnab."),
    ),
    Exercise(
        6, "streams", "two streams and texture memory", "marks, semaphores, transfers", 36_000,
        {"value": 1, "index": 1, "found": 1}, _random(value=_BYTE, index=32), _looked_up,
        ("Write from the 32 PEs to places that the address generator counts; read from places that PEs compute.",
         "An entry every 8 bytes: the base address, 8 times the index, is the first 4 bytes of the output port.",
         "EIGC: port, EMC_MarkWrite, SIGNAL 0, WAIT 1; base, EMC_MarkRead, SIGNAL 0, WAIT 1. TIGC: WAIT 0, "
         "TAS_MemWrBlock4 2, SIGNAL 1; TAS_SetStep 0, TAS_SetCounter 0, WAIT 0, TAS_MemRdBlock4 1, SIGNAL 1."),
    ),
)  # fmt: skip

EXERCISES = {each.name: each for each in _ALL}
"""Every exercise by name, in the order of the course."""


def exercise_for(path: str, name: str | None = None) -> Exercise:
    """Return an exercise by name, or the one that the name of a file has as a part: ``carries-ada.mc``.

    Raises InputError where there is none such.
    """
    words = [name] if name is not None else re.split(r"[^A-Za-z0-9]+", Path(path).stem)
    found = [each for word, each in EXERCISES.items() if word in words]
    if len(found) == 1:
        return found[0]
    known = ", ".join(EXERCISES)
    if name is not None:
        hint = suggestion(name, EXERCISES, f"exercises: {known}")
        raise InputError(Fault(f"there is no exercise {name!r}", hint=hint))
    message = "the name of the file says " + ("more than one exercise" if found else "no exercise")
    raise InputError(Fault(message, Place(path), f"--exercise NAME says which: {known}"))
