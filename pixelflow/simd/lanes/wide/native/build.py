"""Native code of programs: translated and compiled once for each way to run them, kept in the process and on disk.

Programs are compiled in haste, which takes a third of the time; who carries out much of one asks for it with care.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from threading import Lock

from pixelflow.simd.lanes.compiled.llvm.cache import Cache, folder
from pixelflow.simd.lanes.compiled.llvm.toolchain import CAREFUL, HASTY, Toolchain, toolchain
from pixelflow.simd.lanes.form import Form
from pixelflow.simd.lanes.wide.native.layout import GroupFrame
from pixelflow.simd.lanes.wide.native.program import GroupProgram
from pixelflow.simd.lanes.wide.native.translate import translated
from pixelflow.simd.packaged import sources_of

__all__ = ["CodeBuilder", "Native", "builder"]

Native = Callable[[int], int]
"""Carries groups out one after the other, by the address of a record (`RunWord`), and returns a `Status`."""

_NATIVE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

_NAME = "range"
_HERE = "wide/native/"


class CodeBuilder:
    """Makes the native code of programs for one processor, or fetches what was made before."""

    def __init__(self, tools: Toolchain, kept: Cache) -> None:
        self.tools, self._kept = tools, kept
        self._made: dict[str, Native] = {}
        self._making = Lock()
        """Held by whoever makes a function: runs may be made in several threads."""

    def function(
        self, program: GroupProgram, frame: GroupFrame, noting: int, tracked: bool, line_bits: int, level: int = CAREFUL
    ) -> Native:
        """Return the function of a program, compiled at a level or with care where that was done before.

        Raises Unsupported for what native code is not made for, and whatever LLVM or the loader find wrong.
        """
        key = self._key(program, frame, noting, tracked, line_bits)
        with self._making:
            for each in dict.fromkeys((CAREFUL, level)):
                found = self._known(_at(key, each))
                if found is not None:
                    return found
            text = translated(program, frame, noting, tracked, line_bits)
            code = self.tools.compile([text], level, promotes=True)
            (address,) = self.tools.load(code, [_NAME])
            self._kept.put(_at(key, level), code)
            made = self._made[_at(key, level)] = _NATIVE(address)
        return made

    def _known(self, key: str) -> Native | None:
        """Return what was made before, by this process or another one."""
        found = self._made.get(key)
        code = self._kept.get(key) if found is None else None
        if code is not None:
            with suppress(RuntimeError):
                found = self._made[key] = _NATIVE(self.tools.load(code, [_NAME])[0])
        return found

    def _key(self, program: GroupProgram, frame: GroupFrame, noting: int, tracked: bool, line_bits: int) -> str:
        parts = [
            (_hashed(part.form), [value if known else None for value, known in zip(part.operands, fixed, strict=True)])
            for part, fixed in zip(program.parts, program.fixed, strict=True)
        ]
        flow = program.branches, program.addresses, program.following, program.stopped, program.begins
        told = f"{parts} {flow} {program.shape.group} {frame} {noting} {tracked} {line_bits}"
        return hashlib.sha256(f"{_lowering()} {self.tools.identity} {told}".encode()).hexdigest()


def _at(key: str, level: int) -> str:
    return f"{key}-hasty" if level == HASTY else key


@lru_cache(maxsize=4096)
def _hashed(form: Form) -> str:
    return hashlib.sha256(repr([(int(op), *others) for op, *others in form.steps]).encode()).hexdigest()


@cache
def _lowering() -> str:
    """Return a hash of the files that decide what the code is."""
    seen = hashlib.sha256()
    lanes = dict(sources_of("pixelflow.simd.lanes"))
    for name in ("form/steps.py", "compiled/llvm/toolchain.py", *(each for each in lanes if each.startswith(_HERE))):
        seen.update(lanes[name])
    return seen.hexdigest()


@cache
def builder() -> CodeBuilder:
    """Return the builder for this host."""
    return CodeBuilder(toolchain(), Cache(folder()))
