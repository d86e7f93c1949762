"""Do results that were kept in texture memory come back bit by bit, and in the cycles of appendix B?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pixelflow.config import THESIS, load_config
from pixelflow.simd.errors import InputError
from tessellation import Method, Patch, PatchManager

SMALL = load_config(None, ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=4"])
"""512 PEs: a few patches fill a pass."""

WAYS = {"explicit": 33_792, "base": 16_896, "alternate": 9_216}


def manager(count: int, method: Method, config=SMALL, sides: tuple[int, int] = (4, 5)) -> PatchManager:
    nets = np.random.default_rng(7).random((count, *sides, 3), np.float32)
    found = PatchManager({(sides[0] - 1, sides[1] - 1): count}, config=config, method=method)
    for net in nets:
        found.add(Patch(net))
    return found


def bits(handles) -> list[bytes]:
    return [handle.result.points.tobytes() + handle.result.normals.tobytes() for handle in handles]


def forget(found: PatchManager) -> None:
    """Leave nothing of the results but what texture memory holds."""
    for handle in found.handles:
        handle.result = None
    node = found.session.node
    node.write_memory(0, np.full((SMALL.array.memory_bytes, node.lanes), 0xA5, np.uint8))
    for gp in node.gp_memory:
        gp.restore(np.zeros(0, np.uint8))


def test_no_time_of_keeping_is_that_after_a_pass() -> None:
    """Methods that do the same are equal, and are one key; without keeping there is no time."""
    told = Method(cache="base", kept="after")
    assert Method(cache="base") == told and len({Method(cache="base"), told}) == 1
    assert Method(cache="base", kept="beside") != told and Method().kept is None
    assert replace(Method(cache="base"), cache="split").kept == "after"
    with pytest.raises(InputError, match="results that are not kept"):
        Method(kept="after")


@pytest.mark.parametrize(
    ("way", "schedule"),
    [
        ("explicit", "thesis"),
        pytest.param("base", "shared-columns", marks=pytest.mark.slow),
        pytest.param("alternate", "thesis", marks=pytest.mark.slow),
        ("alternate", "shared-columns"),
    ],
)
def test_several_passes_come_back(way: str, schedule: str) -> None:
    found = manager(16, Method(schedule=schedule, cache=way))
    for number, handle in enumerate(found.handles):
        handle.mark((4, 8, 3)[number % 3])
    expected = bits(found.tessellate())
    assert len(found.plans) == len(found.session.kept.stores) > 1
    forget(found)
    assert bits(found.recall()) == expected
    assert bits(found.recall()) == expected  # as often as one likes
    # What the library has left in the TASICs disturbs no later pass.
    for number, handle in enumerate(found.handles):
        handle.mark((4, 8, 3)[number % 3])
    assert bits(found.tessellate()) == expected


@pytest.mark.parametrize("way", WAYS)
def test_on_the_thesis_machine_it_takes_the_cycles_of_appendix_b(way: str) -> None:
    found = manager(2, Method(cache=way), THESIS, (4, 4))
    found.handles[0].mark(4)
    expected = bits(found.tessellate())
    (store,) = found.session.kept.stores
    assert store.tasic_cycles == (WAYS[way],) * 4
    assert bits(found.recall()) == expected
    # 192 rounds of 8 accesses of 12 cycles and 32 bytes to the ports; the first three places of four read.
    assert found.recalls[0].tasic_cycles == (192 * (8 * 12 + 32),) * 4


@pytest.mark.parametrize("method", [Method(cache="base", results="gp"), Method(cache="alternate", results="gp-fine")])
def test_recalled_results_go_to_the_gps_too(method: Method) -> None:
    found = manager(8, method)
    for handle in found.handles:
        handle.mark(8)
    expected = bits(found.tessellate())
    forget(found)
    assert bits(found.recall()) == expected
    assert sum(run.ledger.to_gps.moved for run in found.recalls) == sum(run.ledger.to_gps.moved for run in found.runs)


def test_long_mantissas_are_kept_rounded() -> None:
    found = manager(3, Method(mantissa_bytes=5, cache="base"))
    for handle in found.handles:
        handle.mark(4)
    expected = bits(found.tessellate())
    forget(found)
    assert bits(found.recall()) == expected


def test_patches_and_kept_results_share_the_memory() -> None:
    """The area is taken from the end; patches that would need it are refused, and so is an area where they are."""
    tiny = replace(SMALL, sdram=replace(SMALL.sdram, rows=16))
    found = manager(120, Method(cache="alternate"), tiny)
    for handle in found.handles[:4]:
        handle.mark(4)
    with pytest.raises(InputError, match="bytes are wanted next to the patches"):
        found.tessellate()


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(InputError, match=r"unknown way of caching 'bases'"):
        Method(cache="bases")
    with pytest.raises(InputError, match="leave during the next pass"):
        Method(cache="base", results="gp-coarse")
    with pytest.raises(InputError, match="no results are kept"):
        manager(1, Method()).recall()
    with pytest.raises(InputError, match="cannot take turns"):
        manager(1, Method(cache="alternate"), replace(SMALL, array=replace(SMALL.array, emcs_per_module=1)))
