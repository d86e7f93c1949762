"""Sampling by view beside uniform sampling, frame by frame: samples, cycles and the largest error in pixels.

Uniform sampling has the smallest k whose largest error, measured over the patches that are seen, is not above that of
sampling by view. It is executed for these patches alone and for all, so that what the choice of k is worth is set apart
from what dropping patches is. A last row has the smallest k whose measured error is within the tolerance, which nobody
can know before: the bound is larger than the error, and more so where k is chosen for each patch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.config import NodeConfig
from pixelflow.node import stages_of, words_of
from pixelflow.simd.drawing import FreeWork, free_lines, free_object
from pixelflow.simd.report import Column, Json, Part, Report, Table, counted, facts, number
from tessellation.host.manager import PatchHandle, PatchManager
from tessellation.host.tessellator import Tessellation
from tessellation.plan.stages import without_configuration
from tessellation.sampling.choice import COUNTS, SampleChoice, SeenPatches, unseen_facts
from tessellation.sampling.measured import pixel_errors, samples_alike
from tessellation.studies.workloads import libraries_text

__all__ = ["Feed", "sampling_report"]

Feed = Callable[[int], Sequence[FreeWork]]
"""The way of so many instruction words to a node, of which no time is counted."""


def sampling_report(
    config: NodeConfig,
    scene: str,
    seen: Callable[[int], SeenPatches],
    manager: PatchManager,
    frames: Sequence[int],
    tell: Callable[[str], None],
    feed: Feed,
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
    passes = _Passes(manager)
    directions: list[str] = []
    unseen: list[int] = []
    for frame in frames:
        tell(f"frame {frame}")
        here = seen(frame)
        choice = here.choice("any")
        if not choice.kept:
            unseen.append(frame)
            continue
        found = [_row(frame, f"by view, {name}", here, here.choice(name), passes) for name in COUNTS]
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
            rows.append(_row(frame, f"{k}, {text}", here, choice, passes, samples)[0])
        directions.append(f"{frame}: {number(choice.by_direction)}")
    library = manager.session.library.name
    left = list(_left_out(passes, feed))
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
        results=[text, "", Table(columns, rows, key="sampling"), *_shown(unseen_facts(unseen, len(frames)), left)],
        schema="pixelflow.study.sampling/1",
        data={
            "scene": scene,
            "unseen": list(unseen),
            "lee_configuration_cycles": passes.configuring,
            "left_out": [free_object(each) for each in feed(passes.words)],
        },
    )


def _shown(unseen: Sequence[tuple[str, str]], left: Sequence[str]) -> list[Part]:
    return ["", *facts([*unseen, *(("" if at else "not counted", text) for at, text in enumerate(left))])]


def _left_out(passes: _Passes, feed: Feed) -> Iterator[str]:
    """Yield what the rows leave out."""
    yield "choice of samples, and camera, light and regions: work of the GPs; no rate of a GP is printed"
    yield from passes.manager.session.method.not_counted
    yield f"LEE configured in {counted(passes.configuring, 'cycle')} before, once for all rows"
    yield from (f"{line}, of all rows" for line in free_lines(feed(passes.words)))


@dataclass(slots=True)
class _Passes:
    """Passes by the manager that holds the patches, and what they have besides the cycles of their rows."""

    manager: PatchManager
    words: int = 0
    """Instruction words that were needed, of all passes."""
    configuring: int = 0
    """Cycles in which the LEE was configured, once before all: in none of the rows."""

    def executed(self, counts: Sequence[int]) -> tuple[Tessellation, Sequence[PatchHandle], int]:
        """Tessellate patches with so many samples of a side; return the account, what was made, and its cycles."""
        self.manager.mark_all(counts)
        handles = self.manager.tessellate()
        done = self.manager.last
        _, configuring = without_configuration(stages_of(done.runs))
        self.configuring += configuring
        self.words += sum(words_of(run).needed for run in done.runs)
        return done, handles, done.cycles - configuring


def _row(
    frame: int,
    way: str,
    here: SeenPatches,
    choice: SampleChoice,
    passes: _Passes,
    samples: Sequence[int] | None = None,
) -> tuple[Sequence[Json], float]:
    """Return a row, executed, and its error: for what was chosen, or for uniform ``samples``."""
    counts = choice.samples if samples is None else samples
    done, handles, cycles = passes.executed(counts)
    results = [handle.result for handle in handles if choice.samples[handle.number]]
    error = float(pixel_errors([each for each in results if each is not None], here.standpoint).max(initial=0.0))
    triangles = sum(2 * (k - 1) ** 2 for k in counts if k)
    bound = choice.bound if samples is None and np.isfinite(choice.bound) else None
    return (frame, way, len(handles), done.samples, triangles, len(done.runs), cycles, error, bound), error


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
