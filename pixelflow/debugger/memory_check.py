"""Checker of a run's memory: bytes that matter although nothing wrote them, and writes of one round that collide.

It subscribes to the events of a node and changes nothing: cycles and bits are those of a run without it. What an
instruction makes from what comes from its one meaning (`pixelflow.simd.isa.effects`). With it the instructions come
one by one, so a run takes longer; without it nothing is asked.

A byte counts as written in a PE once the program's data, a user outside of the program, an instruction or a transfer
has put something there. That a PE reads another one is not a fault yet: much microcode computes in all PEs and takes
the result in some. So what is made from such a byte is followed, through memory, registers and flags, until it
matters: in a mark, in an address of texture memory, or in a range that is shown. The finding then names the byte and
who read it. What is chosen or masked by an undefined value counts as undefined, and so does what AND or a product
would hide.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import THESIS, ArrayConfig
from pixelflow.isa import PANEL_PES, Program, Unit
from pixelflow.isa.declarations import INPUT_PORT, OUTPUT_PORT, PORT_BYTES, Transfers, transfers_of
from pixelflow.isa.emc import unlatch
from pixelflow.isa.tas import Addressing
from pixelflow.node import BlockAccess, Node
from pixelflow.node.pe_report import position
from pixelflow.observe import EnablesChanged, Executed, MemoryGiven, NodeRunView, RoutineLeft, RunBegan, TransferBegan
from pixelflow.simd.errors import SimulatorError
from pixelflow.simd.isa.effects import Effects, State, effects
from pixelflow.simd.report import Fact, Report, counted

# Collisions of a round: EMCs of one module that write different data to one place of texture memory at once.
#
# The last EMC of the round stays, without a fault. Where all write the same, nothing is lost and nothing is said.


_STEPS = 2_000_000
"""Cycles of a program that are walked to find collisions before it is run."""


class Collision(NamedTuple):
    """The first collision of a transfer in one module."""

    module: int
    round: int
    """Starting at 0."""
    device: int
    """The SDRAM of the module."""
    address: int
    first: int
    """The lane whose data are lost."""
    second: int
    """The lane whose data replace them."""
    more: int
    """Further writes of the transfer in this module whose data are lost in the same way."""


def collisions(access: BlockAccess, array: ArrayConfig, *, data: bool = True) -> Iterator[Collision]:
    """Yield the first collision of each module; none for reads, and none where addresses are not known.

    Without ``data`` they are not known, and two writes to one place collide whatever they write.
    """
    if access.data is None or access.addresses.size == 0:
        return
    each, device_of = array.emcs_per_module, 4 * (access.transfer.half or 0)
    rounds, devices = access.addresses.shape[1:]
    for module in range(array.modules):
        own = slice(module * each, (module + 1) * each)
        # By round, device, address and EMC: writers of one place in a round are neighbours.
        emc, turn, device = np.broadcast_arrays(*np.ix_(range(each), range(rounds), range(devices)))
        there = access.valid[own][:, :, None] & (access.addresses[own] >= 0)
        emc, turn, device = (values[there] for values in (emc, turn, device))
        address = access.addresses[own][there]
        order = np.lexsort((emc, address, device, turn))
        emc, turn, device, address = (values[order] for values in (emc, turn, device, address))
        same = (np.diff(turn) == 0) & (np.diff(device) == 0) & (np.diff(address) == 0)
        pairs = np.flatnonzero(same)
        if len(pairs) and data:
            held = access.data[own]
            before = held[emc[pairs], turn[pairs], device[pairs]]
            after = held[emc[pairs + 1], turn[pairs + 1], device[pairs + 1]]
            pairs = pairs[(before != after).any(axis=1)]
        if len(pairs):
            at = int(pairs[0])
            first, second = (int(access.served[own][emc[at + side], turn[at + side], 0]) for side in (0, 1))
            place = int(turn[at]), device_of + int(device[at]), int(address[at])
            yield Collision((module + access.transfer.over) % array.modules, *place, first, second, len(pairs) - 1)


def certain_collisions(program: Program) -> Iterator[tuple[int, Collision]]:
    """Yield transfers by number of their instruction, and a collision of each that happens for any data.

    The program is walked on the thesis machine as a timing-only run walks it: marks that follow from the program and
    addresses of the generator are known, and nothing else is. Where the walk cannot continue, it ends.
    """
    if len(program.entries) < 2 or not any(
        transfers_of(each.declaration) is Transfers.WRITE for each in program.instructions
    ):
        return
    node, found = Node(THESIS, "rows"), dict[int, Collision]()

    def look(event: TransferBegan[BlockAccess]) -> None:
        for each in collisions(event.access, THESIS.array, data=False):
            found.setdefault(event.index, each)

    node.bus.subscribe(look, TransferBegan)
    with suppress(SimulatorError):  # a run reports what stops the program
        node.run(program, function=False, max_cycles=_STEPS)
    yield from found.items()


MOST = 100
"""Findings that are kept; more are counted."""
_ADDRESS_BYTES = {Addressing.EXPLICIT: PORT_BYTES, Addressing.BASE: 3}
"""Bytes of the output port that an address is made from; 24 bits of a base count."""
_ENABLES = ("E", "L")
"""Flags that decide where something is written."""
_MARKS = {"MR": "the mark to read", "MW": "the mark to write"}

Origins = NDArray[np.int32]
"""For each lane 0 where a value is defined, else the number of the read that it goes back to."""


class MemoryFinding(NamedTuple):
    """One finding: what, where in the program, in which cycle, by which PEs."""

    kind: Literal["never written", "collision"]
    where: str
    """File and line."""
    cycle: int
    text: str

    def __str__(self) -> str:
        return f"{self.where}: cycle {self.cycle:,}: {self.text}"


class MemoryCheck:
    """Watches the memory of one node, over all runs that follow."""

    def __init__(self, node: Node) -> None:
        """Attach it before anything is loaded into the node."""
        self._node, self._array, self._rows = node, node.config.array, node.config.array.memory_bytes
        self._undefined: dict[State, Origins] = {}
        """States that are undefined in some lanes; for memory that nothing wrote, -1 - row."""
        for row in range(self._rows):
            self._undefined[row] = np.full(node.lanes, -1 - row, np.int32)
        self._reads: list[tuple[int, str]] = []
        """Reads of bytes that nothing wrote: which, and where."""
        self._read_numbers: dict[tuple[int, int], int] = {}
        self._flags: dict[str, NDArray[np.bool_]] = {}
        self._stale = True
        self._found: dict[tuple[object, ...], MemoryFinding] = {}
        self._left_out: set[tuple[object, ...]] = set()
        self._known: dict[tuple[int, ...], Effects] = {}
        self._run: NodeRunView
        self._program: Program | None = None
        self._unlatch = effects(unlatch)
        self._started: frozenset[str] = frozenset()
        """Routines at whose end enables are restored."""
        node.bus.subscribe(self._begin, RunBegan)
        node.bus.subscribe(self._given, MemoryGiven)
        node.bus.subscribe(self._executed, Executed)
        node.bus.subscribe(self._left, RoutineLeft)
        node.bus.subscribe(self._transfer, TransferBegan)
        node.bus.subscribe(self._changed, EnablesChanged)  # so that PEs are up to date where their enables change

    @property
    def findings(self) -> list[MemoryFinding]:
        """The findings, in the order of their first occurrence; each place once."""
        return list(self._found.values())

    @property
    def left_out(self) -> int:
        """Findings beyond those that are kept."""
        return len(self._left_out)

    def shown(self, name: str, rows: Iterable[int], cycle: int, lanes: Sequence[int] | None = None) -> None:
        """Note that bytes are shown after a run, in all PEs or in some, so that they matter."""
        for row in rows:
            if row not in self._undefined:
                continue
            made = np.maximum(self._undefined[row], 0)
            if lanes is not None:
                made = np.where(np.isin(np.arange(len(made)), lanes), made, 0)
            if made.any():
                self._never_written(("shown", name), name, cycle, f"{name}, which is shown,", made)
                return

    # --- events ------------------------------------------------------------------------------------------------------

    def _begin(self, event: RunBegan[NodeRunView]) -> None:
        if not isinstance(event.program, Program):
            return
        if event.program is not self._program:
            self._known.clear()
            self._read_numbers.clear()
            self._started = frozenset(routine.name for routine in event.program.routines if routine.started)
        self._run, self._program, self._stale = event.view, event.program, True
        if event.resumed:  # what was written before is not known
            self._undefined.clear()

    def _given(self, event: MemoryGiven) -> None:
        for row in range(event.start, event.start + event.size):
            self._undefined.pop(row, None)

    def _left(self, event: RoutineLeft) -> None:
        if event.name in self._started:
            self._follow(self._unlatch, "")
            self._stale = True

    def _changed(self, event: EnablesChanged) -> None:
        self._stale = True

    def _executed(self, event: Executed) -> None:
        program = self._program
        if program is None or (instruction := program.instructions[event.index]).declaration.unit is not Unit.PE:
            return
        bases: tuple[int, ...] = instruction.bases
        parameters: tuple[int, ...] = ()
        if bases:
            parameters = tuple(self._run.streams[event.stream].frames[-1].parameters)
            if max(bases) >= len(parameters):
                return  # a fault, which the run reports
        key = (event.index, *(parameters[base] for base in bases))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = effects((instruction.resolve(parameters) if bases else instruction).apply)
        if not self._undefined:
            self._stale = True
            return
        self._follow(found, program.where(event.index), event.index)
        for mark, text in _MARKS.items():
            if mark in found.writes and mark in self._undefined:
                what = (event.index, mark)
                self._never_written(what, program.where(event.index), event.cycle, text, self._undefined[mark])
        self._stale |= not found.writes.keys().isdisjoint(_ENABLES)

    def _transfer(self, event: TransferBegan[BlockAccess]) -> None:
        access, program = event.access, self._program
        if program is None:
            return
        givers = access.givers[access.givers >= 0]
        size = _ADDRESS_BYTES.get(access.transfer.addressing, 0)
        for row in range(OUTPUT_PORT, OUTPUT_PORT + size):
            if row in self._undefined:
                where, made = program.where(event.index), np.zeros(self._node.lanes, np.int32)
                made[givers] = self._undefined[row][givers]
                made[made < 0] = self._number(event.index, row, where)
                if made.any():
                    self._never_written((event.index, "address"), where, event.cycle, "an address", made)
                    break
        if access.data is None:
            served = access.served[access.served >= 0]
            for row in range(INPUT_PORT, INPUT_PORT + PORT_BYTES):
                if row in self._undefined:
                    self._undefined[row][served] = 0
                    if not self._undefined[row].any():
                        del self._undefined[row]
        for found in collisions(access, self._array):
            self._collision(event, found)

    # --- what values are made from ---------------------------------------------------------------------------------

    def _follow(self, found: Effects, where: str, index: int = -1) -> None:
        """Follow what an instruction makes of what is undefined."""
        touched = self._undefined.keys() & (found.reads | found.writes.keys())
        if not touched:
            return
        if self._stale:
            self._flags, self._stale = {name: self._node.flag(name) for name in _ENABLES}, False
        before = {state: self._undefined[state] for state in touched}
        for state in before:
            if isinstance(state, int) and (before[state] < 0).any():
                number = self._number(index, state, where) if state in found.reads else 0
                before[state] = np.where(before[state] < 0, number, before[state]) if number else before[state]
        for state in found.writes:
            if isinstance(state, int) and not 0 <= state < self._rows:
                continue
            sources = [source for source in found.values[state] if source in before]
            made = self._made(sources, found, before)
            if state in found.kept:
                deciding = [name for name in _ENABLES if name in found.where[state]]
                there = self._flags[deciding[0] if deciding else "E"]
                for pattern in found.patterns:
                    there = there & np.tile(np.array(pattern), len(there) // PANEL_PES)
                old = self._undefined.get(state, np.int32(0))
                made = np.where(there, made, old)
                for name in deciding:
                    if name in before and state != name:  # whether it is written is not known
                        made = np.where(before[name] != 0, before[name], made)
            if not np.any(made):
                self._undefined.pop(state, None)
            else:
                self._undefined[state] = np.array(np.broadcast_to(made, (self._node.lanes,)), np.int32)

    def _made(self, sources: list[State], found: Effects, before: dict[State, Origins]) -> Origins | np.int32:
        made: Origins | np.int32 = np.int32(0)
        for source in sources:
            origin = before[source]
            for routed, senders in found.routes:
                if source in routed:  # what the PE has that sends
                    origin = origin.reshape(-1, PANEL_PES)[:, list(senders)].ravel()
            made = np.where(made != 0, made, origin)
        return made

    def _number(self, index: int, row: int, where: str) -> int:
        """Return the number of a read, starting at 1."""
        key = (index, row)
        if key not in self._read_numbers:
            self._reads.append((row, where))
            self._read_numbers[key] = len(self._reads)
        return self._read_numbers[key]

    # --- findings ---------------------------------------------------------------------------------------------------

    def _never_written(self, key: tuple[object, ...], where: str, cycle: int, what: str, made: Origins) -> None:
        lanes = np.flatnonzero(made)
        read = self._reads[int(made[lanes[0]]) - 1] if made[lanes[0]] > 0 else None
        if read is None:
            return
        row, reader = read
        ranges = () if self._program is None else self._program.ranges
        name = next((item.name for item in ranges if item.start <= row < item.start + item.size), "")
        byte = f"byte {row}{f' ({name})' * bool(name)}"
        of = f"of {counted(len(lanes), 'PE')}, the first {position(int(lanes[0]), self._array)},"
        text = f"{what} {of} depends on {byte}, which nothing has written and {reader} reads"
        self._note(key, MemoryFinding("never written", where, cycle, text))

    def _collision(self, event: TransferBegan[BlockAccess], found: Collision) -> None:
        first, second = (position(lane, self._array) for lane in (found.first, found.second))
        text = (
            f"in round {found.round} PE {first} and PE {second} write different data to texture address "
            f"{found.address:#x} of module {found.module}, SDRAM {found.device}; that of {second} stays"
        )
        more = f" ({counted(found.more, 'more collision')} of the transfer in this module)" if found.more else ""
        where = "" if self._program is None else self._program.where(event.index)
        self._note((event.index, found.module), MemoryFinding("collision", where, event.cycle, text + more))

    def _note(self, key: tuple[object, ...], finding: MemoryFinding) -> None:
        if key in self._found:
            return
        if len(self._found) >= MOST:
            self._left_out.add(key)
        else:
            self._found[key] = finding


# Report of what the checker of a run's memory has found, as a part of the report of the run.


def with_findings(report: Report, checks: Sequence[MemoryCheck]) -> Report:
    """Return a report with the findings of all nodes after its results; it fails where there are any."""
    found = [finding for each in checks for finding in each.findings]
    left_out = sum(each.left_out for each in checks)
    lines: list[Fact | str] = [str(finding) for finding in found]
    if left_out:
        lines.append(f"and {counted(left_out, 'more finding')}")
    if not found:
        lines = ["memory: every byte that was read had been written, and no writes of a round collide"]
    total = len(found) + left_out
    return replace(
        report,
        results=[*report.results, "", *lines],
        data={**report.data, "memory_check": {"left_out": left_out, "findings": [each._asdict() for each in found]}},
        failure=report.failure or (f"the check of memory has {counted(total, 'finding')}" if found else None),
    )
