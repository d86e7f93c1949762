"""Native code of programs: translated and compiled once for each way to run them, kept in the process and on disk."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

from pixelflow.simd.lanes.compiled.llvm.cache import Cache, folder
from pixelflow.simd.lanes.compiled.llvm.toolchain import CAREFUL, Toolchain, toolchain
from pixelflow.simd.lanes.compiled.llvm.toolchain import __file__ as toolchain_file
from pixelflow.simd.lanes.form import Form
from pixelflow.simd.lanes.form.steps import __file__ as form_file
from pixelflow.simd.lanes.wide.native.layout import GroupFrame
from pixelflow.simd.lanes.wide.native.program import GroupProgram
from pixelflow.simd.lanes.wide.native.translate import translated

__all__ = ["CodeBuilder", "Native", "builder"]

Native = Callable[[int], int]
"""Carries groups out one after the other, by the address of a record (`RunWord`), and returns a `Status`."""

_NATIVE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)

_NAME = "range"


class CodeBuilder:
    """Makes the native code of programs for one processor, or fetches what was made before."""

    def __init__(self, tools: Toolchain, kept: Cache) -> None:
        self.tools, self._kept = tools, kept
        self._made: dict[str, Native] = {}
        self._making = Lock()
        """Held by whoever makes a function: runs may be made in several threads."""

    def function(self, program: GroupProgram, frame: GroupFrame, noting: int, tracked: bool, line_bits: int) -> Native:
        """Return the function of a program.

        Raises Unsupported for what native code is not made for, and whatever LLVM or the loader find wrong.
        """
        key = self._key(program, frame, noting, tracked, line_bits)
        with self._making:
            found = self._made.get(key)
            if found is None:
                address = self._fetched(key)
                if address is None:
                    text = translated(program, frame, noting, tracked, line_bits)
                    code = self.tools.compile([text], CAREFUL, promotes=True)
                    (address,) = self.tools.load(code, [_NAME])
                    self._kept.put(key, code)
                found = self._made[key] = _NATIVE(address)
        return found

    def _fetched(self, key: str) -> int | None:
        code = self._kept.get(key)
        try:
            return None if code is None else self.tools.load(code, [_NAME])[0]
        except RuntimeError:
            return None

    def _key(self, program: GroupProgram, frame: GroupFrame, noting: int, tracked: bool, line_bits: int) -> str:
        parts = [
            (_hashed(part.form), [value if known else None for value, known in zip(part.operands, fixed, strict=True)])
            for part, fixed in zip(program.parts, program.fixed, strict=True)
        ]
        flow = program.branches, program.addresses, program.following, program.stopped, program.begins
        told = f"{parts} {flow} {program.shape.group} {frame} {noting} {tracked} {line_bits}"
        return hashlib.sha256(f"{_lowering()} {self.tools.identity} {told}".encode()).hexdigest()


@lru_cache(maxsize=4096)
def _hashed(form: Form) -> str:
    return hashlib.sha256(repr([(int(op), *others) for op, *others in form.steps]).encode()).hexdigest()


@cache
def _lowering() -> str:
    """Return a hash of the files that decide what the code is."""
    seen = hashlib.sha256()
    for file in (Path(form_file), Path(toolchain_file), *sorted(Path(__file__).parent.rglob("*.py"))):
        seen.update(file.read_bytes())
    return seen.hexdigest()


@cache
def builder() -> CodeBuilder:
    """Return the builder for this host."""
    return CodeBuilder(toolchain(), Cache(folder()))
