"""Does it matter into which PrimSets a mesh is cut? Not for what comes out; for what it costs, as can be counted."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import in_order, sub_bins
from larrabee_bridge.pipeline.front_end import FrontEndResult
from larrabee_bridge.vpu.config import CoreConfig
from tests.larrabee_front.meshes import camera, colours, front_end, has_the_bins_of_boxes, same_triangles, sphere

POINTS, CORNERS = sphere()
_, MATRIX = camera(POINTS, 320, 240)
COUNT = len(CORNERS)


def run(corners: np.ndarray = CORNERS, **how) -> FrontEndResult:
    return front_end(POINTS, colours(len(POINTS)), corners, MATRIX, 320, 240, **how)


@pytest.fixture(scope="module")
def whole() -> FrontEndResult:
    return run()


@pytest.mark.parametrize("primset", [1, 2, 15, 16, 17, COUNT - 1, COUNT, 1000])
def test_triangles_and_bins_stay_the_same(primset: int, whole: FrontEndResult) -> None:
    result = run(primset=primset)
    assert same_triangles(result, whole) and has_the_bins_of_boxes(result, 320, 240)
    assert len(result.cycles) == -(-COUNT // primset)
    assert np.array_equal(result.primset, result.source // primset)


@pytest.mark.parametrize("threads", [1, 2, 3, 4])
def test_so_they_do_with_fewer_threads(threads: int, whole: FrontEndResult) -> None:
    assert same_triangles(run(threads=threads, primset=60), whole)


@pytest.mark.parametrize("primset", [1, 16, 50, 1000])
def test_vertices_are_shaded_once_in_each_primset(primset: int) -> None:
    """Seiler et al. 2008, 4.3: "if they haven't already been transformed"; another PrimSet does not know."""
    result = run(primset=primset)
    sets = [CORNERS[first : first + primset] for first in range(0, COUNT, primset)]
    assert result.vertices.tolist() == [len(np.unique(each)) for each in sets]
    assert result.distinct == len(np.unique(CORNERS))


def test_a_primset_costs_the_same_alone() -> None:
    """48 triangles: their corners begin at a cache line in either run."""
    result = run(primset=48)
    for number in (0, 1, len(result.cycles) - 1):
        alone = run(CORNERS[48 * number : 48 * (number + 1)], primset=48)
        for stage, cost in alone.costs.items():
            assert cost.cycles.tolist() == [result.costs[stage].cycles[number]], stage
        assert alone.cycles[0] == result.cycles[number]


def test_cycles_and_instructions_are_sums_of_the_stages(whole: FrontEndResult) -> None:
    assert list(whole.costs) == ["index", "transform", "assemble", "bin"]
    for family, count in whole.counts.items():
        assert count == sum(cost.counts[family] for cost in whole.costs.values())
    # One multiply-add for each of four rows and three terms, 8 for the reciprocal, 6 for quotients, 2 and 1 for places.
    sixteens = -(-int(whole.vertices[0]) // 16)
    fused = {family.name: count for family, count in whole.costs["transform"].counts.items()}["FUSED"]
    assert fused == sixteens * (12 + 8 + 6 + 3)


def test_taking_turns_hides_latency() -> None:
    found = run(primset=60)
    alone = np.sum([cost.cycles for cost in found.costs.values()], axis=0)
    several = np.minimum(60, COUNT - np.arange(0, COUNT, 60)) > 16
    assert (found.cycles[several] < alone[several]).all() and several[0]
    # Four threads cannot be faster than their instructions issue, two a cycle; nor does any of them get lost.
    assert sum(core.issued + core.paired for core in found.cores.values()) == sum(found.counts.values())
    assert all(core.issued <= core.cycles for core in found.cores.values())


def test_one_thread_has_nobody_to_take_turns_with() -> None:
    found = run(CORNERS[:20], threads=1, config=CoreConfig(mispredicted_cycles=0))
    alone = sum(int(cost.cycles.sum()) for cost in found.costs.values())
    # Where a stage follows another one, the cycle after its last issue is taken.
    assert 0 <= alone - found.cycles.sum() <= len(found.costs)


def test_a_slower_vector_unit_takes_longer() -> None:
    fast, slow = (run(CORNERS[:32], config=CoreConfig(vector_latency=latency)).cycles for latency in (1, 9))
    assert (fast < slow).all()


def test_bins_come_apart_and_together_again(whole: FrontEndResult) -> None:
    """Sub-bins of cores that took PrimSets in any order, merged by sequence id, are the bins."""
    result = run(primset=25)
    took = np.random.default_rng(2).integers(0, 5, len(result.cycles)).tolist()
    for tile in range(result.bins.columns * result.bins.rows):
        members = result.bins.of(tile)
        assert np.all(np.diff(result.primset[members]) >= 0)
        parts = sub_bins(whole.bins, tile, len(whole.triangles), 25, took)
        assert list(in_order(parts)) == members.tolist()
