"""The engine that compiles: a meaning's form as native vector code, looped over tiles of lanes.

State is ``uint8[tile, place, lane of the tile]``; a place is a row, a register, a flag or a byte of the coordinates.
The code of an action is a list of 64-bit words: the number of a function, the operands that it takes, the next number.
A program is the code of its actions, one after the other, and a zero.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import lcm
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.compiled.blocks import Block, Slotted, parts_of, slots_of, slotted
from pixelflow.simd.lanes.compiled.llvm.dispatch import ELSEWHERE, GO, GUARD
from pixelflow.simd.lanes.compiled.masks import full_after, masks_read
from pixelflow.simd.lanes.compiled.native import native
from pixelflow.simd.lanes.compiled.templates import CompiledTemplate, LazyParts, filled, template_of
from pixelflow.simd.lanes.compiled.threads.team import Team, Work
from pixelflow.simd.lanes.engine import Engine, Meaning, Numbered
from pixelflow.simd.lanes.form import COORDINATES, Form, Part, places_of
from pixelflow.simd.lanes.form.interpreter import Interpreter
from pixelflow.simd.lanes.form.steps import coordinate_bytes
from pixelflow.simd.lanes.shape import Shape
from pixelflow.simd.workers import usable_threads

__all__ = ["CompiledAction", "CompiledEngine"]

_ALIGNMENT = 64
_TILE = 2048
"""Lanes that a native loop works on before the next block, at most."""

_BLOCK = 24
"""Parts that are fused into one loop: what one meaning leaves in registers the next one finds there."""

Formed = tuple[Sequence[Part], Slotted, list[int], dict[int, int]]
"""Parts of a block, and what `slotted` returns for them."""

_FETCH_AFTER = 64
"""Uses of a chain after which looking for its fused code on disk pays."""

_COMPILE_AFTER = 4096
"""Uses after which compiling its fused code pays: till then, the time that it would have saved is what it costs."""

_APART = 32
"""Runs between two chains that are fused of themselves, so that of many that come together no run waits for all."""

_SHARE_FROM = 1000
"""Parts of a program from which on more than one thread works on it."""

_START_THREADS_AFTER = 0.01
"""Seconds of such programs after which there are other threads: their native code takes some milliseconds to make."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class CompiledAction:
    """What an action carries out, and its code."""

    parts: Sequence[Part]
    code: bytes
    uses: int | None = None
    """How often a chain was run; None for what is fused, or never will be."""
    holds: Sequence[object] = ()
    """What must be there as long as the code, because it names addresses in it."""


class CompiledEngine(Engine):
    """The algebra compiled once per form of meaning.

    ``width`` is the size of the vectors in bytes, None the host's. ``threads`` is how many may work at once, None as
    many as there are processors for this process; every number gives the same bits.
    """

    name = "compiled"

    def __init__(self, shape: Shape, width: int | None = None, threads: int | None = None) -> None:
        super().__init__(shape)
        if shape.bits != 8:
            raise ValueError(f"the compiled engine serves words of 8 bits, not of {shape.bits}")
        self._place = places_of(shape)
        places = shape.rows + len(self._place)
        step = lcm(_ALIGNMENT, shape.group)
        if step > _TILE:
            raise ValueError(f"groups of {shape.group} lanes do not fit a tile of {_TILE}")
        self._tile = min(_TILE // step, -(-shape.lanes // step)) * step
        tiles = -(-shape.lanes // self._tile)
        # One vector more than the tile, so that rows of the same lanes do not all meet in a few sets of the cache.
        self._stride = self._tile + _ALIGNMENT
        memory = np.zeros(tiles * places * self._stride + _ALIGNMENT, np.uint8)
        first = -memory.ctypes.data % _ALIGNMENT
        self._address = memory.ctypes.data + first
        self._memory = memory[first : first + tiles * places * self._stride].reshape(tiles, places, self._stride)
        self._masks = [self._place[name] for name in shape.masks]
        self._native = native(width)
        self.threads = usable_threads() if threads is None else threads
        """How many threads may work at once; may be changed at any time."""
        self._small: dict[tuple[Form, tuple[int, ...]], int] = {}
        """Numbers of the functions of one part, by its form and its slots."""
        self.background = self
        self._team: Team | None = None
        """Who may be at work on the last run, once there has been one for several threads."""
        self._alone = 0.0
        """Seconds that long runs have taken on one thread."""
        self._counts = False
        """Whether there are chains, whose uses are counted."""
        self._apart = _APART
        self._wanted: list[Block] = []
        """Blocks of which there is code, but no function yet."""
        self.falls_back = True
        """Whether numpy goes on, on the same state, where native code cannot be made; else that is an error."""
        self._is_native = self._fuses = True
        self._interpreter: Interpreter | None = None
        """What goes on then."""

    # --- carrying out ---------------------------------------------------------------------------------------

    def prepare(self, meaning: Meaning) -> CompiledAction:
        parts = parts_of(meaning, self._place)
        words: list[int] = []
        for part in parts:
            slots, operands = slots_of(part, self._stride)
            words.append(self._number(part.form, slots))
            words += operands
        return CompiledAction(parts, array("q", words).tobytes())

    def _number(self, form: Form, slots: tuple[int, ...]) -> int:
        """Return the number of the function of one part; where it has not been compiled yet, that is noted once."""
        key = form, slots
        number = self._small.get(key)
        if number is None:
            block = Block((key,))
            number = self._small[key] = self._native.number(block)
            if not self._native.addresses[number]:
                self._wanted.append(block)
        return number

    def template(self, meaning: Numbered, numbers: int) -> CompiledTemplate:
        return template_of(meaning, numbers, lambda given: self._words(meaning(given)))

    def _words(self, meaning: Meaning) -> tuple[Sequence[Part], NDArray[np.int64]]:
        """Return the parts of a meaning, and its code as words."""
        action = self.prepare(meaning)
        return action.parts, np.frombuffer(action.code, np.int64)

    def prepare_all(
        self, templates: Sequence[CompiledTemplate], which: NDArray[np.intp], numbers: NDArray[np.int64]
    ) -> CompiledAction:
        def one(kind: int, row: Sequence[int]) -> Sequence[Part]:
            return parts_of(templates[kind].meaning(row[: templates[kind].numbers]), self._place)

        def parts() -> list[Part]:
            rows = zip(which.tolist(), numbers.tolist(), strict=True)
            return [part for kind, row in rows for part in one(kind, row)]

        code, count = filled(templates, which, numbers, lambda each, row: self._words(each.meaning(row)))
        return CompiledAction(LazyParts(count, parts), code.tobytes())

    def chain(self, actions: Iterable[CompiledAction]) -> CompiledAction:
        actions = tuple(actions)
        each = [action.parts for action in actions]  # not the actions: their code may go
        parts = LazyParts(sum(map(len, each)), lambda: [part for parts in each for part in parts])
        self._counts = True
        # Chains among them may have been fused already: their code names addresses.
        holds = [action.holds for action in actions if action.holds]
        return CompiledAction(parts, b"".join(action.code for action in actions), 0, holds)

    def _code(self, block: Block, operands: list[int]) -> array[int]:
        """Return the code of one block."""
        number = self._native.number(block)
        if not self._native.addresses[number]:
            self._wanted.append(block)
        return array("q", [number, *operands])

    def run(self, actions: Iterable[CompiledAction]) -> None:
        actions = tuple(actions)
        if self._counts:
            self._count(actions)
        ready = self._is_ready()
        self.settle()
        if not ready:
            for action in actions:
                self._carry_out(action)
            return
        code = b"".join([action.code for action in actions]) + bytes(8)
        tiles, table = len(self._memory), self._native.addresses.buffer_info()[0]
        work = (self._address, tiles, self._memory.strides[0], self._tile, code, table)
        if not (self.threads > 1 and tiles > 1 and self._is_long(actions)):
            self._native.dispatch(*work)
        elif self._alone < _START_THREADS_AFTER or not self._share(work, actions):
            begin = perf_counter()
            self._native.dispatch(*work)
            self._alone += perf_counter() - begin
        self._native.spend(len(code) * len(self._memory))

    def _share(self, work: Work, actions: Sequence[CompiledAction]) -> bool:
        """Begin a run on several threads; return False where that cannot be."""
        try:
            self._team = self._native.team
        except RuntimeError as error:  # LLVM or the loader refuse
            self.threads = 1
            _tell(error, "one thread goes on")
            return False
        return self._team.start(self, work, actions, self.threads)

    def settle(self) -> None:
        """Return when other threads have done their share of everything that was run."""
        if self._team is not None:
            self._team.settle(self)

    def _is_ready(self) -> bool:
        """Compile what is wanted; return whether there is native code of everything."""
        if (self._wanted or not self._native.dispatch) and self._is_native:
            try:
                self._native.compile(self._wanted)
            except Exception as error:  # whatever LLVM, the loader or the disk find wrong
                if not self.falls_back:
                    raise
                self._is_native = self._fuses = False
                _tell(error, "numpy carries out what follows")
        self._wanted.clear()
        return self._is_native

    def _carry_out(self, action: CompiledAction) -> None:
        """Carry out an action without native code."""
        if self._interpreter is None:
            rows = self._memory[:, :, : self._tile].transpose(1, 0, 2)
            self._interpreter = Interpreter(rows, self.shape.group, [self._place[name] for name in COORDINATES])
        for part in self._parts(action):
            for call in self._interpreter.bind(part):
                call()

    def _parts(self, action: CompiledAction) -> Sequence[Part]:
        """Return what an action carries out, for where there is no native code."""
        if action.code and not action.parts:
            raise RuntimeError("an action that is nothing but native code cannot do without")
        return action.parts

    def take_care(self) -> None:
        """Compile with care, now, what was compiled in haste."""
        self._native.take_care()

    @staticmethod
    def _is_long(actions: Sequence[CompiledAction]) -> bool:
        """Return whether a program takes much longer than it takes to wake other threads."""
        return sum(len(action.parts) for action in actions[:_SHARE_FROM]) >= _SHARE_FROM

    # --- fusing ---------------------------------------------------------------------------------------------

    def _count(self, actions: Iterable[CompiledAction]) -> None:
        """Count the uses of chains that are not fused yet, and fuse those that have been used often enough."""
        self._apart += 1
        for action in actions:
            due = action.uses is not None and action.uses + 1 in (_FETCH_AFTER, _COMPILE_AFTER)
            if action.uses is None or (due and self._apart <= _APART):
                continue  # due ones have their turn in a later run
            action.uses += 1
            self._apart = 0 if due else self._apart
            if action.uses == _FETCH_AFTER:
                self._fuse(action, self._native.fetch)
            elif action.uses == _COMPILE_AFTER:
                self.fuse(action)

    def fuse(self, action: CompiledAction) -> None:
        """Carry out an action that `chain` returned by fused blocks from now on, whatever compiling them costs."""
        self._fuse(action, self._native.compile)

    def _fuse(self, action: CompiledAction, get: Callable[[list[Block]], bool]) -> None:
        """Give a chain fused code, where ``get`` can provide the blocks."""
        if not self._fuses:
            return
        wanted = len(self._wanted)
        try:
            code, *holds = self._fused_code(action)
            if get(self._wanted[wanted:]):
                # Long code stays where it is: a program names its address.
                code.append(0)
                short = array("q", [ELSEWHERE, code.buffer_info()[0]]).tobytes()
                self.settle()  # others may be in the code that this one takes the place of
                action.code, action.uses, action.holds = short, None, (code, *holds)
        except Exception as error:  # as above; the code of the parts one by one is there
            if not self.falls_back:
                raise
            self._fuses = False
            _tell(error, "chains are interpreted")
        del self._wanted[wanted:]

    def _fused_code(self, action: CompiledAction) -> tuple[array[int], *tuple[object, ...]]:
        """Return fused code for a chain, and what it names addresses in; what it wants compiled is noted."""
        return (self._lines(action.parts),)

    def _lines(self, parts: Sequence[Part]) -> array[int]:
        """Return two lines of blocks: after a guard the one for any masks, then the one for masks that are full."""
        masks = masks_read(parts, self._masks)[:2]
        if not masks:
            return self._line(self._forms(parts), frozenset())
        places = [masks[0] * self._stride, masks[-1] * self._stride]
        forms = self._forms(parts)
        some, full = self._line(forms, frozenset()), self._line(forms, frozenset(masks))
        some.extend([GO, len(full)])
        return array("q", [GUARD, *places, len(some)]) + some + full

    def _line(self, forms: list[Formed], full: frozenset[int]) -> array[int]:
        """Return the blocks of a chain, each with what is known of the masks before it."""
        code = array("q")
        for block in self._blocks(forms, full):
            code.extend(self._code(*block))
        return code

    def _forms(self, parts: Sequence[Part]) -> list[Formed]:
        """Return the parts of each block of a chain, and their forms with slots."""
        chunks = (parts[at : at + _BLOCK] for at in range(0, len(parts), _BLOCK))
        return [(some, *slotted(some, self._stride)) for some in chunks]

    @staticmethod
    def _blocks(forms: list[Formed], full: frozenset[int]) -> Iterator[tuple[Block, list[int]]]:
        """Yield the blocks of a chain and their operands."""
        for parts, form, operands, slot_of in forms:
            yield Block(form, tuple(slot for row, slot in slot_of.items() if row in full)), operands
            for part in parts:
                full = full_after(part, full)

    def vector_operations(self, action: CompiledAction) -> int:
        """Return how many vector instructions carry a fused chain out on one tile, where all masks are full.

        HowCounted from the text of the native code (`llvm.limit`), which is made for this.
        """
        from pixelflow.simd.lanes.compiled.llvm.limit import vector_operations

        counts: dict[Block, int] = {}
        total = 0
        for block, _ in self._blocks(self._forms(action.parts), frozenset(masks_read(action.parts, self._masks)[:2])):
            if block not in counts:
                counts[block] = vector_operations(self._native.assembly(block))
            total += counts[block]
        return total * self._tile // self._native.tools.vectors.width

    @property
    def additions_per_second(self) -> float:
        """How many vectors of bytes this processor adds in a second, on one thread."""
        from pixelflow.simd.lanes.compiled.llvm.limit import additions_per_second

        return additions_per_second(self._native.tools)

    @property
    def functions_wanted(self) -> int:
        """How many native functions prepared actions need that have not been compiled yet."""
        return len(self._wanted)

    @property
    def tiles(self) -> int:
        """How many tiles hold the lanes."""
        return len(self._memory)

    # --- state ----------------------------------------------------------------------------------------------

    def get_rows(self, start: int, count: int) -> NDArray[np.uint8]:
        self.settle()
        values = np.empty((count, len(self._memory), self._tile), np.uint8)
        values[...] = self._memory[:, start : start + count, : self._tile].transpose(1, 0, 2)
        return values.reshape(count, len(self._memory) * self._tile)[:, : self.shape.lanes]

    def set_rows(self, start: int, values: NDArray[np.uint8]) -> None:
        padded = np.asarray(values, np.uint8)
        if padded.shape[1:] != (len(self._memory) * self._tile,):
            padded = np.zeros((len(values), len(self._memory) * self._tile), np.uint8)
            padded[:, : self.shape.lanes] = values
        tiles = padded.reshape(len(values), -1, self._tile).transpose(1, 0, 2)
        self.settle()
        self._memory[:, start : start + len(values), : self._tile] = tiles

    def get_word(self, name: str) -> NDArray[np.uint8]:
        return self.get_rows(self._place[name], 1)[0]

    def set_word(self, name: str, values: NDArray[np.uint8]) -> None:
        self.set_rows(self._place[name], np.asarray(values, np.uint8)[None])

    def get_bit(self, name: str) -> NDArray[np.bool_]:
        return self.get_word(name) != 0

    def set_bit(self, name: str, values: NDArray[np.bool_]) -> None:
        self.set_word(name, np.where(values, np.uint8(0xFF), np.uint8(0)))

    def set_coordinates(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
        self.set_rows(self._place[COORDINATES[0]], coordinate_bytes(x, y))
        if self._interpreter is not None:
            self._interpreter.look_at_coordinates()


def _tell(error: Exception, what_now: str) -> None:
    """Say in one line that native code cannot be made, and what goes on instead."""
    import logging

    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    logging.getLogger(__name__.partition(".")[0]).warning("note: native code cannot be made (%s); %s", reason, what_now)
