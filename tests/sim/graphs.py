"""Random graphs of workers, channels with and without limits, and semaphores; correct ones, and ones that deadlock.

A correct graph is written down in an order in which it can be carried out. Every channel and semaphore has one
reader, so whether a graph comes to its end does not depend on times, and a walk without any clock can tell.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from pixelflow.simd.boxes import Netlist
from tests.sim.parts import Semaphore, Worker

Step = tuple[str, int | str]


@dataclass(frozen=True)
class Channel:
    """``senders`` have several entries for a semaphore only; ``capacity`` is None where there is no limit."""

    name: str
    senders: tuple[int, ...]
    reader: int
    semaphore: bool
    capacity: int | None


@dataclass(frozen=True)
class Graph:
    scripts: tuple[tuple[Step, ...], ...]
    channels: tuple[Channel, ...]
    latencies: tuple[int, ...]


def correct(rng: random.Random) -> Graph:
    """Return a graph that comes to its end."""
    size = rng.randint(2, 5)
    channels = tuple(_channel(rng, index, size) for index in range(rng.randint(1, 6)))
    latencies = tuple(rng.randint(1, 6) for _ in range(97))
    scripts: list[list[Step]] = [[] for _ in range(size)]
    waiting = dict.fromkeys((each.name for each in channels), 0)
    for _ in range(rng.randint(5, 60)):
        channel = rng.choice(channels)
        if rng.random() < 0.2:
            scripts[rng.randrange(size)].append(("work", rng.randint(1, 30)))
        elif waiting[channel.name] and (rng.random() < 0.5 or waiting[channel.name] == channel.capacity):
            scripts[channel.reader].append(("wait" if channel.semaphore else "receive", channel.name))
            waiting[channel.name] -= 1
        else:
            scripts[rng.choice(channel.senders)].append(("send", channel.name))
            waiting[channel.name] += 1
    for channel in channels:
        if not channel.semaphore:
            scripts[channel.reader] += [("receive", channel.name)] * waiting[channel.name]
    with_credits = [_with_credits(index, script, channels, scripts) for index, script in enumerate(scripts)]
    return Graph(tuple(tuple(script) for script in with_credits), channels, latencies)


def _channel(rng: random.Random, index: int, size: int) -> Channel:
    reader = rng.randrange(size)
    others = [worker for worker in range(size) if worker != reader]
    semaphore = rng.random() < 0.5
    senders = tuple(rng.sample(others, rng.randint(1, len(others)))) if semaphore else (rng.choice(others),)
    capacity = None if semaphore or rng.random() < 0.5 else rng.randint(1, 3)
    return Channel(f"sem{index}" if semaphore else f"data{index}", senders, reader, semaphore, capacity)


def _with_credits(index: int, script: list[Step], channels: tuple[Channel, ...], scripts: list[list[Step]]):
    """Add, for channels with a limit, the credits that the reader returns and the sender waits for."""
    limited = {each.name: each for each in channels if each.capacity is not None}
    totals = {name: scripts[each.senders[0]].count(("send", name)) for name, each in limited.items()}
    seen = dict.fromkeys(limited, 0)
    steps: list[Step] = []
    for kind, what in script:
        channel = limited.get(what) if kind != "work" else None
        if channel is None:
            steps.append((kind, what))
            continue
        if kind == "send" and seen[what] >= channel.capacity:
            steps.append(("receive", f"credit:{what}"))
        steps.append((kind, what))
        if kind == "receive" and seen[what] < totals[what] - channel.capacity:
            steps.append(("send", f"credit:{what}"))
        seen[what] += 1
    return steps


def deadlocking(rng: random.Random) -> Graph:
    """Return a graph that cannot come to its end: a correct one with a step lost, or steps in the wrong order."""
    while True:
        graph = correct(rng)
        scripts = [list(script) for script in graph.scripts]
        script = rng.choice(scripts)
        if len(script) < 2:
            continue
        if rng.random() < 0.5:
            del script[rng.randrange(len(script))]
        else:
            rng.shuffle(script)
        changed = Graph(tuple(tuple(each) for each in scripts), graph.channels, graph.latencies)
        if stuck(changed):
            return changed


def stuck(graph: Graph) -> dict[int, int]:
    """Return the workers that cannot reach their end, and the step at which each stays; there is no time here."""
    at = [0] * len(graph.scripts)
    tokens: dict[str, int] = {}
    moved = True
    while moved:
        moved = False
        for worker, script in enumerate(graph.scripts):
            while at[worker] < len(script):
                kind, what = script[at[worker]]
                if kind == "send":
                    tokens[what] = tokens.get(what, 0) + 1
                elif kind != "work":
                    if not tokens.get(what):
                        break
                    tokens[what] -= 1
                at[worker] += 1
                moved = True
    return {worker: at[worker] for worker, script in enumerate(graph.scripts) if at[worker] < len(script)}


def netlist(graph: Graph) -> Netlist:
    """Return the graph as boxes and wires."""
    latencies = iter(graph.latencies)
    lines = []  # (wire name, source box name, port, sink box name, port)
    for each in graph.channels:
        reader = f"w{each.reader}"
        if each.semaphore:
            lines += [
                (f"{each.name}.{index}", f"w{sender}", each.name, each.name, f"signal{index}")
                for index, sender in enumerate(each.senders)
            ]
            lines.append((f"{each.name}.ask", reader, f"ask:{each.name}", each.name, "ask"))
            lines.append((f"{each.name}.grant", each.name, "grant", reader, f"grant:{each.name}"))
            continue
        sender = f"w{each.senders[0]}"
        lines.append((each.name, sender, each.name, reader, each.name))
        if each.capacity is not None:
            credit = f"credit:{each.name}"
            lines.append((credit, reader, credit, sender, credit))
    machine = Netlist("graph")
    boxes = {}
    for index, script in enumerate(graph.scripts):
        name = f"w{index}"
        inputs = [port for _, _, _, sink, port in lines if sink == name]
        outputs = [port for _, source, port, _, _ in lines if source == name]
        boxes[name] = machine.add(Worker(name, script, inputs, outputs))
    for each in graph.channels:
        if each.semaphore:
            boxes[each.name] = machine.add(Semaphore(each.name, len(each.senders)))
    for name, source, out, sink, into in lines:
        machine.connect(name, (boxes[source], out), (boxes[sink], into), latency=next(latencies))
    return machine
