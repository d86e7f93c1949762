"""Plain functions: the same numbers by Python and as native code, and what is not plain is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pixelflow.simd.errors import InternalError
from pixelflow.simd.lanes.native.plain import Longs, Words, compiled, text_of, works_natively

LIMIT = 5


def larger(a: int, b: int) -> int:
    """Return the larger of two numbers, or LIMIT where both are less."""
    if a > b and a > LIMIT:
        return a
    return max(b, LIMIT)


def mixed(m: Longs, words: Words, count: int) -> int:
    """Go through words; write and count in all the ways that there are."""
    at, total, odd = 0, 0, 0
    while at < count:
        word = words[at]
        at += 1
        if word == 7 or (not word & 1 and word > 90):
            continue
        if word > 95:
            break
        odd += word % 2 == 1
        m[at % 4] += word // 3 - 2 * at
        total = larger(total, m[at % 4] << 1) if word & 2 else total - (word ^ 5)
    m[4] = -odd
    return total


def lists(m: Longs) -> int:
    """Nothing plain."""
    return len([m[0]])


@pytest.mark.skipif(not works_natively(), reason="no native code on this host")
@pytest.mark.parametrize("seed", range(20))
def test_python_and_native_code_agree(seed: int) -> None:
    words = np.random.default_rng(seed).integers(0, 97, 60).astype(np.uint32)
    numbers, image = [3, -1, 4, 1, 5], np.array([3, -1, 4, 1, 5], np.int64)
    expected = mixed(numbers, words.tolist(), len(words))
    assert compiled(mixed, (larger,))(image.ctypes.data, words.ctypes.data, len(words)) == expected
    assert image.tolist() == numbers


def test_what_is_not_plain_is_refused_with_its_place() -> None:
    with pytest.raises(InternalError, match=r"lists, line 3 .*: len\(\[m\[0\]\]\) is not plain"):
        text_of(lists)
    with pytest.raises(InternalError, match=r"mixed, line .*larger.* is not plain"):
        text_of(mixed)
