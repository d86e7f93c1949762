"""The macro engine, and the digests of the routines for which it has kernels.

A digest is listed once `tests/kernels` has compared the kernel with the routine's microcode; the same tests assemble
the library and compare the digests. The digest of a routine depends on its instruction words alone, not on its name,
the names of its parameters or the address of its scratch memory. A routine without a digest here runs as microcode.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from pixelflow.isa import EncodingError, Program, Routine, Unit
from pixelflow.isa.control import RET, START
from pixelflow.node.kernels.float_kernel import Call, Kernel, KernelOperation
from pixelflow.node.kernels.folding import Following, folded
from pixelflow.node.kernels.fusing import FusedItem, fused, pieces
from pixelflow.node.kernels.kept_rows import Kept, Motion, Tiles, comparing, keep, keep_folded, keep_shared
from pixelflow.simd.isa.operands import Mem
from pixelflow.simd.lanes import Shape
from pixelflow.simd.lanes.form import COORDINATES, FormStep, Op, Part, form_of
from pixelflow.simd.lanes.native.compiled_engine import CompiledAction, CompiledEngine
from pixelflow.simd.lanes.native.dispatch import ELSEWHERE, GO, GUARD
from pixelflow.simd.lanes.native.lowering import block_of, masks_read

# Operation, digests in the libraries plain and tuned.
_KNOWN = """
from_integer 20b01682f7613aa4bac93a96 a2f8b45d71b85ee7b69fcb4e
add 6c758aacc2fa89e1f4680a33 3cb5be366ca037e013c89148
add_finite aaf181bc39271cd2c7380034
subtract 5cab8110f0d90f193e86578c 81e8deff7adddfa05374635f
subtract_finite 7a6143a7aaefc496e00e78c8
multiply b4d5569d9df6dc68e43d4700 fd12c612c26c8247318a6b1e
multiply_finite cc752df210ab918b0d89c05b
divide 26c211a557fd5744c7ac28c0 2f5f1d1fa4ea21e08164297c
divide_finite 63d435e7c4596e981bf872a2
square_root 98f4e83a2b57f9f37067c346 94f98884e5bf6cb45ee571fb
square_root_finite e51edc4e8d5e1bd6b6339037
negate 2eda113ddf6c5b91ee450f46
absolute 9e31607eeb6ad8336f43c5cc
less f837f083dcbff235cf9543de
equal 04ec0621755f82558e46447a
to_integer 898c471b935995735c3beedf
"""

_FINITE = "_finite"


@cache
def known() -> dict[str, Kernel]:
    """Return the kernel of each digest."""
    found: dict[str, Kernel] = {}
    for line in _KNOWN.split("\n")[1:-1]:
        name, *digests = line.split()
        operation = KernelOperation(name.removesuffix(_FINITE))
        found |= dict.fromkeys(digests, Kernel(operation, name.endswith(_FINITE)))
    return found


def kernel_of(program: Program, routine: Routine) -> Kernel | None:
    """Return the kernel equal to a routine, or None."""
    return known().get(digest(program, routine) or "")


def digest(program: Program, routine: Routine) -> str | None:
    """Return a hash of a routine's instructions, with addresses relative to the start of its scratch memory.

    None for a routine that is not one piece of straight code from START to RET, or that touches memory other than its
    operands and one range of scratch.
    """
    instructions = program.by_kind
    first, end = program.index_of[routine.entry], program.index_of.get(routine.end, len(instructions))
    start, *body, last = [instructions[index] for index in range(first, end)]
    if start.declaration is not START or last.declaration is not RET or len(routine.scratch) > 1:
        return None
    at, size = routine.scratch[0] if routine.scratch else (0, 0)
    seen = hashlib.sha256()
    for instruction in body:
        if instruction.declaration.unit is not Unit.PE:
            return None
        moved = []
        for operand in instruction.operands:
            if isinstance(operand, Mem) and operand.base is None:
                operand = Mem(operand.offset - at)
                if not 0 <= operand.offset < size:
                    return None
            moved.append(operand)
        try:
            words = replace(instruction, operands=tuple(moved)).encode()
        except EncodingError:  # words that the assembler never makes
            return None
        for word in words:
            seen.update(word.to_bytes(4, "little"))
    return seen.hexdigest()[:24]


# The engine: the compiled one, with kernels for whole float routines.


_ASSUMED = ("E", "L")
"""Masks assumed to be full where a chain begins, as they are outside routines; a guard checks."""

_MOVE = form_of((FormStep(Op.LOAD, 8), FormStep(Op.STORE, 8, (0,), 1)))
"""The form of a move from row to row."""

_LOOK = form_of((FormStep(Op.LOAD, 8),))
"""The form of a read of a row."""

_WEIGHT = 25
"""Parts of a program that take about as long as a kernel."""


@dataclass(eq=False, slots=True)
class KernelAction(CompiledAction):
    """The action of a kernel; ``microcode`` gives the actions of the routine's own instructions."""

    call: Call = field(kw_only=True)
    microcode: Callable[[], Sequence[CompiledAction]] = tuple


@dataclass(eq=False, slots=True)
class ChainWithCalls(CompiledAction):
    """A chain with calls in it."""

    actions: tuple[CompiledAction, ...] = ()
    weight: int = 0
    """Of all of them (`_weight`)."""


class MacroEngine(CompiledEngine):
    """The compiled engine with kernels."""

    name = "macro"

    def __init__(self, shape: Shape, *, threads: int | None = None) -> None:
        self.known: dict[int, NDArray[np.uint8]] = {}
        """The contents of places that are the same in all runs: the coordinates."""
        self._folded: WeakSet[CompiledAction] = WeakSet()
        """Chains whose code follows from these."""
        super().__init__(shape, threads=threads)
        self._assumed = [self._place[name] for name in _ASSUMED]

    def kernel(self, call: Call, microcode: Callable[[], Sequence[CompiledAction]]) -> KernelAction | None:
        """Return the action that executes a call; None where no kernel can be made here.

        ``microcode`` is called where native code is lost later.
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
        """The rows of registers, flags and coordinates, by name."""
        return self._place

    @property
    def tiling(self) -> Tiles | None:
        """The layout of the lanes; None without native code, or where a tile has places without a lane."""
        if not self._is_native or len(self._memory) * self._tile != self.shape.lanes:
            return None
        return Tiles(self._address, self._memory.strides[0], self._tile, self._stride)

    def comparing(self, first: int | str, rows: NDArray[np.uint8], differs: NDArray[np.uint8]) -> Motion | None:
        """Return the action that sets ``differs[0]`` to 1 where rows starting at ``first``, or a flag, are not these.

        ``rows`` is uint8[row, lane]; a flag has one row, of 0 and 255. None where native code cannot be made.
        """
        tiles, place = self.tiling, self._place[first] if isinstance(first, str) else first
        return None if tiles is None else self.motion(keep(place, rows, tiles), differs)

    def motion(self, kept: Kept | None, differs: NDArray[np.uint8] | None = None) -> Motion | None:
        """Return the action that gives rows what is kept, or compares them; None where native code cannot be made."""
        tiles = self.tiling
        if kept is None or tiles is None:
            return None
        function = kept.placing if differs is None else comparing()
        try:
            self._native.compile([function])
        except RuntimeError:
            return None
        operands = kept.operands(tiles) + ([] if differs is None else [differs.ctypes.data])
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
        """Return code for the results of the first items, the masks that must be full, and the count of these items.

        None where too few items have a result that is known beforehand.
        """
        parts: list[Part] = []
        for item in items:
            if not isinstance(item.what, Part):
                break
            parts.append(item.what)
        tiles = self.tiling
        head = folded(parts, self.known, self._assumed, moves=True) if parts and self.known else None
        if head is None or tiles is None or (kept := keep_folded(head.rows, tiles)) is None:
            return None
        # Compiled at once, so that it need not wait for the rest of the chain.
        self._native.compile([each.placing for each in kept])
        code = array("q")
        for target, source in head.moves:
            code.extend(self._code(*block_of([Part(_MOVE, [source, target])], self._stride, frozenset())))
        for each in kept:
            code.extend([*self._code(each.placing, each.operands(tiles))])
        holds += kept
        return code, head.masks, head.count

    def _fused_items(self, items: Sequence[FusedItem], holds: list[object]) -> array[int]:
        parts = [item.what for item in items if isinstance(item.what, Part)]
        if len(parts) == len(items):
            return self._lines(parts)
        looks = [item.what if isinstance(item.what, Part) else Part(_LOOK, [item.mask]) for item in items]
        masks = masks_read(looks, self._assumed)
        code = array("q")
        for some, before in pieces(items, frozenset(masks)):
            code.extend(self._code(*fused(some, before, self._stride, self._native.tools.vectors)))
            code.append(_program(some, holds))
        return self._guarded(masks, items, code, holds)

    def _guarded(
        self, masks: Sequence[int], items: Sequence[FusedItem], code: array[int], holds: list[object]
    ) -> array[int]:
        """Return code for where masks are full, after a guard that has the items executed one by one elsewhere."""
        if not masks:
            return code
        plain = array("q", [ELSEWHERE, _program(items, holds), GO, len(code)])
        places = [masks[0] * self._stride, masks[-1] * self._stride]
        return array("q", [GUARD, *places, len(plain)]) + plain + code

    def set_coordinates(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
        super().set_coordinates(x, y)
        names = range(self._place[COORDINATES[0]], self._place[COORDINATES[-1]] + 1)
        known = {place: self.get_rows(place, 1)[0] for place in names}
        if any(place not in self.known or not np.array_equal(known[place], self.known[place]) for place in names):
            for action in self._folded:
                action.code = b"".join(item.code for item in self.items(action))
                action.uses, action.holds = 0, ()
            self._folded.clear()
            self.known = known  # last: after an interrupt, this is done again

    def items(self, action: CompiledAction) -> Iterator[FusedItem]:
        """Yield the parts and calls of an action."""
        for each in action.actions if isinstance(action, ChainWithCalls) else (action,):
            if isinstance(each, KernelAction):
                yield FusedItem(each.code, each.call, self._place[each.call.mask])
            else:
                for part in each.parts:
                    yield FusedItem(self._code(*block_of([part], self._stride, frozenset())).tobytes(), part)

    # --- repeated runs --------------------------------------------------------------------------------------

    def repeated_rows(
        self,
        asked: Sequence[tuple[int | str, NDArray[np.uint8]]],
        first: int,
        blocks: NDArray[np.uint8],
        source: NDArray[np.int64],
    ) -> RepeatedRows | None:
        """Return rows that are given where lanes ask the same; None where none are, or native code cannot be made.

        ``asked`` has consecutive rows, or a flag of 0 and 255: uint8[row, lane]. Given are ``blocks``, uint8[block,
        row], starting at row ``first``; ``source`` names the block of each lane, -1 for lanes that get none.
        """
        tiles, differs = self.tiling, np.zeros(1, np.uint8)
        if tiles is None:
            return None
        compare = _all_there(self.comparing(where, values, differs) for where, values in asked if len(values))
        place = self.motion(keep_shared(first, blocks, source, tiles))
        if place is None and (source >= 0).any():
            place = self.motion(keep(first, np.ascontiguousarray(blocks[source].T), tiles, source >= 0))
        return None if place is None or compare is None else RepeatedRows(self, asked, compare, differs, place)

    def one_piece(self) -> OnePiece | None:
        """Return a run of one piece without anything in it; None where native code cannot be made."""
        differs = np.zeros(1, np.uint8)
        full = np.full((1, self.shape.lanes), 0xFF, np.uint8)
        look = _all_there(self.comparing(mask, full, differs) for mask in _ASSUMED)
        return None if look is None else OnePiece(self, look, differs)

    @staticmethod
    def _is_long(actions: Sequence[CompiledAction]) -> bool:
        total = 0
        for action in actions:
            total += _weight(action)
            if total >= 1000:
                return True
        return False


def _program(items: Sequence[FusedItem], holds: list[object]) -> int:
    """Return the address of a program of items, which is held."""
    program = array("q", b"".join(item.code for item in items) + bytes(8))
    holds.append(program)
    return program.buffer_info()[0]


def _weight(action: CompiledAction) -> int:
    if isinstance(action, ChainWithCalls):
        return action.weight
    return _WEIGHT if isinstance(action, KernelAction) else len(action.parts)


# Repeated runs. Rows that are asked for in the same way as before are given at once. Where what the lanes ask follows
# from the program and the places of the lanes alone, the whole run is one piece of native code: only the masks with
# which it begins can make a difference.


@dataclass(eq=False, slots=True)
class RepeatedRows:
    """Rows that lanes ask for in the same way time and again, and what they are given each time."""

    engine: MacroEngine
    asked: Sequence[tuple[int | str, NDArray[np.uint8]]]
    """The question, as `MacroEngine.repeated_rows` takes it."""
    compare: tuple[Motion, ...]
    """Actions that look whether all that is asked is the same."""
    differs: NDArray[np.uint8]
    """The first byte is 1 after ``compare`` where lanes ask something else."""
    place: Motion
    """The action that puts what is given into its rows."""

    def is_asked(self) -> bool:
        """Return whether lanes ask for the same, after ``compare``."""
        return _is_same(self.engine, self.differs)

    @property
    def is_renewable(self) -> bool:
        """True if other blocks can be given."""
        return self.place.kept.blocks is not None

    def renew(self, blocks: NDArray[np.uint8]) -> bool:
        """Replace the blocks that are given: uint8[block, row]; returns False where that cannot be done."""
        if self.is_renewable:
            self.place.kept.renew(blocks)
        return self.is_renewable


class OnePiece:
    """A run as one program of the lanes, and the contents of lanes that are the same for any data."""

    def __init__(self, engine: MacroEngine, look: tuple[Motion, ...], differs: NDArray[np.uint8]) -> None:
        self._engine = engine
        self._look = look
        self._differs = differs
        masks = [engine.places[name] for name in _ASSUMED]
        self._following = Following(engine.shape.lanes, engine.known, masks, True)
        self._actions: list[CompiledAction] = []

    def follow(self, actions: Iterable[CompiledAction]) -> None:
        """Add actions."""
        for action in actions:
            self._actions.append(action)
            for item in self._engine.items(action):
                if isinstance(item.what, Part):
                    self._following.carry_out(item.what)
                    continue
                # Nothing is known of what a call writes, or leaves undefined.
                for name in item.what.left:
                    self._following.forget(self._engine.places[name])
                self._forget(*item.what.places[0])
                self._forget(*item.what.scratch)

    def _forget(self, first: int, count: int) -> None:
        for row in range(first, first + count):
            self._following.forget(row)

    def asks(self, rows: RepeatedRows) -> bool:
        """Return whether it is known that here the lanes ask the same, whatever their data are."""
        return all(
            self._following.holds((self._engine.places[first] if isinstance(first, str) else first) + index, row)
            for first, values in rows.asked
            for index, row in enumerate(values)
        )

    def give(self, rows: RepeatedRows) -> None:
        """Add that rows are given."""
        self._actions.append(rows.place)
        self._forget(rows.place.kept.first, rows.place.kept.values.shape[1])

    def run(self) -> bool:
        """Make the run, where the masks are full; return whether it was made."""
        self._engine.run(self._look)
        if not _is_same(self._engine, self._differs):
            return False
        self._engine.run(self._actions)
        return True


def _all_there(motions: Iterable[Motion | None]) -> tuple[Motion, ...] | None:
    """Return motions of which none is missing, else None."""
    found = tuple(motions)
    there = tuple(each for each in found if each is not None)
    return there if len(there) == len(found) else None


def _is_same(engine: MacroEngine, differs: NDArray[np.uint8]) -> bool:
    """Return whether nothing has differed; cleared for the next comparison."""
    engine.settle()
    same = not differs[0]
    differs[0] = 0
    return same
