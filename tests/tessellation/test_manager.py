"""Does the application's interface keep patches, tessellate what is marked, and update the handles?"""

from __future__ import annotations

import math

import numpy as np
import pytest

from pixelflow.config import ArrayConfig, NodeConfig
from pixelflow.simd.errors import InputError
from tessellation import Method, Patch, PatchManager, tessellate
from tessellation.host.session import operations
from tessellation.plan.schedule import Stage
from tessellation.plan.texture_layout import Owner
from tessellation.surface.trim_curves import Trim, TrimLoop

SMALL = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2))
BOW = Trim((TrimLoop.of_points([(0.1, 0.1), (0.9, 0.9), (0.9, 0.1), (0.1, 0.9)]),))
"""Its sides cross."""


@pytest.mark.parametrize("schedule", ["thesis", "shared-columns"])
def test_marked_patches_are_tessellated_and_the_others_left(schedule, teapot):
    manager = PatchManager({3: 40}, config=SMALL, method=Method(schedule=schedule))
    handles = [manager.add(patch) for patch in teapot]
    expected = tessellate(teapot, 4, config=SMALL, method=Method(control_points="lee"))
    marked = [2, 3, 11, 30]
    for number in marked:
        handles[number].mark(8)
        handles[number].mark(4)
    assert manager.tessellate() == tuple(handles[number] for number in marked)
    for number, handle in enumerate(handles):
        assert (handle.result is not None) == (number in marked)
        if handle.result is not None:
            assert handle.result.points.tobytes() == expected.patches[number].points.tobytes()
    assert len(manager.runs) == 1 and Stage.LEE.value in manager.runs[0].by_stage
    handles[0].mark(3)
    assert manager.tessellate() == (handles[0],) and handles[0].result.samples == 3
    assert Stage.LEE.value not in manager.runs[0].by_stage, "the LEE is configured once a session"
    assert manager.tessellate() == () and manager.cycles == 0


def test_frames_that_follow_each_other_have_one_program(teapot):
    """Marked again alike, patches take the program of before, the same cycles, and give the same bits."""
    manager = PatchManager({3: 40}, config=SMALL)
    handles = [manager.add(patch) for patch in teapot[:4]]
    programs, cycles, points = [], [], []
    for samples in (4, 4, 4, 3, 4):  # the first one configures the LEE besides
        for handle in handles:
            handle.mark(samples)
        manager.tessellate()
        programs.append(manager.runs[0].program)
        cycles.append(manager.cycles)
        points.append(b"".join(handle.result.points.tobytes() for handle in handles))
    assert programs[1] is programs[2] is programs[4] and programs[0] is not programs[1] is not programs[3]
    assert cycles[1] == cycles[2] == cycles[4] < cycles[0]
    assert points[0] == points[1] == points[2] == points[4] != points[3]


@pytest.mark.slow
def test_several_passes_where_a_module_has_too_many(teapot):
    manager = PatchManager({3: 40}, config=SMALL)
    handles = [manager.add(patch) for patch in teapot[:12]]
    for handle in handles[::2]:
        handle.mark(16)
    manager.tessellate()
    assert len(manager.plans) == 3, "every second patch lies in module 0, which has two EMCs"
    assert {place.module for plan in manager.plans for place in plan.work.placements} == {0}
    replicated = PatchManager({3: 40}, config=SMALL, method=Method(replication=2))
    again = [replicated.add(patch) for patch in teapot[:12]]
    for handle in again[::2]:
        handle.mark(16)
    replicated.tessellate()
    assert len(replicated.plans) == 2, "stored twice, the patches go to both modules"
    assert all((a.result.points == b.result.points).all() for a, b in zip(handles[::2], again[::2], strict=True))


def test_large_patches_are_placed_first(teapot):
    manager = PatchManager({3: 40}, config=SMALL)
    handles = [manager.add(patch) for patch in teapot[:8]]
    for handle, samples in zip(handles, [4, 4, 8, 4, 16, 16, 5, 2], strict=True):
        handle.mark(samples)
    manager.tessellate()
    (plan,) = manager.plans
    for module in range(2):
        places = sorted((p for p in plan.work.placements if p.module == module), key=lambda p: (p.x // 16, p.y, p.x))
        assert places[0].samples == 16
    assert all(handle.result.points.shape[0] == handle.result.samples for handle in handles)


def test_the_maximum_per_degree_is_kept(teapot):
    manager = PatchManager({3: 1, (2, 4): 1}, config=SMALL)
    manager.add(teapot[0])
    manager.add(Patch(np.zeros((3, 5, 3))))
    for patch in (teapot[1], Patch(np.zeros((5, 3, 3)))):
        with pytest.raises(InputError, match="storage of"):
            manager.add(patch)
    with pytest.raises(InputError, match="allowed: 2 to 16"):
        manager.handles[0].mark(17)
    for maximum in ({12: 1}, {3: -1}):
        with pytest.raises(InputError, match="degrees 2 to 11"):
            PatchManager(maximum)


@pytest.mark.parametrize(
    "schedule",
    [
        pytest.param("thesis", marks=pytest.mark.slow),
        "shared-columns",
        pytest.param("fixed-sums", marks=pytest.mark.slow),
    ],
)
def test_a_modified_patch_is_tessellated_from_its_new_points(schedule, teapot):
    method = Method(schedule=schedule)
    manager = PatchManager({3: 8}, config=SMALL, method=method)
    handles = [manager.add(patch) for patch in teapot[:4]]
    space = manager.session.database.space
    used = [space.bytes_of(Owner.PATCHES, module) for module in range(2)]
    # The last of these has coordinates that sums in fixed point cannot be trusted with, so that it changes its kind.
    wide = Patch(teapot[9].points * np.array([1.0, 1.0, 2.0**-40]))
    for patch in (teapot[20], teapot[21], wide, teapot[22]):
        handles[1].modify(patch)
        assert handles[1].patch is patch
        for handle in handles[:2]:
            handle.mark(4)
        manager.tessellate()
        expected = tessellate([teapot[0], patch], 4, config=SMALL, method=method, library="tuned")
        for handle, samples in zip(handles, expected.patches, strict=False):
            assert handle.result.points.tobytes() == samples.points.tobytes()
            assert handle.result.normals.tobytes() == samples.normals.tobytes()
        if patch is teapot[21]:
            assert [space.bytes_of(Owner.PATCHES, module) for module in range(2)] == used, "the size keeps its place"


@pytest.mark.slow
def test_a_patch_modified_while_a_tessellation_is_under_way_changes_after_it(teapot):
    manager = PatchManager({3: 40}, config=SMALL)
    handles = [manager.add(patch) for patch in teapot]
    seen = []

    def during(begins) -> None:
        seen.append(begins.number)
        if begins.number == 1:
            handles[-1].modify(teapot[0])
            assert handles[-1].patch is teapot[-1]
            with pytest.raises(InputError, match="would have 3x4"):
                handles[-1].modify(Patch(np.zeros((3, 4, 3)) + np.arange(3)))
            with pytest.raises(InputError, match="cross"):
                handles[-1].modify(Patch(teapot[0].points, BOW))

    for handle in handles:
        handle.mark(8)
    manager.tessellate(during)
    assert len(seen) > 1
    before = tessellate([teapot[-1]], 8, config=SMALL).patches[0]
    assert handles[-1].result.points.tobytes() == before.points.tobytes() and handles[-1].patch is teapot[0]
    handles[-1].mark(8)
    manager.tessellate()
    after = tessellate([teapot[0]], 8, config=SMALL).patches[0]
    assert handles[-1].result.points.tobytes() == after.points.tobytes()


def _fail(*_, **__) -> None:
    raise InterruptedError


@pytest.mark.parametrize("fails", [False, True])
def test_marks_made_while_a_tessellation_is_under_way_are_for_the_next_one(fails, teapot):
    manager = PatchManager({3: 3}, config=SMALL)
    handles = [manager.add(patch) for patch in teapot[:3]]

    def during(begins) -> None:
        handles[1].mark(4)
        handles[2].mark(3)
        if fails:
            raise InterruptedError

    handles[0].mark(2)
    handles[1].mark(2)
    if fails:
        with pytest.raises(InterruptedError):
            manager.tessellate(during)
    else:
        assert manager.tessellate(during) == tuple(handles[:2])
        assert handles[1].result.samples == 2 and handles[2].result is None
    assert manager.tessellate() == tuple(handles[0 if fails else 1 :])
    assert [handle.result.samples for handle in handles] == [2, 4, 3]
    assert manager.tessellate() == ()


@pytest.mark.parametrize("where", ["during a pass", "behind the passes"])
def test_a_patch_modified_while_a_tessellation_fails_changes_all_the_same(where, teapot, monkeypatch):
    manager = PatchManager({3: 4}, config=SMALL)
    handles = [manager.add(patch) for patch in teapot[:4]]

    def during(begins) -> None:
        handles[0].modify(teapot[20])
        handles[1].modify(teapot[21])
        if where == "during a pass":
            raise InterruptedError

    manager.mark_all([4] * 4)
    with monkeypatch.context() as patched, pytest.raises(InterruptedError):
        patched.setattr("tessellation.host.manager.balance", _fail)
        manager.tessellate(during)
    assert [handle.patch for handle in handles] == [teapot[20], teapot[21], *teapot[2:4]]
    handles[1].modify(teapot[22])
    manager.tessellate()
    expected = [teapot[20], teapot[22], *teapot[2:4]]
    assert [handle.patch for handle in handles] == expected
    for handle, samples in zip(handles, tessellate(expected, 4, config=SMALL, library="tuned").patches, strict=True):
        assert handle.result.points.tobytes() == samples.points.tobytes()


def test_all_patches_are_modified_where_one_finds_no_room(teapot, monkeypatch):
    manager = PatchManager({3: 4}, config=SMALL, method=Method(schedule="fixed-sums"))
    handles = [manager.add(patch) for patch in teapot[:4]]
    wide = Patch(teapot[9].points * np.array([1.0, 1.0, 2.0**-40]))  # as floats, in another place

    def during(begins) -> None:
        for handle, patch in zip(handles, [teapot[20], wide, teapot[21], teapot[22]], strict=True):
            handle.modify(patch)

    def full(*_) -> None:
        raise InputError("no room")

    manager.mark_all([4] * 4)
    with monkeypatch.context() as patched, pytest.raises(InputError, match="no room"):
        patched.setattr(manager.session.database, "store", full)
        manager.tessellate(during)
    assert [handle.patch for handle in handles] == [teapot[20], teapot[1], teapot[21], teapot[22]]


def test_what_is_recalled_is_of_the_points_that_were_tessellated(teapot, monkeypatch):
    manager = PatchManager({3: 2}, config=SMALL, method=Method(cache="base"))
    handles = [manager.add(patch) for patch in teapot[:2]]
    manager.mark_all([4, 4])
    manager.tessellate()
    before = handles[1].result
    handles[1].modify(teapot[20])
    with pytest.raises(InterruptedError), monkeypatch.context() as patched:
        patched.setattr(manager.session, "plan", _fail)
        manager.tessellate()
    assert manager.recall() == tuple(handles) and handles[1].result is not before
    assert handles[1].result.patch is teapot[1] and handles[1].patch is teapot[20]
    assert np.array_equal(handles[1].result.point_errors, before.point_errors)


def test_a_modified_patch_is_loaded_by_itself_from_the_gps(teapot):
    manager = PatchManager({3: 40}, config=SMALL, method=Method(load="gp"))
    handles = [manager.add(patch) for patch in teapot]
    handles[3].mark(4)
    manager.tessellate()
    whole = manager.loads[0].cycles
    handles[3].mark(4)
    manager.tessellate()
    assert manager.loads == ()
    handles[3].modify(teapot[5])
    handles[3].mark(4)
    manager.tessellate()
    # 480 bytes at 2 bytes a cycle, and what begins a load.
    assert 240 <= manager.loads[0].cycles < 800 < whole / 10
    with pytest.raises(InputError, match="would have 3x4"):
        handles[3].modify(Patch(np.zeros((3, 4, 3)) + np.arange(3)))


def test_what_finds_no_room_is_tessellated_on_the_gps(teapot):
    assert operations(4, 4) == 162 + 116 + 1 + 3 == 282, "section 5 of the thesis"
    room = SMALL.array.lanes // 64  # patches of 8x8 samples
    manager = PatchManager({3: 40}, config=SMALL, passes=1)
    handles = [manager.add(patch) for patch in teapot]
    for handle in handles:
        handle.mark(8)
    assert manager.tessellate() == tuple(handles)
    assert len(manager.runs) == 1 and len(manager.on_gps) == len(teapot) - room
    assert manager.ledger.all_placed.patches == room
    assert manager.gp_cycles == math.ceil(len(manager.on_gps) * 64 * 282 / 240e6 / 2 * 100e6)
    assert manager.last.within_limits and len(manager.last.patches) == len(teapot)
    for number in manager.on_gps:
        errors = handles[number].result.point_errors
        assert errors.max() <= 1.0, "rounded once"
    handles[0].mark(4)
    manager.tessellate()
    assert manager.on_gps == () and manager.gp_cycles == 0
    with pytest.raises(InputError, match="0 passes"):
        PatchManager({3: 1}, passes=0)
