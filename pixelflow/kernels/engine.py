"""The macro engine: the compiled engine, which carries out whole float routines by kernels besides.

Checked, it also carries out the microcode of every routine, from the same state, and compares; and it fills what the
routine may leave with anything, so that a program that relies on that shows.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.errors import InternalError
from pixelflow.kernels.kernel import Kernel
from pixelflow.lanes import Shape
from pixelflow.lanes.compiled import CompiledEngine
from pixelflow.lanes.compiled.engine import CompiledAction
from pixelflow.lanes.compiled.trace import Part

__all__ = ["FILLING", "Call", "MacroEngine"]

FILLING = 0xA5
"""What scratch memory and registers hold after a checked kernel, in the PEs that the caller enabled."""

_WEIGHT = 25
"""Parts of a program that take about as long as a kernel."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a routine with a kernel: rows of the result, of the operands and of scratch (first, count).

    ``mask`` is the flag that enables the call, ``left`` what the routine leaves with anything besides scratch.
    """

    kernel: Kernel
    mask: str
    result: int
    operands: tuple[int, ...]
    scratch: tuple[int, int]
    left: tuple[str, ...]

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """All rows that the routine touches, as (first, count): those of the result first, those of scratch last."""
        operands = ((each, self.kernel.operand_bytes) for each in self.operands)
        return ((self.result, self.kernel.result_bytes), *operands, self.scratch)

    @property
    def possible(self) -> bool:
        """Whether the operands, the result and scratch lie as the routine's contract asks."""
        *places, (first, count) = self.places
        apart = all(at + size <= first or first + count <= at for at, size in places)
        return (apart or not count) and self.kernel.fits(self.result, self.operands)


@dataclass(eq=False, slots=True)
class KernelAction(CompiledAction):
    """The action of a kernel; ``microcode`` gives the actions of the routine's own instructions."""

    call: Call | None = None
    microcode: Callable[[], Sequence[CompiledAction]] = tuple


class MacroEngine(CompiledEngine):
    """The compiled engine with kernels; ``checked`` compares each with the microcode."""

    name = "macro"

    def __init__(self, shape: Shape, *, threads: int | None = None, checked: bool = False) -> None:
        super().__init__(shape, threads=threads)
        self.checked = checked
        if checked:
            self.name = "macro-checked"

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
        return KernelAction([], code.tobytes(), None, call, microcode)

    def joined(self, actions: Iterable[CompiledAction]) -> list[CompiledAction]:
        """Return fewer actions that carry out the same; chains stay as they are, as their uses are counted."""
        found: list[CompiledAction] = []
        alike: list[CompiledAction] = []
        for action in (*actions, None):
            if action is not None and action.uses is None and not isinstance(action, KernelAction):
                alike.append(action)
                continue
            if alike:
                parts = [part for each in alike for part in each.parts]
                found.append(CompiledAction(parts, b"".join(each.code for each in alike)))
                alike.clear()
            if action is not None:
                found.append(action)
        return found

    def _parts(self, action: CompiledAction) -> Sequence[Part]:
        if isinstance(action, KernelAction):
            return [part for each in action.microcode() for part in each.parts]
        return super()._parts(action)

    def chain(self, actions: Iterable[CompiledAction]) -> CompiledAction:
        actions = tuple(actions)
        if any(isinstance(action, KernelAction) for action in actions):
            raise InternalError("kernels are no part of a chain: they would be lost where it is fused")
        return super().chain(actions)

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
            total += _WEIGHT if isinstance(action, KernelAction) else len(action.parts)
            if total >= 1000:
                return True
        return False

    # --- checking -------------------------------------------------------------------------------------------

    def _check(self, action: KernelAction) -> None:
        """Carry out a call by microcode and by its kernel; raises InternalError where the results differ.

        The state behind the call is that of the kernel, with what the routine leaves with anything filled.
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


def _pattern(row: np.ndarray) -> str:
    return row[::-1].tobytes().hex()
