"""Statements of ARB programs: declarations, and instructions with their operands."""

from __future__ import annotations

from attila_bridge.code.assembler.names import Named, ProgramNames, read_binding, read_constants
from attila_bridge.code.assembler.tokens import ProgramToken, ProgramTokens
from attila_bridge.code.isa import INSTRUCTIONS, ShaderDeclaration
from attila_bridge.code.isa.operands import ALL, DST, SAMPLER, ShaderDestination, ShaderSource, TextureOperand
from attila_bridge.code.isa.registers import COMPONENTS, RegisterBank, ShaderStage
from pixelflow.simd.errors import nearest
from pixelflow.simd.isa.declare import Instruction
from pixelflow.simd.isa.operands import Operand

__all__ = ["DECLARATIONS", "SATURATES", "read_declaration", "read_instruction"]

DECLARATIONS = ("TEMP", "PARAM", "ATTRIB", "OUTPUT", "ADDRESS", "ALIAS", "OPTION")
SATURATES = "_SAT"
_LETTERS = {**dict(zip("xyzw", range(COMPONENTS), strict=True)), **dict(zip("rgba", range(COMPONENTS), strict=True))}
_TARGETS = ("1D", "3D", "CUBE", "RECT")
_HINTS = ("ARB_precision_hint_fastest", "ARB_precision_hint_nicest")
_RELATIVE = 255
_ABSENT = {
    "FLR": "FRC, and ADD with a minus",
    "LRP": "ADD with a minus, then MAD",
    "POW": "LG2, MUL, EX2",
    "XPD": "MUL and MAD of swizzled operands",
    "SCS": "COS to .x, SIN to .y",
    "SWZ": "a swizzle of the operand, and its sign",
}
"""Instructions of ARB programs that the machine has none for, and what does the same."""


def read_declaration(tokens: ProgramTokens, names: ProgramNames) -> None:
    """Carry out a declaration; raises InputError."""
    kind = tokens.word("a declaration").text
    if kind == "OPTION":
        option = tokens.word("an option")
        if option.text not in _HINTS:
            raise tokens.fault(f"option {option.text} is not known here", f"allowed: {', '.join(_HINTS)}", option)
        return tokens.end()
    while True:
        token = tokens.word("a name")
        _declare(kind, token, tokens, names)
        if kind not in ("TEMP", "ADDRESS") or not tokens.accept(","):
            break
    return tokens.end()


def _declare(kind: str, token: ProgramToken, tokens: ProgramTokens, names: ProgramNames) -> None:
    if kind == "TEMP":
        names.declare(token, names.temporary(token))
    elif kind == "ADDRESS":
        if names.stage is not ShaderStage.VERTEX:
            raise tokens.fault("only vertex programs have an address register", None, token)
        if any(each.bank is RegisterBank.ADDRESS for each in names.known.values()):
            raise tokens.fault("there is one address register", None, token)
        names.declare(token, Named(RegisterBank.ADDRESS, 0))
    elif kind == "PARAM":
        _parameter(token, tokens, names)
    elif kind == "ALIAS":
        tokens.expect("=", "between two names")
        names.declare(token, names.find(tokens.word("a name")))
    else:
        tokens.expect("=", "and a binding")
        bank = RegisterBank.INPUT if kind == "ATTRIB" else RegisterBank.OUTPUT
        found = read_binding(tokens, names.stage)
        if found is None or found.bank is not bank:
            raise tokens.fault("a binding such as " + ("vertex.position" if kind == "ATTRIB" else "result.color"))
        names.declare(token, found)


def _parameter(token: ProgramToken, tokens: ProgramTokens, names: ProgramNames) -> None:
    array, size = tokens.accept("["), None
    if array:
        if tokens.peek() != "]":
            size = tokens.whole("a size", _RELATIVE + 1)
        tokens.expect("]", "after the size")
    tokens.expect("=", "and a value")
    if array:
        tokens.expect("{", "before the values of an array")
        values = read_constants(tokens)
        while tokens.accept(","):
            values += read_constants(tokens)
        tokens.expect("}", "after the values of an array")
        if size is not None and size != len(values):
            raise tokens.fault(f"{token.text} has {size} elements, {len(values)} values are given", None, token)
    else:
        values = read_constants(tokens)
    names.declare(token, names.add_constants(values, token, array=array))


def read_instruction(tokens: ProgramTokens, names: ProgramNames) -> Instruction:
    """Read an instruction; raises InputError with the nearest known mnemonic, or what the operand may be."""
    token = tokens.word("an instruction")
    mnemonic, saturate = token.text, False
    if mnemonic.endswith(SATURATES) and names.stage is ShaderStage.FRAGMENT:
        mnemonic, saturate = mnemonic.removesuffix(SATURATES), True
    negated = mnemonic == "SUB"
    bars = mnemonic == "ABS"
    mnemonic = {"SUB": "ADD", "ABS": "MOV"}.get(mnemonic, mnemonic)
    declaration = INSTRUCTIONS.get(mnemonic)
    if declaration is None:
        if mnemonic in _ABSENT:
            raise tokens.fault(f"the machine has no {mnemonic}", f"write {_ABSENT[mnemonic]}", token)
        near = nearest(mnemonic, [*INSTRUCTIONS, *DECLARATIONS])
        hint = f"did you mean {near}?" if near else "pixelflow isa --machine attila lists all"
        raise tokens.fault(f"unknown instruction {token.text}", hint, token)
    if names.stage not in declaration.stages:
        raise tokens.fault(f"{mnemonic} is no instruction of a {names.stage.value} program", None, token)
    operands: list[Operand] = []
    for position, spec in enumerate(declaration.operands):
        if position:
            tokens.expect(",", f"before operand {position + 1}: {declaration.synopsis}")
        if spec is DST:
            operands.append(_destination(tokens, names, saturate=saturate, address=mnemonic == "ARL"))
        elif spec is SAMPLER:
            operands.append(_unit(tokens))
        else:
            operands.append(_source(tokens, names, declaration))
    tokens.end()
    last = operands[-1]
    if negated and isinstance(last, ShaderSource):
        operands[-1] = _with(last, negate=not last.negate, absolute=last.absolute)
    if bars and isinstance(last, ShaderSource):
        operands[-1] = _with(last, negate=False, absolute=True)
    try:
        return INSTRUCTIONS.make(mnemonic, *operands)
    except ValueError as error:
        raise tokens.fault(str(error), None, token) from None


def _with(source: ShaderSource, *, negate: bool, absolute: bool) -> ShaderSource:
    return ShaderSource(source.bank, source.number, source.swizzle, negate, absolute, source.relative)


def _destination(tokens: ProgramTokens, names: ProgramNames, *, saturate: bool, address: bool) -> ShaderDestination:
    token = tokens.here
    found = read_binding(tokens, names.stage) or names.find(tokens.word("a register to write"))
    if found.bank in (RegisterBank.INPUT, RegisterBank.CONSTANT):
        raise tokens.fault(f"{token.text if token else ''} cannot be written", "temporaries and results can", token)
    if address != (found.bank is RegisterBank.ADDRESS):
        raise tokens.fault("the address register is written by one instruction, and that writes nothing else")
    mask = ALL
    if tokens.accept("."):
        word = tokens.word("a write mask")
        letters = [_LETTERS.get(letter, -1) for letter in word.text]
        if -1 in letters or letters != sorted(set(letters)):
            raise tokens.fault(f".{word.text} is no write mask", "components of xyzw in order, such as .xz", word)
        mask = sum(1 << letter for letter in letters)
    return ShaderDestination(found.bank, found.number, mask, saturate)


def _source(tokens: ProgramTokens, names: ProgramNames, declaration: ShaderDeclaration) -> ShaderSource:
    minus = tokens.accept("-")
    if not minus:
        tokens.accept("+")
    bars = tokens.accept("|")
    token = tokens.here
    named, relative, number = _register(tokens, names)
    swizzle = (0, 1, 2, 3)
    if tokens.accept("."):
        word = tokens.word("a swizzle")
        letters = [_LETTERS.get(letter, -1) for letter in word.text]
        if -1 in letters or len(letters) not in (1, COMPONENTS):
            raise tokens.fault(
                f".{word.text} is no swizzle", "one component of xyzw or four, such as .x or .wzyx", word
            )
        if len(letters) == 1:
            letters *= COMPONENTS
        swizzle = (letters[0], letters[1], letters[2], letters[3])
    elif declaration.scalar:
        raise tokens.fault(f"{declaration.mnemonic} reads one component", "write which: .x, .y, .z or .w", token)
    if bars:
        tokens.expect("|", "after an absolute value")
    if named.bank is RegisterBank.OUTPUT:
        raise tokens.fault("results cannot be read", "put the value into a temporary first", token)
    if named.bank is RegisterBank.ADDRESS:
        raise tokens.fault("the address register stands in brackets only", None, token)
    return ShaderSource(named.bank, number, swizzle, minus, bars, relative)


def _register(tokens: ProgramTokens, names: ProgramNames) -> tuple[Named, bool, int]:
    """Read a register that is read: the name, whether an address is added, its number."""
    token = tokens.here
    if token is None:
        raise tokens.fault("the statement ends here: a register to read is missing")
    bound = read_binding(tokens, names.stage)
    if bound is not None:
        return bound, False, bound.number
    if token.kind == "number" or token.text in ("{", "program", "state"):
        found = names.literal(read_constants(tokens)[0], token)
        return found, False, found.number
    named = names.find(tokens.word("a register to read"))
    if not named.array:
        return named, False, named.number
    tokens.expect("[", f"and an index of {token.text}")
    if tokens.peek().isdigit():
        number = tokens.whole("an index", named.count - 1)
        tokens.expect("]", "after the index")
        return named, False, named.number + number
    register = tokens.word("an index or the address register")
    if names.find(register).bank is not RegisterBank.ADDRESS:
        raise tokens.fault(f"{register.text} is no address register", None, register)
    tokens.expect(".", "and x")
    if tokens.word("x").text != "x":
        raise tokens.fault("the address register has the component x only", None, register)
    offset = 0
    if tokens.peek() in ("+", "-"):
        minus = tokens.take("a sign").text == "-"
        offset = tokens.whole("an offset", 63)
        offset = -offset if minus else offset
    tokens.expect("]", "after the index")
    if named.number + offset < 0:
        raise tokens.fault(f"an offset of {offset} is before the first constant", None, register)
    return named, True, named.number + offset


def _unit(tokens: ProgramTokens) -> TextureOperand:
    token = tokens.here
    if tokens.peek() != "texture":
        raise tokens.fault("texture[n] is wanted here")
    tokens.take("texture")
    number = 0
    if tokens.accept("["):
        number = tokens.whole("a texture unit", 15)
        tokens.expect("]", "after the texture unit")
    tokens.expect(",", "and 2D")
    target = tokens.take("2D")
    if target.text != "2D":
        hint = "2D textures are what is built" if target.text in _TARGETS else "allowed: 2D"
        raise tokens.fault(f"a target {target.text}", hint, target)
    assert token is not None
    return TextureOperand(number)
