"""Do results that leave beside reads keep every bit, and do they take the cycles that the README states?"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from microcode import check
from pixelflow.config import THESIS, ArrayConfig, NodeConfig
from pixelflow.node import Run
from tessellation import Method, Patch, Tessellation, load, tessellate
from tessellation.host.session import Session
from tessellation.microprogram.method import WrittenPass, library_named
from tessellation.microprogram.passes import write_back
from tessellation.plan.schedule import Stage
from tests.tessellation.test_texture_path import same_bits

LITTLE = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2, panels_per_emc=4))
"""32 blocks in two modules."""

OVERLAPPED = Method(schedule="shared-columns")
LONG = Method(mantissa_bytes=4)


@cache
def executed(method: Method, library: str) -> tuple[Run, Run, Run]:
    """Run three full passes of bicubic nets at 4x4 samples, time alone; each pass works on the same 512 patches."""
    session = Session(THESIS, "rows", library_named(library), method)
    net = Patch(np.zeros((4, 4, 3), np.float32))
    (alone,) = session.plan({session.add(net, 4): 4 for _ in range(512)})
    if not method.coarse:
        return (session.node.run(session.program(alone), function=False),) * 3
    before = WrittenPass(alone.memory, alone.work, gone=3 if method.fine else 0)
    plans = [alone._replace(before=before if number else None, last=number == 2) for number in range(3)]
    return tuple(session.node.run(session.program(plan), function=False) for plan in plans)


@pytest.mark.parametrize(
    ("schedule", "library", "results", "cycles"),
    [
        ("shared-columns", "tuned-finite", "gp-fine", [59_184] * 3),
        pytest.param("shared-columns", "tuned-finite", "gp-coarse", [33_618, 50_540, 99_826], marks=pytest.mark.slow),
        pytest.param("shared-columns", "tuned-finite", "gp-both", [34_536, 50_540, 75_188], marks=pytest.mark.slow),
        pytest.param("thesis", "plain", "gp-both", [102_683, 102_708, 127_356], marks=pytest.mark.slow),
    ],
)
def test_three_passes_of_512_patches_to_two_gps(schedule, library, results, cycles):
    runs = executed(Method(schedule=schedule, results=results, gps=2), library)
    assert [run.cycles - run.by_stage[Stage.LEE.value] for run in runs] == cycles, "the README says so"


def test_what_the_cycles_of_the_fine_way_are():
    """The points, 24,576 cycles of two paths, leave beside seven reads and the last arithmetic; then the normals."""
    before = executed(OVERLAPPED, "tuned-finite")[0]
    after = executed(Method(schedule="shared-columns", results="gp-fine", gps=2), "tuned-finite")[0]
    assert after.gni_cycles == {"store0": 49_152, "store1": 49_152} and not before.gni_cycles
    more = {name: cycles - before.by_stage.get(name, 0) for name, cycles in after.by_stage.items()}
    assert {name: cycles for name, cycles in more.items() if cycles} == {
        Stage.MARKS.value: 3,  # of the PEs that send
        Stage.STALL.value: 891,  # a part of three bytes takes a little longer than the arithmetic from read to read
        Stage.RETURN.value: 24_672,  # 24,576 for the normals; 48 more copy six floats into the port
    }
    reads = [one for one in after.program.instructions if one.declaration.mnemonic == "TAS_MemRdGp8"]
    assert [one.operands[0] for one in reads] == [0b0011, 0b1100] * 3 + [0b0011], "two modules at a time"
    assert {one.operands[2] for one in reads} == {3}, "three quarters of a coordinate"


def mixed(method: Method) -> Tessellation:
    """Tessellate two nets at many sizes; the passes, three in all, need different columns of PEs."""
    odd = [Patch(np.random.default_rng(n).normal(size=(3, 6, 3))) for n in range(3)]
    patches, samples = [*odd, *load("teapot").patches[:15]], [4, 3, 4, 8, 8, 8, 8, 8, 7, 4, 4, 4, 4, 4, 4, 4, 2, 3]
    return tessellate(patches, samples, library="tuned", config=LITTLE, method=method)


directly = cache(mixed)


@pytest.mark.parametrize(
    ("results", "gps"),
    [
        ("gp-fine", 2),
        *(pytest.param(each, 1, marks=pytest.mark.slow) for each in ("gp-coarse", "gp-both")),
        ("gp-both", 2),
    ],
)
@pytest.mark.parametrize("schedule", [pytest.param("thesis", marks=pytest.mark.slow), "shared-columns"])
def test_every_way_has_the_bits_of_the_direct_one(schedule, results, gps):
    direct, method = directly(Method(schedule=schedule)), Method(schedule=schedule, results=results, gps=gps)
    returned = mixed(method)
    assert same_bits(direct, returned) and returned.ledger == direct.ledger and len(returned.runs) == 3
    assert len({method.returned(WrittenPass(plan.memory, plan.work), LITTLE).columns for plan in returned.plans}) > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        Method("lee", results="gp-coarse"),
        replace(LONG, results="gp-fine"),
        replace(LONG, results="gp-both", hybrid=True),
        replace(LONG, results="gp-both", schedule="shared-columns"),
        replace(LONG, results="gp-coarse", control_points="lee"),
    ],
    ids=lambda method: f"{method.control_points}-{method.schedule}-{method.mantissa_bytes}-{method.results}",
)
def test_the_lee_and_longer_mantissas_too(method, teapot):
    config = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2, panels_per_emc=2))
    patches = teapot[:10]
    direct = tessellate(patches, 4, library="tuned", config=config, method=replace(method, results="direct"))
    twice = tessellate(patches * 2, 4, library="tuned", config=config, method=method)
    assert (len(direct.runs), len(twice.runs)) == (1, 2)
    for a, b in zip(twice.patches, direct.patches * 2, strict=True):
        assert a.points.tobytes() == b.points.tobytes() and a.normals.tobytes() == b.normals.tobytes()


@pytest.mark.slow
def test_points_wait_for_the_end_where_marks_cannot_change_in_time(teapot):
    """Eight modules to one GP leave more parts of the pass before than there are reads to send them beside."""
    config = NodeConfig(array=ArrayConfig(modules=8, emcs_per_module=2, panels_per_emc=2))
    method = Method(schedule="shared-columns", results="gp-both", gps=1)
    patches, samples = [*teapot[:32], *teapot[:32], teapot[5]], 4
    session = Session(config, "rows", library_named("tuned"), method)
    plans = session.plan({session.add(patch, samples): samples for patch in patches})
    first, last = (write_back(session._work(plan), config, method) for plan in plans)
    assert (first.own_floats, last.own_floats) == (3, 0) and last.before_parts == (4, 4, 4)
    direct, returned = (
        tessellate(patches, samples, library="tuned", config=config, method=one) for one in (OVERLAPPED, method)
    )
    assert same_bits(direct, returned)


@pytest.mark.parametrize(
    "results", [*(pytest.param(each, marks=pytest.mark.slow) for each in ("gp-fine", "gp-coarse")), "gp-both"]
)
def test_timing_only_and_the_static_checks_agree(results, teapot):
    session = Session(LITTLE, "rows", library_named("tuned"), Method(schedule="shared-columns", results=results))
    marked = {session.add(patch, 4): 4 for patch in [*teapot] * 2}
    programs = [session.program(plan) for plan in session.plan(marked)]
    assert [check(program) for program in programs] == [[], []]
    timing = [session.node.run(program, function=False).cycles for program in programs]
    assert timing == [result.run.cycles for result in session.tessellate(marked)]
