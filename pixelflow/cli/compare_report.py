"""Two machines side by side: the tables of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pixelflow.cli.screen import Column, Screen, counted, number

if TYPE_CHECKING:
    from larrabee_bridge.compare import BezierComparison
    from pixelflow.simd.drawing import Comparison, DrawnFrame

__all__ = ["bezier_object", "comparison_object", "percent", "show_bezier", "show_comparison", "side_object"]


def show_comparison(screen: Screen, found: Comparison) -> None:
    """Print what holds for both, then stages, instructions and bytes of each."""
    first, second = found.sides
    screen.paragraph(
        f"{counted(found.triangles, 'triangle')}, {found.dropped:,} without an area; "
        + ("every pixel of both is the one of 64-bit integers" if found.identical else "PICTURES DIFFER")
    )
    screen.text()
    columns = [Column("", fixed=True), *(Column(_title(side), numbers=True) for side in found.sides)]
    screen.table(columns, [[name, of(first), of(second)] for name, of in _ROWS])
    for title, of, unit in (
        (lambda side: f"cycles {side.whose_stages}", lambda side: side.stages, "cycles"),
        (lambda side: "instructions", lambda side: side.mix, "executed"),
        (lambda side: "bytes moved", lambda side: side.traffic, "bytes"),
    ):
        for side in found.sides:
            screen.text()
            _shares(screen, f"{side.machine}: {title(side)}", of(side), unit)
    screen.text()
    for side in found.sides:
        for name, text in side.facts:
            screen.paragraph(f"{side.machine}, {name}: {text}.")


def percent(share: float | None) -> str:
    """Return a share in per cent, a dash for what is not known."""
    return "-" if share is None else f"{100 * share:.2g} %" if share < 0.01 else f"{100 * share:.1f} %"


def _title(side: DrawnFrame) -> str:
    return f"{side.machine} x{side.parts}"


_ROWS: Sequence[tuple[str, Callable[[Any], str]]] = (
    ("clock, MHz", lambda side: number(side.clock_mhz)),
    ("lanes", lambda side: number(side.lanes)),
    ("cycles for the picture", lambda side: number(side.cycles)),
    ("time for the picture, ms", lambda side: number(side.milliseconds)),
    ("busy cycles of all parts", lambda side: number(side.work)),
    ("cycles x lanes, millions", lambda side: number(side.lane_cycles / 1e6)),
    ("lanes of a block covered", lambda side: percent(side.covered_lanes)),
    ("lanes enabled, all cycles", lambda side: percent(side.enabled_lanes)),
    ("instructions", lambda side: number(sum(side.mix.values()))),
    ("bytes moved", lambda side: number(sum(side.traffic.values()))),
)


def _shares(screen: Screen, title: str, values: dict[str, int], unit: str) -> None:
    total = sum(values.values())
    rows = [[number(value), f"{100 * value / total:.1f} %" if total else "-", name] for name, value in values.items()]
    columns = [Column(unit, numbers=True), Column("share", numbers=True), Column("what")]
    screen.table(columns, [*rows, [number(total), "100.0 %" if total else "-", "= all"]], title=title)


def comparison_object(found: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON holds it."""
    return {
        "triangles": found.triangles,
        "without_area": found.dropped,
        "identical": found.identical,
        "machines": [side_object(side) for side in found.sides],
    }


def side_object(side: DrawnFrame) -> dict[str, Any]:
    """Return one machine's account as JSON holds it."""
    return {
        "machine": side.machine,
        "parts": side.parts,
        "lanes": side.lanes,
        "clock_mhz": side.clock_mhz,
        "cycles": side.cycles,
        "milliseconds": side.milliseconds,
        "busy_cycles": side.work,
        "covered_lanes": side.covered_lanes,
        "enabled_lanes": side.enabled_lanes,
        "stages": side.stages,
        "stages_are": side.whose_stages,
        "instructions": side.mix,
        "bytes": side.traffic,
        "facts": [{"name": name, "text": text} for name, text in side.facts],
    }


def show_bezier(screen: Screen, found: BezierComparison, core_mhz: float) -> None:
    """Print the tessellation on both machines: cycles, time, error."""
    node, config = found.pixelflow, found.pixelflow.config
    passes = len(node.runs)
    screen.text()
    rows = [
        ["clock, MHz", number(config.clock_mhz), number(core_mhz)],
        ["cycles", number(node.cycles), number(found.larrabee_cycles)],
        ["time, ms", number(node.seconds_at_clock * 1e3), number(found.larrabee_cycles / core_mhz / 1e3)],
        ["largest error / extent", f"{found.pixelflow_error:.1e}", f"{found.larrabee_error:.1e}"],
    ]
    columns = [
        Column("", fixed=True),
        *(Column(name, numbers=True) for name in ("PixelFlow, 1 node", "Larrabee, 1 core")),
    ]
    title = f"tessellation: {found.patches} patches, {found.samples}x{found.samples} samples, points and normals"
    screen.table(columns, rows, title=title)
    screen.paragraph(
        f"PixelFlow's cycles are those of {passes} {'pass' if passes == 1 else 'passes'}, "
        "which take nearly as long for fewer patches than fit; Larrabee's grow with each patch."
    )


def bezier_object(found: BezierComparison, core_mhz: float) -> dict[str, Any]:
    """Return a tessellation on both machines as JSON holds it."""
    return {
        "patches": found.patches,
        "samples": found.samples,
        "pixelflow": {
            "cycles": found.pixelflow.cycles,
            "clock_mhz": found.pixelflow.config.clock_mhz,
            "stages": found.pixelflow.cycles_by_stage,
            "error_of_extent": found.pixelflow_error,
        },
        "larrabee": {
            "cycles": found.larrabee_cycles,
            "clock_mhz": core_mhz,
            "instructions": found.larrabee_mix,
            "error_of_extent": found.larrabee_error,
        },
    }
