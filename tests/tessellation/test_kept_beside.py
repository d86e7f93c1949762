"""Are results that are kept beside the next pass the same bits, and what does that take (appendix B)?"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pixelflow.config import THESIS, load_config
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import available
from tessellation import Method, Patch, PatchManager, load, tessellate
from tessellation.host.session import KeptResults
from tessellation.microprogram.method import CACHING_WAYS, SCHEDULES
from tessellation.microprogram.ports import KeptPass
from tessellation.plan.schedule import Stage
from tessellation.studies import INPUTS, pass_of

SMALL = load_config(None, ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=4"])
"""512 PEs: a few patches fill a pass."""

KEEPING, WAIT = Stage.KEEPING.value, Stage.KEPT_STALL.value


def manager(method: Method, counts: int = 24, sides: tuple[int, int] = (4, 4)) -> PatchManager:
    nets = np.random.default_rng(19).random((counts, *sides, 3), np.float32)
    found = PatchManager({(sides[0] - 1, sides[1] - 1): counts}, config=SMALL, method=method)
    for number, net in enumerate(nets):
        found.add(Patch(net)).mark((8, 4, 7)[number % 3] if method.schedule != "fixed-sums" else 8)
    return found


def bits(handles) -> list[bytes]:
    return [handle.result.points.tobytes() + handle.result.normals.tobytes() for handle in handles]


def test_kept_results_take_the_last_forty_bytes_below_the_port() -> None:
    """32 of data and 8 of working space."""
    assert [KeptPass.fits(SimpleNamespace(used=280 + more)) for more in range(2)] == [True, False]


@pytest.mark.parametrize(
    ("schedule", "way"),
    [
        ("shared-columns", "split"),
        *(
            pytest.param(schedule, way, marks=pytest.mark.slow)
            for schedule in SCHEDULES
            for way in CACHING_WAYS
            if (schedule, way) != ("shared-columns", "split")
        ),
    ],
)
def test_what_comes_back_is_what_a_tessellation_without_caching_gives(schedule: str, way: str) -> None:
    # k = 8 leaves no room beside the maps of sums in fixed point.
    plain = bits(manager(Method(schedule=schedule)).tessellate())
    found = manager(Method(schedule=schedule, cache=way, kept="beside"))
    assert bits(found.tessellate()) == plain
    kept, passes = found.session.kept, len(found.plans)
    room = schedule != "fixed-sums"
    assert passes > 2 and len(kept.beside) == (passes - 1) * room and kept.no_room == (passes - 1) * (not room)
    assert len(kept.stores) == passes - len(kept.beside)
    for handle in found.handles:
        handle.result = None
    found.session.node.write_memory(0, np.full((320, SMALL.lanes), 0xA5, np.uint8))
    assert bits(found.recall()) == plain
    # A later tessellation of some writes over the kept results of all, and those of its own passes come back.
    for handle in found.handles[5:20]:
        handle.mark(8)
    again = bits(found.tessellate())
    assert bits(found.recall()) == again
    found.session.forget()
    assert found.session.kept == KeptResults((), (), 0, 0)


@pytest.mark.slow
def test_sums_in_fixed_point_are_kept_beside_where_samples_are_few() -> None:
    patches = [*load("teapot").patches] * 3
    results = [
        tessellate(patches, 4, config=SMALL, method=Method(schedule="fixed-sums", cache=cache, kept=kept))
        for cache, kept in ((None, None), ("alternate", "beside"))
    ]
    assert len(results[1].kept.beside) == 2 == len(results[1].runs) - 1
    for one, other in zip(results[0].patches, results[1].patches, strict=True):
        assert one.points.tobytes() == other.points.tobytes() and one.normals.tobytes() == other.normals.tobytes()


@pytest.mark.slow
def test_all_engines_agree() -> None:
    """Points, normals, cycles and all bytes of texture memory; the pictures that lie beside are as they were laid."""
    picture = np.random.default_rng(3).integers(0, 256, (50, 70, 4), np.uint8)
    found = set()
    for engine in available():
        memories: list[str] = []

        def watch(node, memories=memories) -> None:
            memories.append(node)

        result = tessellate(
            [*load("teapot").patches] * 2, 4, engine=engine, config=SMALL, watch=watch,
            method=Method(cache="split", kept="beside", load="gp"), textures={"random": picture},
        )  # fmt: skip
        (node,) = memories
        data = b"".join(each.points.tobytes() + each.normals.tobytes() for each in result.patches)
        found.add((data, result.cycles, tuple(memory.digest() for memory in node.texture_memory)))
    assert len(available()) > 1 and len(found) == 1


def three(schedule: str, library: str, **options: str):
    return pass_of(Method(schedule=schedule, **options), library, given=INPUTS["three"]).on(THESIS)


@pytest.mark.slow
def test_alternate_writes_are_hidden_in_the_pass_of_the_thesis() -> None:
    """9,216 TASIC cycles a pass beside 102,656; the EMCs spend 303 on copies, marks and bases and wait for nothing."""
    plain = three("thesis", "plain")
    first, middle, last, alone = three("thesis", "plain", cache="alternate", kept="beside").runs
    assert first.by_stage == plain.runs[0].by_stage
    for run, without in ((middle, plain.runs[1]), (last, plain.runs[2])):
        assert run.by_stage[KEEPING] == run.total_cycles - without.total_cycles == 303
        assert run.by_stage[WAIT] == 0
        assert run.tasic_cycles[0] == without.tasic_cycles[0] + 9_216 == 15 * 3_584 + 9_216
    assert alone.total_cycles == 9_601


@pytest.mark.slow
def test_what_does_not_fit_beside_the_arithmetic_is_waited_for() -> None:
    """A wait is in the account, and never more than the writes by themselves."""
    plain = three("shared-columns", "tuned-finite").runs[1]
    middle = three("shared-columns", "tuned-finite", cache="alternate", kept="beside").runs[1]
    assert 0 < middle.by_stage[WAIT] < 9_216
    assert middle.cycles == plain.cycles + middle.by_stage[WAIT] + middle.by_stage[KEEPING]


@pytest.mark.slow
def test_nets_that_leave_no_room_in_a_pe_are_kept_after_their_pass() -> None:
    """10x10 points take 298 bytes of 320 (table 8); 40 are wanted."""
    result = manager(Method(cache="base", kept="beside"), 20, (10, 10))
    result.tessellate()
    kept = result.session.kept
    assert not kept.beside and kept.no_room == len(result.plans) - 1 == len(kept.stores) - 1


def test_what_cannot_go_together_is_refused() -> None:
    with pytest.raises(InputError, match=r"unknown time of caching 'besides'\n *did you mean beside"):
        Method(cache="base", kept="besides")
    for kept in ("after", "beside"):
        with pytest.raises(InputError, match="a time is given for results that are not kept"):
            Method(kept=kept)
    with pytest.raises(InputError, match="marks and ports that its points would take"):
        Method(cache="base", kept="beside", results="gp-fine")
