"""The report of a picture that PixelFlow drew: cycles by stage, machine time, projection and composition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pixelflow.config import leaves
from pixelflow.node import guesses, set_in_vain
from pixelflow.simd.report import Json, Report, counted, facts, shares
from tessellation.rendering.instructions import COPY_STAGE
from tessellation.sampling.choice import SampleChoice, choice_facts

if TYPE_CHECKING:
    from pixelflow.config import Effective
    from pixelflow.simd.drawing import Picture, ScreenTriangles
    from tessellation import Tessellation
    from tessellation.rendering import CompositionTime, Projected, Rendering

__all__ = ["DrawnPicture", "WordsAccount", "picture_report"]

_NETWORK = "composition."


@dataclass(frozen=True, slots=True)
class WordsAccount:
    """What the EMCs took for the instruction words of a picture: facts for a report, and all of it for JSON."""

    facts: tuple[tuple[str, str], ...]
    data: dict[str, Json]


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture, and what each node took for its share of it."""

    triangles: ScreenTriangles
    size: tuple[int, int]
    background: tuple[int, int, int]
    tessellations: tuple[Tessellation, ...]
    projected: Projected | None
    nodes: list[Rendering]
    picture: Picture
    composition: CompositionTime | None
    words: WordsAccount | None = None
    choice: SampleChoice | None = None
    """How patches were sampled by view."""

    @property
    def cycles(self) -> int:
        """Cycles of the node that took longest; nodes draw side by side."""
        return max(node.cycles for node in self.nodes)

    @property
    def tessellation_cycles(self) -> int | None:
        """Cycles of all tessellations before, or None where there was none."""
        return sum(each.cycles for each in self.tessellations) if self.tessellations else None


def picture_report(
    scene: str, output: str, engine: str, effective: Effective, drawn: DrawnPicture, *, same: bool
) -> Report:
    """Return what was drawn, the cycles of each stage, and how long the machine takes."""
    config, nodes = effective.config, drawn.nodes
    width, height = drawn.size
    reached, total = sum(node.drawn for node in nodes), sum(node.cycles for node in nodes)
    stages = _by_stage(drawn)
    besides = stages["clear"] + stages.get(COPY_STAGE, 0) + _of_no_triangles(drawn)
    several = len(nodes) > 1
    rows = [
        ("machine time", f"{config.seconds(drawn.cycles) * 1e3:,.4g} ms at {config.clock_mhz} MHz"),
        ("", f"of the slowest node ({drawn.cycles:,} cycles)" if several else ""),
        ("per triangle", f"{(total - besides) / max(1, reached):.1f} cycles in each region that it reaches"),
        ("reference", "every pixel equal" if same else "PIXELS DIFFER"),
        ("not counted", f"work of the GPs: {_work_of_gps(drawn)}"),
        ("tessellation", f"{drawn.tessellation_cycles:,} cycles before" if drawn.tessellations else ""),
        *choice_facts(drawn.choice),
        *_projection_facts(drawn.projected),
        *(drawn.words.facts if drawn.words else ()),
        *_composition_facts(drawn, effective),
        ("wrote", output),
    ]
    foot = f"= all of {len(nodes)} nodes together" if several else "= all"
    used = guesses([each.run for node in nodes for each in node.regions], config)
    return Report(
        "pixelflow render",
        (scene, f"{width}x{height}", effective.label, f"engine {engine}"),
        [
            f"{counted(len(drawn.triangles), 'triangle')} ({_shading(drawn.triangles)}), "
            f"{drawn.triangles.dropped:,} without an area; {counted(nodes[0].places, 'region')}, "
            f"{reached:,} pairs of a triangle and a region",
            "",
            shares(stages, "cycles", "stage", total=total, foot=foot),
            "",
            *facts(rows),
            *used.parts,
        ],
        schema="pixelflow.render/1",
        data={"scene": scene, "engine": engine, "equals_reference": same, **_object(effective, drawn)},
        notes=_in_vain(effective, drawn),
        failure=None if same else "the picture differs from the one drawn in 64-bit integers",
    )


def _of_no_triangles(drawn: DrawnPicture) -> int:
    """Return cycles of runs that draw nothing: of textures that are loaded, and of shading."""
    runs = (each.run for node in drawn.nodes for each in node.regions)
    return sum(run.cycles for run in runs if "clear" not in run.by_stage)


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
    if drawn.words is not None:
        return "records put into the lists of regions by their headers"
    return f"{'camera, ' * (not drawn.projected)}light, regions, instructions"


def _composition_facts(drawn: DrawnPicture, effective: Effective) -> list[tuple[str, str]]:
    if drawn.composition is None:
        return []
    time = drawn.composition
    more = time.cycles - drawn.cycles
    return [
        ("composition", f"{more:,} cycles more than the slowest node (formula)"),
        ("", "; ".join(_rates(effective))),
        ("", f"{time.region_cycles:,} cycles a region on the wires, {time.latency_cycles} through the nodes"),
    ]


def _in_vain(effective: Effective, drawn: DrawnPicture) -> list[str]:
    """Return which values somebody set on which nothing depends that was executed, or composed."""
    runs = [
        *(run for each in drawn.tessellations for run in each.runs),
        *(drawn.projected.runs if drawn.projected else ()),
        *(each.run for node in drawn.nodes for each in node.regions),
    ]
    alone = [note for note in set_in_vain(runs, effective) if not note.startswith(f"note: {_NETWORK}")]
    return alone if drawn.composition is not None else [*_network_in_vain(effective), *alone]


def _network_in_vain(effective: Effective) -> list[str]:
    """Return which values of the image composition network somebody set for a node that sends nothing."""
    return [
        f"note: {key} (set by {origin}) made no difference: one node alone has nothing to compose"
        for key, origin in effective.set_by.items()
        if key.startswith(_NETWORK) and not origin.startswith("preset ")
    ]


def _rates(effective: Effective) -> Iterator[str]:
    """Yield what the formula of the composition was given, and who says so."""
    for key, about, value, _ in leaves(effective.config.composition, _NETWORK):
        origin = effective.set_by[key]
        whose = about.standing.value if origin.startswith("preset ") else f"set by {origin}"
        yield f"{key.removeprefix(_NETWORK)} {str(value).lower()}, {whose}"


def _by_stage(drawn: DrawnPicture) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in drawn.nodes:
        for name, cycles in node.cycles_by_stage.items():
            found[name] = found.get(name, 0) + cycles
    return found


def _object(effective: Effective, drawn: DrawnPicture) -> dict[str, Json]:
    """Return everything about it for JSON."""
    return {
        "size": list(drawn.size),
        "config": effective.as_object(),
        "triangles": {
            "drawn": len(drawn.triangles),
            "without_area": drawn.triangles.dropped,
            "times_regions": sum(node.drawn for node in drawn.nodes),
        },
        "nodes": [
            {
                "cycles": node.cycles,
                "stages": node.cycles_by_stage,
                "regions": [
                    {"left": each.left, "top": each.top, "triangles": each.triangles, "cycles": each.run.cycles}
                    for each in node.regions
                ],
            }
            for node in drawn.nodes
        ],
        "cycles": drawn.cycles,
        "seconds_at_clock": effective.config.seconds(drawn.cycles),
        "composition_cycles": drawn.composition.cycles - drawn.cycles if drawn.composition else None,
        "composition": _composition_object(drawn.composition, effective),
        "tessellation_cycles": drawn.tessellation_cycles,
        "projection": _projection_object(drawn.projected),
        "sampling": drawn.choice.as_object() if drawn.choice else None,
        "words": drawn.words.data if drawn.words else None,
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


def _composition_object(time: CompositionTime | None, effective: Effective) -> dict[str, Json] | None:
    if time is None:
        return None
    return {
        "standing": "formula",
        "rates": list(_rates(effective)),
        "region_cycles": time.region_cycles,
        "latency_cycles": time.latency_cycles,
        "frame_cycles": time.cycles,
        "waits": list(time.waits),
    }
