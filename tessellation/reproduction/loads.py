"""What a pass loads before it computes: tables 3 and 4, and what section 3.2 says of it."""

from __future__ import annotations

from pixelflow.evidence import Basis, Row
from pixelflow.simd.units import Standing
from tessellation.plan.stages import Stage
from tessellation.published.cost_model import ADDRESS_CYCLES, address_cycles, bernstein_cycles
from tessellation.published.thesis import table
from tessellation.reproduction.bench import ThesisBench, spent
from tessellation.reproduction.rows import figure_row, row

__all__ = ["section_3_2", "side", "table_3", "table_4"]

_ADDRESSES = Basis(Standing.FITTED, "what the 12 cycles of a patch consist of is invented, made to fit table 3")
_BERNSTEIN = Basis(
    Standing.FITTED, "a LEE load of 4 bytes takes 5 cycles; what the 6 of a column consist of is invented"
)
_PLACES = Basis(Standing.THESIS, "16 PEs a block, a PE for each sample (sections 3.1.3 and 3.2)")


def side(text: str) -> int:
    """Return the n of ``nxn``."""
    return int(text.partition("x")[0])


def table_3(bench: ThesisBench) -> list[Row]:
    """Base addresses, for passes full of patches of one size."""
    singles: list[Row] = []
    counts: list[Row] = []
    rows: list[Row] = []
    for size, each, patches, total in table(3).rows:
        run = bench.tessellation(4, (side(size),))
        placed = bench.placed((side(size),))
        cycles = spent(run, Stage.ADDRESSES)
        name = f"{size} samples"
        fitting = bench.config.lanes // side(size) ** 2
        singles.append(row(f"a patch of {name}", each, ADDRESS_CYCLES, cycles // placed, _ADDRESSES))
        counts.append(row(f"patches of {name}", patches, fitting, placed, _PLACES, unit="patches"))
        rows.append(row(f"all patches of {name}", total, address_cycles(patches), cycles, _ADDRESSES))
    return singles + rows + counts


def table_4(bench: ThesisBench) -> list[Row]:
    """Bernstein values, for passes of patches of one size and of all sizes."""
    rows = []
    for net, *cells in table(4).rows:
        n = side(net)
        for name, sizes, published in zip(table(4).columns[1:], ((4,), (8,), (16,), (4, 8, 16)), cells, strict=True):
            measured = spent(bench.tessellation(n, sizes), Stage.BERNSTEIN)
            text = f"{net} net, {name} samples" if len(sizes) == 1 else f"{net} net, all sizes"
            rows.append(row(text, published, bernstein_cycles(n, n, sizes), measured, _BERNSTEIN))
    return rows


def section_3_2(bench: ThesisBench) -> list[Row]:
    """Loads that enable each patch in turn; no pass has patches of 64x64 samples, so those are not executed."""
    measured = spent(bench.tessellation(4, (8,)), Stage.ADDRESSES)
    return [
        figure_row("loads of 2 patches", address_cycles(2), None, _ADDRESSES, "section3-loads"),
        figure_row("loads of 128 patches", address_cycles(128), measured, _ADDRESSES, "section3-loads"),
    ]
