"""Schedules beside each other: schedule x library x way of the results x input, executed; the gain by its causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pixelflow.config import NodeConfig
from pixelflow.simd.report import Column, Json, Report, Table, counted, number
from tessellation.microprogram.method import NORMALS, SCHEDULES, TRANSFERS, Method
from tessellation.studies.workloads import INPUTS, Measurement, libraries_text, pass_of

__all__ = ["LIBRARIES", "RESULTS", "schedules_report"]

LIBRARIES = ("plain", "tuned", "tuned-finite", "generic", "generic-finite")
RESULTS = ("direct", "gp", "gp-fine")
_THESIS, _SHARED, _FIXED = SCHEDULES
_FIXED_POINT, _FLOAT = NORMALS


class _Bench:
    """Passes on a machine, each executed once."""

    def __init__(self, config: NodeConfig, tell: Callable[[str], None]) -> None:
        self._config = config
        self._tell = tell
        self._found: dict[tuple[str | bool, ...], Measurement] = {}

    def measured(
        self, schedule: str, library: str, results: str, given: str, *more: bool, normals: str = _FIXED_POINT
    ) -> Measurement:
        """Return what an input takes; ``more`` is whether EMCs take turns between banks, and transfers come apart."""
        alternate, apart = more or (True, False)
        key = (schedule, library, results, given, alternate, apart, normals)
        if key not in self._found:
            self._tell(f"{INPUTS[given].text}: {schedule}, {library}, {results}{', transfers apart' * apart}")
            # Results go to all GPs of a node in both schedules, so that the ways are alike.
            gps = None if results == "direct" else self._config.gni.gp_count
            transfers = TRANSFERS[apart]
            method = Method(
                schedule=schedule, results=results, gps=gps, transfers=transfers, alternate=alternate, normals=normals
            )
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
        (f"config {config.sha256[:6]}", libraries_text(LIBRARIES), "timing only, executed"),
        results=[text, "", Table(columns, rows, key="schedules"), "", *_causes(bench)],
        schema="pixelflow.study.schedules/1",
    )


def _causes(bench: _Bench) -> list[str | Table]:
    """Return the way from the thesis's pass to the shortest one, step by step, each a difference of executed passes.

    Each pass is executed once more with its transfers apart, so that what overlap is worth stands beside every step.
    """
    plain, tuned = LIBRARIES[0], "tuned-finite"
    steps = (
        (f"schedule of the thesis, {plain}", _THESIS, plain, "full", True),
        ("columns shared", _SHARED, plain, "spread", False),
        ("banks alternate", _SHARED, plain, "spread", True),
        ("addresses computed", _SHARED, plain, "full", True),
        (f"library {tuned}", _SHARED, tuned, "full", True),
        ("sums in fixed point", _FIXED, tuned, "full", True, _FLOAT),
        ("normals by a reciprocal root", _FIXED, tuned, "full", True),
    )
    found = [
        (
            text,
            *(
                bench.measured(schedule, library, "direct", given, turns, apart, normals=(*normals, _FIXED_POINT)[0])
                for apart in (False, True)
            ),
        )
        for text, schedule, library, given, turns, *normals in steps
    ]
    first, last = found[0][1].cycles, found[-1][1].cycles
    rows: list[Sequence[Json]] = []
    before = first
    for text, each, apart in found:
        saved = before - each.cycles
        share = 100 * saved / (first - last) if saved else None
        hidden = apart.cycles - each.cycles
        rows.append((text, each.cycles, saved, share, sum(each.waits.values()), apart.cycles, hidden))
        before = each.cycles
    columns = (
        Column("step", key="step"), Column("cycles", number, "cycles", bars=True), Column("saved", number, "saved"),
        Column("share", lambda share: "" if share is None else f"{share:.1f} %", "share_percent"),
        Column("waits", number, "wait_cycles"), Column("apart", number, "apart_cycles"),
        Column("hidden", number, "hidden_cycles"),
    )  # fmt: skip
    half, full = (bench.cycles(_THESIS, plain, "direct", given) for given in ("spread", "full"))
    same = "as many" if half == full else f"{number(half)} cycles and not {number(full)}"
    text = (
        "by cause; before addresses are computed the input is a random half of each module, for which the schedule of "
        f"the thesis takes {same}; apart: the same with each transfer only when its values are the next that are "
        "wanted; hidden: what overlap is worth, which both schedules have"
    )
    return [text, "", Table(columns, rows, key="causes")]
