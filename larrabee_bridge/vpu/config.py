"""Configuration of a core: latencies, pipes and caches, each with its source."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.configuration import leaves, param
from pixelflow.simd.units import Standing

CORE_MHZ = 1000.0
"""Clock of a core: the unit of 5.1 of Seiler et al. 2008 is one core at 1 GHz."""


@dataclass(frozen=True)
class CoreConfig:
    """Parameters of a core."""

    # fmt: off
    vector_latency: int = param(4, "from the issue of a vector instruction to that of one that uses its result",
        unit="cycles", source="Intel, Xeon Phi vector microarchitecture: a descendant; no source on Larrabee gives it",
        standing=Standing.INVENTED, low=1, high=64, moved=(2, 6))
    scalar_latency: int = param(1, "the same for scalar instructions, loads that hit the L1 cache among them",
        unit="cycles", source="Intel, Xeon Phi tuning note: L1 about 1 cycle; a descendant", standing=Standing.INVENTED,
        low=1, high=64, moved=(2,))
    load_op_cycles: int = param(0,
        "more cycles until the result where a vector instruction reads memory in the L1 cache, widening included",
        unit="cycles", source="Seiler et al. 2008, 3.3: read and converted with no loss of performance",
        standing=Standing.DERIVED, low=0, high=64, moved=(2,))
    dual_issue: bool = param(True, "a second instruction issues in the secondary pipe in the same cycle", unit="",
        source="Seiler et al. 2008, 3.2; which instructions may is with their declarations", standing=Standing.DERIVED,
        moved=(False,))
    back_to_back: bool = param(True, "a thread may issue in consecutive cycles", unit="",
        source="Seiler et al. 2008 name no restriction; the descendant has one", standing=Standing.INVENTED,
        moved=(False,))

    multiply_latency: int = param(10, "the same for the scalar product of two numbers", unit="cycles",
        source="Intel, Pentium processor manual: IMUL takes 10 clocks; an ancestor", standing=Standing.INVENTED, low=1,
        high=64, moved=(1, 4))
    address_cycles: int = param(1, "more cycles until a scalar result can be part of an address", unit="cycles",
        source="Intel, Pentium processor manual: address generation interlock; an ancestor",
        standing=Standing.INVENTED, low=0, high=16, moved=(0, 3))
    flags_pair: bool = param(False, "a branch may issue with the instruction that sets its flags", unit="",
        source="Intel, Pentium processor manual: a compare pairs with the branch after it; an ancestor",
        standing=Standing.INVENTED, moved=(True,))
    shifts_beside: bool = param(False, "scalar shifts may issue in the secondary pipe", unit="",
        source="Intel, Pentium processor manual: shifts pair as the first of two only; an ancestor",
        standing=Standing.INVENTED, moved=(True,))
    two_accesses: bool = param(True, "two instructions of one cycle may both touch memory", unit="",
        source="Intel, Pentium processor manual: both pipes reach the data cache; an ancestor",
        standing=Standing.INVENTED, matters="turns", moved=(False,))
    gather_line_cycles: int = param(1, "each line that a gather or scatter touches holds the pipes", unit="cycles",
        source="Seiler et al. 2008, 3.3: one cache line a cycle; a descendant takes a loop of a gather and a branch",
        standing=Standing.DERIVED, low=1, high=64, moved=(2, 4))
    mispredicted_cycles: int = param(4, "a thread waits where a branch went the way that was not predicted",
        unit="cycles", source="Intel, Pentium processor manual: 3 or 4 clocks; an ancestor",
        standing=Standing.INVENTED, low=0, high=64, matters="turns", moved=(0, 10))

    caches: bool = param(False,
        "threads that share a core wait for lines that are not in its caches; else every access hits", unit="",
        source="a switch of the model", matters="kernels", standing=Standing.INVENTED)
    warm_caches: bool = param(False,
        "a tile or PrimSet begins with what the one before it has left in the caches; else they are empty", unit="",
        source="a switch of the model: one core takes them all; which ones it takes is not known when they are timed",
        matters="caches", standing=Standing.DERIVED)
    l1_bytes: int = param(32768, "L1 data cache of a core", unit="bytes", source="Seiler et al. 2008, 3.1",
        matters="caches", standing=Standing.DERIVED, allowed=(8192, 16384, 32768, 65536), moved=(8192, 65536))
    l2_bytes: int = param(262144, "slice of the L2 cache that belongs to a core", unit="bytes",
        source="Seiler et al. 2008, 3.1", standing=Standing.DERIVED, allowed=(131072, 262144, 524288),
        moved=(131072, 524288))
    code_bytes: int = param(32768, "L1 instruction cache of a core; programs are in it beforehand, as far as they fit",
        unit="bytes", source="Seiler et al. 2008, 3.1", matters="caches", standing=Standing.DERIVED,
        allowed=(1024, 2048, 4096, 8192, 32768), moved=(2048,))
    instruction_bytes: int = param(8, "an instruction in memory", unit="bytes", source="no source gives it",
        matters="caches", standing=Standing.INVENTED, low=1, high=16, moved=(16,))
    ways: int = param(8, "lines in each set of either cache", unit="lines", source="no source gives it",
        matters="caches", standing=Standing.INVENTED, allowed=(1, 2, 4, 8, 16), moved=(2, 16))
    l2_cycles: int = param(15, "latency of the L2 slice: a thread waits for a line of it", unit="cycles",
        source="Intel, Xeon Phi tuning note: 15 to 30; a descendant",
        matters="caches", standing=Standing.INVENTED, low=1, high=1000, moved=(30,))
    memory_cycles: int = param(300, "wait of a thread for a line of memory, without the ring", unit="cycles",
        source="no source gives it; Intel, Xeon Phi tuning note: 500 to 1000 on a descendant",
        matters="caches", standing=Standing.INVENTED, low=1, high=10000, moved=(100, 1000))
    ring_cycles: int = param(5, "a message on the ring between a core and memory, each way", unit="cycles",
        source="the mean on an empty ring of sixteen agents, whose hop of a clock no source gives",
        matters="caches", standing=Standing.INVENTED, low=0, high=1000, moved=(0, 20))
    memory_line_cycles: int = param(2, "between two lines of memory that a core accepts", unit="cycles",
        source="Seiler et al. 2008, 3.4: an agent accepts from one direction in every other clock", matters="caches",
        standing=Standing.DERIVED, low=1, high=1000, moved=(16,))
    write_line_cycles: int = param(2, "between two lines that leave the L2 slice for memory", unit="cycles",
        source="no source gives it: the pace at which a core accepts lines", matters="caches",
        standing=Standing.INVENTED, low=0, high=1000, moved=(16,))
    misses_under_way: int = param(32, "stores and prefetches with outstanding lines before a thread waits",
        unit="lines", source="no source gives it", matters="caches", standing=Standing.INVENTED, low=1, high=64,
        moved=(8, 64))
    stores_wait: bool = param(False, "a thread waits for the line that it stores to, as for one that it loads", unit="",
        source="Intel, Pentium processor manual: write buffers; an ancestor", matters="caches",
        standing=Standing.INVENTED, moved=(True,))
    full_stores_read: bool = param(False, "a store of a whole line brings the line from memory first", unit="",
        source="Seiler et al. 2008, 4.5: a tile that is cleared is not read", matters="caches",
        standing=Standing.DERIVED, moved=(True,))
    planes: str = param("exact",
        "depths, colours and texture coordinates between corners: the integers of all machines, or floats", unit="",
        source="Seiler et al. 2008, 4.4: the required result is a 32-bit float; integers, so that pictures are equal",
        matters="pictures", standing=Standing.DERIVED, allowed=("exact", "float"), moved=("float",))
    queued_quads: int = param(16, "quads that may wait for a work thread before the set-up thread does", unit="quads",
        source="no source gives it", matters="queues", standing=Standing.INVENTED, low=1, high=1024, moved=(1, 64))
    # fmt: on


def invented(config: CoreConfig) -> list[str]:
    """Return the keys of invented values that a run with this configuration uses."""
    unused = () if config.caches else ("caches",)
    found = [
        key
        for key, known, _, _ in leaves(config)
        if known.standing is Standing.INVENTED and known.matters not in unused
    ]
    return [key for key in found if key != "caches"]


def changed(config: CoreConfig) -> list[str]:
    """Return key and value of each parameter that differs from its default."""
    return [f"{key} {str(value).lower()}" for key, _, value, default in leaves(config) if value != default]
