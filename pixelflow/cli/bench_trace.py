"""What a trace costs: building it during timing-only runs, writing it in each format, and its size."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from time import perf_counter
from typing import Any

from pixelflow.cli.bench_streams import PASS, PASS_NAME, milliseconds, spread, told_rounds
from pixelflow.cli.screen import Column, Screen, number

__all__ = ["show_traces", "traces"]

_SPANS = 200_000


def traces(rounds: int, note: Callable[[str], None]) -> dict[str, Any]:
    """Return wall times to build and to write a trace of at least 200,000 spans, and its sizes in bytes."""
    from microcode import assemble
    from pixelflow.cli.trace_files import known_of
    from pixelflow.config import THESIS
    from pixelflow.node import Node
    from pixelflow.observe.tracer import Tracer
    from pixelflow.simd.trace import Clock, Trace
    from pixelflow.simd.trace.formats import FORMATS

    program = assemble(PASS)
    node = Node(THESIS, "rows")
    trace = Trace(Clock(THESIS.clock_mhz))
    Tracer(trace).attach(node.bus, known_of(THESIS))
    note(f"building a trace of {_SPANS:,} spans")
    started = perf_counter()
    while trace.events < _SPANS:
        node.run(program, function=False)
    built = perf_counter() - started
    times: dict[str, list[float]] = {name: [] for name in FORMATS}
    written: dict[str, bytes] = {}
    for _ in told_rounds(rounds, note):
        for name, format in FORMATS.items():
            stream = io.BytesIO()
            started = perf_counter()
            format.write(trace, stream)
            times[name].append(perf_counter() - started)
            written[name] = stream.getvalue()
    return {
        "program": PASS_NAME,
        "spans": trace.events,
        "seconds_to_run_and_build": built,
        "formats": {
            name: {
                "seconds": spread(times[name]),
                "bytes": len(data),
                "bytes_compressed": len(gzip.compress(data, 6)),
            }
            for name, data in written.items()
        },
    }


def show_traces(screen: Screen, found: dict[str, Any]) -> None:
    """Print the wall times and sizes of each format."""
    spans = found["spans"]
    screen.text(
        f"{found['program']}: {number(spans)} spans, run and built in {found['seconds_to_run_and_build']:.1f} s"
    )
    names = ("ms [min..max]", "spans/s", "MB", "MB .gz")
    screen.table(
        [Column("format", fixed=True), *(Column(name, numbers=True) for name in names)],
        [
            (
                name,
                milliseconds(each["seconds"]),
                number(round(spans / each["seconds"]["median"])),
                f"{each['bytes'] / 1e6:.1f}",
                f"{each['bytes_compressed'] / 1e6:.1f}",
            )
            for name, each in found["formats"].items()
        ],
    )
