"""Predicted cycles of programs, from counts of their structure, declared costs and parameters of the machine.

Nothing here reads the cycles of a pass. Float operations are counted as in the thesis (4.1.3), each at the cycles of
its routine executed alone; everything else is the price of an instruction or access, or a parameter of the
configuration. Fixed are the wires of a node, a cycle each, and the supply of instruction words, which are available at
once (`igc.supply` is 0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from microcode import assemble
from pixelflow.config import NodeConfig, SdramConfig
from pixelflow.evidence import Derivation, Number, derived
from pixelflow.isa import INPUT_PORT, Imm, Instruction, Mem, Program, takes_control
from pixelflow.node import Run, cycles_of
from tessellation.microprogram.passes import copy_distances
from tessellation.plan.memory_map import BATCH_BYTES, FLOAT_BYTES, fitting_map
from tessellation.plan.schedule import Stage, batch_count
from tessellation.reproduction.cost_model import Operations, surfaces, total_operations, transfer_operations

# Bytes of PE memory named by an executed program, with the arguments of every call resolved.


def touched_bytes(run: Run) -> frozenset[int]:
    """Return the bytes below the local ports that the executed instructions of the EMC stream load or store.

    Calls are followed once for each set of arguments; instructions that were not executed do not count. Jumps, which
    tessellation programs do not have, are not followed.
    """
    program, code, kind_of = run.program, run.program.by_kind, run.program.by_kind.kind_list
    last = {number for number, kind in enumerate(code.kinds) if kind.mnemonic in ("RET", "HALT")}
    found: set[int] = set()
    seen: set[tuple[int, tuple[int, ...]]] = set()
    ahead: list[tuple[int, tuple[int, ...]]] = [(program.entries["eigc"], ())]
    while ahead:
        frame = ahead.pop()
        if frame in seen:
            continue
        seen.add(frame)
        address, parameters = frame
        start = program.index_of[address]
        end = next((at for at in range(start, len(code)) if kind_of[at] in last), None)
        executed = {kind for kind, times in zip(kind_of[start:end], run.executed[start:end], strict=True) if times}
        for instruction in map(code.kinds.__getitem__, executed):
            if instruction.mnemonic == "CALL":
                target, arguments = instruction.operands
                ahead.append((target, tuple(_value(argument, parameters) for argument in arguments)))
                continue
            for memory, size in instruction.touches:
                first = _value(memory, parameters)
                found.update(range(first, first + size))
    return frozenset(byte for byte in found if byte < INPUT_PORT)


def _value(argument: int | Mem | Imm, parameters: tuple[int, ...]) -> int:
    """Return an operand, the argument of a call say, as a number."""
    if isinstance(argument, int):
        return argument
    own = argument.offset if isinstance(argument, Mem) else argument.value
    return own if argument.base is None else parameters[argument.base] + own


# The arithmetic of a pass for each batch of control values, read from its account.


_SURFACES = {Stage.POINTS.value: Stage.POINTS, Stage.DERIVATIVES.value: Stage.DERIVATIVES}
_OPERATIONS = {"fmul": Operations(multiplies=1), "fadd": Operations(adds=1)}


class Batch(NamedTuple):
    """The arithmetic between the arrivals of a batch and the next, and its stages."""

    stages: frozenset[Stage]
    cycles: int
    operations: Operations


def batches(run: Run) -> list[Batch]:
    """Return the batches of a pass in the schedule of the thesis, in order of arrival."""
    stages: list[set[Stage]] = []
    cycles: list[int] = []
    for (name, start), (_, end) in pairwise([*run.stages, ("", run.cycles)]):
        if name == Stage.COPY.value:
            stages.append(set())
            cycles.append(0)
        elif name in _SURFACES and stages and end > start:
            stages[-1].add(_SURFACES[name])
            cycles[-1] += end - start
    counts = _operations(run, len(stages))
    return [Batch(frozenset(one), taken, called) for one, taken, called in zip(stages, cycles, counts, strict=True)]


def _operations(run: Run, count: int) -> list[Operations]:
    """Return the float operations called in points and derivatives after each copy out of the port.

    The main code of a pass is a straight line, so its order is the order of execution.
    """
    program, code = run.program, run.program.by_kind
    found = [Operations()] * count
    batch, surface = -1, False
    for index in range(program.index_of[program.entries["eigc"]], len(code)):
        instruction = code.kinds[code.kind_list[index]]
        if instruction.mnemonic == "HALT":
            break
        if instruction.mnemonic == "MARK":
            name = program.names[instruction.operands[0]]
            batch += name == Stage.COPY.value
            surface = name in _SURFACES
        elif surface and batch >= 0 and instruction.mnemonic == "CALL":
            routine = program.routine_at(instruction.operands[0])
            assert routine is not None  # as calls lead to routines
            found[batch] += _OPERATIONS.get(routine.name, Operations()) * run.executed[index]
    return found


# Prices of an instruction, an access to an SDRAM, and a path from box to box on a configuration.
#
# An instruction takes its declared cycles plus those of `config.extra`; control takes `igc.control_cycles`. An access
# takes the slot that follows from the times of the devices, derived here, not a published count. Instruction words are
# available at once: `igc.supply`, `extra.store_then_read` and `igc.fold_loops` are not priced.


class Prices(NamedTuple):
    """Cycles of instructions on a machine."""

    config: NodeConfig

    @property
    def control(self) -> int:
        """Cycles of a call, a return, a free semaphore, or the end."""
        return self.config.igc.control_cycles

    def of(self, text: str) -> int:
        """Return the cycles of an EMC instruction, given as text."""
        program = assemble(f"{text}\n")
        return self.sum(program, program.instructions[:1])

    def sum(self, program: Program, instructions: Sequence[Instruction]) -> int:
        """Return the cycles of instructions of a program, executed once each."""
        declared = [self.control if takes_control(each.declaration) else each.cycles for each in instructions]
        return sum(cycles_of(instructions, declared, self.config.extra))

    @property
    def all(self) -> int:
        """Cycles of enabling all PEs."""
        return self.of("EMC_SetEnab")

    @property
    def mark(self) -> int:
        """Cycles of a mark for a transfer."""
        return self.of("EMC_MarkRead")

    @property
    def compare(self) -> int:
        """Cycles of a compare of one byte of the LEE."""
        return self.of("EMC_TreeGEZero_Li 0, 1, 1, 0, 0")

    def load(self, size: int) -> int:
        """Return the cycles of a LEE load of ``size`` bytes."""
        return self.of(f"EMC_TreeIntoMem_Li [0], {size}, 0, 0, 0")

    @property
    def byte(self) -> int:
        """Cycles of copying a byte within PE memory."""
        return self.of("LD R, [0]") + self.of("ST [0], R")

    def pix_copy(self, size: int, distance: int) -> int:
        return self.of(f"EMC_PixCopy [0], [0], {size}, {distance}")


def text_of(program: Program, entry: str) -> list[Instruction]:
    """Return the instructions of a stream in textual order, with called routines expanded.

    Raises ValueError at a loop or jump, where the text alone does not determine the execution.
    """
    found: list[Instruction] = []

    def follow(index: int) -> None:
        for each in program.instructions[index:]:
            if each.mnemonic in ("LOOP", "JMP"):
                raise ValueError(f"{each.mnemonic} in the text of {entry}: its length is not that of its execution")
            found.append(each)
            if each.mnemonic == "CALL":
                follow(program.index_of[each.operands[0]])
            elif each.mnemonic in ("RET", "HALT"):
                return

    follow(program.index_of[program.entries[entry]])
    return found


def path(*wires: str) -> Derivation:
    """Return the cycles of words from box to box: one on each wire of `node/run/clocked.py`."""
    return derived(" + ".join(wires), **dict.fromkeys(wires, 1))


def read_slot(sdram: SdramConfig, size: int, *, alternate: bool = False) -> Derivation:
    """Return the equal slot of reads: activate, read, the last byte but one, precharge, activate again.

    With alternate banks a bank has the time of two slots, each at least as long as its burst. That holds if no two
    commands collide on the pins, which times other than those of the thesis may cause; then the slot is too short.
    """
    return _slot(
        sdram, "max(tRAS, tRCD + CL + burst - 2)", alternate=alternate, tRCD=sdram.trcd_cycles, CL=sdram.cl_cycles,
        burst=size,
    )  # fmt: skip


def write_slot(sdram: SdramConfig, size: int, *, alternate: bool = False) -> Derivation:
    """Return the equal slot of writes, whose precharge comes tWR after the last byte."""
    return _slot(
        sdram, "max(tRAS, tRCD + burst - 1 + tWR)", alternate=alternate, tRCD=sdram.trcd_cycles, burst=size,
        tWR=sdram.twr_cycles,
    )  # fmt: skip


def _slot(sdram: SdramConfig, opened: str, *, alternate: bool, **names: int) -> Derivation:
    text = f"max(tRC, {opened} + tRP)"
    names |= {"tRAS": sdram.tras_cycles, "tRP": sdram.trp_cycles, "tRC": sdram.trc_cycles}
    return derived(f"max(burst, ({text} + 1) // 2)" if alternate else text, **names)


_SENDS = 4
"""Sends per block of a pass (table 6)."""
_CROSS_SUBTRACTIONS = 3
"""Subtractions among the five additions from derivatives to normal (4.1.3)."""


class LibraryCosts(NamedTuple):
    """Cycles of a call of each routine of a float library, executed alone."""

    fmul: int
    fadd: int
    fsub: int
    fsqrt: int
    fdiv: int


def arithmetic(operations: Operations, costs: LibraryCosts, *, subtractions: int = 0) -> Derivation:
    """Return the cycles of operations, ``subtractions`` of whose additions subtract."""
    text = "muls * fmul + adds * fadd"
    names = {
        "muls": operations.multiplies,
        "fmul": costs.fmul,
        "adds": operations.adds - subtractions,
        "fadd": costs.fadd,
    }
    if subtractions:
        text += " + subs * fsub"
        names |= {"subs": subtractions, "fsub": costs.fsub}
    if operations.roots:
        text += " + roots * fsqrt + divs * fdiv"
        names |= {"roots": operations.roots, "fsqrt": costs.fsqrt, "divs": operations.divides, "fdiv": costs.fdiv}
    return derived(text, **names)


def whole_pass(n: int, costs: LibraryCosts) -> Derivation:
    """Return the arithmetic of a pass of n x n nets."""
    return arithmetic(total_operations(n, n), costs, subtractions=_CROSS_SUBTRACTIONS)


def pass_prediction(
    config: NodeConfig, n: int, patches: int, costs: LibraryCosts, sizes: tuple[int, ...] = (4,)
) -> Derivation:
    """Return the cycles of a pass of n x n nets with this many patches of these sample counts, without LEE set-up.

    The first transfer overlaps the Bernstein values, and the longer of the two counts: words from the EMCs' stream to
    the TASICs and back, the bytes of an address, then the reads and their sends. Each later transfer overlaps the
    distribution and the arithmetic of the previous batch.
    """
    prices, reordered = Prices(config), fitting_map(n, n).reordered
    batches, spread, transfer = batch_count(n, n), distribution(config), _transfer(config)
    samples, control = sum(sizes), prices.control
    own = (n,) if reordered else (n, n - 1)
    names: dict[str, Number | Derivation] = {
        "patches": patches,
        "address": address(config),
        "marks": derived("enable + compare + mark", enable=prices.all, compare=prices.compare, mark=prices.mark),
        "bernstein": bernstein(config, samples, own, own),
        "transfer": transfer,
        "enable": prices.all,
        "batches": batches,
        "copy": derived(
            "call + start + bytes * byte",
            call=2 * control, start=prices.of("START"), bytes=BATCH_BYTES, byte=prices.byte,
        ),
        "spread": spread,
    }  # fmt: skip
    text = "patches * address + marks + max(bernstein, transfer) + enable + batches * (copy + spread)"
    if reordered:
        # Later loads by 4.2: u differences; then u values again and v differences; an enable after each.
        names["again"] = derived(
            "du + dv + 2 * enable",
            du=bernstein(config, samples, (n - 1,)), dv=bernstein(config, samples, (n,), (n - 1,)), enable=prices.all,
        )  # fmt: skip
        text += " + again"
    if control:
        # A wait for each batch; a signal before the first and after all but the last; the end.
        names |= {"controls": 2 * batches + 1, "control": control}
        text += " + controls * control"
    waits = _waits(n, costs, transfer, spread)
    if waits is not None:
        names["waits"] = waits
        text += " + waits"
    sums = whole_pass(n, costs)
    return derived(f"{text} + {sums.expression}", **(names | dict(sums.names)))


def address(config: NodeConfig) -> Derivation:
    """Return the cycles to enable a patch's PEs and load its base address and the marks of its samples."""
    prices = Prices(config)
    return derived(
        "enable + 2 * compare + base + marks",
        enable=prices.all, compare=prices.compare, base=prices.load(3), marks=prices.load(2),
    )  # fmt: skip


def bernstein(config: NodeConfig, samples: int, *counts: tuple[int, ...]) -> Derivation:
    """Return the cycles to load Bernstein values in each direction of ``counts``, for this many rows or columns.

    A row or column is selected by a byte of its PEs; then each of its values is loaded.
    """
    prices = Prices(config)
    select = derived(
        "enable + call + start + fetch + xor + compare + keep",
        enable=prices.all, call=2 * prices.control, start=prices.of("START"), fetch=prices.of("LD R, [0]"),
        xor=prices.of("XOR R, #0"), compare=prices.of("CMP R, #1"), keep=prices.of("ENC"),
    )  # fmt: skip
    values = sum(sum(each) for each in counts)
    return derived(
        "samples * (directions * select + values * value)",
        samples=samples, directions=len(counts), select=select, values=values, value=prices.load(FLOAT_BYTES),
    )  # fmt: skip


def distribution(config: NodeConfig, sends: int = _SENDS) -> Derivation:
    """Return the cycles of the PixCopies that spread a batch over a block."""
    prices = Prices(config)
    copies = {f"over_{distance}": prices.pix_copy(BATCH_BYTES, distance) for distance in copy_distances(sends)}
    return derived(" + ".join(copies), **copies)


def _transfer(config: NodeConfig) -> Derivation:
    """Return the cycles from the signal that the ports are free to the arrival of a batch."""
    array, tasic = config.array, config.tasic
    blocks = array.lanes // array.emcs // 16
    names: dict[str, Number | Derivation] = {
        "wires": path("freed", "command", "fetch", "done", "arrived"),
        "base": -(-4 // tasic.port_bytes_per_cycle),
        "reads": blocks * array.emcs_per_module,
        "slot": read_slot(config.sdram, 4),
        "overhead": tasic.read_overhead_cycles,
        "sends": _SENDS * blocks,
        "bytes": BATCH_BYTES // tasic.port_bytes_per_cycle,
    }
    text = "wires + base + reads * (slot + overhead) + sends * bytes"
    if config.igc.control_cycles:
        text += " + 2 * control"
        names["control"] = config.igc.control_cycles
    return derived(text, **names)


def _waits(n: int, costs: LibraryCosts, transfer: Derivation, spread: Derivation) -> Derivation | None:
    """Return the waits of a pass for later transfers, which overlap distribution and arithmetic of a batch."""
    each = transfer_operations(surfaces(n, n))[:-1]
    beside = Counter(int(arithmetic(operations, costs).value) for operations in each)
    late = [(cycles, times) for cycles, times in sorted(beside.items()) if transfer.value > spread.value + cycles]
    if not late:
        return None
    names: dict[str, Number | Derivation] = {"transfer": transfer, "spread": spread}
    terms = []
    for number, (cycles, times) in enumerate(late, start=1):
        names |= {f"times_{number}": times, f"beside_{number}": cycles}
        terms.append(f"times_{number} * (transfer - spread - beside_{number})")
    return derived(" + ".join(terms), **names)


def ratio(text: str, cycles: Derivation, **names: Number | Derivation) -> Derivation:
    """Return a rate or share computed by ``text`` from ``cycles`` and other names."""
    return derived(text, cycles=cycles.value, **names)
