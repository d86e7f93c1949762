"""Folders and files: what a folder holds and where it lies, what a file is called, and imports in a circle."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

from tests.architecture.measure import FEW, repeated
from tests.architecture.source_tree import is_face, packages, place, sources, targets, tracked

DEEPEST = 2
SMALL = {
    "gen6_bridge/unit": "the unit, who answers its messages, native code for both: `isa/` below it, `time/` above it",
    "pixelflow/course": "the exercises are files of their own, in `stubs/`",
}
"""Folders of fewer files, each with its reason."""
DEEP = {"pixelflow/simd/lanes/native": "an engine of the lanes that is larger than they are"}
"""Folders that lie deeper, each with its reason."""
SCHEME = {
    "machine": "record by which commands find a machine",
    "commands": "what a machine adds to commands, as light data",
    "config": "every value of a machine, with unit, range and source; the command that shows them",
    "declarations": "what an instruction of a machine says of itself",
    "instructions": "the instructions, and what makes them",
    "operands": "kinds of operands, and what a value of the language becomes",
    "encoding": "fields of an instruction word",
    "execution": "what an instruction does on lanes",
    "program": "a program, and what an assembler is told of the machine",
    "assembler": "text of a language, read into a program",
    "native": "a machine's programs for groups of lanes, which run as native code",
    "texture_unit": "the texture unit of a machine",
    "schedule": "what is done in which order, and when",
    "run": "a run of a program or scene, and its report; the command that begins one",
    "thread_events": "events of a run, thread by thread, for traces",
    "work": "work of a frame, which time is taken for",
    "draw": "draws, one after the other",
    "frame": "a whole picture, and the state that it is drawn in",
    "picture": "frames of another's scene on this machine",
    "rasterizer": "from triangles to the pixels that they cover",
    "shading": "programs for the pixels of a picture",
    "account": "what a run or a picture took, and on what its figures rest",
    "compare": "the same beside other machines; the command that does it",
    "paper": "claims of a paper with what measures them",
    "bench": "what the measures of claims execute; the command that measures speed",
    "records": "recorded runs of others, judged",
    "study": "one thing measured in many ways; the command that executes one",
    "catalogue": "all routines or kernels, as plain data",
}
"""Names that may be said more than once, with the meaning that each has everywhere."""
MOST = 30
"""The scheme has fewer words."""
TWICE = {"integers", "rows"}
"""Names that still mean two things: to become one each."""
CIRCLES = {
    "pixelflow/simd/lanes": (
        *("bitserial.py", "engine.py", "float32.py", "float64.py", "form.py", "native", "numbers.py", "rows.py"),
        "words.py",  # the table of engines loads each when it is chosen, and each of them is an engine
    ),
    "pixelflow/view": ("app.py", "server.py"),  # the server loads the application, whose libraries are an extra
}
"""Files and folders of a folder that do import each other in a circle, which is closed inside of a function."""


def a_folder_is_worth_opening(root: Path) -> list[str]:
    """A folder below a package has at least five files, its face among them, or a reason to be one."""
    held = [path.parent for path in tracked(root)]
    return [
        f"{place(root, folder)}: {held.count(folder)} files, the fewest are {FEW}"
        for folder in folders_below(root)
        if held.count(folder) < FEW and place(root, folder) not in SMALL
    ]


def a_folder_lies_near(root: Path) -> list[str]:
    """A folder lies at most two below its package, or has a reason to lie deeper."""
    return [
        f"{place(root, folder)}: {depth} folders below its package, the most are {DEEPEST}"
        for folder in folders_below(root)
        if (depth := len(folder.relative_to(root).parts) - 1) > DEEPEST and place(root, folder) not in DEEP
    ]


def folders_below(root: Path) -> list[Path]:
    """Return the folders of Python files below the packages."""
    return sorted({path.parent for path in sources(root)} - {root / name for name in packages(root)})


def a_file_name_is_said_once(root: Path) -> list[str]:
    """A file name is said once in the product, or is one of fewer than thirty words of the scheme."""
    wrong = [
        f"{name}: said {count} times, and no word of the scheme"
        for name, count in repeated(sources(root)).items()
        if name.removesuffix(".py") not in {*SCHEME, *TWICE}
    ]
    return wrong + [f"{len(SCHEME)} words in the scheme, the most are {MOST - 1}"] * (len(SCHEME) >= MOST)


def no_imports_in_a_circle(root: Path) -> list[str]:
    """The files and folders of a folder do not import each other in a circle, not inside of functions either."""
    return [
        f"{place(root, folder / way[0])}: imports in a circle: {' -> '.join([*way, way[0]])}"
        for folder, arrows in arrows_of_folders(root).items()
        for way in circles(arrows)
        if not {*way} <= {*CIRCLES.get(place(root, folder), ())}
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


def circles(arrows: Mapping[str, Set[str]]) -> list[list[str]]:
    """Return for each name that reaches itself a shortest way around, beginning with the name."""
    found = []
    for start in arrows:
        before: dict[str, str] = {}
        edge = [start]
        while edge and start not in before:
            steps = [(name, after) for name in edge for after in arrows.get(name, ()) if after not in before]
            for name, after in steps:
                before.setdefault(after, name)
            edge = list(dict.fromkeys(after for _, after in steps))
        if start in before:
            way = [start]
            while (name := before[way[-1]]) != start:
                way.append(name)
            found.append([start, *reversed(way[1:])])
    return found


def packages_are_found(root: Path) -> list[str]:
    """Every top folder with Python files is a package with a face, but tests, benchmarks and the site's hooks."""
    loose = {path.relative_to(root).parts[0] for path in tracked(root) if path.suffix == ".py"}
    return [
        f"{name}: a folder of Python files without a face"
        for name in sorted(loose - {*packages(root), "tests", "benchmarks", "docs"})
    ]
