"""Whatever has happened to a file, the check accepts it or says what is wrong with it; nothing else happens."""

import contextlib
import random

import pytest

from pixelflow.simd.errors import InputError
from pixelflow.simd.trace.formats import FORMATS
from tests.trace.runs import PING_PONG, checked, traced, written

ROUNDS = 300


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Change, drop or repeat some bytes."""
    found = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, size = rng.randrange(len(found)), rng.randint(1, 8)
        match rng.randrange(4):
            case 0:
                found[at] = rng.randrange(256)
            case 1:
                del found[at : at + size]
            case 2:
                found[at:at] = found[at : at + size]
            case 3:
                found[at:at] = bytes(rng.choice(b"\0\t\n\r #$\x85\xffE19") for _ in range(size))
    return bytes(found)


@pytest.mark.parametrize("name", FORMATS)
def test_damage_never_ends_in_anything_but_a_message(name: str) -> None:
    good = written(traced(PING_PONG).trace, name)
    refused = 0
    for seed in range(ROUNDS):
        with contextlib.suppress(InputError):
            checked(damaged(good, random.Random(seed)), name)
            refused -= 1
        refused += 1
    assert refused > ROUNDS // 3
