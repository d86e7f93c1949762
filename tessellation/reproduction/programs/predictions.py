"""Predictions: what programs must take, from counts of their structure, declared costs and parameters of the machine.

Nothing here reads what a pass took. The float routines are counted as the thesis counts operations (4.1.3), and each
takes what it takes when it is executed alone; everything else is the price of an instruction or of an access
(`prices.py`), or a parameter of the configuration. Held fixed are the wires of a node, a cycle each, and the delivery
of instruction words, which are there at once (`igc.supply` is 0).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pixelflow.config import NodeConfig
from pixelflow.evidence import Derivation, Number, derived
from tessellation.microprogram.texture_source import copy_distances
from tessellation.plan.memory_map import BATCH_BYTES, FLOAT_BYTES, fitting_map
from tessellation.plan.schedule import batch_count
from tessellation.published.cost_model import Operations, surfaces, total_operations, transfer_operations
from tessellation.reproduction.programs.prices import Prices, path, read_slot

__all__ = [
    "LibraryCosts",
    "address",
    "arithmetic",
    "bernstein",
    "distribution",
    "pass_prediction",
    "ratio",
    "whole_pass",
]

_SENDS = 4
"""Sends per block of a pass (table 6)."""
_CROSS_SUBTRACTIONS = 3
"""Of the five additions from derivatives to normal, those that subtract (4.1.3)."""


@dataclass(frozen=True, slots=True)
class LibraryCosts:
    """Cycles of a call of each routine of a float library, executed alone."""

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
    back, the bytes of an address, then the reads and what is sent of each. Each later one runs beside the spread and
    the arithmetic of the batch before it.
    """
    prices, reordered = Prices(config), fitting_map(n, n).reordered
    batches, spread, transfer = batch_count(n, n), distribution(config), _transfer(config)
    samples, control = sum(sizes), prices.control
    own = (n,) if reordered else (n, n - 1)
    names: dict[str, Number | Derivation] = {
        "patches": patches,
        "address": address(config),
        "marks": derived("enable + compare + mark", enable=prices.all, compare=prices.compare, mark=prices.mark),
        "bernstein": bernstein(config, samples, own, own),
        "transfer": transfer,
        "enable": prices.all,
        "batches": batches,
        "copy": derived(
            "call + start + bytes * byte",
            call=2 * control, start=prices.of("START"), bytes=BATCH_BYTES, byte=prices.byte,
        ),
        "spread": spread,
    }  # fmt: skip
    text = "patches * address + marks + max(bernstein, transfer) + enable + batches * (copy + spread)"
    if reordered:
        # What 4.2 loads later: u differences; then u values again and v differences; an enable after each.
        names["again"] = derived(
            "du + dv + 2 * enable",
            du=bernstein(config, samples, (n - 1,)), dv=bernstein(config, samples, (n,), (n - 1,)), enable=prices.all,
        )  # fmt: skip
        text += " + again"
    if control:
        # A wait for each batch; a signal before the first and after all but the last; the end.
        names |= {"controls": 2 * batches + 1, "control": control}
        text += " + controls * control"
    waits = _waits(n, costs, transfer, spread)
    if waits is not None:
        names["waits"] = waits
        text += " + waits"
    sums = whole_pass(n, costs)
    return derived(f"{text} + {sums.expression}", **(names | dict(sums.names)))


def address(config: NodeConfig) -> Derivation:
    """Return the cycles to enable a patch's PEs and to load its base address and the marks of its samples."""
    prices = Prices(config)
    return derived(
        "enable + 2 * compare + base + marks",
        enable=prices.all, compare=prices.compare, base=prices.load(3), marks=prices.load(2),
    )  # fmt: skip


def bernstein(config: NodeConfig, samples: int, *counts: tuple[int, ...]) -> Derivation:
    """Return the cycles to load Bernstein values in each direction of ``counts``, for so many rows or columns.

    A row or column is selected by a byte of its PEs; then each of its values is loaded.
    """
    prices = Prices(config)
    select = derived(
        "enable + call + start + fetch + xor + compare + keep",
        enable=prices.all, call=2 * prices.control, start=prices.of("START"), fetch=prices.of("LD R, [0]"),
        xor=prices.of("XOR R, #0"), compare=prices.of("CMP R, #1"), keep=prices.of("ENC"),
    )  # fmt: skip
    values = sum(sum(each) for each in counts)
    return derived(
        "samples * (directions * select + values * value)",
        samples=samples, directions=len(counts), select=select, values=values, value=prices.load(FLOAT_BYTES),
    )  # fmt: skip


def distribution(config: NodeConfig, sends: int = _SENDS) -> Derivation:
    """Return the cycles of the PixCopies that spread a batch over a block."""
    prices = Prices(config)
    copies = {f"over_{distance}": prices.pix_copy(BATCH_BYTES, distance) for distance in copy_distances(sends)}
    return derived(" + ".join(copies), **copies)


def _transfer(config: NodeConfig) -> Derivation:
    """Return the cycles from the word that the ports are free to the word that a batch has arrived."""
    array, tasic = config.array, config.tasic
    blocks = array.lanes // array.emcs // 16
    names: dict[str, Number | Derivation] = {
        "wires": path("freed", "command", "fetch", "done", "arrived"),
        "base": -(-4 // tasic.port_bytes_per_cycle),
        "reads": blocks * array.emcs_per_module,
        "slot": read_slot(config.sdram, 4),
        "overhead": tasic.read_overhead_cycles,
        "sends": _SENDS * blocks,
        "bytes": BATCH_BYTES // tasic.port_bytes_per_cycle,
    }
    text = "wires + base + reads * (slot + overhead) + sends * bytes"
    if config.igc.control_cycles:
        text += " + 2 * control"
        names["control"] = config.igc.control_cycles
    return derived(text, **names)


def _waits(n: int, costs: LibraryCosts, transfer: Derivation, spread: Derivation) -> Derivation | None:
    """Return what a pass waits for later transfers: each runs beside the spread and arithmetic of the batch before."""
    each = transfer_operations(surfaces(n, n))[:-1]
    beside = Counter(int(arithmetic(operations, costs).value) for operations in each)
    late = [(cycles, times) for cycles, times in sorted(beside.items()) if transfer.value > spread.value + cycles]
    if not late:
        return None
    names: dict[str, Number | Derivation] = {"transfer": transfer, "spread": spread}
    terms = []
    for number, (cycles, times) in enumerate(late, start=1):
        names |= {f"times_{number}": times, f"beside_{number}": cycles}
        terms.append(f"times_{number} * (transfer - spread - beside_{number})")
    return derived(" + ".join(terms), **names)


def ratio(text: str, cycles: Derivation, **names: Number | Derivation) -> Derivation:
    """Return a rate or share of ``cycles``: ``text`` has that name."""
    return derived(text, cycles=cycles.value, **names)
