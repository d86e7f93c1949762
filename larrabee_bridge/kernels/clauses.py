"""If and else under masks, with and without a branch over the one that no lane takes: results and cycles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import THREADS, Timed, shared_out, timed
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.words import ByteMemory


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The function's values, float32 as x, and what they took."""

    y: NDArray[np.float32]
    timing: Timed


def piecewise(
    x: ArrayLike,
    below: ArrayLike,
    above: ArrayLike,
    *,
    skip: bool = True,
    threads: int = THREADS,
    config: CoreConfig | None = None,
) -> Pieces:
    """Evaluate two polynomials, coefficients highest first: ``below`` where x < 0, ``above`` elsewhere.

    x holds sixteen values for each turn, both polynomials are of one degree. With ``skip`` a piece that no lane takes
    is branched over. Raises InputError for other lengths, and less than one thread.
    """
    values = np.asarray(x, np.float32).reshape(-1)
    pieces = [np.asarray(each, np.float32) for each in (below, above)]
    if not len(values) or len(values) % LANES:
        raise InputError(Fault(f"{len(values)} values", hint=f"a multiple of {LANES}"))
    if len(pieces[0]) != len(pieces[1]) or len(pieces[0]) < 2:
        found = " and ".join(str(len(each)) for each in pieces)
        raise InputError(Fault(f"polynomials of {found} coefficients", hint="as many each, two or more"))
    turns = len(values) // LANES
    shares = shared_out(turns, threads)
    threads = len(shares)
    program = shipped("clause.mc", TERMS=len(pieces[0]) - 1, SKIP=int(skip))
    coefficients = np.concatenate(pieces)
    first = LINE_BYTES * -(-max(each.start + each.size for each in program.ranges) // LINE_BYTES)
    places = np.cumsum([first, LINE_BYTES * -(-coefficients.nbytes // LINE_BYTES), values.nbytes, values.nbytes])
    memory = ByteMemory(int(places[-1]))
    words = memory.data.view(np.float32)[0]
    words[places[0] // 4 :][: len(coefficients)] = coefficients
    words[places[1] // 4 :][: len(values)] = values
    begin = LINE_BYTES * np.array([share[0] for share in shares])
    unit = VectorUnit(program, threads, memory)
    unit.set_scalar(1, places[1] + begin)
    unit.set_scalar(2, places[2] + begin)
    unit.set_scalar(3, np.array([len(share) for share in shares]))
    unit.set_scalar(4, places[0])
    timing = timed(unit, config)
    return Pieces(words[places[2] // 4 :][: len(values)].reshape(np.shape(x)).copy(), timing)


def taken_share(density: float, lanes: int = LANES) -> tuple[float, float]:
    """Return how often the if and the else are taken by at least one lane, where each lane takes the if by itself."""
    return 1 - (1 - density) ** lanes, 1 - density**lanes


@dataclass(frozen=True, slots=True)
class Density:
    """What branches save at one density of the mask, over the same turns."""

    density: float
    turns: int
    empty: int
    """Turns in which no lane takes the if."""
    full: int
    """Turns in which every lane does."""
    both: Timed
    """Both pieces always."""
    skipping: Timed
    """With branches."""

    @property
    def saved(self) -> float:
        """Share of the cycles that the branches save, threads taking turns; negative where they cost more."""
        return 1 - self.skipping.core / self.both.core


def densities(shares: ArrayLike, turns: int = 64, terms: int = 8, seed: int = 1) -> list[Density]:
    """Time the function at densities of the mask, 0 to 1: how likely each lane, by itself, takes the if."""
    rng = np.random.default_rng(seed)
    coefficients = rng.normal(size=(2, terms + 1))
    rows = []
    for density in np.asarray(shares, np.float64).tolist():
        taken = rng.random((turns, LANES)) < density
        x = np.where(taken, -1, 1) * rng.uniform(0.5, 1, taken.shape)
        both, skipping = (piecewise(x, *coefficients, skip=skip).timing for skip in (False, True))
        empty, full = (~taken).all(axis=1).sum(), taken.all(axis=1).sum()
        rows.append(Density(density, turns, int(empty), int(full), both, skipping))
    return rows
