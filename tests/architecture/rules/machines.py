"""Machines: none imports another, and each of their files is meaning, time, watching or neither."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.architecture.source_tree import (
    file_of,
    imports,
    module_name,
    nodes,
    packages,
    place,
    sources,
    targets,
    within,
)

NODE = "pixelflow.node"
PIXELFLOW = ("pixelflow.isa", NODE, "pixelflow.config", "pixelflow.debugger")
SEVERAL = {"compare", "evidence", "scenes"}
"""Rooms whose subject is several machines."""
LANES = "pixelflow.simd.lanes"
BOXES = "pixelflow.simd.boxes"
WATCHING = ("pixelflow.simd.observe", "pixelflow.simd.trace", "pixelflow.observe")
EVENTS = {*WATCHING, "pixelflow.observe.node_events"}
"""What everybody may import of those rooms: their faces, events and their bus."""
STREAMS = {f"{NODE}.run.{file}" for file in ("analysis", "straight_code", "stream")}
"""Streams of a program, walked without a clock: what carries their steps out may ask them."""

KINDS = {
    "meaning": f"""
        {LANES} {NODE}.kernels {NODE}.pe_array {NODE}.lee {NODE}.transfer
        {NODE}.texture_addresses {NODE}.texture_memory {NODE}.texture_unit
        {NODE}.run.marks {NODE}.run.perform {NODE}.run.score
        larrabee_bridge.vpu.isa larrabee_bridge.vpu.native larrabee_bridge.vpu.notes larrabee_bridge.vpu.program
        larrabee_bridge.vpu.vector_unit larrabee_bridge.pipeline.bins
        gen6_bridge.isa gen6_bridge.unit gen6_bridge.assembler gen6_bridge.assembler_operands gen6_bridge.program
        attila_bridge.isa attila_bridge.function attila_bridge.assembler attila_bridge.scene""",
    "time": f"""
        {BOXES} {NODE}.run {NODE}.sdram {NODE}.sdram_checker {NODE}.sdram_commands
        larrabee_bridge.vpu larrabee_bridge.pipeline.schedule larrabee_bridge.pipeline.traffic
        larrabee_bridge.pipeline.work gen6_bridge.time attila_bridge.time""",
    "watching": f"""
        {NODE}.account {NODE}.energy {NODE}.assumptions {NODE}.run_report {NODE}.replay
        larrabee_bridge.claims larrabee_bridge.compare larrabee_bridge.vector_picture larrabee_bridge.thread_events
        gen6_bridge.claims gen6_bridge.compare gen6_bridge.debugger gen6_bridge.thread_events
        attila_bridge.claims attila_bridge.watched""",
    "neither": f"""
        {LANES}.native.plain {LANES}.native.transducer
        larrabee_bridge.kernels larrabee_bridge.pipeline gen6_bridge.drawing""",
}
"""Files and folders of the core and of machines by kind; the longest name counts. Neither is for what puts the others
together, as do files of a machine's own folder without a row."""
KIND_OF = {room: kind for kind, rooms in KINDS.items() for room in rooms.split()}


def machine_of(name: str) -> str | None:
    if any(within(name, room) for room in PIXELFLOW):
        return "pixelflow"
    top = name.partition(".")[0]
    return top if top.endswith("_bridge") else None


def kind_of(name: str) -> str | None:
    return KIND_OF.get(max((room for room in KIND_OF if within(name, room)), key=len, default=""))


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


def folders_of_machines_have_a_kind(root: Path) -> list[str]:
    """A folder of a machine has a row that says its kind, and every row is about a file or folder of the tree."""
    halls = [NODE, *(name for name in packages(root) if name.endswith("_bridge"))]
    folders = {path.parent for hall in halls for path in sources(root, hall.replace(".", "/"))}
    names = [module_name(root, folder / "__init__.py") for folder in sorted(folders)]
    return [
        f"{name}: which is it, {', '.join(KINDS)}?" for name in names if name not in halls and not kind_of(name)
    ] + [
        f"{room}: a kind of nothing"
        for room in KIND_OF
        if file_of(root, room.partition(".")[0]) and file_of(root, room) is None
    ]


def kinds_decide_imports(root: Path) -> list[str]:
    """Time imports no values, meaning knows no time, and neither imports those who watch, save events and their bus."""
    wrong = []
    for path in sources(root):
        own = module_name(root, path)
        kind = kind_of(own)
        if kind not in ("meaning", "time"):
            continue
        for target, line in targets(root, path).items():
            name = module_name(root, target)
            other = kind_of(name)
            if other == "watching" or (any(within(name, room) for room in WATCHING) and name not in EVENTS):
                wrong.append(f"{place(root, path, line)}: {kind} imports {name}, which watches")
            elif kind == "time" and other == "meaning" and within(name, LANES):
                wrong.append(f"{place(root, path, line)}: time imports {name}, which has values")
            elif kind == "meaning" and other == "time" and name not in STREAMS:
                wrong.append(f"{place(root, path, line)}: meaning imports {name}, which is time")
        if kind == "time" and machine_of(own) == "pixelflow":  # others work time out afterwards, with whole arrays
            arrays = [each for each in imports(root, path) if within(each.module, "numpy")]
            wrong += [f"{place(root, path, each.line)}: time imports {each.module}" for each in arrays]
        wrong += [
            f"{place(root, path, node.lineno)}: {node.name} takes the time"
            for node in nodes(path)
            if kind == "meaning" and isinstance(node, ast.FunctionDef)
            if any(argument.arg == "now" for argument in (*node.args.args, *node.args.kwonlyargs))
        ]
    return wrong
