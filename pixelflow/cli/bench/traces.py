"""What a trace costs: building it during timing-only runs, writing it in each format, and its size."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from functools import partial
from time import perf_counter

from microcode import assemble
from pixelflow.cli.bench.streams import MILLISECONDS, PASS, PASS_NAME
from pixelflow.cli.watch.trace_files import known_of
from pixelflow.config import THESIS
from pixelflow.node import Node
from pixelflow.observe.tracer import NodeTracer
from pixelflow.simd.benchmark import Benchmark, Case, Note
from pixelflow.simd.report import Column, Fact, Part, Table, fixed, number
from pixelflow.simd.trace import Trace, TraceClock
from pixelflow.simd.trace.formats import FORMATS, Format

__all__ = ["TRACES"]

_SPANS = 200_000


def _prepare(rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
    """Yield the formats, with a trace of at least 200,000 spans to write."""
    program = assemble(PASS)
    node = Node(THESIS, "rows")
    trace = Trace(TraceClock(THESIS.clock_mhz))
    NodeTracer(trace).attach(node.bus, known_of(THESIS))
    note(f"building a trace of {number(_SPANS)} spans")
    started = perf_counter()
    while trace.events < _SPANS:
        node.run(program, function=False)
    built = perf_counter() - started
    cases = []
    for name, format in FORMATS.items():
        written: dict[str, int] = {}
        about = {"spans": trace.events, "built": built, "written": written}
        cases.append(Case(name, partial(_write, trace, format, written), about))
    yield "", cases


def _write(trace: Trace, format: Format, written: dict[str, int]) -> tuple[float]:
    stream = io.BytesIO()
    started = perf_counter()
    format.write(trace, stream)
    taken = perf_counter() - started
    if not written:
        data = stream.getvalue()
        written |= {"bytes": len(data), "compressed": len(gzip.compress(data, 6))}
    return (taken,)


def _parts(cases: Sequence[Case]) -> list[Part]:
    spans, built = cases[0].about["spans"], cases[0].about["built"]
    columns = (
        Column("format", key="format", fixed=True),
        Column("ms [min..max]", MILLISECONDS, "seconds"),
        Column("spans/s", number),
        Column("MB", fixed(1, 1e-6), "bytes"),
        Column("MB .gz", fixed(1, 1e-6), "bytes_compressed"),
    )
    rows = [(case.name, case.spread(), round(spans / case.median()), *case.about["written"].values()) for case in cases]
    head = f"{PASS_NAME}: {number(spans)} spans, run and built in {fixed(1)(built)} s"
    return [
        Fact(head, key="trace.program", value=PASS_NAME),
        Fact(None, key="trace.spans", value=spans),
        Fact(None, key="trace.seconds_to_run_and_build", value=built),
        Table(columns, rows, key="trace.formats", named="format"),
    ]


TRACES = Benchmark(_prepare, _parts)
"""Wall times to build and to write a trace, and its sizes in bytes."""
