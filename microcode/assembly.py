"""Assembly of a program: that of a file, or of a text that includes one, is looked for in the store first."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar, overload

from microcode.kept import DECIDING, Included, kept_program
from microcode.places import EXAMPLES, example_file
from pixelflow.isa.program import PIXELFLOW
from pixelflow.isa.program import Program as PixelFlowProgram
from pixelflow.simd.errors import must_be
from pixelflow.simd.files import SOURCE, read_bytes, text_of
from pixelflow.simd.isa.program import AssembledProgram
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.store import digest_of, key_of

Code = TypeVar("Code", bound=AssembledProgram)


@overload
def assemble(source: str | Path, /, **parameters: int | float) -> PixelFlowProgram: ...
@overload
def assemble(source: str | Path, target: ProgramTarget[Code], /, **parameters: int | float) -> Code: ...
def assemble(
    source: str | Path, target: ProgramTarget[AssembledProgram] = PIXELFLOW, /, **parameters: int | float
) -> AssembledProgram:
    """Assemble a file (a path, or text that is a name ending in ``.mc``) or a text; return the program.

    The bare name of a shipped example, ``mandelbrot.mc``, means that example where there is no such file.

    ``parameters`` give each ``param`` of the file a number by its name: ``assemble("mandelbrot.mc", LIMIT=4)``.
    ``target`` is the machine that the program is for. Raises InputError with every fault that was found.
    """
    must_be(source, (str, Path), "the text of a program, or the path of its file")
    must_be(target, ProgramTarget, "a ProgramTarget", 'parameters have names: assemble("mandelbrot.mc", LIMIT=4)')
    for name, value in parameters.items():
        must_be(value, (int, float), f"a number for param {name}")
    if isinstance(source, Path) or (source.endswith(".mc") and "\n" not in source):
        shipped = None if Path(source).exists() else example_file(str(source))
        if shipped is not None:
            return assemble_file(EXAMPLES / shipped, f"examples/{shipped}", target, parameters)
        return assemble_file(Path(source), str(source), target, parameters)

    def make() -> tuple[AssembledProgram, Sequence[Included]]:
        from microcode.assembler import assembled  # not needed for a program that is kept
        from microcode.language import source_of

        return assembled(source_of(source), target, parameters)

    key = _key("", "", source.encode(), target, parameters) if "include" in source else None
    return make()[0] if key is None else kept_program(key, make, target.folders)


def assemble_file(path: Path, shown: str, target: ProgramTarget[Code], parameters: Mapping[str, int | float]) -> Code:
    """Return the program of a source file, which messages call ``shown``; raises InputError with every fault."""
    content = read_bytes(path, SOURCE, shown)
    place = path.resolve()

    def make() -> tuple[Code, Sequence[Included]]:
        from microcode.assembler import assembled
        from microcode.language import Source

        source = Source(shown, text_of(content, SOURCE, shown).removeprefix("\ufeff"), place)
        return assembled(source, target, parameters)

    key = _key(str(place), shown, content, target, parameters)
    return make()[0] if key is None else kept_program(key, make, target.folders)


def _key(
    place: str, shown: str, content: bytes, target: ProgramTarget[AssembledProgram], parameters: Mapping[str, object]
) -> str | None:
    """Return the key of a program; None for another language, and if an instruction is declared outside of its set."""
    if target.language is not None or not target.instructions.is_shipped:
        return None
    code = digest_of(*DECIDING, target.instructions.home)
    return key_of(code, target.identity, place, shown, hashlib.sha256(content).hexdigest(), sorted(parameters.items()))
