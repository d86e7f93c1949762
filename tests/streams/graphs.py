"""Random two-stream programs of semaphores, loops and calls, and what must become of them.

The reference knows no time: it lets one stream go on until it must wait for a token, then the other. As only one stream
takes from a semaphore, where the two end does not depend on the order.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

STREAMS = ("eigc", "tigc")
WORK = {"eigc": "ADD R, #1", "tigc": "TAS_AddCounter 1"}
SEMAPHORES = {"eigc": (0, 1, 2), "tigc": (3, 4, 5)}
"""Who waits for which; both may signal all of them."""


@dataclass
class Op:
    """``what`` is signal, wait, work, loop or call; ``number`` the semaphore, count or procedure."""

    what: str
    number: int
    body: list[Op] = field(default_factory=list)
    line: int = 0


@dataclass
class Graph:
    """Both streams, and the procedures of each."""

    main: dict[str, list[Op]]
    procedures: dict[str, list[list[Op]]]

    def text(self) -> str:
        """The source; every op learns its line."""
        lines: list[str] = []

        def put(text: str) -> int:
            lines.append(text)
            return len(lines)

        def block(ops: list[Op], stream: str) -> None:
            for op in ops:
                match op.what:
                    case "signal" | "wait":
                        op.line = put(f"{op.what.upper()} {op.number}")
                    case "work":
                        op.line = put("\n".join([WORK[stream]] * op.number))
                        lines[-1:] = lines[-1].split("\n")
                    case "call":
                        op.line = put(f"CALL {stream}{op.number}")
                    case "loop":
                        op.line = put(f"loop {op.number}")
                        block(op.body, stream)
                        put("end")

        for stream in STREAMS:
            put(f"stream {stream}")
            block(self.main[stream], stream)
        for stream in STREAMS:
            for number, body in enumerate(self.procedures[stream]):
                put(f"proc {stream}{number}()")
                block(body, stream)
                put("end")
        return "\n".join(lines) + "\n"

    def walk(self, stream: str, ops: list[Op] | None = None) -> Iterator[Op]:
        """Every signal and wait, in the order of execution."""
        for op in self.main[stream] if ops is None else ops:
            match op.what:
                case "signal" | "wait":
                    yield op
                case "loop":
                    for _ in range(op.number):
                        yield from self.walk(stream, op.body)
                case "call":
                    yield from self.walk(stream, self.procedures[stream][op.number])


@dataclass
class Outcome:
    """Where each stream is stuck (None: it ends), and how often each (stream, line) signalled."""

    stuck: dict[str, Op | None]
    signals: Counter


def outcome(graph: Graph) -> Outcome:
    """Play the graph with tokens."""
    tokens: Counter[int] = Counter()
    signals: Counter = Counter()
    walks = {stream: graph.walk(stream) for stream in STREAMS}
    at: dict[str, Op | None] = {stream: next(walks[stream], None) for stream in STREAMS}
    moved = True
    while moved:
        moved = False
        for stream in STREAMS:
            while (op := at[stream]) is not None and (op.what == "signal" or tokens[op.number]):
                tokens[op.number] += 1 if op.what == "signal" else -1
                if op.what == "signal":
                    signals[stream, op.line] += 1
                at[stream] = next(walks[stream], None)
                moved = True
    return Outcome(at, signals)


def _ops(rng: random.Random, stream: str, size: int, depth: int, procedures: int) -> list[Op]:
    ops = []
    for _ in range(size):
        what = rng.choices(["signal", "wait", "work", "loop", "call"], [6, 4, 4, 2 * (depth < 2), 2 * bool(procedures)])
        match what[0]:
            case "signal":
                ops.append(Op("signal", rng.randrange(6)))
            case "wait":
                ops.append(Op("wait", rng.choice(SEMAPHORES[stream])))
            case "work":
                ops.append(Op("work", rng.randint(1, 9)))
            case "loop":
                ops.append(Op("loop", rng.randint(0, 4), _ops(rng, stream, rng.randint(1, 4), depth + 1, procedures)))
            case "call":
                ops.append(Op("call", rng.randrange(procedures)))
    return ops


def _random(rng: random.Random) -> Graph:
    procedures = {
        stream: [_ops(rng, stream, rng.randint(1, 4), 1, 0) for _ in range(rng.randint(1, 2))] for stream in STREAMS
    }
    main = {stream: _ops(rng, stream, rng.randint(3, 12), 0, len(procedures[stream])) for stream in STREAMS}
    return Graph(main, procedures)


def correct(seed: int) -> Graph:
    """A graph in which both streams end: missing tokens are signalled by the other stream, early or late."""
    rng = random.Random(seed)
    graph = _random(rng)
    graph.text()
    while True:
        stuck = [(stream, op) for stream, op in outcome(graph).stuck.items() if op is not None]
        if not stuck:
            return graph
        stream, op = rng.choice(stuck)
        other = STREAMS[1 - STREAMS.index(stream)]
        ended = outcome(graph).stuck[other] is None
        ops = graph.main[other]
        ops.insert(len(ops) if ended and rng.random() < 0.5 else 0, Op("signal", op.number))
        graph.text()


def deadlocking(seed: int) -> Graph:
    """A graph in which at least one stream does not end: a correct one that lost a signal or got a wait too many."""
    rng = random.Random(seed)
    for attempt in range(1000):
        graph = correct(rng.randrange(1 << 30)) if attempt % 3 else _random(rng)
        stream = rng.choice(STREAMS)
        ops = graph.main[stream]
        signals = [at for at, op in enumerate(ops) if op.what == "signal"]
        if signals and rng.random() < 0.6:
            del ops[rng.choice(signals)]
        else:
            ops.insert(rng.randint(0, len(ops)), Op("wait", rng.choice(SEMAPHORES[stream])))
        graph.text()
        if any(op is not None for op in outcome(graph).stuck.values()):
            return graph
    raise AssertionError(f"seed {seed}: no deadlock in 1000 attempts")
