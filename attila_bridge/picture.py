"""Frames shared by all machines as scenes of ATTILA, drawn and timed, with the grounds of their account."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attila_bridge import scene
from attila_bridge.run import CLIENTS, CLOCK_MHZ, FORMULAS, PHASES, SceneRun, run_scene
from attila_bridge.time.command_processor import FRAGMENTS_OF, STEPS_OF, UPLOADS_OF
from attila_bridge.time.config import PAPER, AttilaConfig
from pixelflow.caveats import coded
from pixelflow.simd.attendance import Telling
from pixelflow.simd.configuration import constants_of, named
from pixelflow.simd.drawing import (
    FAR,
    NEAREST,
    SUBPIXELS,
    TEXEL,
    Bound,
    DepthTest,
    DrawnFrame,
    Frame,
    FreeWork,
    Ground,
    HowCounted,
    Picture,
    State,
    Work,
)
from pixelflow.simd.drawing.frame import Blend, Stencil, StencilStep, StencilTest, Texture
from pixelflow.simd.drawing.triangles import ScreenTriangles
from pixelflow.simd.errors import Fault, InputError, InternalError
from pixelflow.simd.report import TimeSpan
from pixelflow.simd.units import Constant, Standing

# Frames as scenes: shared integers become clip coordinates, colours and programs.
#
# Pixels are close to those of 64-bit integers, but not equal: edges and depths are computed in float64 from corners in
# float32, points on an edge belong to another triangle, and colours are truncated rather than rounded. Half a step of a
# colour is added to compensate, in the vertices, or by the program where a texture multiplies them.
#
# Triangles of all sorted draws are drawn together, the farthest first by their mean depth: triangles that intersect, or
# overlap cyclically, have one order for all of their pixels. A cutout kills its fragments; where depth or stencil are
# written too, its program writes depth, so that the tests follow it.


DIFFERS = "ATTILA's edges and depths are float64, its colours float32 that are truncated"
"""Reason for differences from pixels of 64-bit integers."""

_HALF = 0.5 / 255
_PLAIN = "!!ARBfp1.0\nMOV result.color, fragment.color;\nEND"
_TEXTURED = (
    "!!ARBfp1.0\nTEMP texel, gap;\nPARAM half = {{ {half}, {half}, {half}, 0 }};\n"
    "TEX texel, fragment.texcoord[0], texture[0], 2D;\n{cut}MAD result.color, texel, fragment.color, half;\n{depth}END"
)
_CUT = "PARAM least = {{ {least}, {least}, {least}, {least} }};\nADD gap, texel, -least;\nKIL gap.wwww;\n"
_DEPTH = "MOV result.depth.z, fragment.position.z;\n"
_BLENDS = {
    Blend.REPLACE: None,
    Blend.OVER: (scene.Factor.SRC_ALPHA, scene.Factor.ONE_MINUS_SRC_ALPHA),
    Blend.ADD: (scene.Factor.SRC_ALPHA, scene.Factor.ONE),
    Blend.MULTIPLY: (scene.Factor.ZERO, scene.Factor.SRC_COLOR),
    Blend.SORTED: (scene.Factor.SRC_ALPHA, scene.Factor.ONE_MINUS_SRC_ALPHA),
}
_STEPS = {
    StencilStep.KEEP: scene.StencilOperation.KEEP,
    StencilStep.ZERO: scene.StencilOperation.ZERO,
    StencilStep.REPLACE: scene.StencilOperation.REPLACE,
    StencilStep.UP: scene.StencilOperation.INCR_WRAP,
    StencilStep.DOWN: scene.StencilOperation.DECR_WRAP,
}
_STENCILS = {
    StencilTest.ALWAYS: scene.Compare.ALWAYS,
    StencilTest.EQUAL: scene.Compare.EQUAL,
    StencilTest.DIFFERENT: scene.Compare.NOTEQUAL,
}

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Triangles of a frame that become one draw."""

    triangles: ScreenTriangles
    alphas: NDArray[np.int64]
    """[triangle] opacity, 0 to 255."""
    state: State


def refused_early(config: object) -> Callable[[Sequence[tuple[str, State]], int], None]:
    """Return the early check for frames that ATTILA does not draw here."""
    return lambda draws, samples: _require_one(samples)


def _require_one(samples: int) -> None:
    if samples != 1:
        hint = "a larger picture has all of the samples, but no machine here takes the mean of its pixels"
        raise InputError(Fault(f"ATTILA draws one sample a pixel here, not {samples}", hint=hint))


def scene_of_frame(frame: Frame, name: str = "frame") -> scene.AttilaScene:
    """Return a frame as a scene; raises InputError for four samples a pixel."""
    _require_one(frame.samples)
    made, known = scene.SceneParts(), list[Texture]()
    for part in _parts(frame):
        _add(made, frame, part, known)
    red, green, blue = ((each + 0.5) / 255 for each in frame.background)
    return made.scene(name, (frame.width, frame.height), scene.ClearValues((red, green, blue, 1.0), 1.0, 0))


def _parts(frame: Frame) -> Iterator[_Part]:
    """Yield the draws in order, then the sorted ones, split where the state changes."""
    ordered = [draw for draw in frame.draws if len(draw.triangles)]
    for draw in ordered:
        if draw.state.blend is not Blend.SORTED:
            yield _Part(draw.triangles, np.full(len(draw.triangles), draw.state.alpha), draw.state)
    layers = [draw for draw in ordered if draw.state.blend is Blend.SORTED]
    if not layers:
        return
    states: list[State] = []
    of_draw = []
    for draw in layers:
        state = replace(draw.state, alpha=0)
        of_draw.append(next((at for at, known in enumerate(states) if known == state), len(states)))
        if of_draw[-1] == len(states):
            states.append(state)
    begins = np.cumsum([0, *(len(draw.triangles) for draw in layers)])
    of_triangle = np.repeat(np.arange(len(layers)), np.diff(begins))
    depths = np.concatenate([draw.triangles.depths.sum(axis=1) for draw in layers])
    order = np.argsort(-depths, kind="stable")
    kinds = np.array(of_draw)[of_triangle[order]]
    for some in np.split(order, np.flatnonzero(np.diff(kinds)) + 1):
        source = of_triangle[some]
        pieces = [layers[at].triangles.part(some[source == at] - begins[at]) for at in np.unique(source)]
        # Pieces have their triangles by draw; restore the order.
        back = np.argsort(np.argsort(source, kind="stable"), kind="stable")
        alphas = np.array([layers[at].state.alpha for at in source])
        yield _Part(_joined(pieces).part(back), alphas, states[of_draw[source[0]]])


def _joined(pieces: list[ScreenTriangles]) -> ScreenTriangles:
    """Return the triangles of several draws in order, with texture coordinates if all have them."""
    joined = ScreenTriangles.joined(pieces)
    coordinates = [piece.coordinates for piece in pieces if piece.coordinates is not None]
    return replace(joined, coordinates=np.concatenate(coordinates)) if len(coordinates) == len(pieces) else joined


def _add(made: scene.SceneParts, frame: Frame, part: _Part, known: list[Texture]) -> None:
    """Add a draw with its arrays, texture and program; ``known`` are the textures so far."""
    triangles, texture = part.triangles, part.state.texture
    count = 3 * len(triangles)
    position = np.ones((count, 4))
    screen = triangles.corners.reshape(count, 2) / SUBPIXELS
    position[:, 0] = 2 * screen[:, 0] / frame.width - 1
    position[:, 1] = 1 - 2 * screen[:, 1] / frame.height
    position[:, 2] = 2 * triangles.depths.reshape(count) / FAR - 1
    if triangles.nearness is not None:  # ATTILA divides by w and interpolates in perspective
        position *= NEAREST / triangles.nearness.reshape(count, 1)
    color = np.repeat(part.alphas, 3)[:, None].repeat(4, axis=1) / 255
    color[:, :3] = triangles.colours.reshape(count, 3) / 255 + (_HALF if texture is None else 0)
    coordinates, fragment, units = None, _PLAIN, dict[int, scene.SceneTexture]()
    if texture is not None and triangles.coordinates is not None:
        height, width = texture.texels.shape[:2]
        coordinates = np.zeros((count, 4))
        coordinates[:, :2] = triangles.coordinates.reshape(count, 2) / TEXEL / (width, height)
        coordinates[:, 3] = 1
        fragment, units = _textured(part.state), {0: _texture(texture, known)}
    state = _state(part.state)
    made.add(position, color, fragment=fragment, state=state, coordinates=coordinates, textures=units)


def _texture(texture: Texture, known: list[Texture]) -> scene.SceneTexture:
    """Return a texture under its number among the known ones, to which it is added."""
    if not any(each is texture for each in known):
        known.append(texture)
    number = next(at for at, each in enumerate(known) if each is texture)
    least = scene.Filter.LINEAR_MIPMAP_LINEAR if texture.mipmaps else scene.Filter.LINEAR
    return scene.SceneTexture(
        f"texture {number}", texture.levels, least, scene.Filter.LINEAR, scene.Wrap.REPEAT, anisotropy=1
    )


def _textured(state: State) -> str:
    """Return the program that multiplies by a texel and applies the cutout of the state."""
    writes_depth = bool(state.cutout) and (state.depth_write or state.stencil is not None)
    cut = _CUT.format(least=repr((state.cutout - 0.5) / 255)) if state.cutout else ""
    return _TEXTURED.format(half=repr(_HALF), cut=cut, depth=_DEPTH if writes_depth else "")


def _state(state: State) -> scene.DrawState:
    test = scene.Compare.LESS if state.depth_test is DepthTest.LESS else scene.Compare.ALWAYS
    depth = scene.DepthState(test, state.depth_write)
    mask = (state.colour_write,) * 4
    return scene.DrawState(depth, _stencil(state.stencil), _BLENDS[state.blend], color_mask=mask)


def _stencil(stencil: Stencil | None) -> scene.StencilState | None:
    if stencil is None:
        return None
    steps = (_STEPS[each] for each in (stencil.failed, stencil.hidden, stencil.passed))
    return scene.StencilState(_STENCILS[stencil.test], stencil.reference, *steps)


# Grounds of a frame on ATTILA: values of the model behind its figures, formulas, counted work.


_PAPER = "Moya et al., ISPASS 2006"

_CLOCK = Constant("clock", CLOCK_MHZ, Standing.DERIVED, f"{_PAPER}, section 5", "of the GPU and its memory", "MHz")
_COMPONENTS = Constant("components", 4, Standing.DERIVED, f"{_PAPER}, Table 1", "of an input, processed together")
_BITS = Constant("lane bits", 32, Standing.DERIVED, f"{_PAPER}, section 2", unit="bits")
_LANES = ("gpu.shaders", "shader.group")


def counted_by_gpu(frame: Frame) -> Mapping[Work, HowCounted]:
    """Return how the cycles of a frame account for each kind of work."""
    return {
        # The vertex program copies positions and colours that the application has transformed and lit.
        Work.VERTICES: HowCounted.PART,
        Work.SETUP: HowCounted.UNITS,
        Work.BINNING: HowCounted.NONE,
        Work.COVERAGE: HowCounted.UNITS,
        Work.TESTS: HowCounted.UNITS,
        Work.COLOURS: HowCounted.PROGRAM,
        Work.TEXELS: HowCounted.UNITS,
        Work.BLENDING: HowCounted.PART if _sorts(frame) else HowCounted.UNITS,
        Work.MEMORY: HowCounted.UNITS,
        Work.FEED: HowCounted.UNITS,
        Work.OUTPUT: HowCounted.UNITS,
        Work.COMMANDS: HowCounted.FORMULA,
    }


def _sorts(frame: Frame) -> bool:
    return any(draw.state.blend is Blend.SORTED for draw in frame.draws)


def left_out(frame: Frame, uploaded: int) -> Iterator[FreeWork]:
    """Yield the work that a frame does not count; ``uploaded`` are bytes taken in by the command processor."""
    why = "the application's; vertices come in clip space, with colours"
    yield FreeWork("camera and light", "PF601", Bound.OPEN, why, of=(Work.VERTICES,))
    if _sorts(frame):
        why = "the application's: triangles come sorted by depth"
        yield FreeWork("order of what is sorted", "PF601", Bound.OPEN, why, of=(Work.BLENDING,))
    why = f"{uploaded:,} bytes, whose cycles are a formula, are not among those that are moved"
    yield FreeWork("bytes of uploads", "PF601", Bound.OPEN, why, of=(Work.COMMANDS,))
    yield FreeWork(
        "driver", "PF601", Bound.OPEN, "what the host does before the command processor reads", of=(Work.COMMANDS,)
    )


def grounds_of_gpu(config: AttilaConfig) -> Mapping[str, Ground]:
    """Return the grounds of the figures of a frame."""
    rates = Ground.executed(*constants_of(config))
    command = constants_of(config, lambda key, about: key.startswith("command."))
    phases = {PHASES[key]: Ground.formula(PHASES[key].removesuffix(" (formula)"), *command) for key in FORMULAS}
    whole = rates
    for each in phases.values():
        whole |= each
    return {
        "clock_mhz": Ground.given(_CLOCK),
        "lanes": Ground.given(_COMPONENTS, *constants_of(config, named(_LANES))),
        "lane_bits": Ground.given(_BITS),
        "cycles": whole,
        "work": whole,
        "stages": rates,
        **{f"stages: {name}": each for name, each in phases.items()},
        "mix": Ground.executed(),
        "covered_lanes": Ground.executed(),
        "traffic": rates,
        "picture": Ground.executed(),
    }


# A frame on ATTILA, with the account that all machines share.


_LAST = "the last one, in which it is seen that all is done"
"""Cycle outside of all states of the command processor, which a frame of the authors' simulator has too."""
_SHADER_LANES = 16
"""Lanes of a shader: four inputs of four components."""
_DEPTH_BITS = 0xFFFFFF


def draw_on_attila(
    frame: Frame,
    *,
    parts: int = 1,
    config: AttilaConfig | None = None,
    progress: Telling | None = None,
) -> DrawnFrame:
    """Draw a frame on one GPU; raises InputError for states that it does not support.

    The GPU is one part, busy from the first cycle to the last; waits of its units are within its busy cycles.
    """
    config = config or PAPER
    run = run_scene(scene_of_frame(frame), config=config, progress=progress)
    generated = sum(int(draw.quads.covered.size) for draw in run.work.draws)
    covered = sum(int(np.bitwise_count(draw.quads.covered).sum()) for draw in run.work.draws)
    return DrawnFrame(
        machine="ATTILA",
        parts=parts,
        lanes=_SHADER_LANES * config.gpu.shaders,
        clock_mhz=CLOCK_MHZ,
        cycles=run.cycles,
        work=run.cycles,
        stages=_stages(run),
        mix=_mix(run),
        covered_lanes=covered / max(1, 4 * generated),
        enabled_lanes=None,
        traffic=_traffic(run),
        picture=_picture(run),
        whose_stages="of the command processor",
        facts=(
            ("rates", coded("of the paper's tables, and of the early preset of its authors' simulator", "PF602")),
            ("not counted", coded("what the host does before the command processor reads; bytes of uploads", "PF601")),
        ),
        own_arithmetic=DIFFERS,
        free=tuple(left_out(frame, sum(each.size for each in run.work.uploads))),
        grounds=grounds_of_gpu(config),
        counted=counted_by_gpu(frame),
        part="GPU",
        timeline=_timeline(run),
    )


_FREE_STEPS = {"ready": "registers (formula)", "write": "uploads (formula)"}
"""Steps that are formulas."""


def _stages(run: SceneRun) -> dict[str, int]:
    """Return the cycles of the command processor's states, and the one that ends the run."""
    stages = {text: run.columns[key] for key, text in PHASES.items()}
    counted = sum(stages.values())
    if run.cycles != counted + 1:
        raise InternalError(f"{run.cycles} cycles, of which {counted} are in states of the command processor")
    return {**stages, _LAST: run.cycles - counted}


def _timeline(run: SceneRun) -> tuple[tuple[str, tuple[TimeSpan, ...]], ...]:
    """Return the steps of the frame, of draws their geometry; the fragments of draws; and what later draws upload."""
    timed = run.timed
    names = {STEPS_OF: "commands", FRAGMENTS_OF: "fragments", UPLOADS_OF: "uploads"}
    lanes = {stream: (name, list[TimeSpan]()) for stream, name in names.items()}
    for stream, step, begin, end in timed.spans:
        lanes[stream][1].append(TimeSpan(_FREE_STEPS.get(timed.steps[step][0], timed.steps[step][0]), begin, end))
    return tuple((name, tuple(spans)) for name, spans in lanes.values() if spans)


def _mix(run: SceneRun) -> dict[str, int]:
    """Return the instructions executed, each for a group of four inputs."""
    shaders = (counts for unit, counts in run.timed.counts.items() if unit.startswith("ShDX"))
    return {"of vertices and fragments, four at a time": sum(each["ExecutedInstructions"] // 4 for each in shaders)}


def _traffic(run: SceneRun) -> dict[str, int]:
    memory = run.timed.counts["MC"]
    moved = {text: memory[f"{name}ReadBytes"] + memory[f"{name}WriteBytes"] for name, text in CLIENTS.items()}
    return {text: count for text, count in moved.items() if count}


def _picture(run: SceneRun) -> Picture:
    return Picture(run.image, (run.work.depth[::-1] & _DEPTH_BITS).astype(np.int64))
