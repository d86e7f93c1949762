"""Two machines side by side as a report: what both took, stages, instructions, bytes, and a tessellation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from larrabee_bridge.compare.bezier import BezierComparison
from pixelflow.simd.drawing import Comparison, DrawnFrame
from pixelflow.simd.report import Column, Json, Part, Table, counted, number, percent, plural, shares, verbatim

__all__ = ["bezier_object", "bezier_parts", "comparison_object", "comparison_parts", "side_object", "side_tables"]

_FIGURES: tuple[tuple[str, str, Callable[..., str], Callable[[DrawnFrame], float | None]], ...] = (
    ("clock, MHz", "clock_mhz", number, lambda side: side.clock_mhz),
    ("lanes", "lanes", number, lambda side: side.lanes),
    ("cycles for the picture", "cycles", number, lambda side: side.cycles),
    ("time for the picture, ms", "milliseconds", number, lambda side: side.milliseconds),
    ("busy cycles of all parts", "busy_cycles", number, lambda side: side.work),
    ("cycles x lanes, millions", "", number, lambda side: side.lane_cycles / 1e6),
    ("lanes of a block covered", "covered_lanes", percent, lambda side: side.covered_lanes),
    ("lanes enabled, all cycles", "enabled_lanes", percent, lambda side: side.enabled_lanes),
    ("instructions", "", number, lambda side: sum(side.mix.values())),
    ("bytes moved", "", number, lambda side: sum(side.traffic.values())),
)
"""What stands beside each other: label, key in JSON, how it is written, and where it is from."""


def comparison_parts(found: Comparison) -> Iterator[Part]:
    """Yield what holds for both, then stages, instructions and bytes of each."""
    same = "every pixel of both is the one of 64-bit integers" if found.identical else "PICTURES DIFFER"
    yield f"{counted(found.triangles, 'triangle')}, {found.dropped:,} without an area; {same}"
    rows = [(label, *(kind(of(side)) for side in found.sides)) for label, _, kind, of in _FIGURES]
    titles = (f"{side.machine} x{side.parts}" for side in found.sides)
    yield from ("", Table([Column("", fixed=True), *(Column(title, verbatim) for title in titles)], rows))
    for tables in zip(*map(side_tables, found.sides), strict=True):
        for table in tables:
            yield from ("", table)
    yield from ("", *(f"{side.machine}, {name}: {text}." for side in found.sides for name, text in side.facts))


def side_tables(side: DrawnFrame) -> Iterator[Table]:
    """Yield stages, instructions and bytes of one machine with their shares."""
    for title, values, unit in (
        (f"cycles {side.whose_stages}", side.stages, "cycles"),
        ("instructions", side.mix, "executed"),
        ("bytes moved", side.traffic, "bytes"),
    ):
        yield shares(values, unit, "what", foot="= all", title=f"{side.machine}: {title}")


def comparison_object(found: Comparison) -> dict[str, Json]:
    """Return a comparison as JSON holds it."""
    return {
        "triangles": found.triangles,
        "without_area": found.dropped,
        "identical": found.identical,
        "machines": [side_object(side) for side in found.sides],
    }


def side_object(side: DrawnFrame) -> dict[str, Json]:
    """Return one machine's account as JSON holds it."""
    return {
        **{key: of(side) for _, key, _, of in _FIGURES if key},
        "machine": side.machine,
        "parts": side.parts,
        "stages": side.stages,
        "stages_are": side.whose_stages,
        "instructions": side.mix,
        "bytes": side.traffic,
        "facts": [{"name": name, "text": text} for name, text in side.facts],
    }


def bezier_parts(found: BezierComparison, core_mhz: float) -> Iterator[Part]:
    """Yield the tessellation on both machines: cycles, time, error."""
    node = found.pixelflow
    rows = [
        ("clock, MHz", number(node.config.clock_mhz), number(core_mhz)),
        ("cycles", number(node.cycles), number(found.larrabee_cycles)),
        ("time, ms", number(node.seconds_at_clock * 1e3), number(found.larrabee_cycles / core_mhz / 1e3)),
        ("largest error / extent", f"{found.pixelflow_error:.1e}", f"{found.larrabee_error:.1e}"),
    ]
    columns = [Column("", fixed=True), *(Column(name, verbatim) for name in ("PixelFlow, 1 node", "Larrabee, 1 core"))]
    title = f"tessellation: {found.patches} patches, {found.samples}x{found.samples} samples, points and normals"
    yield from ("", Table(columns, rows, title))
    yield (
        f"PixelFlow's cycles are those of {plural(len(node.runs), 'pass')}, "
        "which take nearly as long for fewer patches than fit; Larrabee's grow with each patch."
    )


def bezier_object(found: BezierComparison, core_mhz: float) -> dict[str, Json]:
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
