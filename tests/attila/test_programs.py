"""Do instructions do what their rows say, and are texts read, ordered, encoded and refused as they should be?"""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from attila_bridge.assembler import ShaderProgram, assemble_shader
from attila_bridge.function.shading import NativeProgram, Shader
from attila_bridge.isa.declarations import INSTRUCTIONS, ShaderUnit
from attila_bridge.isa.operands import ShaderStage, shader_shape
from pixelflow.simd.errors import InputError, MachineFault
from pixelflow.simd.lanes.words import WordsEngine
from tests.attila.recorded import COLORED

HALF_PI = 1.5707963705062866
"""The float32 that is nearest to it."""

ROWS = [
    # instruction, color, (first constant, second constant), the first component(s) of the result
    ("MOV r, c.wzyx;", (1, 2, 3, 4), (), (4, 3, 2, 1)),
    ("MOV r, -c;", (1, -2, 0.5, 4), (), (-1, 2, -0.5, -4)),
    ("ABS r, c;", (1, -2, -0.5, 4), (), (1, 2, 0.5, 4)),
    ("ADD r, c, k;", (1, 2, 3, 4), ((0.5, 0.25, -3, 1),), (1.5, 2.25, 0, 5)),
    ("SUB r, c, k;", (1, 2, 3, 4), ((0.5, 0.25, -3, 1),), (0.5, 1.75, 6, 3)),
    ("MUL r, c, k.y;", (1, 2, 3, 4), ((9, 0.5, 9, 9),), (0.5, 1, 1.5, 2)),
    ("MAD r, c, k, l;", (1, 2, 3, 4), ((2, 2, 2, 0.5), (1, 0, -1, 10)), (3, 4, 5, 12)),
    ("DP3 r, c, k;", (1, 2, 3, 4), ((1, 10, 100, 1000),), (321, 321, 321, 321)),
    ("DP4 r, c, k;", (1, 2, 3, 4), ((1, 10, 100, 1000),), (4321, 4321, 4321, 4321)),
    ("DPH r, c, k;", (1, 2, 3, 4), ((1, 10, 100, 1000),), (1321, 1321, 1321, 1321)),
    ("MIN r, c, k;", (1, 2, 3, -4), ((2, 1, 3, 0),), (1, 1, 3, -4)),
    ("MAX r, c, k;", (1, 2, 3, -4), ((2, 1, 3, 0),), (2, 2, 3, 0)),
    ("SLT r, c, k;", (1, 2, 3, -4), ((2, 1, 3, 0),), (1, 0, 0, 1)),
    ("SGE r, c, k;", (1, 2, 3, -4), ((2, 1, 3, 0),), (0, 1, 1, 0)),
    ("CMP r, c, k, l;", (-1, 0, 3, -4), ((1, 2, 3, 4), (5, 6, 7, 8)), (1, 6, 7, 4)),
    ("FRC r, c;", (1.25, -1.25, 16777216, -3), (), (0.25, 0.75, 0, 0)),
    ("RCP r, c.y;", (0, 8, 0, 0), (), (0.125,) * 4),
    ("RCP r, c.x;", (0, 0, 0, 0), (), (math.inf,) * 4),
    ("RCP r, c.wzyx;", (2, 4, 5, 8), (), (0.125,) * 4),
    ("RSQ r, c.x;", (-16, 0, 0, 0), (), (0.25,) * 4),
    ("EX2 r, c.x;", (-3, 0, 0, 0), (), (0.125,) * 4),
    ("LG2 r, c.x;", (0.125, 0, 0, 0), (), (-3,) * 4),
    ("SIN r, c.x;", (HALF_PI, 0, 0, 0), (), (1,) * 4),
    ("COS r, c.x;", (0, 0, 0, 0), (), (1,) * 4),
    ("DST r, c, k;", (9, 2, 3, 9), ((9, 5, 9, 7),), (1, 10, 3, 7)),
    ("LIT r, c;", (0.5, 2, 9, 3), (), (1, 0.5, 8, 1)),
    ("LIT r, c;", (-0.5, 2, 9, 3), (), (1, 0, 0, 1)),
    ("LIT r, c;", (0.5, -2, 9, 3), (), (1, 0.5, 0, 1)),
    ("MUL_SAT r, c, k;", (1, 2, -3, 0.25), ((0.5, 3, 1, 1),), (0.5, 1, 0, 0.25)),
    ("MOV r, c;MOV r.yw, k;", (1, 2, 3, 4), ((5, 6, 7, 8),), (1, 6, 3, 8)),
    ("MOV r, c;MOV r, r.yzwx;MOV r.x, r;", (1, 2, 3, 4), (), (2, 3, 4, 1)),
    ("MOV r, 0.5;MOV r.xy, { 7, 8 };", (1, 2, 3, 4), (), (7, 8, 0.5, 0.5)),
]
VERTEX_ROWS = [
    ("EXP r, c.x;", (2.5, 0, 0, 0), (4, 0.5, float(np.float32(2**2.5)), 1)),
    ("LOG r, c.x;", (-6, 0, 0, 0), (2, 1.5, float(np.float32(math.log2(6))), 1)),
    ("ARL a.x, c.x;MOV r, m[a.x + 1];", (1.5, 0, 0, 0), (5, 6, 7, 8)),
    ("ARL a.x, c.y;MOV r, m[a.x + 1];", (0, -0.5, 0, 0), (1, 2, 3, 4)),
]

ARRAY = """!!ARBvp1.0
TEMP r;
ADDRESS a;
PARAM m[] = { { 1, 2, 3, 4 }, { 9, 9, 9, 9 }, { 5, 6, 7, 8 } };
ATTRIB c = vertex.color;
BODY
MOV result.color, r;
END"""


def fragment_result(body: str, color: tuple[float, ...], constants: tuple[tuple[float, ...], ...]) -> list[float]:
    """Shade one quad, and return the colour of its last fragment."""
    names = "".join(
        f"PARAM {name} = {{ {', '.join(map(repr, each))} }};" for name, each in zip("kl", constants, strict=False)
    )
    text = f"!!ARBfp1.0\nTEMP r;ATTRIB c = fragment.color;{names}{body}MOV result.color, r;\nEND"
    inputs = np.tile(np.array(color, np.float32), 4)[None]
    found: NDArray[np.float32] = Shader(assemble_shader(text)).quads({1: inputs}, 1).output(1)[3]
    return found.tolist()


@pytest.mark.parametrize(("body", "color", "constants", "result"), ROWS, ids=[row[0] for row in ROWS])
def test_an_instruction_gives_its_row(
    body: str, color: tuple[float, ...], constants: tuple[tuple[float, ...], ...], result: tuple[float, ...]
) -> None:
    assert fragment_result(body, color, constants) == list(result)


@pytest.mark.parametrize(("body", "color", "result"), VERTEX_ROWS, ids=[row[0] for row in VERTEX_ROWS])
def test_an_instruction_of_vertices_gives_its_row(
    body: str, color: tuple[float, ...], result: tuple[float, ...]
) -> None:
    program = assemble_shader(ARRAY.replace("BODY", body))
    assert Shader(program).vertices({3: np.array([color], np.float32)}, 1).output(1)[0].tolist() == list(result)


def test_an_address_past_the_constants_is_a_fault() -> None:
    program = assemble_shader(ARRAY.replace("BODY", "ARL a.x, c.x;MOV r, m[a.x + 1];"))
    with pytest.raises(MachineFault, match="reaches byte 0x30, the memory has 0x30 bytes"):
        Shader(program).vertices({3: np.array([[2, 0, 0, 0]], np.float32)}, 1)


def test_every_instruction_has_a_row() -> None:
    rows = [body for body, *_ in (*ROWS, *VERTEX_ROWS)]
    elsewhere = {each for each in INSTRUCTIONS if INSTRUCTIONS[each].unit is ShaderUnit.TEXTURE} | {"KIL"}
    missing = [each for each in INSTRUCTIONS if each not in elsewhere and not any(each in body for body in rows)]
    assert not missing


def test_multiply_and_add_rounds_twice() -> None:
    value = float(np.float32(1 + 2**-12))
    once = value * value - 1
    twice = float(np.float32(np.float32(value * value) - np.float32(1)))
    assert once != twice
    assert fragment_result("MAD r, c, c, k;", (value,) * 4, ((-1.0,) * 4,))[0] == twice


def test_the_reciprocal_of_a_root_rounds_before_the_root() -> None:
    value = np.float32(3)
    expected = np.float32(np.sqrt(np.float64(np.float32(1) / value)))
    assert fragment_result("RSQ r, c.x;", (3, 0, 0, 0), ())[0] == float(expected)


def test_components_that_a_vertex_lacks_are_0_0_0_1() -> None:
    text = "!!ARBvp1.0\nMOV result.color, vertex.texcoord[0];MOV result.position, vertex.color;END"
    found = Shader(assemble_shader(text)).vertices({8: np.array([[5, 6]], np.float32)}, 1)
    assert found.output(1).tolist() == [[5, 6, 0, 1]] and found.output(0).tolist() == [[0, 0, 0, 1]]


def test_a_fragment_is_killed_by_one_negative_component() -> None:
    text = "!!ARBfp1.0\nKIL fragment.color;MOV result.color, fragment.color;END"
    inputs = np.array([[0, 0, 0, 0, 1, -1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -0.5]], np.float32)
    assert Shader(assemble_shader(text)).quads({1: inputs}, 1).killed.tolist() == [False, True, False, True]


# --- text ---------------------------------------------------------------------------------------------------------


def loaded(body: str, kind: str = "fp") -> list[str]:
    """Return a program as it is loaded."""
    return assemble_shader(f"!!ARB{kind}1.0\nTEMP a, b;{body}\nEND").loaded_text


def test_registers_are_numbered_as_the_machine_has_them() -> None:
    body = "PARAM k = { 1 };MUL a.xy, fragment.texcoord[2], k.x;ADD result.color, a, -fragment.position;"
    assert loaded(body) == ["mul r0.xy, i8, c0.x", "add o1, r0, -i0 <- end"]
    body = "MOV a, vertex.attrib[5];MOV result.texcoord[1], a;MOV result.position, vertex.normal;"
    assert loaded(body, "vp")[0] == "mov r0, i5" and loaded(body, "vp")[2] == "mov o7, r0 <- end"
    assert loaded("MOV result.depth.z, |fragment.color.w|;") == ["mov o0.z, |i1.w| <- end"]


def test_equal_constants_without_a_name_share_a_register() -> None:
    program = assemble_shader(
        "!!ARBfp1.0\nTEMP a;MUL a, fragment.color, 2.0;MAD result.color, a, { 2, 2, 2, 2 }, 0.5;END"
    )
    assert program.constants == ((2, 2, 2, 2), (0.5, 0.5, 0.5, 0.5))


def test_an_independent_instruction_goes_where_a_result_is_waited_for() -> None:
    """A move has its result three cycles after, so one instruction that needs it could go in the fifth."""
    body = "MOV a, vertex.color;MUL a, a, a;MOV result.position, vertex.position;MOV result.color, a;"
    assert loaded(body, "vp") == ["mov r0, i3", "mov o0, i0", "mul r0, r0, r0", "mov o1, r0 <- end"]


def test_the_result_that_most_read_goes_first() -> None:
    body = "MOV b, fragment.color;TEX a, fragment.texcoord[0], texture[0], 2D;ADD b, b, a;MUL result.color, b, a;"
    assert loaded(body)[:2] == ["tex r0, i6, t0", "mov r1, i1"]


def test_order_keeps_what_is_read_before_it_is_written_again() -> None:
    body = "MOV a, fragment.color;MOV b, a;MOV a, fragment.texcoord[0];ADD result.color, a, b;"
    found = loaded(body)
    assert found.index("mov r1, r0") < found.index("mov r0, i6")


def test_words_come_back_as_the_same_instructions() -> None:
    program = assemble_shader(
        "!!ARBfp1.0\nTEMP a;PARAM k = { 1, 2, 3, 4 };MAD_SAT a.xw, -fragment.color.wzyx, |k.y|, k;"
        "TXP a, a, texture[3], 2D;KIL -a;MOV result.color, a;END"
    )
    again = ShaderProgram.from_json(program.to_json())
    assert again.loaded_text == program.loaded_text and again.constants == program.constants
    assert again.stage is ShaderStage.FRAGMENT and again.loaded_text[0] == "mad_sat r0.xw, -i1.wzyx, |c0.y|, c0"


FAULTS = [
    ("!!ARBfp2.0\nEND", 1, "does not begin with !!ARBfp2.0", "!!ARBvp1.0, !!ARBfp1.0"),
    ("!!ARBfp1.0\nMADD a, b, c, d;\nEND", 2, "unknown instruction MADD", "did you mean MAD?"),
    ("!!ARBfp1.0\nLRP a, b, c, d;\nEND", 2, "LRP", "MAD"),
    ("!!ARBfp1.0\nTEMP a;\nMOV a, aa;\nEND", 3, "unknown name aa", "did you mean a?"),
    ("!!ARBfp1.0\nTEMP a, a;\nEND", 2, "a is declared twice", ""),
    ("!!ARBfp1.0\nMOV result.color, vertex.color;\nEND", 2, "a fragment program knows no vertex attributes", ""),
    (
        "!!ARBfp1.0\nMOV result.colour, fragment.color;\nEND",
        2,
        "there is no result.colour",
        "did you mean result.color?",
    ),
    ("!!ARBfp1.0\nMOV fragment.color, fragment.color;\nEND", 2, "cannot be written", "temporaries and results"),
    ("!!ARBfp1.0\nTEMP a;\nMOV a, result.color;\nEND", 3, "results cannot be read", "temporary"),
    ("!!ARBfp1.0\nTEMP a;\nMOV a.yx, fragment.color;\nEND", 3, ".yx is not a write mask", "in order"),
    ("!!ARBfp1.0\nTEMP a;\nMOV a, fragment.color.xy;\nEND", 3, ".xy is not a swizzle", "one component"),
    ("!!ARBfp1.0\nTEMP a;\nRCP a, fragment.color;\nEND", 3, "RCP reads one component", ".x, .y, .z or .w"),
    ("!!ARBfp1.0\nTEMP a;\nTEX a, fragment.texcoord[0], texture[0], CUBE;\nEND", 3, "a target CUBE", "2D"),
    ("!!ARBfp1.0\nTEMP a;\nTEX a, fragment.texcoord[0], texture[16], 2D;\nEND", 3, "0 to 15", ""),
    *(
        (f"!!ARBfp1.0\nTEMP a;\nMOV a, {operand};\nEND", 3, message, "")
        for operand, message in (
            (f"fragment.texcoord[{'9' * 5000}]", "a number, an integer 0 to 9, is wanted here"),
            ("{ 1, 1e39, 1, 1 }", "a number of at most 3.4028235e+38 is wanted here"),
            (f"{{ -{'9' * 5000} }}", "a number of at most 3.4028235e+38 is wanted here"),
        )
    ),
    ("!!ARBfp1.0\nTEMP a;\nEXP a, fragment.color.x;\nEND", 3, "a fragment program has no EXP", ""),
    ("!!ARBvp1.0\nADDRESS a;\nADDRESS b;\nEND", 3, "there is one address register", ""),
    ("!!ARBvp1.0\nPARAM m[2] = { { 1 } };\nEND", 2, "m has 2 elements, 1 values are given", ""),
    ("!!ARBvp1.0\nPARAM k = state.matrix.mvp;\nEND", 2, "scenes have no state of GL", ""),
    ("!!ARBfp1.0\nMOV result.color, fragment.color\nEND", 2, "this statement has no end", "';'"),
    ("!!ARBfp1.0\nMOV result.color, fragment.color; %\nEND", 2, "'%' means nothing here", ""),
    ("!!ARBfp1.0\nMOV result.color, fragment.color;", None, "a program ends with END", ""),
    ("!!ARBfp1.0\nEND", None, "the program has no instruction", ""),
]


@pytest.mark.parametrize(("text", "line", "message", "hint"), FAULTS, ids=[row[2] for row in FAULTS])
def test_a_fault_is_named_with_its_line(text: str, line: int | None, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        assemble_shader(text, file="own")
    found = str(caught.value)
    assert message in found and hint in found
    assert found.startswith("own: error" if line is None else f"own:{line}:")


def test_the_bounds_of_numbers_are_numbers() -> None:
    """Leading zeros are no digits too many."""
    text = f"!!ARBfp1.0\nMUL result.color, fragment.texcoord[{'0' * 5000}7], {{ 3.4028235e38, -3.4028235e38 }};\nEND"
    most = float(np.finfo(np.float32).max)
    assert assemble_shader(text).constants[0][:2] == (most, -most)


def test_all_faults_are_said_at_once() -> None:
    with pytest.raises(InputError) as caught:
        assemble_shader("!!ARBfp1.0\nMOVE a, b;\nADD c, d, e;\nEND")
    assert len(caught.value.faults) == 2


def test_a_plain_program_has_the_machines_latencies() -> None:
    program = assemble_shader(COLORED)
    assert [each.mnemonic for each in program.instructions] == ["MOV"]
    assert {each: INSTRUCTIONS[each].latency for each in ("MOV", "LIT", "RSQ", "EXP", "SIN", "TEX", "TXP")} == {
        "MOV": 3, "LIT": 4, "RSQ": 5, "EXP": 9, "SIN": 12, "TEX": 1, "TXP": 5,
    }  # fmt: skip


def test_native_code_gives_the_same_bits() -> None:
    """All rows of fragments one after the other, each with a register of its own, on groups of any numbers."""
    pytest.importorskip("llvmlite")
    rows = [row for row in ROWS if len(row[2]) < 2 and "MOV r" not in row[0]][:12]
    text = "!!ARBfp1.0\nTEMP s;ATTRIB c = fragment.color;MOV s, c;"
    for at, (body, _, constants, _) in enumerate(rows):
        values = ", ".join(map(repr, constants[0] if constants else (1, 2, 3, 4)))
        text += f"TEMP r{at};PARAM k{at} = {{ {values} }};"
        text += body.replace(" r,", f" r{at},").replace(" k", f" k{at}") + f"MAD s, r{at}, 0.37, s;"
    program = assemble_shader(text + "KIL s;MOV result.color, s;\nEND")
    bits = np.random.default_rng(4).integers(0, 1 << 32, (50, 16), np.uint32)
    shaders = [Shader(program, engine) for engine in ("rows", "compiled")]
    plain, native = (shader.quads({1: bits.view(np.float32)}, 50) for shader in shaders)
    assert (plain.output(1).view(np.uint32) == native.output(1).view(np.uint32)).all()
    assert (plain.killed == native.killed).all() and 0 < plain.killed.sum() < 200
    assert NativeProgram(program).execute(WordsEngine(shader_shape(50)), 0, 50, at_once=True)
