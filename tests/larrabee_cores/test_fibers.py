"""Fibers of a work thread: hand-worked runs, and event by event against the closed form."""

from __future__ import annotations

import numpy as np
import pytest

from larrabee_bridge.vpu.ring import fewest_fibers, run_fibers, stall_of_a_round, stall_share


def test_two_fibers_by_hand() -> None:
    """Each qquad works 3, reads texture, works 2; latency 6.

    Turns: q0 0-3, q1 3-6; q0's texture comes at 9: wait 3, 9-11, and q2 11-14; q1's came at 12: 14-16, no qquad is
    left; q2's comes at 20: wait 4, 20-22.
    """
    found = run_fibers([(3, 2)] * 3, fibers=2, latency=6)
    assert (found.cycles, found.worked, found.stalled) == (22, 15, 7)
    assert found.order == (0, 1, 0, 2, 1, 2)


def test_a_switch_costs_after_each_access() -> None:
    found = run_fibers([(3, 2)] * 2, fibers=2, latency=6, switch=1)
    # q0 0-3, switch, q1 4-7, switch to 8; q0's texture at 9: 9-11, switch to 12; q1's at 13: 13-15.
    assert (found.cycles, found.switched, found.stalled) == (15, 3, 2)


def test_strict_order_waits_for_the_next_fiber_even_if_another_is_ready() -> None:
    """q0 reads at 10 and gets it at 40; q1 reads at 11 and again, but its turn comes after q0's."""
    found = run_fibers([(10, 1), (1, 1, 1)], fibers=2, latency=30)
    assert found.order == (0, 1, 0, 1, 1)
    assert found.cycles == 40 + 1 + 1 + 30 + 1


def test_one_fiber_waits_for_each_access() -> None:
    found = run_fibers([(4, 4, 4)] * 5, fibers=1, latency=100)
    assert found.stalled == 5 * 2 * 100
    assert found.cycles == 5 * 12 + found.stalled


def test_qquads_without_texture_never_wait() -> None:
    found = run_fibers([(7,)] * 9, fibers=4, latency=300)
    assert (found.cycles, found.stalled) == (63, 0)


@pytest.mark.parametrize("switch", [0, 3])
@pytest.mark.parametrize("latency", [40, 100, 333, 600])
@pytest.mark.parametrize(("first", "last"), [(10, 0), (17, 20), (1, 90)])
def test_a_round_in_the_middle_is_the_closed_form(first: int, last: int, latency: int, switch: int) -> None:
    """One texture access a qquad: the work of a turn is the end of one qquad and the begin of the next."""
    for fibers in (1, 2, 3, 5, 8, 13):
        short, long = (run_fibers([(first, last)] * (fibers * rounds), fibers, latency, switch) for rounds in (6, 9))
        stall = stall_of_a_round(fibers, first + last, latency, switch)
        assert long.stalled - short.stalled == 3 * stall
        each = fibers * (first + last + switch) + stall
        assert long.cycles - short.cycles == 3 * each
        assert stall_share(fibers, first + last, latency, switch) == stall / each


@pytest.mark.parametrize("between", [8, 25, 60])
@pytest.mark.parametrize("latency", [50, 150, 300, 500])
def test_the_fewest_fibers_are_found_by_trying(latency: int, between: int) -> None:
    """Between two runs of different length lie whole rounds, so their difference has the steady share."""

    def share(fibers: int) -> float:
        short, long = (run_fibers([(between, 0)] * (fibers * rounds), fibers, latency) for rounds in (4, 8))
        return (long.stalled - short.stalled) / (long.cycles - short.cycles)

    wanted = fewest_fibers(between, latency)
    assert share(wanted) < 0.05
    assert wanted == 1 or share(wanted - 1) >= 0.05


def test_uneven_work_stalls_no_less_than_even_work() -> None:
    """The same work in all, unevenly cut: what is hidden in one round cannot be made up for in another one."""
    rng = np.random.default_rng(1)
    uneven = rng.integers(1, 80, 4000)
    even = int(uneven.mean())
    for fibers in (2, 4, 6, 8):
        found = run_fibers([(int(each), 0) for each in uneven], fibers, 200)
        assert found.stall_share >= stall_share(fibers, even + 1, 200) - 0.002
    assert found.stalled > 0
    assert stall_of_a_round(8, even, 200) == 0


def test_no_fiber_runs_nothing() -> None:
    with pytest.raises(ValueError, match="0 fibers"):
        run_fibers([(1,)], 0, 10)
    with pytest.raises(ValueError, match="a qquad without a stretch"):
        run_fibers([(1,), ()], 1, 10)
    with pytest.raises(ValueError, match="0 cycles of work and 0 of a switch"):
        fewest_fibers(0, 100)
