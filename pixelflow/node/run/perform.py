"""Performance of a run (meaning): it executes the steps, on the lanes, on marks alone, or not at all.

The order, which decides when something happens, asks a performance about transfers only: whether one begins, and its
commands. PE data, texture memory and GP memory are on this side; no clock is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa import Instruction, Program, Unit
from pixelflow.isa.emc import unlatch
from pixelflow.node.pe_array import PeArray, influences_of
from pixelflow.node.run.analysis import Analysis, WholeCall
from pixelflow.node.run.marks import MarkTracker, TimedTextureUnit
from pixelflow.node.run.score import Begin, Direct, End, Lanes, Score, Settings, SideEffects, Told
from pixelflow.node.run.straight_code import StraightCode
from pixelflow.node.run.stream import Issue, Stream
from pixelflow.node.texture_unit import TextureUnit
from pixelflow.node.transfer import WAYS, BlockAccess, Transfer, TransferCommand
from pixelflow.observe import Bus, EnabledCounted, EnablesChanged, Executed, Progressed, TransferBegan
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.engine import Action


class Performance(Protocol):
    """Executes what streams issue."""

    def join(self, stream: Stream) -> None:
        """Let the EMC stream skip straight code, unless single instructions have subscribers."""

    def issue(self, stream: Stream, issue: Issue) -> None:
        """Execute an issue of the EMC stream, at the latest with the next `flush`; raises MachineFault."""

    def flush(self) -> None:
        """Execute deferred issues."""

    def tell(self, index: int) -> Transfer | None:
        """Execute a texture instruction; return the transfer that it asks for. Raises MachineFault for another."""

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer; return the command for each module."""

    @property
    def accessed(self) -> BlockAccess | None:
        """The accesses to texture memory of the current transfer, where they are known."""

    def end(self) -> None:
        """End the current transfer."""

    @property
    def moved(self) -> Mapping[str, int]:
        """Bytes of data moved each way (`WAYS`), since the node was made."""

    def close(self, stream: Stream, cycle: int) -> None:
        """Emit the counts of a run whose EMC stream has ended, for whatever reason."""


class OnNothing:
    """The performance of a timing-only run of one stream, which has no transfers."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.moved = dict.fromkeys(WAYS, 0)
        self.accessed: BlockAccess | None = None

    def join(self, stream: Stream) -> None:
        if not stream.bus.wants(Executed):
            stream.straight_codes = self._analysis.straight_codes(timed=stream.supply is None)

    def issue(self, stream: Stream, issue: Issue) -> None:
        pass

    def flush(self) -> None:
        pass

    def tell(self, index: int) -> Transfer | None:
        return None

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        return ()

    def end(self) -> None:
        pass

    def close(self, stream: Stream, cycle: int) -> None:
        pass


def texture_instruction(program: Program, index: int) -> Instruction:
    """Return an instruction of the texture stream; raises MachineFault where it is not for the TASICs."""
    instruction = program.by_kind[index]
    if instruction.declaration.unit is not Unit.TASIC:
        raise MachineFault(f"{program.where(index)}: {instruction.text()}: not an instruction of the TASICs")
    return instruction


# Actions of one program on one array, prepared on first use and kept for all its runs.


Key = tuple[int, ...]
"""The first instruction of straight code, and the parameters that it uses."""

_KEPT_STRETCHES = 20_000
_SHORT = 32


class Tallies(NamedTuple):
    """Cycles for which the PEs enabled in straight code are counted."""

    first: int
    """Up to and with its first change of enables."""
    last: int
    """Up to and with the last one."""
    inside: dict[int, int]
    """From one change to the next, with it: by the instruction of that one, before which they are counted."""


class _Token:
    """A key with the lifetime of a program that does not keep the program alive."""


class Prepared:
    """The actions of an array for each instruction, piece of straight code and call of a program."""

    def __init__(self, array: PeArray, program: Program, counted: Analysis | None = None) -> None:
        """With the ``counted`` analysis of the program, straight code counts enabled PEs."""
        self.instructions = program.by_kind
        self._counted = counted
        self._tallies: dict[tuple[int, int], Tallies | None] = {}
        """Of straight code, by its first instruction and the one past its last."""
        self._kind_of = self.instructions.kind_list
        self._is_on_lanes = [each.declaration.unit is Unit.PE for each in self.instructions.kinds]
        self._bases_of = [each.bases for each in self.instructions.kinds]
        self.scores: dict[Hashable, Score] = {}
        """The scores of earlier runs, by entry and by whether time was simulated."""
        self._array = array
        self._single: dict[tuple[int, object], Action] = {}
        """By the complement of the kind, or by the position of an instruction with coefficients; and by parameters."""
        self._groups: dict[tuple[int, int], dict[tuple[int, ...], NDArray[np.intp]]] = {}
        """For straight code, by parameters: which of its actions depend on these, and their instructions."""
        self._made: dict[tuple[int, int, tuple[int, ...], tuple[int, ...]], NDArray[np.object_]] = {}
        """The actions of a group: by the straight code, the parameters, and their values."""
        self._actions_of: dict[Key, tuple[Action, ...]] = {}
        self._chain: dict[Key, Action] = {}
        self._once: set[Key] = set()
        self._used_by: dict[int, tuple[int, ...]] = {}
        self._joint: dict[bytes, Callable[[NDArray[np.int64]], Action]] = {}
        """By the kinds of short straight code, which often differs in coefficients alone: what gives its action."""

    def is_on_lanes(self, index: int) -> bool:
        """Return whether an instruction is for the PEs."""
        return self._is_on_lanes[self._kind_of[index]]

    def action(self, index: int, parameters: Sequence[int]) -> Action:
        """Return the action of an instruction; raises MachineFault where it cannot be executed."""
        kind = self._kind_of[index]
        key = index if self.instructions.counts[kind] else ~kind, _values(self._bases_of[kind], parameters)
        action = self._single.get(key)
        if action is None:
            action = self._single[key] = self._array.action(self.instructions[index], parameters)
        return action

    def _actions(self, first: int, end: int, parameters: Sequence[int], used: Sequence[int]) -> Sequence[Action]:
        """Return the actions of instructions ``first`` to ``end - 1``, which refer to no parameters but ``used``.

        They are shared between programs, except where they have coefficients.
        """
        found = self.tallies(first, end)
        tallies = found.inside if found is not None else {}
        if self._is_joint(first, end):
            kinds = self._kind_of[first:end].tobytes()
            joint = None if tallies else self._joint.get(kinds)
            if joint is None:
                joint = self._array.joint(self.instructions, first, end, tallies)
                if not tallies and end - first <= _SHORT:
                    self._joint[kinds] = joint
            return (joint(self.instructions.coefficients[first:end]),)
        words, make = self.instructions.words_between(first, end), partial(self._one_by_one, first, end, parameters)
        if not tallies:
            return self._array.straight_actions(words, tuple(used), make)
        places = [index for index in range(first, end) if self.is_on_lanes(index)]
        made: list[Action] = []
        for index, action in zip(places, make(), strict=True):
            if index in tallies:
                made.append(self._array.tally(tallies[index]))
            made.append(action)
        return made

    def tallies(self, first: int, end: int) -> Tallies | None:
        """Return the tallies of straight code; None where it leaves enables alone, or nothing is counted."""
        if self._counted is None:
            return None
        if (first, end) not in self._tallies:
            enabling, cycles = self._counted.enabling, self._counted.sequencer.cycles
            changes = [index for index in range(first, end) if enabling[index]]
            past = [*accumulate(cycles[first:end])]
            inside = {index: past[index - first] - past[before - first] for before, index in pairwise(changes)}
            self._tallies[first, end] = (
                Tallies(past[changes[0] - first], past[changes[-1] - first], inside) if changes else None
            )
        return self._tallies[first, end]

    def _is_joint(self, first: int, end: int) -> bool:
        """Return whether some of the PEs' instructions here have coefficients, and none refers to a parameter."""
        coefficients, parameters = (self._before[end] - self._before[first]).tolist()
        return coefficients > 0 and parameters == 0

    @cached_property
    def _before(self) -> NDArray[np.int64]:
        """How many of the PEs' instructions before each one have coefficients, and how many refer to parameters."""
        kinds = zip(self._is_on_lanes, self.instructions.counts, self._bases_of, strict=True)
        has = [(0, 0), *((int(lanes and count > 0), int(lanes and bases != ())) for lanes, count, bases in kinds)]
        return np.cumsum(np.array(has, np.int64)[np.append(0, self.instructions.kind_of + 1)], axis=0)

    def _one_by_one(self, first: int, end: int, parameters: Sequence[int]) -> list[Action]:
        """Return the actions of instructions; those with the same values of parameters come from a cache."""
        if (first, end) not in self._groups:
            by_bases: dict[tuple[int, ...], list[tuple[int, int]]] = {}
            for at, index in enumerate(filter(self.is_on_lanes, range(first, end))):
                by_bases.setdefault(self._bases_of[self._kind_of[index]], []).append((at, index))
            self._groups[first, end] = {bases: np.array(group, np.intp).T for bases, group in by_bases.items()}
        groups = self._groups[first, end]
        found = np.empty(sum(len(places) for places, _ in groups.values()), object)
        for bases, (places, indices) in groups.items():
            key = first, end, bases, _values(bases, parameters)
            if key not in self._made:
                each = [self.action(index, parameters) for index in indices.tolist()]
                self._made[key] = np.fromiter(each, object, len(each))
            found[places] = self._made[key]
        return found.tolist()

    # --- straight code -----------------------------------------------------------------------------------------

    def key(self, code: StraightCode, parameters: Sequence[int]) -> Key | None:
        """Return the key of the actions of straight code; None where a parameter was not passed."""
        if isinstance(code, WholeCall):
            return (code.first, *code.parameters)
        used = self._used_by.get(code.first)
        if used is None:
            kinds = set(self._kind_of[code.first : code.end])
            bases = {base for kind in kinds for base in self._bases_of[kind]}
            used = self._used_by[code.first] = tuple(sorted(bases))
        if used and used[-1] >= len(parameters):
            return None
        return (code.first, *(parameters[base] for base in used))

    def can(self, program: Program, code: StraightCode, parameters: Sequence[int]) -> Key | None:
        """Return the key of straight code that can be executed as a whole; None where an instruction faults."""
        key = self.key(code, parameters)
        if key is not None and key not in self._actions_of:
            if len(self._actions_of) >= _KEPT_STRETCHES:
                for kept in (self._actions_of, self._chain, self._once, self._made):
                    kept.clear()
            try:
                self._prepare(program, key, code, parameters)
            except MachineFault:
                return None
        return key

    def _prepare(self, program: Program, key: Key, code: StraightCode, parameters: Sequence[int]) -> None:
        if not isinstance(code, WholeCall):
            self._actions_of[key] = tuple(self._actions(code.first, code.end, parameters, key[1:]))
            return
        body, parameters = code.body, code.parameters

        def microcode() -> Sequence[Action]:
            found = self._actions(body.first, body.end, parameters, parameters)
            return [*found, self._array.unlatch] if body.started else found

        kernel = None if self._counted else self._array.kernel(program, body.entry, parameters, microcode)
        if kernel is None:
            self._actions_of[key] = tuple(microcode())
        else:
            self._actions_of[key], self._chain[key] = (kernel,), kernel

    def actions_for(self, key: Key) -> tuple[Action, ...]:
        """Return the actions of straight code for one pass: as one chain, except in the first pass."""
        chain = self._chain.get(key)
        if chain is not None:
            return (chain,)
        if key not in self._once:
            # Most straight code is executed only once; a chain would not pay.
            self._once.add(key)
            return self._actions_of[key]
        chain = self._chain[key] = self._array.engine.chain(self._actions_of[key])
        return (chain,)


def _values(bases: tuple[int, ...], parameters: Sequence[int]) -> tuple[int, ...]:
    """Return the values of parameters that were passed."""
    return tuple([parameters[base] for base in bases if base < len(parameters)])


def prepared(array: PeArray, program: Program, counted: Analysis | None = None) -> Prepared:
    """Return the prepared actions of a program on an array; ``counted`` as in `Prepared`."""
    token = program.analyses.setdefault(Prepared, _Token())
    by_kind, kind = array.prepared.setdefault(token, {}), (array.exact, counted is not None)
    if kind not in by_kind:
        by_kind[kind] = Prepared(array, program, counted)
    return by_kind[kind]


_BATCH = 512
"""Single instructions passed to the engine together."""

_LARGE_BATCH = 8192
"""Instructions of straight code passed to the engine together: enough work for several threads."""


class OnLanes:
    """Executes the instructions of a program on an array and its texture unit, by default directly (``effects``)."""

    def __init__(
        self, analysis: Analysis, array: PeArray, texture: TextureUnit, bus: Bus, effects: SideEffects | None = None
    ) -> None:
        self._analysis = analysis
        self._program = analysis.program
        self._array = array
        self._texture = texture
        self._bus = bus
        texture.watched = bus.wants(TransferBegan)
        self._effects: SideEffects = Direct(array, texture) if effects is None else effects
        self._enables = _EnableCounts(analysis.enabling, array, bus) if bus.wants(EnablesChanged) else None
        self._counted = analysis if bus.wants(EnabledCounted) else None
        """The analysis, where enabled PEs are counted."""
        self._busy: int | None = None
        """The busy cycles of the EMC stream up to which they are; None before its first instruction."""
        if self._counted is not None:
            array.clear_tallies()
        self._prepared = prepared(array, self._program, self._counted)
        self._key: Key | None = None
        """The straight code that the stream is skipping."""
        self._pending: list[Action] = []
        self._skipped = 0
        """Instructions of straight code among the pending ones."""

    def join(self, stream: Stream) -> None:
        if self._enables is None and not stream.bus.wants(Executed):
            stream.straight_codes = self._analysis.straight_codes(stages=stream.supply is None)
            stream.may_skip, stream.on_skip = self._may_skip, self._on_skip

    # --- the EMC stream ----------------------------------------------------------------------------------------

    def issue(self, stream: Stream, issue: Issue) -> None:
        index = issue.index
        if self._enables is not None:
            self._enables.report_first(stream.begins(issue))
        if self._counted is not None:
            begins = stream.unwaited + stream.begins(issue) - stream.cycle
            self._busy = begins if self._busy is None else self._busy
            if index is not None and self._counted.enabling[index]:
                self._tally_to(stream.unwaited)
        if index is None:
            self._pending.append(self._array.unlatch)
        elif self._prepared.is_on_lanes(index):
            try:
                self._pending.append(self._prepared.action(index, stream.parameters))
            except MachineFault as error:
                raise self._placed(index, error) from None
        else:
            self._configure(index)
        if self._enables is not None and self._enables.may_change(index):
            self.flush()
            self._enables.report(stream.cycle)
        elif len(self._pending) >= _BATCH:
            self.flush()
            self._bus.emit(Progressed, stream.cycle)

    def _may_skip(self, stream: Stream, code: StraightCode) -> bool:
        """Return whether straight code can be executed as a whole, without a fault."""
        if code.settings:
            return True
        self._key = self._prepared.can(self._program, code, stream.parameters)
        return self._key is not None

    def _on_skip(self, stream: Stream, code: StraightCode) -> None:
        tallies, begins = None, 0
        if self._counted is not None:
            begins, body = stream.unwaited - code.cycles, code.body or code
            self._busy = begins if self._busy is None else self._busy
            tallies = self._prepared.tallies(body.first, body.end)
            if tallies is not None:
                begins += self._counted.sequencer.cycles[code.first] if code.body else 0
                self._tally_to(begins + tallies.first)
        if code.settings:
            for index in range(code.first, code.end):
                self._configure(index)
            return
        if self._key is not None:
            self._pending += self._prepared.actions_for(self._key)
        if tallies is not None:
            self._busy = begins + tallies.last
        self._skipped += code.length
        if self._skipped >= _LARGE_BATCH:
            self.flush()
            self._bus.emit(Progressed, stream.cycle)

    def _tally_to(self, busy: int) -> None:
        """Let the enabled PEs count the busy cycles up to ``busy``."""
        if self._busy is not None and busy > self._busy:
            self._pending.append(self._array.tally(busy - self._busy))
        self._busy = busy

    def _configure(self, index: int) -> None:
        instruction = self._prepared.instructions[index]
        if instruction.declaration.unit is not Unit.LEE:
            raise MachineFault(f"{self._program.where(index)}: {instruction.text()}: not an instruction of the EMCs")
        self.flush()
        try:
            self._effects.make(Settings(instruction))
        except MachineFault as error:
            raise self._placed(index, error) from None

    def _placed(self, index: int, error: MachineFault) -> MachineFault:
        """Return a fault with the place of its instruction in the program."""
        return MachineFault(f"{self._program.where(index)}: {error}")

    def flush(self) -> None:
        pending, self._pending, self._skipped = self._pending, [], 0
        if pending:
            self._effects.make(Lanes(pending))

    # --- the texture stream, which sees the PEs: deferred instructions are executed first ------------------------

    @property
    def moved(self) -> Mapping[str, int]:
        return self._texture.moved

    def tell(self, index: int) -> Transfer | None:
        step = Told(texture_instruction(self._program, index), index)
        self.flush()
        self._effects.make(step)
        return step.transfer

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        self.flush()
        step = Begin(transfer)
        self._effects.make(step)
        return step.commands

    @property
    def accessed(self) -> BlockAccess | None:
        return self._texture.accessed

    def end(self) -> None:
        self.flush()
        self._effects.make(End())

    def close(self, stream: Stream, cycle: int) -> None:
        if self._busy is not None:
            self._tally_to(stream.unwaited)
            self.flush()
            self._bus.emit(EnabledCounted, cycle, self._array.tallies())


class _EnableCounts:
    """Emits the number of enabled PEs of each module whenever it has changed."""

    def __init__(self, enabling: Sequence[bool], array: PeArray, bus: Bus) -> None:
        self._array = array
        self._bus = bus
        self._writes = enabling
        self._unlatch_writes = "E" in influences_of(unlatch)
        self._reported: tuple[int, ...] | None = None

    def may_change(self, index: int | None) -> bool:
        """Return whether an instruction, or None for the return of a started routine, writes enables."""
        return self._unlatch_writes if index is None else self._writes[index]

    def report_first(self, cycle: int) -> None:
        """Emit the counts before the first instruction, which begins in ``cycle``."""
        if self._reported is None:
            self.report(cycle)

    def report(self, cycle: int) -> None:
        """Emit the counts if they have changed."""
        counts = self._array.enabled_by_module()
        if counts != self._reported:
            self._reported = counts
            self._bus.emit(EnablesChanged, cycle, counts)


class OnMarks:
    """The performance of a timing-only run of two streams: it follows the marks, and leaves the node unchanged."""

    def __init__(self, config: NodeConfig, analysis: Analysis, array: PeArray, texture: TextureUnit) -> None:
        self._analysis = analysis
        self._program = analysis.program
        self._tracker = MarkTracker(analysis.program, array)
        self._texture = TimedTextureUnit(config, texture, self._tracker)

    @property
    def moved(self) -> Mapping[str, int]:
        return self._texture.moved

    def join(self, stream: Stream) -> None:
        if not stream.bus.wants(Executed):
            stream.straight_codes = self._analysis.straight_codes(timed=stream.supply is None)
            stream.on_skip = self._on_skip

    def _on_skip(self, stream: Stream, code: StraightCode) -> None:
        self._tracker.skip(code)

    def issue(self, stream: Stream, issue: Issue) -> None:
        if issue.index is None:
            self._tracker.unlatch()
        elif issue.code is None:
            self._tracker.execute(issue.index)
        else:
            self._tracker.skip(issue.code)

    def flush(self) -> None:
        pass

    def tell(self, index: int) -> Transfer | None:
        instruction = texture_instruction(self._program, index)
        self._tracker.asked_by = index
        return self._texture.tell(instruction)

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer; raises InputError where its time depends on PE data."""
        self._texture.begin(transfer)
        return self._texture.commands(transfer)

    @property
    def accessed(self) -> BlockAccess | None:
        return self._texture.accessed

    def end(self) -> None:
        self._texture.end()

    def close(self, stream: Stream, cycle: int) -> None:
        pass
