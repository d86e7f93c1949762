"""An animation on one node, frame after frame: what executes in which order, and how long it takes.

The EMCs tessellate the next frame before they scan convert this one, so that the way of the next frame's results to the
GPs lies beside this one's drawing (thesis 4.1.4, coarse grain), and the GPs have the time of the next tessellation to
make triangles of them (3.1.1). All of it is executed on one node and one clock: passes, the return beside the regions,
and what of it is left after them. The work of the GPs is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pixelflow.config import NodeConfig
from pixelflow.node import Node, Run, stages_of
from pixelflow.simd.drawing import Frame, Picture, draw, draw_frame
from tessellation.host.session import Session, TakenResults
from tessellation.host.tessellator import Tessellation
from tessellation.host.trims import TrimAccount, together, trims_of
from tessellation.microprogram.passes import Plan
from tessellation.plan.stages import Stage, without_configuration
from tessellation.rendering.animation.returning import ReturnBeside
from tessellation.rendering.composition.drawing import draw_on_nodes
from tessellation.rendering.renderer import Rendering, plain_triangles, render
from tessellation.sampling.choice import SampleChoice

__all__ = ["RETURNS", "AnimatedFrame", "Animation", "FrameSource", "animate"]

RETURNS = ("beside", "after", "direct")
"""Ways of the results to the GPs: beside the scan conversion of the frame before, after each frame's last pass, or at
once and for no cycles. In the first two those of earlier passes leave during the next one."""


class SceneFrame(Protocol):
    """A frame that has been tessellated."""

    @property
    def frame(self) -> Frame:
        """What is drawn."""

    @property
    def anew(self) -> tuple[Tessellation, ...]:
        """What a node did to make it."""

    @property
    def once(self) -> tuple[Tessellation, ...]:
        """What a node did before, the same for every frame."""

    @property
    def choice(self) -> SampleChoice | None:
        """How patches were sampled by view."""


class FrameSource(Protocol):
    """A scene that makes its frames one by one."""

    def at(self, frame: int = 0) -> SceneFrame:
        """Return a frame, tessellated."""


@dataclass(slots=True, eq=False)
class AnimatedFrame:
    """A frame and what it took: cycles of the node's EMCs, all executed."""

    number: int
    choice: SampleChoice | None
    triangles: int
    passes: int
    tessellation: int
    """Cycles of its passes, with what of their results left during later ones, without configuring the LEE."""
    stages: dict[str, int]
    """Cycles by stage of its passes, but for the configuration of the LEE."""
    samples: int
    picture: Picture | None = None
    drawing: dict[str, int] = field(default_factory=dict)
    """Cycles by stage of its scan conversion."""
    carrying: int = 0
    """Of these the copies into the ports and the waits for results of the next frame."""
    left: int = 0
    """Cycles in which its own results left alone, after the scan conversion of the frame before."""
    configuring: int = 0
    """Cycles in which the LEE was configured, once for all frames by the first pass of all: in none of the others."""
    trims: TrimAccount | None = None
    """Of patches with trims: what the GPs have to do for them."""
    loading: int = 0
    """Cycles in which its textures were loaded, once for all frames: in none of the others."""
    same: bool = True
    """Whether every pixel is the reference's."""

    @property
    def scan(self) -> int:
        """Cycles of its scan conversion, without what carried results."""
        return sum(self.drawing.values()) - self.carrying

    @property
    def cycles(self) -> int:
        """All cycles that it made the EMCs busy or wait."""
        return self.tessellation + self.scan + self.carrying + self.left


@dataclass(frozen=True, slots=True, eq=False)
class Animation:
    """All frames, and the node's configuration."""

    frames: tuple[AnimatedFrame, ...]
    way: str | None
    """Of `RETURNS`; None where nothing is tessellated anew, so that nothing returns."""
    session: Session | None
    config: NodeConfig
    path_cycles: int
    """Cycles in which the paths to the GPs' memories were busy with results, of the busiest one."""
    hidden: int
    """Of these, cycles beside scan conversion."""
    once: tuple[Tessellation, ...] = ()
    """Tessellations before the first frame, for all frames: in none of the cycles."""

    @property
    def configuring(self) -> int:
        """Cycles of the configuration of the LEE, once for all frames: in none of the cycles."""
        return sum(each.configuring for each in self.frames)

    @property
    def cycles_before(self) -> int:
        """Cycles of the tessellations before the first frame."""
        return sum(each.cycles for each in self.once)

    @property
    def cycles(self) -> int:
        """Cycles of all frames."""
        return sum(each.cycles for each in self.frames)


class _Animator:
    """Draws each frame once the next one has been tessellated."""

    def __init__(self, session: Session | None, node: Node, config: NodeConfig, way: str, engine: str) -> None:
        self._session, self._node, self._config, self._engine = session, node, config, engine
        self._waiting: tuple[AnimatedFrame, Frame] | None = None
        self._next_left = 0
        self.done: list[AnimatedFrame] = []
        self.once: tuple[Tessellation, ...] = ()
        self.paths: Counter[str] = Counter()
        self.hidden: Counter[str] = Counter()
        if session is not None and way == "beside":
            session.take = self._take

    def frame(self, number: int, source: FrameSource) -> None:
        """Tessellate a frame and draw the one before."""
        self._next_left = 0
        scene = source.at(number)
        self.draw()
        self.once = scene.once
        runs = [run for each in scene.anew for run in each.runs]
        for run in runs:
            self._count(run, self.paths)
        stages, configuring = without_configuration(stages_of(runs))
        made = AnimatedFrame(
            number,
            scene.choice,
            sum(len(each.triangles) for each in scene.frame.draws),
            len(runs),
            sum(run.cycles for run in runs) - configuring,
            stages,
            sum(each.samples for each in scene.anew),
            left=self._next_left,
            configuring=configuring,
            trims=together([account for each in scene.anew if (account := trims_of(each))]),
        )
        self._waiting = made, scene.frame

    def draw(self, carried: ReturnBeside | None = None) -> list[Run]:
        """Draw the frame that waits, if one does, with results beside it."""
        if self._waiting is None:
            return []
        made, frame = self._waiting
        self._waiting = None
        if self._session is None and not frame.plain:
            return self._deferred(made, frame)
        triangles, size = plain_triangles(frame), (frame.width, frame.height)
        rendering = render(
            triangles, *size, background=frame.background, config=self._config, node=self._node,
            beside=carried.beside if carried else None,
        )  # fmt: skip
        made.picture, made.drawing = rendering.picture, rendering.cycles_by_stage
        made.carrying = made.drawing.get(Stage.RETURN.value, 0)
        made.same = draw(triangles, *size, frame.background).equals(rendering.picture)
        self.done.append(made)
        return _runs(rendering)

    def _deferred(self, made: AnimatedFrame, frame: Frame) -> list[Run]:
        """Draw a frame that is shaded once all of a region is there: textures, cutouts, sorted glass, four samples."""
        composed = draw_on_nodes(frame, config=self._config, engine=self._engine)
        (node,) = composed.nodes
        made.picture, made.drawing = composed.picture, node.cycles_by_stage
        made.loading = sum(run.cycles for run in composed.loading)
        made.same = draw_frame(frame).equals(composed.picture)
        self.done.append(made)
        return [each.run for each in node.regions]

    def _take(self, plan: Plan) -> TakenResults:
        assert self._session is not None
        written = plan.written()
        carried = ReturnBeside(written, self._session.method.returned(written, self._config), self._config)
        runs = self.draw(carried)
        for run in runs:
            self._count(run, self.hidden)
            self._count(run, self.paths)
        rest = carried.alone()
        if rest is not None:
            runs.append(self._node.run(rest))
            self._next_left = runs[-1].cycles
            self._count(runs[-1], self.paths)
        return carried.received(self._node, runs)

    def _count(self, run: Run, into: Counter[str]) -> None:
        into.update({f"store{gp}": run.gni_cycles.get(f"store{gp}", 0) for gp in range(self._config.gni.gp_count)})


def _runs(rendering: Rendering) -> list[Run]:
    return [each.run for each in rendering.regions]


def animate(
    source: FrameSource,
    session: Session | None,
    frames: Sequence[int],
    config: NodeConfig,
    *,
    way: str = "beside",
    engine: str = "auto",
    tell: Callable[[str], None] | None = None,
    shown: Callable[[Picture], None] | None = None,
) -> Animation:
    """Make frames one after the other on the node of ``session``, or on a node where nothing is tessellated anew.

    ``way`` is one of `RETURNS`, for the first two of which the session's method must have results that leave during the
    next pass; without a session nothing returns. ``shown`` gets the pictures in their order, which are not kept. Raises
    InputError as `render` does where something is tessellated anew: patches then have the node's texture memory, and
    returning results its ports, which the shading of textures and layers needs. Else it raises what `draw_on_nodes`
    does.
    """
    node = Node(config, engine) if session is None else session.node
    animator = _Animator(session, node, config, way, engine)
    for number in frames:
        if tell is not None:
            tell(f"frame {number}")
        animator.frame(number, source)
        _show(animator.done, shown)
    animator.draw()
    _show(animator.done, shown)
    if session is not None:
        session.take = None
    paths, hidden = (max(count.values(), default=0) for count in (animator.paths, animator.hidden))
    returned = None if session is None else way
    return Animation(tuple(animator.done), returned, session, config, paths, hidden, animator.once)


def _show(done: Iterable[AnimatedFrame], shown: Callable[[Picture], None] | None) -> None:
    for made in done:
        if made.picture is not None:
            if shown is not None:
                shown(made.picture)
            made.picture = None
