"""Supply of instructions: what passes and a picture take where the words come at a rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from pixelflow.config import NodeConfig
from pixelflow.node import guesses
from pixelflow.simd.report import Column, Json, Report, Table, number
from tessellation.microprogram.passes import Method
from tessellation.studies.workloads import Measurement, Workload, libraries_text, pass_of

__all__ = ["RATES", "supply_report"]

RATES = (200, 400, 800)
"""Of one GP's memory path, of two, and of the geometry network, in MB/s (thesis 3.8)."""

_PLAIN, _FINITE = "plain", "tuned-finite"


def _workloads(picture: Workload) -> Iterator[tuple[str, Workload]]:
    """Yield workloads under the names that the table has for them."""
    yield "thesis", pass_of(Method(), _PLAIN, name=f"the pass of the thesis, library {_PLAIN}")
    yield "shared", pass_of(Method(schedule="shared-columns"), _FINITE, name="that with shared columns")
    yield "picture", picture


def supply_report(config: NodeConfig, rates: Sequence[int], picture: Workload, tell: Callable[[str], None]) -> Report:
    """Return what two passes and a picture take without counting the supply, and at each rate; executed."""
    columns = (
        Column("program", key="workload"), Column("MB/s", key="mb_per_second", fixed=True),
        Column("cycles", number, "cycles", bars=True), Column("change", "{:+.1f}%".format, "change_percent"),
        Column("waits", number, "wait_cycles"), Column("one path", _or_dash, "one_path_cycles"),
        Column("waits", _or_dash, "one_path_wait_cycles"), Column("words", number, "words"),
        Column("average", "{:,.0f}".format, "average_mb_per_second"),
    )  # fmt: skip
    rows: list[Sequence[Json]] = []
    for name, workload in _workloads(picture):
        tell(workload.name)
        plain = workload.on(_with(config, 0))
        needed = guesses(plain.runs, config).delivery
        if needed is None:
            continue
        rows.append((name, "at once", plain.cycles, 0.0, 0, None, None, needed.needed, needed.mb_per_second))
        two = any(len(run.streams) > 1 for run in plain.runs)
        for rate in rates:
            found = workload.on(_with(config, rate))
            joint = workload.on(_with(config, rate, shared=True)) if two else None
            change = 100 * (found.cycles / plain.cycles - 1)
            ones = (None, None) if joint is None else (joint.cycles, _waits(joint))
            sent = sum(each.delivered or 0 for run in found.runs for each in run.streams)
            rows.append((name, str(rate), found.cycles, change, _waits(found), *ones, sent, needed.mb_per_second))
    text = (
        f"an IGC with a FIFO of {number(config.igc.fifo_words)} words and {number(config.igc.memory_words)} words of "
        "memory for routines; words are those of this project's encodings, over a path of its own to each IGC, or one "
        "path for both, on which they take turns (a picture's program has one stream); waits: of the EIGC for "
        f"words; average: MB/s over all cycles, with each routine sent once; thesis: its pass with library {_PLAIN}; "
        f"shared: the pass with shared columns and {_FINITE}; picture: {picture.name}"
    )
    return Report(
        "instruction supply",
        (f"config {config.sha256[:6]}", libraries_text((_PLAIN, _FINITE)), "timing only, executed"),
        results=[text, "", Table(columns, rows, key="supply")],
        schema="pixelflow.study.supply/2",
    )


def _with(config: NodeConfig, rate: int, *, shared: bool = False) -> NodeConfig:
    return replace(config, igc=replace(config.igc, supply=rate, shared_supply=shared))


def _waits(found: Measurement) -> int:
    return found.waits.get("instructions", 0)


def _or_dash(count: int | None) -> str:
    return "-" if count is None else number(count)
