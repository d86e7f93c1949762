"""The thesis's figures for texture memory and the ways to the GPs, executed by transfers alone (see `reproduce.py`)."""

from __future__ import annotations

from functools import cache

from microcode import assemble
from pixelflow.config import THESIS
from pixelflow.node import Node, Run
from tessellation.cost_model import access_cycles, write_back_cycles
from tessellation.rows import Row
from tessellation.thesis import FIGURES, table

__all__ = ["table_2", "transfers", "write_back"]


@cache
def _transfer_alone(text: str) -> Run:
    marks = "EMC_SetEnab\nEMC_MarkRead\nEMC_MarkWrite\nSIGNAL 0\nHALT"
    return Node(THESIS).run(assemble(f"{marks}\nstream tigc\nWAIT 0\n{text}\n"), function=False)


def write_back(size: int) -> int:
    """Execute the return of the last ``size`` of 24 bytes of all PEs to one GP; return the cycles of its path."""
    areas = "\n".join(f"TAS_SetGpAddress {1 << module}, {module * 49_152}" for module in range(THESIS.array.modules))
    return _transfer_alone(f"{areas}\nTAS_GpWrite 15, {24 - size}, {size}").gni_cycles["store0"]


@cache
def caching(way: str) -> int:
    text = f'include "texture/caching.mc"\nCALL cache_{way}_emc\nstream tigc\nCALL cache_{way}_tasic\n'
    return Node(THESIS).run(assemble(text), function=False).tasic_cycles[0]


def table_2() -> list[Row]:
    """Return the rows of table 2; those of 8 bytes are not executed here."""
    accesses = 192 * THESIS.array.emcs_per_module
    measured = {(4, False): caching("base") / accesses, (4, True): caching("alternate") / accesses}
    rows = []
    for name, cycles, size in table(2).rows:
        alternate = "alternate" in name
        formula = access_cycles(size, alternate=alternate)
        rows.append(Row("table 2", name, cycles, formula, measured.get((size, alternate))))
    return rows


def transfers() -> list[Row]:
    """Return the rows of sections 2.2.4 and 4.1.4 and of appendix B."""
    rate = 32 * THESIS.lanes / _transfer_alone("TAS_LoopBack").tasic_cycles[0] * THESIS.clock_mhz * 1e6
    ports = 32 * THESIS.clock_mhz * 1e6
    results = "24 bytes of every PE"
    rows = [
        Row("transfers", "2.2.4: ports of the node", FIGURES["node"], ports, rate, "bytes/s"),
        Row("transfers", f"4.1.4: {results}", FIGURES[results], write_back_cycles(24), write_back(24)),
    ]
    accesses = 192 * THESIS.array.emcs_per_module
    slow, fast = (access_cycles(4, alternate=alternate) * accesses for alternate in (False, True))
    for way, formula in (("explicit", 2 * slow), ("base", slow), ("alternate", fast)):
        rows.append(Row("transfers", f"appendix B: {way}", FIGURES[way], formula, caching(way)))
    return rows
