"""Rooms: which may import which, as data."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.source_tree import STANDARD, file_of, imports, module_name, packages, place, sources, within

CORE = "pixelflow.simd"
APART = "pixelflow.simd.report"
"""Reports know of the core their own files, and what their row names."""
NODE = "pixelflow.caveats pixelflow.config pixelflow.isa pixelflow.node"

TABLE = {
    CORE: "",
    "pixelflow.simd.comparison": "numpy",
    "pixelflow.simd.dashboard": "rich",
    "pixelflow.simd.drawing": "numpy",
    "pixelflow.simd.arrays": "numpy",
    "pixelflow.simd.commands": "numpy",
    "pixelflow.simd.isa.kinds": "numpy",
    "pixelflow.simd.lanes": "numpy bitarray llvmlite",
    APART: "pixelflow.simd.errors pixelflow.simd.faces rich",
    "pixelflow.simd.report.notebook": "pixelflow.simd.errors rich pandas polars PIL",
    "pixelflow.simd.trace": "perfetto google.protobuf vcd",
    "pixelflow.caveats": "",
    "pixelflow.config": "",
    "pixelflow.course": f"{NODE} numpy",
    "pixelflow.debugger": f"{NODE} pixelflow.observe numpy",
    "pixelflow.debugger.expressions": f"{NODE} microcode numpy",
    "pixelflow.evidence": "rich",
    "pixelflow.isa": "",
    "pixelflow.node": "pixelflow.caveats pixelflow.config pixelflow.isa pixelflow.observe numpy",
    "pixelflow.node.kernels": "pixelflow.isa numpy",
    "pixelflow.observe": "",
    "pixelflow.observe.dashboard_frame": "numpy rich",
    "pixelflow.view": "",
    "pixelflow.view.alive": "pixelflow.config pixelflow.node tessellation numpy",
    "pixelflow.view.app": "starlette uvicorn",
    "pixelflow.view.explorer": f"{NODE} microcode pixelflow.debugger pixelflow.observe numpy",
    "pixelflow.view.listing": "pixelflow.isa microcode numpy pygments",
    "pixelflow.view.timeline": "numpy",
    "pixelflow.view.widget": "anywidget traitlets",
    "microcode": "pixelflow.isa",
    "microcode.draft": "pixelflow.isa numpy",
    "microcode.lexer": "pixelflow.isa pygments",
    "tessellation": f"{NODE} pixelflow.evidence microcode numpy",
    "tessellation.picture.models": "numpy trimesh PIL",
    "tessellation.picture.preview": "numpy PIL",
    "tessellation.rendering.machine": f"{NODE} pixelflow.observe microcode numpy",
    "tessellation.scenes": "pixelflow.caveats pixelflow.config numpy",
    "pim_kernels": f"{NODE} pixelflow.observe microcode numpy",
    "larrabee_bridge": "pixelflow.caveats pixelflow.evidence microcode numpy",
    "larrabee_bridge.claims.paper": "pixelflow.evidence tessellation",
    "larrabee_bridge.compare": f"{NODE} tessellation numpy",
    "larrabee_bridge.vector_picture": "tessellation",
    "gen6_bridge": "pixelflow.caveats pixelflow.evidence numpy",
    "gen6_bridge.compare": "tessellation numpy",
    "attila_bridge": "pixelflow.caveats pixelflow.evidence numpy",
}
"""What a room may import besides the standard library, its own package and the core; the longest name counts."""
COMMANDS = "pixelflow.cli"
"""Commands, which may import anything."""
FACES_ONLY = "tessellation"
"""A package that uses others through their public faces: `pixelflow.node`, never `pixelflow.node.run.stream`."""
HALLS = {
    *("pixelflow", "pixelflow.cli", "pixelflow.node", "pixelflow.observe", CORE, "pixelflow.simd.isa", "microcode"),
    *("larrabee_bridge", "gen6_bridge", "attila_bridge"),
}
"""Packages whose own files are public, besides the faces below them."""
FRONT = "pixelflow"
"""The name that users import: it hands on names of the rooms below, and none of these may ask for them there."""
VERSION = "__version__"


def is_public(root: Path, module: str) -> bool:
    file = file_of(root, module)
    return file is not None and (file.name == "__init__.py" or module.rpartition(".")[0] in HALLS)


def the_front_loads_nothing(root: Path) -> list[str]:
    """The name that users import loads no room, and takes names from faces alone; no file asks it for one."""
    front = root / FRONT / "__init__.py"
    wrong = []
    for path in sources(root):
        for each in imports(root, path):
            if path == front and each.module.partition(".")[0] not in STANDARD:
                if not each.checking:
                    wrong.append(f"{place(root, path, each.line)}: loads {each.module}")
                elif not is_public(root, each.module):
                    wrong.append(f"{place(root, path, each.line)}: {each.module} is no face")
            elif path != front and each.module == FRONT and each.name != VERSION:
                wrong.append(f"{place(root, path, each.line)}: asks {FRONT} for {each.name or 'everything'}")
    return wrong


def imports_follow_the_table(root: Path) -> list[str]:
    """A file imports the standard library, its own package, the core and what the table gives to its room."""
    wrong = []
    for path in sources(root):
        name = module_name(root, path)
        if name == FRONT or within(name, COMMANDS):
            continue
        row = max((room for room in TABLE if within(name, room)), key=len, default="")
        own = APART if within(name, APART) else ".".join(name.split(".")[: 2 if within(name, FRONT) else 1])
        allowed = [own, *TABLE.get(row, "").split(), *([] if own == APART else [CORE])]
        wrong += [
            f"{place(root, path, each.line)}: {row or 'a room without a row'} may not import {each.module}"
            for each in imports(root, path)
            if each.module.partition(".")[0] not in STANDARD
            and each.module != FRONT
            and not any(within(each.module, room) for room in allowed)
        ]
    return wrong


def the_table_is_about_rooms_that_exist(root: Path) -> list[str]:
    """Every row of the table is about a file or folder of the tree, and none gives the core a room outside of it."""
    gone = [room for room in TABLE if room.partition(".")[0] in packages(root) and file_of(root, room) is None]
    return [f"{room}: a row of the table without a room" for room in gone] + [
        f"{room}: the core may not import {each}"
        for room, row in TABLE.items()
        for each in row.split()
        if within(room, CORE) and each.partition(".")[0] in packages(root) and not within(each, CORE)
    ]


def rooms_are_used_through_their_face(root: Path) -> list[str]:
    """A package that is built on the others imports their faces, never a file inside of one of their rooms."""
    return [
        f"{place(root, path, each.line)}: {each.module} is a private room"
        for path in sources(root, FACES_ONLY)
        for each in imports(root, path)
        if file_of(root, each.module) and not within(each.module, FACES_ONLY) and not is_public(root, each.module)
    ]


def a_face_has_no_name_of_its_files(root: Path) -> list[str]:
    """A name that a face imports when it is asked for is not that of a file beside it, which would take its place."""
    return [
        f"{place(root, face, each.line)}: {each.bound} is also a file of this folder"
        for face in sources(root)
        if face.name == "__init__.py"
        for each in imports(root, face)
        if each.checking and each.name and file_of(root, f"{module_name(root, face)}.{each.bound}")
    ]
