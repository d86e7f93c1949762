"""What lies where: tables 8 and 9, and the sizes of memories in sections 2.2 and 3."""

from __future__ import annotations

from microcode.catalogue import FLOATS, Kind, Library
from pixelflow.evidence import Basis, Derivation, Row, derived
from pixelflow.node import AddressForm, AddressMap, Node
from pixelflow.simd.units import Standing
from tessellation.plan.memory_map import AXES, BATCH_BYTES, FLOAT_BYTES, fitting_map, memory_map
from tessellation.published.cost_model import memory_bytes, surfaces
from tessellation.published.thesis import table
from tessellation.reproduction.bench import ThesisBench
from tessellation.reproduction.loads import side
from tessellation.reproduction.programs.batches import batches
from tessellation.reproduction.programs.touched import touched_bytes
from tessellation.reproduction.rows import figure_row, row

__all__ = ["alternating", "capacities", "linear", "sizes", "table_8", "table_9"]

_LAYOUT = Basis(Standing.DERIVED, "the layout of table 9, continued to larger nets by table 8")
_MACHINE = Basis(Standing.THESIS, "sizes of section 2.2.1 and 2.2.6, read from the memories of a node")
_ADDRESSES = Basis(Standing.DERIVED, "the address mappings as section 4.3 describes them; their figures are missing")
_MB = 1 << 20


_MARK_BYTES, _TEMPORARIES = 2, 2
"""What the program uses of administrative bytes and of temporaries: the marks of a sample, a sum and a product."""


def _scratch() -> int:
    """Return the scratch bytes that the float routines of a pass declare."""
    used = ("fmul", "fadd", "fsub", "fsqrt", "fdiv")
    return max(
        entry.scratch_bytes
        for entry in FLOATS
        if entry.library is Library.PLAIN and entry.kind is Kind.COMPLETE and entry.name in used
    )


def _touched(n: int) -> Derivation:
    """Return the bytes that a pass of n x n nets uses of those reserved."""
    layout = fitting_map(n, n)
    return derived(
        "reserved - (batch - 32) - (administrative - marks) - (temporaries - 4 * floats) - (scratch - routines)",
        reserved=layout.used,
        batch=layout["control_points"].size + layout["base_address"].size,
        administrative=layout["administrative"].size,
        marks=_MARK_BYTES,
        temporaries=layout["temporaries"].size,
        floats=_TEMPORARIES,
        scratch=layout["scratch"].size,
        routines=_scratch(),
    )


def table_8(bench: ThesisBench) -> list[Row]:
    """Bytes of PE memory that a pass reads or writes, beside those reserved."""
    rows = []
    for net, published in table(8).rows:
        n = side(net)
        note = "bytes-touched" if memory_map(n, n).fits else "table8-order"
        touched = len(touched_bytes(bench.tessellation(n)))
        both = (memory_bytes(n), touched)
        rows.append(row(f"{net} net", published, *both, _LAYOUT, note, unit="bytes", predicted=_touched(n)))
    return rows


_RANGES = (
    "x_point", "y_point", "z_point", "bernstein_u", "bernstein_u_difference", "bernstein_v", "bernstein_v_difference",
    "control_points", "administrative", "temporaries", "scratch",
)  # fmt: skip


def table_9(bench: ThesisBench) -> list[Row]:
    """Where each range begins: the layout's address, and the first byte from there on that a bicubic pass touches."""
    layout = memory_map(4, 4)
    touched = sorted(touched_bytes(bench.tessellation(4)))
    starts = [layout[name].start for name in _RANGES] + [layout.used]
    rows = []
    for start, (address, usage) in zip(starts, table(9).rows, strict=True):
        measured = next((byte for byte in touched if byte >= start), touched[-1] + 1)
        # The first byte that a range is free from is that past the scratch which the routines declare.
        free = start == layout.used
        predicted = derived("start + routines", start=layout["scratch"].start, routines=_scratch()) if free else None
        rows.append(row(usage, address, start, measured, _LAYOUT, "bytes-touched", unit="address", predicted=predicted))
    return rows


def capacities(bench: ThesisBench) -> list[Row]:
    """Sections 2.2.1 and 2.2.7: what the memories of a node hold."""
    node = Node(bench.config, "rows")
    device = 2 * 2048 * 512 // _MB
    built = node.texture_memory[0].config
    measured = built.banks * built.rows * built.columns // _MB
    module, modules = 8 * device, 4
    found = measured * built.devices_per_module
    other = derived("devices * size", devices=8, size=device)
    again = figure_row(
        "texture memory of a module again", module, found, _MACHINE, "section2-8mb", derived=other,
        predicted=derived("devices * size", devices=built.devices_per_module, size=measured),
    )  # fmt: skip
    return [
        figure_row("PE memory", 256 + 64 + 2 * 32, node.config.array.memory_bytes, _MACHINE),
        figure_row("texture memory of an SDRAM", device, measured, _MACHINE),
        figure_row("texture memory of a module", module, found, _MACHINE),
        figure_row("texture memory of a node", modules * module, found * len(node.texture_memory), _MACHINE),
        again,
    ]


def sizes(bench: ThesisBench) -> list[Row]:
    """Sections 3.5 and 3.6."""
    array = bench.config.array
    run = bench.tessellation(4)
    first = memory_map(4, 4)["bernstein_u"].start
    touched = sum(byte < first for byte in touched_bytes(run))
    values = FLOAT_BYTES * sum(rows * columns for rows, columns in surfaces(4, 4))
    return [
        figure_row("blocks of an EMC", array.lanes // (16 * array.emcs), bench.placed((4,)) // array.emcs, _MACHINE),
        figure_row("values of a bicubic patch", values, BATCH_BYTES * len(batches(run)), _LAYOUT),
        figure_row("PE memory without ports", 256 + 64, array.input_port_start, _MACHINE),
        # Table 9: what begins at 0 ends where the Bernstein values begin.
        figure_row(
            "coordinates and derivatives", len(AXES) * 4 * FLOAT_BYTES, touched, _LAYOUT, "section3-bytes",
            derived=derived("bernstein - x", bernstein=48, x=0),
        ),
    ]  # fmt: skip


def linear(bench: ThesisBench) -> list[Row]:
    """Figure 11: which SDRAM holds the first words of logical linear space, all at row 0 and column 0."""
    addresses = AddressMap(bench.config.sdram)
    rows = []
    for address in (0, 4, 8):
        where = addresses.to_physical(address)
        found = where.device if (where.bank, where.row, where.column) == (0, 0, 0) else None
        rows.append(figure_row(f"SDRAM of the word at {address}", address // 4, found, _ADDRESSES))
    return rows


def alternating(bench: ThesisBench) -> list[Row]:
    """Figure 12: which bit of a linear address alone decides about the bank."""
    addresses = AddressMap(bench.config.sdram, AddressForm.ALTERNATE)
    bits = [bit for bit in range(24) if addresses.to_physical(1 << bit).bank]
    return [figure_row("bank bit", None, bits[0] if len(bits) == 1 else None, _ADDRESSES)]
