"""The report of one tessellation on both machines, which stands beside a picture by both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from larrabee_bridge.compare.bezier import NO_TRIMS, BezierComparison, tessellate_on_both
from larrabee_bridge.vpu.core import CORE_MHZ, CoreConfig
from pixelflow.node import guesses
from pixelflow.simd.commands import Told
from pixelflow.simd.comparison import Beside
from pixelflow.simd.comparison.scorecard import standing_lines
from pixelflow.simd.config.constants import constants_of
from pixelflow.simd.drawing import DrawnFrame, Frame, Ground
from pixelflow.simd.report import Column, Json, Part, Table, number, plural, verbatim
from tessellation.picture import SAMPLES, SceneSource
from tessellation.rendering.account import grounds_of_nodes
from tessellation.surface.bpt import is_patches, load

__all__ = ["tessellated_on_both"]

_TITLE = "Tessellation on PixelFlow and Larrabee"

Standings: TypeAlias = Mapping[str, Mapping[str, str]]
"""By machine, of each figure."""


def tessellated_on_both(
    scene: str, how: SceneSource, told: Mapping[str, Told], frame: Frame, drawn: Sequence[DrawnFrame]
) -> Beside | None:
    """Tessellate named patches on both machines; None for other scenes, and where one of the two is not ``told``.

    Trimmed patches are left out, and it is said why.
    """
    if not is_patches(scene) or not {"pixelflow", "larrabee"} <= set(told):
        return None
    patches = load(scene).patches
    if any(patch.trim is not None for patch in patches):
        return Beside(_TITLE, (f"tessellation on both machines: left out; {NO_TRIMS}",), {"left_out": NO_TRIMS}, ())
    if how.progress is not None:
        how.progress("the tessellation on both machines")
    core, core_mhz = told["larrabee"].get("config"), told["larrabee"].get("core_mhz", CORE_MHZ)
    samples = how.patch_samples or SAMPLES
    found = tessellate_on_both(patches, samples, config=how.config, core=core, engine=how.engine)
    times = (
        ("PixelFlow", "tessellation, 1 node", found.pixelflow.seconds_at_clock * 1e3),
        ("Larrabee", "tessellation, 1 core", found.larrabee_cycles / core_mhz / 1e3),
    )
    standings = _standings(found, core)
    return Beside(_TITLE, tuple(_parts(found, core_mhz, standings)), _object(found, core_mhz, standings), times)


def _parts(found: BezierComparison, core_mhz: float, standings: Standings) -> Iterator[Part]:
    """Yield the tessellation on both machines: cycles, time, error."""
    node = found.pixelflow
    rows = [
        ("clock, MHz", number(node.config.clock_mhz), number(core_mhz)),
        ("cycles", number(node.cycles), number(found.larrabee_cycles)),
        ("time, ms", number(node.seconds_at_clock * 1e3), number(found.larrabee_cycles / core_mhz / 1e3)),
        ("largest error / extent", f"{found.pixelflow_error:.1e}", f"{found.larrabee_error:.1e}"),
    ]
    columns = [Column("", fixed=True), *(Column(name, verbatim) for name in ("PixelFlow, 1 node", "Larrabee, 1 core"))]
    title = (
        f"tessellation: {plural(found.patches, 'patch')}, {found.samples}x{found.samples} samples, points and normals"
    )
    yield Table(columns, rows, title)
    yield from standing_lines(standings)
    yield (
        f"PixelFlow's cycles are those of {plural(len(node.runs), 'pass')}, "
        "which take nearly as long for fewer patches than fit; Larrabee's grow with each patch."
    )


def _standings(found: BezierComparison, core: CoreConfig | None) -> Standings:
    """Return what the cycles are to be taken for: of the guesses that took part in a node, of a core's rates."""
    node = found.pixelflow
    pixelflow = grounds_of_nodes(guesses(node.runs, node.config), node.config, composed=False)["cycles"]
    grounds = {"PixelFlow": pixelflow, "Larrabee": Ground.executed(*constants_of(core or CoreConfig(), prefix="core."))}
    return {name: {"cycles": ground.standing.value} for name, ground in grounds.items()}


def _object(found: BezierComparison, core_mhz: float, standings: Standings) -> dict[str, Json]:
    """Return a tessellation on both machines as JSON holds it."""
    return {
        "standings": {name: dict(each) for name, each in standings.items()},
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
