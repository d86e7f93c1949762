"""Does the ledger of a tessellation balance, and does it name the patch where something is lost?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from pixelflow.config import TINY, ArrayConfig
from pixelflow.node.account import Ledger
from pixelflow.simd.errors import InternalError
from tessellation import Method, PatchManager, tessellate
from tessellation.host.ledger import Amounts, balance
from tessellation.host.session import PassResult, Session
from tessellation.host.tessellator import collect
from tessellation.microprogram.gp_traffic import RESULT_BYTES
from tessellation.microprogram.method import library_named
from tessellation.plan.mapping import Pass

MARKED = {0: 4, 1: 8, 2: 3, 3: 16}


@pytest.fixture(scope="module")
def finished(teapot):
    session = Session(TINY, "rows", library_named("tuned"), Method(results="gp"))
    for patch in teapot[:5]:
        session.add(patch)
    results = session.tessellate(MARKED)
    return results, collect(results, teapot, TINY, session.method)


def of(results, samples, marked=MARKED, array: ArrayConfig = TINY.array):
    return balance(5, marked, results, samples, array, to_gps=True)


def moved(result: PassResult, **places) -> PassResult:
    """Return the result with the first of its placements replaced."""
    first, *others = result.plan.work.placements
    work = Pass((first._replace(**places), *others), result.plan.work.lanes)
    return result._replace(plan=result.plan._replace(work=work))


def test_a_balance(finished):
    ledger = of(*finished)
    total = Amounts(4, 1 + 4 + 1 + 16, 16 + 64 + 9 + 256)
    assert (ledger.registered, ledger.marked, ledger.all_placed, ledger.all_returned) == (5, total, total, total)
    assert ledger.placed == ledger.returned == (Amounts(1, 16, 256), Amounts(3, 6, 89)), "the large one by itself"


def test_what_is_wrong_is_named(finished):
    (large, small), samples = finished
    lost = small._replace(arrived=small.arrived & False)
    twice = small._replace(plan=small.plan._replace(work=large.plan.work))
    bytes_sent = TINY.lanes * RESULT_BYTES
    unsent = small._replace(run=replace(small.run, ledger=Ledger({})))
    cases = [
        ((small,), samples, MARKED, "patch 4 was marked but not placed"),
        ((large, small), samples, MARKED | {4: 4}, "patch 5 was marked but not placed; patch 5 has no result"),
        ((large, small), samples, {1: 8, 2: 3, 3: 16}, "patch 1 was placed but not marked; patch 1 has a result"),
        ((large, small), samples, MARKED | {3: 15}, "patch 4 was marked for 15 samples and placed for 16"),
        ((large, twice), samples, MARKED, "patch 4 was placed 2 times, in passes 1, 2"),
        ((large, lost), samples, MARKED, "patch 2 has 0 of 64 samples"),
        ((large, moved(small, x=8, y=0)), samples, MARKED, "patches 2 and"),
        ((large, unsent), samples, MARKED, f"{bytes_sent} bytes reached the GPs, the results have {2 * bytes_sent}"),
        ((large, small), {key: samples[key] for key in (0, 1, 2)}, MARKED, "patch 4 has no result"),
        ((large, small), samples | {2: samples[0]}, MARKED, "patch 3 was marked for 3x3 samples and has"),
    ]
    for results, found, marked, message in cases:
        with pytest.raises(InternalError, match=message):
            of(results, found, marked)


@pytest.mark.parametrize(
    "method",
    [
        Method("lee"),
        Method(schedule="shared-columns", results="gp-both"),
        pytest.param(Method(), marks=pytest.mark.slow),
    ],
)
def test_every_way_keeps_one(method, teapot):
    result = tessellate(teapot[:18], [4, 5] * 9, config=TINY, method=method)
    assert result.ledger.marked == result.ledger.all_returned == Amounts(18, 9 + 36, 9 * 16 + 9 * 25)
    assert len(result.ledger.returned) == len(result.runs) == 3


def test_the_manager_keeps_one_for_the_marked(teapot):
    manager = PatchManager({3: 4}, config=TINY)
    handles = [manager.add(patch) for patch in teapot[:4]]
    handles[1].mark(7)
    manager.tessellate()
    assert manager.ledger.registered == 4 and manager.ledger.all_returned == Amounts(1, 4, 49)
