"""Comparison (watching): one tessellation on both machines; scenes and patches of `tessellation` on Larrabee."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from larrabee_bridge.kernels.bezier import Tessellated, tessellate_on_vpu
from larrabee_bridge.line_streams import stream_line, streams_of
from larrabee_bridge.machine import MACHINE
from larrabee_bridge.pipeline.bins import TILES
from larrabee_bridge.pipeline.frame import PRIMSET
from larrabee_bridge.pipeline.front_end import FrontEndResult, FrontEndSetting, run_front_end
from larrabee_bridge.pipeline.picture import draw_on_larrabee
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.vpu.config import CORE_MHZ, CoreConfig
from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import guesses
from pixelflow.simd.commands import Told
from pixelflow.simd.comparison import Beside
from pixelflow.simd.comparison.scorecard import standings_of
from pixelflow.simd.configuration import Value, constants_of, leaves
from pixelflow.simd.drawing import LEAST_NEARNESS, NEAREST, TEXEL, DrawnFrame, Frame, Ground, ScreenTriangles
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.report import Column, Json, Part, Report, Table, number, percent, plural, verbatim
from tessellation import Mesh, Patch, Tessellation, build_mesh, evaluate, picture, scenes, tessellate
from tessellation.host.session import PassBegins
from tessellation.surface.bpt import is_patches, load
from tessellation.surface.patch import require_whole
from tessellation.surface.reference import PatchSamples, measure

# The same patches tessellated by PixelFlow's microcode and by a program for Larrabee's vector unit.


NO_TRIMS = "trims are counted by PixelFlow's array, and the vector unit has no program for that"
"""Reason for refusing trimmed patches."""


class BezierComparison(NamedTuple):
    """Points and normals of the same samples by one node and by one core, and their cycles.

    The node reads the patches from texture memory, the core from its memory; neither loading them nor the transport of
    results is counted.
    """

    patches: int
    samples: int
    pixelflow: Tessellation
    larrabee: tuple[Tessellated, ...]
    """One for each pair of degrees."""
    pixelflow_error: float
    """Largest distance of a coordinate from float64's, as a share of the model's extent."""
    larrabee_error: float

    @property
    def larrabee_cycles(self) -> int:
        """Cycles of one core for all patches."""
        return sum(each.timing.cycles for each in self.larrabee)

    @property
    def larrabee_mix(self) -> dict[str, int]:
        """Instructions by family."""
        found: dict[str, int] = {}
        for each in self.larrabee:
            for family, count in each.timing.counts.items():
                if count:
                    found[family.value] = found.get(family.value, 0) + count
        return found


def tessellate_on_both(
    patches: Sequence[Patch],
    samples: int,
    *,
    config: NodeConfig = THESIS,
    core: CoreConfig | None = None,
    engine: str = AUTO,
    progress: Callable[[PassBegins], None] | None = None,
) -> BezierComparison:
    """Tessellate patches at ``samples`` x ``samples`` parameters on a node and on a core.

    Raises InputError for trimmed patches.
    """
    require_whole(patches, NO_TRIMS)
    by_node = tessellate(patches, samples, engine=engine, config=config, progress=progress)
    groups = by_degrees(patches)
    by_core = tuple(
        tessellate_on_vpu(np.stack([patches[number].points32 for number in group]), samples, config=core)
        for group in groups
    )
    exact = {
        number: points
        for group in groups
        for number, points in zip(group, _exact(patches, group, samples), strict=True)
    }
    extent = float(np.ptp(np.concatenate([points.reshape(-1, 3) for points in exact.values()]), axis=0).max())
    node_error = max(float(np.abs(found.points - exact[k]).max()) for k, found in enumerate(by_node.patches))
    core_error = max(
        float(np.abs(run.points[place] - exact[number]).max())
        for run, group in zip(by_core, groups, strict=True)
        for place, number in enumerate(group)
    )
    return BezierComparison(len(patches), samples, by_node, by_core, node_error / extent, core_error / extent)


def _exact(patches: Sequence[Patch], group: list[int], samples: int) -> np.ndarray:
    """Return float64 points [patch, i, j, xyz] of control points that were rounded to binary32, as both machines do."""
    return evaluate(np.stack([patches[number].points for number in group]), samples).points


def by_degrees(patches: Sequence[Patch]) -> list[list[int]]:
    """Return the numbers of patches in groups of one pair of degrees, which one run takes."""
    degrees = sorted({patch.degrees for patch in patches})
    return [[number for number, patch in enumerate(patches) if patch.degrees == pair] for pair in degrees]


def mesh_on_larrabee(
    patches: Sequence[Patch], samples: int, *, config: CoreConfig | None = None, engine: str = AUTO
) -> tuple[Mesh, tuple[Tessellated, ...]]:
    """Tessellate patches on one core and weld their samples; return the mesh, and each run: one a pair of degrees.

    Raises InputError for degrees beyond 11, and for trimmed patches.
    """
    require_whole(patches, NO_TRIMS)
    found: dict[int, PatchSamples] = {}
    runs = []
    for group in by_degrees(patches):
        members = [patches[number] for number in group]
        nets = np.stack([patch.points32 for patch in members])
        run = tessellate_on_vpu(nets, samples, config=config, engine=engine)
        assert run.normals is not None  # unless one asks for none
        runs.append(run)
        reference = evaluate(np.stack([patch.points for patch in members]), samples)
        found |= zip(group, measure(members, run.points, run.normals, reference), strict=True)
    return build_mesh([found[number] for number in range(len(patches))], weld=True), tuple(runs)


# The report of one tessellation on both machines, which follows the comparison of a picture.


_TITLE = "Tessellation on PixelFlow and Larrabee"

Standings: TypeAlias = Mapping[str, Mapping[str, str]]
"""By machine, of each figure."""


def tessellated_on_both(
    scene: str, how: picture.SceneSource, told: Mapping[str, Told], frame: Frame, drawn: Sequence[DrawnFrame]
) -> Beside | None:
    """Tessellate named patches on both machines; None for other scenes, or if only one machine has options.

    Trimmed patches are left out with a reason.
    """
    if not is_patches(scene) or not {"pixelflow", "larrabee"} <= set(told):
        return None
    patches = load(scene).patches
    if any(patch.trim is not None for patch in patches):
        return Beside(_TITLE, (f"tessellation on both machines: left out; {NO_TRIMS}",), {"left_out": NO_TRIMS}, ())
    if how.progress is not None:
        how.progress("the tessellation on both machines")
    core, core_mhz = told["larrabee"].get("config"), told["larrabee"].get("core_mhz", CORE_MHZ)
    samples = how.patch_samples or picture.SAMPLES
    found = tessellate_on_both(patches, samples, config=how.config, core=core, engine=how.engine)
    times = (
        ("PixelFlow", "tessellation, 1 node", found.pixelflow.seconds_at_clock * 1e3),
        ("Larrabee", "tessellation, 1 core", found.larrabee_cycles / core_mhz / 1e3),
    )
    standings = _standings(found, core)
    return Beside(_TITLE, tuple(_parts(found, core_mhz)), _object(found, core_mhz, standings), times)


def _parts(found: BezierComparison, core_mhz: float) -> Iterator[Part]:
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
    yield (
        f"PixelFlow's cycles are those of {plural(len(node.runs), 'pass')}, "
        "which take nearly as long for fewer patches than fit; Larrabee's grow with each patch."
    )


def _standings(found: BezierComparison, core: CoreConfig | None) -> Standings:
    """Return the standing of the cycles, from the guesses used by a node and the rates of a core."""
    node = found.pixelflow
    from tessellation.rendering.account import grounds_of_nodes  # a picture of one machine does without the other's

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


# A scene from its vertices: Larrabee's front end projects each body with the camera of the whole scene.
#
# Camera, light and texture coordinates are the host's, as for PixelFlow. Generated draws have vertices on the screen
# alone and are not changed.


class FromVertices(NamedTuple):
    """A frame whose triangles a front end has made, and the front end of each draw; None for generated draws."""

    frame: Frame
    fronts: tuple[FrontEndResult | None, ...]
    offset: picture.Offset

    @property
    def results(self) -> Iterator[FrontEndResult]:
        """Front ends of the draws that have vertices."""
        return (front for front in self.fronts if front is not None)


def project_on_larrabee(
    frame: Frame,
    bodies: Sequence[scenes.Body],
    view: picture.View,
    *,
    tile: int = 64,
    primset: int = PRIMSET,
    config: CoreConfig | None = None,
    engine: str = AUTO,
) -> FromVertices:
    """Project the bodies of a frame's first draws in float32; states and other draws stay.

    Both sides of triangles are drawn, as on the host; those that reach no pixel are left out. Raises InputError for
    vertices that float32 cannot hold.
    """
    if not bodies:
        return FromVertices(frame, (None,) * len(frame.draws), picture.Offset())
    points = np.concatenate([body.points for body in bodies])
    standpoint = picture.widened_for_floats(picture.Standpoint.of(points, view), points)
    matrix = picture.clip_matrix(standpoint)
    draws, offset = list(frame.draws), picture.Offset()
    fronts: list[FrontEndResult | None] = [None] * len(frame.draws)
    for number, body in enumerate(bodies):
        fronts[number] = front = run_front_end(
            body.points,
            picture.lit_corners(
                body.points, body.normals, body.corners, standpoint, flat=body.flat, colour=body.colour
            ),
            body.corners,
            matrix,
            FrontEndSetting(frame.width, frame.height, tile, primset, samples=frame.samples),
            config=config,
            engine=engine,
        )
        triangles = _with_texels(front, body)
        if draws[number].triangles.nearness is not None:
            triangles = replace(triangles, nearness=_nearness(front, body, standpoint))
        draws[number] = replace(draws[number], triangles=triangles)
        offset = offset.with_other(_offset(front, body, standpoint))
    return FromVertices(replace(frame, draws=tuple(draws)), tuple(fronts), offset)


def _with_texels(front: FrontEndResult, body: scenes.Body) -> ScreenTriangles:
    """Return the triangles with the texture coordinates of their corners, where the body has a texture."""
    coordinates = scenes.texture_coordinates(body)
    if coordinates is None:
        return front.triangles
    of_corners = coordinates[body.corners[front.source]]
    texels = np.rint(np.einsum("tck,tkr->tcr", front.weights, of_corners) * TEXEL).astype(np.int64)
    return replace(front.triangles, coordinates=texels)


def _nearness(front: FrontEndResult, body: scenes.Body, standpoint: picture.Standpoint) -> np.ndarray:
    """Return the nearness of the triangles' corners; along an edge that was cut distances are linear."""
    distances = standpoint.distances(body.points)[body.corners[front.source]]
    shares = standpoint.nearness(np.einsum("tck,tk->tc", front.weights, distances))
    return np.clip(np.rint(shares * NEAREST).astype(np.int64), LEAST_NEARNESS, NEAREST - 1)


def _offset(front: FrontEndResult, body: scenes.Body, standpoint: picture.Standpoint) -> picture.Offset:
    whole = (front.weights.max(axis=2) == 1).all(axis=1)
    vertex = np.take_along_axis(body.corners[front.source], front.weights.argmax(axis=2), axis=1)[whole].reshape(-1)
    vertices, first = np.unique(vertex, return_index=True)
    corners = front.triangles.corners[whole].reshape(-1, 2)[first]
    depths = front.triangles.depths[whole].reshape(-1)[first]
    return picture.Offset.of(standpoint, body.points[vertices], corners, depths)


# Tile sizes of a picture, each executed: latency, throughput, imbalance and waiting, added to a comparison.


def in_every_tile(
    scene: str, how: picture.SceneSource, told: Mapping[str, Told], frame: Frame, drawn: Sequence[DrawnFrame]
) -> Beside | None:
    """Draw a frame in tiles of the other sizes as well; None if Larrabee has no options."""
    words = told.get(MACHINE.name)
    if words is None or MACHINE.draw is None:
        return None
    (own,) = (side for name, side in zip(told, drawn, strict=True) if name == MACHINE.name)
    sides = {
        tile: own if tile == words["tile"] else MACHINE.draw(frame, progress=how.progress, **{**words, "tile": tile})
        for tile in TILES
    }
    latency = min(sides, key=lambda tile: sides[tile].cycles)
    interval = min(sides, key=lambda tile: sides[tile].next_after)
    columns = (
        Column("tile", number, "tile"), Column("cycles (latency)", number, "cycles"),
        Column("to the next one", number, "next_after"), Column("lost to imbalance", percent, "imbalance"),
        Column("other waiting", percent, "waiting"),
    )  # fmt: skip
    cells: list[list[Json]] = [
        [tile, side.cycles, side.next_after, side.imbalance, side.waiting] for tile, side in sides.items()
    ]
    data: dict[str, Json] = {
        "best_latency": latency,
        "best_throughput": interval,
        "tiles": [dict(zip([each.key for each in columns], row, strict=True)) for row in cells],
    }
    text = (
        f"least latency in tiles of {latency}, {number(sides[latency].cycles)} cycles; highest throughput in tiles of "
        f"{interval}, {number(sides[interval].next_after)} cycles a picture; all other figures are of tiles of "
        f"{words['tile']}"
    )
    figures = {
        "cycles (latency)": ("cycles",), "to the next one": ("next_after",), "lost to imbalance": ("imbalance",),
        "other waiting": ("waiting",),
    }  # fmt: skip
    standings = standings_of([(own.machine, side) for side in sides.values()], figures)
    data["standings"] = {name: dict(each) for name, each in standings.items()}
    table = Table(columns, cells)
    return Beside("Larrabee in tiles of every size", (table, text), data, ())


# Sensitivity: change of a picture's cycles for other values of the model, the largest change first.
#
# Each value of the core and of the texture unit declares which other values are tried (`moved`). Pictures start from
# triangles on the screen, as in `compare`; vertices, bins and planes are executed.


CORES = 10
_SCENES = ("still", "glass")
_SIZE = (320, 240)

Values = TypeVar("Values", CoreConfig, TextureConfig)
"""A group of values of the model."""


class _Model(NamedTuple):
    core: CoreConfig
    texture: TextureConfig

    def cycles(self, frame: Frame) -> int:
        """Return the cycles of a frame on the cores."""
        return draw_on_larrabee(frame, parts=CORES, config=self.core, texture=self.texture).cycles


def larrabee_sensitivity(tell: Callable[[str], None], size: tuple[int, int] = _SIZE) -> Report:
    """Return the table of two pictures on ten cores, executed; values without effect are listed last."""
    from tessellation.studies import MovedGuess, moved_table

    frames = [scenes.load_scene(name, picture.SceneSource(size=size)).frame for name in _SCENES]
    usual = _Model(CoreConfig(caches=True), TextureConfig())
    base = [usual.cycles(frame) for frame in frames]
    changes = []
    for key, value, text, standing, model in _moves(usual):
        tell(f"{key} = {value}")
        taken = [model.cycles(frame) for frame in frames]
        percent = tuple(100 * (after / before - 1) for after, before in zip(taken, base, strict=True))
        changes.append(MovedGuess(key, str(value).lower(), text, standing, percent))
    streams = streams_of(usual.core)
    table, nothing = moved_table("value", dict(zip(_SCENES, _SCENES, strict=True)), changes)
    shown = ", ".join(f"{name} ({cycles:,})" for name, cycles in zip(_SCENES, base, strict=True))
    return Report(
        "sensitivity of Larrabee",
        (f"{CORES} cores", "{}x{}".format(*size), "executed"),
        results=[
            f"change of cycles in percent: {shown} cycles, starting with triangles on the screen",
            "",
            table,
            "",
            f"no change in any of them: {', '.join(nothing) or 'none'}",
            "",
            *map(stream_line, streams),
        ],
        schema="pixelflow.study.sensitivity-larrabee/1",
        data={
            "without_change": nothing,
            "cycles": dict(zip(_SCENES, base, strict=True)),
            "streams": {
                each.name: {"cycles": each.cycles, "limits": dict(each.limits), "cores": each.cores} for each in streams
            },
        },
    )


def _moves(usual: _Model) -> Iterator[tuple[str, Value, str, str, _Model]]:
    """Yield key, other value, text, standing, and the model that has it."""
    for key, about, value, _ in leaves(usual.core):
        for other in about.moved:
            if other != value:
                moved = usual._replace(core=_with(usual.core, key, other))
                yield key, other, about.text, about.standing.value, moved
    for key, about, value, _ in leaves(usual.texture):
        for other in about.moved:
            if other != value:
                moved = usual._replace(texture=_with(usual.texture, key, other))
                yield f"texture.{key}", other, about.text, about.standing.value, moved


def _with(values: Values, key: str, value: Value) -> Values:
    """Return the values with one of them replaced."""
    return type(values)(**{each.name: getattr(values, each.name) for each in fields(values)} | {key: value})
