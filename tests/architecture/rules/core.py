"""The core, `pixelflow/simd`: what every machine stands on, and nothing that names one."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.source_tree import imports, nodes, place, sources, text

CORE = "pixelflow/simd"
LANES = "pixelflow/simd/lanes"

OF_A_MACHINE = {
    *("pixelflow", "larrabee", "attila", "gen6", "vpu"),
    *("pe", "pes", "emc", "emcs", "panel", "panels", "lee", "eigc", "tigc", "igc", "tasic", "semaphore", "pixcopy"),
}
OF_INSTRUCTIONS_AND_TIME = {"cycle", "cycles", "clock", "mnemonic", "mnemonics", "opcode"}


def the_core_names_no_machine(root: Path) -> list[str]:
    """No identifier of the core contains a word of one machine."""
    return [
        f"{place(root, path, line)}: {word!r}"
        for path in sources(root, CORE)
        for line, word in words(root, path, tokenize.NAME)
        if word in OF_A_MACHINE
    ]


def lanes_know_no_machine(root: Path) -> list[str]:
    """Identifiers, comments and strings of the lanes name no time, no instruction and no product."""
    foreign = OF_A_MACHINE | OF_INSTRUCTIONS_AND_TIME
    return [
        f"{place(root, path, line)}: {word!r}"
        for path in sources(root, LANES)
        for line, word in words(root, path, tokenize.NAME, tokenize.COMMENT, tokenize.STRING)
        if word in foreign
    ]


def lanes_do_not_ask_for_the_machine(root: Path) -> list[str]:
    """No condition of the lanes is about the kind of machine."""
    wrong = []
    for path in sources(root, LANES):
        for node in nodes(path):
            if isinstance(node, ast.If | ast.IfExp | ast.Match):
                asked = node.subject if isinstance(node, ast.Match) else node.test
                names = (ast.unparse(part) for part in ast.walk(asked) if isinstance(part, ast.Name | ast.Attribute))
                if any("machine" in name.lower() for name in names):
                    wrong.append(f"{place(root, path, node.lineno)}: asks for the kind of machine")
    return wrong


def words(root: Path, path: Path, *kinds: int) -> Iterator[tuple[int, str]]:
    """Yield the words of a file outside its imports; camelCase and snake_case fall into their words."""
    imported = {each.line for each in imports(root, path)}
    inside = False
    for token in tokenize.generate_tokens(io.StringIO(text(path)).readline):
        if token.type == tokenize.NEWLINE:
            inside = False
        inside = inside or token.start[0] in imported
        if token.type in kinds and not inside:
            plain = token.string.replace(LANES.replace("/", "."), "")
            for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", plain):
                yield token.start[0], word.lower()
