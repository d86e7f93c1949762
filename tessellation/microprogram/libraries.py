"""The float libraries that a tessellation can be built on."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np

from microcode import Builder, Mem
from pixelflow.simd.errors import Fault, InputError, nearest
from tessellation.surface.patch import Patch

__all__ = ["FORMER_NAMES", "LIBRARIES", "FloatLibrary", "library_for", "library_named"]


@dataclass(frozen=True, slots=True)
class FloatLibrary:
    """One float library: the source that holds its routines and the ending of the routines' names."""

    name: str
    source: str
    ending: str
    summary: str
    mantissa_bytes: int = 3

    def include(self, builder: Builder, scratch: int) -> None:
        """Make the routines known to a program; ``scratch`` is the first of their bytes of scratch memory."""
        builder.include(self.source, SCRATCH=scratch, BYTES=self.mantissa_bytes)

    def _call(self, builder: Builder, operation: str, *operands: Mem) -> None:
        size = "" if self.mantissa_bytes == 3 else str(self.mantissa_bytes)
        builder.call(f"{operation}{size}{self.ending}", *operands)

    def multiply(self, builder: Builder, result: Mem, a: Mem, b: Mem) -> None:
        """Emit result = a * b."""
        self._call(builder, "fmul", result, a, b)

    def add(self, builder: Builder, result: Mem, a: Mem, b: Mem) -> None:
        """Emit result = a + b."""
        self._call(builder, "fadd", result, a, b)

    def subtract(self, builder: Builder, result: Mem, a: Mem, b: Mem) -> None:
        """Emit result = a - b."""
        self._call(builder, "fsub", result, a, b)

    def divide(self, builder: Builder, result: Mem, a: Mem, b: Mem) -> None:
        """Emit result = a / b."""
        self._call(builder, "fdiv", result, a, b)

    def root(self, builder: Builder, result: Mem, a: Mem) -> None:
        """Emit result = square root of a."""
        self._call(builder, "fsqrt", result, a)

    def multiply_add(self, builder: Builder, total: Mem, a: Mem, b: Mem, product: Mem, *, first: bool) -> None:
        """Emit total = a * b for the first term of a sum, total = total + a * b for the others (via ``product``)."""
        self.multiply(builder, total if first else product, a, b)
        if not first:
            self.add(builder, total, total, product)


LIBRARIES = {
    library.name: library
    for library in (
        FloatLibrary("tuned", "float32/tuned.mc", "", "complete, at or below every count of table 1"),
        FloatLibrary("tuned-finite", "float32/tuned.mc", "_finite", "operands known to be finite"),
        FloatLibrary(
            "plain", "float32/plain.mc", "", "complete, written plainly, one start-up a routine, near table 1"
        ),
        FloatLibrary("generic", "float32/generic.mc", "", "complete, of generic instructions with a start-up each"),
        FloatLibrary("generic-finite", "float32/generic.mc", "_finite", "the same, operands known to be finite"),
    )
}
"""The libraries by name; the first is the default. All give the same bits for operands that they take."""

FORMER_NAMES: Mapping[str, str] = MappingProxyType({"thesis": "plain"})
"""Names that libraries had before, taken in this release still, with a note."""


def library_named(name: str) -> FloatLibrary:
    """Return a library, also by a former name, which is noted; raise InputError with the nearest known name."""
    if name in FORMER_NAMES:
        _note_former(name)
        name = FORMER_NAMES[name]
    if name not in LIBRARIES:
        guess = nearest(name, LIBRARIES)
        allowed = f"allowed: {', '.join(LIBRARIES)}"
        raise InputError(
            Fault(f"unknown float library {name!r}", hint=f"did you mean {guess}? {allowed}" if guess else allowed)
        )
    return LIBRARIES[name]


@cache
def _note_former(name: str) -> None:
    """Say once that a library has another name now."""
    logging.getLogger(__name__.partition(".")[0]).warning(
        "note: float library %s is called %s now; the former name goes with the next release", name, FORMER_NAMES[name]
    )


_SAFE = 2.0**29
"""Largest coordinate for which no step can overflow: differences stay below 2^30, cross products below 2^62, and the
sum of their three squares below 2^126."""


def library_for(name: str | None, patches: Sequence[Patch], *, finite: bool) -> FloatLibrary:
    """Return a library by name; without one the tuned, with ``finite`` its finite entries where the data allow them."""
    if name is not None:
        return library_named(name)
    safe = finite and all(float(np.abs(patch.points).max()) <= _SAFE for patch in patches)
    return library_named("tuned-finite" if safe else "tuned")
