"""Examples, exercises and scenes that are shipped: list them, show one, copy one here.

Without a word: the list. Examples are whole programs, or scenes of other machines; exercises are the course, stubs with
the text of a task, which `pixelflow grade` grades; scenes and patches are what `pixelflow render` draws. All are found
by name wherever the package is installed.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from pixelflow.cli.arguments import add_common_options
from pixelflow.cli.machine_values import PIXELFLOW, add_machine_option
from pixelflow.cli.programs import example_files, shipped_files, shipped_with
from pixelflow.cli.screen import Screen, check_writable, output_file
from pixelflow.course import EXERCISES
from pixelflow.simd.errors import Fault, InputError, Place, suggestion
from pixelflow.simd.files import shipped
from pixelflow.simd.machine import machine_named, machines
from pixelflow.simd.report import Column, Fact, Report, Table, number
from tessellation.scenes import SCENES, files_of
from tessellation.surface.bpt import BUILT_IN

EXAMPLES = (
    "pixelflow examples",
    "pixelflow examples show carries",
    "pixelflow examples copy carries",
    "pixelflow examples show glass",
)

_PATCHES = {name: shipped("tessellation", "data", file) for name, file in BUILT_IN.items()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what to do, and with which."""
    words = parser.add_subparsers(dest="action", metavar="list|show|copy")
    listed = words.add_parser("list", help="list all (default)", description="List examples, exercises, scenes.")
    show = words.add_parser("show", help="print the source", description="Print the source of one.")
    copy = words.add_parser("copy", help="write a copy to this folder", description="Copy one, with its files.")
    for below in (show, copy):
        below.add_argument("shipped", metavar="NAME", help="an example, an exercise or a scene")
        add_machine_option(below)
    copy.add_argument("--to", metavar="FILE", help="the name of the copy (default: its own, in this folder)")
    for below in (listed, show, copy):
        add_common_options(below)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Return the list, a source, or the name of the copy."""
    match args.action:
        case "show":
            text = _path(args.shipped, args.machine).read_text(encoding="utf-8")
            parts = [Fact(text.rstrip("\n"), key="source", value=text, wrap=False)]
            return Report(results=parts, schema="pixelflow.example/1", data={"name": Path(args.shipped).stem})
        case "copy":
            return _copied(_path(args.shipped, args.machine), args.to)
    return _list()


def _copied(path: Path, to: str | None) -> Report:
    target = to or path.name
    files = files_of(path.stem) if SCENES.get(path.stem) == path else ()
    others = {Path(target).with_name(each.name): each for each in files}
    # A second copy of a scene finds its files there.
    missing = {
        str(name): each
        for name, each in others.items()
        if not (name.is_file() and name.read_bytes() == each.read_bytes())
    }
    copies = {target: path, **missing}
    for name in copies:
        if Path(name).exists():
            hint = "--to FILE names another, or one in another folder"
            raise InputError(Fault("exists already; it will not be overwritten", Place(name), hint))
        check_writable(name)
    for name, source in copies.items():
        with output_file(name, binary=True) as stream:
            stream.write(source.read_bytes())
    written = Fact(f"wrote {', '.join(copies)}", key="written", value=target)
    return Report(parts=[written], schema="pixelflow.example/1")


def _list() -> Report:
    shown = [(name, _title(path)) for name, path in example_files().items()]
    examples = Table([Column("example", key="name", fixed=True), Column("shows", key="shows")], shown, key="examples")
    columns = [
        Column("exercise", key="name", fixed=True), Column("about", key="title"), Column("uses", key="shows"),
        Column("cycles", number, "budget"),
    ]  # fmt: skip
    tasks = [(each.name, each.title, each.shows, each.budget) for each in EXERCISES.values()]
    exercises = Table(columns, tasks, key="exercises")
    others = [
        (each.name, name, _title(path))
        for each in machines()
        if each.name != PIXELFLOW
        for name, path in shipped_with(each.target).items()
    ]
    columns = [
        Column("machine", key="machine", fixed=True), Column("example", key="name", fixed=True),
        Column("shows", key="shows"),
    ]  # fmt: skip
    elsewhere = Table(columns, others, key="others")
    scenes = Table(
        [Column("scene", key="name", fixed=True), Column("shows", key="shows")],
        [(name, _title(path)) for name, path in SCENES.items()],
        key="scenes",
    )
    hints = [
        "and the notebook tour: pixelflow examples copy tour",
        "an example: pixelflow run NAME, or examples show NAME, examples copy NAME; of others with --machine MACHINE",
        "an exercise: pixelflow examples copy NAME, then pixelflow grade NAME.mc",
        "a scene: pixelflow render NAME -o NAME.png, or examples copy NAME and change it",
    ]
    return Report(parts=[examples, "", exercises, "", scenes, "", elsewhere, "", *hints], schema="pixelflow.examples/1")


def _title(path: Path) -> str:
    """Return the first sentence of an example."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return str(json.loads(source)["name"])
    text = re.match(r"(?:[;#].*\n)+", source)
    words = " ".join(line.lstrip(";# ") for line in text[0].splitlines()) if text else ""
    return re.split(r"(?<=[a-z])[.?] |\s{2,}|\.$", words)[0].rstrip(". ")


def _path(name: str, machine: str) -> Path:
    """Return the file of an example, an exercise's stub, a scene or the tour; raises InputError for an unknown name."""
    own = machine == PIXELFLOW
    known = {**shipped_files(), **SCENES, **_PATCHES} if own else shipped_with(machine_named(machine).target)
    path = known.get(name) or known.get(Path(name).stem)
    if path is None:
        hint = suggestion(name, known, "pixelflow examples lists them")
        raise InputError(Fault("there is no example, exercise or scene of this name", Place(name), hint))
    return path
