"""Random programs of two streams, data for them, and what must be the same behind a run that was done again."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import TINY
from pixelflow.isa import INPUT_PORT, Family, Instruction, Program
from pixelflow.isa.declarations import MASKS, PORT_BYTES
from pixelflow.node import Node
from pixelflow.node.account import Run
from tests.differential.random_programs import instruction
from tests.kernels.stretches import floats

__all__ = [
    "CHANGES",
    "LINEAR",
    "Pair",
    "behind",
    "change",
    "counted",
    "fill",
    "fill_ports",
    "outcome",
    "random_program",
]

TEXTURE = ("generator", "panel_minor", "alternate", "destinations", "act", "dct", "moved")

UNARY = ("fsqrt", "fneg", "fabs", "f2i", "i2f")
BINARY = ("fadd", "fsub", "fmul", "fdiv", "fless", "fequal")
FLOATS = range(16, 64, 4)
GIVEN = 208
"""Where each PE keeps addresses for its output port: eight, all multiples of 8 below 512."""

# What a routine leaves in registers may be anything, so nothing may rely on it.
AFTER_CALL = ["LD R, [3]", "LD S, [4]", "LD M, #9", "ADD R, S"]

READS = (
    "TAS_MemRdBlock4 0",
    "TAS_MemRdBlock4 1",
    "TAS_MemRdBlock4 2",
    "TAS_MemRdBlock8 1",
    "TAS_MemRdRepeat4 4, 1",
    "TAS_MemRdGp4 2, 1, 4, 8",
)
OTHERS = (
    "TAS_MemWrBlock4 2",
    "TAS_MemWrBlock8 2",
    "TAS_MemWrHalf4 1",
    "TAS_MemWrBase4 3",
    "TAS_LoopBack",
    "TAS_GpWrite 1, 0, 8",
    "TAS_MemLoad 1, 8, 64",
)


LINEAR = "\n".join(f"EMC_TreeIntoMem_Li [{64 + at % 16}], 2, {at}, {3 * at + 1}, {7 * at}" for at in range(70))
"""More linear expressions than `folding` asks for."""


def _is_private(made: Instruction) -> bool:
    """Return whether an instruction leaves ports and marks alone, as it must while a transfer is under way."""
    touched = (memory.offset + size for memory, size in made.touches)
    return made.declaration.family is not Family.PORT and all(end <= INPUT_PORT for end in touched)


def _lines(rng: random.Random, count: int) -> list[str]:
    """Return instructions, linear expressions and calls that leave the enable stack as it was."""
    found: list[str] = []
    depth = 0
    while len(found) < count or depth:
        if rng.random() < 0.3:
            routine = rng.choice([*UNARY, *BINARY, *BINARY])
            places = rng.sample(FLOATS, 1 + (1 if routine in UNARY else 2))
            if rng.random() < 0.2:
                places[0] = places[1]
            found += [f"CALL {routine}, {', '.join(f'[{place}]' for place in places)}", *AFTER_CALL]
        elif depth and len(found) >= count:
            found.append("EPOP")
            depth -= 1
        else:
            made, after = instruction(rng, depth)
            if _is_private(made):
                found.append(made.text())
                depth = after
    return found


def _asking(rng: random.Random, number: int, known: bool) -> list[str]:
    """Return what fills the output ports of some PEs and marks them; ``known`` by their places alone."""
    found = ["EMC_SetEnab"]
    if known:
        # Multiples of 8 that follow from the place alone; x has at most 8 bits and y at most 7.
        for at in range(0, 32 if rng.random() < 0.5 else 4, 4):
            found.append(
                f"EMC_TreeIntoMem_Li [{352 + at}], 4, {8 * rng.randrange(4)}, {8 * rng.randrange(4)}, {8 * at}"
            )
    else:
        for at in range(32 if rng.random() < 0.5 else 4):
            found += [f"LD R, [{GIVEN + at}]", f"ST [{352 + at}], R"]
    choice = rng.choice(["all", "by place"] if known else ["all", "by place", "by data", "by float"])
    if choice == "by place":
        found.append(f"EMC_TreeEQZero_Li 0, 1, {rng.choice([16, 64, 128])}, {rng.choice([0, 64])}, 0")
    elif choice == "by data":
        found += [f"LD R, [{200 + number}]", "CMP R, #2", "EC"]
    elif choice == "by float":
        found += [f"LD R, [{rng.choice(FLOATS) + 2}]", f"CMP R, #{rng.randrange(256)}", "EC"]
    return [*found, "EMC_MarkRead", "EMC_MarkWrite"]


def random_program(seed: int) -> Program:
    """Return a program with up to four transfers, and anything before, beside and behind them.

    In two of five all transfers are reads of which marks and addresses follow from the places of the PEs.
    """
    rng = random.Random(seed)
    known = rng.random() < 0.4
    emc = ['include "float32/tuned.mc"']
    tasic = [f"TAS_SetOrder {rng.randrange(2)}"] if rng.random() < 0.3 else []
    tasic += [f"TAS_SetCrossbar {bit}, {bit - 3}" for bit in range(3, 8)] if rng.random() < 0.8 else []
    if rng.random() < 0.5:
        tasic += [f"TAS_SetStep {rng.randrange(4)}"]
    if rng.random() < 0.2:
        emc.append("EMC_SetEnab")
    for number in range(rng.randint(1, 4)):
        if not known and rng.random() < 0.25:
            values = [rng.randrange(16) for _ in range(3)]
            emc += [f"EMC_SetLEE 0, 0, {2 + at}, {rng.randrange(8)}, {value}" for at, value in enumerate(values)]
        if rng.random() < 0.3:
            emc += ["EMC_SetEnab"] if rng.random() < 0.5 else []
            emc += [
                f"EMC_TreeIntoMem_Li [{64 + 2 * rng.randrange(20)}], {rng.choice([1, 2, 4])}, "
                f"{rng.randint(-99, 99)}, {rng.randint(-99, 99)}, {rng.randint(-9999, 9999)}"
                for _ in range(rng.choice([5, 70, 90]))
            ]
        emc += _lines(rng, rng.randrange(12))
        emc += [
            *_asking(rng, number, known or rng.random() < 0.5),
            "SIGNAL 0",
            *_lines(rng, rng.randrange(8)),
            "WAIT 1",
            "EMC_SetEnab",
        ]
        for at in range(rng.choice([0, 4, 32])):
            emc += [f"LD R, [{320 + at}]", f"ST [{rng.choice([96 + at, 16 + at])}], R"]
        transfer = rng.choice(READS[:-1] if known else READS if rng.random() < 0.65 else OTHERS)
        if known or rng.random() < 0.5:
            tasic.append(f"TAS_SetCounter {rng.randrange(32)}")
        if "Gp" in transfer or "Load" in transfer:
            tasic.append("TAS_SetGp 1, 0, 0")
        tasic += ["WAIT 0", transfer]
        if not known and transfer in READS and "8" not in transfer and rng.random() < 0.2:
            tasic += ["TAS_MemRdBlock4 3"]
        tasic += ["SIGNAL 1"]
    emc += _lines(rng, rng.randrange(10))
    if known or rng.random() < 0.6:
        emc.append("EMC_SetEnab")
    return assemble("\n".join([*emc, "HALT", "stream tigc", *tasic, "HALT"]))


# --- what changes from run to run ------------------------------------------------------------------------------------


def fill(node: Node, seed: int) -> None:
    """Put everything that programs of `random_program` use into PE and GP memory."""
    rng = np.random.default_rng(seed)
    node.write_memory(0, rng.integers(0, 256, (12, node.lanes), dtype=np.uint8))
    for row in FLOATS:
        node.write_word(row, 4, floats(node.lanes, seed + row, wild=bool(seed % 2)).astype(np.uint64))
    change(node, "marks" if seed % 4 == 0 else "regular marks", seed)
    change(node, "addresses", seed)
    node.gp_memory[0].write(0, rng.integers(0, 256, 512, dtype=np.uint8))


def change(node: Node, what: str, seed: int) -> None:
    """Change one thing between two runs: what exactly follows from the seed."""
    rng = np.random.default_rng(seed)
    match what:
        case "nothing":
            pass
        case "data":
            row = int(rng.choice(FLOATS))
            node.write_word(row, 4, floats(node.lanes, seed, wild=True).astype(np.uint64))
        case "marks":
            node.write_memory(200, (rng.random((4, node.lanes)) < rng.random()).astype(np.uint8) + np.uint8(1))
        case "regular marks":
            period = 4 << seed % 5
            marked = np.arange(node.lanes) % period < period * (1 + seed % 4) // 4
            node.write_memory(200, np.repeat(marked[None].astype(np.uint8) + np.uint8(1), 4, axis=0))
        case "addresses":
            values = 8 * rng.integers(0, 64, (8, node.lanes)).astype("<u4")
            node.write_memory(GIVEN, values.T.copy().view(np.uint8).reshape(node.lanes, 32).T)
        case "one address":
            node.write_word(GIVEN, 4, np.where(np.arange(node.lanes) == rng.integers(256), 8, node.read_word(GIVEN, 4)))
        case "a bad address":
            node.write_word(GIVEN, 4, np.where(np.arange(node.lanes) == 77, 2, node.read_word(GIVEN, 4)))
        case "texture":
            node.gp_memory[0].write(0, rng.integers(0, 256, 512, dtype=np.uint8))
            node.run(_other("TAS_SetGp 1, 0, 0\nTAS_MemLoad 1, 16, 0\nTAS_SetGp 1, 0, 0"))
        case "tasic":
            node.run(_other(f"TAS_SetStep {seed % 3}\nTAS_SetOrder {seed % 2}\nTAS_SetCounter {seed % 7}"))
        case "coordinates":
            node.run(_other("", f"EMC_SetLEE 0, 0, 2, {seed % 16}, {seed % 256}\nEMC_SetLEE 0, 0, 5, 1, {seed % 4}"))
        case "enables":
            node.set_flag("E", rng.random(node.lanes) < 0.7)
        case "latches":
            node.set_flag("L", rng.random(node.lanes) < 0.9)
            node.set_flag("E", node.flag("L"))
        case "all enables":
            node.set_flag("L", np.ones(node.lanes, bool))
            node.set_flag("E", np.ones(node.lanes, bool))


def fill_ports(node: Node, seed: int) -> None:
    """Put anything into the input ports, where only a read may put what programs find there."""
    node.write_memory(INPUT_PORT, np.random.default_rng(seed).integers(0, 256, (PORT_BYTES, node.lanes), np.uint8))


_PROGRAMS: dict[tuple[str, str], Program] = {}


def _other(tasic: str, emc: str = "") -> Program:
    if (tasic, emc) not in _PROGRAMS:
        _PROGRAMS[tasic, emc] = assemble(f"{emc}\nHALT\nstream tigc\n{tasic}\nHALT\n")
    return _PROGRAMS[tasic, emc]


CHANGES = (
    *("nothing", "nothing", "nothing", "data", "marks", "regular marks", "addresses", "one address"),
    *("texture", "tasic", "coordinates", "enables", "latches", "all enables"),
)


# --- what must be the same -------------------------------------------------------------------------------------------


def behind(node: Node) -> dict[str, Any]:
    """Return the state of a node, but for what the library's routines leave with anything."""
    memory = node.memory
    memory[152:176] = 0
    unit = vars(node.texture)
    return {
        "memory": memory.tobytes(),
        **{name: node.flag(name).tobytes() for name in MASKS},
        **{
            name: repr(unit[name]) if not isinstance(unit[name], np.ndarray) else unit[name].tobytes()
            for name in TEXTURE
        },
        "crossbar": list(node.texture.generator.crossbar),
        "texture": [each.digest() for each in node.texture_memory],
        "gp": [each.snapshot().tobytes() for each in node.gp_memory],
        "lee": {name: values.tobytes() for name, values in node.array.lee.registers.items()},
    }


def outcome(run: Run) -> dict[str, Any]:
    """Return the account of a run, but for how it was made."""
    names = ("cycles", "total_cycles", "executed", "stages", "waits", "stage_waits", "routine_cycles", "ledger",
             "tasic_cycles", "gni_cycles", "reason")  # fmt: skip
    found = {name: getattr(run, name) for name in names}
    if run.beside is not None:
        found |= {f"beside {name}": getattr(run.beside, name) for name in ("cycles", "executed", "waits")}
    return found


# --- two nodes -------------------------------------------------------------------------------------------------------


class Pair:
    """A node that repeats runs, and one that does not."""

    def __init__(self, seed: int, reference: str = "compiled") -> None:
        self.nodes = [Node(TINY, "macro"), Node(TINY, reference)]
        self.runs = 0
        for node in self.nodes:
            fill(node, seed)

    def run(self, program: Program, what: str = "nothing", seed: int = 0, *, fuse: bool = False) -> bool:
        """Change something, run, compare; return whether the run was repeated. ``fuse`` as soon as that is possible."""
        self.runs += 1
        for node in self.nodes:
            change(node, what, seed)
            # What a read brings must not be there already.
            fill_ports(node, self.runs)
        if fuse:
            self.nodes[0].fuse(program)
        runs = [node.run(program) for node in self.nodes]
        assert outcome(runs[0]) == outcome(runs[1])
        self.same()
        return runs[0].repeated

    def same(self) -> None:
        found, expected = (behind(node) for node in self.nodes)
        assert not [name for name in expected if found[name] != expected[name]]


def counted(monkeypatch: pytest.MonkeyPatch, where: object, name: str) -> list[bool]:
    """Return the list to which every call of a function adds what it returns."""
    found: list[bool] = []
    function = getattr(where, name)
    monkeypatch.setattr(where, name, lambda *given: found.append(function(*given)) or found[-1])
    return found
