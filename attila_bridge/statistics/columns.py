"""Columns: the figures of a run that come first, under the names that tables of recorded runs have."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["columns_of"]

_PLAIN = (
    "IndexesSent_StF", "Hits_StOC", "Misses_StOC", "Triangles_PA", "OutputTriangles_CLP",
    "InputTriangles_TS", "InputTriangles_TT", "GeneratedFragments_TT", "OutputFragments_HZ",
    "CulledOutsideFragments_HZ", "CulledHZFragments_HZ", "InputFragments_FFU", "ShadedFragments_FFU",
    "OutputFragments_FFU",
)  # fmt: skip
"""Statistics of units that there is one of."""
_SUMS = {
    "shader_inputs": ("Inputs", "ShF"),
    "executed_instructions": ("ExecutedInstructions", "ShDX"),
    "texture_requests": ("TextureRequests", "TU"),
    "bilinear_samples": ("BilinearSamples", "TU"),
    "texture_fetch_hits": ("HitsFetch", "FC64_TU"),
    "texture_fetch_misses_ok": ("MissOKFetch", "FC64_TU"),
    "texture_bytes": ("TextureUnitReadBytes", "MC"),
    "z_tested": ("TestedFragments", "ZST"),
    "z_passed": ("PassedFragments", "ZST"),
    "z_read_bytes": ("ReadBytes", "ZST"),
    "z_write_bytes": ("WriteBytes", "ZST"),
    "color_operated_quads": ("OperatedFragments", "CW"),
    "color_blended": ("BlendedFragments", "CW"),
    "color_read_bytes": ("ReadBytes", "CW"),
    "color_write_bytes": ("WriteBytes", "CW"),
}
"""Columns that add up over units: the statistic and the kind of unit."""
_DRAWING = ("Draw", "EndGeometry", "EndFragment")
_PHASES = ("Ready", *_DRAWING, "Clear", "MemoryWrite", "MemoryRead", "Swap")


def columns_of(
    phases: Mapping[str, int], rendered: int, cycles: int, counts: Mapping[str, Mapping[str, int]]
) -> dict[str, int]:
    """Return columns by name; ``counts`` are those of each unit by its name, such as ``ShF-FS0``."""
    found = {
        "cycles": cycles,
        "cycles_rendered": rendered,
        "cycles_drawing": sum(phases.get(each, 0) for each in _DRAWING),
        **{f"cp_{each}": phases.get(each, 0) for each in _PHASES},
    }
    for column in _PLAIN:
        name, _, unit = column.rpartition("_")
        found[column] = counts.get(unit, {}).get(name, 0)
    for column, (name, kind) in _SUMS.items():
        found[column] = sum(each.get(name, 0) for unit, each in counts.items() if unit.partition("-")[0] == kind)
    return found
