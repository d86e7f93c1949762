"""Bodies of patches that are sampled by view: in a node's texture memory once, tessellated anew for each camera.

Every copy of a body has patches of its own, with control points where it stands, since each is seen otherwise; for
projection on the EMCs the thesis wants all patches in one coordinate system as well (3.1.2). All of them share passes.
The camera stands before a fixed evaluation of all surfaces in 64 bits, so that it does not move with the samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pixelflow.simd.drawing import State
from tessellation.host.manager import PatchManager
from tessellation.host.tessellator import Tessellation
from tessellation.microprogram.method import Method
from tessellation.picture import SceneSource, Standpoint
from tessellation.sampling.before import outline_of
from tessellation.sampling.choice import SampleChoice, Sampling, SeenPatches
from tessellation.sampling.seen import outward
from tessellation.scenes.world import Body, Placed, Placing, upright
from tessellation.surface.mesh import build_mesh
from tessellation.surface.patch import Patch
from tessellation.surface.samples import PatchSamples

__all__ = ["SampledBodies", "SampledCopy", "copies_of"]


@dataclass(frozen=True, slots=True, eq=False)
class SampledCopy:
    """A body that is sampled by view, or one of its copies."""

    placed: Placed
    state: State
    patches: tuple[Patch, ...]
    """At their place in the world."""
    outline: np.ndarray = field(repr=False)
    """Points of the surface, float64[point, xyz]."""

    @property
    def sampling(self) -> Sampling:
        """How it is sampled."""
        assert self.placed.sampling is not None
        return self.placed.sampling


def copies_of(placed: Placed, patches: Sequence[Patch], state: State) -> list[SampledCopy]:
    """Return a body's copies, or itself where it is alone."""
    if placed.up == "y":
        patches = [replace(patch, points=upright(patch.points.astype(np.float64))) for patch in patches]
    outline = outline_of(patches)
    if not placed.places:
        return [SampledCopy(placed, state, tuple(patches), outline)]
    found = []
    for place, turn in placed.places:
        placing = Placing.of(outline, place, placed.size, turn)
        moved = tuple(replace(patch, points=placing.applied(patch.points.astype(np.float64))) for patch in patches)
        found.append(SampledCopy(placed, state, moved, placing.applied(outline)))
    return found


class SampledBodies:
    """The bodies of a scene that are sampled by view, and the manager of their patches."""

    def __init__(self, copies: Sequence[SampledCopy], how: SceneSource, method: Method | None = None) -> None:
        """Raises InputError for what a manager refuses, and for a one-sided body whose surface has one side only."""
        self.copies = tuple(copies)
        patches = [patch for copy in copies for patch in copy.patches]
        self._sampling = [copy.sampling for copy in copies for _ in copy.patches]
        self._owners = np.repeat(np.arange(len(copies)), [len(copy.patches) for copy in copies])
        signs = [
            outward(copy.patches) if copy.placed.one_sided else np.zeros(len(copy.patches), np.int64)
            for copy in copies
        ]  # fmt: skip
        self._outwards = np.concatenate(signs)
        self._how = how
        self.manager = PatchManager(
            Counter(patch.degrees for patch in patches), config=how.config, engine=how.engine, method=method
        )
        for patch in patches:
            self.manager.add(patch)
        if how.watch is not None:
            how.watch(self.manager.session.node)

    def seen(self, standpoint: Standpoint) -> SeenPatches:
        """Return the patches of all copies before a camera."""
        patches = tuple(handle.patch for handle in self.manager.handles)
        return SeenPatches(patches, standpoint, tuple(self._sampling), self._outwards)

    def before(self, standpoint: Standpoint) -> tuple[list[Body | None], Tessellation, SampleChoice]:
        """Tessellate for a camera; return the copies that it sees something of, None for others, and what that took."""
        choice = self.seen(standpoint).choice()
        self.manager.mark_all(choice.samples)
        self.manager.tessellate(self._how.progress)
        done = self.manager.last
        owners = self._owners[list(choice.kept)]
        bodies: list[Body | None] = []
        for number, copy in enumerate(self.copies):
            mine = [done.patches[at] for at in np.flatnonzero(owners == number)]
            bodies.append(_body(copy, mine) if mine else None)
        return bodies, done, choice


def _body(copy: SampledCopy, samples: Sequence[PatchSamples]) -> Body:
    mesh, rest = build_mesh(samples, weld=True), copy.placed.rest
    points, normals, corners = mesh.points.astype(np.float64), mesh.normals.astype(np.float64), mesh.triangles
    flat = rest.get("flat", False)
    return Body(copy.placed.name, points, normals, corners.astype(np.int64), copy.placed.colour, flat, copy.state)
