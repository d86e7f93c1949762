"""The thesis as a paper: its tables in their layout, figures and chapters, and the measures of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pixelflow.config import THESIS
from pixelflow.evidence import CellOf, Check, Claim, Measured, Number, Paper, PrintedForm, Row
from tessellation.reproduction import arithmetic, movement, results, whole_passes
from tessellation.reproduction.bench import ThesisBench
from tessellation.reproduction.thesis import DIGITS, NOTES, TABLES, TITLE, Cell, table

# The thirteen tables as the thesis prints them: headings, and for each cell the row with its figure.


_OPERATIONS = {"int_to_float": "Integer->Float", "sqrt": "Square Root"}
"""Rows of table 1 whose printed name differs from the routine's."""

_ONE_ENTRY = ("int_to_float",)
"""Rows of table 1 without an entry for finite operands."""

_ACCESSES = {
    "4 bytes, random": ("4 Byte Random Access", "Transfer 4 bytes, next transfer can occur in either bank, any row"),
    "4 bytes, alternate banks": (
        "4 Byte Alternate Banks", "Transfer 4 bytes, next transfer must occur in the opposite bank, any row"
    ),
    "8 bytes, random": ("8 Byte Random Access", "Transfer 8 bytes, next transfer can occur in either bank, any row"),
    "8 bytes, alternate banks": (
        "8 Byte Alternate Banks", "Transfer 8 bytes, next transfer must occur in the opposite bank, any row"
    ),
}  # fmt: skip

_PARTS = (
    *(f"{part} Half of {axis}" for axis in "XYZ" for part in ("1st", "2nd")),
    *(f"{part} Part of {axis}'" for axis in "XYZ" for part in ("1st", "2nd", "3rd")),
)
"""The batches of a bicubic patch; the thesis has "Control Patch" after each."""

_WRITES = tuple(f"Write Module {module}'s {axis}" for axis in "XYZ" for module in range(4))

_Cells = tuple[str | CellOf, ...]


def _layout(number: int, row: Callable[[tuple[Cell, ...]], _Cells], heads: tuple[str, ...] = ()) -> PrintedForm:
    """Return a table from the cells of each row; ``heads`` replace the headings of the data."""
    printed = table(number)
    return PrintedForm(heads or printed.columns, tuple(map(row, printed.rows)))


def _named(*items: str, unit: str = "cycles") -> Callable[[tuple[Cell, ...]], _Cells]:
    """Return the cells of a row: the first as printed, then figures by items formatted with it."""
    return lambda cells: (str(cells[0]), *(CellOf(item.format(cells[0]), unit) for item in items))


def _thousands(item: str, printed: str = "") -> CellOf:
    return CellOf(item, suffix="K", scale=1000, printed=printed)


def _steps() -> PrintedForm:
    """Return table 11 with a line for each of the fifteen batches, which share one row in the data."""
    batches = (
        (part, ahead, write, _thousands(f"batch {at}", "a batch, mean of 15"))
        for at, (part, ahead, write) in enumerate(
            zip(_PARTS, (*_PARTS[1:], ""), ("", "", *_WRITES, ""), strict=True), start=1
        )
    )
    return PrintedForm(
        ("EMC Operations", "From TASICs to EMCs", "From EMCs to TASICs", "Cycles"),
        (
            ("Load Base Addresses", "", "", _thousands("load base addresses")),
            ("Load Bernstein Coefficients", _PARTS[0], "", _thousands("load Bernstein values")),
            *batches,
            ("Cross Product for Normals", "", "", _thousands("normals")),
            ("", "", "Write Normals", _thousands("write normals")),
        ),
    )


LAYOUTS: dict[str, PrintedForm] = {
    "table 1": _layout(1, lambda cells: (
        _OPERATIONS.get(str(cells[0]), str(cells[0]).capitalize()),
        CellOf(f"{cells[0]}, plain"),
        CellOf(f"{cells[0]}, a PE", "10^3/s", " K"),
        CellOf(f"{cells[0]}, all PEs", "10^9/s", " G"),
    )),
    "table 2": _layout(2, lambda cells: (
        *_ACCESSES[str(cells[0])], CellOf(f"{cells[0]}, write"), str(cells[2]),
    ), ("Access Method", "Description", "Cycles", "Bytes Transferred")),
    "table 3": _layout(3, lambda cells: (
        str(cells[0]),
        CellOf(f"a patch of {cells[0]} samples"),
        CellOf(f"patches of {cells[0]} samples", "patches"),
        CellOf(f"all patches of {cells[0]} samples"),
    )),
    "table 4": _layout(4, _named(
        "{} net, 4x4 samples", "{} net, 8x8 samples", "{} net, 16x16 samples", "{} net, all sizes"
    )),
    "table 5": _layout(5, lambda cells: (
        str(cells[0]),
        CellOf(f"{cells[0]}, multiplies", "operations"),
        CellOf(f"{cells[0]}, adds", "operations"),
        CellOf(str(cells[0])),
    )),
    "table 6": _layout(6, _named("{} sends, EMC", "{} sends, TASIC")),
    "table 7": _layout(7, _named("{} net")),
    "table 8": _layout(8, _named("{} net", unit="bytes")),
    "table 9": _layout(9, lambda cells: (CellOf(str(cells[1]), "address"), str(cells[1]))),
    "table 10": _layout(10, lambda cells: tuple(map(str, cells))),
    "table 11": _steps(),
    "table 12": _layout(12, lambda cells: (str(cells[0]), CellOf(f"{cells[0]} net"), CellOf(f"{cells[0]} net", "ms"))),
    "table 13": _layout(13, _named("{} mantissa bytes, multiply", "{} mantissa bytes, add")),
    "libraries": PrintedForm(
        ("Operation", "table 1", "tuned", "generic", "generic, finite", "start-ups", "of finite"),
        tuple(
            (
                _OPERATIONS.get(name, name.capitalize()),
                f"{cycles:,}",
                *(CellOf(f"{name}, {library}") for library in ("tuned", "generic")),
                CellOf(f"{name}, generic finite") if name not in _ONE_ENTRY else "",
                CellOf(f"{name}, generic", "start-ups"),
                CellOf(f"{name}, generic finite", "start-ups") if name not in _ONE_ENTRY else "",
            )
            for name, cycles, *_ in table(1).rows
        ),
    ),
}  # fmt: skip
"""All thirteen by name, and the libraries that the thesis does not have."""


# Claims and their measures.


_ALIASES = {"appendix a": "table 13", "introduction": "section 1", "results": "section 5", "conclusion": "section 5"}
_WITHIN = {"2.2.3": "table 1", "2.2.6": "table 2", "4.1.1": "table 3", "4.1.2": "table 4", "4.2": "table 8"}
"""Sections whose figures are those of a table."""

_Part = Callable[[ThesisBench], list[Row] | Measured]
_Results = Callable[[ThesisBench], list[Check]]


@dataclass(frozen=True, slots=True)
class _Measure:
    """Functions for one claim: ``parts`` execute its rows, ``results`` check results with PE data."""

    parts: tuple[_Part, ...]
    results: tuple[_Results, ...] = ()
    effort: int = 1
    """Approximate seconds of both."""

    def __call__(self, bench: ThesisBench, printed: Mapping[str, Number]) -> Measured:
        """Return the rows of all parts, and the results unless timing-only."""
        both = [part(bench) for part in self.parts]
        found = [each if isinstance(each, Measured) else Measured(rows=tuple(each)) for each in both]
        computed = () if bench.timing_only else tuple(check for part in self.results for check in part(bench))
        return Measured(
            "; ".join(each.text for each in found if each.text),
            rows=tuple(row for each in found for row in each.rows),
            checks=(*(check for each in found for check in each.checks), *computed),
        )


def _interface(bench: ThesisBench) -> Measured:
    """Table 10, which prints no figure."""
    return Measured("here: `tessellation.PatchManager`, its `add` and `tessellate`, and `mark` of what `add` returns")


_MEASURES = {
    "table 1": _Measure((arithmetic.table_1,), (results.single_operations,), 20),
    "table 2": _Measure((movement.table_2,)),
    "table 3": _Measure((movement.table_3,), (results.mixed_sizes,), 10),
    "table 4": _Measure((movement.table_4,), (results.bernstein_values,), 75),
    "table 5": _Measure((arithmetic.table_5,), effort=40),
    "table 6": _Measure((movement.table_6,), (results.sends,), 10),
    "table 7": _Measure((arithmetic.table_7,), (results.wrong_by_net,), 50),
    "table 8": _Measure((movement.table_8,), effort=8),
    "table 9": _Measure((movement.table_9,)),
    "table 10": _Measure((_interface,)),
    "table 11": _Measure((whole_passes.table_11,)),
    "table 12": _Measure((whole_passes.table_12,), (results.errors_by_net,)),
    "table 13": _Measure((arithmetic.table_13,), (results.wide_operations,), 25),
    "libraries": _Measure((arithmetic.libraries,), effort=2),
    "figure 11": _Measure((movement.linear,)),
    "figure 12": _Measure((movement.alternating,)),
    "figure 13": _Measure((whole_passes.figure_13,), effort=5),
    "schedules": _Measure((whole_passes.schedules,), (results.schedules,), 15),
    "section 1": _Measure((whole_passes.section_1,)),
    "section 2": _Measure((movement.capacities, movement.bandwidths)),
    "section 3": _Measure(
        (movement.section_3_2, movement.random_reads, movement.sizes, movement.paths), (results.to_nodes,), 6
    ),
    "section 4": _Measure((whole_passes.other_claims, movement.results), (results.to_gps,)),
    "section 5": _Measure((whole_passes.section_5,), (results.errors_of_models, results.engines), 40),
    "appendix b": _Measure((movement.appendix_b,), (results.caching,), 10),
}


def _claim(name: str, title: str, place: str, *notes: str) -> Claim:
    own = tuple(NOTES[note] for note in notes)
    return Claim(name, place, title, notes=own, digits=DIGITS.get(name), layout=LAYOUTS.get(name))


def _plain(given: str) -> str:
    """Normalize the name of a claim: a number is a table, a number with a dot a section; ``Table-7`` is table 7."""
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
        *(_claim(f"table {t.number}", t.title, t.section, *t.notes) for t in TABLES),
        _claim("libraries", "Routines that the thesis does not have", "2.2.3", "tuned-library", "generic-library"),
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
    efforts={name: each.effort for name, each in _MEASURES.items() if each.effort > 1},
    computes=True,
    notes=tuple(NOTES.values()),
    without={
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
    curves=frozenset({"table 6", "table 7", "table 12"}),
)
"""Keller's thesis, measured on the machine of the preset ``thesis``."""
