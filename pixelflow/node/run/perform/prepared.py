"""Actions of one program on one array, prepared when they are first needed and kept for all runs of it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

from pixelflow.isa import Program, Unit
from pixelflow.node.parts.array.pe_array import PeArray
from pixelflow.node.run.perform.repeated import Repeated
from pixelflow.node.run.streams.calls import WholeCall
from pixelflow.node.run.streams.straight_code import StraightCode
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.engine import Action

__all__ = ["Key", "Prepared", "prepared"]

Key = tuple[int, ...]
"""The first instruction of straight code, and the parameters that it uses."""

_KEPT_STRETCHES = 20_000


class _Token:
    """Lives as long as a program does, and stands for it where the program must not be kept alive."""


class Prepared:
    """What an array does for each instruction, piece of straight code and call of a program."""

    def __init__(self, array: PeArray, program: Program) -> None:
        self.instructions = program.by_kind
        self._kind_of = self.instructions.kind_list
        self._is_on_lanes = [each.declaration.unit is Unit.PE for each in self.instructions.kinds]
        self._bases_of = [each.bases for each in self.instructions.kinds]
        self.scores: dict[Hashable, Repeated] = {}
        """What earlier runs did (`score.py`), by entry and by whether time was simulated."""
        self._array = array
        self._absolute: list[Action | None] = [None] * len(self.instructions)
        self._by_parameter: dict[tuple[int, object], Action] = {}
        self._fixed: dict[int, tuple[int, list[Action | None], list[tuple[int, int]]]] = {}
        """For the first instruction of straight code its end, its actions but for those that depend on parameters, and
        which do: position among them, and instruction."""
        self._actions_of: dict[Key, tuple[Action, ...]] = {}
        self._chain: dict[Key, Action] = {}
        self._once: set[Key] = set()
        self._used_by: dict[int, tuple[int, ...]] = {}

    def is_on_lanes(self, index: int) -> bool:
        """Return whether an instruction is one of the PEs."""
        return self._is_on_lanes[self._kind_of[index]]

    def action(self, index: int, parameters: Sequence[int]) -> Action:
        """Return the action of an instruction; raises MachineFault where it cannot be carried out."""
        bases = self._bases_of[self._kind_of[index]]
        if not bases:
            action = self._absolute[index]
            if action is None:
                action = self._absolute[index] = self._array.action(self.instructions[index])
            return action
        used = parameters[bases[0]] if len(bases) == 1 and bases[0] < len(parameters) else tuple(parameters)
        action = self._by_parameter.get((index, used))
        if action is None:
            action = self._by_parameter[index, used] = self._array.action(self.instructions[index], parameters)
        return action

    def _actions(self, first: int, end: int, parameters: Sequence[int], used: Sequence[int]) -> Sequence[Action]:
        """Return the actions of instructions ``first`` to ``end - 1``, which refer to no parameters but ``used``.

        Much code stands in many programs; only that which was made for one has coefficients.
        """
        if self._is_joint(first, end):
            return (self._array.joint_action(self.instructions, first, end),)
        words, make = self.instructions.words_between(first, end), partial(self._made, first, end, parameters)
        return self._array.straight_actions(words, tuple(used), make)

    def _is_joint(self, first: int, end: int) -> bool:
        """Whether some of these instructions have coefficients, and none refers to a parameter."""
        kinds = {kind for kind in set(self._kind_of[first:end]) if self._is_on_lanes[kind]}
        return any(map(self.instructions.counts.__getitem__, kinds)) and not any(map(self._bases_of.__getitem__, kinds))

    def _made(self, first: int, end: int, parameters: Sequence[int]) -> list[Action]:
        """Return the actions of instructions one by one: only some of them depend on parameters."""
        known = self._fixed.get(first)
        if known is None or known[0] != end:
            known = self._fixed[first] = end, *self._known_ahead(first, end)
        found = known[1].copy()
        by_parameter, passed = self._by_parameter, len(parameters)
        for at, index in known[2]:
            bases = self._bases_of[self._kind_of[index]]
            action = None
            if len(bases) == 1 and bases[0] < passed:
                action = by_parameter.get((index, parameters[bases[0]]))
            found[at] = self.action(index, parameters) if action is None else action
        return found

    def _known_ahead(self, first: int, end: int) -> tuple[list[Action | None], list[tuple[int, int]]]:
        """Return the actions that depend on no parameter, None for each that does, and where those are."""
        places = [index for index in range(first, end) if self.is_on_lanes(index)]
        varying = [(at, index) for at, index in enumerate(places) if self._bases_of[self._kind_of[index]]]
        depends = {index for _, index in varying}
        return [None if index in depends else self.action(index, ()) for index in places], varying

    # --- straight code -----------------------------------------------------------------------------------------

    def key(self, code: StraightCode, parameters: Sequence[int]) -> Key | None:
        """Return what the actions of straight code depend on; None where a parameter was not passed."""
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
        """Return the key of straight code that can be carried out as a whole; None where an instruction faults."""
        key = self.key(code, parameters)
        if key is not None and key not in self._actions_of:
            if len(self._actions_of) >= _KEPT_STRETCHES:
                for kept in (self._actions_of, self._chain, self._once):
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

        def microcode() -> list[Action]:
            found = self._actions(body.first, body.end, parameters, parameters)
            return [*found, self._array.unlatch] if body.started else found

        kernel = self._array.kernel(program, body.entry, parameters, microcode)
        if kernel is None:
            self._actions_of[key] = tuple(microcode())
        else:
            self._actions_of[key], self._chain[key] = (kernel,), kernel

    def actions_for(self, key: Key) -> tuple[Action, ...]:
        """Return the actions of straight code for one pass: as one chain, from its second pass on."""
        chain = self._chain.get(key)
        if chain is not None:
            return (chain,)
        if key not in self._once:
            # Much straight code comes only once; a chain would not pay for them.
            self._once.add(key)
            return self._actions_of[key]
        chain = self._chain[key] = self._array.engine.chain(self._actions_of[key])
        return (chain,)


def prepared(array: PeArray, program: Program) -> Prepared:
    """Return what an array has prepared of a program."""
    token = program.analyses.setdefault(Prepared, _Token())
    by_kind = array.prepared.setdefault(token, {})
    if array.exact not in by_kind:
        by_kind[array.exact] = Prepared(array, program)
    return by_kind[array.exact]
