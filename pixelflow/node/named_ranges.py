"""Memory ranges of a program by name, as arrays of numbers in the form that is declared or given with the name.

A name may give another form than the program does: ``count``, ``count:bytes``, ``count:word``, ``count:float``.

======  ==================================================  ===========================================
form    array, one column or element for every PE           size of the range
======  ==================================================  ===========================================
bytes   uint8[size, lanes]                                  any
word    uint8, uint16, uint32 or uint64[lanes]              1 to 8 bytes, the least type that holds it
float   float32[lanes]; float32[size / 4, lanes] of more    a multiple of 4
======  ==================================================  ===========================================
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pixelflow.isa import MemoryRange, Program, RangeForm
from pixelflow.isa.declarations import CARRIES, MASKS, WORDS
from pixelflow.simd.errors import Fault, InputError, suggestion
from pixelflow.simd.report import counted

Numbers = NDArray[np.unsignedinteger] | NDArray[np.float32]
"""The values of a range: in its last axis one for every PE."""

_UNSIGNED = ("u1", "u2", "u4", "u4", "u8", "u8", "u8", "u8")
"""The type of a word of 1 to 8 bytes."""


def find_range(text: str, program: Program | None) -> tuple[MemoryRange, RangeForm]:
    """Return the range of ``NAME`` or ``NAME:form`` and its form; raises InputError for an unknown one."""
    if program is None:
        raise InputError(Fault("no program has run, so there are no names", hint="run or load a program first"))
    name, colon, written = text.partition(":")
    found = next((each for each in program.ranges if each.name == name), None)
    if found is None:
        names = [each.name for each in program.ranges]
        hint = suggestion(name, names, f"ranges: {', '.join(names) or 'none'}")
        base = name.partition("[")[0]
        if name in WORDS:
            hint = f"node.register({name!r}) reads a register"
        elif name in (*CARRIES, *MASKS):
            hint = f"node.flag({name!r}) reads a flag"
        elif base in names:
            hint = f'node["{base}:bytes"] has the bytes of each PE, one row a byte'
        raise InputError(Fault(f"the program has no memory range {name!r}", hint=hint))
    forms = [form.value for form in RangeForm]
    if colon and written not in forms:
        raise InputError(Fault(f"{written!r} is not a form", hint=f"allowed: {', '.join(forms)}"))
    form = RangeForm(written) if colon else found.form
    misfit = form.misfit(found.size)
    if misfit:
        raise InputError(Fault(f"{name} has {counted(found.size, 'byte')}", hint=f"{misfit}; use :bytes"))
    return found, form


def numbers_of(rows: NDArray[np.uint8], form: RangeForm) -> Numbers:
    """Return the values that bytes mean: uint8[size, lanes], low byte first."""
    size, lanes = rows.shape
    match form:
        case RangeForm.BYTES:
            return rows
        case RangeForm.FLOAT:
            each = np.ascontiguousarray(rows.reshape(size // 4, 4, lanes).transpose(0, 2, 1)).view("<f4")[..., 0]
            return each[0] if size == 4 else each
        case RangeForm.WORD:
            kind = np.dtype(_UNSIGNED[size - 1])
            wide = np.zeros((lanes, kind.itemsize), np.uint8)
            wide[:, :size] = rows.T
            return wide.view(kind.newbyteorder("<"))[:, 0].astype(kind)


def bytes_of(values: ArrayLike, found: MemoryRange, form: RangeForm, lanes: int) -> NDArray[np.uint8]:
    """Return values as bytes of every PE: uint8[size, lanes]; a single number is for all PEs.

    Raises InputError for a shape that is not in the table above, and for numbers that the range cannot hold.
    """
    try:
        given = np.asarray(values)
    except ValueError:
        raise InputError(Fault(f"{found.name}: these values are not an array of numbers")) from None
    if given.dtype.kind not in "buif":
        raise InputError(Fault(f"{found.name}: expected numbers, found {type(values).__name__}"))
    shape = _shape(found, form, lanes)
    try:
        full = np.broadcast_to(given, shape)
    except ValueError:
        message = f"{found.name} takes {list(shape)} values, or one for all PEs; found {list(given.shape)}"
        raise InputError(Fault(message)) from None
    if form is RangeForm.FLOAT:
        pieces = np.ascontiguousarray(full.reshape(-1, lanes), "<f4").view(np.uint8).reshape(-1, lanes, 4)
        return np.ascontiguousarray(pieces.transpose(0, 2, 1)).reshape(found.size, lanes)
    low, high = _limits(found, form)
    if given.dtype.kind == "f" or (given.size and not (low <= int(given.min()) and int(given.max()) <= high)):
        raise InputError(Fault(f"{found.name} holds whole numbers from {low} to {high}", hint="floats: NAME:float"))
    if form is RangeForm.BYTES:
        return np.ascontiguousarray(full.astype(np.uint8))
    whole = np.ascontiguousarray(full.astype("<i8" if given.dtype.kind == "i" else "<u8"))
    return np.ascontiguousarray(whole.view(np.uint8).reshape(lanes, 8)[:, : found.size].T)


def _shape(found: MemoryRange, form: RangeForm, lanes: int) -> tuple[int, ...]:
    if form is RangeForm.BYTES:
        return found.size, lanes
    return (found.size // 4, lanes) if form is RangeForm.FLOAT and found.size > 4 else (lanes,)


def _limits(found: MemoryRange, form: RangeForm) -> tuple[int, int]:
    """Return the least and greatest number: signed ones are taken too, in two's complement."""
    bits = 8 if form is RangeForm.BYTES else 8 * found.size
    return -(1 << bits - 1), (1 << bits) - 1
