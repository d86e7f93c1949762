"""The choice of k for each patch, as the manager makes it: from a camera and a tolerance in pixels (thesis 2.1).

The thesis samples a patch k x k at the resolution that the application marks it with, and says that the best one
depends on the view (Kumar and Manocha). Here the smallest k of those allowed is taken whose bound (`bound.py`) is
within the tolerance. One k holds for both directions: see the README of tessellation for what two would take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import Fault, InputError, nearest
from pixelflow.simd.report import Json, counted, number, plural, ranged
from tessellation.picture import Standpoint
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.sampling.bound import SecondDifferences, by_counts, seen_nets
from tessellation.sampling.seen import faces_away, outside
from tessellation.surface.patch import Patch

__all__ = [
    "COUNTS",
    "LARGEST_TOLERANCE",
    "LEAST_TOLERANCE",
    "TOLERANCES",
    "Fate",
    "SampleChoice",
    "Sampling",
    "SeenPatches",
    "choice_facts",
    "choose",
    "unseen_facts",
]

COUNTS = {"any": tuple(range(MIN_SAMPLES, MAX_SAMPLES + 1)), "powers": (2, 4, 8, 16)}
"""Numbers of samples along a side by name. Every number has a place on the array, but those between powers of two leave
PEs of their square idle, and each number that occurs in a pass has its own Bernstein values loaded."""

LEAST_TOLERANCE, LARGEST_TOLERANCE = 1 / 256, 1000.0
"""In pixels; corners are rounded to 1/256 pixel anyway."""

TOLERANCES = f"{LEAST_TOLERANCE:g} to {LARGEST_TOLERANCE:g} pixels"


class Fate(Enum):
    """What becomes of a patch."""

    SAMPLED = "within the tolerance"
    LIMITED = "at 16, not within the tolerance"
    OUTSIDE = "outside the picture"
    AWAY = "facing away"

    @property
    def dropped(self) -> bool:
        """True where the patch is not tessellated."""
        return self in (Fate.OUTSIDE, Fate.AWAY)


@dataclass(frozen=True, slots=True)
class Sampling:
    """What an application wants: at most ``tolerance`` pixels between triangles and surface, with some of `COUNTS`.

    Raises InputError for a tolerance or a name that is not allowed.
    """

    tolerance: float
    counts: str = "any"

    def __post_init__(self) -> None:
        if not LEAST_TOLERANCE <= self.tolerance <= LARGEST_TOLERANCE:
            raise InputError(Fault(f"a tolerance of {self.tolerance:g} pixels", hint=f"allowed: {TOLERANCES}"))
        if self.counts not in COUNTS:
            near = nearest(self.counts, COUNTS)
            hint = f"did you mean {near}?" if near else f"allowed: {', '.join(COUNTS)}"
            raise InputError(Fault(f"unknown numbers of samples {self.counts!r}", hint=hint))


@dataclass(frozen=True, slots=True, eq=False)
class SampleChoice:
    """What was chosen for patches in the caller's order."""

    samples: tuple[int, ...]
    """Along a side; 0 where a patch is dropped."""
    fates: tuple[Fate, ...]
    bounds: tuple[float, ...]
    """How far triangles may be from the surface, in pixels; 0 for a dropped patch, infinite without a bound."""
    by_direction: int
    """Samples with a number of its own for each direction, by the same bound; nothing executes that."""

    @property
    def kept(self) -> tuple[int, ...]:
        """The patches that are tessellated, by number."""
        return tuple(number for number, k in enumerate(self.samples) if k)

    @property
    def triangles(self) -> int:
        """Triangles of their grids."""
        return sum(2 * (k - 1) ** 2 for k in self.samples if k)

    @property
    def total(self) -> int:
        """Samples of all patches."""
        return sum(k * k for k in self.samples)

    @property
    def bound(self) -> float:
        """The largest of the bounds."""
        return max(self.bounds, default=0.0)

    def count(self, fate: Fate) -> int:
        """Return how many patches have this fate."""
        return self.fates.count(fate)

    @property
    def texts(self) -> tuple[str, ...]:
        """What a report says, line by line."""
        sizes = Counter(k for k in self.samples if k)
        sampled = ", ".join(f"{count} at {k}" for k, count in sorted(sizes.items()))
        dropped = [f"{self.count(fate)} {fate.value}" for fate in Fate if fate.dropped]
        lines = [f"{plural(len(self.samples), 'patch')}: {sampled or 'none sampled'}", f"dropped: {', '.join(dropped)}"]
        if limited := self.count(Fate.LIMITED):
            lines.append(f"{plural(limited, 'patch')} {Fate.LIMITED.value}")
        return (
            *lines,
            f"{number(self.total)} samples; triangles within {self.bound:.3g} pixels of the surface, a bound",
        )

    def as_object(self) -> dict[str, Json]:
        """Return it for JSON."""
        return {
            "samples": list(self.samples),
            "total": self.total,
            "bound_pixels": None if np.isinf(self.bound) else self.bound,
            "sampled": self.count(Fate.SAMPLED),
            "limited": self.count(Fate.LIMITED),
            "outside": self.count(Fate.OUTSIDE),
            "away": self.count(Fate.AWAY),
        }


@dataclass(frozen=True, slots=True, eq=False)
class SeenPatches:
    """Patches before a camera, and how each is to be sampled; ``outwards`` is 0 where a back is to be seen as well."""

    patches: tuple[Patch, ...]
    standpoint: Standpoint
    sampling: tuple[Sampling, ...]
    outwards: NDArray[np.int64]

    def choice(self, counts: str | None = None) -> SampleChoice:
        """Return what is chosen for them, with other ``counts`` than they have where these are given."""
        wanted = [each if counts is None else replace(each, counts=counts) for each in self.sampling]
        return choose(self.patches, self.standpoint, wanted, self.outwards)


def choose(
    patches: Sequence[Patch],
    standpoint: Standpoint,
    sampling: Sampling | Sequence[Sampling],
    outwards: NDArray[np.int64] | None = None,
) -> SampleChoice:
    """Return k for each patch before a camera, and which patches are dropped.

    ``sampling`` is one for all patches or one each. ``outwards`` is what `outward` says of closed surfaces, with 0 for
    patches whose back is to be seen as well; without it no patch is dropped because it faces away.
    """
    wanted = [sampling] * len(patches) if isinstance(sampling, Sampling) else list(sampling)
    tolerances = np.array([each.tolerance for each in wanted])
    samples = np.zeros(len(patches), np.int64)
    bounds, directions = np.zeros(len(patches)), np.zeros(len(patches), np.int64)
    fates = np.full(len(patches), Fate.SAMPLED, object)
    for numbers in by_counts(patches).values():
        nets = seen_nets([patches[each] for each in numbers], standpoint)
        second = SecondDifferences(nets, standpoint.camera.focal)
        for name in {wanted[each].counts for each in numbers}:
            of = np.array([wanted[each].counts == name for each in numbers])
            samples[numbers[of]], bounds[numbers[of]] = (
                each[of] for each in _smallest(second, tolerances[numbers], name)
            )
        directions[numbers] = _by_direction(second, tolerances[numbers])
        if outwards is not None:
            away = faces_away(nets, outwards[numbers]) & (outwards[numbers] != 0)
            fates[numbers[away]] = Fate.AWAY
        fates[numbers[outside(nets, standpoint.camera)]] = Fate.OUTSIDE
    fates[(fates == Fate.SAMPLED) & (bounds > tolerances)] = Fate.LIMITED
    dropped = np.array([fate.dropped for fate in fates], bool)
    samples[dropped], bounds[dropped] = 0, 0.0
    return SampleChoice(
        tuple(samples.tolist()), tuple(fates.tolist()), tuple(bounds.tolist()), int(directions[~dropped].sum())
    )


def _smallest(
    second: SecondDifferences, tolerances: NDArray[np.float64], name: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the smallest k of those allowed, and its bound; the largest of them where none is within the tolerance."""
    counts = COUNTS[name]
    bounds = np.stack([second.bounds(k - 1, k - 1) for k in counts])
    within = bounds <= tolerances
    first = np.where(within.any(axis=0), within.argmax(axis=0), len(counts) - 1)
    return np.array(counts)[first], bounds[first, np.arange(len(first))]


def _by_direction(second: SecondDifferences, tolerances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the fewest samples along u times those along v that keep each patch within its tolerance."""
    found = np.full(len(tolerances), MAX_SAMPLES**2)
    for u in COUNTS["any"]:
        for v in COUNTS["any"]:
            found = np.where(second.bounds(u - 1, v - 1) <= tolerances, np.minimum(found, u * v), found)
    return found


def choice_facts(choice: SampleChoice | None) -> list[tuple[str, str]]:
    """Return the lines of a report, with the name of the first; none without a choice."""
    return [] if choice is None else [("sampling by view" * (not at), text) for at, text in enumerate(choice.texts)]


def unseen_facts(unseen: Sequence[int], frames: int) -> list[tuple[str, str]]:
    """Return the line of a report about frames in which nothing is seen, out of so many; none where there is none.

    Raises InputError where that is all of them.
    """
    if not unseen:
        return []
    if len(unseen) == frames:
        raise InputError(Fault(f"nothing is seen in any frame of {ranged(unseen)}", hint="name others with --frames"))
    return [("nothing seen", f"in {len(unseen)} of {counted(frames, 'frame')}, which are left out: {ranged(unseen)}")]
