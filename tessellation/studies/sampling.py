"""Sampling by view beside uniform sampling, frame by frame: samples, cycles and the largest error in pixels.

Uniform sampling has the smallest k whose largest error, measured over the patches that are seen, is not above that of
sampling by view. It is executed for these patches alone and for all, so that what the choice of k is worth is set apart
from what dropping patches is. A last row has the smallest k whose measured error is within the tolerance, which nobody
can know before: the bound is larger than the error, and more so where k is chosen for each patch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pixelflow.config import NodeConfig
from pixelflow.simd.report import Column, Json, Report, Table, facts, number
from tessellation.host.manager import PatchManager
from tessellation.sampling.choice import COUNTS, SampleChoice, SeenPatches, unseen_facts
from tessellation.sampling.measured import pixel_errors, samples_alike
from tessellation.studies.workloads import libraries_text

__all__ = ["sampling_report"]


def sampling_report(
    config: NodeConfig,
    scene: str,
    seen: Callable[[int], SeenPatches],
    manager: PatchManager,
    frames: Sequence[int],
    tell: Callable[[str], None],
) -> Report:
    """Return what each frame's patches take, sampled by view and alike; executed with the manager that holds them."""
    columns = (
        Column("frame", key="frame", fixed=True), Column("samples of a side", key="way", fixed=True),
        Column("patches", number, "patches"), Column("samples", number, "samples"),
        Column("triangles", number, "triangles", optional=True),
        Column("passes", number, "passes", optional=True), Column("cycles", number, "cycles"),
        Column("error", "{:.2f}".format, "error_pixels"), Column("bound", _or_dash, "bound_pixels"),
    )  # fmt: skip
    rows: list[Sequence[Json]] = []
    directions: list[str] = []
    unseen: list[int] = []
    for frame in frames:
        tell(f"frame {frame}")
        here = seen(frame)
        choice = here.choice("any")
        if not choice.kept:
            unseen.append(frame)
            continue
        found = [_row(frame, f"by view, {name}", here, here.choice(name), manager) for name in COUNTS]
        rows += [row for row, _ in found]
        least = found[0][1]
        everyone, tolerance = range(len(here.patches)), max(here.sampling[at].tolerance for at in choice.kept)
        alike = (
            ("of seen", least, choice.kept),
            ("of all", least, everyone),
            ("of seen, tolerated", tolerance, choice.kept),
        )
        for text, most, kept in alike:
            k = samples_alike([here.patches[at] for at in choice.kept], here.standpoint, most)
            samples = [k if at in kept else 0 for at in everyone]
            rows.append(_row(frame, f"{k}, {text}", here, choice, manager, samples)[0])
        directions.append(f"{frame}: {number(choice.by_direction)}")
    library = manager.session.library.name
    text = (
        f"scene {scene}; passes of schedule {manager.session.method.schedule} with library "
        f"{library}, executed, results at once; error: the largest distance on the screen between "
        "triangles and surface of the patches that are seen, in pixels, measured at many points in 64 bits; bound: by "
        "second differences; uniform rows have the smallest k with an error no larger than by view, or (tolerated) one "
        "within the tolerance; samples if each direction had a number of its own, a formula that nothing executes, by "
        f"frame: {'; '.join(directions)}"
    )
    return Report(
        "sampling by view",
        (scene, f"config {config.sha256[:6]}", libraries_text([library]), f"engine {manager.session.node.engine}"),
        results=[text, "", Table(columns, rows, key="sampling"), *facts(unseen_facts(unseen, len(frames)))],
        schema="pixelflow.study.sampling/1",
        data={"scene": scene, "unseen": list(unseen)},
    )


def _row(
    frame: int,
    way: str,
    here: SeenPatches,
    choice: SampleChoice,
    manager: PatchManager,
    samples: Sequence[int] | None = None,
) -> tuple[Sequence[Json], float]:
    """Return a row, executed, and its error: for what was chosen, or for uniform ``samples``."""
    counts = choice.samples if samples is None else samples
    manager.mark_all(counts)
    handles = manager.tessellate()
    results = [handle.result for handle in handles if choice.samples[handle.number]]
    error = float(pixel_errors([each for each in results if each is not None], here.standpoint).max(initial=0.0))
    triangles = sum(2 * (k - 1) ** 2 for k in counts if k)
    done = manager.last
    bound = choice.bound if samples is None and np.isfinite(choice.bound) else None
    return (frame, way, len(handles), done.samples, triangles, len(done.runs), done.cycles, error, bound), error


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
