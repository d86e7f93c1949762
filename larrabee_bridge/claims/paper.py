"""The paper on Larrabee: its claims, the measures beside them, and the scenes that these draw."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from larrabee_bridge.claims import bytes as traffic
from larrabee_bridge.claims import cores
from larrabee_bridge.claims import cores as applications
from larrabee_bridge.claims import cores as architecture
from larrabee_bridge.claims import frames as rasterizer
from larrabee_bridge.claims import frames as tiles
from larrabee_bridge.claims import frames as walk
from larrabee_bridge.claims.bench import SceneBench, SeenFrame
from larrabee_bridge.claims.published import ARCHITECTURE, RENDERER, STUDIES
from larrabee_bridge.compare import project_on_larrabee
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.evidence import Paper
from pixelflow.simd.drawing import Frame
from tessellation.scenes import (
    MESHES,
    SCENES,
    PreparedScene,
    SceneSource,
    draws_of,
    load_scene,
    prepare_scene,
    shade,
    shadow_bodies,
    volumes,
)

_MESH_SIZE = (800, 600)
"""Pixels of the screen of single meshes."""
_VOLUME_SIZE = (256, 192)
"""Of shadow volumes."""
_CASTERS = ("teapot", "bunny", "nut", "airplane")
"""What casts a shadow in the walk: all but the ground and the walls."""
_SHADOW_LENGTH = 5.0
"""Of its volumes: from the highest body they reach through the ground."""
_LONG = (
    *("clauses", "bin-spread", "recursion", "vector-share", "find-first-bit", "scaling", "smaller-primsets"),
    *("units-for-60", "locks", "bin-balance", "binning-bandwidth", "gain-grows", "stages", "stages-walk"),
    *("frames-vary", "transparency", "fog", "tones", "shadow-map", "physics", "ray-scene", "ray-scaling"),
    "applications-scaling",
)


def _bench(watch: Callable[[object], None]) -> SceneBench:
    """Return a bench with the scenes of the measures by name, each made when a measure asks for it."""
    scenes = {name: partial(_scene, name) for name in SCENES}
    scenes |= {name: partial(_scene, name, _MESH_SIZE) for name in MESHES}
    return SceneBench(scenes | {cores.VOLUMES: _volumes}, {walk.PLAIN: _Walk(False), walk.SHADOWED: _Walk(True)})


def _scene(name: str, size: tuple[int, int] | None = None) -> Frame:
    # What follows perspective would change shaders, and the shader of these measures is of a given length.
    return load_scene(name, SceneSource(size=size, affine=True)).frame


def _volumes() -> Frame:
    return Frame(*_VOLUME_SIZE, (0, 0, 0), tuple(volumes(*_VOLUME_SIZE, count=20, size=60)))


class _Walk:
    """The frames of the scene `walk`, projected and cut by the front end, with volumes of what stands in the room."""

    def __init__(self, volumes: bool) -> None:
        self._volumes = volumes
        self._prepared: PreparedScene | None = None

    def __call__(self, number: int) -> SeenFrame:
        if self._prepared is None:
            self._prepared = prepare_scene("walk", SceneSource(affine=True))
        scene = self._prepared.at(number)
        bodies, frame, eye = list(scene.bodies), scene.frame, scene.view.eye
        assert eye is not None  # as the file says
        if self._volumes:
            casters = [body for body in bodies if body.name in _CASTERS]
            bodies += shadow_bodies(casters, eye, _SHADOW_LENGTH)
            draws = draws_of(bodies, scene.view, affine=True)
            frame = replace(frame, draws=(*draws, shade(frame.width, frame.height)))
        found = project_on_larrabee(frame, bodies, scene.view, config=CoreConfig(caches=True))
        return SeenFrame(found.frame, found.fronts)


def _plain(text: str) -> str:
    return re.sub(r"[\s.,_-]+", "", text.lower().replace("figure", "fig").replace("section", ""))


_CLAIMS = (*ARCHITECTURE, *RENDERER, *STUDIES)

PAPER = Paper(
    name="larrabee",
    title="Seiler et al., Larrabee: A Many-Core x86 Architecture for Visual Computing, SIGGRAPH 2008",
    claims=_CLAIMS,
    measures={
        "table-1": architecture.peak_of_two_designs,
        "caches": architecture.sizes_of_caches,
        "lane-utilisation": architecture.utilisation_by_area,
        "free-conversions": architecture.conversions,
        "gather-rate": architecture.lines_of_gathers,
        "clauses": architecture.clauses_skipped,
        "ring": cores.ring_rules,
        "texture-filtering": architecture.software_filtering,
        "texture-cache": traffic.texture_cache,
        "tile-bytes": tiles.bytes_of_a_tile,
        "bin-spread": tiles.spread_by_area,
        "order-restored": tiles.order_of_sub_bins,
        "recursion": rasterizer.rasterizer_masks,
        "vector-share": rasterizer.rasterizer_mix,
        "find-first-bit": rasterizer.rasterizer_ablation,
        "pixels-once": traffic.bytes_of_tiles,
        "fibers": cores.fibers_needed,
        "larrabee-unit": architecture.peak_of_a_core,
        "scaling": cores.scaling_of_cores,
        "smaller-primsets": cores.scaling_of_primsets,
        "units-for-60": cores.units_of_scenes,
        "locks": cores.locks_of_scenes,
        "bin-balance": cores.balance_of_bins,
        "immediate-baseline": traffic.immediate_configuration,
        "binning-bandwidth": traffic.immediate_over_binned,
        "gain-grows": traffic.ratio_by_depth,
        "stages": cores.shares_of_stages,
        "stages-walk": walk.stages_of_the_way,
        "frames-vary": walk.frames_of_the_way,
        "gather-gain": architecture.gain_of_gather,
        "ray-triangle": architecture.rays_and_a_triangle,
        "transparency": applications.layers_in_lists,
        "fog": applications.fog_between_layers,
        "tones": applications.tones_in_tiles,
        "shadow-map": applications.samples_in_shadow,
        "physics": applications.physics_on_cores,
        "ray-scene": applications.scene_that_is_traced,
        "ray-scaling": applications.rays_on_cores,
        "applications-scaling": applications.applications_on_cores,
    },
    bench=_bench,
    efforts=dict.fromkeys(_LONG, 10),
    notes=tuple(note for claim in _CLAIMS for note in claim.notes),
    closing="Nothing here validates games, area or power, nor figures 10, 13, 14 and 17 to 20 of the paper. Our "
    "programs are not theirs, our scenes are no games, and the latencies of the core model are a descendant's.",
    plain=_plain,
)
"""Seiler et al. 2008; no model reads the printed figures."""
