"""Random two-stream programs whose streams exchange data by transfers, in loops and routines."""

from __future__ import annotations

import random

HEADER = """\
range t[8]
overlay data[32] at 352
"""
FOOTER = """
routine noise(d) uses t
    LD R, d[0]
    ADD R, #29
    EC
    ST d[1], R
    EPUSH
    ENOT
    STI d[2], #7
    EPOP
    EMC_SetEnab
    XOR R, d[3]
    ST d[0], R
    loop 3
        ADC.E R, #5
        ST d[3], R
    end
end
"""
COMPARES = (
    "EMC_TreeEQZero_Li 0, 1, 0, 128, 0",
    "EMC_TreeEQZero_Li 0, 1, 0, 64, 0",
    "EMC_TreeLTZero_Li 0, 2, 1, 0, -9",
    "EMC_TreeGEZero_Li 0, 2, 3, -1, -7",
    "EMC_TreeNEZero_Li 0, 1, 1, 1, 0",
)
READS = ("TAS_MemRdBlock4 1", "TAS_MemRdBlock4 2", "TAS_MemRdBlock8 1", "TAS_MemRdRepeat4 {}, 1", "TAS_LoopBack")
WRITES = ("TAS_MemWrBlock4 2", "TAS_MemWrBlock8 2", "TAS_LoopBack")


def _noise(rng: random.Random) -> list[str]:
    """Work that leaves E as L, whatever it does to it meanwhile."""
    lines = []
    for _ in range(rng.randint(0, 3)):
        lines += rng.choice(
            [
                ["CALL noise, t"],
                ["CALL noise, t[3]"],
                ["LD R, #3", "SUB R, t", "ENC", "STI t[1], #9", "EMC_SetEnab"],
                ["EMC_TreeIntoMem_Li t, 4, 3, 5, 1"],
                ["EPUSH", *rng.sample(COMPARES, 1), "LD S, t[2]", "ST t[4], S", "EPOP"],
            ]
        )
    return lines


def _port(rng: random.Random) -> list[str]:
    lines = [f"EMC_TreeIntoMem_Li data, 4, {8 * rng.randint(0, 9)}, {8 * rng.randint(0, 9)}, {8 * rng.randint(0, 99)}"]
    for at in range(4, 32, rng.choice([4, 8])):
        lines.append(f"EMC_TreeIntoMem_Li data[{at}], 4, {rng.randint(0, 99)}, {rng.randint(0, 999)}, {at}")
    return lines


def _marks(rng: random.Random) -> list[str]:
    compares = rng.sample(COMPARES, rng.randint(0, 2))
    return [*compares, "EMC_MarkRead", "EMC_MarkWrite", "EMC_SetEnab"]


def program(seed: int) -> str:
    """Return a program that runs to its end on any array; its marks follow from the program."""
    rng = random.Random(seed)
    emcs: list[str] = []
    texture = ["TAS_SetStep 1", *(f"TAS_SetCrossbar {bit}, {bit - 3}" for bit in range(3, 10))]
    routines: list[str] = []
    for number in range(rng.randint(1, 4)):
        body = [*_noise(rng), *_port(rng), *_marks(rng), "SIGNAL 0", *_noise(rng), "WAIT 1"]
        body += [f"LD R, [{320 + rng.randrange(32)}]", "ADD R, t", "ST t, R", *_noise(rng)]
        transfer = rng.choice(READS if rng.random() < 0.6 else WRITES).format(rng.choice((1, 2, 4, 8, 16)))
        other = [f'MARK "exchange {number}"', "WAIT 0", *["TAS_AddCounter 3"] * rng.randint(0, 3), transfer, "SIGNAL 1"]
        if rng.random() < 0.5:
            rounds = rng.randint(0, 3)
            body, other = [f"loop {rounds}", *body, "end"], [f"loop {rounds}", *other, "end"]
        if rng.random() < 0.4:
            routines += [f"routine step{number}() uses t", *body, "end"]
            narrowed = rng.sample(COMPARES, rng.randint(0, 1))
            body = ["EPUSH", *narrowed, f"CALL step{number}", "EPOP"]
        emcs += [f'MARK "step {number}"', *body]
        texture += other
    return "\n".join([HEADER, *emcs, "stream tigc", *texture, *routines, FOOTER])
