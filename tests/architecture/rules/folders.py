"""Folders: how many files they hold, and how their parts import each other."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.graphs import circles, floors
from tests.architecture.source_tree import is_face, packages, place, sources, targets, tracked

FILES = 12
FLOORS = 5


def a_folder_holds_few_files(root: Path) -> list[str]:
    """A folder, the root too, holds at most 12 tracked files; only folders of tests are exempt."""
    held: dict[Path, int] = {}
    for path in tracked(root):
        if path.relative_to(root).parts[0] != "tests":
            held[path.parent] = held.get(path.parent, 0) + 1
    return [
        f"{place(root, folder)}: {count} files, the limit is {FILES}" for folder, count in held.items() if count > FILES
    ]


def a_folder_has_few_floors(root: Path) -> list[str]:
    """The longest chain of imports between the files and folders of a folder has at most 5 parts."""
    wrong = []
    for folder, arrows in arrows_of_folders(root).items():
        chain = floors(arrows)
        if len(chain) > FLOORS:
            wrong.append(f"{place(root, folder)}: {len(chain)} floors, the limit is {FLOORS}: {' -> '.join(chain)}")
    return wrong


def no_arrow_goes_upwards(root: Path) -> list[str]:
    """The files and folders of a folder do not import each other in a circle."""
    return [
        f"{place(root, folder / way[0])}: imports in a circle: {' -> '.join([*way, way[0]])}"
        for folder, arrows in arrows_of_folders(root).items()
        for way in circles(arrows)
    ]


def no_files_in_a_circle(root: Path) -> list[str]:
    """No files import each other in a circle, also not inside functions or for the type checker."""
    arrows = {
        path: {after for after in targets(root, path) if not is_face(after)}
        for path in sources(root)
        if not is_face(path)
    }
    return [
        f"{place(root, way[0])}: imports in a circle: {' -> '.join(place(root, each) for each in [*way, way[0]])}"
        for way in circles(arrows)
    ]


def arrows_of_folders(root: Path) -> dict[Path, dict[str, set[str]]]:
    """Return for each folder of a package which of its files and folders imports which other."""
    found: dict[Path, dict[str, set[str]]] = {}
    for path in sources(root):
        inside = path.relative_to(root).parts
        for depth in range(1, len(inside)):
            if depth < len(inside) - 1 or not is_face(path):
                found.setdefault(root.joinpath(*inside[:depth]), {}).setdefault(inside[depth], set())
        for target in targets(root, path):
            other = target.relative_to(root).parts
            shared = next((at for at, (a, b) in enumerate(zip(inside, other, strict=False)) if a != b), 0)
            if not shared or (target.parent == root.joinpath(*inside[:shared]) and is_face(target)):
                continue
            if shared == len(inside) - 1 and is_face(path):
                continue
            found[root.joinpath(*inside[:shared])].setdefault(inside[shared], set()).add(other[shared])
    return found


def packages_are_found(root: Path) -> list[str]:
    """Every top folder with Python files is a package with a face, but tests, benchmarks, and the hooks of the site."""
    loose = {path.relative_to(root).parts[0] for path in tracked(root) if path.suffix == ".py"}
    return [
        f"{name}: a folder of Python files without a face"
        for name in sorted(loose - {*packages(root), "tests", "benchmarks", "docs"})
    ]
