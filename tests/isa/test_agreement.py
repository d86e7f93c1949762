"""Is an instruction refused whose declaration says something else than its meaning does, for each kind of statement?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pixelflow.isa import INSTRUCTIONS, Family, InstructionSet, Mem, NodeDeclaration, OperandSpec, Unit
from pixelflow.isa.declarations import LaneWork, work_of
from pixelflow.isa.emc import fetch
from pixelflow.isa.operands import MEMORY, REGISTER, SOURCE
from pixelflow.simd.errors import InternalError
from pixelflow.simd.isa.declare import Flow, Step
from pixelflow.simd.isa.effects import effects
from pixelflow.simd.isa.operands import Count

ROOT = Path(__file__).parents[2]
DST, SRC, ADDRESS = OperandSpec("dst", REGISTER), OperandSpec("src", SOURCE), OperandSpec("address", MEMORY)
OTHER = OperandSpec("other", MEMORY)
WIDE = OperandSpec("address", MEMORY, sized_by="bytes")
BYTES = OperandSpec("bytes", Count(1, 8))
ONE = (Step("operate"),)
READ, WRITE = Step("fetch and operate", memory=True), Step("store", memory=True, store=True)


def declared(meaning: Callable[..., None], *operands: OperandSpec, steps: Callable[..., tuple[Step, ...]], **said):
    """Declare a toy instruction in a set of its own and return it."""
    meaning.__doc__ = "A toy."
    toys: InstructionSet[NodeDeclaration] = InstructionSet("tests", unit=Unit.PE, gate="E", kind=NodeDeclaration)
    about = {"family": Family.ARITHMETIC, "cost": "some", "source": "a test"} | said
    try:
        toys.instruction("TOY", 1, *operands, steps=steps, **about)(meaning)
    except InternalError:
        assert not toys
        raise
    return toys["TOY"]


def move(pe, dst, src):
    pe.write(dst.name, fetch(pe, src))


def store(pe, address, *rest):
    pe.store(address.offset, pe.read("R"), pe.flag("E"))


def gated(pe, dst, *, where):
    pe.write(dst.name, pe.word(1), where)


def shift_byte(pe, address):
    pe.write("R", pe.route(pe.load(address.offset), [p ^ 1 for p in range(32)]))


def plane(pe, dst):
    pe.write(dst.name, pe.affine(1, 1, 1, 1)[0])


def always(pe, dst, *, where):
    pe.write(dst.name, pe.word(1))


def where_carry(pe, dst, *, where):
    pe.write(dst.name, pe.word(1), None if where is None else pe.flag("C"))


def flag_everywhere(pe, dst, *, where):
    pe.write(dst.name, pe.word(1), where)
    pe.set_flag("C", pe.bit(True))


def push(pe):
    for deeper, upper in (("E3", "E2"), ("E2", "E1"), ("E1", "E0"), ("E0", "E")):
        pe.set_flag(deeper, pe.flag(upper))


def latch(pe):
    for deeper, upper in (("L3", "L2"), ("L2", "L1"), ("L1", "L0"), ("L0", "L"), ("L", "E")):
        pe.set_flag(deeper, pe.flag(upper))


def add_three(pe, dst):
    first, _ = pe.add(pe.read("R"), pe.read("S"), pe.bit(False))
    pe.write(dst.name, pe.add(first, pe.read("M"), pe.bit(False))[0])


def twice(pe, address):
    pe.store(address.offset, pe.add(pe.load(address.offset), pe.word(1), pe.bit(False))[0])


def copy_late(pe, address, other):
    pe.store(address.offset, pe.load(other.offset))


def shift_held(pe, address):
    moved, carry = pe.shift_left(pe.load(address.offset), pe.flag("C"))
    pe.store(address.offset, moved)
    pe.set_flag("C", carry)


def unknown(pe, dst):
    pe.write(dst.name, pe.read("T"))


def broken(pe, dst):
    pe.write(dst.name, pe.word(missing))  # noqa: F821


WRONG = {
    "reads a byte that is not declared": (
        move, (DST, SRC), {"steps": lambda dst, src: ONE},
        r"`TOY R, \[64\]` declares 0 bytes read from memory \(steps: operate\), its meaning has 1 \(\[64\]\) read from",
    ),
    "declares a byte that it does not read": (
        move, (DST, SRC), {"steps": lambda dst, src: (READ,)},
        r"`TOY R, R` declares 1 byte read from memory \(steps: fetch and operate\), its meaning has 0 read from",
    ),
    "writes a byte that is not declared": (
        store, (ADDRESS,), {"steps": lambda address: ONE},
        r"declares 0 bytes written to memory .*its meaning has 1 \(\[0\]\) written to",
    ),
    "declares a byte that it does not write": (
        lambda pe, address: pe.write("R", pe.load(address.offset)), (ADDRESS,),
        {"steps": lambda address: (READ, WRITE)},
        r"declares 1 byte written to memory .*its meaning has 0 written to",
    ),
    "writes where reading is declared": (
        store, (ADDRESS,), {"steps": lambda address: (Step("save", memory=True),)}, "declares 1 byte read from memory",
    ),
    "touches other bytes than its operands name": (
        lambda pe, address: pe.store(address.offset + 1, pe.read("R")), (ADDRESS,), {"steps": lambda address: (WRITE,)},
        r"names 1 \(\[0\]\) of memory in its operands \(sized_by\), its meaning touches 1 \(\[1\]\)",
    ),
    "touches fewer bytes than its operands name": (
        store, (WIDE, BYTES), {"steps": lambda address, count: (WRITE,)},
        r"`TOY \[0\], 2` names 2 \(\[0\], \[1\]\) of memory .*its meaning touches 1 \(\[0\]\)",
    ),
    "touches memory that no operand names": (
        lambda pe: pe.store(5, pe.read("R")), (), {"steps": lambda: (WRITE,)},
        r"names 0 of .*its meaning touches 1 \(\[5\]",
    ),
    "writes in disabled PEs": (
        always, (DST,), {"steps": lambda dst: ONE, "gateable": True},
        r"`TOY.E R` declares that it writes where E is set alone, its meaning writes R elsewhere too",
    ),
    "goes by another flag than the gate": (
        where_carry, (DST,), {"steps": lambda dst: ONE, "gateable": True}, "its meaning writes R elsewhere too",
    ),
    "gates one of two writes": (
        flag_everywhere, (DST,), {"steps": lambda dst: ONE, "gateable": True}, "its meaning writes C elsewhere too",
    ),
    "takes no gate though it is declared": (
        lambda pe, dst: None, (DST,), {"steps": lambda dst: ONE, "gateable": True}, "cannot be executed: TypeError",
    ),
    "evaluates what is not declared": (
        plane, (DST,), {"steps": lambda dst: ONE, "family": Family.LEE},
        "declares 0 bytes of a linear expression .*its meaning has 1 evaluated",
    ),
    "declares an evaluation": (
        gated, (DST,), {"steps": lambda dst: (Step("evaluate a byte", evaluate=True),), "gateable": True},
        "declares 1 byte of a linear expression .*its meaning has 0 evaluated",
    ),
    "moves bytes between PEs without a hop": (
        shift_byte, (ADDRESS,), {"steps": lambda address: (READ,), "family": Family.PIXEL_COPY},
        "declares 0 hops between PEs .*its meaning routes 1 byte",
    ),
    "declares a hop": (
        gated, (DST,), {"steps": lambda dst: (Step("hop", hop=True),), "gateable": True},
        "declares 1 hop between PEs .*its meaning routes 0 bytes",
    ),
    "two sums in a cycle": (
        add_three, (DST,), {"steps": lambda dst: ONE}, r"declares 1 of the 2 sums that its meaning makes in cycle 1",
    ),
    "two accesses in a cycle": (
        twice, (ADDRESS,), {"steps": lambda address: (Step("update", memory=True, store=True),)},
        r"declares 0 bytes read from memory \(steps: update\), its meaning has 1",
    ),
    "a byte that is written before it is there": (
        copy_late, (ADDRESS, OTHER), {"steps": lambda address, src: (WRITE, READ)},
        r"its meaning writes \[0\] in cycle 1, its value is there in cycle 2",
    ),
    "a byte that goes further than it has hops": (
        lambda pe, address: pe.store(address.offset, pe.route(pe.load(address.offset), [0] * 32)), (ADDRESS,),
        {"steps": lambda address: (Step("fetch and hop", memory=True, hop=True), WRITE), "family": Family.PIXEL_COPY},
        "its meaning moves a byte to the next PE, for which no step is left",
    ),
    "what is written in the last cycle and used after it": (
        lambda pe, dst: (pe.write("R", pe.word(7)), pe.write("S", pe.read("R"))), (DST,), {"steps": lambda dst: ONE},
        "its meaning needs cycle 2 of 1",
    ),
    "pushes without saying so": (
        push, (), {"steps": lambda: ONE, "family": Family.ENABLE},
        r"leaves the enable stack alone \(pushes=0\), its meaning pushes an enable",
    ),
    "says that it pops and pushes": (
        push, (), {"steps": lambda: ONE, "family": Family.ENABLE, "pushes": -1},
        r"pops an enable \(pushes=-1\), its meaning pushes an enable",
    ),
    "says that it pushes and does not": (
        gated, (DST,), {"steps": lambda dst: ONE, "gateable": True, "pushes": 1}, "leaves the enable stack alone$",
    ),
    "latches without saying so": (
        latch, (), {"steps": lambda: ONE, "family": Family.STARTUP},
        "starts no routine .*its meaning latches the enable",
    ),
    "says that it starts a routine": (
        gated, (DST,), {"steps": lambda dst: ONE, "gateable": True, "flow": Flow.START},
        "starts a routine .*its meaning leaves the latch alone",
    ),
    "says a family that evaluates": (
        gated, (DST,), {"steps": lambda dst: ONE, "gateable": True, "family": Family.LEE},
        r"declares the family LEE \(linear expression\), its meaning evaluates no linear expression",
    ),
    "says a family that moves bytes": (
        move, (DST, SRC),
        {"steps": lambda dst, src: (READ,) if isinstance(src, Mem) else ONE, "family": Family.PIXEL_COPY},
        "declares the family PIXEL_COPY .*moves nothing between PEs",
    ),
    "says a family of enables": (
        gated, (DST,), {"steps": lambda dst: ONE, "gateable": True, "family": Family.ENABLE},
        "its meaning writes no enable",
    ),
    "says a family of ports": (
        gated, (DST,), {"steps": lambda dst: ONE, "gateable": True, "family": Family.PORT}, "its meaning marks no PE",
    ),
    "says a family of the sequencer": (
        gated, (DST,), {"steps": lambda dst: ONE, "gateable": True, "family": Family.CONTROL}, "is over the PEs",
    ),
    "says another family than that of linear expressions": (
        plane, (DST,), {"steps": lambda dst: (Step("evaluate a byte", evaluate=True),)},
        r"declares the family ARITHMETIC \(arithmetic\), its meaning is one of LEE \(linear expression\)",
    ),
    "does nothing": (lambda pe, dst: None, (DST,), {"steps": lambda dst: ONE}, "its meaning writes nothing"),
    "prints another cost": (
        gated, (DST,), {"steps": lambda dst: ONE * 2, "gateable": True, "cost": "1"},
        "declares a cost of 1 in the manual, its steps take 2 cycles",
    ),
    "asks for a register that is not there": (
        unknown, (DST,), {"steps": lambda dst: ONE}, "asks for T, the machine has R, S, M, C, E, L",
    ),
    "cannot be executed": (broken, (DST,), {"steps": lambda dst: ONE}, "`TOY R` cannot be executed: NameError"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_declaration_is_refused(kind: str) -> None:
    meaning, operands, said, message = WRONG[kind]
    with pytest.raises(InternalError, match=f"(?ms)^TOY: .*{message}"):
        declared(meaning, *operands, **said)


def test_right_declarations_are_taken() -> None:
    """The toys above, declared as they are; a byte that is asked for twice may be declared once or twice."""
    source = lambda dst, src: (READ,) if isinstance(src, Mem) else ONE  # noqa: E731
    declared(move, DST, SRC, steps=source)
    declared(store, ADDRESS, steps=lambda address: (WRITE,))
    declared(gated, DST, steps=lambda dst: ONE, gateable=True, cost="1")
    declared(plane, DST, steps=lambda dst: (Step("evaluate a byte", evaluate=True),), family=Family.LEE)
    hop = Step("fetch and hop", memory=True, hop=True)
    declared(shift_byte, ADDRESS, steps=lambda address: (hop,), family=Family.PIXEL_COPY)
    declared(push, steps=lambda: ONE, family=Family.ENABLE, pushes=1)
    declared(add_three, DST, steps=lambda dst: ONE, adders=2)
    declared(latch, steps=lambda: ONE, family=Family.STARTUP, flow=Flow.START)

    def double(pe, address):
        pe.write("R", pe.add(pe.load(address.offset), pe.load(address.offset), pe.bit(False))[0])

    for times in (1, 2):
        declared(double, ADDRESS, steps=lambda address, times=times: (READ,) * times)
    with pytest.raises(InternalError, match="declares 3 bytes read"):
        declared(double, ADDRESS, steps=lambda address: (READ,) * 3)


def test_bits_of_the_first_cycle_that_the_second_uses_are_hidden() -> None:
    """Those of the shifted byte; the carry comes from it and goes to a flag."""
    toy = declared(shift_held, ADDRESS, steps=lambda address: (READ, WRITE))
    assert [(each.reads, each.writes, each.hidden) for each in toy.hardware.values()] == [((0,), (1,), 8)]


def test_every_shipped_instruction_of_the_pes_was_compared() -> None:
    """Each has operands to be tried on, memory among them where it takes memory; counts are those of the steps."""
    for declaration in INSTRUCTIONS.values():
        if not declaration.on_lanes:
            continue
        declaration.must_agree()
        examples = [spec.kind.examples(at) for at, spec in enumerate(declaration.operands)]
        assert all(examples), declaration.mnemonic
        for spec, tried in zip(declaration.operands, examples, strict=True):
            assert spec.kind.takes_memory == any(isinstance(each, Mem) for each in tried)
    lee = INSTRUCTIONS.make("EMC_TreeAddMem_Li", Mem(8), 2, 1, 2, 3)
    found = effects(lee.apply)
    assert found.loads == found.stores == [8, 9] and found.evaluated == 2
    work = work_of(lee.steps)
    assert [work[each] for each in LaneWork] == [2, 2, 2, 2, 0]


def test_an_instruction_may_come_after_the_first_program() -> None:
    """As in a notebook: what was assembled before does not hide it."""
    text = (
        "from microcode import assemble\nfrom pixelflow.config import TINY\nfrom pixelflow.isa import *\n"
        "from pixelflow.isa.operands import REGISTER\nfrom pixelflow.node import Node\n"
        "Node(TINY).run(assemble('LD R, #5'))\n"
        "@INSTRUCTIONS.instruction('TOY', 0x2E, OperandSpec('dst', REGISTER), family=Family.LOGIC,\n"
        "    steps=lambda dst: (Step('operate'),), cost='1', source='a test')\n"
        "def toy(pe, dst):\n    'Complement.'\n    pe.write(dst.name, pe.complement(pe.read(dst.name)))\n"
        "node = Node(TINY)\nprint(node.run(assemble('LD R, #5\\nTOY R')).cycles, set(node.register('R').tolist()))\n"
    )
    found = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.stdout == "2 {250}\n", found.stderr
