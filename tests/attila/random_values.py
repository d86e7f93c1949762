"""Configurations drawn from the declared ranges, and how a small scene ends on each: as a script, any number of them.

python -m tests.attila.random_values 0 800
"""

from __future__ import annotations

import random
import sys
from collections import Counter

from attila_bridge.function import draw
from attila_bridge.function.layout import Units
from attila_bridge.function.work import AttilaWork
from attila_bridge.run import units_of
from attila_bridge.time.config import PAPER
from attila_bridge.time.simulation import run
from pixelflow.simd.configuration import Param, Value, leaves
from pixelflow.simd.errors import DeadlockError, InputError
from tests.attila.moved import SCENES

__all__ = ["MOST", "drawn_values", "ending"]

MOST = 3_000_000
"""Cycles that none of the scenes takes on any machine."""
_NEEDED = ("memory.reserve", "hz.blocks", "depth.alu_latency", "color.alu_latency")
"""Keys whose other values are mostly refused beside others: half of the configurations leave them alone."""
_WAITS = {"fifo.vertex_wait": 500, "shader.batch_wait": 500}
"""The most that waits are here: there may be one for each vertex. Longer ones are tried by themselves."""
_drawn: dict[tuple[str, Units], AttilaWork] = {}


def _value(about: Param, default: Value, chance: random.Random) -> Value:
    """Return a value of a key: an end of its range, near its low end, or anywhere in it."""
    if isinstance(default, bool):
        return chance.random() < 0.5
    if about.allowed is not None:
        return chance.choice(about.allowed)
    low, high = about.low or 0, about.high or 0
    near = low + int(2 ** chance.uniform(0, (high - low + 1).bit_length())) - 1
    return chance.choice((low, high, chance.randint(low, high), min(high, near), min(high, low + chance.randrange(4))))


def drawn_values(number: int) -> tuple[str, dict[str, Value]]:
    """Return a scene, and the values of the keys that are drawn: a few of them, or up to all."""
    chance = random.Random(f"values {number}")
    share, left = chance.choice((0.02, 0.05, 0.15, 0.5, 1.0)), _NEEDED if chance.random() < 0.5 else ()
    keys = {key: (about, default) for key, about, _, default in leaves(PAPER) if key not in left}
    values = {key: _value(about, old, chance) for key, (about, old) in keys.items() if chance.random() < share}
    values |= {key: min(int(values[key]), most) for key, most in _WAITS.items() if key in values}
    return chance.choice(sorted(SCENES)), values


def ending(number: int) -> str:
    """Return how a run ends: ``done``, or ``refused`` by a message that names a value.

    Raises DeadlockError, but for a texture cache that is too small for a sample, and CycleLimitError.
    """
    scene, values = drawn_values(number)
    config = PAPER.with_values(values)
    units = units_of(config)
    if (scene, units) not in _drawn:
        _drawn[scene, units] = draw(SCENES[scene](), units)
    try:
        run(_drawn[scene, units], config, max_cycles=MOST)
    except InputError as error:
        named = [key for key in config.values if key in str(error)]
        assert named and all(fault.message for fault in error.faults), str(error)
        return "refused"
    except DeadlockError as error:
        if "texture.ways" in str(error) and "are too few for this texture" in str(error):
            return "refused"
        raise
    return "done"


if __name__ == "__main__":
    first, last = map(int, sys.argv[1:])
    print(Counter(ending(number) for number in range(first, last)))
