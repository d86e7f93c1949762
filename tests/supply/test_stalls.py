"""Do the PEs wait for the memory port after a store, and for a sequencer that folds no loops, in every way of running?

The oracle goes through the instructions one after the other, in the order in which a random tree executes them.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import NamedTuple

import pytest

from microcode import assemble
from pixelflow.config import TINY, NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.node import Checkpoint, Node, Replay, kernels
from pixelflow.node.run.stalls import PORT, SEQUENCER
from pixelflow.observe import Executed, Waited
from tests.streams import exchanges

PROGRAMS = 2000
SAMPLE = 20

# --- by hand ---------------------------------------------------------------------------------------------------------

ROWS = {
    "ST [0], R\nLD R, [1]": (1, 0),
    "ST [0], R\nADD R, [0]": (1, 0),
    "ST [0], R\nEMC_TreeLTMem_Li [0], 2, 1, 0, 7": (0, 0),  # start-up is in between
    "EMC_TreeIntoMem_Li [0], 2, 1, 0, 7\nLD R, [0]": (1, 0),  # its last cycle stores
    "ST [0], R\nST [1], R": (0, 0),
    "LD R, [0]\nLD S, [1]": (0, 0),
    "ST [0], R\nADD R, #1\nLD R, [0]": (0, 0),
    "ST [0], R\nSIGNAL 3\nLD R, [0]": (1, 0),  # control takes no cycle
    "LOOP 5\nLD R, [0]\nST [0], R\nENDL": (4, 4),  # four times round: the port is free behind the sequencer
    "CALL f, [0]\nCALL f, [1]\nHALT\nroutine f(d)\nLD R, d\nST d, R\nend": (0, 0),  # START is in between
    "CALL f, [0]\nLD R, [7]\nHALT\nroutine f(d)\nLD R, d\nST d, R\nend": (1, 0),
    "LOOP 100\nADD R, #1\nENDL": (0, 99),  # 199 cycles in hardware that decodes one instruction a cycle
    "LOOP 10\nLOOP 10\nADD R, #1\nENDL\nENDL": (0, 118),  # 218
    "LOOP 100\nADD R, #1\nADD R, #2\nENDL": (0, 99),  # 299
    "EMC_TreeIntoMem_Li [0], 8, 0, 0, 5\nLOOP 10\nADD R, #1\nENDL": (0, 6),  # 4 ahead: LOOP and 3 rounds take no time
    "LOOP 100\nEMC_TreeIntoMem_Li [0], 2, 0, 0, 5\nENDL": (0, 0),  # 300: two cycles gained, one lost
}
"""Programs, and the cycles that each of the two waits adds alone."""


def machine(store_then_read: int = 0, fold_loops: bool = True, start: NodeConfig = TINY) -> NodeConfig:
    igc, extra = replace(start.igc, fold_loops=fold_loops), replace(start.extra, store_then_read=store_then_read)
    return replace(start, igc=igc, extra=extra)


@pytest.mark.parametrize("text", ROWS)
def test_waits_by_hand(text: str) -> None:
    program = assemble(f"{text}\n")
    plain = Node(TINY).run(program)
    port, loops = (Node(each).run(program) for each in (machine(3), machine(fold_loops=False)))
    assert plain.waits == {}
    assert (port.waits.get(PORT, 0), loops.waits.get(SEQUENCER, 0)) == (3 * ROWS[text][0], ROWS[text][1])
    assert port.cycles == plain.cycles + 3 * ROWS[text][0] and loops.cycles == plain.cycles + ROWS[text][1]


def test_machines_of_before_keep_their_fingerprint() -> None:
    assert machine().sha256 == TINY.sha256 != machine(1).sha256
    assert machine(fold_loops=False).sha256 != TINY.sha256


def test_control_that_takes_cycles_is_not_counted_twice() -> None:
    program = assemble("LOOP 100\nADD R, #1\nENDL\n")
    slow = load_config(None, ["igc.control_cycles=1"], "tiny")
    assert Node(machine(fold_loops=False, start=slow)).run(program).cycles == Node(slow).run(program).cycles


# --- random programs -------------------------------------------------------------------------------------------------

PLAIN = {
    "LD R, [{}]": "r", "ADD S, [{}]": "r", "ROL R, [{}]": "r", "ST [{}], R": "w", "STA [{}], S": "w",
    "STI [{}], #9": "w", "ADD R, #3": "", "LD.E S, R": "", "CMP R, #7": "", "ENOT": "", "LD.E M, [{}]": "r",
}  # fmt: skip
"""Instructions of one cycle, and whether it reads or writes memory."""

LONG = {"EMC_TreeIntoMem_Li [{}], 2, 1, 0, 7": (3, "w"), "EMC_TreeGEMem_Li [{}], 2, 1, 1, 3": (3, ""),
        "EMC_TreeAddMem_Li [{}], 1, 1, 2, 3": (3, "w"), "EMC_PixCopy [{}], [60], 2, 2": (8, "")}  # fmt: skip
"""Instructions of more cycles: how many, and whether the last one writes; the first is a start-up."""


class Tree:
    """A random program: its text, and the steps that it executes, each of which is cycles and what it does."""

    def __init__(self, seed: int) -> None:
        rng = self._rng = random.Random(seed)
        self.routines = [self._straight(rng.randint(1, 7)) for _ in range(2)]
        lines, self.steps = self._body(rng.randint(3, 10), 0)
        for name, (text, _) in zip("fg", self.routines, strict=True):
            lines += [f"{'routine' if name == 'f' else 'proc'} {name}(d)", *text, "end"]
        self.text = "\n".join(["EMC_SetEnab", *lines]) + "\n"

    def _straight(self, count: int) -> tuple[list[str], list[tuple]]:
        lines, steps = [], []
        for _ in range(count):
            at = self._rng.randrange(40)
            if self._rng.random() < 0.2:
                text, (cycles, does) = self._rng.choice(list(LONG.items()))
                steps.append((cycles, "", does))
            else:
                text, does = self._rng.choice(list(PLAIN.items()))
                steps.append((1, does, does))
            lines.append(text.format(at))
        return lines, steps

    def _body(self, count: int, depth: int) -> tuple[list[str], list[tuple]]:
        lines, steps = [], []
        for _ in range(count):
            choice = self._rng.random()
            if choice < 0.25 and depth < 3:
                times, (inner, done) = self._rng.randint(0, 4), self._body(self._rng.randint(1, 4), depth + 1)
                lines += [f"LOOP {times}", *inner, "ENDL"]
                steps += ["loop", *[*done, "loop"] * times]
            elif choice < 0.45:
                name, (_, done) = self._rng.choice(list(zip("fg", self.routines, strict=True)))
                lines.append(f"CALL {name}, [{self._rng.randrange(40)}]")
                steps += [*([(1, "", "")] if name == "f" else []), *done]
            else:
                inner, done = self._straight(self._rng.randint(1, 5))
                lines += inner
                steps += done
        return lines, steps

    def cycles(self, store_then_read: int, fold_loops: bool) -> int:
        """Return the cycles by the two rules."""
        total, stored, lead = 1, False, 1  # EMC_SetEnab
        for step in self.steps:
            if step == "loop":
                lead -= not fold_loops
                continue
            takes, first, last = step
            if lead < 0:
                total, lead, stored = total - lead, 0, False
            if stored and first == "r":
                total += store_then_read
            total, stored, lead = total + takes, last == "w", min(4, lead + takes - 1)
        return total


class Stepped(NamedTuple):
    """What a replay knows about its run."""

    cycles: int
    waits: dict[str, int]
    executed: tuple[int, ...]


def ways(program: Program, config: NodeConfig, seed: int) -> dict[str, tuple[object, ...]]:
    """Return the account of a program by the way in which it was run: cycles, waits, and what was executed."""
    told = {}

    def account(run) -> tuple[object, ...]:
        return run.cycles, {why: cycles for why, cycles in run.waits.items() if cycles}, run.executed

    node = Node(config, "rows")
    full = node.run(program)
    told["full"] = account(full)
    told["timing only"] = account(Node(config, "rows").run(program, function=False))

    watched, waited = Node(config, "rows"), []
    watched.bus.subscribe(lambda event: waited.append(event.end - event.cycle), Waited)
    watched.bus.subscribe(lambda event: waited.append(event.cycles), Executed)
    told["watched"] = account(watched.run(program))
    if full.beside is None:
        assert sum(waited) == full.cycles

    untimed = Node(config, "rows")
    assert untimed.run(program, timing=False).executed == full.executed
    assert untimed.digest() == watched.digest() == node.digest()

    saved: list[Checkpoint] = []
    half = random.Random(seed).randrange(full.total_cycles + 1)
    told["saved"] = account(Node(config, "rows").run(program, save_at=half, save=saved.append))
    for each in saved:
        resumed = Node(config, "rows")
        told["resumed"] = account(resumed.resume(program, Checkpoint.from_bytes(each.to_bytes())))
        assert resumed.digest() == node.digest()

    replay = Replay(Node(config, "rows"), program)
    replay.goto(1 << 40)
    replay.goto(half)
    replay.goto(1 << 40)
    stream = replay.streams["eigc"]
    stream.settle()
    told["debugged"] = account(Stepped(stream.cycle, stream.waits, tuple(stream.executed)))
    if kernels.choose("macro").engine == "macro":
        repeating = Node(config, "macro")
        for turn in range(4):
            repeating.load(program)
            told[f"repeated {turn}"] = account(repeating.run(program))
    return told


def agree(seed: int) -> None:
    rng = random.Random(seed)
    cycles, folds = rng.choice([(1, True), (0, False), (2, False), (3, True)])
    config = machine(cycles, folds)
    if rng.random() < 0.3:
        config = replace(config, igc=replace(config.igc, supply=rng.choice([150, 400]), fifo_words=16, memory_words=40))
    if seed % 4 == 0:
        program = assemble(exchanges.program(seed))
    else:
        tree = Tree(seed)
        program = assemble(tree.text)
        if not config.igc.supply:
            assert Node(config, "rows").run(program).cycles == tree.cycles(cycles, folds), (seed, tree.text)
    told = ways(program, config, seed)
    assert len(set(map(repr, told.values()))) == 1, (seed, told)


@pytest.mark.parametrize("block", range(SAMPLE // 20))
def test_every_way_of_running_waits_alike(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        agree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(SAMPLE // 20, PROGRAMS // 20))
def test_every_way_of_running_waits_alike_in_full(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        agree(seed)
