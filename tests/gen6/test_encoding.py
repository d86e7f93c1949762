"""Do words mean what the public tools say, and do they come back as they were?"""

from __future__ import annotations

import random

import pytest

from gen6_bridge.assembler import assemble_text
from gen6_bridge.isa.declarations import INSTRUCTIONS
from gen6_bridge.isa.encoding import CONTROLS, DESTINATIONS, OPCODE, SOURCES, mask_of
from gen6_bridge.program import assemble_eu
from pixelflow.simd.errors import InputError
from tests.gen6.recorded import recorded, recorded_sources

RECORDED = recorded()
DEPARTS = {"LL2: if (8) LL3"}
"""The public assembler leaves the size of `if` at 1."""


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row["source"][:40])
def test_the_text_is_the_public_disassemblers(row: dict[str, str]) -> None:
    found = INSTRUCTIONS.decode_whole(int(row["word"], 16))
    assert found.text() == row["text"] and f"{found.whole:032x}" == row["word"]


def test_sources_are_assembled_to_the_public_assemblers_words() -> None:
    found = assemble_text("\n".join(f"{row['source']};" for row in RECORDED), "recorded").instructions
    for mine, row in zip(found, RECORDED, strict=True):
        word = int(row["word"], 16)
        if row["source"] in DEPARTS:
            assert mine.controls.size == 8 and mine.whole & ~(7 << 21) == word
        else:
            assert f"{mine.whole:032x}" == row["word"], row["source"]


def test_swizzles_of_three_sources_are_two_bits_a_channel() -> None:
    """The first source's are bits 65 to 72, x lowest: 3, 2, 1, 0 for wzyx; without letters 0, 1, 2, 3."""
    for letters, bits in ((".wzyx", 0x1B), ("", 0xE4)):
        text = f"mad (8) g1<1>F g2<4,4,1>{letters}F g3<4,4,1>F g4<4,4,1>F {{align16}};"
        (each,) = assemble_text(text, "").instructions
        assert each.whole >> 65 & 0xFF == bits


@pytest.mark.parametrize(("source", "words"), [each[1:] for each in recorded_sources()],
                         ids=[name for name, _, _ in recorded_sources()])  # fmt: skip
def test_directives_expressions_and_defaults_are_the_public_assemblers(source: str, words: list[str]) -> None:
    assert [f"{each.whole:032x}" for each in assemble_text(source, "recorded").instructions] == words


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("mov (8) g1<1>D g[a0]<1,0>D", "mov (8) g1<1>D g[a0.0, 0]<1,0>D"),
        ("mov (8) g1<1>D g[a0, 32]<1,0>D", "mov (8) g1<1>D g[a0.0, 32]<1,0>D"),
    ],
)
def test_an_address_that_is_left_out_is_the_first(short: str, whole: str) -> None:
    (one,), (other,) = (assemble_text(f"{each};", "text").instructions for each in (short, whole))
    assert one.whole == other.whole


def test_any_bits_come_back() -> None:
    random.seed(6)
    opcodes = [each.opcode for each in INSTRUCTIONS.values()]
    for _ in range(2000):
        word = random.getrandbits(128) & ~0x7F & ~(1 << 29) | random.choice(opcodes)
        found = INSTRUCTIONS.decode_whole(word)
        assert found.whole == word and found.text()


def test_fields_do_not_overlap() -> None:
    for name, fields in DESTINATIONS.items():
        for position, forms in enumerate(SOURCES):
            form = name if name in forms else "direct"
            claimed = [OPCODE, *CONTROLS, *fields, *forms[form]]
            assert mask_of(claimed).bit_count() == sum(each.width for each in claimed), (name, position)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (5 | 1 << 29, "compacted instruction"),
        (3, "opcode 3 is not an instruction"),
    ],
)
def test_undefined_words_are_refused(word: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        INSTRUCTIONS.decode_whole(word)


NINES = "9" * 5000


@pytest.mark.parametrize(
    ("source", "message", "hint"),
    [
        ("movv (8) g1<1>F g2<8,8,1>F", "unknown instruction movv", "did you mean mov?"),
        ("mov (8) g200<1>F g2<8,8,1>F", "there is no g200", "g0 to g127"),
        ("mov (7) g1<1>F g2<8,8,1>F", "a size of 7 channels", "1, 2, 4, 8 or 16"),
        ("mov (8) g1<3>F g2<8,8,1>F", "a stride of 3 elements", "1, 2 or 4"),
        ("mov (8) g1<1>F g2<8,3,1>F", "a width of 3", "one of 1, 2, 4, 8, 16"),
        ("jmpi (1) END", "no label END", None),
        ("add.gg (8) g1<1>F g2<8,8,1>F 1.0F", "gg is not a condition", "did you mean g?"),
        ("mov (8) g1<1>.xF g2<8,8,1>F {align1}", "a write mask belongs to 16-byte mode", None),
        ("mov (8) g1<1>W 70000W", "70000 does not fit 16 bits", None),
        ("send (8) 1 g1<1>UW null samplr(1, 0, F) mlen 1 rlen 1", "samplr is not a target", "did you mean sampler?"),
        ("mov (8) g1<1>F g2<8,8,1>F {aling1}", "aling1 is not an option", "did you mean align1?"),
        ("g5:\n nop", "g5 is a register, not a label", None),
        ("mov (8) g1<1>F (2*(3+4)F", "expected )", None),
        ("mov (1) g1<1>D 1/0D", "a division by 0", None),
        ("mov (1) g1<1>UDD 1D", "expected a type", "did you mean UD?"),
        ("mov (1) g1<1>D 1D 2D", "2 is one operand too many", "mov[.sat]"),
        (".declare acc Base=g1 ElementSize=4 Typ=F", "expected Type=", ".declare name Base="),
        (".declare m3 Base=g1 ElementSize=4 Type=F", "m3 is not a name for a register", None),
        (".default_execution_size 7", "a size of 7 channels", "1, 2, 4, 8 or 16"),
        (".default_regster_type F", "unknown directive", "did you mean .default_register_type?"),
        ("mov (8) colour<1> g1<8,8,1>F", "colour is not a register", None),
        ("(+f0.0.x) mov (8) g1<1>F g2<8,8,1>F", "belong to 16-byte mode", "add align16"),
        ("mov (8) g1<1>F g2<8,8,1>F {switch atomic}", "exclude each other", None),
        ("send (8) 1 g1<1>UW null read(256, 0, 0, 0) mlen 1 rlen 1", "256 does not fit", "0 to 255"),
        ("send (8) 1 g1<1>UW null vme(255, 7, 4, 3) mlen 1 rlen 1", "4 does not fit", "0 to 3"),
        ("send (8) 1 g1<1>UW null vme(255, 7, 3, 4) mlen 1 rlen 1", "4 does not fit", "0 to 3"),
        ("send (8) 1 g1<1>UW null null mlen 16 rlen 1", "16 does not fit the length", "0 to 15"),
        ("send (8) g1<1>UW m1 2 a0.0<0,1,0>UD", "a descriptor in a register", "write it as a number"),
        (".default_execution_size 8 8", "8 is one word too many for .default_execution_size", None),
        (".declare a Base=g10 Type=F", "expected ElementSize=", None),
        (".declare a Base=g10 ElementSize=4 DstRegion=<3> Type=F", "a stride of 3 elements", None),
        (
            ".declare a Base=g1 ElementSize=4 Type=F; .declare a Base=g2 ElementSize=4 Type=F",
            "a is declared already",
            None,
        ),
        (".data m1 F 1.0", "data go to a general register", None),
        (".data g128 F 1.0", "data go to a general register", None),
        (".data g1 FF 1.0", "FF is not a type of data", None),
        (".data g127.7 F 1.0, 2.0", "data leave the general registers", None),
        (".data g1 UB 256", "256 is not a UB", None),
        (".data g1 UB -1", "-1 is not a UB", None),
        (".data g1 D 1.5", "1.5 is not a D", None),
        ("(+f1) mov (8) g1<1>D 1D", "a predicate is f0.0 or f0.1, not f1", None),
        ("(+f0.any3h) mov (8) g1<1>D 1D", "any3h is not a predicate", None),
        ("(+f0.1) cmp.g.f0.0 (8) g1<1>D g2<8,8,1>D 1D", "predicate and condition use one flag word", None),
        ("cmp.g.f0.2 (8) g1<1>D g2<8,8,1>D 1D", "there is no f0.2", None),
        ("mov (8) g1<1>D 1D {align16} g3", "after the options", None),
        ("mov (8) g1<1>D 1D {EOT}", "EOT ends a thread with a message", None),
        ("math.g (8) g1<1>F g2<8,8,1>F inv", "has no condition: its function or target is encoded there", None),
        ("mov (8) g1.8<1>D 1D", "element 8 is past the register", None),
        (".declare a Base=g120 ElementSize=4 Type=F; mov (8) a(9)<1> 1.0F", "there is no g129", None),
        (".declare a Base=g10 ElementSize=4 Type=F; mov (8) a(-11)<1> 1.0F", "there is no g-1", None),
        ("mov (8) g1<1>D g[g1]<1,0>D", "an indirect operand begins at an address register", None),
        ("mov (8) g1<1>D g[a0.8]<1,0>D", "there is no a0.8", None),
        ("mov (8) g1<1>D g[a0.1, 512]<1,0>D", "an offset of 512 bytes", None),
        ("mov (8) g1<1>D g2<8,8>D", "a region has a vertical stride, a width and a horizontal stride", None),
        ("mov (8) g1<1>D g2<3,8,1>D", "a vertical stride of 3", None),
        ("mov (8) g1<1>D g2<8,8,1>.xD", "a swizzle belongs to 16-byte mode", None),
        ("mov (8) g1<1>D g2<8,8,1>.vD", "expected channels after the point", None),
        ("mov (8) g1<1>UB 1UB", "there are no immediates of one byte", None),
        ("mov (8) g1<1>D 1.5D", "1.5 is not a whole number", None),
        ("mad (8) g1<1>F g2.7<0,1,0>.yF g3<8,8,1>F g4<8,8,1>F", "past the register", None),
        ("mad (8) a0<1>F g2<8,8,1>F g3<8,8,1>F g4<8,8,1>F", "three sources go to floats", None),
        ("mad (8) g1<1>D g2<8,8,1>F g3<8,8,1>F g4<8,8,1>F", "three sources go to floats", None),
        ("mad (8) g[a0.1]<1>F g2<8,8,1>F g3<8,8,1>F g4<8,8,1>F", "three sources go to floats", None),
        ("mad (8) g1<1>F m2<8,8,1>F g3<8,8,1>F g4<8,8,1>F", "three sources are floats of general registers", None),
        ("if (8) 1.5 4", "expected a label, or a number of instructions", None),
        ("wait g1<0,1,0>UD", "expected a notification register", None),
        ("math (8) g1<1>F g2<8,8,1>F g3<8,8,1>F sine", "sine is not a function of math", None),
        ("send (8) g3 g1<1>UD null urb 0 mlen 1 rlen 1", "expected the first message register", None),
        ("send (8) 24 g1<1>UD null urb 0 mlen 1 rlen 1", "there is no m24", None),
        ("send (8) 1 g1<1>UD g2<8,8,1>UD urb 0 mlen 1 rlen 1", "the payload is in message registers", None),
        ("send (8) g1<1>UD g2<8,8,1>UD urb 0 mlen 1 rlen 1", "expected the first message register", None),
        ("send (8) 1 g1<1>UD null urb 64 mlen 1 rlen 1", "an offset of 64 registers", None),
        ("send (8) 1 g1<1>UD null sampler(1, 0, UB) mlen 1 rlen 1", "expected the type of the answer", None),
        (
            "send (8) 1 g1<1>UD null data_port(6, 0, 0, 0, 0, 1) mlen 1 rlen 1",
            "6 is not a cache of the data ports",
            None,
        ),
        ("send (8) 1 g1<1>UD null write(1, 2) mlen 1 rlen 1", "4 fields are wanted", None),
        (f"mov (8) g{NINES}<1>F g2<8,8,1>F", "a word of 5001 characters", "at most 80"),
        (f".data g{NINES} F 1.0", "a word of 5001 characters", "at most 80"),
        (f".data g1 F 1.0, {NINES}", "a number of 5000 characters", "at most 80"),
        (f"jmpi (1) {NINES}", "a number of 5000 characters", "at most 80"),
        (f"if (8) {NINES}", "a number of 5000 characters", "at most 80"),
        (f"mov (8) g1<1>F 0x{NINES}F", "a number of 5003 characters", "at most 80"),
        (f"mov (8) g1<1>D {'9' * 80}D", "a number has more than 64 bits", "at most 64"),
        (f"mov (8) g1<1>D {'9999999999*' * 900}1D", "a number has more than 64 bits", "at most 64"),
        (f"mov (8) g[a0.0, 1{'+999999999999999999' * 40}]<1>F g2<8,8,1>F", "more than 64 bits", "at most 64"),
        (f"mov (8) g1<1>D {'(' * 5000}1{')' * 5000}D", "a number is nested too deeply", "at most 50"),
        (f"mov (8) g1<1>D {'-' * 5000}(((1)D", "expected )", None),
        (f"if (8) {'9' * 80}", "does not fit", None),
    ],
)
def test_faults_say_what_and_where(source: str, message: str, hint: str | None) -> None:
    with pytest.raises(InputError) as caught:
        assemble_eu(source)
    fault = caught.value.faults[0]
    assert message in fault.message and fault.place is not None and fault.place.line == 1
    assert hint is None or hint in (fault.hint or "")
    assert len(str(caught.value)) < 1500


def test_a_label_is_defined_once() -> None:
    with pytest.raises(InputError, match=r":3:1: error: a is defined twice, first in line 1"):
        assemble_eu("a:\nnop\na:\nnop\n")


def test_nothing_is_no_program() -> None:
    with pytest.raises(InputError, match="the source is empty: there is nothing to assemble"):
        assemble_eu("# nothing\n")


def test_a_source_has_all_its_faults_at_once() -> None:
    with pytest.raises(InputError) as caught:
        assemble_eu("movv (8) g1<1>F g2<8,8,1>F\nnop\njmpi (1) END\n")
    assert len(caught.value.faults) == 2


def test_a_program_is_saved_and_read(tmp_path: object) -> None:
    program = assemble_eu(".data g10.2 W 1, -2\nL:\n mov (8) g20<1>W g10<8,8,1>W\n jmpi (1) L\n")
    again = type(program).from_json(program.to_json())
    assert again == program and again.labels == {"L": 0} and again.data[0].start == 324
    assert again.data[0].values == (1, 0, 0xFE, 0xFF)
