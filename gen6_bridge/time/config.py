"""Configuration of an execution unit: threads, issue, latencies, caches, each value with its source."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.configuration import leaves, param
from pixelflow.simd.units import Standing

EU_MHZ = 1350
"""Clock of an execution unit: the fastest that desktop parts of the family turned up to (Intel's product lists)."""

_MESA7 = "Mesa's performance model, measured on the next generation"
_GUESS = "Mesa's performance model, marked there as a guess for this generation"
_OWN = "no source gives it"


def _cycles(value: int, about: str, source: str, *, high: int = 64) -> int:
    """Return a count of cycles: derived where a source has it, invented where the source itself guesses."""
    standing = Standing.INVENTED if source == _GUESS else Standing.DERIVED
    return param(value, about, unit="cycles", source=source, standing=standing, low=1, high=high)


@dataclass(frozen=True)
class EuConfig:
    """Values of the model of an execution unit."""

    # fmt: off
    threads: int = param(5, "threads of an execution unit; the smaller part has 4", unit="threads",
        source="Kanter 2011; Mesa's limits of vertex threads, 60 = 12 x 5 and 24 = 6 x 4", standing=Standing.DERIVED,
        low=1, high=5, because="128 registers belong to each, and there are 640")
    units: int = param(1, "execution units side by side, rows of which share an instruction cache", unit="units",
        source="Mesa: 12, the smaller part 6", standing=Standing.DERIVED, low=1, high=12)
    count: int = param(1, "threads that run the program", unit="threads", source="a switch of the model",
        standing=Standing.INVENTED, low=1, high=1 << 16, state=True)
    channels: int = param(16, "channels of each thread that are dispatched; of pixels 8 or 16", unit="channels",
        source="a switch of the model", standing=Standing.INVENTED, allowed=(1, 2, 4, 8, 16), state=True)
    fused: bool = param(False, "mac, line, pln and dot products round once", unit="",
        source="no public source says whether they do", standing=Standing.INVENTED, state=True)
    flushes: bool = param(True, "denormals are zeros on input and output of float arithmetic", unit="",
        source="the manual as recalled", standing=Standing.INVENTED, state=True)

    issue_cycles: int = _cycles(2, "the vector pipe or the math unit is held for each eight channels of 4 bytes",
        _MESA7, high=16)
    dependent_cycles: int = _cycles(16, "from the issue of an instruction to that of one that uses its result",
        "Mesa's scheduler: mul and the mov that waits take 16 together; 14 and 12 are others")
    accumulator_cycles: int = _cycles(8, "the same where the result is the accumulator's", _GUESS)
    flag_cycles: int = _cycles(18, "the same where the result is a flag", _GUESS)
    three_source_cycles: int = _cycles(18, "the same of mad and lrp", _MESA7)
    math_cycles: int = _cycles(16, "the same of the math unit", _MESA7 + ": 14 and 2 more")
    power_cycles: int = _cycles(24, "the same of powers", _MESA7 + ": 22 and 2 more")
    power_issue: int = _cycles(4, "the math unit is held for eight powers", _MESA7)
    division_issue: int = _cycles(26, "the math unit is held for eight divisions of integers", _MESA7)
    division_cycles: int = _cycles(30, "from the issue of a division of integers to its use",
        _MESA7 + ": 28 and 2 more")
    branch_cycles: int = _cycles(2, "a branch holds the thread's front end", _MESA7)
    banks: bool = param(False, "two sources of two-source instructions in one bank cost a cycle more", unit="",
        source="Kanter 2011 has the banks, odd and even registers; what a conflict costs is invented",
        standing=Standing.INVENTED)
    always_switch: bool = param(False, "another thread issues after each instruction, if one is ready", unit="",
        source="a switch of the model; Kanter 2011: a thread that waits is switched out", standing=Standing.INVENTED)

    send_cycles: int = _cycles(2, "a message holds the front end", _MESA7)
    sampler_cycles: int = _cycles(140, "from a message to the sampler to its answer, texels in the cache",
        _MESA7, high=4096)
    sampler_busy: int = _cycles(16, "the sampler is held for each message", _MESA7, high=4096)
    block_cycles: int = _cycles(100, "from a block read to its answer", _MESA7, high=4096)
    render_cycles: int = _cycles(300, "from a message to the render cache to its answer", _GUESS, high=4096)
    render_busy: int = _cycles(450, "the render cache is held by a write of pixels", _GUESS, high=4096)
    urb_cycles: int = _cycles(200, "from a message to the URB to its answer", _GUESS, high=4096)
    urb_busy: int = _cycles(6, "the URB is held for each message", _GUESS, high=4096)

    caches: bool = param(True, "instructions are fetched through caches; else they are always there", unit="",
        source="a switch of the model", standing=Standing.INVENTED)
    row: int = param(3, "units that share a first-level instruction cache", unit="units", source="Kanter 2011",
        matters="caches", standing=Standing.DERIVED, low=1, high=12)
    l1_bytes: int = param(4096, "first-level instruction cache of a row", unit="bytes", source="Kanter 2011",
        matters="caches", standing=Standing.DERIVED, allowed=(1024, 2048, 4096, 8192))
    l2_bytes: int = param(24576, "second-level instruction cache of all rows", unit="bytes", source="Kanter 2011",
        matters="caches", standing=Standing.DERIVED, allowed=(12288, 24576, 49152))
    ways: int = param(4, "lines in each set of either cache", unit="lines", source=_OWN, matters="caches",
        standing=Standing.INVENTED, allowed=(1, 2, 4, 8))
    l1_miss_cycles: int = param(20, "a thread waits for a line of the second level", unit="cycles", source=_OWN,
        matters="caches", standing=Standing.INVENTED, low=1, high=4096)
    l2_miss_cycles: int = param(200, "a thread waits for a line of memory", unit="cycles", source=_OWN,
        matters="caches", standing=Standing.INVENTED, low=1, high=4096)
    # fmt: on


def unsupported(config: EuConfig) -> list[str]:
    """Return the keys of the values that a run with this configuration uses and no source gives."""
    return [
        key
        for key, known, _, _ in leaves(config)
        if known.standing is Standing.INVENTED and (config.caches or known.matters != "caches")
    ]
