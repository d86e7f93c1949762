"""A frame on ATTILA: drawn as a scene, timed, and accounted for as every machine's pictures are."""

from __future__ import annotations

from collections import Counter

import numpy as np

from attila_bridge.drawing.busy import CLIENTS
from attila_bridge.drawing.convert import DIFFERS, scene_of_frame
from attila_bridge.drawing.grounds import counted_by_gpu, grounds_of_gpu, left_out
from attila_bridge.drawing.run import CLOCK_MHZ, PHASES, SceneRun, run_scene
from attila_bridge.time.command.processor import FRAGMENTS_OF, STEPS_OF
from attila_bridge.time.config import PAPER, AttilaConfig
from pixelflow.simd.drawing import DrawnFrame, Frame, Picture
from pixelflow.simd.errors import InternalError
from pixelflow.simd.report import TimeSpan
from pixelflow.simd.telling import Telling

__all__ = ["draw_on_attila"]

_LAST = "the last one, in which it is seen that all is done"
"""Cycle that no state of the command processor counts: a frame of the authors' simulator has it too."""
_LANES = 16
"""Lanes of a shader: four inputs of four components."""
_DEPTH = 0xFFFFFF


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
        lanes=_LANES * config.gpu.shaders,
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
            ("rates", "of the paper's tables, and of the early preset of its authors' simulator"),
            ("not counted", "what the host does before the command processor reads; bytes of uploads"),
        ),
        own_arithmetic=DIFFERS,
        free=tuple(left_out(frame, sum(each.size for each in run.work.uploads))),
        grounds=grounds_of_gpu(config),
        counted=counted_by_gpu(frame),
        part="GPU",
        timeline=_timeline(run),
    )


_STEPS = {"ready": "registers (formula)", "write": "uploads (formula)"}
"""Steps that nothing carries out."""


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
        lanes[stream][1].append(TimeSpan(_STEPS.get(timed.steps[step][0], timed.steps[step][0]), begin, end))
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
    return Picture(run.image, (run.work.depth[::-1] & _DEPTH).astype(np.int64))
