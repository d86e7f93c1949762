"""Marks of PEs (meaning) as far as they follow from the program, for timing-only runs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa import PANEL_PES, Family, Instruction, Program, Unit
from pixelflow.isa.declarations import MASKS, PORT_BYTES
from pixelflow.isa.emc import unlatch
from pixelflow.isa.tas import Addressing
from pixelflow.node.lee import LinearExpressionEvaluator
from pixelflow.node.pe_array import PeArray, influences, influences_of
from pixelflow.node.run.straight_code import StraightCode
from pixelflow.node.texture_unit import TextureAccess, TextureUnit
from pixelflow.node.transfer import Transfer
from pixelflow.simd.errors import Fault, InputError, MachineFault, Place
from pixelflow.simd.isa.kinds import ByKind
from pixelflow.simd.lanes.engine import Meaning

# Which flags the instructions of a program write, and from what: found from their meanings, once for each.


FLAG = {name: position for position, name in enumerate(MASKS)}
"""The number of each flag."""

Writes = tuple[tuple[int, tuple[int, ...] | None], ...]
"""Each flag that is written, and the flags that its new value is made from; None where PE data are among it."""


def _flags_only(written: dict[str, frozenset[str]]) -> Writes:
    return tuple(
        (FLAG[name], tuple(FLAG[source] for source in sources) if sources <= FLAG.keys() else None)
        for name, sources in written.items()
        if name in FLAG
    )


UNLATCHED = _flags_only(influences_of(unlatch))
"""The flags that the return of a started routine writes."""


class FlagWrites:
    """The flags that each instruction of a program writes.

    They do not depend on the values of operands, so they are derived once for each mnemonic with its types of operands.
    """

    def __init__(self, instructions: ByKind) -> None:
        self._kinds, self._kind_of = instructions.kinds, instructions.kind_list
        self._found: list[Writes | None] = [None] * len(self._kinds)
        self._alike: dict[tuple[object, ...], Writes] = {}

    def of(self, index: int) -> Writes:
        """Return the writes of instruction number ``index``; none for one that is not for the PEs."""
        kind = self._kind_of[index]
        found = self._found[kind]
        if found is None:
            found = self._found[kind] = self._look(self._kinds[kind])
        return found

    def _look(self, instruction: Instruction) -> Writes:
        if instruction.declaration.unit is not Unit.PE:
            return ()
        key = (instruction.declaration, instruction.gated, *map(type, instruction.operands))
        found = self._alike.get(key)
        if found is None:
            found = self._alike[key] = _flags_only(influences(instruction))
        if found and instruction.bases:
            # An operand that a parameter gives cannot be evaluated ahead of the call.
            return tuple((flag, None) for flag, _ in found)
        return found


# Meanings executed on flags of all lanes, without registers and memory.


Word = NDArray[np.uint8]
Bit = NDArray[np.bool_]
_Kind = TypeVar("_Kind", np.uint32, np.uint64)


def _linear(kind: type[_Kind], x: NDArray[_Kind], y: NDArray[_Kind], a: int, b: int, c: int, words: int) -> list[Word]:
    """Return a*x + b*y + c in words, lowest first."""
    limit = 1 << 8 * kind().itemsize
    total = x * kind(a % limit)
    total += y * kind(b % limit)
    total += kind(c % limit)
    return [(total >> kind(8 * index)).astype(np.uint8) for index in range(words)]


class KnownLanes:
    """The algebra over known flags; see :class:`pixelflow.simd.lanes.algebra.Algebra` for what the operations mean.

    Registers and memory read as 0: results that depend on them must not be used. ``written`` holds the flags that a
    meaning has set.
    """

    def __init__(self, x: NDArray[np.uint64], y: NDArray[np.uint64]) -> None:
        self._lanes = len(x)
        self._narrow = x.astype(np.uint32), y.astype(np.uint32)
        self._wide = x.astype(np.uint64), y.astype(np.uint64)
        self._flags: Mapping[str, Bit] = {}
        self.written: dict[str, Bit] = {}

    def begin(self, flags: Mapping[str, Bit]) -> None:
        """Begin a meaning with these flags known; all others read as not set."""
        self._flags, self.written = flags, {}

    def word(self, value: int) -> Word:
        return np.array(value & 0xFF, np.uint8)

    def bit(self, value: bool) -> Bit:
        return np.array(value)

    def load(self, row: int) -> Word:
        return self.word(0)

    def read(self, name: str) -> Word:
        return self.word(0)

    def flag(self, name: str) -> Bit:
        found = self.written.get(name)
        if found is None:
            found = self._flags.get(name)
        return self.bit(False) if found is None else found

    def affine(self, a: int, b: int, c: int, words: int) -> list[Word]:
        if words <= 4:
            return _linear(np.uint32, *self._narrow, a, b, c, words)
        return _linear(np.uint64, *self._wide, a, b, c, words)

    def add(self, a: Word, b: Word, carry: Bit) -> tuple[Word, Bit]:
        total = np.add(a, b, dtype=np.uint16) + carry
        return total.astype(np.uint8), total > 0xFF

    def both(self, a: Word | Bit, b: Word | Bit) -> Word | Bit:
        return a & b

    def either(self, a: Word | Bit, b: Word | Bit) -> Word | Bit:
        return a | b

    def differ(self, a: Word | Bit, b: Word | Bit) -> Word | Bit:
        return a ^ b

    def complement(self, a: Word | Bit) -> Word | Bit:
        return ~a

    def shift_left(self, a: Word, into: Bit) -> tuple[Word, Bit]:
        return (a << np.uint8(1)) | np.asarray(into, np.uint8), a >= 0x80

    def shift_right(self, a: Word, into: Bit) -> tuple[Word, Bit]:
        return (a >> np.uint8(1)) | np.asarray(into, np.uint8) << np.uint8(7), a & np.uint8(1) != 0

    def select(self, where: Bit, a: Word, b: Word) -> Word:
        return np.where(where, a, b)

    def store(self, row: int, value: Word, where: Bit | None = None) -> None:
        pass

    def write(self, name: str, value: Word, where: Bit | None = None) -> None:
        pass

    def set_flag(self, name: str, value: Bit, where: Bit | None = None) -> None:
        value = value if where is None else np.where(where, value, self.flag(name))
        self.written[name] = np.broadcast_to(value, (self._lanes,))

    def route(self, value: Word, sources: Sequence[int]) -> Word:
        return np.broadcast_to(value, (self._lanes,)).reshape(-1, PANEL_PES)[:, sources].ravel()

    def pattern(self, bits: Sequence[bool]) -> Bit:
        return np.tile(np.array(bits, bool), self._lanes // PANEL_PES)


# Values of flags in all lanes, by number, and the results of instructions on them.
#
# Each combination of value and instruction is evaluated once, over all runs of a program.


_KEPT_STATES = 100_000
_KEPT_VALUES = 20_000
_UNPACKED = 64

T = TypeVar("T")

State = tuple[int, ...]
"""For each flag of MASKS the number of its value, or -1 - the position of the instruction that made it unknown."""


class _Deferred(NamedTuple):
    """The value that a meaning gives to one flag, from the numbered values of others; not evaluated yet."""

    meaning: Meaning
    algebra: KnownLanes
    flag: int
    sources: dict[int, int]


class FlagValues:
    """Flag values found by runs of one program on arrays of ``lanes`` PEs."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        self._values: list[bytes | _Deferred] = []
        self._number_of: dict[bytes, int] = {}
        self._unpacked: dict[int, NDArray[np.bool_]] = {}
        self._place_of: dict[bytes, int] = {}
        self._algebras: list[KnownLanes] = []
        self._after: dict[tuple[int, int, int, State], State] = {}
        self._derived: dict[tuple[Hashable, ...], Any] = {}

    def derived(self, number: int, what: Hashable, make: Callable[[], T]) -> T:
        """Return the result of ``make`` for the value with a number, computed once for each ``what``."""
        key = (number, what)
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    @property
    def full(self) -> bool:
        """True if the next run should start with an empty table."""
        return len(self._values) > _KEPT_VALUES

    def place(self, lee: LinearExpressionEvaluator) -> int:
        """Return a number for the coordinates that the LEE gives to the lanes."""
        contents = b"".join(register.tobytes() for register in lee.registers.values())
        place = self._place_of.setdefault(contents, len(self._algebras))
        if place == len(self._algebras):
            x, y = lee.coordinates()
            self._algebras.append(KnownLanes(x.astype(np.uint64), y.astype(np.uint64)))
        return place

    def after(self, first: int, end: int, place: int, state: State) -> State | None:
        """Return the state after instructions ``first`` to ``end - 1``, None where it is not known yet."""
        return self._after.get((first, end, place, state))

    def note(self, first: int, end: int, place: int, before: State, after: State) -> State:
        """Keep the state after instructions; return it."""
        if len(self._after) >= _KEPT_STATES:
            self._after.clear()
        self._after[first, end, place, before] = after
        return after

    def made(
        self, meaning: Meaning, place: int, flags: Sequence[int], sources: dict[int, int], *, at_once: bool
    ) -> Sequence[int]:
        """Return the numbers of the values that a meaning gives to flags, from values with the numbers ``sources``.

        Without ``at_once`` they are evaluated on first use.
        """
        deferred = [_Deferred(meaning, self._algebras[place], flag, sources) for flag in flags]
        if at_once:
            written = self._evaluate(deferred[0])
            return [self.number(written[MASKS[flag]]) for flag in flags]
        self._values += deferred
        return range(len(self._values) - len(flags), len(self._values))

    def number(self, value: NDArray[np.bool_]) -> int:
        """Return the number of a value, a new one where it never occurred."""
        packed = np.packbits(value).tobytes()
        number = self._number_of.setdefault(packed, len(self._values))
        if number == len(self._values):
            self._values.append(packed)
        return number

    def value(self, number: int) -> NDArray[np.bool_]:
        """Return a value: bool[lanes]."""
        found = self._unpacked.get(number)
        if found is None:
            if len(self._unpacked) >= _UNPACKED:
                self._unpacked.clear()
            value = self._values[number]
            if isinstance(value, _Deferred):
                value = self._values[number] = np.packbits(self._evaluate(value)[MASKS[value.flag]]).tobytes()
            packed = np.frombuffer(value, np.uint8)
            found = self._unpacked[number] = np.unpackbits(packed, count=self._lanes).view(bool)
        return found

    def _evaluate(self, deferred: _Deferred) -> dict[str, NDArray[np.bool_]]:
        """Return all flags that a deferred meaning writes."""
        algebra = deferred.algebra
        algebra.begin({MASKS[source]: self.value(number) for source, number in deferred.sources.items()})
        deferred.meaning(algebra)
        return algebra.written


# Marked PEs, found without their data: enables, latches, their stacks and the marks, as a program sets them.
#
# A flag is known where it follows from known flags and from the LEE. One that depends on a carry, a register or memory
# is unknown until it is set again from known ones. Results are cached by state, so that repeated code with the same
# flags is looked up: lanes are evaluated once for each combination, not once for each cycle.


_UNLATCH = -1
"""The position used for the return of a started routine."""


class MarkTracker:
    """The EMC stream's side of a timing-only run: the flags that determine the marks."""

    def __init__(self, program: Program, array: PeArray) -> None:
        self._program, self._instructions = program, program.by_kind
        self._lee = copy.deepcopy(array.lee)
        self._placed: tuple[int, int] | None = None
        self._writes = _writes_of(program)
        self._values = _values_of(program, array.engine.shape.lanes)
        self.asked_by = 0
        """The texture instruction for which the marks are asked."""
        self.state: State = tuple(self._values.number(array.engine.get_bit(name)) for name in MASKS)

    # --- the EMC stream ---------------------------------------------------------------------------------------------

    def unlatch(self) -> None:
        """Follow the return of a started routine."""
        self._follow(_UNLATCH, UNLATCHED, unlatch)

    def execute(self, index: int) -> None:
        """Follow one instruction; raises MachineFault for one that is not the EMCs'."""
        instruction = self._instructions[index]
        match instruction.declaration.unit:
            case Unit.PE:
                if writes := self._writes.of(index):
                    self._follow(index, writes, instruction.apply)
            case Unit.LEE:
                instruction.declaration.meaning(self._lee, *instruction.operands)
            case _:
                where = self._program.where(index)
                raise MachineFault(f"{where}: {instruction.text()}: not an instruction of the EMCs")

    def skip(self, code: StraightCode) -> None:
        """Follow straight code as a whole."""
        if code.settings:
            for index in range(code.first, code.end):
                instruction = self._instructions[index]
                instruction.declaration.meaning(self._lee, *instruction.operands)
            return
        before, place, body = self.state, self._place(), code.body
        # Wherever a routine is called from it does the same; its return goes with it.
        first, end = (code.first, code.end) if body is None else (body.first, body.end + 1)
        after = self._values.after(first, end, place, before)
        if after is None:
            for index in range(first, end):
                if writes := self._writes.of(index):
                    self._follow(index, writes, self._instructions[index].apply)
            if body is not None and body.started:
                self.unlatch()
            after = self._values.note(first, end, place, before, self.state)
        self.state = after

    # --- transfers ---------------------------------------------------------------------------------------------------

    def get_bit(self, name: str) -> NDArray[np.bool_]:
        """Return a flag, a mark say; raises InputError where it depends on PE data."""
        number = self.state[FLAG[name]]
        if number >= 0:
            return self._values.value(number)
        by = -1 - number
        raise self.refusal(
            f"the marks {name} depend on PE data, by {self._instructions[by].text()} at {self._program.where(by)}"
        )

    def derived(self, name: str, what: Hashable, make: Callable[[], T]) -> T:
        """Return the result of ``make`` for a flag, computed once for each value and each ``what``."""
        return self._values.derived(self.state[FLAG[name]], what, make)

    def refusal(self, reason: str) -> InputError:
        """Return the error of a run whose time depends on PE data at the current texture instruction."""
        issue = self.asked_by
        instruction, line = self._instructions[issue], self._program.line_at(issue)
        place = Place(line.file, line.line) if line else Place(self._program.where(issue))
        message = f"a timing-only run cannot continue at {instruction.text()}: {reason}"
        return InputError(Fault(message, place, "run it with data (without --timing-only)"))

    # --- flags -------------------------------------------------------------------------------------------------------

    def _follow(self, index: int, writes: Writes, meaning: Meaning) -> None:
        """Apply an instruction that writes these flags."""
        before, place = self.state, self._place()
        after = self._values.after(index, index + 1, place, before)
        if after is None:
            made = self._carry_out(index, place, writes, meaning)
            after = self._values.note(index, index + 1, place, before, made)
        self.state = after

    def _carry_out(self, index: int, place: int, writes: Writes, meaning: Meaning) -> State:
        before, after = self.state, list(self.state)
        known = []
        for flag, sources in writes:
            if sources is None:
                after[flag] = -1 - index
            elif (unknown := min((before[source] for source in sources), default=0)) < 0:
                after[flag] = unknown
            else:
                known.append((flag, sources))
        if known:
            given = {source: before[source] for _, sources in known for source in sources}
            # Most comparisons are for loads and never reach a mark.
            now = index < 0 or self._instructions[index].declaration.family is not Family.LEE
            flags = [flag for flag, _ in known]
            for flag, number in zip(flags, self._values.made(meaning, place, flags, given, at_once=now), strict=True):
                after[flag] = number
        return tuple(after)

    def _place(self) -> int:
        """Return the number of the coordinates that the LEE gives now."""
        if self._placed is None or self._placed[0] != self._lee.version:
            self._placed = (self._lee.version, self._values.place(self._lee))
        return self._placed[1]


def _writes_of(program: Program) -> FlagWrites:
    """Return the flags that the instructions of a program write, kept with the program."""
    if FlagWrites not in program.analyses:
        program.analyses[FlagWrites] = FlagWrites(program.by_kind)
    return program.analyses[FlagWrites]


def _values_of(program: Program, lanes: int) -> FlagValues:
    """Return the flag values of a program on arrays of this many PEs, kept with the program."""
    found = program.analyses.get((FlagValues, lanes))
    if found is None or found.full:
        found = program.analyses[FlagValues, lanes] = FlagValues(lanes)
    return found


# A texture unit for timing-only runs: the registers and checks of the real one, without moving bytes.
#
# Addresses that follow from the program (the generator's, and those held from it) are checked as in a run with data.
# Those given by PEs are unknown, and so are their faults: outside texture memory, not a multiple of the size, or in the
# bank of the previous access although alternate banks were promised. Where equal slots are scheduled one by one, for
# refresh or for the command checker, such accesses alternate between the banks (`tasic_box`), as their times do not
# depend on addresses; under a greedy controller they do, and the run is refused.


_UNKNOWN = -2
"""The placeholder of an address given by PE data."""


class TimedTextureUnit(TextureUnit):
    """Takes the marks from a tracker instead of PEs; starts with the registers of ``real`` and leaves those alone."""

    def __init__(self, config: NodeConfig, real: TextureUnit, tracker: MarkTracker) -> None:
        super().__init__(config, real.engine, ())
        self.restore(real)
        self.gps_of = real.gps_of
        self._access = _KnownAccess(config, ())
        self._tracker = tracker
        self._no_data = np.zeros((config.lanes, PORT_BYTES), np.uint8)

    def end(self) -> None:
        """Check that the GP memories have room for the transfer; nothing is written."""
        for where, data in self.moving.returned:
            self.gps_of(where.node)[where.gp].check(where.address, len(data))

    def _marked(self, mark: str) -> NDArray[np.bool_]:
        return self._tracker.get_bit(mark)

    def _port(self, count: int = PORT_BYTES) -> NDArray[np.uint8]:
        return self._no_data[:, :count]

    def _asked(self, transfer: Transfer) -> None:
        """Return None: reads without data are not kept."""

    def _note_addresses(self, transfer: Transfer, addresses: NDArray[np.int64], valid: NDArray[np.bool_]) -> None:
        if not (addresses[valid] == _UNKNOWN).any():
            super()._note_addresses(transfer, addresses, valid)
        elif not self._config.sdram.equal_slots:
            raise self._tracker.refusal(
                "the addresses depend on PE data, and with them the times of a greedy controller (sdram.equal_slots)"
            )

    def _groups(self, transfer: Transfer, mark: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        self._tracker.get_bit(mark)  # refuses an unknown mark
        groups = super()._groups
        return self._tracker.derived(mark, (transfer, self.panel_minor), lambda: groups(transfer, mark))

    def _where(self, transfer: Transfer, givers: NDArray[np.int64], valid: NDArray[np.bool_]) -> NDArray[np.int64]:
        addresses = super()._where(transfer, givers, valid)
        if transfer.addressing in (Addressing.EXPLICIT, Addressing.BASE):
            return np.where(valid[:, :, None], _UNKNOWN, addresses)
        return addresses


class _KnownAccess(TextureAccess):
    """Accesses without memory."""

    def check(
        self,
        transfer: Transfer,
        addresses: NDArray[np.int64],
        valid: NDArray[np.bool_],
        givers: NDArray[np.int64] | None = None,
    ) -> None:
        super().check(transfer, addresses, valid & (addresses != _UNKNOWN).all(axis=-1), givers)
