"""The compiled engine: meanings as native vector code, looped over tiles of lanes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import lcm
from threading import RLock
from time import perf_counter
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.algebra import Algebra
from pixelflow.simd.lanes.engine import Engine, Meaning, Numbered, Shape, Template, chosen, spans
from pixelflow.simd.lanes.form import COORDINATES, Form, Interpreter, Part, coordinate_bytes, places_of
from pixelflow.simd.lanes.native.dispatch import DISPATCH, ELSEWHERE, EMPTY, FIXED, GO, GUARD, Dispatch
from pixelflow.simd.lanes.native.lowering import (
    Block,
    Slotted,
    full_after,
    function,
    masks_read,
    parts_of,
    rests,
    slots_of,
    slotted,
)
from pixelflow.simd.lanes.native.threads import NAMES, TEXT, Functions, Team, Work
from pixelflow.simd.lanes.native.toolchain import CAREFUL, HASTY, LANES, Toolchain, toolchain
from pixelflow.simd.store import CODE, Store, digest_of, key_of, store
from pixelflow.simd.workers import usable_threads

# Templates: the code of meanings that differ in a few numbers, recorded once and filled in for many at a time.
#
# A template is the code of one meaning, and the places of the numbers in it. That a meaning passes its numbers to
# `affine` alone, and unchanged, is checked: it is recorded with two different sets of numbers.


_TRIAL = tuple([0x123456789ABCDE00 + 0x1357 * index for index in range(1, 9)])
_TRIALS = _TRIAL, tuple([~number for number in _TRIAL])
"""Two sets of numbers that nothing else is equal to, and that differ in every bit."""

_NO_MASK = -1
_LOOK = 3
"""Words of a look whether a mask is empty."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTemplate:
    """Code of a meaning, to be filled in with numbers."""

    plain: Template
    """That of any engine, by which parts are made."""
    parts: int
    code: NDArray[np.int64]
    """Its words, with those of a trial for numbers."""
    places: NDArray[np.intp]
    """Places of numbers among the words, and which number each is: two rows."""
    mask: int
    """The row of a mask without which the meaning changes nothing, or `_NO_MASK`."""
    cuts: bool
    """True if it may clear that mask."""


class LazyParts(Sequence[Part]):
    """Parts of which the number is known, and which are made when they are asked for: most never are."""

    def __init__(self, count: int, make: Callable[[], list[Part]]) -> None:
        self._count, self._make = count, make
        self._made: list[Part] | None = None

    def _all(self) -> list[Part]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Part]:
        return iter(self._all())

    @overload
    def __getitem__(self, index: int) -> Part: ...
    @overload
    def __getitem__(self, index: slice) -> list[Part]: ...
    def __getitem__(self, index: int | slice) -> Part | list[Part]:
        return self._all()[index]


def template_of(
    plain: Template, prepare: Callable[[Sequence[int]], CompiledAction], masks: Sequence[int]
) -> CompiledTemplate | None:
    """Return the template of a meaning, which ``prepare`` records with numbers; ``masks`` are the rows of masks.

    None where each set of numbers has to be recorded by itself.
    """
    trials = [prepare(trial) for trial in _TRIALS]
    (parts, code), (others, other_code) = [(each.parts, np.frombuffer(each.code, np.int64)) for each in trials]
    if [each.form for each in parts] != [each.form for each in others] or len(code) != len(other_code):
        return None
    number_of = {pair: index for index, pair in enumerate(zip(*_TRIALS, strict=True))}
    at = np.flatnonzero(code != other_code)
    which = [number_of.get(pair, -1) for pair in zip(code[at].tolist(), other_code[at].tolist(), strict=True)]
    if -1 in which:
        return None
    mask = next((row for row in masks if all(rests(part, row) for part in parts)), _NO_MASK)
    stored = {part.operands[part.form.steps[at].detail] for part in parts for at in part.form.stores}
    return CompiledTemplate(plain, len(parts), code, np.array([at, which], np.intp), mask, mask in stored)


class Filling:
    """The code of many meanings one after the other, with room for the numbers of each: a row of an array.

    Meanings that change nothing without a mask are left out, in a tile, once the one before has cleared it there.
    """

    def __init__(self, templates: Sequence[CompiledTemplate], which: NDArray[np.intp], stride: int) -> None:
        """``which`` is the template of each meaning; rows are ``stride`` bytes apart."""
        self.parts = int(np.array([each.parts for each in templates], np.intp)[which].sum())
        masks, cuts = np.array([(each.mask, each.cuts) for each in templates], np.intp).T[:, which]
        sames = masks[1:] == masks[:-1]
        looks = 1 + np.flatnonzero(sames & cuts[:-1].astype(bool) & (masks[1:] != _NO_MASK))
        changes = np.append(1 + np.flatnonzero(~sames), len(which))
        room = np.zeros(len(which), np.intp)
        room[looks] = _LOOK
        own, taken = chosen([len(each.code) for each in templates], which)
        starts = np.cumsum(np.append(room, 0)) + np.cumsum(np.insert(own, 0, 0))
        self._code = np.empty(int(starts[-1]), np.int64)
        self._code[spans(starts[:-1], own)] = np.concatenate([each.code for each in templates])[taken]
        past = starts[changes[np.searchsorted(changes, looks, "right")]]
        at = starts[looks] - _LOOK
        self._code[at], self._code[at + 1], self._code[at + 2] = EMPTY, masks[looks] * stride, past - starts[looks]
        counts, taken = chosen([len(each.places.T) for each in templates], which)
        self._rows = np.repeat(np.arange(len(which)), counts)
        at, self._numbers = np.concatenate([each.places for each in templates], axis=1)[:, taken]
        self._places = starts[self._rows] + at

    def filled(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the code with these numbers."""
        code = self._code.copy()
        code[self._places] = numbers[self._rows, self._numbers]
        return code


# Native functions of this process: by what they execute, compiled or fetched from disk.
#
# What has been compiled serves every engine of the process that has the same vectors. Blocks of one part are compiled
# in haste, so that a short run does not wait for them; where they are used a lot, they are compiled again with care.


_OPTIMIZE_AFTER = 200_000_000
"""Bytes of program, times tiles, that are executed in haste before care pays: about a million microinstructions of
8,192 lanes, which take some tenths of a second longer for it."""

_TABLE = 4096
"""Functions that there is room for at first."""

_STRIPS = 4
"""Strips of lanes that a block of one part works on in a round of its loop, where it is compiled with care."""


class Foreign(NamedTuple):
    """A function with a given text: ``body`` is all of it between the braces.

    It is called like a block's function, ``ptr(ptr %tile, i64 %lanes, ptr %code, ptr %table)``, and returns the
    address past its operands. ``%table`` holds the addresses of functions by number; `WALK` is the number of the loop
    over a program, which is called in the same way with a program for its code. ``declared`` are the declarations that
    it needs.
    """

    body: str
    declared: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Return the whole function."""
        return f"define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{\n{self.body}\n}}"


What = Block | Foreign | int | str
"""Source of a function: a block, a text, or the number of one that is always there."""


class Native:
    """The functions of one toolchain: numbered in the order in which they were asked for, compiled later together."""

    def __init__(self, tools: Toolchain, kept: Store) -> None:
        self.tools = tools
        self._kept = kept
        self._number: dict[What, int] = {number: number for number in FIXED}
        self._hasty: list[list[What]] = []
        """Functions compiled in haste, each list together."""
        self._spent = 0
        self._entering = RLock()
        """Held while a number or an address is entered: engines may be used in several threads."""
        self.addresses = array("Q", bytes(8 * _TABLE))
        """Of each function by its number, 0 where it is not compiled yet, or has not been asked for."""
        self._outgrown: list[array[int]] = []
        """Tables that were too small, which other threads may still read."""
        self.dispatch = Dispatch()
        """The native loop over tiles, once anything has been compiled."""

    def number(self, block: What) -> int:
        """Return the number of a block's function, a new one for a new block."""
        number = self._number.get(block)
        return self._new_number(block) if number is None else number

    def _new_number(self, block: What) -> int:
        with self._entering:
            if block not in self._number:
                number = 1 + len(self._number)
                if number == len(self.addresses):
                    self._outgrown.append(self.addresses)
                    self.addresses = self.addresses + array("Q", bytes(8 * len(self.addresses)))
                self._number[block] = number
            return self._number[block]

    def fetch(self, wanted: Iterable[What]) -> bool:
        """Fetch the blocks that are not there yet from disk; return whether all are there now."""
        missing = self._missing(wanted)
        return not missing or self._fetched(missing, CAREFUL) or self._fetched(missing, HASTY)

    def _fetched(self, blocks: list[What], level: int) -> bool:
        found = self._get(_names(blocks), blocks, level)
        if found is not None:
            self._enter(blocks, found, level)
        return found is not None

    def compile(self, wanted: Iterable[What]) -> bool:
        """Get the blocks that are not there yet: from disk, or compiled all together and then kept on disk.

        Raises what LLVM raises.
        """
        missing, fixed = self._missing(wanted), self._missing(FIXED)
        if all(map(_is_small, missing)):
            self._provide([*fixed, *missing], HASTY)
        else:
            self._provide(fixed, HASTY)
            self._provide(missing, CAREFUL)
        return True

    def _provide(self, missing: list[What], level: int) -> None:
        if not self.fetch(missing):
            self._build(missing, level)

    def spend(self, amount: int) -> None:
        """Count what was executed, and compile with care what was compiled in haste when it was a lot."""
        if self._hasty:
            self._spent += amount
            if self._spent >= _OPTIMIZE_AFTER:
                self.take_care()

    def take_care(self) -> None:
        """Compile with care what was compiled in haste; where that fails, what there is continues."""
        hasty, self._hasty, self._spent = self._hasty, [], 0
        for blocks in hasty:
            if not self._fetched(blocks, CAREFUL):
                try:
                    self._build(blocks, CAREFUL)
                except RuntimeError:
                    return

    @cached_property
    def team(self) -> Team:
        """The threads that execute long runs together; LLVM's errors pass through."""
        functions = Functions(*self.functions(NAMES, TEXT, HASTY))
        return vars(self).setdefault("team", Team(functions))  # one, even if another thread asks at the same time

    def functions(self, names: Sequence[str], text: str, level: int = CAREFUL) -> list[int]:
        """Return the addresses of the functions of a text that calls no other; LLVM's errors pass through."""
        return self._get(names, [text], level) or self._make(names, [text], [text], level, promotes=True)

    def assembly(self, block: Block) -> str:
        """Return the text of the native code of a block, compiled with care."""
        return self.tools.assembly([function("block", block, self.tools.vectors)])

    def _build(self, blocks: list[What], level: int) -> None:
        names = _names(blocks)
        texts = [self._text(name, block, level) for name, block in zip(names, blocks, strict=True)]
        texts += {line: None for block in blocks if isinstance(block, Foreign) for line in block.declared}
        self._enter(blocks, self._make(names, texts, blocks, level), level)

    def _text(self, name: str, what: What, level: int) -> str:
        if isinstance(what, Foreign):
            return what.text(name)
        if isinstance(what, int):
            return FIXED[what](name, self.tools.vectors.width)
        assert isinstance(what, Block)  # a whole text has names already
        return function(name, what, self.tools.vectors, _STRIPS if level == CAREFUL and _is_small(what) else 1)

    def _missing(self, wanted: Iterable[What]) -> list[What]:
        return [block for block in dict.fromkeys(wanted) if not self.addresses[self.number(block)]]

    def _enter(self, blocks: list[What], addresses: Sequence[int], level: int) -> None:
        if level == HASTY:
            self._hasty.append(blocks)
        with self._entering:
            for block, address in zip(blocks, addresses, strict=True):
                self.addresses[self.number(block)] = address
        self.dispatch = Dispatch(self.addresses[DISPATCH])

    # --- object code: ``what`` is all that it depends on, apart from the lowering and the processor ----------

    def _get(self, names: Sequence[str], what: Sequence[What], level: int) -> list[int] | None:
        """Return the addresses of functions that were kept on disk, None where there are none."""
        code = self._kept.get(CODE, self._key(what, level))
        try:
            return None if code is None else self.tools.load(code, names)
        except RuntimeError:
            return None

    def _make(
        self, names: Sequence[str], texts: Sequence[str], what: Sequence[What], level: int, *, promotes: bool = False
    ) -> list[int]:
        """Compile functions, keep their code on disk, and return their addresses."""
        code = self.tools.compile(texts, level, promotes=promotes)
        found = self.tools.load(code, names)
        self._kept.put(CODE, self._key(what, level), code)
        return found

    def _key(self, what: Sequence[What], level: int) -> str:
        texts: dict[Slotted, str] = {}
        """Of forms: blocks that differ only in the rows known to be full share theirs."""
        told = [_told(each, texts) for each in what]
        return key_of(digest_of(LANES), self.tools.identity, level, told)


def _is_small(what: What) -> bool:
    return isinstance(what, int) or (isinstance(what, Block) and len(what.forms) == 1)


def _told(what: What, texts: dict[Slotted, str]) -> str:
    """Return a text that is the same for the same function, and for no other."""
    if not isinstance(what, Block):
        return repr(what)
    text = texts.get(what.forms)
    if text is None:
        text = texts[what.forms] = str([(form.digest, slots) for form, slots in what.forms])
    return f"{text} {what.full}"


def _names(blocks: Sequence[What]) -> list[str]:
    return [f"block{index}" for index in range(len(blocks))]


@cache
def native(width: int | None = None) -> Native:
    """Return the functions compiled for this host, with its own vectors or of ``width`` bytes."""
    return Native(toolchain(width), store())


# The engine that compiles: a meaning's form as native vector code, looped over tiles of lanes.
#
# State is ``uint8[tile, place, lane of the tile]``; a place is a row, a register, a flag or a byte of the coordinates.
# The code of an action is a list of 64-bit words: the number of a function, the operands that it takes, the next
# number.
# A program is the code of its actions, one after the other, and a zero.


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
"""Parts of a program that is worth several threads, at least."""

_START_THREADS_AFTER = 0.01
"""Seconds of such programs after which there are other threads: their native code takes some milliseconds to make."""


@dataclass(eq=False, slots=True, weakref_slot=True)
class CompiledAction:
    """Parts that an action executes, and its code."""

    parts: Sequence[Part]
    code: bytes
    uses: int | None = None
    """How often a chain was run; None for what is fused, or never will be."""
    holds: Sequence[object] = ()
    """Objects kept alive with the code, because it contains their addresses."""


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
        self._team: Team | None = None
        """Threads possibly at work on the last run, once there has been one for several threads."""
        self._alone = 0.0
        """Seconds that long runs have taken on one thread."""
        self._counts = False
        """True if there are chains, whose uses are counted."""
        self._apart = _APART
        self._wanted: list[Block | Foreign] = []
        """Blocks of which there is code, but no function yet."""
        self.falls_back = True
        """True if numpy continues, on the same state, where native code cannot be made; else that is an error."""
        self._is_native = self._fuses = True
        self._interpreter: Interpreter | None = None
        """Executes without native code."""

    # --- executing ---------------------------------------------------------------------------------------

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

    def template(self, meaning: Numbered, numbers: int) -> Template:
        plain = super().template(meaning, numbers)
        return template_of(plain, lambda trial: self._prepared(plain, trial), self._masks) or plain

    def prepare_all(
        self, templates: Sequence[Template], which: NDArray[np.intp]
    ) -> Callable[[NDArray[np.int64]], CompiledAction]:
        plain = [each.plain if isinstance(each, CompiledTemplate) else each for each in templates]
        if any(each is template for each, template in zip(plain, templates, strict=True)):
            return super().prepare_all(plain, which)
        filling = Filling(templates, which, self._stride)

        def made(numbers: NDArray[np.int64]) -> CompiledAction:
            def parts() -> list[Part]:
                rows = zip(which.tolist(), numbers.tolist(), strict=True)
                return [part for kind, row in rows for part in self._prepared(plain[kind], row).parts]

            return CompiledAction(LazyParts(filling.parts, parts), filling.filled(numbers).tobytes())

        return made

    def chain(self, actions: Iterable[CompiledAction]) -> CompiledAction:
        actions = tuple(actions)
        each = [action.parts for action in actions]  # not the actions: their code may go
        parts = LazyParts(sum(map(len, each)), lambda: [part for parts in each for part in parts])
        self._counts = True
        # Chains among them may have been fused already: their code names addresses.
        holds = [action.holds for action in actions if action.holds]
        return CompiledAction(parts, b"".join(action.code for action in actions), 0, holds)

    def _code(self, block: Block | Foreign, operands: list[int]) -> array[int]:
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
            _tell(error, "one thread continues")
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
                _tell(error, "numpy executes what follows")
        self._wanted.clear()
        return self._is_native

    def _carry_out(self, action: CompiledAction) -> None:
        """Execute an action without native code."""
        if self._interpreter is None:
            rows = self._memory[:, :, : self._tile].transpose(1, 0, 2)
            self._interpreter = Interpreter(rows, self.shape.group, [self._place[name] for name in COORDINATES])
        for part in self._parts(action):
            for call in self._interpreter.bind(part):
                call()

    def _parts(self, action: CompiledAction) -> Sequence[Part]:
        """Return what an action executes, for where there is no native code."""
        if action.code and not action.parts:
            raise RuntimeError("an action that is nothing but native code cannot do without")
        return action.parts

    def take_care(self) -> None:
        """Compile with full optimisation what was first compiled without."""
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
        """Execute an action that `chain` returned by fused blocks in future, whatever compiling them costs."""
        self._fuse(action, self._native.compile)

    def _fuse(self, action: CompiledAction, get: Callable[[list[Block | Foreign]], bool]) -> None:
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

    def assembly(self, action: CompiledAction) -> list[str]:
        """Return the native code of a chain's fused blocks as text, where all masks are full; compiled for this."""
        full = frozenset(masks_read(action.parts, self._masks)[:2])
        blocks = [block for block, _ in self._blocks(self._forms(action.parts), full)]
        texts = {block: self._native.assembly(block) for block in dict.fromkeys(blocks)}
        return [texts[block] for block in blocks]

    @property
    def strips(self) -> int:
        """How many vectors hold the lanes of a tile."""
        return self._tile // self._native.tools.vectors.width

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
    """Say in one line that native code cannot be made, and what continues instead."""
    import logging

    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    logging.getLogger(__name__.partition(".")[0]).warning("note: native code cannot be made (%s); %s", reason, what_now)


# A trial of native code: does this host compile it, and does it give the bits that it must give?


_SHAPE = Shape(lanes=64, group=32, rows=2, words=(), carries=("c",), masks=("m",))


def trial() -> bool:
    """Return whether an addition with carry and mask comes out right; raises whatever LLVM raises."""
    engine = CompiledEngine(_SHAPE)
    engine.falls_back = False
    lane = np.arange(64)
    rows = np.array([lane * 5, lane * 7 + 3], np.uint8)
    carry, mask = lane % 3 == 0, lane % 2 == 0
    engine.set_rows(0, rows)
    engine.set_bit("c", carry)
    engine.set_bit("m", mask)

    def meaning(lanes: Algebra[Any, Any]) -> None:
        total, out = lanes.add(lanes.load(0), lanes.load(1), lanes.flag("c"))
        lanes.store(0, total, lanes.flag("m"))
        lanes.set_flag("c", out, lanes.flag("m"))

    engine.run([engine.prepare(meaning)])
    total = rows.astype(int).sum(axis=0) + carry
    right = np.array_equal(engine.get_rows(0, 1)[0], np.where(mask, total & 0xFF, rows[0]))
    return bool(right and np.array_equal(engine.get_bit("c"), np.where(mask, total > 0xFF, carry)))
