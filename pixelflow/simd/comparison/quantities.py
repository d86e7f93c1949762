"""Quantities that stand beside each other: how each is written, where it is from, and of what figures it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pixelflow.simd.drawing import DrawnFrame
from pixelflow.simd.report import number, percent

__all__ = ["QUANTITIES", "Quantity"]

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One row of a comparison."""

    label: str
    key: str
    value: Callable[[DrawnFrame], float | None]
    of: Callable[[DrawnFrame], Names]
    """The figures of an account that it is made of."""
    kind: Callable[..., str] = number
    single: bool = True
    """Whether JSON has it as one number under the key; else the account has its parts there."""


def _of(*names: str) -> Callable[[DrawnFrame], Names]:
    return lambda side: names


def _next(side: DrawnFrame) -> Names:
    return ("cycles",) if side.interval is None else ("interval",)


QUANTITIES = (
    Quantity("clock, MHz", "clock_mhz", lambda side: side.clock_mhz, _of("clock_mhz")),
    Quantity("lanes", "lanes", lambda side: side.lanes, _of("lanes")),
    Quantity("bits of a lane", "lane_bits", lambda side: side.lane_bits, _of("lane_bits")),
    Quantity("cycles for the picture", "cycles", lambda side: side.cycles, _of("cycles")),
    Quantity("time for the picture, ms", "milliseconds", lambda side: side.milliseconds, _of("cycles", "clock_mhz")),
    Quantity("cycles to the next picture", "next_after", lambda side: side.next_after, _next),
    Quantity("busy cycles of all parts", "busy_cycles", lambda side: side.work, _of("work")),
    Quantity("lost to imbalance", "imbalance", lambda side: side.imbalance, _of("cycles"), percent),
    Quantity("waiting besides", "waiting", lambda side: side.waiting, _of("work", "cycles"), percent),
    Quantity("cycles x lanes, millions", "lane_cycles", lambda side: side.lane_cycles / 1e6, _of("work", "lanes"),
        single=False),
    Quantity("cycles x lane bits, millions", "lane_bit_cycles",
        lambda side: side.lane_cycles * side.lane_bits / 1e6, _of("work", "lanes", "lane_bits"), single=False),
    Quantity("lanes of a block covered", "covered_lanes", lambda side: side.covered_lanes, _of("covered_lanes"),
        percent),
    Quantity("lanes enabled, all cycles", "enabled_lanes", lambda side: side.enabled_lanes, _of("enabled_lanes"),
        percent),
    Quantity("instructions", "instructions", lambda side: sum(side.mix.values()), _of("mix"), single=False),
    Quantity("bytes moved", "bytes", lambda side: sum(side.traffic.values()), _of("traffic"), single=False),
)  # fmt: skip
