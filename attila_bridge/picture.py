"""Frames of all machines as scenes of ATTILA, drawn and timed, and the grounds of their account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from attila_bridge.run import CLIENTS, CLOCK_MHZ, FORMULAS, PHASES, SceneRun, run_scene
from attila_bridge.scene import (
    AttilaScene,
    ClearValues,
    Compare,
    DepthState,
    DrawState,
    Factor,
    Filter,
    SceneParts,
    SceneTexture,
    StencilOperation,
    StencilState,
    Wrap,
)
from attila_bridge.time.command_processor import FRAGMENTS_OF, STEPS_OF
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

# Frames as scenes: the integers of the drawing that machines share become clip coordinates, colours and programs.
#
# Pixels of ATTILA come out close to those of 64-bit integers, not the same: edges and depths are computed in float64
# from
# corners in float32, points on an edge go to another triangle, and colours are truncated where the others are rounded.
# Half a step of a colour is added for that reason, in the vertices, or by the program where a texture multiplies them.
#
# Draws that are sorted become draws of the same triangles, those of all of them together, the farthest first by the
# middle of its depths: triangles that run through each other, or of which one is nearer here and the other there,
# are in
# one order for all of their pixels. A cutout kills its fragments, and where more than colour hangs on them it hands its
# depth on, so that the tests come after the program.


DIFFERS = "ATTILA's edges and depths are float64, its colours float32 that are truncated"
"""Why pixels may be others than those of 64-bit integers."""

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
    Blend.OVER: (Factor.SRC_ALPHA, Factor.ONE_MINUS_SRC_ALPHA),
    Blend.ADD: (Factor.SRC_ALPHA, Factor.ONE),
    Blend.MULTIPLY: (Factor.ZERO, Factor.SRC_COLOR),
    Blend.SORTED: (Factor.SRC_ALPHA, Factor.ONE_MINUS_SRC_ALPHA),
}
_STEPS = {
    StencilStep.KEEP: StencilOperation.KEEP,
    StencilStep.ZERO: StencilOperation.ZERO,
    StencilStep.REPLACE: StencilOperation.REPLACE,
    StencilStep.UP: StencilOperation.INCR_WRAP,
    StencilStep.DOWN: StencilOperation.DECR_WRAP,
}
_STENCILS = {
    StencilTest.ALWAYS: Compare.ALWAYS,
    StencilTest.EQUAL: Compare.EQUAL,
    StencilTest.DIFFERENT: Compare.NOTEQUAL,
}

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Triangles of a frame that become one draw."""

    triangles: ScreenTriangles
    alphas: NDArray[np.int64]
    """[triangle] opacity of each: 0 to 255."""
    state: State


def refused_early(config: object) -> Callable[[Sequence[tuple[str, State]], int], None]:
    """Return what refuses, before any work, what ATTILA does not draw here."""
    return lambda draws, samples: _require_one(samples)


def _require_one(samples: int) -> None:
    if samples != 1:
        hint = "a larger picture has all of the samples, but no machine here takes the mean of its pixels"
        raise InputError(Fault(f"ATTILA draws one sample a pixel here, not {samples}", hint=hint))


def scene_of_frame(frame: Frame, name: str = "frame") -> AttilaScene:
    """Return a frame as a scene; raises InputError for four samples a pixel."""
    _require_one(frame.samples)
    made, known = SceneParts(), list[Texture]()
    for part in _parts(frame):
        _add(made, frame, part, known)
    red, green, blue = ((each + 0.5) / 255 for each in frame.background)
    return made.scene(name, (frame.width, frame.height), ClearValues((red, green, blue, 1.0), 1.0, 0))


def _parts(frame: Frame) -> Iterator[_Part]:
    """Yield what is drawn, in order: the draws as they come, then the sorted ones, cut where the state changes."""
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
        # In the pieces triangles are by draw; here they go back into their order.
        back = np.argsort(np.argsort(source, kind="stable"), kind="stable")
        alphas = np.array([layers[at].state.alpha for at in source])
        yield _Part(_joined(pieces).part(back), alphas, states[of_draw[source[0]]])


def _joined(pieces: list[ScreenTriangles]) -> ScreenTriangles:
    """Return triangles of several draws in their order, with texture coordinates where all have them."""
    found = ScreenTriangles.joined(pieces)
    coordinates = [piece.coordinates for piece in pieces if piece.coordinates is not None]
    return replace(found, coordinates=np.concatenate(coordinates)) if len(coordinates) == len(pieces) else found


def _add(made: SceneParts, frame: Frame, part: _Part, known: list[Texture]) -> None:
    """Add a draw with its arrays, its texture and its program; ``known`` are the textures up to now."""
    triangles, texture = part.triangles, part.state.texture
    count = 3 * len(triangles)
    position = np.ones((count, 4))
    screen = triangles.corners.reshape(count, 2) / SUBPIXELS
    position[:, 0] = 2 * screen[:, 0] / frame.width - 1
    position[:, 1] = 1 - 2 * screen[:, 1] / frame.height
    position[:, 2] = 2 * triangles.depths.reshape(count) / FAR - 1
    if triangles.nearness is not None:  # the division by w comes back to the screen, and ATTILA interpolates by it
        position *= NEAREST / triangles.nearness.reshape(count, 1)
    color = np.repeat(part.alphas, 3)[:, None].repeat(4, axis=1) / 255
    color[:, :3] = triangles.colours.reshape(count, 3) / 255 + (_HALF if texture is None else 0)
    coordinates, fragment, units = None, _PLAIN, dict[int, SceneTexture]()
    if texture is not None and triangles.coordinates is not None:
        height, width = texture.texels.shape[:2]
        coordinates = np.zeros((count, 4))
        coordinates[:, :2] = triangles.coordinates.reshape(count, 2) / TEXEL / (width, height)
        coordinates[:, 3] = 1
        fragment, units = _textured(part.state), {0: _texture(texture, known)}
    state = _state(part.state)
    made.add(position, color, fragment=fragment, state=state, coordinates=coordinates, textures=units)


def _texture(texture: Texture, known: list[Texture]) -> SceneTexture:
    """Return a texture under the number that it has among those that are known, or gets."""
    if not any(each is texture for each in known):
        known.append(texture)
    number = next(at for at, each in enumerate(known) if each is texture)
    least = Filter.LINEAR_MIPMAP_LINEAR if texture.mipmaps else Filter.LINEAR
    return SceneTexture(f"texture {number}", texture.levels, least, Filter.LINEAR, Wrap.REPEAT, anisotropy=1)


def _textured(state: State) -> str:
    """Return the program that multiplies by a texel, and drops what the state's cutout drops."""
    hands_depth_on = bool(state.cutout) and (state.depth_write or state.stencil is not None)
    cut = _CUT.format(least=repr((state.cutout - 0.5) / 255)) if state.cutout else ""
    return _TEXTURED.format(half=repr(_HALF), cut=cut, depth=_DEPTH if hands_depth_on else "")


def _state(state: State) -> DrawState:
    test = Compare.LESS if state.depth_test is DepthTest.LESS else Compare.ALWAYS
    depth = DepthState(test, state.depth_write)
    mask = (state.colour_write,) * 4
    return DrawState(depth, _stencil(state.stencil), _BLENDS[state.blend], color_mask=mask)


def _stencil(stencil: Stencil | None) -> StencilState | None:
    if stencil is None:
        return None
    steps = (_STEPS[each] for each in (stencil.failed, stencil.hidden, stencil.passed))
    return StencilState(_STENCILS[stencil.test], stencil.reference, *steps)


# Grounds of a frame on ATTILA (watching): values of the model that figures rest on, formulas, work that is counted.


_PAPER = "Moya et al., ISPASS 2006"

_CLOCK = Constant("clock", CLOCK_MHZ, Standing.DERIVED, f"{_PAPER}, section 5", "of the GPU and its memory", "MHz")
_COMPONENTS = Constant("components", 4, Standing.DERIVED, f"{_PAPER}, Table 1", "of an input, worked on at once")
_BITS = Constant("lane bits", 32, Standing.DERIVED, f"{_PAPER}, section 2", unit="bits")
_LANES = ("gpu.shaders", "shader.group")


def counted_by_gpu(frame: Frame) -> Mapping[Work, HowCounted]:
    """Return how the cycles of a frame have its work."""
    return {
        # The program of vertices hands on what the application has taken to clip space and lit.
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
    """Yield what a frame has for nothing; ``uploaded`` are the bytes that the command processor takes in."""
    why = "the application's; vertices come in clip space, with colours"
    yield FreeWork("camera and light", Bound.OPEN, why, of=(Work.VERTICES,))
    if _sorts(frame):
        why = "the application's: triangles come sorted by depth"
        yield FreeWork("order of what is sorted", Bound.OPEN, why, of=(Work.BLENDING,))
    why = f"{uploaded:,} bytes, whose cycles are a formula, are not among those that are moved"
    yield FreeWork("bytes of uploads", Bound.OPEN, why, of=(Work.COMMANDS,))
    yield FreeWork("driver", Bound.OPEN, "what the host does before the command processor reads", of=(Work.COMMANDS,))


def grounds_of_gpu(config: AttilaConfig) -> Mapping[str, Ground]:
    """Return what figures of a frame rest on."""
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


# A frame on ATTILA: drawn as a scene, timed, and accounted for as every machine's pictures are.


_LAST = "the last one, in which it is seen that all is done"
"""Cycle that no state of the command processor counts: a frame of the authors' simulator has it too."""
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
    """Draw a frame on one GPU; raises InputError for states that it does not have here.

    The GPU is one part and busy from the first cycle to the last: none is lost to imbalance, and none is waiting
    besides. Waits of its units for each other and for memory are within its busy cycles.
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
    found = {text: run.columns[key] for key, text in PHASES.items()}
    told = sum(found.values())
    if run.cycles != told + 1:
        raise InternalError(f"{run.cycles} cycles, of which {told} are in states of the command processor")
    return {**found, _LAST: run.cycles - told}


def _timeline(run: SceneRun) -> tuple[tuple[str, tuple[TimeSpan, ...]], ...]:
    """Return steps of the frame, of draws their geometry, and the fragments of draws."""
    timed = run.timed
    lanes = {STEPS_OF: ("commands", list[TimeSpan]()), FRAGMENTS_OF: ("fragments", list[TimeSpan]())}
    for stream, step, begin, end in timed.spans:
        lanes[stream][1].append(TimeSpan(_FREE_STEPS.get(timed.steps[step][0], timed.steps[step][0]), begin, end))
    return tuple((name, tuple(spans)) for name, spans in lanes.values())


def _mix(run: SceneRun) -> dict[str, int]:
    """Return instructions that a program's inputs make, by program: groups of four carry one out for all."""
    found: Counter[str] = Counter()
    for unit, counts in run.timed.counts.items():
        if unit.startswith("ShDX"):
            found["of vertices and fragments, four at a time"] += counts["ExecutedInstructions"] // 4
    return dict(found)


def _traffic(run: SceneRun) -> dict[str, int]:
    memory = run.timed.counts["MC"]
    found = {text: memory[f"{name}ReadBytes"] + memory[f"{name}WriteBytes"] for name, text in CLIENTS.items()}
    return {text: count for text, count in found.items() if count}


def _picture(run: SceneRun) -> Picture:
    return Picture(run.image, (run.work.depth[::-1] & _DEPTH_BITS).astype(np.int64))
