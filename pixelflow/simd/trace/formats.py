"""The formats of traces, each with its file suffix and its writer."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import IO, NamedTuple

from pixelflow.simd.trace.kanata import FIRST_LINE, write_kanata
from pixelflow.simd.trace.perfetto import write_perfetto
from pixelflow.simd.trace.trace_model import Trace
from pixelflow.simd.trace.vcd import write_vcd


class Format(NamedTuple):
    """One format. ``loses`` says what of a trace it cannot hold, ``package`` what must be installed to write it."""

    name: str
    suffix: str
    opening: bytes
    """First bytes of every file of the format."""
    write: Callable[[Trace, IO[bytes]], None]
    loses: str = ""
    package: str | None = None
    """As it is imported."""

    @property
    def missing(self) -> bool:
        """True if the package is not installed."""
        return self.package is not None and importlib.util.find_spec(self.package) is None


PERFETTO = "perfetto"
"""The format that holds everything, and is read back."""

FORMATS = {
    each.name: each
    for each in (
        Format(PERFETTO, ".pftrace", b"\x0a", write_perfetto, package="perfetto"),
        Format(
            "vcd",
            ".vcd",
            b"$",
            write_vcd,
            loses="instructions of no cycle, arrows, source lines, latencies on wires",
            package="vcd",
        ),
        Format(
            "kanata",
            ".kanata",
            FIRST_LINE.encode(),
            write_kanata,
            loses="stages, routines, TASICs, paths of the GNI, wires, queues, counters",
        ),
    )
}
"""Every format by name."""


def format_of(opening: bytes) -> Format | None:
    """Return the format of a file that begins with these bytes, None where it is of none."""
    return next((each for each in FORMATS.values() if opening.startswith(each.opening)), None)
