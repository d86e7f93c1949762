"""Rooms: which may import which, as data."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.source_tree import STANDARD, file_of, imports, module_name, packages, place, sources, within

OF_REPORTS = ("pixelflow.simd.errors",)
"""What reports may know of the core besides."""
BASE = ("pixelflow.simd", "pixelflow.simd.report")
NODE = (*BASE, "pixelflow.config", "pixelflow.node.kernels", "pixelflow.observe", "pixelflow.isa")

# A room may import the standard library, itself, and what stands here; the longest matching name counts.
TABLE = {
    "pixelflow": (),
    "pixelflow.simd.report": (*OF_REPORTS, "rich"),
    # Images and data frames are extras.
    "pixelflow.simd.report.notebook": (*OF_REPORTS, "pixelflow.simd.report", "PIL"),
    "pixelflow.simd.report.notebook": (*OF_REPORTS, "pixelflow.simd.report", "pandas", "polars"),
    "pixelflow.simd.report.notebook": (*OF_REPORTS, "pixelflow.simd.report", "rich", "pandas", "polars"),
    "pixelflow.evidence": (*BASE, "rich"),
    "pixelflow.config": BASE,
    "pixelflow.simd": ("pixelflow.simd.report", "bitarray"),
    "pixelflow.simd.lanes": (*BASE, "numpy", "bitarray", "llvmlite"),
    "pixelflow.simd.native": (*BASE, "numpy"),
    "pixelflow.node.kernels": (*BASE, "pixelflow.isa", "numpy", "llvmlite"),
    "pixelflow.observe": BASE,
    "pixelflow.observe.dashboard": (*BASE, "pixelflow.observe", "rich"),
    # Trace formats are an extra.
    "pixelflow.simd.trace": (*BASE, "perfetto", "google.protobuf", "vcd"),
    "pixelflow.simd.files": (*BASE, "numpy"),
    "pixelflow.simd.drawing": (*BASE, "numpy"),
    "pixelflow.simd.comparison": (*BASE, "rich"),
    "pixelflow.simd.comparison.comparison_figure": (*BASE, "numpy"),
    "pixelflow.simd.comparison.triangle_sizes": (*BASE, "numpy"),
    "pixelflow.simd.dashboard": (*BASE, "rich"),
    # The figures are an extra.
    "pixelflow.simd.comparison.comparison_figure": (*BASE, "matplotlib"),
    "pixelflow.simd.boxes": BASE,
    # Columns of instructions.
    "pixelflow.simd.isa.kinds": (*BASE, "numpy"),
    "pixelflow.isa": (*BASE, "bitarray"),
    "pixelflow.node": (*NODE, "numpy"),
    "pixelflow.debugger": (*BASE, "pixelflow.config", "pixelflow.isa", "pixelflow.node", "pixelflow.observe", "numpy"),
    # Conditions are expressions of the .mc language.
    "pixelflow.debugger.values": (
        *BASE,
        "microcode",
        "pixelflow.config",
        "pixelflow.debugger",
        "pixelflow.isa",
        "pixelflow.node",
        "numpy",
    ),
    "pixelflow.course": (*BASE, "pixelflow.config", "pixelflow.isa", "pixelflow.node", "numpy"),
    # The page's server is an extra.
    "pixelflow.view": BASE,
    "pixelflow.view.server": (*BASE, "starlette", "uvicorn"),
    # The widget is an extra.
    "pixelflow.view.notebook": (*BASE, "pixelflow.view"),
    "pixelflow.view.widget": (*BASE, "pixelflow.view", "anywidget", "traitlets"),
    "pixelflow.view.explorer": (
        *BASE,
        "microcode",
        "pixelflow.config",
        "pixelflow.debugger",
        "pixelflow.isa",
        "pixelflow.node",
        "pixelflow.observe",
        "pixelflow.view",
        "numpy",
        "pygments",
    ),
    "pixelflow.view.alive": (
        *BASE,
        "pixelflow.config",
        "pixelflow.node",
        "pixelflow.view",
        "tessellation",
        "numpy",
    ),
    "microcode": (*BASE, "pixelflow.isa"),
    "microcode.draft": (*BASE, "microcode", "pixelflow.isa", "numpy"),
    "microcode.lexer": (*BASE, "microcode", "pixelflow.isa", "pygments"),
    "tessellation": (
        *BASE,
        "pixelflow.evidence",
        "microcode",
        "pixelflow.config",
        "pixelflow.isa",
        "pixelflow.node",
        "numpy",
    ),
    "tessellation.rendering": (
        *BASE,
        "microcode",
        "pixelflow.config",
        "pixelflow.isa",
        "pixelflow.node",
        "tessellation",
        "numpy",
    ),
    "tessellation.scenes": (*BASE, "pixelflow.config", "tessellation", "numpy"),
    # The curves are an extra.
    "tessellation.reproduction.curves": (*BASE, "pixelflow.evidence", "pixelflow.node", "tessellation", "matplotlib"),
    # The readers of meshes are an extra.
    "tessellation.picture.models": (*BASE, "numpy", "trimesh"),
    # The shaded picture is an extra.
    "tessellation.picture.preview": (*BASE, "tessellation", "numpy", "PIL"),
    # The reader of textures is an extra.
    "tessellation.picture.models": (*BASE, "numpy", "PIL"),
    "pim_kernels": (
        *BASE,
        "microcode",
        "pixelflow.config",
        "pixelflow.isa",
        "pixelflow.node",
        "pixelflow.observe",
        "numpy",
    ),
    "larrabee_bridge": (
        *BASE,
        "pixelflow.evidence",
        "pixelflow.observe",
        "microcode",
        "numpy",
    ),
    # The scenes that are measured.
    "larrabee_bridge.claims.paper": (*BASE, "pixelflow.evidence", "larrabee_bridge", "tessellation"),
    "gen6_bridge": (*BASE, "pixelflow.evidence", "pixelflow.observe", "microcode", "numpy"),
    "attila_bridge": (*BASE, "pixelflow.evidence", "pixelflow.observe", "microcode", "numpy"),
    "gen6_bridge.compare": (*BASE, "gen6_bridge", "tessellation", "numpy"),
    "larrabee_bridge.compare": (
        *NODE,
        "pixelflow.node",
        "tessellation",
        "larrabee_bridge",
        "numpy",
    ),
}
ANYTHING = ("pixelflow.cli", "tessellation.rendering.machine", "larrabee_bridge.machine", "gen6_bridge.machine")
"""Commands, and the records of machines that commands find."""
FACES_ONLY = ("tessellation",)
"""These packages use others through their public faces: `pixelflow.node`, never `pixelflow.node.run.stream`."""
HALLS = {
    "pixelflow",
    "pixelflow.observe",
    "pixelflow.simd",
    "pixelflow.simd.isa",
    "microcode",
    "larrabee_bridge",
    "gen6_bridge",
    "attila_bridge",
}
"""Packages whose own files are public, besides the faces below them."""


FRONT = "pixelflow"
"""The name that users import: it hands on names of the rooms below, and none of these may ask for them there."""
VERSION = "__version__"


def the_front_loads_nothing(root: Path) -> list[str]:
    """The name that users import loads no room, and takes names from faces alone; no file asks it for one."""
    front = root / FRONT / "__init__.py"
    wrong = []
    for path in sources(root):
        for each in imports(root, path):
            if path == front and each.module.partition(".")[0] not in STANDARD:
                face = file_of(root, each.module)
                if not each.checking:
                    wrong.append(f"{place(root, path, each.line)}: loads {each.module}")
                elif face is None or (face.name != "__init__.py" and each.module.rpartition(".")[0] not in HALLS):
                    wrong.append(f"{place(root, path, each.line)}: {each.module} is no face")
            elif path != front and each.module == FRONT and each.name != VERSION:
                wrong.append(f"{place(root, path, each.line)}: asks {FRONT} for {each.name or 'everything'}")
    return wrong


def imports_follow_the_table(root: Path) -> list[str]:
    """A file imports the standard library, its own room and what the table gives to that room."""
    wrong = []
    for path in sources(root):
        name = module_name(root, path)
        if name == FRONT or any(within(name, room) for room in ANYTHING):
            continue
        row = max((room for room in TABLE if within(name, room)), key=len, default="")
        allowed = [room for room in (row, *TABLE.get(row, ())) if room and room != "pixelflow"]
        wrong += [
            f"{place(root, path, each.line)}: {row or 'a room without a row'} may not import {each.module}"
            for each in imports(root, path)
            if each.module.partition(".")[0] not in STANDARD
            and each.module != "pixelflow"
            and not any(within(each.module, room) for room in allowed)
        ]
    return wrong


def rooms_are_used_through_their_face(root: Path) -> list[str]:
    """A package that is built on the others imports their faces, never a file inside of one of their rooms."""
    return [
        f"{place(root, path, each.line)}: {each.module} is a private room"
        for path in sources(root, *FACES_ONLY)
        for each in imports(root, path)
        if (file := file_of(root, each.module)) is not None
        and each.module.partition(".")[0] not in FACES_ONLY
        and file.name != "__init__.py"
        and each.module.rpartition(".")[0] not in HALLS
    ]


def the_table_is_about_rooms_that_exist(root: Path) -> list[str]:
    """Every room of the table is a file or folder of the tree."""
    return [
        f"{room}: a row of the table without a room"
        for room in TABLE
        if room.partition(".")[0] in packages(root) and file_of(root, room) is None
    ]
