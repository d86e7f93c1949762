"""The subscriber that feeds a dashboard: what a run tells that nobody could look up in it afterwards.

It asks for few events: a run that is watched this way builds some for each wait and each transfer, none for an
instruction. Only a frame of the past needs to hear of those too (`instructions`). Every change of the enables
(`enables`) costs a run more than a look at them now and then.
"""

from __future__ import annotations

from pixelflow.observe.events import Accessed, EnablesChanged, PathUsed
from pixelflow.observe.views import NodeAccountView, NodeRunView
from pixelflow.simd.dashboard.history import History
from pixelflow.simd.observe import Bus, Event, Executed, ProgramView, Progressed, RunBegan, RunEnded, Waited

__all__ = ["ENABLED", "Watch", "module_track"]

ENABLED = "enabled"
"""The track of the sum of enabled PEs."""


def module_track(module: int) -> str:
    """Return the track of a module's TASICs."""
    return f"tasic{module}"


class Watch:
    """Follows a run from its beginning on; a node's next run starts it anew."""

    view: NodeRunView
    program: ProgramView
    """Both are known as soon as a run has begun."""

    def __init__(self, *, enables: bool = False, instructions: bool = False) -> None:
        self._kinds: list[type[Event]] = [RunBegan, Waited, Accessed, PathUsed, Progressed, RunEnded]
        self._kinds += [EnablesChanged] * enables + [Executed] * instructions
        self.until: int | None = None
        """Instructions that begin in this cycle or later are not looked at: a run may be a little ahead."""
        self._start(0)

    def _start(self, cycle: int) -> None:
        self.cycle = cycle
        self.ended: str | None = None
        self.account: NodeAccountView | None = None
        """What there was of the run, as soon as it has ended."""
        self.history = History(cycle)
        self.current: dict[str, tuple[int, int]] = {}
        """For each stream, position and end of the last instruction that began; with ``instructions`` only."""
        self.accesses: dict[int, int] = {}
        self.paths: set[str] = set()
        self._before: dict[str, int] = {}
        self.enabled: tuple[int, ...] | None = None
        self.enabled_from = self._enabled_since = cycle
        """The first cycle for which it is known."""

    def attach(self, bus: Bus) -> None:
        """Subscribe; before the run."""
        bus.subscribe(self.hear, *self._kinds)

    def detach(self, bus: Bus) -> None:
        """Listen no more."""
        bus.unsubscribe(self.hear)

    def hear(self, event: Event) -> None:
        """Take an event in."""
        match event:
            case Executed(cycle, stream, index, cycles):
                if self.until is None or cycle < self.until:
                    self.current[stream] = (index, cycle + cycles)
            case Waited(cycle, stream, _, _, end):
                self.history.add(stream, cycle, end)
            case Accessed(cycle, module, end, _, _, accesses):
                self.history.add(module_track(module), cycle, end)
                self.accesses[module] = self.accesses.get(module, 0) + accesses
            case PathUsed(cycle, path, end, _):
                self.history.add(path, cycle, end)
                self.paths.add(path)
            case EnablesChanged(cycle, counts):
                self.enables(cycle, counts)
            case Progressed(cycle):
                self.cycle = max(self.cycle, cycle)
            case RunBegan(cycle, program, _, _, view):
                self._start(cycle)
                self.program, self.view = program, view
                self._before = dict(view.gni_cycles)
                self._before |= {module_track(module): busy for module, busy in enumerate(view.tasic_cycles)}
                self.paths = set(view.gni_cycles)
            case RunEnded(cycle, reason, _, account):
                self.cycle, self.ended = max(self.cycle, cycle, self.view.cycle), reason
                self.account = account

    def busy(self, track: str, cycle: int) -> int:
        """Return the busy cycles of a module's TASICs or of a path up to a cycle, those before a loaded state too."""
        return self._before.get(track, 0) + self.history.total(track, cycle)

    def enables(self, cycle: int, counts: tuple[int, ...]) -> None:
        """Note how many PEs of each module are enabled from a cycle on."""
        if self.enabled is None:
            self.enabled_from = self._enabled_since = cycle
        elif cycle > self._enabled_since:
            self.history.add(ENABLED, self._enabled_since, cycle, sum(self.enabled))
            self._enabled_since = cycle
        self.enabled = counts

    def enables_last(self, cycle: int) -> None:
        """Note that nothing has changed up to a cycle."""
        if self.enabled is not None:
            self.enables(cycle, self.enabled)
