"""The import table of the architecture, as data, walked over every file."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("pixelflow", "microcode", "tessellation", "larrabee_bridge")

BASE = ("pixelflow.simd", "pixelflow.shown")
NODE = (*BASE, "pixelflow.config", "pixelflow.kernels", "pixelflow.observe", "pixelflow.isa")

# A room may import the standard library, itself, and what stands here; the longest matching name counts.
TABLE = {
    "pixelflow": (),
    "pixelflow.shown": ("pixelflow.simd.records", "rich"),
    "pixelflow.config": BASE,
    "pixelflow.simd": ("pixelflow.shown", "pixelflow.config", "pixelflow.isa", "bitarray"),
    "pixelflow.simd.lanes": (*BASE, "numpy", "bitarray", "llvmlite"),
    "pixelflow.kernels": (*BASE, "pixelflow.simd.lanes", "pixelflow.isa", "numpy", "llvmlite"),
    "pixelflow.observe": BASE,
    "pixelflow.observe.report": (*BASE, "pixelflow.observe", "rich"),
    "pixelflow.observe.dashboard": (*BASE, "pixelflow.observe", "rich"),
    # Trace formats are an extra.
    "pixelflow.simd.trace": (*BASE, "pixelflow.observe", "perfetto", "google.protobuf", "vcd"),
    "pixelflow.simd.drawing": (*BASE, "numpy"),
    "pixelflow.simd.boxes": (*BASE, "pixelflow.observe"),
    "pixelflow.isa": (*BASE, "bitarray", "pixelflow.simd.lanes.algebra"),
    "pixelflow.node": (*NODE, "numpy"),
    "pixelflow.debugger": (*BASE, "pixelflow.config", "pixelflow.isa", "pixelflow.node", "pixelflow.observe", "numpy"),
    "microcode": (*BASE, "pixelflow.isa", "lark"),
    "microcode.lexer": (*BASE, "microcode", "pixelflow.isa", "lark", "pygments"),
    "tessellation": (*BASE, "microcode", "pixelflow.config", "pixelflow.isa", "pixelflow.node", "numpy"),
    "tessellation.rendering": (
        *BASE,
        "microcode",
        "pixelflow.config",
        "pixelflow.simd.drawing",
        "pixelflow.isa",
        "pixelflow.node",
        "tessellation",
        "numpy",
    ),
    "tessellation.scenes": (*BASE, "pixelflow.config", "pixelflow.simd.drawing", "tessellation", "numpy"),
    # The reader of textures is an extra.
    "tessellation.scenes.load": (*BASE, "pixelflow.config", "pixelflow.simd.drawing", "tessellation", "numpy", "PIL"),
    # The readers of meshes are an extra.
    "tessellation.rendering.models": (*BASE, "numpy", "trimesh"),
    # The shaded picture is an extra.
    "tessellation.preview": (*BASE, "tessellation", "numpy", "PIL"),
    "larrabee_bridge": (
        *BASE,
        "pixelflow.simd.lanes",
        "pixelflow.simd.drawing",
        "pixelflow.simd.boxes",
        "pixelflow.observe",
        "pixelflow.simd.isa.declare",
        "pixelflow.simd.isa.encoding",
        "pixelflow.simd.isa.program",
        "pixelflow.simd.config.param",
        "microcode",
        "numpy",
    ),
    "larrabee_bridge.compare": (
        *NODE,
        "pixelflow.node",
        "pixelflow.simd.drawing",
        "tessellation",
        "larrabee_bridge",
        "numpy",
    ),
}
ANYTHING = ("pixelflow.cli",)
FACES_ONLY = ("tessellation",)
"""These rooms use other packages through their public face: `pixelflow.node`, never `pixelflow.node.streams.stream`."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> list[tuple[int, str]]:
    """Every (line, module) that a file imports, inside functions too; `from a import b` is a.b where that is a file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                below = ROOT.joinpath(*node.module.split("."), alias.name)
                is_file = below.with_suffix(".py").exists() or (below / "__init__.py").exists()
                found.append((node.lineno, f"{node.module}.{alias.name}" if is_file else node.module))
    return found


def within(name: str, room: str) -> bool:
    return name == room or name.startswith(room + ".")


def row_of(name: str) -> str:
    return max((room for room in TABLE if within(name, room)), key=len)


def files() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", files(), ids=shown)
def test_imports_follow_the_table(path: Path) -> None:
    name = module_name(path)
    if any(within(name, room) for room in ANYTHING):
        return
    row = row_of(name)
    allowed = (row, *TABLE[row])
    wrong = []
    for line, imported in imports(path):
        if imported.partition(".")[0] in sys.stdlib_module_names:
            continue
        if imported == "pixelflow" or (row != "pixelflow" and any(within(imported, room) for room in allowed)):
            continue
        wrong.append(f"{shown(path)}:{line}: {row} may not import {imported}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", files(), ids=shown)
def test_other_packages_are_used_through_their_face(path: Path) -> None:
    name = module_name(path)
    if not any(within(name, room) for room in FACES_ONLY):
        return
    wrong = [
        f"{shown(path)}:{line}: {imported} is a private room"
        for line, imported in imports(path)
        if within(imported, "pixelflow") and not within(imported, "pixelflow.simd") and imported.count(".") > 1
    ]
    assert not wrong, "\n".join(wrong)


def test_the_table_is_about_rooms_that_exist_or_are_planned() -> None:
    planned = {"pixelflow.kernels", "pixelflow.observe", "larrabee_bridge", "larrabee_bridge.compare"}
    planned |= {"pixelflow.observe.report", "pixelflow.observe.dashboard"}
    there = {module_name(path) for path in files()}
    rooms = {name for path in there for name in (path, path.rpartition(".")[0])}
    assert set(TABLE) - rooms <= planned


def test_the_check_sees_a_wrong_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "pixelflow" / "simd" / "lanes"
    folder.mkdir(parents=True)
    bad = folder / "bad.py"
    bad.write_text("def f():\n    from pixelflow.node import Node\n")
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    with pytest.raises(AssertionError, match=r"bad\.py:2: pixelflow\.simd\.lanes may not import pixelflow\.node"):
        test_imports_follow_the_table(bad)
