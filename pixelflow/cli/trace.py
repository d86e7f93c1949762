"""Check a Perfetto trace strictly and sum up its cycles.

The option --trace of run and tessellate writes traces. The table of opcodes is
for GTKWave (Edit, Data Format, Translate Filter File).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pixelflow.cli.arguments import add_common_options
from pixelflow.cli.screen import STANDARD_STREAM, Screen, output_file
from pixelflow.cli.trace_files import reading
from pixelflow.isa import INSTRUCTIONS
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.report import Column, Report, Table, counted, number, share, verbatim
from pixelflow.simd.trace import Trace
from pixelflow.simd.trace.formats import PERFETTO
from pixelflow.simd.trace.perfetto import read_perfetto
from pixelflow.simd.trace.vcd import OPCODE_BITS

EXAMPLES = (
    "pixelflow run triangle --trace perfetto",
    "pixelflow trace check triangle.pftrace",
    "pixelflow trace opcodes -o opcodes.txt",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``check`` and ``opcodes``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|opcodes")
    check = actions.add_parser(
        "check", help="refuse what viewers misread, sum up cycles", description="Check a trace; sum up its cycles."
    )
    check.add_argument("file", metavar="FILE", help="a Perfetto trace, also compressed (.gz)")
    opcodes = actions.add_parser(
        "opcodes", help="opcodes and mnemonics, for GTKWave", description="Write GTKWave's translate filter of opcodes."
    )
    opcodes.add_argument(
        "-o", "--output", metavar="FILE", default=STANDARD_STREAM, help="file (default: standard output)"
    )
    for action in (check, opcodes):
        add_common_options(action)


def run(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Check a trace, or write the table of opcodes; raises InputError with the first faults of a trace."""
    if args.action == "check":
        return _check(args.file)
    with output_file(args.output) as stream:
        stream.writelines(f"{opcode} {mnemonic}\n" for opcode, mnemonic in _by_opcode())
    columns = (Column("opcode", fixed=True), Column("instruction"))
    screen.write_page(Report("opcodes and mnemonics", parts=[Table(columns, list(_by_opcode()))]))
    return 0


def _check(file: str) -> Report:
    with reading(file) as (format, stream):
        if format.name != PERFETTO:
            message = f"a {format.name} trace is for its viewers alone and is not read back"
            raise InputError(Fault(message, Place(file), "check the Perfetto trace of the run"))
        trace = read_perfetto(stream, file)
    whole = trace.end - trace.begin
    totals = {track: _with_idle(trace, cycles) for track, cycles in trace.totals().items()}
    counts = {
        "spans": sum(map(len, trace.spans.values())),
        "counter values": sum(map(len, trace.counters.values())),
        "arrows": len(trace.flows),
    }
    columns = (Column("cycles", number), Column("share", verbatim), Column("track"), Column("what"))
    rows = [
        (count, share(count, whole), track, what) for track, cycles in totals.items() for what, count in cycles.items()
    ]
    return Report(
        results=[
            f"{file}: {PERFETTO}, in order; cycles {number(trace.begin)} to {number(trace.end)}",
            ", ".join(counted(count, noun.removesuffix("s")) for noun, count in counts.items()),
            *(f"  {key} {value}" for key, value in trace.legend.items()),
            "",
            Table(columns, rows),
        ],
        schema="pixelflow.trace-check/1",
        data={
            "file": file,
            "format": PERFETTO,
            "header": trace.legend,
            "cycles": {"begin": trace.begin, "end": trace.end},
            "tracks": totals,
            "counts": counts,
        },
    )


def _with_idle(trace: Trace, cycles: dict[str, int]) -> dict[str, int]:
    """Return cycles by heading, busy first, with those in which nothing happened at the end."""
    ordered = dict(sorted(cycles.items(), key=lambda item: (item[0] != "busy", item[0])))
    return {**ordered, "idle": trace.end - trace.begin - sum(cycles.values())}


def _by_opcode() -> Iterator[tuple[str, str]]:
    digits = OPCODE_BITS // 4
    for declaration in sorted(INSTRUCTIONS.values(), key=lambda declaration: declaration.opcode):
        yield f"{declaration.opcode:0{digits}X}", declaration.mnemonic
