"""A frame on ATTILA: drawn as a scene, timed, and accounted for as every machine's pictures are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from attila_bridge.drawing.convert import DIFFERS, scene_of_frame
from attila_bridge.run import run_scene
from attila_bridge.time.config import AttilaConfig
from pixelflow.simd.drawing import DrawnFrame, Frame, Picture

if TYPE_CHECKING:
    from attila_bridge.run import AttilaRun

__all__ = ["draw_on_attila"]

_LANES = 16
"""Lanes of a shader: four inputs of four components."""
_DEPTH = 0xFFFFFF
_PHASES = {
    "cp_Ready": "commands", "cp_MemoryWrite": "uploads", "cp_MemoryRead": "loading programs", "cp_Clear": "clearing",
    "cp_Draw": "geometry", "cp_EndGeometry": "fragments past the last triangle", "cp_EndFragment": "ending",
    "cp_Swap": "the swap and the picture's way to the display",
}  # fmt: skip


def draw_on_attila(
    frame: Frame,
    *,
    parts: int = 1,
    config: AttilaConfig | None = None,
    progress: Callable[[str], None] | None = None,
) -> DrawnFrame:
    """Draw a frame on one GPU; raises InputError for states that it does not have here."""
    config = config or AttilaConfig()
    if progress is not None:
        progress("ATTILA")
    run = run_scene(scene_of_frame(frame), config=config)
    shaders = config.gpu.shaders
    words = run.work.color[::-1]
    colours = np.stack([words >> shift & 255 for shift in (0, 8, 16)], axis=-1).astype(np.uint8)
    picture = Picture(colours, (run.work.depth[::-1] & _DEPTH).astype(np.int64))
    return DrawnFrame(
        machine="ATTILA",
        parts=parts,
        lanes=_LANES * shaders,
        clock_mhz=config.clock_mhz,
        cycles=run.cycles,
        work=_busy(run),
        stages={text: int(run.columns[key]) for key, text in _PHASES.items()},
        mix=_mix(run),
        covered_lanes=_covered(run),
        enabled_lanes=None,
        traffic=_traffic(run),
        picture=picture,
        whose_stages="of the command processor",
        facts=(
            ("pixels", DIFFERS),
            ("not counted", "nothing before the command processor: the host's work is done"),
        ),
        own_arithmetic=DIFFERS,
    )
