"""The paper on Larrabee: its claims, their measures, and the scenes that the measures draw."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version

from larrabee_bridge.claims import bench, cores, frames
from larrabee_bridge.claims.bench import Printed, SceneBench, SeenFrame
from larrabee_bridge.claims.bytes import (
    TEXTURED,
    binning_moves_less,
    bytes_of_tiles,
    gain_by_bytes,
    immediate_over_binned,
)
from larrabee_bridge.claims.published import CLAIMS
from larrabee_bridge.compare import project_on_larrabee
from larrabee_bridge.kernels.study import THREADS
from larrabee_bridge.pipeline.bins import TILES
from larrabee_bridge.pipeline.tile_memory import WORKERS
from larrabee_bridge.pipeline.traffic import TrafficConfig
from larrabee_bridge.pipeline.work import CORES
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.ring import RingConfig, fewest_fibers, mean_ride, stall_share
from pixelflow.evidence import Measured, Paper, Value
from pixelflow.simd.drawing import Draw, Frame, ScreenTriangles, State, Texture
from pixelflow.simd.files import shipped
from tessellation.picture import View
from tessellation.picture.models import checker
from tessellation.scenes import (
    MESHES,
    SCENES,
    Body,
    PreparedScene,
    SceneSource,
    draws_of,
    load_scene,
    prepare_scene,
    shade,
    shadow_bodies,
)

_MESH_SIZE = (800, 600)
"""Pixels of the screen of single meshes."""
_PAPER_SIZE = (1600, 1200)
"""Of the paper's frames (table 2)."""
_CASTERS = ("teapot", "bunny", "nut", "airplane")
"""Bodies of the walk that cast shadows: all but the ground and the walls."""
_SHADOW_LENGTH = 5.0
"""Length of the volumes: from the highest body through the ground."""
_LONG = (
    *("lane-utilisation", "bin-spread", "recursion", "vector-share", "find-first-bit", "scaling", "smaller-primsets"),
    *("primsets-direction", "locks", "bin-balance", "binning-bandwidth", "binning-direction", "gain-grows"),
    *("stages-walk", "stages-direction", "raster-cycles", "transparency", "physics"),
)


def _bench(watch: Callable[[object], None]) -> SceneBench:
    """Return a bench with the scenes of the measures by name, each made on first use."""
    scenes = {name: partial(_scene, name) for name in SCENES}
    scenes |= {name: partial(_scene, name, _MESH_SIZE) for name in MESHES}
    walks = {
        name: _Walk(volumes, size)
        for volumes, size, name in (
            (False, None, bench.PLAIN), (True, None, bench.SHADOWED),
            (False, _PAPER_SIZE, bench.LARGE), (True, _PAPER_SIZE, bench.LARGE_SHADOWED),
        )
    }  # fmt: skip
    return SceneBench(scenes | {TEXTURED: _textured}, walks, sources=_sources())


def _scene(name: str, size: tuple[int, int] | None = None) -> Frame:
    # Perspective would lengthen shaders, and the shader of these measures has a fixed length.
    return load_scene(name, SceneSource(size=size, affine=True)).frame


def _textured() -> Frame:
    """Return the meadow with a texture on every body."""
    scene = prepare_scene("meadow", SceneSource(affine=True)).at(0)
    bodies = [replace(body, state=State(texture=Texture(checker()))) for body in scene.bodies]
    return replace(scene.frame, draws=tuple(draws_of(bodies, scene.view, affine=True)))


def _sources() -> str:
    """Return a hash of all files of the packages that draw: code, programs, scenes, meshes."""
    seen = hashlib.sha256(version("numpy").encode())
    for package in ("larrabee_bridge", "microcode", "pixelflow", "tessellation"):
        folder = shipped(package)
        for path in sorted(each for each in folder.rglob("*") if each.is_file() and each.suffix != ".pyc"):
            content = path.read_bytes()
            seen.update(f"{package}/{path.relative_to(folder).as_posix()} {len(content)}\n".encode() + content)
    return seen.hexdigest()


class _Walk:
    """The frames of the scene `walk`, projected and cut by the front end, with or without shadow volumes."""

    def __init__(self, volumes: bool, size: tuple[int, int] | None) -> None:
        self._volumes, self._size = volumes, size
        self._prepared: PreparedScene | None = None
        self._last: tuple[int, Frame, list[Body], View] | None = None
        """Number of a frame and what it was made of, until it comes in PrimSets of the other size."""

    def __call__(self, number: int, primset: int) -> SeenFrame:
        last, self._last = self._last, None
        if last is None or last[0] != number:
            last = self._last = number, *self._at(number)
        _, frame, bodies, view = last
        found = project_on_larrabee(frame, bodies, view, primset=primset, config=CoreConfig(caches=True))
        return SeenFrame(found.frame, found.fronts)

    def _at(self, number: int) -> tuple[Frame, list[Body], View]:
        """Return a frame, its bodies and its view."""
        if self._prepared is None:
            self._prepared = prepare_scene("walk", SceneSource(size=self._size, affine=True))
        scene = self._prepared.at(number)
        bodies, frame, eye = list(scene.bodies), scene.frame, scene.view.eye
        assert eye is not None  # as the file says
        if self._volumes:
            casters = [body for body in bodies if body.name in _CASTERS]
            bodies += shadow_bodies(casters, eye, _SHADOW_LENGTH)
            none = ScreenTriangles.joined(())  # the front end puts its own here
            draws = [Draw(body.name, none, body.state) for body in bodies]
            frame = replace(frame, draws=(*draws, shade(frame.width, frame.height)))
        return frame, bodies, scene.view


def _plain(text: str) -> str:
    return re.sub(r"[\s.,_-]+", "", text.lower().replace("figure", "fig").replace("section", ""))


_KB = 1024
_PIXEL_BYTES = 4 + 4
"""Bytes of a colour and a depth."""
_BETWEEN, _LATENCIES = 60, (100, 200, 400, 800)
"""Cycles between a shader's requests for texels, and latencies of the texture unit, for the number of fibers."""


def _given() -> dict[str, dict[str, Value]]:
    """Return by claim the model's parameters behind printed figures, and values that follow from them by formula."""
    core, immediate, ring = CoreConfig(), TrafficConfig(), RingConfig()
    fibers = {latency: fewest_fibers(_BETWEEN, latency) for latency in _LATENCIES}
    return {
        "caches": {
            "l1_code_kb": core.code_bytes // _KB,
            "l1_data_kb": core.l1_bytes // _KB,
            "l2_kb": core.l2_bytes // _KB,
            "threads": THREADS,
        },
        "ring": {
            "bits": 8 * ring.width_bytes,
            "most_cores_on_a_ring": ring.agents_of_a_ring,
            "rings": ring.rings(max(CORES)),
            "clocks_of_a_ride_16": round(mean_ride(ring.agents_of_a_ring), 2),
            "clocks_of_a_ride_48": round(mean_ride(max(CORES)), 2),
        },
        "texture-cache": {"texture_cache_kb": immediate.core_texture_cache // _KB},
        "tile-bytes": {
            "smallest": min(TILES),
            "largest": max(TILES),
            "share_of_slice": max(TILES) ** 2 * _PIXEL_BYTES / core.l2_bytes,
            "bytes": max(TILES) ** 2 * _PIXEL_BYTES,
        },
        "fibers": {
            "set_up_threads": THREADS - WORKERS,
            "work_threads": WORKERS,
            **{f"fibers_{latency}": count for latency, count in fibers.items()},
            **{f"stall_{latency}": round(stall_share(fibers[latency], _BETWEEN, latency), 4) for latency in fibers},
        },
        "immediate-baseline": {
            "texture_cache_kb": immediate.texture_cache // _KB,
            "colour_cache_kb": immediate.colour_cache // _KB,
            "depth_cache_kb": immediate.depth_cache // _KB,
            "colour_compression": immediate.colour_compression,
            "depth_compression": immediate.depth_compression,
            "colour_compression_4": immediate.colour_compression_4,
            "depth_compression_4": immediate.depth_compression_4,
        },
    }


def _read_back(name: str, bench: SceneBench, printed: Printed) -> Measured:
    """Return the constants of a claim."""
    figures = _given()[name]
    return Measured(", ".join(f"{each.replace('_', ' ')} {value}" for each, value in figures.items()), figures)


PAPER = Paper(
    name="larrabee",
    title="Seiler et al., Larrabee: A Many-Core x86 Architecture for Visual Computing, SIGGRAPH 2008",
    claims=CLAIMS,
    measures={name: partial(_read_back, name) for name in _given()}
    | {
        "table-1": cores.peak_of_two_designs,
        "lane-utilisation": cores.utilisation_by_area,
        "free-conversions": cores.conversions,
        "gather-rate": cores.lines_of_gathers,
        "texture-filtering": cores.software_filtering,
        "bin-spread": frames.spread_by_area,
        "order-restored": frames.order_of_sub_bins,
        "recursion": frames.rasterizer_masks,
        "vector-share": frames.rasterizer_mix,
        "find-first-bit": frames.rasterizer_ablation,
        "pixels-once": bytes_of_tiles,
        "larrabee-unit": cores.peak_of_a_core,
        "scaling": cores.scaling_of_cores,
        "smaller-primsets": cores.scaling_of_primsets,
        "primsets-direction": cores.smaller_primsets_help,
        "locks": cores.locks_of_frames,
        "bin-balance": cores.balance_of_bins,
        "binning-bandwidth": immediate_over_binned,
        "binning-direction": binning_moves_less,
        "gain-grows": gain_by_bytes,
        "stages-walk": frames.stages_of_the_way,
        "raster-cycles": frames.raster_cycles_of_the_way,
        "stages-direction": frames.volumes_raise_the_share,
        "gather-gain": cores.gain_of_gather,
        "transparency": frames.layers_in_lists,
        "physics": cores.physics_on_cores,
        "ray-triangle": cores.rays_and_a_triangle,
    },
    bench=_bench,
    efforts=dict.fromkeys(_LONG, 10),
    notes=tuple(note for claim in CLAIMS for note in claim.notes),
    closing="Nothing here validates games, area or power, nor figures 10, 13, 14 and 17 to 20 of the paper. Our "
    "programs are not theirs, our scenes are not games, and the latencies of the core model are a descendant's.",
    plain=_plain,
)
"""Seiler et al. 2008; no model reads the printed figures."""
