"""Partial evaluation: the result of the beginning of straight code, where it is the same in every run.

Constants and linear expressions follow from the program and from the places of the PEs alone. First parts that depend
on nothing else need not be executed: their rows are computed once and put in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.form import FormStep, Op, Part
from pixelflow.simd.lanes.native.lowering import masks_read

_WORTH_FOLDING = 64
"""Parts below which putting rows in place saves nothing worth a guard."""

_ALL, _NONE = 0xFF, 0
_UNIFORM = [np.full((1, 1), value, np.uint8) for value in range(256)]
"""Values that are the same in every lane: uint8[1, 1]."""

_KNOWN, _UNKNOWN = -1, -2

Values = NDArray[np.uint8]
"""The result of a step: of shape (1, lanes), or (1, 1) where it is the same in every lane.

0 where it is the former content of a row, undefined where nothing is known of it.
"""

State = int | NDArray[np.int32]
"""``_KNOWN``, ``_UNKNOWN``, or the place of the row whose former bytes a value is.

One number where that is the same in every lane, else int32[1, lanes].
"""

Found = tuple[Values, State]


@dataclass(frozen=True, slots=True, eq=False)
class FoldedRow:
    """The result in one row, at ``place`` of an engine's state: ``values``, uint8[lanes].

    Lanes in ``kept`` (bool[lanes], None for no lane) keep what they hold; their values are 0.
    """

    place: int
    values: NDArray[np.uint8]
    kept: NDArray[np.bool_] | None


@dataclass(frozen=True, slots=True)
class Folded:
    """The effect of the first ``count`` parts of straight code: ``moves`` in any order, then ``rows`` in any order.

    It holds where every lane of the places ``masks`` is 255 before. A move is (target place, source place), in every
    lane.
    """

    count: int
    rows: tuple[FoldedRow, ...]
    masks: tuple[int, ...]
    moves: tuple[tuple[int, int], ...] = ()


def folded(
    parts: Sequence[Part], known: Mapping[int, NDArray[np.uint8]], masks: Sequence[int], *, moves: bool = False
) -> Folded | None:
    """Return the effect of the longest foldable beginning of straight code; None where it is not worth it.

    ``known`` has the contents of places before (uint8[lanes]; at least one), ``masks`` the places assumed to hold 255
    in every lane before. After a foldable beginning every row that it wrote is known or unchanged in each lane. With
    ``moves`` a row may also be the former content of another one, as masks are that were pushed and popped.
    """
    lanes = len(next(iter(known.values())))
    folding = Following(lanes, known, masks, moves)
    for at, part in enumerate(parts):
        folding.carry_out(part)
        folding.look(at + 1)
    if folding.count < _WORTH_FOLDING:
        return None
    read = masks_read(parts[: folding.count], masks)
    before = {place: known[place] for place in known} | dict.fromkeys(read, np.full(lanes, _ALL, np.uint8))
    rows = [row for row in folding.rows() if row.kept is not None or _differs(row.values, before.get(row.place))]
    if folding.count < len(rows) + len(folding.moves):
        return None
    return Folded(folding.count, tuple(rows), tuple(read), tuple(sorted(folding.moves.items())))


def _differs(values: NDArray[np.uint8], before: NDArray[np.uint8] | None) -> bool:
    return before is None or not np.array_equal(values, before)


class Following:
    """Execution of parts on the known part of the state, and the last position up to which they can be folded."""

    def __init__(
        self, lanes: int, known: Mapping[int, NDArray[np.uint8]], masks: Sequence[int], may_move: bool
    ) -> None:
        self._shape = (1, lanes)
        self._now: dict[int, Found] = {place: (values.reshape(1, -1), _KNOWN) for place, values in known.items()}
        self._now |= dict.fromkeys(masks, (_UNIFORM[_ALL], _KNOWN))
        self._may_move = may_move
        self._bad: set[int] = set()
        """Rows that are neither known nor unchanged in some lane, and were not moved whole."""
        self._moved: dict[int, int] = {}
        self._changed: dict[int, Found] = {}
        """Rows written since the last good position."""
        self.count = 0
        """The last good position: the number of parts before it."""
        self._left: dict[int, Found] = {}
        """The contents of all written rows there."""
        self.moves: dict[int, int] = {}
        """Source row by target row there, for rows that hold the former contents of others in all unknown lanes."""

    def look(self, count: int) -> None:
        """Take a position as good, where it is."""
        # A row that is moved must still hold its former bytes when the next move looks at it.
        if self._bad or not self._moved.keys().isdisjoint(self._moved.values()):
            return
        self.count = count
        self._left |= self._changed
        self._changed.clear()
        self.moves = dict(self._moved)

    def rows(self) -> list[FoldedRow]:
        """Return the rows that are neither unchanged nor moved at the last good position."""
        found = []
        for place, (values, state) in sorted(self._left.items()):
            if isinstance(state, int) and state != _KNOWN:
                continue
            own = np.broadcast_to(values, self._shape)[0].astype(np.uint8)
            kept = None if isinstance(state, int) else np.broadcast_to(state != _KNOWN, self._shape)[0].copy()
            found.append(FoldedRow(place, own, kept))
        return found

    def forget(self, place: int) -> None:
        """Mark a row as unknown."""
        self._store(place, _UNIFORM[0], _UNKNOWN)

    def holds(self, place: int, values: NDArray[np.uint8]) -> bool:
        """Return whether a row is known to hold these bytes: uint8[lanes]."""
        found = self._now.get(place)
        return found is not None and _is_known(found[1]) and bool((found[0] == values).all())

    # --- steps ----------------------------------------------------------------------------------------------

    def carry_out(self, part: Part) -> None:
        """Execute a part on what is known of the rows that it reads."""
        operands = part.operands
        values: list[Values] = []
        states: list[State] = []
        for step in part.form.steps:
            detail = step.detail
            if step.op is Op.LOAD:
                place = operands[detail]
                value, state = self._now.get(place) or (_UNIFORM[0], place)
            elif step.op is Op.STORE:
                (at,) = step.inputs
                value, state = values[at], states[at]
                self._store(operands[detail], value, state)
            elif step.op is Op.SELECT:
                value, state = _select(*((values[at], states[at]) for at in step.inputs))
            elif step.op is Op.CONSTANT:
                value, state = _UNIFORM[_ALL * detail if step.bits == 1 else detail], _KNOWN
            elif step.op is Op.LITERAL:
                value, state = _UNIFORM[operands[detail]], _KNOWN
            else:
                state = self._state(step, values, states)
                some = _is_known(state) or not isinstance(state, int)
                value = self._value(step, operands, [values[at] for at in step.inputs]) if some else _UNIFORM[0]
            values.append(value)
            states.append(state)

    def _store(self, place: int, values: Values, state: State) -> None:
        values = values if values.dtype == np.uint8 else values.astype(np.uint8)
        self._now[place] = self._changed[place] = values, state
        self._bad.discard(place)
        self._moved.pop(place, None)
        source = _source(state)
        if source in (_KNOWN, place):
            return
        if source == _UNKNOWN or not self._may_move:
            self._bad.add(place)
        else:
            self._moved[place] = source

    def _value(self, step: FormStep, operands: Sequence[int], inputs: list[Values]) -> Values:
        """Return the value of a step that is neither a load, a store, a select nor a constant."""
        detail = step.detail
        match step.op:
            case Op.AFFINE:
                word = np.dtype(f"u{next(size for size in (1, 2, 4, 8) if 8 * size >= step.bits)}").type
                x_low, x_high, y_low, y_high = (each.astype(word) for each in inputs)
                a, b, c = (word(each % (1 << 8 * word().nbytes)) for each in operands[detail : detail + 3])
                return a * (x_low | x_high << 8) + b * (y_low | y_high << 8) + c
            case Op.CUT:
                return (inputs[0] >> 8 * detail).astype(np.uint8)
            case Op.PATTERN:
                bits = np.array(step.lanes, np.uint8) * np.uint8(_ALL)
                return np.broadcast_to(np.tile(bits, self._shape[1] // len(step.lanes)), self._shape)
            case Op.ROUTE if inputs[0].shape != (1, 1):
                return _low(inputs[0]).reshape(-1, len(step.lanes))[:, list(step.lanes)].reshape(self._shape)
            case Op.ROUTE:
                return inputs[0]
            case Op.CARRY:
                return _bit(inputs[0] > 0xFF)
            case op:
                return _VALUES[op](*map(_low, inputs))

    def _state(self, step: FormStep, values: list[Values], states: list[State]) -> State:
        """Return the state of a step that is neither a load, a store, a select nor a constant."""
        inputs = step.inputs
        if all(_is_known(states[at]) for at in inputs):
            return _KNOWN
        if step.op in (Op.AND, Op.OR):
            a, b = inputs
            strong, weak = (_NONE, _ALL) if step.op is Op.AND else (_ALL, _NONE)
            return _logic((values[a], states[a]), (values[b], states[b]), strong, weak)
        if step.op is Op.ROUTE:
            return self._routed(states[inputs[0]], step.lanes)
        if any(isinstance(states[at], int) and states[at] != _KNOWN for at in inputs):
            return _UNKNOWN
        known = reduce(np.logical_and, (np.atleast_2d(np.equal(states[at], _KNOWN)) for at in inputs))
        return _simple(np.where(known, _KNOWN, _UNKNOWN))

    def _routed(self, state: State, sources: Sequence[int]) -> State:
        """Return the state of a route: former contents of a row are known as such only in their own lane."""
        before = np.broadcast_to(state, self._shape).reshape(-1, len(sources))
        after = before[:, list(sources)]
        stays = np.array(sources) == np.arange(len(sources))
        return _simple(np.where((after == _KNOWN) | stays, after, _UNKNOWN).reshape(self._shape))


def _low(value: Values) -> Values:
    """Return a value as bytes: of a sum the low eight bits."""
    return value.astype(np.uint8, copy=False)


def _bit(values: Values | NDArray[np.bool_]) -> Values:
    return np.where(values, np.uint8(_ALL), np.uint8(_NONE))


_VALUES: dict[Op, Callable[..., Values]] = {
    Op.ADD: lambda a, b, carry: a.astype(np.uint16) + b + (carry & 1),
    Op.AND: np.bitwise_and,
    Op.OR: np.bitwise_or,
    Op.XOR: np.bitwise_xor,
    Op.NOT: np.invert,
    Op.UP: lambda a, into: a << 1 | into & 1,
    Op.TOP: lambda a: _bit(a & 0x80),
    Op.DOWN: lambda a, into: a >> 1 | into & 0x80,
    Op.BOTTOM: lambda a: _bit(a & 1),
}
"""Values of steps from bytes; of a sum all nine bits, for the carry."""


def _is_known(state: State) -> bool:
    """Return whether a state is known in every lane."""
    return isinstance(state, int) and state == _KNOWN


def _select(where: Found, a: Found, b: Found) -> Found:
    """Return a where a mask is set, else b; where the mask is unknown, the value on which both agree."""
    mask, known = where
    (a_values, a_state), (b_values, b_state) = a, b
    if _is_known(known) and mask.size == 1:
        return a if mask[0, 0] else b
    values = np.where(mask, a_values, b_values)
    if _is_known(known):
        same = isinstance(a_state, int) and isinstance(b_state, int) and a_state == b_state
        return values, a_state if same else _simple(np.where(mask, a_state, b_state))
    a_states, b_states = np.asarray(a_state), np.asarray(b_state)
    alike = (a_states == b_states) & ((a_states != _KNOWN) | (a_values == b_values))
    both = np.where(alike, a_states, _UNKNOWN)
    return values, _simple(np.where(np.asarray(known) == _KNOWN, np.where(mask, a_states, b_states), both))


def _logic(a: Found, b: Found, strong: int, weak: int) -> State:
    """Return the state of a conjunction (``strong`` is 0) or a disjunction (255) of words that are not all known."""
    a_values, a_states = a[0], np.asarray(a[1])
    b_values, b_states = b[0], np.asarray(b[1])
    a_known, b_known = a_states == _KNOWN, b_states == _KNOWN
    decided = (a_known & b_known) | (a_known & (a_values == strong)) | (b_known & (b_values == strong))
    other = np.where(a_states == b_states, a_states, _UNKNOWN)
    other = np.where(b_known & (b_values == weak), a_states, other)
    other = np.where(a_known & (a_values == weak), b_states, other)
    return _simple(np.where(decided, _KNOWN, other))


def _simple(states: NDArray[np.int32]) -> State:
    """Return a state as one number where it is the same in every lane."""
    first = int(states[0, 0])
    return first if (states == first).all() else states.astype(np.int32)


def _source(state: State) -> int:
    """Return the one row whose former bytes a value is where it is not known: its place, ``_KNOWN`` or ``_UNKNOWN``."""
    if isinstance(state, int):
        return state
    others = state[state != _KNOWN]
    return int(others[0]) if (others == others[0]).all() else _UNKNOWN
