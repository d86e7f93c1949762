"""Registers, flags and memory map of a PE (thesis 2.2.1; details invented), and the node's declarations.

Three 8-bit registers R, S, M; carry C; enable E; the latch L, which holds the enable of the caller of the current
routine; a stack of saved enables, a stack of saved latches; the marks MR and MW of PEs that take part in a texture read
or write. At all times E is a subset of L.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import chain

from pixelflow.isa.hardware import CyclePlacement, misplaced, placements
from pixelflow.simd.isa.declare import Declaration, Flow, Instruction, Step
from pixelflow.simd.isa.effects import Effects, State, agree_on_memory, agree_on_state, must_agree
from pixelflow.simd.report import counted, plural

MAIN_BYTES = 256
COMPOSITION_START = 256
INPUT_PORT = 320
OUTPUT_PORT = 352
PORT_BYTES = 32
MEMORY_BYTES = 384
"""256 main, 64 image composition, two local ports of 32 (thesis 2.2.1, 3.6); the order is invented."""

PANEL_PES = 32
"""PEs of a panel, the reach of PixCopy and PixSwap (thesis 2.2.8)."""

WORDS = ("R", "S", "M")
CARRIES = ("C",)

ENABLE_STACK = ("E0", "E1", "E2", "E3")
"""Saved enables, newest first (depth 4, invented)."""

LATCH_STACK = ("L0", "L1", "L2", "L3")
"""Latches of the calling routines, innermost first (depth 4, invented)."""

MASKS = ("E", "L", *ENABLE_STACK, *LATCH_STACK, "MR", "MW")


ALL, BEFORE, END = "(all)", "(before)", "(end)"
"""Names in reports for a stream without stages, the time before the first stage, and the end; barred for stages."""


class Family(Enum):
    """Groups of instructions in the cycle report and in the manual."""

    STARTUP = "start-up"
    MOVE = "move"
    ARITHMETIC = "arithmetic"
    LOGIC = "logic"
    SHIFT = "shift"
    MULTIPLY = "multiply"
    ENABLE = "enable"
    LEE = "linear expression"
    PIXEL_COPY = "pixel copy"
    PORT = "port"
    TEXTURE = "texture"
    CONTROL = "control"


class Unit(Enum):
    """The part of the machine that gives an instruction its meaning."""

    PE = "processing elements"
    LEE = "linear expression evaluator"
    TASIC = "texture ASICs"
    SEQUENCER = "sequencer"


class Transfers(Enum):
    """The effect of a transfer on the SDRAMs of texture memory."""

    READ = "reads them"
    WRITE = "writes them"
    PASS = "leaves them alone"


class LaneWork(Enum):
    """Kinds of work of PEs in the cycles of an instruction, for energy."""

    READ = "memory_read"
    WRITE = "memory_write"
    OPERATION = "operation"
    LINEAR = "linear"
    HOP = "hop"


_OPERATIONS = {"operate": 1, "fetch and operate": 1, "shift pair": 2, "evaluate, fetch and add": 1}
"""Operations on bytes of the steps that make them."""


def work_of(steps: tuple[Step, ...]) -> dict[LaneWork, int]:
    """Return what steps do in one PE; memory steps that do not store read."""
    found: dict[LaneWork, int] = dict.fromkeys(LaneWork, 0)
    each_once = {id(step): step for step in steps}  # most are one object many times
    for number, times in Counter(map(id, steps)).items():
        step = each_once[number]
        if step.memory:
            found[LaneWork.WRITE if step.store else LaneWork.READ] += times
        found[LaneWork.HOP] += times * step.hop
        found[LaneWork.LINEAR] += times * step.evaluate
        found[LaneWork.OPERATION] += times * _OPERATIONS.get(step.name, 0)
    return found


@dataclass(frozen=True, eq=False)
class NodeDeclaration(Declaration):
    """One instruction of a node."""

    transfers: Transfers | None = None
    """The effect of a transfer, whose cycles are not declared; None for other instructions."""
    adders: int = 1
    """The sums of bytes that a cycle may make. A PE of the machine has one adder."""

    @property
    def on_lanes(self) -> bool:
        """True if its meaning is over the lanes, as for instructions of the PEs."""
        return self.unit is Unit.PE

    @cached_property
    def hardware(self) -> dict[str, CyclePlacement]:
        """The cycles of accesses and sums, by an example for each kind of operands; nothing off the PEs."""
        return placements(self) if self.on_lanes else {}

    @property
    def needs(self) -> str:
        """The most that a declared cycle needs in hardware, or the reason why that cannot be derived."""
        if self.unit is Unit.SEQUENCER:
            return f"a sequencer that takes {counted(self.words, 'word')} together with an instruction of the PEs"
        if not self.on_lanes:
            return "not derived: it acts on a unit, not on the PEs"
        found = self.hardware.values()
        ports, adders = max(each.ports for each in found), max(each.adders for each in found)
        hidden = max(each.hidden for each in found)
        held = f"{counted(hidden, 'hidden bit')} in each PE"
        used = [plural(ports, "access") * (ports > 0), counted(adders, "sum") * (adders > 0), held * (hidden > 0)]
        return ", ".join(filter(None, used)) or "registers and flags alone"

    def __post_init__(self) -> None:
        super().__post_init__()
        # Of those that ship, a test asks once; every process would wait for it.
        if not self.meaning.__module__.startswith(f"{__package__}."):
            self.must_agree()

    def must_agree(self) -> None:
        """Raise InternalError where an instruction of the PEs declares something else than its meaning does."""
        if self.on_lanes:
            must_agree(self, (_memory, _state, _units, _cycles, _stacks, _family, _cost))


def transfers_of(declaration: Declaration) -> Transfers | None:
    """Return the effect of a transfer; None for other instructions."""
    return declaration.transfers if isinstance(declaration, NodeDeclaration) else None


_STATE = (*WORDS, *CARRIES, *MASKS)
_ENABLES = {"E", *ENABLE_STACK}


def _memory(instruction: Instruction, found: Effects) -> Iterator[str]:
    work = work_of(instruction.steps)
    return agree_on_memory(instruction, found, reads=work[LaneWork.READ], writes=work[LaneWork.WRITE])


def _state(instruction: Instruction, found: Effects) -> Iterator[str]:
    return agree_on_state(instruction, found, names=_STATE)


def _units(instruction: Instruction, found: Effects) -> Iterator[str]:
    """Compare bytes of linear expressions, and routes between PEs, each of which takes at least a hop."""
    work = work_of(instruction.steps)
    if work[LaneWork.LINEAR] != found.evaluated:
        declared = f"{counted(work[LaneWork.LINEAR], 'byte')} of a linear expression (steps with `evaluate`)"
        yield f"declares {declared}, its meaning has {found.evaluated} evaluated"
    if work[LaneWork.HOP] < len(found.routes) or (work[LaneWork.HOP] and not found.routes):
        declared = f"{counted(work[LaneWork.HOP], 'hop')} between PEs (steps with `hop`)"
        yield f"declares {declared}, its meaning routes {counted(len(found.routes), 'byte')}"


def _cycles(instruction: Instruction, found: Effects) -> Iterator[str]:
    """Place each access, sum and hop in a declared cycle, where there are as many as are declared."""
    if not any(chain(_memory(instruction, found), _units(instruction, found))):
        declaration = instruction.declaration
        yield from misplaced(instruction, declaration.adders if isinstance(declaration, NodeDeclaration) else 1)


def _stacks(instruction: Instruction, found: Effects) -> Iterator[str]:
    """Compare the enable stack with ``pushes``, the latch and its stack with ``flow``."""
    declared, done = instruction.declaration.pushes, _moved(found, ENABLE_STACK)
    if done != declared:
        words = {0: "leaves the enable stack alone", 1: "pushes an enable", -1: "pops an enable"}
        shown = words.get(declared, f"moves the enable stack by {declared}")
        does = "writes the stack otherwise" if done is None else words[done]
        yield f"declares that it {shown} (pushes={declared}), its meaning {does}"
    starts = instruction.declaration.flow is Flow.START
    latches = _moved(found, LATCH_STACK) == 1 and "L" in found.writes
    if starts != latches or (not starts and not {"L", *LATCH_STACK}.isdisjoint(found.writes)):
        shown = "starts a routine" if starts else "starts no routine"
        does = "latches the enable" if latches else "writes the latches" if not starts else "leaves the latch alone"
        yield f"declares that it {shown} (flow), its meaning {does}"


def _moved(found: Effects, stack: tuple[str, ...]) -> int | None:
    """Return 1 where a stack is pushed, -1 where it is popped, 0 where it is left alone, None for anything else."""
    if not {*stack} & found.writes.keys():
        return 0
    top, second = stack[:2]
    if found.writes.get(second) == frozenset[State]((top,)):
        return 1
    return -1 if found.writes.get(top) == frozenset[State]((second,)) else None


def _family(instruction: Instruction, found: Effects) -> Iterator[str]:
    """Compare the family with the meaning."""
    family, written = instruction.declaration.family, {*found.writes}
    declared = f"declares the family {family.name} ({family.value})"
    does: dict[Enum, tuple[bool, str]] = {
        Family.LEE: (found.evaluated > 0, "evaluates no linear expression"),
        Family.PIXEL_COPY: (bool(found.routes), "moves nothing between PEs"),
        Family.ENABLE: (bool(written & _ENABLES), "writes no enable"),
        Family.PORT: (bool(written & {"MR", "MW"}), "marks no PE"),
        Family.STARTUP: ("L" in written, "latches nothing"),
        Family.TEXTURE: (False, "is over the PEs"),
        Family.CONTROL: (False, "is over the PEs"),
    }
    right, other = does.get(family, (bool(written), "writes nothing"))
    if not right:
        yield f"{declared}, its meaning {other}"
    for each, done in ((Family.LEE, found.evaluated), (Family.PIXEL_COPY, len(found.routes))):
        if done and family not in (Family.LEE, Family.PIXEL_COPY):
            yield f"{declared}, its meaning is one of {each.name} ({each.value})"


def _cost(instruction: Instruction, found: Effects) -> Iterator[str]:
    """Compare the cycles in the manual with the steps, where they are a number."""
    text = instruction.declaration.cost_text
    if text.isdecimal() and int(text) != len(instruction.steps):
        yield f"declares a cost of {text} in the manual, its steps take {counted(len(instruction.steps), 'cycle')}"
