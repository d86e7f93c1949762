"""The thesis as a paper: its tables, figures and chapters, and what executes each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from pixelflow.config import THESIS
from pixelflow.evidence import Check, Claim, Measured, Number, Paper, Row
from tessellation.reproduction import arithmetic
from tessellation.reproduction import movement as loads
from tessellation.reproduction import movement as memory
from tessellation.reproduction import movement as network
from tessellation.reproduction import movement as transfers
from tessellation.reproduction import results as operations
from tessellation.reproduction import results as tessellations
from tessellation.reproduction import whole_passes as passes
from tessellation.reproduction.bench import ThesisBench
from tessellation.reproduction.curves import CURVES, draw_curves
from tessellation.reproduction.thesis import DIGITS, NOTES, TABLES, TITLE

_ALIASES = {"appendix a": "table 13", "introduction": "section 1", "results": "section 5", "conclusion": "section 5"}
_WITHIN = {"2.2.3": "table 1", "2.2.6": "table 2", "4.1.1": "table 3", "4.1.2": "table 4", "4.2": "table 8"}
"""Sections whose figures are those of a table."""

_Part = Callable[[ThesisBench], list[Row]]
_PARTS: dict[str, tuple[_Part, ...]] = {
    "table 2": (transfers.table_2,),
    "table 3": (loads.table_3,),
    "table 4": (loads.table_4,),
    "table 5": (arithmetic.table_5,),
    "table 6": (transfers.table_6,),
    "table 7": (arithmetic.table_7,),
    "table 8": (memory.table_8,),
    "table 9": (memory.table_9,),
    "table 11": (passes.table_11,),
    "table 12": (passes.table_12,),
    "table 13": (arithmetic.table_13,),
    "figure 11": (memory.linear,),
    "figure 12": (memory.alternating,),
    "figure 13": (passes.figure_13,),
    "section 1": (passes.section_1,),
    "section 2": (memory.capacities, transfers.bandwidths),
    "schedules": (passes.schedules,),
    "section 3": (loads.section_3_2, transfers.random_reads, memory.sizes, network.paths),
    "section 4": (passes.other_claims, network.results),
    "section 5": (passes.section_5,),
    "appendix b": (transfers.appendix_b,),
}
"""What executes each; `_measure` puts the rows together."""

_Results = Callable[[ThesisBench], list[Check]]
_RESULTS: dict[str, tuple[_Results, ...]] = {
    "table 1": (operations.single_operations,),
    "table 3": (tessellations.mixed_sizes,),
    "table 4": (tessellations.bernstein_values,),
    "table 6": (tessellations.sends,),
    "table 7": (tessellations.wrong_by_net,),
    "table 12": (tessellations.errors_by_net,),
    "table 13": (operations.wide_operations,),
    "schedules": (tessellations.schedules,),
    "section 3": (tessellations.to_nodes,),
    "section 4": (tessellations.to_gps,),
    "section 5": (tessellations.errors_of_models, tessellations.engines),
    "appendix b": (tessellations.caching,),
}
"""What computes the results of those that have some: with PE data, which rows do without."""


def _claim(name: str, title: str, place: str, *notes: str) -> Claim:
    return Claim(name, place, title, notes=tuple(NOTES[note] for note in notes), digits=DIGITS.get(name))


def _checks(name: str, bench: ThesisBench) -> tuple[Check, ...]:
    return () if bench.timing_only else tuple(check for part in _RESULTS.get(name, ()) for check in part(bench))


def _measure(name: str) -> Callable[[ThesisBench, Mapping[str, Number]], Measured]:
    def measure(bench: ThesisBench, printed: Mapping[str, Number]) -> Measured:
        return Measured(rows=tuple(row for part in _PARTS[name] for row in part(bench)), checks=_checks(name, bench))

    return measure


def _table_1(bench: ThesisBench, printed: Mapping[str, Number]) -> Measured:
    found = arithmetic.table_1(bench)
    return replace(found, checks=(*found.checks, *_checks("table 1", bench)))


_MEASURES = {"table 1": _table_1, **{name: _measure(name) for name in _PARTS}}


def _plain(given: str) -> str:
    """Return a name as claims have it: a number is a table, a number with a dot a section; ``Table-7`` is table 7."""
    text = " ".join(re.sub(r"[-_]", " ", given.lower()).split())
    found = re.fullmatch(r"(table|figure|section|appendix)? ?([ab]|[\d.]*\d)", text)
    if found is None:
        return _ALIASES.get(text, text)
    kind, number = found.groups()
    if number in ("a", "b"):
        kind = "appendix"
    elif "." in number:
        if number in _WITHIN:
            return _WITHIN[number]
        kind, number = "section", number.partition(".")[0]
    text = f"{kind or 'table'} {number}"
    return _ALIASES.get(text, text)


PAPER = Paper(
    name="thesis",
    title=TITLE,
    claims=(
        *(
            _claim(f"table {t.number}", t.title, t.section, *t.notes)
            for t in TABLES
            if f"table {t.number}" in _MEASURES
        ),
        _claim("figure 11", "Logical to physical address mapping", "4.3"),
        _claim("figure 12", "The same with alternating bank access", "4.3"),
        _claim("figure 13", "Stages of tessellation for a bicubic patch", "5"),
        _claim("schedules", "Bicubic passes by schedule and library", "4.5"),
        _claim("section 1", "Introduction", "1.0"),
        _claim("section 2", "Hardware overview", "2.1 and 2.2", "section2-index"),
        _claim("section 3", "Approaches to tessellation", "3.2 to 3.8", "section3-panels", "section3-blocks"),
        _claim("section 4", "Tessellation implementation", "4.1.3 and 4.1.4"),
        _claim("section 5", "Results", "1.0 and 5"),
        _claim("appendix b", "Caching intermediate results", "appendix B"),
    ),
    measures=_MEASURES,
    bench=ThesisBench,
    efforts={
        "table 1": 20,
        "table 3": 10,
        "table 4": 75,
        "table 5": 40,
        "table 6": 10,
        "table 7": 50,
        "table 8": 8,
        "table 13": 25,
        "figure 13": 5,
        "schedules": 15,
        "section 3": 6,
        "section 5": 40,
        "appendix b": 10,
    },
    computes=True,
    notes=tuple(NOTES.values()),
    without={
        "table 10": "names the calls of the application interface, which is `tessellation.PatchManager`",
        "figure 7": "the rendering pipeline: a picture without numbers",
        "figure 10": "missing from the text, which names no address of it; see figures 11 and 12",
        "figure 14": "missing from the text; `texture/caching.mc` executes what appendix B says of it",
        "figure 15": "shows which PEs of an EMC write in which pass; `texture/caching.mc` writes them so",
    },
    kinds="table, figure, section or appendix that is reproduced",
    preset="thesis",
    sha256=THESIS.sha256,
    plain=_plain,
    by_place=False,
    curves=CURVES,
    draw=draw_curves,
)
"""Keller's thesis, measured on the machine of the preset ``thesis``."""
