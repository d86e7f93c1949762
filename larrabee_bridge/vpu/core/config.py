"""Configuration of a core: latencies, pipes and caches, each with what gives its value."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.config.param import leaves, param
from pixelflow.simd.units import Standing

__all__ = ["CORE_MHZ", "CoreConfig", "changed", "invented"]

CORE_MHZ = 1000.0
"""Clock of a core: the unit of 5.1 of Seiler et al. 2008 is one core at 1 GHz."""


@dataclass(frozen=True)
class CoreConfig:
    """What the model of a core is given."""

    # fmt: off
    vector_latency: int = param(4, "from the issue of a vector instruction to that of one that uses its result",
        unit="cycles", source="Intel, Xeon Phi vector microarchitecture: a descendant; no source on Larrabee gives it",
        standing=Standing.INVENTED, low=1, high=64)
    scalar_latency: int = param(1, "the same for scalar instructions, loads that hit the L1 cache among them",
        unit="cycles", source="Intel, Xeon Phi tuning note: L1 about 1 cycle; a descendant", standing=Standing.INVENTED,
        low=1, high=64)
    load_op_cycles: int = param(0,
        "more cycles until the result where a vector instruction reads memory in the L1 cache, widening included",
        unit="cycles", source="Seiler et al. 2008, 3.3: read and converted with no loss of performance",
        standing=Standing.DERIVED, low=0, high=64)
    dual_issue: bool = param(True, "a second instruction issues in the secondary pipe in the same cycle", unit="",
        source="Seiler et al. 2008, 3.2; which instructions may is with their declarations", standing=Standing.DERIVED)
    back_to_back: bool = param(True, "a thread may issue in consecutive cycles", unit="",
        source="Seiler et al. 2008 name no restriction; the descendant has one", standing=Standing.INVENTED)

    caches: bool = param(False,
        "threads that share a core wait for lines that are not in its caches; else every access hits", unit="",
        source="a switch of the model", matters="caches", standing=Standing.INVENTED)
    l1_bytes: int = param(32768, "L1 data cache of a core", unit="bytes", source="Seiler et al. 2008, 3.1",
        matters="caches", standing=Standing.DERIVED, allowed=(8192, 16384, 32768, 65536))
    l2_bytes: int = param(262144, "slice of the L2 cache that belongs to a core", unit="bytes",
        source="Seiler et al. 2008, 3.1", standing=Standing.DERIVED, allowed=(131072, 262144, 524288))
    ways: int = param(8, "lines in each set of either cache", unit="lines", source="no source gives it",
        matters="caches", standing=Standing.INVENTED, allowed=(1, 2, 4, 8, 16))
    l2_cycles: int = param(15, "a thread waits for a line of the L2 slice", unit="cycles",
        source="Intel, Xeon Phi tuning note: 15 to 30; a descendant",
        matters="caches", standing=Standing.INVENTED, low=1, high=1000)
    memory_cycles: int = param(300, "a thread waits for a line of memory", unit="cycles",
        source="no source gives it; Intel, Xeon Phi tuning note: 500 to 1000 on a descendant",
        matters="caches", standing=Standing.INVENTED, low=1, high=10000)
    # fmt: on


def invented(config: CoreConfig) -> list[str]:
    """Return the keys of the values that a run with this configuration uses and no source on the machine gives."""
    unused = set() if config.caches else {"ways", "l2_cycles", "memory_cycles"}
    found = [key for key, known, _, _ in leaves(config) if known.standing is Standing.INVENTED]
    return [key for key in found if key not in unused | {"caches"}]


def changed(config: CoreConfig) -> list[str]:
    """Return key and value of what is not as the model has it by itself."""
    return [f"{key} {str(value).lower()}" for key, _, value, default in leaves(config) if value != default]
