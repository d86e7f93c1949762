"""The symbol file: what the names of a program stand for, as JSON for other programs to read."""

from __future__ import annotations

import json

from microcode.analysis.totals import Totals
from pixelflow.simd.isa.program import AssembledProgram

__all__ = ["SCHEMA", "symbols"]

SCHEMA = "pixelflow.symbols/1"


def symbols(program: AssembledProgram) -> str:
    """Return the symbol file of a program: labels, routines, ranges, and the source line of each instruction.

    Addresses of code are words, those of memory bytes; ``cycles`` is one call with the routines it calls, or null.
    """
    totals = Totals(program)
    routines = {}
    for routine in program.routines:
        total = totals.at(routine.entry)
        routines[routine.name] = {
            "entry": routine.entry,
            "end": routine.end,
            "parameters": list(routine.parameters),
            "scratch": [list(area) for area in routine.scratch],
            "started": routine.started,
            "cycles": None if total is None else total.total,
        }
    lines = []
    for index, at in enumerate(program.addresses):
        line = program.line_at(index)
        lines.append([at, line.file, line.line] if line else [at, None, None])
    body = {
        "schema": SCHEMA,
        "program": {"name": program.name, "sha256": program.sha256},
        "entries": dict(program.entries),
        "labels": dict(program.labels),
        "routines": routines,
        "ranges": {item.name: {"start": item.start, "size": item.size} for item in program.ranges},
        "stages": list(program.names),
        "lines": lines,
    }
    return json.dumps(body, sort_keys=True, indent=1) + "\n"
