"""The macro engine: the compiled engine, which carries out whole float routines by kernels besides.

Checked, it also carries out the microcode of every routine, from the same state, and compares; and it fills what the
routine may leave with anything, so that a program that relies on that shows.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.parts.kernels.floats.kernel import Call
from pixelflow.node.parts.kernels.folding import folded
from pixelflow.node.parts.kernels.fusing import FusedItem, fused, pieces
from pixelflow.node.parts.kernels.moving import (
    Kept,
    Motion,
    Tiles,
    comparing,
    keep_all,
    keep_folded,
    keep_shared,
    keep_some,
)
from pixelflow.node.parts.kernels.repeats import MacroRepeats
from pixelflow.simd.errors import InternalError
from pixelflow.simd.lanes import Shape
from pixelflow.simd.lanes.compiled import CompiledEngine
from pixelflow.simd.lanes.compiled.blocks import block_of
from pixelflow.simd.lanes.compiled.engine import CompiledAction
from pixelflow.simd.lanes.compiled.masks import masks_read
from pixelflow.simd.lanes.compiled.native import ELSEWHERE, GO, GUARD, Foreign
from pixelflow.simd.lanes.form import COORDINATES, FormStep, Op, Part, form_of

__all__ = ["FILLING", "MacroEngine"]

FILLING = 0xA5
"""What scratch memory and registers hold after a checked kernel, in the PEs that the caller enabled."""

_ASSUMED = ("E", "L")
"""Masks that are taken to be full where a chain begins, as they are outside routines; a guard looks."""

_MOVE = form_of((FormStep(Op.LOAD, 8), FormStep(Op.STORE, 8, (0,), 1)))
"""The form of a move from row to row."""

_LOOK = form_of((FormStep(Op.LOAD, 8),))
"""The form of a look at a row."""

_WEIGHT = 25
"""Parts of a program that take about as long as a kernel."""


@dataclass(eq=False, slots=True)
class KernelAction(CompiledAction):
    """The action of a kernel; ``microcode`` gives the actions of the routine's own instructions."""

    call: Call | None = None
    microcode: Callable[[], Sequence[CompiledAction]] = tuple


@dataclass(eq=False, slots=True)
class ChainWithCalls(CompiledAction):
    """A chain with calls in it."""

    actions: tuple[CompiledAction, ...] = ()
    weight: int = 0
    """Of all of them (`_weight`)."""


class MacroEngine(CompiledEngine):
    """The compiled engine with kernels; ``checked`` compares each with the microcode."""

    name = "macro"

    def __init__(self, shape: Shape, *, threads: int | None = None, checked: bool = False) -> None:
        self.known: dict[int, NDArray[np.uint8]] = {}
        """What places hold in all runs: the coordinates."""
        self._folded: WeakSet[CompiledAction] = WeakSet()
        """Chains whose code follows from that."""
        super().__init__(shape, threads=threads)
        self._assumed = [self._place[name] for name in _ASSUMED]
        self.checked = checked
        self.kernels = self
        if checked:
            self.name = "macro-checked"
        else:
            self.repeats = MacroRepeats(self)

    def kernel(self, call: Call, microcode: Callable[[], Sequence[CompiledAction]]) -> KernelAction | None:
        """Return the action that carries out a call; None where no kernel can be made here.

        ``microcode`` is called where the kernel is checked, and where native code is lost later.
        """
        function = call.kernel.function
        try:
            # By itself, so that what is kept on disk serves every program.
            self._native.compile([function])
        except RuntimeError:
            return None
        rows = [self._place[call.mask], call.result, *call.operands]
        code = array("q", [self._native.number(function), self._stride, *(row * self._stride for row in rows)])
        return KernelAction([], code.tobytes(), call=call, microcode=microcode)

    def _parts(self, action: CompiledAction) -> Sequence[Part]:
        if isinstance(action, KernelAction):
            return [part for each in action.microcode() for part in each.parts]
        if isinstance(action, ChainWithCalls):
            return [part for each in action.actions for part in self._parts(each)]
        return super()._parts(action)

    # --- bytes that are kept --------------------------------------------------------------------------------

    @property
    def places(self) -> dict[str, int]:
        """Where registers, flags and coordinates lie, by name."""
        return self._place

    @property
    def _tiles(self) -> Tiles:
        return Tiles(self._address, self._memory.strides[0], self._tile, self._stride)

    def placing(self, first: int, rows: NDArray[np.uint8], served: NDArray[np.bool_]) -> CompiledAction | None:
        """Return the action that gives rows from ``first`` on these bytes, in the lanes that are served.

        ``rows`` is uint8[row, lane]. None where lanes are served that native code cannot go through quickly.
        """
        if not self._is_whole or (kept := keep_some(first, rows, served, self._tiles)) is None:
            return None
        return self._motion(kept.placing, kept)

    def placing_shared(self, first: int, blocks: NDArray[np.uint8], source: NDArray[np.int64]) -> Motion | None:
        """Return the action that gives every lane the bytes of a block, uint8[block, row], from row ``first`` on.

        ``source`` names the block of each lane, -1 for lanes that get none. None as for `placing`.
        """
        if not self._is_whole or (kept := keep_shared(first, blocks, source, self._tiles)) is None:
            return None
        return self._motion(kept.placing, kept)

    def comparing(self, first: int | str, rows: NDArray[np.uint8], differs: NDArray[np.uint8]) -> CompiledAction | None:
        """Return the action that sets ``differs[0]`` to 1 where rows from ``first`` on, or a flag, are not these.

        ``rows`` is uint8[row, lane]; a flag has one row, of 0 and 255. None where native code cannot be made.
        """
        if not self._is_whole:
            return None
        kept = keep_all(self._place[first] if isinstance(first, str) else first, rows, self._tiles)
        return self._motion(comparing(), kept, differs)

    @property
    def _is_whole(self) -> bool:
        """Whether there is native code, and no tile has lanes that are none."""
        return self._is_native and len(self._memory) * self._tile == self.shape.lanes

    def _motion(self, function: Foreign, kept: Kept, differs: NDArray[np.uint8] | None = None) -> CompiledAction | None:
        try:
            self._native.compile([function])
        except RuntimeError:
            return None
        operands = kept.operands(self._tiles) + ([] if differs is None else [differs.ctypes.data])
        code = array("q", [self._native.number(function), *operands])
        return Motion([], code.tobytes(), kept=kept, differs=differs)

    def _carry_out(self, action: CompiledAction) -> None:
        if isinstance(action, Motion):
            rows = slice(action.kept.first, action.kept.first + action.kept.values.shape[1])
            action.kept.carry_out(self._memory[:, rows, : self._tile], action.differs)
        else:
            super()._carry_out(action)

    # --- chains with calls ----------------------------------------------------------------------------------

    def chain(self, actions: Iterable[CompiledAction]) -> CompiledAction:
        flat: list[CompiledAction] = []
        for action in actions:
            flat += action.actions if isinstance(action, ChainWithCalls) else [action]
        if not any(isinstance(action, KernelAction) for action in flat):
            chain = super().chain(flat)
        elif self.checked:
            raise InternalError("kernels that are checked are carried out one by one")
        else:
            self._counts = True
            code, holds = b"".join(action.code for action in flat), [action.holds for action in flat if action.holds]
            chain = ChainWithCalls([], code, 0, holds, tuple(flat), sum(map(_weight, flat)))
        if any(action in self._folded for action in flat):
            self._folded.add(chain)
        return chain

    def _fused_code(self, action: CompiledAction) -> tuple[array[int], *tuple[object, ...]]:
        items = list(self.items(action))
        holds: list[object] = []
        head = self._head(items, holds)
        if head is None:
            return (self._fused_items(items, holds), *holds)
        self._folded.add(action)
        code, masks, count = head
        code.extend(self._fused_items(items[count:], holds))
        return (self._guarded(masks, items, code, holds) if masks else code, *holds)

    def _head(self, items: Sequence[FusedItem], holds: list[object]) -> tuple[array[int], Sequence[int], int] | None:
        """Return code for what the first of these items leave, the masks that must be full, and how many they are.

        None where they leave what nobody can know, or where too few do not.
        """
        first = next((at for at, item in enumerate(items) if item.part is None), len(items))
        masks = [self._place[name] for name in _ASSUMED]
        worth = first and self.known
        head = folded([item.part for item in items[:first]], self.known, masks, moves=True) if worth else None
        kept = None if head is None or not self._is_whole else keep_folded(head.rows, self._tiles)
        if kept is None:
            return None
        # Compiled at once, so that it need not wait for what else the chain wants.
        self._native.compile([each.placing for each in kept])
        code = array("q")
        for target, source in head.moves:
            code.extend(self._code(*block_of([Part(_MOVE, [source, target])], self._stride, frozenset())))
        for each in kept:
            code.extend([*self._code(each.placing, each.operands(self._tiles))])
        holds += kept
        return code, head.masks, head.count

    def _fused_items(self, items: Sequence[FusedItem], holds: list[object]) -> array[int]:
        if all(item.part is not None for item in items):
            return self._lines([item.part for item in items])
        if not all(item.fits for item in items):
            return array("q", [ELSEWHERE, _program(items, holds)])
        masks = masks_read([item.part or Part(_LOOK, [item.mask]) for item in items], self._assumed)
        code = array("q")
        for some, before in pieces(items, frozenset(masks)):
            code.extend(self._code(*fused(some, before, self._stride, self._native.tools.vectors)))
            code.append(_program(some, holds))
        return self._guarded(masks, items, code, holds)

    def _guarded(
        self, masks: Sequence[int], items: Sequence[FusedItem], code: array[int], holds: list[object]
    ) -> array[int]:
        """Return code for where masks are full, after a guard that has the items carried out one by one elsewhere."""
        if not masks:
            return code
        plain = array("q", [ELSEWHERE, _program(items, holds), GO, len(code)])
        places = [masks[0] * self._stride, masks[-1] * self._stride]
        return array("q", [GUARD, *places, len(plain)]) + plain + code

    def set_coordinates(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
        super().set_coordinates(x, y)
        names = range(self._place[COORDINATES[0]], self._place[COORDINATES[-1]] + 1)
        known = {place: self.get_rows(place, 1)[0] for place in names}
        if any(not np.array_equal(known[place], self.known.get(place)) for place in names):
            for action in self._folded:
                action.code = b"".join(item.code for item in self.items(action))
                action.uses, action.holds = 0, ()
            self._folded.clear()
            self.known = known  # last: after an interrupt, this is done again

    def items(self, action: CompiledAction) -> Iterator[FusedItem]:
        """Yield the parts and calls of an action."""
        for each in action.actions if isinstance(action, ChainWithCalls) else (action,):
            if isinstance(each, KernelAction):
                yield FusedItem(each.code, call=each.call, mask=self._place[each.call.mask])
            else:
                for part in each.parts:
                    yield FusedItem(self._code(*block_of([part], self._stride, frozenset())).tobytes(), part)

    def run(self, actions: Iterable[CompiledAction]) -> None:
        actions = tuple(actions)
        if not self.checked:
            super().run(actions)
            return
        before: list[CompiledAction] = []
        for action in actions:
            if not isinstance(action, KernelAction):
                before.append(action)
                continue
            super().run(before)
            before.clear()
            self._check(action)
        super().run(before)

    @staticmethod
    def _is_long(actions: Sequence[CompiledAction]) -> bool:
        total = 0
        for action in actions:
            total += _weight(action)
            if total >= 1000:
                return True
        return False

    # --- checking -------------------------------------------------------------------------------------------

    def _check(self, action: KernelAction) -> None:
        """Carry out a call by microcode and by its kernel; raises InternalError where the results differ.

        The state after the call is that of the kernel, with what the routine leaves with anything filled.
        """
        call, before = action.call, self.snapshot()
        super().run(action.microcode())
        expected = self.snapshot()
        self.restore(before)
        super().run([action])
        enabled = before[call.mask]
        first, count = call.scratch
        rows, wanted = self.get_rows(0, self.shape.rows), expected["rows"]
        other = np.ones(self.shape.rows, bool)
        other[first : first + count] = False
        wrong = np.flatnonzero((rows[other] != wanted[other]).any(axis=0))
        if len(wrong):
            lane = int(wrong[0])
            operands = ", ".join(
                _pattern(before["rows"][at : at + call.kernel.operand_bytes, lane]) for at in call.operands
            )
            size = slice(call.result, call.result + call.kernel.result_bytes)
            raise InternalError(
                f"kernel {call.kernel.operation.value} of {operands} gives {_pattern(rows[size, lane])}, "
                f"its microcode {_pattern(wanted[size, lane])} (lane {lane}; {len(wrong)} lanes differ)"
            )
        rows[first : first + count, enabled] = FILLING
        self.set_rows(0, rows)
        for name in call.left:
            if name in self.shape.words:
                self.set_word(name, np.where(enabled, np.uint8(FILLING), self.get_word(name)))
            else:
                self.set_bit(name, np.where(enabled, True, self.get_bit(name)))


def _program(items: Sequence[FusedItem], holds: list[object]) -> int:
    """Return the address of a program of items, which is held."""
    program = array("q", b"".join(item.code for item in items) + bytes(8))
    holds.append(program)
    return program.buffer_info()[0]


def _weight(action: CompiledAction) -> int:
    if isinstance(action, ChainWithCalls):
        return action.weight
    return _WEIGHT if isinstance(action, KernelAction) else len(action.parts)


def _pattern(row: np.ndarray) -> str:
    return row[::-1].tobytes().hex()
