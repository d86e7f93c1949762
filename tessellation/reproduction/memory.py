"""What lies where: tables 8 and 9, and the sizes of memories in sections 2.2 and 3."""

from __future__ import annotations

from pixelflow.evidence import Basis, Row
from pixelflow.node import AddressForm, AddressMap, Node
from pixelflow.simd.units import Standing
from tessellation.plan.memory_map import AXES, BATCH_BYTES, FLOAT_BYTES, memory_map
from tessellation.published.cost_model import memory_bytes, surfaces
from tessellation.published.thesis import table
from tessellation.reproduction.batches import batches
from tessellation.reproduction.bench import ThesisBench
from tessellation.reproduction.loads import side
from tessellation.reproduction.rows import figure_row, row
from tessellation.reproduction.touched import touched_bytes

__all__ = ["alternating", "capacities", "linear", "sizes", "table_8", "table_9"]

_LAYOUT = Basis(Standing.DERIVED, "the layout of table 9, continued to larger nets by table 8")
_MACHINE = Basis(Standing.THESIS, "sizes of section 2.2.1 and 2.2.6, read from the memories of a node")
_ADDRESSES = Basis(Standing.DERIVED, "the address mappings as section 4.3 describes them; their figures are missing")
_MB = 1 << 20


def table_8(bench: ThesisBench) -> list[Row]:
    """Bytes of PE memory that a pass reads or writes, beside those reserved."""
    rows = []
    for net, published in table(8).rows:
        n = side(net)
        notes, within = ("bytes-touched",), (-4.3, -4.2) if n == 4 else (-14.8, -11.6)
        if not memory_map(n, n).fits:
            notes, within = ("table8-order", "table8-12x12"), None
        touched = len(touched_bytes(bench.tessellation(n)))
        both = (memory_bytes(n), touched)
        rows.append(row(f"{net} net", published, *both, _LAYOUT, *notes, unit="bytes", within=within))
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
        within = (-0.7, -0.6)
        rows.append(row(usage, address, start, measured, _LAYOUT, "bytes-touched", unit="address", within=within))
    return rows


def capacities(bench: ThesisBench) -> list[Row]:
    """Sections 2.2.1 and 2.2.7: what the memories of a node hold."""
    node = Node(bench.config, "rows")
    device = 2 * 2048 * 512 // _MB
    built = node.texture_memory[0].config
    measured = built.banks * built.rows * built.columns // _MB
    module, modules = 8 * device, 4
    found = measured * built.devices_per_module
    again = figure_row("texture memory of a module again", module, found, _MACHINE, "section2-8mb")
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
        figure_row("coordinates and derivatives", len(AXES) * 4 * FLOAT_BYTES, touched, _LAYOUT, "section3-bytes"),
    ]


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
