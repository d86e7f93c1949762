"""Portfolio management in doubles: shares of assets by an interior point, and what they took; beside them active sets.

An investor holds shares x of n assets, none below 0, that make up 1, with the least gamma / 2 x' Q x - mu' x: Q says
how returns of assets vary together, mu what they are expected to be, gamma how little risk is liked (Markowitz 1952).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from larrabee_bridge.kernels.study import CoresRun, KernelResult, carry_out
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.isa.operands import WIDE_LANES
from larrabee_bridge.vpu.program import LINE_BYTES, shipped
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.lanes.words import ByteMemory
from pixelflow.simd.report import number

Doubles = NDArray[np.float64]

_FIRST = 4096
_MOST = 64
"""Assets at most: a column of them and of two rows more stays in registers."""
_STEPS = 60
_GAP, _CENTRE, _NEAR = 1e-13, 0.1, 0.99
"""Where steps end, which share of x' z they aim at, and how far they go to where a share would become 0."""
_SUM = 1e-8
"""How far the sum of shares may be off 1 (invented)."""
_ASSETS, _FACTORS, _INVESTORS = 32, 6, 768


@dataclass(frozen=True, slots=True, eq=False)
class Market:
    """How returns of n assets vary together: float64[n, n]; what investors expect of them: float64[investors, n]."""

    covariance: Doubles
    means: Doubles
    aversions: Doubles
    """Gamma: float64[investors]."""

    def residue(self, shares: Doubles, duals: Doubles) -> Doubles:
        """Return by how much gradient less z differs between assets at most, which is 0 at the best shares."""
        left = self.aversions[:, None] * (shares @ self.covariance) - self.means - duals
        return np.ptp(left, axis=1)

    def bound(self, shares: Doubles, duals: Doubles) -> Doubles:
        """Return how far each investor's shares are from the best ones at most, as a length.

        What is sought is convex: it exceeds the least by x' z at most, and by what the gradient is off by, times the
        distance of two points of the simplex; and by gamma times the least eigenvalue over 2 times the square of the
        distance from the best at least.
        """
        excess = (shares * duals).sum(axis=1) + self.residue(shares, duals) * 2
        least = np.linalg.eigvalsh(self.covariance)[0]
        return np.sqrt(2 * excess / (self.aversions * least))


@dataclass(frozen=True, slots=True, eq=False)
class Portfolios:
    """Shares of assets and their multipliers, float64[investors, n], steps of each, and what they took."""

    shares: Doubles
    duals: Doubles
    steps: NDArray[np.int64]
    run: CoresRun


def market(assets: int = _ASSETS, investors: int = _INVESTORS, seed: int = 20) -> Market:
    """Return a made-up market: a few factors move all assets, each moves by itself, and investors differ in views."""
    rng = np.random.default_rng(seed)
    loads = rng.normal(1.0, 0.5, (assets, _FACTORS)) * rng.uniform(0.03, 0.12, _FACTORS)
    own = rng.uniform(0.1, 0.3, assets) ** 2
    covariance = loads @ loads.T + np.diag(own)
    views = 0.02 + 0.4 * np.diag(covariance) + rng.normal(0, 0.02, (investors, assets))
    return Market(covariance, views, np.geomspace(1, 30, investors))


def best_shares(given: Market, config: CoreConfig | None = None) -> Portfolios:
    """Return the best shares of all investors, one a thread.

    Raises InputError for other shapes and values, and where steps do not come to an end: sizes that doubles cannot hold
    beside each other.
    """
    covariance, means, aversions = _checked(given)
    investors, assets = means.shape
    column = LINE_BYTES * (assets // WIDE_LANES + 1)
    vectors = 8 * assets
    each = LINE_BYTES + 6 * vectors + 2 * assets * column
    table = _FIRST + LINE_BYTES
    first = table + 8 * assets * assets
    memory = ByteMemory(first + investors * each)
    words = memory.data.view(np.float64)[0]
    words[_FIRST // 8 : _FIRST // 8 + 4] = _GAP, _CENTRE / assets, _NEAR, -_NEAR
    words[table // 8 : first // 8] = covariance.reshape(-1)
    own = words[first // 8 :].reshape(investors, -1)
    own[:, 0] = aversions
    parts = own[:, LINE_BYTES // 8 : LINE_BYTES // 8 + 3 * assets].reshape(investors, 3, assets)
    parts[:, 0], parts[:, 1], parts[:, 2] = means, 1 / assets, 1.0
    unit = VectorUnit(shipped("dense/portfolio.mc", N=assets), investors, memory)
    unit.set_scalar(1, first + each * np.arange(investors))
    unit.set_scalar(2, table)
    unit.set_scalar(3, _STEPS)
    unit.set_scalar(9, _FIRST)
    run = carry_out(unit, config)
    steps = _STEPS - unit.scalar(3).astype(np.int64)
    _check_ends(parts[:, 1], own[:, 1], steps)
    return Portfolios(parts[:, 1].copy(), parts[:, 2].copy(), steps, run)


def _check_ends(shares: Doubles, gaps: Doubles, steps: NDArray[np.int64]) -> None:
    """Raise InputError where x' z was not below its limit when steps ended, or shares do not make up 1."""
    sums = shares.sum(axis=1)
    wrong = ~((gaps < _GAP) & (np.abs(sums - 1) <= _SUM))
    if wrong.any():
        first = int(wrong.argmax())
        given = (
            f"investor {first}: x' z is {gaps[first]:.1e} and shares make up {sums[first]:g} after {steps[first]} steps"
        )
        hint = f"below {_GAP:g}, and 1: covariance times aversion and means that are less far apart in size"
        raise InputError(Fault(given, hint=hint))


def _checked(given: Market) -> tuple[Doubles, Doubles, Doubles]:
    covariance, means, aversions = given.covariance, given.means, given.aversions
    assets = covariance.shape[0] if covariance.ndim else 0
    if covariance.shape != (assets, assets) or not assets or assets % WIDE_LANES or assets > _MOST:
        raise InputError(Fault(f"a covariance of shape {covariance.shape}", hint=f"n x n, n 8, 16 up to {_MOST}"))
    if means.ndim != 2 or means.shape[1] != assets or aversions.shape != means.shape[:1] or not len(means):
        raise InputError(Fault(f"means of shape {means.shape}, aversions of {aversions.shape}", hint="investors x n"))
    if not np.isfinite(covariance).all():
        raise InputError(Fault("a covariance that is not finite"))
    if not np.array_equal(covariance, covariance.T) or np.linalg.eigvalsh(covariance)[0] <= 0:
        raise InputError(Fault("a covariance that is not symmetric with eigenvalues above 0"))
    if not (np.isfinite(means).all() and (aversions > 0).all() and np.isfinite(aversions).all()):
        raise InputError(Fault("means or aversions out of range", hint="finite means, aversions above 0"))
    return covariance, means, aversions


def exact_shares(covariance: ArrayLike, means: ArrayLike, aversion: float) -> Doubles:
    """Return the best shares of one investor, float64[n], by active sets: numpy solves for those that are not 0.

    An asset that is not held comes in where its gradient is less than that of those held by more than rounding does:
    sums of n products are off by n halves of a unit of their largest at most, and so is what is solved for.
    """
    matrix, wanted = aversion * np.asarray(covariance, np.float64), np.asarray(means, np.float64)
    count = len(wanted)
    shares, free = np.full(count, 1 / count), np.ones(count, bool)
    while True:
        goal, level = _least(matrix, wanted, free)
        if (goal >= 0).all():
            shares = goal
            pull = matrix @ shares - wanted - level
            worst = int(np.where(free, 0, pull).argmin())
            size = (np.abs(matrix) @ shares + np.abs(wanted)).max() + abs(level)
            if free[worst] or pull[worst] >= -count * np.finfo(np.float64).eps * size:
                return shares
            free[worst] = True
            continue
        out = np.flatnonzero(goal < 0)
        ways = shares[out] / (shares[out] - goal[out])
        first = int(ways.argmin())
        shares = shares + ways[first] * (goal - shares)
        shares[out[first]], free[out[first]] = 0.0, False


def _least(matrix: Doubles, wanted: Doubles, free: NDArray[np.bool_]) -> tuple[Doubles, float]:
    """Return the shares, 0 where not free, whose gradient is the same for all that are free, and that gradient."""
    one = np.ones(int(free.sum()))
    system = np.block([[matrix[np.ix_(free, free)], -one[:, None]], [one[None], np.zeros((1, 1))]])
    found = np.linalg.solve(system, np.append(wanted[free], 1.0))
    shares = np.zeros(len(wanted))
    shares[free] = found[:-1]
    return shares, float(found[-1])


def portfolio_study(config: CoreConfig | None, progress: Callable[[str], None] | None) -> KernelResult:
    """Find the shares of 768 investors in 32 assets."""
    given = market()
    found = best_shares(given, config)
    if progress is not None:
        progress("portfolio: active sets")
    rows = zip(given.means, given.aversions.tolist(), strict=True)
    exact = np.array([exact_shares(given.covariance, means, aversion) for means, aversion in rows])
    run, steps = found.run, found.steps
    fused = run.counts[VectorFamily.DOUBLE_FUSED] / run.cycles
    held = (exact > 0).sum(axis=1)
    return KernelResult(
        work=f"{number(_INVESTORS)} investors, {_ASSETS} assets moved by {_FACTORS} factors, float64; {held.min()} to "
        f"{held.max()} assets are held",
        reference="active sets in float64, from which shares may be off by "
        f"{given.bound(found.shares, found.duals).max():.0e} at most for what is left of x' z",
        error=float(np.abs(found.shares - exact).max()),
        error_of="of a share",
        unit="step of an investor",
        units=int(steps.sum()),
        phases=(run,),
        limit=f"a multiply-add of eight doubles in {fused:.1%} of the cycles, which would be half of 32 flops in all "
        f"of them; the others broadcast what a column is reduced by, go round loops of {(_ASSETS - 1) / 2:.1f} columns "
        "in the mean, and wait for reciprocals, which are eleven operations after each other for each column and eight "
        f"shares; {steps.min()} to {steps.max()} steps an investor, and the longest of four is a core's; "
        f"{len(run.pieces)} pieces",
    )
