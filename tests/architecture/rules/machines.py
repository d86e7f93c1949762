"""Machines: none imports another, and each of their folders is meaning, time or watching."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.architecture.source_tree import (
    imports,
    module_name,
    packages,
    parsed,
    place,
    sources,
    targets,
    text,
    within,
)

PIXELFLOW = (
    "pixelflow.isa",
    "pixelflow.node",
    "pixelflow.node.kernels",
    "pixelflow.config",
    "pixelflow.debugger",
)
SEVERAL = {"compare", "evidence", "scenes"}
"""Rooms whose subject is several machines."""

LANES = "pixelflow.simd.lanes"
BOXES = "pixelflow.simd.boxes"
WATCHING = ("pixelflow.simd.observe", "pixelflow.simd.trace", "pixelflow.observe")
EVENTS = {*WATCHING, *(f"{room}.{file}" for room in WATCHING for file in ("bus", "events"))}
"""What everybody may import of those rooms: their faces, and the files of events and of the bus."""
KINDS_OF_THE_CORE = {LANES: "meaning", BOXES: "time"}
KINDS = ("meaning", "time", "watching", "neither")
"""What a folder of a machine can be; neither is for what puts the others together, such as a checkpoint."""


def machine_of(name: str) -> str | None:
    if any(within(name, room) for room in PIXELFLOW):
        return "pixelflow"
    top = name.partition(".")[0]
    return top if top.endswith("_bridge") else None


def machines_do_not_import_each_other(root: Path) -> list[str]:
    """Only rooms for several machines (compare, evidence, scenes) and commands see more than one."""
    wrong = []
    for path in sources(root):
        own = machine_of(module_name(root, path))
        if own is None or SEVERAL & set(path.relative_to(root).with_suffix("").parts):
            continue
        for each in imports(root, path):
            other = machine_of(each.module)
            if other not in (None, own):
                wrong.append(f"{place(root, path, each.line)}: {own} imports {each.module}")
    return wrong


def folders_say_their_kind(root: Path) -> list[str]:
    """A folder of a machine says its kind: its docstring begins with it ("Time: ...", "Core (time): ..."), or a row of
    a README has it."""
    return [
        f"{place(root, folder)}: its docstring or a row of a README must say which it is: {', '.join(KINDS)}"
        for folder in folders_of_machines(root)
        if kind_of(root, folder) is None
    ]


def kinds_decide_imports(root: Path) -> list[str]:
    """Time imports no values, meaning knows no time, and neither imports those who watch, save events and their bus."""
    wrong = []
    for path in sources(root):
        kind = kind_of_file(root, path)
        if kind not in ("meaning", "time"):
            continue
        own = machine_of(module_name(root, path)) == "pixelflow"
        # Other machines work time out afterwards, from what threads noted, with whole arrays.
        barred = (BOXES,) if kind == "meaning" else ("numpy", LANES) if own else (LANES,)
        for each in imports(root, path):
            if any(within(each.module, room) for room in barred):
                wrong.append(f"{place(root, path, each.line)}: {kind} imports {each.module}")
        for target, line in targets(root, path).items():
            name = module_name(root, target)
            watching = any(within(name, room) for room in WATCHING) and name not in EVENTS
            if watching or kind_of_file(root, target) == "watching":
                wrong.append(f"{place(root, path, line)}: {kind} imports {name}, which watches")
        if kind == "meaning":
            wrong += [f"{place(root, path, line)}: {name} takes the time" for name, line in takes_now(path)]
    return wrong


def takes_now(path: Path) -> list[tuple[str, int]]:
    return [
        (node.name, node.lineno)
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef)
        and any(argument.arg == "now" for argument in (*node.args.args, *node.args.kwonlyargs))
    ]


@cache
def folders_of_machines(root: Path) -> tuple[Path, ...]:
    """Return the rooms of `pixelflow/node` and of each package named for a bridge.

    A folder of folders, with nothing of its own but its face, is a hall: its rooms are asked.
    """
    halls = [root / "pixelflow/node", *(root / name for name in packages(root) if name.endswith("_bridge"))]
    rooms = []
    while halls:
        for folder in sorted({path.parent for path in halls.pop().glob("*/*.py")}):
            is_hall = {path.name for path in folder.glob("*.py")} == {"__init__.py"} and any(folder.glob("*/*.py"))
            (halls if is_hall else rooms).append(folder)
    return tuple(sorted(folder for folder in rooms if folder.name not in SEVERAL))


def kind_of_file(root: Path, path: Path) -> str | None:
    name = module_name(root, path)
    for room, kind in KINDS_OF_THE_CORE.items():
        if within(name, room):
            return kind
    for folder in path.parents:
        if folder in folders_of_machines(root):
            return kind_of(root, folder)
    return None


@cache
def kind_of(root: Path, folder: Path) -> str | None:
    said = ast.get_docstring(parsed(folder / "__init__.py")) if (folder / "__init__.py").exists() else ""
    found = re.match(rf"(?:[^.:]*\()?({'|'.join(KINDS)})\b", said or "", re.IGNORECASE)
    if found:
        return found[1].lower()
    for above in (folder, *folder.parents):
        if (above / "README.md").exists() and (row := row_of(text(above / "README.md"), above, folder)):
            return row
        if above == root:
            break
    return None


def row_of(readme: str, above: Path, folder: Path) -> str | None:
    """Return the kind that a row of a table in a README gives to a folder; a dash is neither."""
    for line in readme.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if f"`{folder.relative_to(above).as_posix()}/`" in cells[0].replace(", ", " ").split():
            for cell in cells[1:]:
                if cell == "-" or cell in KINDS:
                    return "neither" if cell == "-" else cell
    return None
