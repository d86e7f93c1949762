"""Figures of the tree as it lies here: how much there is, how it is cut, and how much of it a run passes through.

    python -m tests.architecture.measure [--names] [--trips] [--json]

Nothing is judged. The product is every package but the tests; its lines are those of its Python files.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import io
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from types import FrameType

from tests.architecture.source_tree import file_of, imports, module_name, nodes, packages, sources, text

ROOT = Path(__file__).resolve().parents[2]
FEW = 5
"""A folder with fewer files is counted."""
WORDS = 3
"""A text of so many words is prose; operands, mnemonics in capitals and numbers are no words."""
TOLD = {
    "err", "stderr", "error", "message", "messages", "getMessage", "caplog", "hint", "fault", "failure", "caught",
    "refused",
}  # fmt: skip
"""Names of what a user or caller is told when something fails: its words are a contract, as are exit codes."""
SEARCHES = {"startswith", "endswith", "count", "find", "index", "search", "match", "fullmatch", "findall"}
REPLACES = {"setattr", "getattr", "delattr", "hasattr"}
PUBLIC = {"_replace", "_asdict", "_fields", "_make", "_exit", "_getframe"}
"""Names of the standard library that begin with an underscore and are for everyone."""
UNSEEN = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}

Figures = dict[str, float]


def lines_of(path: Path) -> Counter[str]:
    """Return how many lines of a file are of which kind: docstring, import, `__all__`, code, comment, blank."""
    kinds: dict[int, str] = {}
    for node in nodes(path):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):  # also that of an attribute, which Python does not keep
                kind = "docstring"
            case ast.Import() | ast.ImportFrom():
                kind = "import"
            case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.AugAssign(target=ast.Name(id="__all__")):
                kind = "__all__"
            case _:
                continue
        kinds.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), kind))
    for token in tokenize.generate_tokens(io.StringIO(text(path)).readline):
        if token.type not in UNSEEN:
            for line in range(token.start[0], token.end[0] + 1):
                kinds.setdefault(line, "code")
        elif token.type == tokenize.COMMENT:
            kinds.setdefault(token.start[0], "comment")  # one behind code comes after that code
    return Counter(kinds.get(line, "blank") for line in range(1, text(path).count("\n") + 1))


def amounts(files: Iterable[Path]) -> Figures:
    """Lines of the product by kind."""
    found: Counter[str] = sum(map(lines_of, files), Counter())
    kinds = ("code", "docstring", "import", "__all__", "comment", "blank")
    return {"lines": found.total(), **{f"{kind} lines": found[kind] for kind in kinds}}


def sizes(files: Iterable[Path]) -> Figures:
    """Files, and how their lines are divided among them."""
    lengths = sorted(text(path).count("\n") for path in files)
    passed = 0
    for half in reversed(lengths):
        passed += half
        if 2 * passed >= sum(lengths):
            break
    return {
        "files": len(lengths),
        "mean lines of a file": round(statistics.mean(lengths), 1),
        "median lines of a file": statistics.median(lengths),
        "p90 lines of a file": lengths[len(lengths) * 9 // 10],
        "lines of the largest file": lengths[-1],
        "half of the lines in files of at least": half,
    }


def folders(root: Path, files: Iterable[Path]) -> Figures:
    """Folders with Python files; what else lies in them counts as their files too."""
    held = {folder: sum(path.is_file() for path in folder.iterdir()) for folder in {path.parent for path in files}}
    return {
        "folders": len(held),
        "deepest folder below a package": max(len(folder.relative_to(root).parts) - 1 for folder in held),
        f"folders with fewer than {FEW} files": sum(count < FEW for count in held.values()),
    }


def repeated(files: Iterable[Path]) -> dict[str, int]:
    """File names that are used more than once, the most frequent first; names that Python prescribes are left out."""
    names = Counter(path.name for path in files if not path.name.startswith("__"))
    return {name: count for name, count in names.most_common() if count > 1}


def single_importers(root: Path, files: Iterable[Path]) -> int:
    """Modules, faces left out, that exactly one other file of the product names in an import, wherever it stands."""
    importers: defaultdict[Path, set[Path]] = defaultdict(set)
    for path in files:
        for each in imports(root, path):
            found = file_of(root, each.module)
            if found is not None and found != path and found.name != "__init__.py":
                importers[found].add(path)
    return sum(len(each) == 1 for each in importers.values())


def untyped(root: Path, files: Iterable[Path]) -> int:
    """Lines of files whose type errors are ignored; the nearest pattern decides, as mypy has it."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"].get("overrides", [])
    ignored: dict[str, bool] = {}
    for each in settings:
        names = [each["module"]] if isinstance(each["module"], str) else each["module"]
        ignored |= dict.fromkeys(names, each["ignore_errors"]) if "ignore_errors" in each else {}
    lines = 0
    for path in files:
        parts = module_name(root, path).split(".")
        near = [".".join(parts), *(".".join([*parts[:end], "*"]) for end in range(len(parts), 0, -1))]
        if next((ignored[name] for name in near if name in ignored), False):
            lines += text(path).count("\n")
    return lines


def prose_asserts(path: Path) -> Iterator[int]:
    """Lines of asserts that compare or search a text of three words or more, which is not what a failure says."""
    for node in nodes(path):
        if isinstance(node, ast.Assert):
            asked = [_asked(part) for part in ast.walk(node.test)]
            if any(any(map(_is_prose, each)) and not any(map(_is_told, each)) for each in asked):
                yield node.lineno


def _asked(node: ast.AST) -> list[ast.expr]:
    """Return what a comparison compares, or a call that searches is about."""
    match node:
        case ast.Compare():
            return [node.left, *node.comparators]
        case ast.Call(func=ast.Attribute(attr=name, value=value)) if name in SEARCHES:
            return [value, *node.args]
    return []


def _is_prose(node: ast.expr) -> bool:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
            return any(map(_is_prose, parts))
        case ast.Constant() | ast.JoinedStr() | ast.BinOp():
            said = "".join(str(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant))
            return len(re.findall(r"(?:(?<=\s)|^)[A-Z]?[a-z]+(?:'s)?(?=[.,:;]?(?:\s|$))", said)) >= WORDS
    return False


def _is_told(node: ast.AST) -> bool:
    """Return whether an expression names what a failure says, or is its text."""
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in TOLD:
                return True
            case ast.Constant(value=str(said)) if said == "error" or "error: " in said or "did you mean" in said:
                return True
    return False


def private_accesses(path: Path) -> Iterator[int]:
    """Lines where a test takes a private name of something else: an attribute, an import, a name to be replaced."""
    for node in nodes(path):
        match node:
            case ast.Attribute(value=value, attr=name) if ast.unparse(value) not in ("self", "cls"):
                names = [name]
            case ast.ImportFrom(names=aliases):
                names = [alias.name for alias in aliases]
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called), args=args) if called in REPLACES:
                names = [each.value for each in args[:2] if isinstance(each, ast.Constant)]
            case _:
                continue
        for name in (str(each).rpartition(".")[2] for each in names):
            if name.startswith("_") and not name.endswith("_") and name not in PUBLIC:
                yield node.lineno


def measured(root: Path) -> Figures:
    """All figures of a tree that need no run."""
    files, tests = sources(root, *packages(root)), sources(root, "tests")
    names = repeated(files)
    return {
        **amounts(files),
        **sizes(files),
        **folders(root, files),
        "file names used more than once": len(names),
        "files with such a name": sum(names.values()),
        "modules with a single importer": single_importers(root, files),
        "lines not type-checked": untyped(root, files),
        "lines of tests": sum(text(path).count("\n") for path in tests),
        "asserts on prose": sum(1 for path in tests for _ in prose_asserts(path)),
        "private accesses of tests": sum(1 for path in tests for _ in private_accesses(path)),
    }


def _two_instructions() -> Callable[[], object]:
    from microcode import assemble
    from pixelflow.config import TINY
    from pixelflow.node import Node

    node, program = Node(TINY, engine="rows"), assemble("LD R, #5\nADD R, #5")
    return lambda: node.run(program)


def _command(*words: str) -> Callable[[], Callable[[], object]]:
    def run() -> None:
        from pixelflow.cli.main import main

        assert main([*words, "-q"]) == 0, words

    return lambda: run


_PICTURE = ("render", "enneper", "--samples", "4", "--size", "48x32", "-o", "picture.png")

TRIPS: Mapping[str, Callable[[], Callable[[], object]]] = {
    "two instructions in node.run": _two_instructions,
    **{
        f"a picture, {name}": _command(*_PICTURE, "--machine", name)
        for name in ("pixelflow", "larrabee", "gen6", "attila")
    },
    "a tessellation": _command("tessellate", "enneper", "--samples", "4"),
}
"""What is run, by name: each prepares something and returns what is watched. A command is watched with its imports."""


def executed(go: Callable[[], object]) -> set[Path]:
    """Return the files of the product of which a function is executed; bodies of files and classes are none."""
    found: set[str] = set()

    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            found.add(frame.f_code.co_filename)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        go()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {Path(name) for name in found} & {*sources(ROOT)}


def trip(name: str) -> Figures:
    """Measure a trip in a fresh process, whose native code is kept nowhere."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PIXELFLOW_CACHE": str(Path(folder, "kept"))}
        command = [sys.executable, "-m", "tests.architecture.measure", "--json", "--trip", name]
        done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))


def _trip_here(name: str) -> Figures:
    go = TRIPS[name]()
    with redirect_stdout(io.StringIO()):
        files = executed(go)
    loaded = {getattr(module, "__file__", None) for module in [*sys.modules.values()]} & {*map(str, sources(ROOT))}
    return {f"files executed by {name}": len(files), f"files loaded for {name}": len(loaded)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.architecture.measure", description=__doc__.splitlines()[0])
    parser.add_argument("--names", action="store_true", help="list the file names that are used more than once")
    parser.add_argument("--trips", action="store_true", help="also count the files that runs execute (a minute)")
    parser.add_argument("--trip", choices=TRIPS, help="this run alone, in this process")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    args = parser.parse_args()
    figures: dict[str, object] = dict(_trip_here(args.trip) if args.trip else measured(ROOT))
    for name in TRIPS if args.trips else ():
        figures |= trip(name)
    names = repeated(sources(ROOT)) if args.names else {}
    if args.json:
        print(json.dumps({**figures, **({"names": names} if args.names else {})}, indent=1))
        return
    for name, value in [*figures.items(), *names.items()]:
        print(f"{name:45}{value:>10,}")


if __name__ == "__main__":
    main()
