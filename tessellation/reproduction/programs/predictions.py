"""Predictions: what programs must take, from counts of their structure, declared costs and parameters of the machine.

Nothing here reads what a pass took. The float routines are counted as the thesis counts operations (4.1.3), and each
takes what it takes when it is executed alone; everything else is a declared cost, or a parameter of the configuration.
"""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.config import NodeConfig
from pixelflow.evidence import Derivation, Number, derived
from tessellation.plan.memory_map import BATCH_BYTES
from tessellation.plan.schedule import batch_count
from tessellation.published.cost_model import (
    ADDRESS_CYCLES,
    Operations,
    access_cycles,
    bernstein_cycles,
    distribution_cycles,
    surfaces,
    total_operations,
    transfer_operations,
)

__all__ = ["LibraryCosts", "arithmetic", "pass_prediction", "ratio", "whole_pass"]

_SENDS = 4
"""Sends per block of a pass (table 6)."""
_CROSS_SUBTRACTIONS = 3
"""Of the five additions from derivatives to normal, those that subtract (4.1.3)."""
_REORDERED = 12
"""The net from which on Bernstein values are loaded again (4.2)."""


@dataclass(frozen=True, slots=True)
class LibraryCosts:
    """Cycles of the routines of a float library, each executed alone."""

    fmul: int
    fadd: int
    fsub: int
    fsqrt: int
    fdiv: int


def arithmetic(operations: Operations, costs: LibraryCosts, *, subtractions: int = 0) -> Derivation:
    """Return the cycles of operations, ``subtractions`` of whose additions subtract."""
    text = "muls * fmul + adds * fadd"
    names = {
        "muls": operations.multiplies,
        "fmul": costs.fmul,
        "adds": operations.adds - subtractions,
        "fadd": costs.fadd,
    }
    if subtractions:
        text += " + subs * fsub"
        names |= {"subs": subtractions, "fsub": costs.fsub}
    if operations.roots:
        text += " + roots * fsqrt + divs * fdiv"
        names |= {"roots": operations.roots, "fsqrt": costs.fsqrt, "divs": operations.divides, "fdiv": costs.fdiv}
    return derived(text, **names)


def whole_pass(n: int, costs: LibraryCosts) -> Derivation:
    """Return the arithmetic of a pass of n x n nets."""
    return arithmetic(total_operations(n, n), costs, subtractions=_CROSS_SUBTRACTIONS)


def pass_prediction(
    config: NodeConfig, n: int, patches: int, costs: LibraryCosts, sizes: tuple[int, ...] = (4,)
) -> Derivation:
    """Return the cycles of a pass of n x n nets with so many patches of those sample counts, without LEE set-up.

    The first transfer, or the Bernstein values beside it, counts whole: words from the EMCs' stream to the TASICs and
    back over five wires, four bytes of address, then 128 reads and what is sent of each.
    """
    array, tasic = config.array, config.tasic
    blocks = array.lanes // array.emcs // 16
    names: dict[str, Number] = {
        "patches": patches,
        "address": ADDRESS_CYCLES,
        "marks": 4,
        "bernstein": bernstein_cycles(n, n, sizes),
        "wires": 5,
        "base": -(-4 // tasic.port_bytes_per_cycle),
        "reads": blocks * array.emcs_per_module,
        "slot": access_cycles(4, alternate=False),
        "overhead": tasic.read_overhead_cycles,
        "sends": _SENDS * blocks,
        "bytes": BATCH_BYTES // tasic.port_bytes_per_cycle,
        "batches": batch_count(n, n),
        "copy": 1 + 2 * BATCH_BYTES,
        "spread": distribution_cycles(_SENDS),
    }
    text = (
        "patches * address + marks + max(bernstein, wires + base + reads * (slot + overhead) + sends * bytes)"
        " + 1 + batches * (copy + spread)"
    )
    if n >= _REORDERED:
        # What 4.2 loads later: u differences; then u values again and v differences; an enable after each.
        names["again"] = 4 * ((5 * (n - 1) + 6) + (5 * n + 6) + (5 * (n - 1) + 6)) + 2
        # The first load has no differences.
        names["bernstein"] = 4 * 2 * (5 * n + 6)
        text += " + again"
    waits = _waits(n, costs, transfer=_transfer(names), spread=int(names["spread"]))
    if waits:
        names["waits"] = waits
        text += " + waits"
    sums = whole_pass(n, costs)
    return derived(f"{text} + {sums.expression}", **(names | dict(sums.names)))


def _transfer(names: dict[str, Number]) -> int:
    """Return the cycles from the word that the ports are free to the word that a batch has arrived."""
    wires, base, reads, slot, overhead, sends, size = (
        int(names[name]) for name in ("wires", "base", "reads", "slot", "overhead", "sends", "bytes")
    )
    return wires + base + reads * (slot + overhead) + sends * size


def _waits(n: int, costs: LibraryCosts, *, transfer: int, spread: int) -> int:
    """Return what a pass waits for later transfers: each runs beside the spread and arithmetic of the batch before."""
    beside = [
        spread + int(arithmetic(operations, costs).value) for operations in transfer_operations(surfaces(n, n))[:-1]
    ]
    return sum(max(0, transfer - cycles) for cycles in beside)


def ratio(text: str, cycles: Derivation, **names: Number) -> Derivation:
    """Return a rate or share of ``cycles``: ``text`` has that name."""
    return derived(text, cycles=cycles.value, **names)
