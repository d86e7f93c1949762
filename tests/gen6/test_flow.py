"""Do channels go their own ways as if each were alone?"""

from __future__ import annotations

import numpy as np
import pytest

from gen6_bridge.claims.nests import wrong_channels
from gen6_bridge.isa.declarations import INSTRUCTIONS
from gen6_bridge.machine import run_program
from gen6_bridge.program import TARGET, EuProgram, assemble_eu
from gen6_bridge.time import EuConfig
from gen6_bridge.unit import ExecutionUnit, RunFunctions
from pixelflow.simd.errors import CycleLimitError, InputError, MachineFault

THREADS, NESTS = 64, 10
FEW, MANY = 2, 10_000


@pytest.mark.parametrize("seed", range(NESTS))
def test_random_nests_equal_each_channel_alone(seed: int) -> None:
    """10 nests of 1,024 channels each."""
    assert wrong_channels(seed, THREADS) == 0


def test_a_channel_that_differs_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without execution by channel, those that the program changes are wrong."""
    monkeypatch.setattr("gen6_bridge.claims.nests._through", lambda statements, values: None)
    assert 0 < wrong_channels(0, FEW) <= 16 * FEW


@pytest.mark.slow
def test_ten_thousand_nests_equal_each_channel_alone() -> None:
    """Of 32 channels each, half of them in a thread whose dispatch mask is random."""
    assert [seed for seed in range(NESTS, NESTS + MANY) if wrong_channels(seed, FEW)] == []


def test_a_jump_depends_on_channel_0_alone() -> None:
    unit = ExecutionUnit(assemble_eu("(+f0.0) jmpi (1) END\nmov (16) g10<1>D 1D\nEND:\nnop\n").code, 2)
    unit.set_flags(np.array([1, 0xFFFE]))
    unit.run()
    assert unit.general[:, 10].view(np.int32).tolist() == [[0] * 8, [1] * 8] and unit.issued.tolist() == [2, 3]


def test_a_call_and_a_return_may_have_a_predicate() -> None:
    lines = ["(+f0.0) call (2) g4<1>D SUB", "mov (8) g10<1>D 1D", "jmpi END", "SUB:", "mov (8) g11<1>D 1D"]
    lines += ["(-f0.0) ret (2) null g4<2,2,1>D", "mov (8) g12<1>D 1D", "ret (2) null g4<2,2,1>D", "END:", "nop"]
    unit = ExecutionUnit(assemble_eu("\n".join(lines)).code, 2)
    unit.set_flags(np.array([0xFFFF, 0]))
    unit.run()
    assert unit.general[:, 10:13, 0].tolist() == [[1, 1, 1], [1, 0, 0]] and unit.issued.tolist() == [8, 4]


def test_a_run_has_a_sampler_a_urb_and_memory() -> None:
    """Half a texel past the centre of column 3 and on that of row 5; two vertices; a block that comes back."""
    source = """
    mov (1) m2.2<1>UD 0x4000UD {align1 mask_disable}
    mov (8) m3<1>UD 0x40000UD
    mov (8) m4<1>UD 0x58000UD
    send (8) 2 g20<1>UW null sampler(1, 0, F) mlen 3 rlen 3
    mov (8) m6<1>F 1.0F
    mov (8) m5<1>UD 0x43210V
    send (8) 5 null null urb 3 interleave mlen 2 rlen 0
    mov (1) m5.2<1>UD 6UD
    send (8) 5 null null write(0, 2, 8, 0) mlen 2 rlen 0
    send (8) 5 g30<1>UD null read(0, 4, 2, 0) mlen 1 rlen 1
    """
    functions = RunFunctions()
    unit = ExecutionUnit(assemble_eu(source).code, dispatch=0xFF, functions=functions)
    unit.run()
    assert unit.general[0, 20:24].view(np.uint32)[:, 0].tolist() == [56, 80, 255, 0]
    urb = functions.memory[1 << 16 :].view(np.float32)
    assert np.flatnonzero(urb).tolist() == [24, 25, 26, 27, 32, 33, 34, 35]  # the rows 3 + 0 and 3 + 1
    assert unit.floats(30)[0].tolist() == [1.0] * 8 and functions.memory[96:128].view(np.float32).tolist() == [1.0] * 8


def test_an_endless_thread_is_stopped() -> None:
    unit = ExecutionUnit(assemble_eu("TOP:\nadd (1) g1<1>D g1<0,1,0>D 1D\njmpi (1) TOP\n").code)
    with pytest.raises(CycleLimitError, match="still running after 1,000 instructions"):
        unit.run(limit=1000)
    assert int(unit.issued[0]) == 1000


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("mov (8) g127<1>D g127.4<8,8,1>D", "a source reaches byte"),
        ("mov (8) g1<1>D m1<8,8,1>D", "never read as a source"),
        ("mov (8) g1<1>D mask0<0,1,0>UD", "mask registers are undefined"),
        ("mov.r.f0.0 (8) g1<1>F g2<8,8,1>F", "condition r is of instructions that round"),
        ("cmp.r.f0.0 (8) null<1>F g2<8,8,1>F 1.0F", "condition 7 means nothing here"),
        ("mov (8) m[a0.0, 32]<1>F g2<8,8,1>F", "only general registers are reached"),
        ("add.e.f0.0 (32) g1<1>UB g2<16,16,1>UB 1UW {mask_disable}", "32 elements have no flags"),
        ("send (8) 1 g1<1>UW null sampler(1, 0, F) mlen 3 rlen 1", "no function answers"),
        ("send (8) 1 g1<1>UW null sampler(1, 0, F) mlen 1 rlen 1", "no function answers"),
        ("and (8) g1<1>F g2<8,8,1>F g3<8,8,1>F", "logic and shifts are of integers"),
        ("shr (8) g1<1>F g2<8,8,1>F 1F", "logic and shifts are of integers"),
        ("shl (8) g1<1>F g2<8,8,1>F 1F", "logic and shifts are of integers"),
        ("asr (8) g1<1>F g2<8,8,1>F 1F", "logic and shifts are of integers"),
        ("lzd (8) g1<1>F g2<8,8,1>F", "logic and shifts are of integers"),
        ("xor (8) g1<1>D g2<8,8,1>D -g3<8,8,1>D", "logic operations have no modifiers"),
        ("not (8) g1<1>W (abs)g2<8,8,1>W", "logic operations have no modifiers"),
    ],
)
def test_undefined_behaviour_is_a_fault_with_its_instruction(source: str, message: str) -> None:
    with pytest.raises(MachineFault, match=message) as caught:
        ExecutionUnit(assemble_eu(source).code).run()
    assert "instruction 0" in str(caught.value)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (0x00000000_008D1600_20200000 << 32 | 0x00600001, "there is no architecture register 0xb0"),
        (0x02180200_00000000_22801FE1 << 32 | 0x04600031, "a message of a constant"),
    ],
)
def test_undefined_words_are_a_fault(word: int, message: str) -> None:
    with pytest.raises(MachineFault, match=message):
        ExecutionUnit([INSTRUCTIONS.decode_whole(word)]).run()


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (0x00000000_008D1600_20200000 << 32 | 0x00600001, "instruction 1: there is no architecture register 0xb0"),
        (0x02180200_00000000_22801FE1 << 32 | 0x04600031, "instruction 1: send: the payload is a constant"),
    ],
)
def test_undefined_words_that_are_never_executed_are_refused(word: int, message: str) -> None:
    jump = assemble_eu("jmpi (1) END\nnop\nEND:\nnop\n").words
    words = [*jump[:4], *(word >> 32 * at & 0xFFFFFFFF for at in range(4)), *jump[8:]]
    with pytest.raises(InputError, match=message):
        run_program(EuProgram(words, "forged"))


def test_an_address_past_the_registers_is_a_fault() -> None:
    unit = ExecutionUnit(assemble_eu("mov (1) a0.0<1>UW 4090UW\nmov (4) g1<1>F g[a0.0]<4,4,1>F\n").code)
    with pytest.raises(MachineFault, match="lane 1"):
        unit.run()


def test_the_shipped_loop_counts_rounds_as_each_channel_does_alone() -> None:
    """Channels leave the Mandelbrot loop one by one; the same operations in binary32 by numpy."""
    run = run_program(assemble_eu((TARGET.folders[0] / "mandelbrot.g6a").read_text()), config=EuConfig(count=32))
    real = np.float32(-1.75) + np.float32(0.3125) * np.arange(8, dtype=np.float32)
    imaginary = (np.arange(32, dtype=np.float32) * np.float32(0.0833333) + np.float32(-1.25))[:, None]
    x, y = (np.zeros((32, 8), np.float32) for _ in range(2))
    rounds, inside = np.zeros((32, 8), int), np.ones((32, 8), bool)
    for _ in range(24):
        inside &= x * x + y * y < 4
        x, y = np.where(inside, x * x - y * y + real, x), np.where(inside, x * y * 2 + imaginary, y)
        rounds += inside
    assert np.array_equal(run.unit.general[:, 20].view(np.int32), rounds) and len(np.unique(rounds)) > 2
