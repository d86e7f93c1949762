"""Programs for the tests of the tool chain: everything written in the repository, and random ones."""

from __future__ import annotations

import random
from pathlib import Path

from microcode import LIBRARY, assemble
from pixelflow.isa import INSTRUCTIONS, Declaration, OperandSpec, Program, Register, Unit, operands
from pixelflow.simd.isa.operands import Count, Delta, Name, Target

EXAMPLES = sorted((LIBRARY.parent / "examples").glob("*.mc"))
LIBRARIES = sorted(path for folder in LIBRARY.iterdir() if folder.is_dir() for path in folder.glob("*.mc"))

MIXED = """
const BYTES = 4
param TURNS = 3
range x[4] at 0
range y[4]
range z[8]
overlay t[4] at x + 2
data x: float 1.5
data [100]: byte 1, 2, -1
data [120]: lane 2
macro add(d, a, b, n)
    repeat i in 0 .. n - 1
        LD R, a[i]
        if i == 0
            ADD R, b[i]
        else
            ADC R, b[i]
        end
        ST d[i], R
    end
end
macro make(n)
    routine fadd{n}(d, a, b) uses 200, 14, 230, 2
        add d, a, b, n
        LD S, #d
        ADD.E S, #b - 3
        JMP skip
        loop 3
            back: MSTEP
        end
        skip: LD M, [a - 1]
        loop TURNS
            loop 2
                SHLP.E
            end
            CALL go, d, #3
        end
        top:
    end
end
make 3
make 5
proc go(x, k)
    ADDP x, -2
    LD R, x[1]
    LD S, [1]
    LD M, #k
    MARK "deep \\"inside\\""
end
begin: CALL fadd3, x, y, z[1]
CALL fadd{3 + 2}, x, [x + 2], #-5
EMC_TreeIntoMem_Li x, 4, -1, 1 << 62, float(-0.5)
EMC_TreeLTZero_Li 0, 3, 1, 2, 3
EMC_PixCopy z, z, 8, TURNS + 1
EMC_SetLEE 1, 2, 3, 4, 5
LD R, [300]
stream tigc
WAIT 3
stream eigc
SIGNAL 3
"""


def _operand(spec: OperandSpec, chance: random.Random):
    match spec.kind:
        case operands.REGISTER:
            return chance.choice(list(Register)).name
        case operands.MEMORY:
            return f"[{chance.randrange(350)}]"
        case operands.SOURCE:
            return chance.choice(["R", "S", "M", f"[{chance.randrange(384)}]", f"#{chance.randrange(-128, 256)}"])
        case operands.BYTE:
            return f"#{chance.randrange(-128, 256)}"
        case Count(low=low, high=high, choices=choices):
            return str(chance.choice(choices or range(low, high + 1)))
        case Delta(low=low, high=high):
            return str(chance.choice(range(low, high + 1)))
        case operands.COEFFICIENT:
            return str(chance.randrange(-(1 << 63), 1 << 63))
        case Name():
            return f'"stage {chance.randrange(3)}"'
        case operands.PARAMETER:
            return f"P{chance.randrange(7)}"
        case Target():
            return f"l{chance.randrange(4)}"
        case operands.ARGUMENTS:
            return ", ".join(f"[{chance.randrange(384)}]" for _ in range(chance.randrange(1, 7)))


def random_text(seed: int, length: int = 60) -> str:
    """Instructions of one stream with random operands, and labels l0 to l3; without loops. Odd seeds: the TIGC."""
    chance = random.Random(seed)
    loops = {"LOOP", "ENDL"}
    others = {Unit.PE, Unit.LEE} if seed % 2 else {Unit.TASIC}
    declarations: list[Declaration] = [
        d for d in INSTRUCTIONS.values() if d.mnemonic not in loops and d.unit not in others
    ]
    lines = ["stream tigc"] if seed % 2 else []
    for label in range(4):
        lines.append(f"l{label}:")
        for _ in range(length // 4):
            declaration = chance.choice(declarations)
            gate = ".E" if declaration.gateable and chance.random() < 0.3 else ""
            operands = ", ".join(_operand(spec, chance) for spec in declaration.operands)
            lines.append(f"{declaration.mnemonic}{gate} {operands}")
    return "\n".join(lines) + "\n"


def every_program() -> dict[str, Program]:
    """The repository's own programs by name."""
    files: list[Path] = [*EXAMPLES, *LIBRARIES]
    return {"mixed": assemble(MIXED)} | {path.name: assemble(path) for path in files}


__all__ = ["EXAMPLES", "LIBRARIES", "MIXED", "every_program", "random_text"]
