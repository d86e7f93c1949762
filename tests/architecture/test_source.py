"""What the architecture asks of the text of the sources: length, vocabulary, one list of mnemonics, no clock."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from pixelflow.isa import INSTRUCTIONS, Family

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("pixelflow", "microcode", "tessellation", "larrabee_bridge")
LINE_LIMIT = 400

FOREIGN_TO_LANES = {
    *("cycle", "cycles", "clock", "mnemonic", "mnemonics", "opcode"),
    *("pixelflow", "larrabee", "attila", "gen6", "vpu"),
    *("pe", "pes", "emc", "emcs", "panel", "panels", "lee", "eigc", "tigc", "igc", "tasic", "semaphore", "pixcopy"),
}

TIMING_ROOMS = tuple(f"pixelflow/node/{room}" for room in ("streams", "order", "sdram"))
MEANING_ROOMS = tuple(f"pixelflow/node/{room}" for room in ("array", "texture"))


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sources(*PACKAGES, "tests"), ids=shown)
def test_a_file_fits_in_one_reading(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LINE_LIMIT, f"{shown(path)} has {lines} lines, the limit is {LINE_LIMIT}"


@pytest.mark.parametrize("path", sources("pixelflow/simd/lanes"), ids=shown)
def test_lanes_know_no_machine(path: Path) -> None:
    """Identifiers, comments and strings of lanes/ name no time, no instruction and no product."""
    wrong = []
    source = path.read_text(encoding="utf-8")
    import_lines = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.start[0] in import_lines:
            continue
        if token.type in (tokenize.NAME, tokenize.COMMENT, tokenize.STRING):
            # camelCase and snake_case fall into their words
            text = token.string.replace("pixelflow.simd.lanes", "")
            words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", text)
            wrong += [f"{shown(path)}:{token.start[0]}: {word!r}" for word in words if word.lower() in FOREIGN_TO_LANES]
        if token.type == tokenize.STRING and token.string[1:-1] in INSTRUCTIONS:
            wrong.append(f"{shown(path)}:{token.start[0]}: mnemonic {token.string}")
    assert not wrong, "\n".join(wrong)


def is_product_switch(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and "machine" in ast.unparse(node).lower()


@pytest.mark.parametrize("path", sources("pixelflow/simd/lanes"), ids=shown)
def test_lanes_do_not_ask_for_the_kind_of_machine(path: Path) -> None:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.If | ast.IfExp | ast.Match):
            asked = node.subject if isinstance(node, ast.Match) else node.test
            assert not any(is_product_switch(part) for part in ast.walk(asked)), f"{shown(path)}:{node.lineno}"


def is_list_of_mnemonics(node: ast.AST) -> bool:
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            pass
        case ast.Dict(keys=items):
            pass
        case _:
            return False
    return len({item.value for item in items if isinstance(item, ast.Constant) and is_listable(item.value)}) >= 4


def is_listable(word: object) -> bool:
    """Sequencer control is a closed set that every analysis of program flow names; the rest must come from the ISA."""
    return word in INSTRUCTIONS and INSTRUCTIONS[word].family is not Family.CONTROL


def words_are_mnemonics(node: ast.AST) -> bool:
    """A string such as ``"ADD ADC SUB SBC"`` is a list too."""
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or "\n" in node.value:
        return False
    words = re.split(r"[\s,|]+", node.value.strip())
    return len(words) >= 4 and all(word in INSTRUCTIONS for word in words)


WORKLOADS = {"pixelflow/cli/bench_mix.py"}
"""Files whose subject is a program given as instructions with weights, which is no list of what there is."""


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=shown)
def test_there_is_no_second_list_of_mnemonics(path: Path) -> None:
    if shown(path) in WORKLOADS:
        return
    for node in ast.walk(tree(path)):
        found = is_list_of_mnemonics(node) or words_are_mnemonics(node)
        assert not found, f"{shown(path)}:{node.lineno}: a list of mnemonics; ask the declarations instead"


def test_the_mnemonic_check_sees_a_list() -> None:
    assert is_list_of_mnemonics(ast.parse('["ADD", "ADC", "SUB", "SBC"]').body[0].value)
    assert words_are_mnemonics(ast.parse('"ADD ADC SUB SBC"').body[0].value)
    assert not is_list_of_mnemonics(ast.parse('["ADD", "alpha", "beta", "gamma"]').body[0].value)


def imported_names(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


@pytest.mark.parametrize("path", sources(*TIMING_ROOMS), ids=shown)
def test_timing_files_touch_no_pe_data(path: Path) -> None:
    names = imported_names(path)
    assert not any(name == "numpy" or name.startswith(("numpy.", "pixelflow.simd.lanes")) for name in names)


@pytest.mark.parametrize("path", sources("pixelflow/simd/lanes", *MEANING_ROOMS), ids=shown)
def test_functional_files_know_no_time(path: Path) -> None:
    assert not any(name.startswith("pixelflow.simd.boxes") for name in imported_names(path))
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef):
            names = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
            assert "now" not in names, f"{shown(path)}:{node.lineno}: {node.name} takes the time"


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=shown)
def test_every_file_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(tree(path)), f"{shown(path)} has no docstring"


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=shown)
def test_library_code_does_not_print(path: Path) -> None:
    """Printing belongs to the command line (which writes through one function) and to reports."""
    calls = [
        node.lineno
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not calls or path.name == "__main__.py", f"{shown(path)}: print on lines {calls}"


NAMES_TO_AVOID = {"mgr", "ctrl", "util", "utils", "helper", "helpers", "misc", "v2"}


@pytest.mark.parametrize("path", sources(*PACKAGES), ids=shown)
def test_file_names_are_the_fields_names(path: Path) -> None:
    words = set(path.relative_to(ROOT).with_suffix("").as_posix().lower().replace("/", "_").split("_"))
    assert not words & NAMES_TO_AVOID
