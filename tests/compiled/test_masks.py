"""Static knowledge of masks, by hand."""

from __future__ import annotations

import pytest

from pixelflow.simd.lanes.form import record
from pixelflow.simd.lanes.native.lowering import full_after, masks_read

PLACES = {"c": 10, "e": 11, "l": 12}


def part(meaning):
    return record(meaning, PLACES)


E, L, C = "e", "l", "c"
# fmt: off
MEANINGS = [
    # what                       meaning                                                         full before, and after
    ("a full mask",              lambda pe: pe.set_flag(E, pe.flag(L)),                          {12},     {11, 12}),
    ("an unknown mask",          lambda pe: pe.set_flag(E, pe.flag(L)),                          {11},     set()),
    ("always",                   lambda pe: pe.set_flag(E, pe.bit(True)),                        set(),    {11}),
    ("never",                    lambda pe: pe.set_flag(E, pe.bit(False)),                       {11},     set()),
    ("full and full",            lambda pe: pe.set_flag(E, pe.both(pe.flag(E), pe.flag(L))),     {11, 12}, {11, 12}),
    ("full and unknown",         lambda pe: pe.set_flag(E, pe.both(pe.flag(E), pe.flag(C))),     {11, 12}, {12}),
    ("full or unknown",          lambda pe: pe.set_flag(E, pe.either(pe.flag(L), pe.flag(C))),   {12},     {11, 12}),
    ("not full",                 lambda pe: pe.set_flag(E, pe.complement(pe.flag(L))),           {11, 12}, {12}),
    ("full into full",           lambda pe: pe.set_flag(E, pe.bit(True), pe.flag(C)),            {11},     {11}),
    ("full into unknown",        lambda pe: pe.set_flag(E, pe.bit(True), pe.flag(C)),            set(),    set()),
    ("unknown where full",       lambda pe: pe.set_flag(E, pe.flag(C), pe.flag(L)),              {11, 12}, {12}),
    ("a carry",                  lambda pe: pe.set_flag(E, pe.shift_left(pe.load(0), pe.bit(True))[1]), {11}, set()),
    ("a row of memory",          lambda pe: pe.store(3, pe.word(255)),                           {11},     {3, 11}),
    ("something else",           lambda pe: pe.store(3, pe.load(4), pe.flag(E)),                 {11},     {11}),
]
# fmt: on


@pytest.mark.parametrize(
    ("meaning", "before", "after"), [row[1:] for row in MEANINGS], ids=[row[0] for row in MEANINGS]
)
def test_full_after(meaning, before: set[int], after: set[int]) -> None:
    assert full_after(part(meaning), frozenset(before)) == after


def test_only_masks_that_come_from_outside_are_worth_a_guard() -> None:
    def writes_then_reads(pe) -> None:
        pe.set_flag("e", pe.flag("l"))
        pe.store(0, pe.load(1), pe.flag("e"))

    assert masks_read([part(writes_then_reads)], [11, 12]) == [12]
