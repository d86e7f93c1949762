"""Boxes for tests: workers that follow a script, semaphores, and a clock-work that ticks for ever."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.simd.boxes import Box


@dataclass(frozen=True)
class Script:
    """Steps: ("work", cycles), ("send", port), ("receive", port), ("wait", port) with ports ask:port and grant:port."""

    steps: tuple[tuple[str, int | str], ...]


@dataclass
class Progress:
    step: int = 0
    next: int | None = 0
    since: int = 0
    asked: bool = False
    received: list[str] = field(default_factory=list)


class Worker(Box[Script, Progress]):
    """Takes one cycle a step; a receive or wait takes as long as it must."""

    def __init__(self, name: str, steps: tuple[tuple[str, int | str], ...], inputs=(), outputs=()) -> None:
        super().__init__(name, Script(tuple(steps)), Progress(next=0 if steps else None))
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)

    def next_event(self) -> int | None:
        return self.state.next

    def tick(self, cycle: int) -> None:
        state = self.state
        if state.step == len(self.spec.steps) or (state.next is not None and cycle < state.next):
            return
        kind, what = self.spec.steps[state.step]
        took = 1
        match kind:
            case "work":
                took = what
            case "send":
                self.wires[what].send(cycle, f"{self.name}#{state.step}")
            case "receive":
                if not self._take(what, cycle):
                    return
            case "wait":
                if not state.asked:
                    self.wires[f"ask:{what}"].send(cycle, self.name)
                    state.asked = True
                if not self._take(f"grant:{what}", cycle):
                    return
                state.asked = False
        state.step += 1
        state.next = cycle + took if state.step < len(self.spec.steps) else None

    def _take(self, port: str, cycle: int) -> bool:
        """Read an item; where there is none, go to sleep until something arrives."""
        state = self.state
        if self.wires[port].ready(cycle):
            state.received.append(self.wires[port].take(cycle))
            return True
        if state.next is not None:
            state.next, state.since = None, cycle
        return False

    def why_blocked(self) -> str | None:
        state = self.state
        if state.next is not None or state.step == len(self.spec.steps):
            return None
        kind, what = self.spec.steps[state.step]
        return f"step {state.step}: {kind} {what}, since cycle {state.since}"


@dataclass(frozen=True)
class SemaphoreSpec:
    signals: int


@dataclass
class SemaphoreState:
    count: int = 0
    asking: bool = False


class Semaphore(Box[SemaphoreSpec, SemaphoreState]):
    """Counts signals from any number of senders; one reader."""

    outputs = ("grant",)

    def __init__(self, name: str, signals: int) -> None:
        super().__init__(name, SemaphoreSpec(signals), SemaphoreState())
        self.inputs = ("ask", *(f"signal{index}" for index in range(signals)))

    def next_event(self) -> int | None:
        return None

    def tick(self, cycle: int) -> None:
        state = self.state
        for port in self.inputs[1:]:
            state.count += len(self.wires[port].take_all(cycle))
        state.asking |= bool(self.wires["ask"].take_all(cycle))
        if state.asking and state.count:
            state.asking = False
            state.count -= 1
            self.wires["grant"].send(cycle, "grant")


@dataclass(frozen=True)
class Period:
    cycles: int


@dataclass
class Ticks:
    last: int = 0
    count: int = 0


class Metronome(Box[Period, Ticks]):
    """Has something to do for ever, but nothing that anyone waits for."""

    def __init__(self, name: str, cycles: int) -> None:
        super().__init__(name, Period(cycles), Ticks())

    def next_event(self) -> int:
        return self.state.last + self.spec.cycles

    def tick(self, cycle: int) -> None:
        self.state.last, self.state.count = cycle, self.state.count + 1

    @property
    def done(self) -> bool:
        return True
