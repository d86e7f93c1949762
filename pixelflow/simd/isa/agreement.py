"""Do a declaration and its meaning say the same? The meaning is carried out on names of state, which says what it does.

Costs, energy and bounds are read off declarations, results off meanings. Where the two differ nothing else would
notice: a byte that is read and not declared takes no energy, and may take no cycle. So a machine asks here, once for
each instruction, when it is declared. Tried are operands of every sort, with the gate and without.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import product

from pixelflow.simd.errors import InternalError
from pixelflow.simd.isa.declare import Declaration, Instruction
from pixelflow.simd.isa.effects import Effects, effects
from pixelflow.simd.isa.operands import Mem
from pixelflow.simd.report import counted

__all__ = ["agree_on_memory", "agree_on_state", "must_agree"]

Disagreements = Callable[[Instruction, Effects], Iterator[str]]
"""Yields where an instruction's declaration and what its meaning did differ: what is declared, what is done."""


def must_agree(declaration: Declaration, judges: Iterable[Disagreements]) -> None:
    """Raise InternalError where a declaration and its meaning disagree: which, what is declared, and what is done."""
    for instruction in _tried(declaration):
        try:
            found = effects(instruction.apply)
        except Exception as error:  # a meaning may do anything
            message = f"`{instruction.text()}` cannot be carried out: {type(error).__name__}: {error}"
            raise InternalError(f"{declaration.mnemonic}: {message}") from error
        wrong = [each for judge in judges for each in judge(instruction, found)]
        if wrong:
            told = "".join(f"\n    `{instruction.text()}` {each}" for each in wrong)
            raise InternalError(f"{declaration.mnemonic}: its declaration and its meaning disagree{told}")


def agree_on_memory(instruction: Instruction, found: Effects, *, reads: int, writes: int) -> Iterator[str]:
    """Yield disagreements about memory: bytes that the declared steps read and write, and that the operands name.

    A byte that the meaning asks for twice may have been declared once or twice.
    """
    steps = ", ".join(dict.fromkeys(step.name for step in instruction.steps)) or "none"
    for declared, done, what in ((reads, found.loads, "read from"), (writes, found.stores, "written to")):
        if not len(set(done)) <= declared <= len(done):
            yield (
                f"declares {counted(declared, 'byte')} {what} memory (steps: {steps}), "
                f"its meaning has {_bytes(done)} {what} it"
            )
    named = {first.offset + byte for first, size in instruction.touches for byte in range(size)}
    touched = {*found.loads, *found.stores}
    if touched != named:
        yield f"names {_bytes(named)} of memory in its operands (sized_by), its meaning touches {_bytes(touched)}"


def agree_on_state(instruction: Instruction, found: Effects, *, names: Collection[str]) -> Iterator[str]:
    """Yield disagreements about registers and flags: those that the machine has, and the gate that is declared."""
    unknown = sorted({each for each in (*found.reads, *found.writes) if isinstance(each, str)} - {*names})
    if unknown:
        yield f"has a meaning that asks for {', '.join(unknown)}, the machine has {', '.join(names)}"
    gate = instruction.declaration.gate
    if gate is None or not instruction.gated:
        return
    free = [each for each in found.writes if each in found.everywhere or gate not in found.where[each]]
    if free:
        shown = ", ".join(f"[{each}]" if isinstance(each, int) else each for each in free)
        yield f"declares that it writes where {gate} is set alone, its meaning writes {shown} elsewhere too"


def _tried(declaration: Declaration) -> Iterator[Instruction]:
    """Yield the instruction with operands of every sort, and with the gate where it has one."""
    examples = [spec.kind.examples(position) for position, spec in enumerate(declaration.operands)]
    for operands in product(*examples):
        for gated in (False, True)[: 1 + declaration.gateable]:
            yield Instruction(declaration, operands, gated)


def _bytes(rows: Collection[int]) -> str:
    """Return how many bytes, and which: ``2 ([64], [65])``."""
    once = sorted(set(rows))
    shown = ", ".join(str(Mem(row)) for row in once[:4]) + (", .." if len(once) > 4 else "")
    return f"{len(rows)} ({shown})" if once else "0"
