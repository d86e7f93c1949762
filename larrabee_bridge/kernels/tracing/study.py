"""The study of the ray tracer: a knot of 205,952 triangles above a mirroring floor, and rays that are traced again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from larrabee_bridge.kernels.study import KernelResult
from larrabee_bridge.kernels.tracing.mesh import knot_on_floor
from larrabee_bridge.kernels.tracing.reference import shaded
from larrabee_bridge.kernels.tracing.scene import TracedView
from larrabee_bridge.kernels.tracing.tracer import Traced, trace
from larrabee_bridge.vpu.core import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from pixelflow.simd.report import number

__all__ = ["SIZE", "WHITE", "ray_tracer", "traced_knot"]

SIZE = 1024
"""Pixels of a side: figure 18."""
WHITE = 255
_COMPARED = 200
_SEED = 18


def traced_knot(config: CoreConfig | None = None, progress: Callable[[str], None] | None = None) -> Traced:
    """Trace the scene of the study; half a minute of the host."""
    return trace(knot_on_floor(), size=SIZE, config=config, progress=progress)


def ray_tracer(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Trace it, and 200 of its pixels again in float64 against every triangle."""
    mesh = knot_on_floor()
    found = trace(mesh, size=SIZE, config=config, progress=progress)
    pixels = np.random.default_rng(_SEED).integers(0, SIZE, (_COMPARED, 2))
    wanted = np.rint(shaded(mesh, TracedView(), SIZE, pixels) * WHITE)
    steps = np.abs(found.picture[pixels[:, 1], pixels[:, 0]] - wanted)
    eye, lights, reflected, more = found.rays
    memory = found.run.counts[VectorFamily.MEMORY] / sum(found.run.counts.values())
    return KernelResult(
        work=f"{number(len(mesh))} triangles, {SIZE}x{SIZE}; rays: {number(eye)} of the eye, {number(lights)} to the "
        f"light, {number(reflected)} reflected, {number(more)} from there to the light; tree of "
        f"{found.tree_bytes / 1e6:.1f} MB, built by the host",
        reference=f"{_COMPARED} pixels in float64 against every triangle",
        error=float(steps.max()),
        error_of="steps of 255",
        unit="ray",
        units=found.all_rays,
        phases=(found.run,),
        limit=f"boxes and triangles are tested for all sixteen rays while one needs them: packets are "
        f"{found.fullness:.1%} full of rays, yet masks shrink on the way down; compares, minima and tests of masks are "
        f"no flops; the longest tile is {found.scaling.longest / (found.run.cycles / 48):.0%} of a 48th of all; "
        f"memory instructions {memory:.1%}",
        picture=found.picture,
    )
