"""Schedules beside each other: schedule x library x way of the results x input, executed; the gain by its causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pixelflow.config import NodeConfig
from pixelflow.simd.report import Column, Json, Report, Table, counted, number
from tessellation.microprogram.passes import SCHEDULES, Method
from tessellation.studies.workloads import INPUTS, Measurement, pass_of

__all__ = ["LIBRARIES", "RESULTS", "schedules_report"]

LIBRARIES = ("plain", "tuned", "tuned-finite", "generic", "generic-finite")
RESULTS = ("direct", "gp", "gp-fine")
_THESIS, _SHARED = SCHEDULES


class _Bench:
    """Passes on a machine, each executed once."""

    def __init__(self, config: NodeConfig, tell: Callable[[str], None]) -> None:
        self._config = config
        self._tell = tell
        self._found: dict[tuple[str, str, str, str], Measurement] = {}

    def measured(self, schedule: str, library: str, results: str, given: str) -> Measurement:
        key = (schedule, library, results, given)
        if key not in self._found:
            self._tell(f"{INPUTS[given].text}: {schedule}, {library}, {results}")
            # Results go to all GPs of a node in both schedules, so that the ways are alike.
            gps = None if results == "direct" else self._config.gni.gp_count
            method = Method(schedule=schedule, results=results, gps=gps)
            self._found[key] = pass_of(method, library, given=INPUTS[given]).on(self._config)
        return self._found[key]

    def cycles(self, *key: str) -> int:
        schedule, library, results, given = key
        return self.measured(schedule, library, results, given).cycles


def schedules_report(config: NodeConfig, inputs: Sequence[str], tell: Callable[[str], None]) -> Report:
    """Return the cycles of both schedules by input, library and way of the results, and the causes of the gain."""
    bench = _Bench(config, tell)
    columns = (
        Column("input", key="input"), Column("library", key="library", fixed=True),
        Column("results", key="results", fixed=True), Column(_THESIS, number, "thesis"),
        Column(_SHARED, number, "shared_columns"), Column("gain", "{:.2f}".format, "gain"),
    )  # fmt: skip
    rows: list[Sequence[Json]] = []
    for given in inputs:
        for library in LIBRARIES:
            for results in RESULTS:
                ours, theirs = (bench.cycles(each, library, results, given) for each in (_SHARED, _THESIS))
                rows.append((INPUTS[given].text, library, results, theirs, ours, theirs / ours))
    text = (
        "Each line compares the same library and the same way of returning results: not returned (direct), or to "
        f"{counted(config.gni.gp_count, 'GP')} ({', '.join(RESULTS[1:])}). Cycles are without the configuration of the "
        "LEE."
    )
    return Report(
        "schedules",
        (f"config {config.sha256[:6]}", "timing only, executed"),
        results=[text, "", Table(columns, rows, key="schedules"), "", *_causes(bench)],
        schema="pixelflow.study.schedules/1",
    )


def _causes(bench: _Bench) -> list[str | Table]:
    """Return the way from the thesis's pass to the shortest one, step by step, each a difference of executed passes."""
    steps = (
        (f"schedule of the thesis, library {LIBRARIES[0]}", (_THESIS, LIBRARIES[0], "direct", "full")),
        ("columns shared, and reads beside", (_SHARED, LIBRARIES[0], "direct", "spread")),
        ("addresses computed, where patches lie in rows", (_SHARED, LIBRARIES[0], "direct", "full")),
        ("library tuned-finite", (_SHARED, "tuned-finite", "direct", "full")),
    )
    found = [(text, bench.measured(*key)) for text, key in steps]
    first, last = found[0][1].cycles, found[-1][1].cycles
    rows: list[Sequence[Json]] = []
    before = first
    for text, each in found:
        saved = before - each.cycles
        share = 100 * saved / (first - last) if saved else None
        rows.append((text, each.cycles, saved, share, sum(each.waits.values())))
        before = each.cycles
    columns = (
        Column("step", key="step"), Column("cycles", number, "cycles"), Column("saved", number, "saved"),
        Column("share", lambda share: "" if share is None else f"{share:.1f} %", "share_percent"),
        Column("waits in it", number, "wait_cycles"),
    )  # fmt: skip
    half, full = (bench.cycles(_THESIS, LIBRARIES[0], "direct", given) for given in ("spread", "full"))
    same = "as many" if half == full else f"{number(half)} cycles and not {number(full)}"
    text = (
        "by cause; without computed addresses is executed as a random half of each module, for which the schedule of "
        f"the thesis takes {same}"
    )
    return [text, "", Table(columns, rows, key="causes")]
