"""Predictions of the schedules of this project: cycles of a full bicubic pass at 4x4 samples, by counts and prices.

Transfers, loads and copies are priced as in `predictions.py`. The integer arithmetic of sums in fixed point is counted
here, an instruction a cycle, from the sizes of its numbers: nothing reads the microcode or what a pass took.
"""

from __future__ import annotations

from pixelflow.config import NodeConfig
from pixelflow.evidence import Derivation, Number, derived
from tessellation.plan.memory_map import FLOAT_BYTES
from tessellation.reproduction.cost_model import Operations, cross_operations, surfaces
from tessellation.reproduction.predictions import LibraryCosts, Prices, arithmetic, path, read_slot

_SIDE = 4
"""Control points, samples, and PEs of a block along a side."""
_SHARE = 16
"""Bytes of a transfer for a PE."""
_READERS = 2
"""PEs of a block that a read serves, each with bytes for itself and for the PE below."""
_STEP = 8
"""Cycles of a product of bytes."""


def _addresses(config: NodeConfig) -> Derivation:
    """Return the cycles to load a linear function of x and y for each module, and the other bank for every second EMC.

    All PEs below its first row are enabled for each module but the first.
    """
    prices = Prices(config)
    return derived(
        "modules * (enable + load) + (modules - 1) * compare + enable + compare + bank",
        modules=config.array.modules, enable=prices.all, load=prices.load(3), compare=prices.compare,
        bank=prices.of("LD R, [0]") + prices.of("OR R, #1") + prices.of("ST [0], R"),
    )  # fmt: skip


def _weights(config: NodeConfig, size: int) -> Derivation:
    """Return the cycles to load Bernstein values of ``size`` bytes, whose column or row a compare selects."""
    prices = Prices(config)
    return derived(
        "2 * samples * (enable + compare + values * value)",
        samples=_SIDE, enable=prices.all, compare=prices.compare, values=2 * _SIDE - 1, value=prices.load(size),
    )  # fmt: skip


def _transfer(config: NodeConfig) -> Derivation:
    """Return the cycles from the signal that the ports are free to the signal that a transfer has arrived."""
    array, tasic = config.array, config.tasic
    blocks = array.lanes // array.emcs // _SIDE**2
    return derived(
        "wires + base + reads * (slot + overhead) + sends * bytes",
        wires=path("freed", "command", "fetch", "done", "arrived"), base=-(-4 // tasic.port_bytes_per_cycle),
        reads=blocks * array.emcs_per_module, slot=read_slot(config.sdram, 8, alternate=True),
        overhead=tasic.read_overhead_cycles, sends=_READERS * blocks,
        bytes=_READERS * _SHARE // tasic.port_bytes_per_cycle,
    )  # fmt: skip


def _copies(config: NodeConfig, size: int) -> Derivation:
    """Return the cycles to take a transfer of ``size`` bytes for each PE out of the port; whole ones by a routine."""
    prices = Prices(config)
    names = {"bytes": size, "byte": prices.byte, "below": prices.pix_copy(size, 1)}
    if size == _SHARE:
        names["start"] = prices.of("START")
    return derived("bytes * byte + below" + " + start" * (size == _SHARE), **names)


def _spread(config: NodeConfig, size: int) -> int:
    """Return the cycles to copy ``size`` bytes to the other PEs of a row of a block."""
    prices = Prices(config)
    return prices.pix_copy(size, 8) + prices.pix_copy(size, 4)


def _exchange(config: NodeConfig, size: int, columns: int) -> int:
    """Return the cycles to exchange sums of ``size`` bytes of three or four columns."""
    prices, odd = Prices(config), columns // 2
    swaps = (size, 2), (odd * size, 1)
    copies = (2 * size, 2), ((2 + odd) * size, 1)
    return sum(prices.of(f"EMC_PixSwap [32], [0], {n}, {distance}") for n, distance in swaps) + sum(
        prices.pix_copy(n, distance) for n, distance in copies
    )


def shared_prediction(config: NodeConfig, costs: LibraryCosts) -> Derivation:
    """Return the cycles of a pass of shared columns on a library with these costs, without LEE set-up.

    Each transfer after the first runs during the spread, the sums and the exchanges before its own values are wanted.
    """
    prices, transfer = Prices(config), _transfer(config)
    work: list[int] = []  # between a transfer and the next
    sums, exchanges, taken = Operations(), 0, 0
    for rows, columns in surfaces(_SIDE, _SIDE):
        for _ in range(rows):
            if taken * FLOAT_BYTES % _SHARE == 0:
                work.append(0)
            work[-1] += costs.fmul + (costs.fadd if _ else 0)
            taken += 1
        exchange = _exchange(config, FLOAT_BYTES, columns)
        work[-1] += exchange + columns * costs.fmul + (columns - 1) * costs.fadd
        sums += Operations(multiplies=rows + columns, adds=rows + columns - 2)
        exchanges += exchange
    last = taken * FLOAT_BYTES - (len(work) - 1) * _SHARE
    spread = _spread(config, _SHARE)
    calculated = arithmetic(sums + cross_operations(), costs, subtractions=3)
    names: dict[str, Number | Derivation] = {
        "addresses": _addresses(config),
        "marks": 2 * prices.compare + prices.all + prices.mark,
        "bernstein": _weights(config, FLOAT_BYTES),
        "transfer": transfer,
        "enable": prices.all,
        "full": len(work) - 1,
        "copy": _copies(config, _SHARE),
        "spread": spread,
        "last": derived("copy + spread", copy=_copies(config, last), spread=_spread(config, last)),
        "exchanges": exchanges,
        "waits": sum(max(0, int(transfer.value) - spread - each) for each in work[:-1]),
    }
    return derived(
        "addresses + marks + max(bernstein, transfer) + enable + full * (copy + spread) + last + exchanges + waits + "
        f"{calculated.expression}",
        **(names | dict(calculated.names)),
    )


# Sums in fixed point: instructions of the integer arithmetic, each of them a cycle.


_VALUE, _WEIGHT = 5, 1
_INNER, _OUTER = _VALUE + _WEIGHT, _VALUE + 2 * _WEIGHT
"""Bytes of a control value, of a weight, and of sums along u, and along u and v."""
_KEPT, _CROSSED = 4, 6
"""Bytes of a mantissa, and of a coordinate of the cross product."""


def _product(size: int, total: int, *, first: bool) -> int:
    """Return the cycles to add a number of ``size`` bytes times a byte to a total, or to begin the total with it."""
    if first:
        return 2 + size * (2 + _STEP) + (total > size)
    return 2 + size * (4 + _STEP) + (2 + 3 * (total - size - 1) if total > size else -1)


def _upper_product(*, add: bool = False) -> int:
    """Return the cycles of the upper five bytes of a product of four by four, or to add them to a total."""
    bytes_ = _KEPT * (_KEPT + 1) // 2
    begun = 0 if add else 1  # the only byte that has nothing to be added to
    carries = sum(2 + 3 * (_KEPT - row - 1) for row in range(_KEPT)) if add else _KEPT
    return 2 * _KEPT + bytes_ * (4 + _STEP) - 2 * begun + carries


def _magnitude(size: int) -> int:
    return 6 + 4 * size


def _moves(size: int, count: int) -> int:
    """Return the cycles to move the upper bytes of a number up by ``count`` bytes."""
    lowest = max(0, size - _KEPT - count)
    moved = size - max(lowest, count)
    return 2 * moved + (size - lowest - moved)


def _shift(size: int, vectors: int, moves: tuple[int, ...] = (4, 2, 1), exponent: int = 0) -> int:
    """Return the cycles to shift numbers of ``size`` bytes up together; ``exponent`` is 1 if one is kept."""
    tests = sum(vectors * count + 2 + exponent for count in (*moves, 1, 1, 1))
    nibbles, bits = vectors * _KEPT * 7, vectors * 3 * 2 * _KEPT
    return tests + vectors * sum(_moves(size, count) for count in moves) + nibbles + bits + 1


_PACKED = 25


def _inner() -> int:
    """Return the cycles of the sums along u of a column, of values and of first differences."""
    values = _product(_VALUE, _INNER, first=True) + 3 * _product(_VALUE, _INNER, first=False)
    differences = 3 * 3 * _INNER
    slopes = _product(_INNER, _INNER, first=True) + 2 * _product(_INNER, _INNER, first=False)
    return 1 + values + differences + slopes + 3


def _outer() -> int:
    """Return the cycles of the sums along v of three surfaces, and of taking their offsets away."""
    four = _product(_INNER, _OUTER, first=True) + 3 * _product(_INNER, _OUTER, first=False)
    three = four - _product(_INNER, _OUTER, first=False) + 3 * (3 * _INNER + 3)
    # Offsets are odd numbers times 2^39, 2^47 and 2^47.
    return 1 + 2 * four + three + 3 * ((_OUTER - 4) + 2 * (_OUTER - 5))


def _floats() -> int:
    """Return the cycles of a point's coordinate to binary32."""
    scaled = 1 + _upper_product() + 1 + 4 + 2 * (_KEPT + 1) + 1
    return 1 + _magnitude(_OUTER) + 2 + _shift(_OUTER, 1, exponent=1) + scaled + _PACKED


def _normals() -> int:
    """Return the cycles of a unit normal by a reciprocal root."""
    cross = 3 + 4 + 4 * (_KEPT + 1) + 3 + _magnitude(_CROSSED) + 2
    unit = 1 + _shift(_KEPT + 1, 1, (2, 1), exponent=1) + _PACKED
    halves = 3 * 2 * _KEPT
    squares = _upper_product() + 2 * _upper_product(add=True)
    choice = 3 + halves + 1 + 2 * 2 * (_KEPT + 1) + 1
    begun = 1 + 6 * 3 + 5 * 2 + 1 + 1 + _STEP + 7
    coarse = 2 * _product(3, 4, first=True) + 3 * _KEPT + _product(4, 5, first=True) + 5
    square = 2 * (2 + 2 * (2 + _STEP) + 1) + 2 * 2  # two bytes by two, the second row added to the first
    rest = 2 * (2 + 3 * (2 + _STEP) + 1) + 3 * 2
    fine = square + _upper_product() + 2 + 9 + rest + 7 + 6 + 2
    root = halves + squares + choice + begun + coarse + fine
    routines = (
        (6, _magnitude(_OUTER)), (2, _shift(_OUTER, 3)), (6 + 3, _upper_product()), (3, cross),
        (1, _shift(_CROSSED, 3)), (1, root), (3, unit),
    )  # fmt: skip
    return sum(times * (1 + cycles) for times, cycles in routines)


def fixed_prediction(config: NodeConfig) -> Derivation:
    """Return the cycles of a pass of sums in fixed point with normals by a reciprocal root, without LEE set-up.

    x needs the first two transfers, y and z one more each.
    """
    prices, transfer, spread = Prices(config), _transfer(config), _spread(config, _SHARE)
    last = 1 + 3 * _SIDE * _VALUE - 3 * _SHARE
    exchange = 2 * _exchange(config, _INNER, _SIDE)
    each = {"inner": _inner(), "outer": _outer(), "floats": _floats()}
    beside = spread + exchange + sum(each.values())
    names: dict[str, Number | Derivation] = {
        "addresses": _addresses(config),
        "marks": 2 * prices.compare + prices.all + prices.mark,
        "weights": _weights(config, _WEIGHT),
        "transfer": transfer,
        "enable": prices.all,
        "copy": _copies(config, _SHARE),
        "spread": spread,
        "last": derived("copy + spread", copy=_copies(config, last), spread=_spread(config, last)),
        "exchange": exchange,
        **each,
        "waits": max(0, int(transfer.value) - spread) + 2 * max(0, int(transfer.value) - beside),
        "normals": _normals(),
    }
    return derived(
        "addresses + marks + max(weights, transfer) + enable + 3 * (copy + spread) + last + waits "
        "+ 3 * (inner + exchange + outer + floats) + normals",
        **names,
    )
