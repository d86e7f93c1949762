"""Commands: each names what it needs in one place, and formats no figure."""

from __future__ import annotations

import ast
import re
import tokenize
from pathlib import Path

from tests.architecture.rules.core import OF_A_MACHINE, words
from tests.architecture.source_tree import imports, nodes, packages, place, sources, within

COMMANDS = "pixelflow.cli"
SHARED = ("pixelflow.simd", COMMANDS)
ONE_MACHINE = ("cli/view.py",)
"""An example of a command line names a machine."""
ANY_MACHINE = ("cli/animate.py", "cli/compare.py", "cli/render.py", "cli/scene_options.py")
"""Commands for every machine, which may name none of them, PixelFlow included."""
PARTS = {*OF_A_MACHINE, "nodes", "core", "cores", "tile", "tiles"} - {"pixelflow"}
WRITTEN = {tokenize.NAME, tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
FIGURE = re.compile(r"[,_]|[eEfFgGn%]$|(?<!\d)\.\d|\d*d$|^\+")
FORMATTED_BY_PERCENT = re.compile(r"%[-+ 0#]*[\d*]*(\.[\d*]+)?[dfgei]")


def a_command_imports_in_one_place(root: Path) -> list[str]:
    """A file of commands imports other packages at its top or in one function, not in several."""
    wrong = []
    for path in sources(root, COMMANDS.replace(".", "/")):
        found: dict[str, int] = {}
        for each in imports(root, path):
            shared = each.module == "pixelflow" or any(within(each.module, room) for room in SHARED)
            if each.module.partition(".")[0] in packages(root) and not each.checking and not shared:
                found.setdefault(each.scope, each.line)
        if len(found) > 1:
            where = ", ".join(f"{scope or 'the top'} ({line})" for scope, line in found.items())
            wrong.append(f"{place(root, path)}: imports other packages in {len(found)} places: {where}")
    return wrong


def commands_format_no_figure(root: Path) -> list[str]:
    """Figures and tables are a report's, and its renderers'."""
    wrong = []
    for path in sources(root, COMMANDS.replace(".", "/")):
        wrong += [f"{place(root, path, node.lineno)}: formats a figure" for node in nodes(path) if formats(node)]
        wrong += [
            f"{place(root, path, each.line)}: makes a table of its own"
            for each in imports(root, path)
            if (each.module, each.name) == ("rich.table", "Table") or (each.module == "rich.table" and not each.name)
        ]
    return wrong


def commands_know_no_machine(root: Path) -> list[str]:
    """Commands name no other machine, those that take any no part of one either: machines bring their own words."""
    others = {name.removesuffix("_bridge") for name in packages(root) if name.endswith("_bridge")} | {"vpu"}
    return [
        f"{place(root, path, line)}: {word!r}"
        for path in sources(root, COMMANDS.replace(".", "/"))
        for line, word in words(root, path, *WRITTEN)
        if not path.as_posix().endswith(ONE_MACHINE)
        if word in others or (word in PARTS and path.as_posix().endswith(ANY_MACHINE))
    ]


def formats(node: ast.AST) -> bool:
    match node:
        case ast.FormattedValue(format_spec=ast.JoinedStr(values=parts)):
            fixed = "".join(part.value for part in parts if isinstance(part, ast.Constant))
            return bool(FIGURE.search(fixed))
        case ast.Call(func=ast.Name(id="format"), args=[_, ast.Constant(value=str(spec))]):
            return bool(FIGURE.search(spec))
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(pattern)), attr="format")):
            return any(FIGURE.search(spec) for spec in re.findall(r"\{[^{}:]*:([^{}]*)\}", pattern))
        case ast.BinOp(left=ast.Constant(value=str(pattern)), op=ast.Mod()):
            return bool(FORMATTED_BY_PERCENT.search(pattern))
    return False
