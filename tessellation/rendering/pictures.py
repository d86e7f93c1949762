"""Pictures by PixelFlow's nodes for commands, and their reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pixelflow.config import NodeConfig
from pixelflow.node import guesses, set_in_vain, stages_of
from pixelflow.simd.drawing import Draw, Frame, Picture, ScreenTriangles, State, draw, draw_frame
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Json, Report, counted, facts, largest, machine_time, shares
from tessellation import Tessellation, load
from tessellation.host.kept_model import origin
from tessellation.host.tessellator import trims_of
from tessellation.picture import BACKGROUND, SAMPLES, SIZE, PictureOrder, SceneSource, View, lit_triangles
from tessellation.rendering.account import LAST_LAYER, uncounted_pixels, uncounted_work
from tessellation.rendering.composition import (
    NETWORK_KEYS,
    SAMPLE_STAGE,
    draw_on_nodes,
    network_facts,
    network_figure,
    network_object,
    network_table,
    require_shaders,
    set_for_nothing,
)
from tessellation.rendering.instruction_words import InstructionWords, draw_words, generate_words, word_data, word_facts
from tessellation.rendering.instructions import COPY_STAGE
from tessellation.rendering.materials import require_deferred
from tessellation.rendering.network import Roles
from tessellation.rendering.projection import Projected, project_samples
from tessellation.rendering.renderer import require_plain, require_region
from tessellation.rendering.shading_raster import BLEND_STAGE
from tessellation.sampling import SampleChoice, choice_facts
from tessellation.surface.bpt import PatchFile, is_patches

if TYPE_CHECKING:
    from pixelflow.node import Run
    from pixelflow.simd.configuration import Effective
    from tessellation.rendering import NetworkTime, NodeRuns
    from tessellation.scenes import Scene

# The report of a picture: cycles by stage, machine time, projection and composition.


_MOST_STAGES = 7
"""Stages in a brief."""


class DrawnPicture(NamedTuple):
    """A picture and the runs of each node."""

    triangles: ScreenTriangles
    size: tuple[int, int]
    background: tuple[int, int, int]
    tessellations: tuple[Tessellation, ...]
    projected: Projected | None
    nodes: Sequence[NodeRuns]
    picture: Picture
    composition: NetworkTime | None
    words: InstructionWords | None = None
    loading: Sequence[Run] = ()
    """Loads of textures, one for each node that reads any."""
    samples: int = 1
    """Samples per pixel."""
    choice: SampleChoice | None = None

    @property
    def slowest(self) -> int:
        """Cycles of the slowest node; nodes draw concurrently."""
        return max(node.cycles for node in self.nodes)

    @property
    def cycles(self) -> int:
        """Cycles of the one node, or until the frame buffer has all pixels."""
        return self.composition.cycles if self.composition else self.slowest

    @property
    def tessellation_cycles(self) -> int | None:
        """Cycles of all earlier tessellations, or None for none."""
        return sum(each.cycles for each in self.tessellations) if self.tessellations else None


def picture_report(
    scene: str, output: str, engine: str, effective: Effective[NodeConfig], drawn: DrawnPicture, *, same: bool
) -> Report:
    """Return the work, the cycles of each stage, and the machine time."""
    config, nodes, once = effective.config, drawn.nodes, drawn.tessellations
    width, height = drawn.size
    reached = sum(node.drawn for node in nodes) // drawn.samples
    total = sum(node.cycles for node in nodes)
    stages = _by_stage(drawn)
    besides, deferred = stages["clear"] + stages.get(COPY_STAGE, 0), SAMPLE_STAGE in stages
    several, each = len(nodes) > 1, (total - besides) / max(1, reached)
    rows = [
        ("machine time", f"{config.seconds(drawn.cycles) * 1e3:,.4g} ms at {config.clock_mhz} MHz"),
        ("", f"until the frame buffer has all pixels ({drawn.cycles:,} cycles)" if several else ""),
        ("per triangle", "" if deferred else f"{each:.1f} cycles in each region that it reaches"),
        ("reference", "every pixel equal" if same else "PIXELS DIFFER"),
        ("not counted", _work_of_gps(drawn)),
        *(("", text) for text in _trims(drawn)),
        ("", LAST_LAYER if BLEND_STAGE in stages else ""),
        ("", uncounted_pixels(width, height, composed=drawn.composition is not None)),
        ("tessellation", f"{drawn.tessellation_cycles:,} cycles before{origin(once)}" if once else ""),
        ("textures", _loading(drawn)),
        *choice_facts(drawn.choice),
        *_projection_facts(drawn.projected),
        *(word_facts(drawn.words) if drawn.words else ()),
        *(network_facts(drawn.composition, drawn.slowest, effective) if drawn.composition else ()),
        ("wrote", output),
    ]
    foot = f"= all of {len(nodes)} nodes together" if several else "= all"
    used = guesses([each.run for node in nodes for each in node.regions], config)
    gone = f", {drawn.triangles.dropped:,} {_gone(drawn)}" if drawn.triangles.dropped else ""
    work = (
        f"{counted(len(drawn.triangles), 'triangle')} ({_shading(drawn.triangles)}){gone}; "
        f"{counted(nodes[0].places, 'region')}, {reached:,} pairs of a triangle and a region"
        f"{', at 4 samples a pixel' * (drawn.samples > 1)}"
    )
    time = f"{machine_time(config.seconds(drawn.cycles))} at {config.clock_mhz} MHz"
    equal = "every pixel equal" if same else "PIXELS DIFFER"
    most = largest(_by_role(drawn), _MOST_STAGES)
    labels = [label for label, _ in rows]
    first = labels.index("not counted")
    brief = [row for at, row in enumerate(rows) if first <= at < labels.index("tessellation")]
    brief += [row for row in rows if row[0] in ("tessellation", "picture", "wrote")]
    return Report(
        "pixelflow render",
        (scene, f"{width}x{height}", effective.label, f"engine {engine}"),
        [
            work,
            "",
            shares(_by_role(drawn), "cycles", "stage", total=total, foot=foot),
            "",
            *facts(rows),
            *(("", network_table(drawn.composition)) if drawn.composition else ()),
            *used.parts,
        ],
        brief=[
            f"{scene}, {width}x{height}: {drawn.cycles:,} cycles, {time}; {equal}",
            work,
            f"{effective.label} · engine {engine}",
            "",
            shares(most, "cycles", "stage", total=total, foot=foot),
            "",
            *facts(brief),
            used.line,
        ],
        schema="pixelflow.render/1",
        figures=[network_figure(drawn.composition)] if drawn.composition else (),
        data={
            "scene": scene,
            "engine": engine,
            "equals_reference": same,
            "stage_cycles": total,
            "facts": [list(row) for row in rows if row[1]],
            "guesses": used.as_object(),
            **_object(effective, drawn),
        },
        notes=_in_vain(effective, drawn),
        failure=None if same else "the picture differs from the one drawn in 64-bit integers",
    )


def _loading(drawn: DrawnPicture) -> str:
    """Return the cost of loading textures, once for all pictures."""
    if not drawn.loading:
        return ""
    return (
        f"{max(run.cycles for run in drawn.loading):,} cycles before, by each of {counted(len(drawn.loading), 'node')}"
    )


def _gone(drawn: DrawnPicture) -> str:
    cut = drawn.words is not None and bool(drawn.words.clipping.planes)
    return "cut away or without an area" if cut else "without an area"


def _shading(triangles: ScreenTriangles) -> str:
    flat = triangles.flat
    return "flat" if flat.all() else "flat and Gouraud" if flat.any() else "Gouraud"


def _projection_facts(projected: Projected | None) -> list[tuple[str, str]]:
    if projected is None:
        return []
    off = projected.difference
    stages = ", ".join(f"{name} {cycles:,}" for name, cycles in projected.cycles_by_stage.items())
    return [
        ("projection", f"{projected.cycles:,} cycles on the EMCs before"),
        ("", stages),
        ("", f"within {off.pixels:.1e} pixels of 64 bits ({100 * off.share:.0f} % of the bound)"),
        ("", f"{off.moved:,} of {counted(len(projected.screen), 'sample')} on another 1/256 pixel"),
    ]


def _work_of_gps(drawn: DrawnPicture) -> str:
    return uncounted_work(
        chosen=drawn.choice is not None,
        projected=drawn.projected is not None,
        words=drawn.words is not None,
        textures=bool(drawn.loading),
    )


def _trims(drawn: DrawnPicture) -> Iterator[str]:
    """Yield the work of GPs on trims, which takes no cycles."""
    for each in drawn.tessellations:
        account = trims_of(each)
        yield from account.not_counted if account is not None else ()


def _in_vain(effective: Effective[NodeConfig], drawn: DrawnPicture) -> list[str]:
    """Return a note for each value that was set and made no difference to the execution or composition."""
    runs = [
        *(run for each in drawn.tessellations for run in each.runs),
        *(drawn.projected.runs if drawn.projected else ()),
        *drawn.loading,
        *(each.run for node in drawn.nodes for each in node.regions),
    ]
    alone = [note for note in set_in_vain(runs, effective) if not note.startswith(f"note: {NETWORK_KEYS}")]
    return alone if drawn.composition is not None else [*set_for_nothing(effective), *alone]


def _by_role(drawn: DrawnPicture) -> dict[str, int]:
    """Return cycles by stage, or by role and stage if there are shaders."""
    if drawn.composition is None or not drawn.composition.roles.shaders:
        return _by_stage(drawn)
    found: Counter[str] = Counter()
    for node in drawn.nodes:
        role = node.name.rpartition(" ")[0]
        found.update({f"{role}s: {name}": cycles for name, cycles in node.cycles_by_stage.items()})
    return dict(found)


def _by_stage(drawn: DrawnPicture) -> dict[str, int]:
    return stages_of([region for node in drawn.nodes for region in node.regions])


def _object(effective: Effective[NodeConfig], drawn: DrawnPicture) -> dict[str, Json]:
    """Return the account of a picture for JSON."""
    return {
        "size": list(drawn.size),
        "samples": drawn.samples,
        "config": effective.as_object(),
        "triangles": {
            "drawn": len(drawn.triangles),
            "without_area": drawn.triangles.dropped,
            "times_regions": sum(node.drawn for node in drawn.nodes),
        },
        "nodes": [
            {
                "node": node.name,
                "cycles": node.cycles,
                "stages": node.cycles_by_stage,
                "regions": [
                    {"left": each.left, "top": each.top, "triangles": each.triangles, "cycles": each.cycles}
                    for each in node.regions
                ],
            }
            for node in drawn.nodes
        ],
        "cycles": drawn.cycles,
        "slowest_node_cycles": drawn.slowest,
        "seconds_at_clock": effective.config.seconds(drawn.cycles),
        "composition_cycles": drawn.composition.cycles - drawn.slowest if drawn.composition else None,
        "composition": network_object(drawn.composition, effective) if drawn.composition else None,
        "texture_loading_cycles": [run.cycles for run in drawn.loading],
        "tessellation_cycles": drawn.tessellation_cycles,
        "tessellation_from_store": any(each.is_stored for each in drawn.tessellations),
        "projection": _projection_object(drawn.projected),
        "sampling": drawn.choice.as_object() if drawn.choice else None,
        "words": word_data(drawn.words) if drawn.words else None,
    }


def _projection_object(projected: Projected | None) -> dict[str, Json] | None:
    if projected is None:
        return None
    off = projected.difference
    return {
        "cycles": projected.cycles,
        "stages": projected.cycles_by_stage,
        "largest_difference": {"pixels": off.pixels, "depth": off.depth, "share_of_bound": off.share},
        "samples": len(projected.screen),
        "samples_on_another_step": off.moved,
    }


# A picture by PixelFlow's nodes, which may also project the samples of their tessellation.


Require = Callable[[Sequence[tuple[str, State]], int], None]
"""Check of the names and states of draws at a number of samples per pixel; raises InputError."""


def refused_early(config: NodeConfig) -> Require:
    """Return the check for draws that a node cannot draw; raises InputError for a node that cannot draw at all."""
    require_region(config)
    return lambda draws, samples: require_deferred(draws)


def _required(roles: Roles, source: SceneSource) -> Require:
    """Return the check of the source, and of draws that nodes in these roles cannot draw."""

    def require(draws: Sequence[tuple[str, State]], samples: int) -> None:
        if source.require is not None:
            source.require(draws, samples)
        require_shaders(roles, (state for _, state in draws), samples)

    return require


def refused_in_animations(config: NodeConfig, *, anew: bool) -> Require:
    """Return the check for animations, which allows plain draws only if patches are tessellated ``anew``.

    Textures would overwrite the patches, and shading uses the ports over which results return.
    """
    require_region(config)
    return require_plain if anew else refused_early(config)


def picture_by_nodes(order: PictureOrder[Scene]) -> tuple[Picture, Report]:
    """Draw what was ordered; with the projection ``emc`` the node also projects, with ``emc-words`` it makes words.

    Raises UsageError for a projection of a scene that is not patches.
    """
    config, source = order.effective.config, order.source
    if order.projection == "emc-words":
        return _picture_of_words(order)
    roles = Roles.told(order.told.get("parts", 1), order.told.get("shaders", 0))
    projected, choice = None, None
    if order.projection == "emc":
        triangles, tessellations, projected = _projected(order.scene, source)
        frame = Frame(*(source.size or SIZE), BACKGROUND, (Draw("patches", triangles),), source.samples or 1)
    else:
        scene = replace(order, source=source._replace(require=_required(roles, source))).load()
        frame, tessellations, choice = scene.frame, scene.tessellations, scene.choice
    composed = draw_on_nodes(
        frame, roles, config=config, engine=source.engine, progress=source.progress, watch=source.watch
    )
    triangles = ScreenTriangles.joined([each.triangles for each in frame.draws])
    size, picture = (frame.width, frame.height), composed.picture
    drawn = DrawnPicture(
        triangles, size, frame.background, tuple(tessellations), projected, composed.nodes, picture, composed.time,
        loading=composed.loading, choice=choice, samples=frame.samples,
    )  # fmt: skip
    same = draw_frame(frame).equals(picture)
    return picture, picture_report(order.scene, order.output, source.engine, order.effective, drawn, same=same)


def _picture_of_words(order: PictureOrder[Scene]) -> tuple[Picture, Report]:
    """Draw from words made by the EMCs; raises UsageError for options that these do not support."""
    how, config = order.source, order.effective.config
    if how.flat:
        raise UsageError("--flat", "the EMCs light samples, not facets; --projection emc draws flat triangles")
    if how.samples == 4:
        raise UsageError("--antialias", "the EMCs make words for one sample a pixel; --projection emc has four")
    if order.told.get("shaders"):
        raise UsageError("--shaders", "the words are drawn by the node that made them; --projection emc takes shaders")
    if order.told.get("parts", 1) != 1:
        raise UsageError("--nodes", "the words are drawn by the node that made them; --projection emc takes several")
    file = _patches(order.scene, how)
    width, height = size = how.size or SIZE
    view = (how.view or View())._replace(width=width, height=height)
    tessellation, words = generate_words(
        file.patches, how.patch_samples or SAMPLES, view,
        engine=how.engine, config=config, progress=how.progress, watch=how.watch,
    )  # fmt: skip
    node = draw_words(
        words, background=BACKGROUND, engine=how.engine, config=config, progress=how.progress, watch=how.watch
    )
    drawn = DrawnPicture(words.triangles, size, BACKGROUND, (tessellation,), None, [node], node.picture, None, words)
    same = draw(words.triangles, *size, BACKGROUND).equals(node.picture)
    report = picture_report(order.scene, order.output, how.engine, order.effective, drawn, same=same)
    return node.picture, report


def _patches(scene: str, how: SceneSource) -> PatchFile:
    """Return the patches that EMCs are to project; raises UsageError for a scene that is not patches."""
    if not is_patches(scene):
        raise UsageError("--projection", "the EMCs project what they have tessellated: patches that are named")
    if how.tolerance is not None:
        raise UsageError("--tolerance", "what the EMCs project is sampled alike", "give --samples instead")
    if how.floor:
        raise UsageError("--floor", "the EMCs project patches alone, not a floor")
    if how.up != "z":
        raise UsageError("--up", "the EMCs project patches as their file has them; z is up")
    file = load(scene)
    if how.note is not None:
        for note in file.notes:
            how.note(f"note: {file.name}: {note}")
    return file


def _projected(scene: str, how: SceneSource) -> tuple[ScreenTriangles, tuple[Tessellation, ...], Projected]:
    """Return triangles of patches tessellated and projected by the EMCs, and both accounts."""
    file = _patches(scene, how)
    width, height = how.size or SIZE
    view = (how.view or View())._replace(width=width, height=height)
    tessellation, projected = project_samples(
        file.patches, how.patch_samples or SAMPLES, view,
        engine=how.engine, config=how.config, progress=how.progress, watch=how.watch,
    )  # fmt: skip
    mesh = tessellation.mesh(weld=True)
    triangles = lit_triangles(
        mesh.points, mesh.normals, mesh.triangles, view,
        flat=how.flat, standpoint=projected.standpoint, screen=projected.vertices[mesh.samples],
    )  # fmt: skip
    return triangles, (tessellation,), projected
