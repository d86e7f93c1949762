"""Mnemonics: instructions are declared once, and nothing else lists them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from pixelflow.isa import INSTRUCTIONS, Family
from tests.architecture.source_tree import nodes, place, sources

LANES = "pixelflow/simd/lanes"
WORKLOADS: set[str] = set()
"""Files whose subject is a program given as instructions with weights, which is no list of what there is."""


def no_second_list_of_mnemonics(root: Path) -> list[str]:
    """Four mnemonics in one list, or in one string, are a second list of instructions."""
    return [
        f"{place(root, path, node.lineno)}: a list of mnemonics; ask the declarations instead"
        for path in sources(root)
        if path.name not in WORKLOADS
        for node in nodes(path)
        if is_list_of_mnemonics(node) or words_are_mnemonics(node)
    ]


def lanes_name_no_mnemonic(root: Path) -> list[str]:
    """No string of the lanes is a mnemonic."""
    return [
        f"{place(root, path, node.lineno)}: mnemonic {node.value}"
        for path in sources(root, LANES)
        for node in nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in INSTRUCTIONS
    ]


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
