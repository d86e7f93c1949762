"""The thirteen tables as the thesis prints them: its headings, and for each cell the row with its figure."""

from __future__ import annotations

from collections.abc import Callable

from pixelflow.evidence import CellOf, PrintedForm
from tessellation.reproduction.thesis import Cell, table

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
