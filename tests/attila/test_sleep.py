"""Does a box that sleeps while it only counts stalls leave every cycle and every count as they are?"""

from __future__ import annotations

import pytest

from attila_bridge.function import draw
from attila_bridge.run import units_of
from attila_bridge.time.config import PAPER
from attila_bridge.time.gpu_box import GpuBox
from attila_bridge.time.simulation import AttilaRun, Simulation
from benchmarks.attila import scenes
from tests.attila.moved import BATCHES, SCENES

BENCH = scenes()
SMALL = ("quiet: one pixel, and what every frame costs", "vertex-bound: 400 triangles off the screen")
BOXES = ("fifo", "depth", "textures")


def results(run: AttilaRun) -> object:
    return run.phases, run.rendered, run.spans, run.statistics


def awake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let boxes that would sleep until their next input tick in each cycle; others have nothing to tick for."""

    def stay(box: GpuBox[object], each: dict[str, int], wake: int = -1) -> None:  # type: ignore[type-var]
        if not box.state.awake:  # type: ignore[attr-defined]
            sleep(box, each, wake)

    sleep = GpuBox._sleep
    monkeypatch.setattr(GpuBox, "_sleep", stay)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in SMALL)) for name in BENCH])
def test_the_scenes_of_the_benchmark_are_as_without_sleep(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    work = draw(BENCH[name])
    slept = results(Simulation(work).finish())
    awake(monkeypatch)
    assert results(Simulation(work).finish()) == slept


@pytest.mark.parametrize("values", [{}, BATCHES, {"texture.ways": 8, "texture.lines": 2}, {"texture.wait_window": 1}])
@pytest.mark.parametrize(
    "scene", ["texture twice", *(pytest.param(each, marks=pytest.mark.slow) for each in ("depths", "blended"))]
)
def test_other_machines_are_as_without_sleep(
    scene: str, values: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = PAPER.with_values(values)
    work = draw(SCENES[scene](), units_of(config))
    slept = Simulation(work, config)
    done = results(slept.finish())
    awake(monkeypatch)
    watched = Simulation(work, config)
    assert results(watched.finish()) == done


def test_counts_in_the_middle_of_a_run_have_those_of_sleeping_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    work = draw(SCENES["texture twice"](), units_of(PAPER))
    slept, cycles = Simulation(work), range(3000, 9000, 501)
    found = []
    for cycle in cycles:
        slept.clock.run_until(cycle)
        found.append(slept.boxes.counts_before(cycle))
    awake(monkeypatch)
    other = Simulation(work)
    for cycle, counts in zip(cycles, found, strict=True):
        other.clock.run_until(cycle)
        assert other.boxes.counts_before(cycle) == counts
