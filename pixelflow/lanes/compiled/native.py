"""The native functions of this process: by the form of what they carry out, compiled or fetched from disk.

What has been compiled serves every engine of the process that has the same vectors.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from pixelflow.lanes.compiled.cache import Cache, folder
from pixelflow.lanes.compiled.dispatch import Dispatch, dispatch, go, guard
from pixelflow.lanes.compiled.lower import function
from pixelflow.lanes.compiled.toolchain import Toolchain, toolchain
from pixelflow.lanes.compiled.trace import Block

__all__ = ["GO", "GUARD", "Native", "native"]


GO, GUARD = 1, 2
"""Numbers of the functions that go on elsewhere: always, and where two rows are full. 0 ends a program."""


class Native:
    """The functions of one toolchain: numbered in the order in which they were asked for, compiled later together."""

    def __init__(self, tools: Toolchain, kept: Cache) -> None:
        self._tools = tools
        self._kept = kept
        self._number: dict[Block, int] = {}
        self.addresses = array("Q", [0])
        """Of each function by its number, 0 where it is not compiled yet."""
        shared = {"go": go(), "guard": guard(tools.vectors.width), "dispatch": dispatch()}
        found = self._get(tuple(shared), tuple(shared)) or self._make(
            tuple(shared), list(shared.values()), tuple(shared)
        )
        self.addresses.extend(found[:-1])
        self.dispatch = Dispatch(found[-1])
        """The native loop over a program."""

    def number(self, block: Block) -> int:
        """Return the number of a block's function, a new one where nobody has asked for it before."""
        number = self._number.get(block)
        if number is None:
            number = self._number[block] = len(self.addresses)
            self.addresses.append(0)
        return number

    def fetch(self, wanted: Iterable[Block]) -> bool:
        """Fetch the blocks that are not there yet from disk; return whether all are there now."""
        missing = self._missing(wanted)
        found = self._get(_names(missing), missing) if missing else []
        if found is not None:
            self._enter(missing, found)
        return found is not None

    def compile(self, wanted: Iterable[Block]) -> bool:
        """Get the blocks that are not there yet: from disk, or compiled all together and then kept on disk."""
        missing = self._missing(wanted)
        if not self.fetch(missing):
            names, vectors = _names(missing), self._tools.vectors
            texts = [function(name, block, vectors) for name, block in zip(names, missing, strict=True)]
            self._enter(missing, self._make(names, texts, missing))
        return True

    def _missing(self, wanted: Iterable[Block]) -> list[Block]:
        return [block for block in dict.fromkeys(wanted) if not self.addresses[self.number(block)]]

    def _enter(self, blocks: Sequence[Block], addresses: Sequence[int]) -> None:
        for block, address in zip(blocks, addresses, strict=True):
            self.addresses[self.number(block)] = address

    # --- object code: ``what`` is all that it follows from, besides the lowering and the processor ----------

    def _get(self, names: Sequence[str], what: object) -> list[int] | None:
        """Return the addresses of functions that were kept on disk, None where there are none."""
        code = self._kept.get(self._key(what))
        try:
            return None if code is None else self._tools.load(code, names)
        except RuntimeError:
            return None

    def _make(self, names: Sequence[str], texts: Sequence[str], what: object) -> list[int]:
        """Compile functions, keep their code on disk, and return their addresses."""
        code = self._tools.compile(texts)
        found = self._tools.load(code, names)
        self._kept.put(self._key(what), code)
        return found

    def _key(self, what: object) -> str:
        return hashlib.sha256(f"{_lowering()} {self._tools.identity} {what!r}".encode()).hexdigest()


def _names(blocks: Sequence[Block]) -> list[str]:
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
