"""Native functions of this process: by what they carry out, compiled or fetched from disk.

What has been compiled serves every engine of the process that has the same vectors. Blocks of one part are compiled in
haste, so that a short run does not wait for them; where they are used a lot, they are compiled again with care.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from threading import RLock

from pixelflow.simd.lanes.compiled.blocks import Block, Slotted
from pixelflow.simd.lanes.compiled.llvm.cache import Cache, folder
from pixelflow.simd.lanes.compiled.llvm.dispatch import DISPATCH, ELSEWHERE, FIXED, GO, GUARD, WALK, Dispatch
from pixelflow.simd.lanes.compiled.llvm.toolchain import CAREFUL, HASTY, Toolchain, toolchain
from pixelflow.simd.lanes.compiled.lower import function
from pixelflow.simd.lanes.compiled.threads.sharing import NAMES, TEXT, Functions
from pixelflow.simd.lanes.compiled.threads.team import Team
from pixelflow.simd.lanes.form import Form
from pixelflow.simd.packaged import sources_of

__all__ = ["ELSEWHERE", "GO", "GUARD", "WALK", "Foreign", "Native", "native"]

_OPTIMIZE_AFTER = 200_000_000
"""Bytes of program, times tiles, that are carried out in haste before care pays: about a million microinstructions of
8,192 lanes, which take some tenths of a second longer for it."""

_TABLE = 4096
"""Functions that there is room for at first."""

_STRIPS = 4
"""Strips of lanes that a block of one part works on in a round of its loop, where it is compiled with care."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A function that somebody else has written down: ``body`` is all of its text between the braces.

    It is called as a block's function is, ``ptr(ptr %tile, i64 %lanes, ptr %code, ptr %table)``, and returns the
    address past its operands. ``%table`` holds the addresses of functions by number; at `WALK` stands the loop over
    a program, which is called in the same way with a program for its code. ``declared`` are the declarations that it
    needs.
    """

    body: str
    declared: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Return the whole function."""
        return f"define ptr @{name}(ptr %tile, i64 %lanes, ptr %code, ptr %table) nounwind {{\n{self.body}\n}}"


What = Block | Foreign | int | str
"""What a function follows from: a block, a text, or the number of what is always there."""


class Native:
    """The functions of one toolchain: numbered in the order in which they were asked for, compiled later together."""

    def __init__(self, tools: Toolchain, kept: Cache) -> None:
        self.tools = tools
        self._kept = kept
        self._number: dict[What, int] = {number: number for number in FIXED}
        self._hasty: list[list[What]] = []
        """What was compiled in haste, each time together."""
        self._spent = 0
        self._entering = RLock()
        """Held by whoever gives a number or enters an address: engines may be used in several threads."""
        self.addresses = array("Q", bytes(8 * _TABLE))
        """Of each function by its number, 0 where it is not compiled yet, or has not been asked for."""
        self._outgrown: list[array[int]] = []
        """Tables that were too small, which other threads may still read."""
        self.dispatch = Dispatch()
        """The native loop over tiles, once anything has been compiled."""

    def number(self, block: What) -> int:
        """Return the number of a block's function, a new one where nobody has asked for it before."""
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
        """Count what was carried out, and compile with care what was compiled in haste when it was a lot."""
        if self._hasty:
            self._spent += amount
            if self._spent >= _OPTIMIZE_AFTER:
                self.take_care()

    def take_care(self) -> None:
        """Compile with care what was compiled in haste; where that fails, what there is goes on."""
        hasty, self._hasty, self._spent = self._hasty, [], 0
        for blocks in hasty:
            if not self._fetched(blocks, CAREFUL):
                try:
                    self._build(blocks, CAREFUL)
                except RuntimeError:
                    return

    @cached_property
    def team(self) -> Team:
        """The threads that carry out long runs together; raises what LLVM raises."""
        functions = Functions(*self.functions(NAMES, TEXT, HASTY))
        return vars(self).setdefault("team", Team(functions))  # one, whoever else asks at the same time

    def functions(self, names: Sequence[str], text: str, level: int = CAREFUL) -> list[int]:
        """Return the addresses of functions of a text that calls none of the others; raises what LLVM raises."""
        return self._get(names, [text], level) or self._make(names, [text], [text], level)

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
        assert isinstance(what, Block)  # a whole text comes with names of its own
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

    # --- object code: ``what`` is all that it follows from, besides the lowering and the processor ----------

    def _get(self, names: Sequence[str], what: Sequence[What], level: int) -> list[int] | None:
        """Return the addresses of functions that were kept on disk, None where there are none."""
        code = self._kept.get(self._key(what, level))
        try:
            return None if code is None else self.tools.load(code, names)
        except RuntimeError:
            return None

    def _make(self, names: Sequence[str], texts: Sequence[str], what: Sequence[What], level: int) -> list[int]:
        """Compile functions, keep their code on disk, and return their addresses."""
        code = self.tools.compile(texts, level)
        found = self.tools.load(code, names)
        self._kept.put(self._key(what, level), code)
        return found

    def _key(self, what: Sequence[What], level: int) -> str:
        texts: dict[Slotted, str] = {}
        """Of forms: blocks that differ only in the rows known to be full share theirs."""
        told = [_told(each, texts) for each in what]
        return hashlib.sha256(f"{_lowering()} {self.tools.identity} {level} {told}".encode()).hexdigest()


def _is_small(what: What) -> bool:
    return isinstance(what, int) or (isinstance(what, Block) and len(what.forms) == 1)


def _told(what: What, texts: dict[Slotted, str]) -> str:
    """Return a text that is the same for the same function, and for no other."""
    if not isinstance(what, Block):
        return repr(what)
    text = texts.get(what.forms)
    if text is None:
        text = texts[what.forms] = str([(_hashed(form), slots) for form, slots in what.forms])
    return f"{text} {what.full}"


@lru_cache(maxsize=4096)
def _hashed(form: Form) -> str:
    return hashlib.sha256(repr([(int(op), *others) for op, *others in form.steps]).encode()).hexdigest()


def _names(blocks: Sequence[What]) -> list[str]:
    return [f"block{index}" for index in range(len(blocks))]


@cache
def _lowering() -> str:
    """Return a hash of the files that decide what the IR is and how it becomes code: forms, and all of this folder."""
    seen = hashlib.sha256()
    lanes = dict(sources_of("pixelflow.simd.lanes"))
    for name in ("form/steps.py", *(each for each in lanes if each.startswith("compiled/"))):
        seen.update(lanes[name])
    return seen.hexdigest()


@cache
def native(width: int | None = None) -> Native:
    """Return the functions compiled for this host, with its own vectors or of ``width`` bytes."""
    return Native(toolchain(width), Cache(folder()))
