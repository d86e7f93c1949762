"""Methods of tessellation: the ways of control points, results and database, and the order of work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from microcode import Mem
from pixelflow.caveats import coded
from pixelflow.config import NodeConfig
from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.report import counted
from tessellation.microprogram.gp_traffic import Returned
from tessellation.plan.fixed import fixed_values, refusal
from tessellation.plan.mapping import Pass
from tessellation.plan.memory_map import MemoryMap, fitting_map
from tessellation.plan.schedule import MANTISSAS, SINGLE, StoredFormat, column_values, extra_memory, stored_patterns
from tessellation.plan.texture_layout import SENDS
from tessellation.surface.patch import Patch, trimmed
from tessellation.surface.trim_curves import DEFAULT_TOLERANCE, TOLERANCES, TrimPolygon, require_simple

if TYPE_CHECKING:  # a kept program is found without the assembler
    from microcode import Builder

LOADING = coded("load of the database", "PF201")
READING = coded("reading of the results", "PF202")
"""Work that takes no cycles: the ways from and to the GPs."""


class FloatLibrary(NamedTuple):
    """One float library: the source of its routines and the ending of their names."""

    name: str
    source: str
    ending: str
    summary: str
    mantissa_bytes: int = 3

    def include(self, builder: Builder, scratch: int) -> None:
        """Include the routines in a program; ``scratch`` is the first byte of their scratch memory."""
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


def library_named(name: str) -> FloatLibrary:
    """Return a library by name; raise InputError with the nearest known name for another one."""
    if name not in LIBRARIES:
        guess = nearest(name, LIBRARIES)
        allowed = f"allowed: {', '.join(LIBRARIES)}"
        raise InputError(
            Fault(f"unknown float library {name!r}", hint=f"did you mean {guess}? {allowed}" if guess else allowed)
        )
    return LIBRARIES[name]


_SAFE = 2.0**29
"""Largest coordinate for which no step can overflow: differences stay below 2^30, cross products below 2^62, and the
sum of their three squares below 2^126."""


def library_for(name: str | None, patches: Sequence[Patch], *, finite: bool) -> FloatLibrary:
    """Return a library by name; by default the tuned one, with ``finite`` its finite entries if the data allow them."""
    if name is not None:
        return library_named(name)
    safe = finite and all(float(np.abs(patch.points).max()) <= _SAFE for patch in patches)
    return library_named("tuned-finite" if safe else "tuned")


CONTROL_POINTS = ("texture", "lee")
"""Ways of the control points to the PEs: from texture memory, or through the LEE (the slow alternative of 3.2)."""

GP_WAYS = ("direct", "gp")
"""Ways of the database: at once, outside the counted run, or from GP memory by executed transfers."""

RESULT_WAYS = (*GP_WAYS, "gp-fine", "gp-coarse", "gp-both")
"""Ways of the results: like `GP_WAYS`, after each pass; points during the pass (table 11) and normals after it; all
during the next pass; or points during the pass and normals during the next."""

CACHING_WAYS = ("explicit", "base", "alternate", "split")
"""Ways of keeping results in texture memory (appendix B): an address for each word; a base for three PEs; the same with
alternate banks; the same in sets of 4 + 2 words, which leave no gap."""

KEPT = ("after", "beside")
"""Times of keeping results: after their pass, or during the computation of the next."""

SCHEDULES = ("thesis", "shared-columns", "fixed-sums")
"""Orders of work: that of table 11, and those of this project (`shared_columns.py`, `fixed_sums.py`)."""

TRANSFERS = ("beside", "apart")

NORMALS = ("fixed", "float")
"""Ways of the normals with sums in fixed point."""


@dataclass(frozen=True, slots=True)
class Method:
    """A way to execute passes. Raises InputError for unknown names and numbers, and for choices that exclude others."""

    control_points: str = "texture"
    schedule: str = "thesis"
    sends: int = 4
    """Sends per block and transfer, in the schedule of the thesis."""
    replication: int = 1
    """Modules that store each patch."""
    mantissa_bytes: int = 3
    """Bytes of mantissa of all arithmetic: 3 (binary32) to 6 (appendix A)."""
    hybrid: bool = False
    """With a longer mantissa: keep the control values binary32 (appendix A)."""
    load: str = "direct"
    """Way of the database into texture memory, one of `GP_WAYS`."""
    results: str = "direct"
    """Way of points and normals back, one of `RESULT_WAYS`."""
    gps: int | None = None
    """GPs that take results; by default 1 in the schedule of the thesis, and all of a node in the others."""
    exclusive: bool = False
    """True if base addresses go to a patch's own square alone (16 cycles a patch, where table 3 has 12)."""
    cache: str | None = None
    """Way of keeping results in texture memory, one of `CACHING_WAYS`; None if they are not kept."""
    kept: str | None = None
    """Time of keeping, one of `KEPT`: after the pass (the default with ``cache``), or during the next one, if PEs have
    40 bytes left."""
    transfers: str = "beside"
    """One of `TRANSFERS`: control values come during the computation on those before, or after it."""
    alternate: bool = True
    """True if EMCs take turns between banks, in schedules that allow it."""

    normals: str = "fixed"
    """With sums in fixed point: normals by a reciprocal root in fixed point too, or by the library's floats."""

    trim_tolerance: float = DEFAULT_TOLERANCE
    """Largest distance of the triangles of a trimmed patch from its trim curves, as a share of the patch's extent."""

    def __post_init__(self) -> None:
        if not TOLERANCES[0] <= self.trim_tolerance <= TOLERANCES[1]:
            low, high = TOLERANCES
            raise InputError(
                Fault(f"a trim tolerance of {self.trim_tolerance:g}", hint=f"allowed: {low:g} to {high:g}")
            )
        for what, name, known in (
            ("way of the control points", self.control_points, CONTROL_POINTS),
            ("schedule", self.schedule, SCHEDULES),
            ("way of the database", self.load, GP_WAYS),
            ("way of the results", self.results, RESULT_WAYS),
            ("order of transfers", self.transfers, TRANSFERS),
            ("way of the normals", self.normals, NORMALS),
            ("way of caching", self.cache or CACHING_WAYS[0], CACHING_WAYS),
            ("time of caching", self.kept or KEPT[0], KEPT),
        ):
            if name not in known:
                guess = nearest(name, known)
                raise InputError(Fault(f"unknown {what} {name!r}", hint=f"did you mean {guess}?" if guess else None))
        if self.sends not in SENDS:
            raise InputError(Fault(f"{self.sends} sends per block", hint=f"allowed: {', '.join(map(str, SENDS))}"))
        if self.control_points == "lee" and self.schedule != "thesis":
            raise InputError(Fault("the schedule of shared columns needs control points from texture memory"))
        if self.fixed_sums and self.fine:
            raise InputError(
                Fault(
                    f"results {self.results!r} with sums in fixed point: points are complete after the last read alone",
                    hint="allowed: direct, gp, gp-coarse",
                )
            )
        if self.normals == "float" and not self.fixed_sums:
            raise InputError(Fault("a choice of the normals belongs to sums in fixed point", hint="leave it out"))
        if self.fixed_sums and self.long:
            raise InputError(Fault("sums in fixed point have no mantissas that could be longer"))
        if self.fine and not self.from_texture:
            raise InputError(Fault("fine-grain results leave during reads of texture memory, and the LEE reads none"))
        if self.transfers == "apart" and (self.fine or self.coarse or not self.from_texture):
            raise InputError(
                Fault("transfers apart need control points from texture memory, and results that leave after the pass")
            )
        if self.cache is not None and self.coarse:
            raise InputError(Fault("results that leave during the next pass cannot be kept in texture memory"))
        if self.kept is not None and self.cache is None:
            raise InputError(
                Fault("a time is given for results that are not kept", hint="choose a way: Method(cache=...)")
            )
        if self.cache is not None and self.kept is None:
            object.__setattr__(self, "kept", KEPT[0])
        if self.kept_beside and self.fine:
            message = "results are kept during a pass by marks and ports that its points would take"
            raise InputError(Fault(message, hint="results gp"))
        if self.gps is not None and self.results == "direct":
            raise InputError(Fault("results that are read at once go to no GP", hint="choose another way of results"))
        if self.load == "gp" and not self.from_texture:
            raise InputError(Fault("a load from the GPs needs control points from texture memory"))
        if self.mantissa_bytes not in MANTISSAS:
            raise InputError(Fault(f"mantissas of {self.mantissa_bytes} bytes", hint="allowed: 3 to 6"))
        if self.hybrid and not self.long:
            raise InputError(Fault("a hybrid needs mantissas of 4 to 6 bytes for the arithmetic"))

    @property
    def from_texture(self) -> bool:
        """True if control values come from texture memory."""
        return self.control_points == "texture"

    @property
    def to_gps(self) -> bool:
        """True if the results go to the GPs by executed transfers."""
        return self.results != "direct"

    @property
    def fine(self) -> bool:
        """True if the points leave during their own pass."""
        return self.results in ("gp-fine", "gp-both")

    @property
    def coarse(self) -> bool:
        """True if results leave during the next pass."""
        return self.results in ("gp-coarse", "gp-both")

    @property
    def kept_beside(self) -> bool:
        """True if results are written to texture memory while the next pass is computed."""
        return self.kept == "beside"

    @property
    def shares_columns(self) -> bool:
        """True for the schedules of this project."""
        return self.schedule in ("shared-columns", "fixed-sums")

    @property
    def fixed_sums(self) -> bool:
        """True if patches are evaluated in fixed point where possible; the others take passes of shared columns."""
        return self.schedule == "fixed-sums"

    @property
    def long(self) -> bool:
        """True if the arithmetic has more than binary32."""
        return self.mantissa_bytes > 3

    @property
    def single_database(self) -> bool:
        """True if control values are stored as binary32."""
        return self.hybrid or not self.long

    @property
    def stored(self) -> StoredFormat:
        """Format of control values in texture memory."""
        return SINGLE if self.single_database else StoredFormat(self.mantissa_bytes + 1)

    def trimmed(self, patch: Patch, number: int) -> TrimPolygon | None:
        """Return the segments of a patch's trim, None for a whole patch; ``number`` is the patch's, starting at 0.

        Raises InputError if loops cross or touch.
        """
        polygon = trimmed(patch, self.trim_tolerance)
        return None if polygon is None else require_simple(polygon, number)

    def layout(self, counts: tuple[int, int]) -> MemoryMap:
        """Return the layout of PE memory; raises InputError if long mantissas do not fit."""
        size = self.mantissa_bytes + 1
        return fitting_map(*counts, extra=extra_memory(size) if self.shares_columns else (), value_bytes=size)

    def both_banks(self, config: NodeConfig) -> bool:
        """Return True if the database is in both banks, which needs an even number of EMCs that take turns."""
        return self.alternate and self.shares_columns and config.array.emcs_per_module % 2 == 0

    def returned(self, written: WrittenPass, config: NodeConfig) -> Returned:
        """Return the PEs that send the results of a pass, and their destination."""
        return Returned.of(written.work, self.gps_of(config), written.buffer)

    def gps_of(self, config: NodeConfig) -> int:
        """Return the number of GPs that take results; raise InputError if the node has fewer."""
        if self.gps is None:
            return config.gni.gp_count if self.shares_columns else 1
        if not 1 <= self.gps <= config.gni.gp_count:
            raise InputError(
                Fault(f"results to {counted(self.gps, 'GP')}", hint=f"allowed: 1 to {config.gni.gp_count}")
            )
        return self.gps

    @property
    def not_counted(self) -> tuple[str, ...]:
        """Uncounted work, in words: the ways from and to the GPs."""
        load = self.from_texture and self.load == "direct"
        return (LOADING,) * load + (READING,) * (self.results == "direct")

    @property
    def raster(self) -> bool:
        """True if patches are placed in rows, which the computed addresses of the schedule of shared columns need."""
        return self.shares_columns

    def refusal(self, patch: Patch) -> str | None:
        """Return the reason why a patch is not evaluated in fixed point, None if it is."""
        return refusal(patch) if self.fixed_sums else "the schedule has sums of floats"

    def values(self, patch: Patch) -> np.ndarray:
        """Return the words of a patch in the order in which texture memory holds them: uint32[n]."""
        return _values(self, patch)


@lru_cache(maxsize=64)
def _values(method: Method, patch: Patch) -> np.ndarray:
    """Return the words of a patch, which is often put into memory many times."""
    if method.refusal(patch) is None:
        return fixed_values(patch)
    reordered = method.layout(patch.counts).reordered
    if method.shares_columns:
        return column_values(patch, method.stored, reordered=reordered)
    return method.stored.packed(stored_patterns(patch, method.stored, reordered=reordered))


class WrittenPass(NamedTuple):
    """A pass whose results are written back: their layout in PE memory, and the area of GP memory for them.

    ``gone`` of the six floats of a result have been written back during the pass itself.
    """

    memory: MemoryMap
    work: Pass
    buffer: int = 0
    gone: int = 0
