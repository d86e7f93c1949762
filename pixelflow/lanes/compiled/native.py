"""The native functions of this process: by the form of what they carry out, compiled or fetched from disk.

What has been compiled serves every engine of the process that has the same vectors. Blocks of one part are compiled in
haste, so that a short run does not wait for them; where they are used a lot, they are compiled again with care.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from pixelflow.lanes.compiled.cache import Cache, folder
from pixelflow.lanes.compiled.dispatch import Dispatch, dispatch, go, guard
from pixelflow.lanes.compiled.lower import function
from pixelflow.lanes.compiled.toolchain import CAREFUL, HASTY, Toolchain, toolchain
from pixelflow.lanes.compiled.trace import Block, Steps

__all__ = ["ELSEWHERE", "GO", "GUARD", "Foreign", "Native", "native"]


GO, GUARD, ELSEWHERE = 1, 2, 3
"""Numbers of the functions that go on elsewhere: always, and where two rows are full; and what stands before the
address of another program. 0 ends a program."""

_WORTH_CARE = 200_000_000
"""Bytes of program, times tiles, that are carried out in haste before care pays: about a million microinstructions of
8,192 lanes, which take some tenths of a second longer for it."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A function that somebody else has written down: ``body`` is all of its text between the braces.

    It is called as a block's function is: ``ptr(ptr %tile, i64 %lanes, ptr %code)``, and returns the address behind its
    operands. ``declared`` are the declarations that it needs.
    """

    body: str
    declared: tuple[str, ...] = ()

    def text(self, name: str) -> str:
        """Return the whole function."""
        return f"define ptr @{name}(ptr %tile, i64 %lanes, ptr %code) {{\n{self.body}\n}}"


What = Block | Foreign | str
"""What a function follows from: a block, or a text, or the name of what is always there."""


class Native:
    """The functions of one toolchain: numbered in the order in which they were asked for, compiled later together."""

    def __init__(self, tools: Toolchain, kept: Cache) -> None:
        self.tools = tools
        self._kept = kept
        self._number: dict[Block | Foreign, int] = {}
        self._hasty: list[list[Block | Foreign]] = []
        """What was compiled in haste, each time together."""
        self._spent = 0
        self.addresses = array("Q", [0])
        """Of each function by its number, 0 where it is not compiled yet."""
        shared = {"go": go(), "guard": guard(tools.vectors.width), "dispatch": dispatch(ELSEWHERE)}
        names = tuple(shared)
        found = self._get(names, names, CAREFUL) or self._make(names, list(shared.values()), names, CAREFUL)
        self.addresses.extend([*found[:-1], 0])
        self.dispatch = Dispatch(found[-1])
        """The native loop over a program."""

    def number(self, block: Block | Foreign) -> int:
        """Return the number of a block's function, a new one where nobody has asked for it before."""
        number = self._number.get(block)
        if number is None:
            number = self._number[block] = len(self.addresses)
            self.addresses.append(0)
        return number

    def fetch(self, wanted: Iterable[Block | Foreign]) -> bool:
        """Fetch the blocks that are not there yet from disk; return whether all are there now."""
        missing = self._missing(wanted)
        return not missing or self._fetched(missing, CAREFUL) or self._fetched(missing, HASTY)

    def _fetched(self, blocks: list[Block | Foreign], level: int) -> bool:
        found = self._get(_names(blocks), blocks, level)
        if found is not None:
            self._enter(blocks, found, level)
        return found is not None

    def compile(self, wanted: Iterable[Block | Foreign]) -> bool:
        """Get the blocks that are not there yet: from disk, or compiled all together and then kept on disk.

        Raises what LLVM raises.
        """
        missing = self._missing(wanted)
        if not self.fetch(missing):
            self._build(missing, HASTY if all(map(_is_small, missing)) else CAREFUL)
        return True

    def spend(self, amount: int) -> None:
        """Count what was carried out, and compile with care what was compiled in haste when it was a lot."""
        if self._hasty:
            self._spent += amount
            if self._spent >= _WORTH_CARE:
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

    def assembly(self, block: Block) -> str:
        """Return the text of the native code of a block, compiled with care."""
        return self.tools.assembly([self._text("block", block)])

    def _build(self, blocks: list[Block | Foreign], level: int) -> None:
        names = _names(blocks)
        texts = [self._text(name, block) for name, block in zip(names, blocks, strict=True)]
        texts += {line: None for block in blocks if isinstance(block, Foreign) for line in block.declared}
        self._enter(blocks, self._make(names, texts, blocks, level), level)

    def _text(self, name: str, block: Block | Foreign) -> str:
        return block.text(name) if isinstance(block, Foreign) else function(name, block, self.tools.vectors)

    def _missing(self, wanted: Iterable[Block | Foreign]) -> list[Block | Foreign]:
        return [block for block in dict.fromkeys(wanted) if not self.addresses[self.number(block)]]

    def _enter(self, blocks: list[Block | Foreign], addresses: Sequence[int], level: int) -> None:
        if level == HASTY:
            self._hasty.append(blocks)
        for block, address in zip(blocks, addresses, strict=True):
            self.addresses[self.number(block)] = address

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
        what = [_told(each) for each in what]
        return hashlib.sha256(f"{_lowering()} {self.tools.identity} {level} {what}".encode()).hexdigest()


def _is_small(block: Block | Foreign) -> bool:
    return not isinstance(block, Foreign) and len(block[0]) == 1


def _told(what: What) -> str:
    """Return a text that is the same for the same function, and for no other."""
    if not isinstance(what, tuple):
        return repr(what)
    form, full = what
    return f"{[(_hashed(steps), slots) for steps, slots in form]} {full}"


@lru_cache(maxsize=4096)
def _hashed(steps: Steps) -> str:
    return hashlib.sha256(repr(steps).encode()).hexdigest()


def _names(blocks: Sequence[Block | Foreign]) -> list[str]:
    return [f"block{index}" for index in range(len(blocks))]


@cache
def _lowering() -> str:
    """Return a hash of the files that decide what the IR of a block is."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


@cache
def native(width: int | None = None) -> Native:
    """Return the functions compiled for this host, with its own vectors or of ``width`` bytes."""
    return Native(toolchain(width), Cache(folder()))
