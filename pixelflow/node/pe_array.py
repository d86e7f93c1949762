"""The PE array of a node: lanes, LEE, and the effect of instructions on them. It knows no time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa import PANEL_PES, PARAMETERS, Instruction, Program, Unit
from pixelflow.isa.declarations import CARRIES, MASKS, WORDS
from pixelflow.isa.emc import unlatch
from pixelflow.node.kernels import MACRO, make_engine
from pixelflow.node.lee import LinearExpressionEvaluator
from pixelflow.simd.errors import InternalError, MachineFault
from pixelflow.simd.isa.effects import effects
from pixelflow.simd.isa.kinds import ByKind
from pixelflow.simd.lanes import Shape
from pixelflow.simd.lanes.algebra import Algebra, Bit, Word
from pixelflow.simd.lanes.engine import Action, Engine, Meaning, Template
from pixelflow.simd.report import Report, Shown, counted, overview
from pixelflow.simd.units import Snapshot

if TYPE_CHECKING:
    from pixelflow.isa import Routine
    from pixelflow.node.kernels.float_kernel import Kernel
    from pixelflow.node.kernels.macro_engine import MacroEngine

# Influence: the state on which the registers and flags written by an instruction depend. MEMORY is any row.


MEMORY = "memory"

Names = frozenset[str]


def influences(instruction: Instruction) -> dict[str, Names]:
    """Return, for every register and flag that a PE instruction writes, the names on which its new value depends.

    Parameters of operands do not matter; all are taken as 0.
    """
    return influences_of(instruction.resolve([0] * PARAMETERS).apply)


def influences_of(meaning: Meaning) -> dict[str, Names]:
    """Return the same for any meaning."""
    return {
        name: frozenset(MEMORY if isinstance(source, int) else source for source in sources)
        for name, sources in effects(meaning).writes.items()
        if isinstance(name, str)
    }


# Enabled PEs count themselves: each has a counter of the cycles in which it is enabled.


TALLY = ("T0", "T1", "T2", "T3", "T4")
"""Bytes of the counter, lowest first: years of machine time."""


def tally(cycles: int) -> Meaning:
    """Return the meaning that adds cycles to the counters of enabled PEs."""

    def meaning(pe: Algebra[Word, Bit]) -> None:
        where, carry = pe.flag("E"), pe.bit(False)
        for at, name in enumerate(TALLY):
            total, carry = pe.add(pe.read(name), pe.word(cycles >> 8 * at & 0xFF), carry)
            pe.write(name, total, where)

    return meaning


# The programs whose data were loaded into a node's memory, in the form of a saved state.


_BYTES = 32
"""Of the hash of a program."""


def loaded_rows(hashes: Iterable[str]) -> NDArray[np.uint8]:
    """Return the hashes of programs as uint8[programs, 32], sorted."""
    return np.frombuffer(bytes.fromhex("".join(sorted(hashes))), np.uint8).reshape(-1, _BYTES)


def hashes_of(rows: NDArray[np.uint8]) -> set[str]:
    """Return the inverse of `loaded_rows`."""
    return {row.tobytes().hex() for row in rows}


def with_loaded(state: Snapshot, hashes: Iterable[str]) -> Snapshot:
    """Return a state with the hashes of these programs if it is from an older file, without hashes."""
    return {"loaded": loaded_rows(hashes)} | state


_KEPT_ACTIONS = 20_000
_KEPT_BYTES = 1 << 20
"""Bytes of the words of straight code whose actions are kept for other programs."""

_COUNTED = {"E": "enabled", "MR": "marked to read", "MW": "marked to write"}


class PeArray(Shown):
    """All PEs of a node on one lane engine."""

    def __init__(self, config: NodeConfig, engine: str) -> None:
        array = config.array
        shape = Shape(array.lanes, PANEL_PES, array.memory_bytes, WORDS, CARRIES, MASKS, counters=TALLY)
        self.engine: Engine = make_engine(engine, shape)
        self.lee = LinearExpressionEvaluator(config)
        self._config = array
        self._modules = array.modules
        self._actions: dict[tuple[object, ...], Action] = {}
        """By the instruction and its parameters; of a tally, by its cycles."""
        self._straight: dict[tuple[bytes, tuple[int, ...]], tuple[Action, ...]] = {}
        """Of straight code, by its words and their parameters."""
        self._straight_bytes = 0
        self._templates: dict[Instruction | int, Template] = {}
        """By an instruction whose coefficients are 0; of a tally, by its cycles."""
        self._coordinates_of: int | None = None
        self.exact = False
        """True if whole states matter, scratch memory included: kernels are not used then."""
        self.prepared: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        """Prepared actions of programs, for the lifetime of the programs (`run/perform.py`)."""
        self.unlatch = self.engine.prepare(unlatch)
        self._enable_all()

    def __repr__(self) -> str:
        enabled = int(self.engine.get_bit("E").sum())
        return f"PeArray({enabled} of {self.engine.shape.lanes} PEs enabled, engine {self.engine.name})"

    def report(self) -> Report:
        """Return the counts of enabled and marked PEs."""
        counts = ((text, counted(int(self.engine.get_bit(name).sum()), "PE")) for name, text in _COUNTED.items())
        facts = (("engine", self.engine.name), *counts)
        return overview(f"array of {self.engine.shape.lanes:,} PEs", facts)

    def reset(self) -> None:
        """Clear memory, registers and marks; enable all PEs, outside any routine."""
        state = self.engine.snapshot()
        for values in state.values():
            values[...] = 0
        self.engine.restore(state)
        self._enable_all()

    def _enable_all(self) -> None:
        for name in ("E", "L"):
            self.engine.set_bit(name, np.ones(self.engine.shape.lanes, bool))
        self._place_lanes()

    def _place_lanes(self) -> None:
        if self._coordinates_of != self.lee.version:
            self.engine.set_coordinates(*self.lee.coordinates())
            self._coordinates_of = self.lee.version

    def action(self, instruction: Instruction, parameters: Sequence[int] = ()) -> Action:
        """Return the action of a PE instruction; raises MachineFault for memory outside the PE."""
        bases = instruction.bases
        if bases and max(bases) >= len(parameters):
            raise MachineFault(f"{instruction.text()}: parameter P{max(bases)} was not passed")
        key = instruction, *[parameters[base] for base in bases]
        found = self._actions.get(key)
        if found is None:
            instruction = instruction.resolve(parameters) if bases else instruction
            self._check(instruction)
            if len(self._actions) >= _KEPT_ACTIONS:
                # Long sequences of broadcast constants are not repeated; start over rather than grow.
                self._actions.clear()
            found = self._actions[key] = self.engine.prepare(instruction.apply)
        return found

    def tally(self, cycles: int) -> Action:
        """Return the action that adds cycles to the counters of enabled PEs."""
        found = self._actions.get((cycles,))
        if found is None:
            found = self._actions[(cycles,)] = self.engine.prepare(tally(cycles))
        return found

    def clear_tallies(self) -> None:
        """Set the counters of all PEs to 0."""
        for name in TALLY:
            self.engine.set_word(name, np.zeros(self.engine.shape.lanes, np.uint8))

    def tallies(self) -> tuple[int, ...]:
        """Return the sums of the counters of each module."""
        counters = (self.engine.get_word(name).reshape(self._modules, -1).sum(axis=1, dtype=np.int64) for name in TALLY)
        return tuple(sum(each << 8 * at for at, each in enumerate(counters)).tolist())

    def straight_actions(
        self, words: bytes, parameters: tuple[int, ...], make: Callable[[], Sequence[Action]]
    ) -> tuple[Action, ...]:
        """Return the actions of straight code; ``make`` creates them unless its words are known from any program."""
        found = self._straight.get((words, parameters))
        if found is None:
            found = tuple(make())
            self._straight_bytes += len(words)
            if self._straight_bytes > _KEPT_BYTES:
                self._straight.clear()
                self._straight_bytes = len(words)
            self._straight[words, parameters] = found
        return found

    def joint(
        self, instructions: ByKind, first: int, end: int, tallies: Mapping[int, int]
    ) -> Callable[[NDArray[np.int64]], Action]:
        """Return what gives one action for the PE instructions among ``first`` to ``end - 1`` with other coefficients.

        It takes the coefficients of all of them; none has a parameter. ``tallies`` are counted in between: cycles by
        the instruction that follows.
        """
        kind_of = instructions.kind_of[first:end]
        numbers: dict[int, int] = {}
        templates: list[Template] = []
        for kind in dict.fromkeys(instructions.kind_list[first:end]):
            if instructions.kinds[kind].declaration.unit is Unit.PE:
                numbers[kind] = len(templates)
                templates.append(self._template(instructions.kinds[kind]))
        which = np.full(len(instructions.kinds), -1)
        which[list(numbers)] = list(numbers.values())
        on_lanes = np.flatnonzero(which[kind_of] >= 0)
        chosen = which[kind_of[on_lanes]]
        if not tallies:
            make = self.engine.prepare_all(templates, chosen)
            return lambda coefficients: make(coefficients[on_lanes])
        places = np.searchsorted(on_lanes, np.array([*tallies]) - first)
        cycles, counted = np.unique([*tallies.values()], return_inverse=True)
        chosen = np.insert(chosen, places, len(templates) + counted)
        make = self.engine.prepare_all([*templates, *map(self._tally_template, cycles.tolist())], chosen)
        return lambda coefficients: make(np.insert(coefficients[on_lanes], places, 0, axis=0))

    def _tally_template(self, cycles: int) -> Template:
        found = self._templates.get(cycles)
        if found is None:
            found = self._templates[cycles] = self.engine.template(lambda numbers: tally(cycles), 0)
        return found

    def _template(self, kind: Instruction) -> Template:
        """Return the template for instructions of a kind, without a parameter."""
        found = self._templates.get(kind)
        if found is None:
            self._check(kind)
            found = self._templates[kind] = self.engine.template(
                lambda coefficients: kind.with_coefficients(coefficients).apply,
                kind.declaration.layout.coefficients,
            )
        return found

    @property
    def macro(self) -> MacroEngine | None:
        """The engine, where it executes whole routines and repeats runs quickly; None where whole states matter."""
        return cast("MacroEngine", self.engine) if self.engine.name == MACRO and not self.exact else None

    def kernel(
        self, program: Program, entry: int, parameters: Sequence[int], microcode: Callable[[], Sequence[Action]]
    ) -> Action | None:
        """Return the action of a call of the routine at a word address; None where there is no kernel for it.

        ``microcode`` gives the actions of the routine's instructions, for use without native code.
        """
        macro = self.macro
        if macro is None:
            return None

        from pixelflow.node.kernels.float_kernel import Call
        from pixelflow.node.kernels.macro_engine import kernel_of

        known: dict[int, tuple[Kernel | None, Routine] | None] = program.analyses.setdefault("kernels", {})
        if entry not in known:
            routine = program.routine_at(entry)
            known[entry] = None if routine is None or routine.entry != entry else (kernel_of(program, routine), routine)
        found = known[entry]
        if found is None:
            return None
        kernel, routine = found
        if kernel is None or len(parameters) <= kernel.operands:
            return None
        result, *operands = parameters[: 1 + kernel.operands]
        scratch = routine.scratch[0] if routine.scratch else (0, 0)
        call = Call(kernel, "E", result, tuple(operands), scratch, (*WORDS, *CARRIES))
        inside = all(self._config.holds(first, size) for first, size in call.places)
        return macro.kernel(call, microcode) if inside and call.possible else None

    def _check(self, instruction: Instruction) -> None:
        for first, size in instruction.touches:
            if not self._config.holds(first.offset, size):
                touched = f"bytes {first.offset}..{first.offset + size - 1}"
                raise MachineFault(f"{instruction.text()}: {touched} are outside the PE ({self._config.memory_text})")

    def configure(self, instruction: Instruction) -> None:
        """Execute an instruction of the LEE; the PEs get their new coordinates when they next run."""
        if instruction.declaration.unit is not Unit.LEE:
            raise InternalError(f"{instruction.text()}: not an instruction of the LEE")
        instruction.declaration.meaning(self.lee, *instruction.operands)

    def enabled_by_module(self) -> tuple[int, ...]:
        """Return the number of enabled PEs of each module."""
        enabled = self.engine.get_bit("E").reshape(self._modules, -1)
        return tuple(int(count) for count in enabled.sum(axis=1))

    def snapshot(self) -> Snapshot:
        """Return the state by name: memory, registers and flags of the PEs, and the LEE's registers."""
        lee = {f"lee.{name}": values.copy() for name, values in self.lee.registers.items()}
        return self.engine.snapshot() | lee

    def restore(self, state: Snapshot) -> None:
        """Restore the state of a snapshot from this or any other engine."""
        self.engine.restore(state)
        for name, values in self.lee.registers.items():
            values[...] = state[f"lee.{name}"]
        self.lee.version += 1
        self._place_lanes()

    def settle(self) -> None:
        """Wait until all actions are executed; readers of PE data do this themselves."""
        self.engine.settle()

    def run(self, actions: Sequence[Action]) -> None:
        """Execute actions in order."""
        self._place_lanes()
        self.engine.run(actions)
