"""Kinds of files that commands read: a good one of each, and what reads it as its command does."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gen6_bridge.records.files import judged, read_json, read_table, registers_of
from microcode import assemble, disassemble, listing
from pixelflow.cli.debug import diff_files
from pixelflow.cli.run.pe_files import read_memory_file, write_state
from pixelflow.cli.sweep.table import SweepTable
from pixelflow.cli.watch.trace_files import reading
from pixelflow.config import NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.node import Checkpoint, Node, Recorder, SavedRun
from tessellation.picture import read_model
from tessellation.scenes.file import read_scene
from tessellation.surface.bpt import BUILT_IN, read_bpt
from tests.files.damage import arrays_changed, damaged, forged, replace_value
from tests.streams import exchanges
from tests.trace.runs import PING_PONG, traced, written

__all__ = ["KINDS", "FileKind"]

SIZES = ["array.modules=2", "array.emcs_per_module=2", "array.panels_per_emc=2"]
MOST_CYCLES = 20_000
DATA = Path(__file__).resolve().parents[2] / "tessellation"

Damage = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its suffix, a good one, what reads it, and how it is damaged."""

    suffix: str
    good: Callable[[], bytes]
    read: Callable[[Path], object]
    damage: Damage = damaged
    cost: int = 1
    """By how much fewer inputs are tried."""


@cache
def small() -> NodeConfig:
    return load_config(None, SIZES, "tiny")


@cache
def program() -> Program:
    return assemble("range x[4]\ndata x: lane\nrange y[1]\nLD R, #1\nCALL f\nroutine f()\nADD R, #2\nend\n")


@cache
def exchange() -> Program:
    return assemble(exchanges.program(7))


def _written(write: Callable[[str], object], suffix: str) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"good{suffix}"
        write(str(path))
        return path.read_bytes()


@cache
def state(suffix: str) -> bytes:
    node = Node(small())
    node.load(program())
    node.run(program())
    return _written(lambda path: write_state(path, node, list(range(8)), {"program": "p"}), suffix)


@cache
def memory() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.zeros((4, 256), np.uint8), y=np.ones(256, np.uint8))
    return buffer.getvalue()


def read_memory(path: Path) -> None:
    read_memory_file(str(path), Node(small(), "rows"), program())


@cache
def checkpoint() -> bytes:
    found: list[Checkpoint] = []
    node = Node(small())
    node.load(exchange())
    node.run(exchange(), save_at=700, save=found.append)
    return found[0].to_bytes()


def resume(path: Path) -> None:
    Node(small(), "rows").resume(exchange(), Checkpoint.load(path), max_cycles=MOST_CYCLES)


@cache
def saved_run() -> bytes:
    node = Node(small())
    node.load(program())
    recorder = Recorder(node, "pixelflow run p")
    recorder.attach(node.bus)
    node.run(program())
    return recorder.saved.to_bytes()


def replayed(path: Path) -> None:
    found = diff_files.read(str(path))
    if isinstance(found, SavedRun):
        found.replay("rows").goto(MOST_CYCLES)


@cache
def trace(name: str) -> bytes:
    return written(traced(PING_PONG).trace, name)


def check_trace(path: Path) -> None:
    with reading(str(path)) as (format, stream):
        format.check(stream, str(path))


@cache
def object_file() -> bytes:
    return exchange().to_json().encode()


def disassembled(path: Path) -> None:
    found = Program.load(path)
    disassemble(found)
    listing(found)
    found.report()
    node = Node(small(), "rows")
    node.load(found)


OBJECT_PARTS = ("ranges", "lines", "data", "routines", "entries", "labels", "names", "line_of")


def object_changed(data: bytes, rng: random.Random) -> bytes:
    """Forge a field that the checksum does not cover, or damage the text."""
    if rng.random() < 0.4:
        return damaged(data, rng)
    body = json.loads(data)
    name = rng.choice(OBJECT_PARTS)
    part = {name: body[name]}
    replace_value(part, rng)
    return json.dumps({**{key: value for key, value in body.items() if key != name}, **part}).encode()


@cache
def statistics() -> bytes:
    run = {"program": "p", "engine": "rows", "reason": "halt", "statistics": {"cycles": 3, "by": [1, 2, {"x": None}]}}
    return json.dumps({"schema": "pixelflow.stats/1", "runs": [run, run]}).encode()


CONFIG = b'preset = "tiny"\n[array]\nmodules = 2\n[sdram]\ntrp_cycles = 3\n[lee]\narrangement = "zero"\n'
SCENE = b"""size = [64, 48]
background = [1, 2, 3]
[camera]
azimuth = 30
[[body]]
mesh = "nut"
place = [0, 0, 0]
grid = [2, 2]
spacing = [1.0, 1.0]
[[generated]]
family = "sized"
count = 10
pixels = 20
"""
OBJ = b"mtllib other.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n"
PLY = (
    b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    b"element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
)
OFF = b"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
STL = bytes(80) + (1).to_bytes(4, "little") + np.zeros(12, "<f4").tobytes() + b"\0\0"
RECORDS = json.dumps(
    {"about": "x", "records": [{"name": "a", "r10": "00ff", "regs": {"r1": "0011" * 16}}] * 3}
).encode()
CSV = b"point,run.cycles,exit_code\n1,5,0\n2,6,0\n"
JSONL = b'{"point": 1, "run.cycles": 5, "exit_code": 0}\n{"point": 2, "run.cycles": 6, "exit_code": 0}\n'


@cache
def png() -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    Image.new("RGBA", (8, 8), (1, 2, 3, 4)).save(buffer, "PNG")
    return buffer.getvalue()


def textured(path: Path) -> None:
    from tessellation.scenes.load import SceneFile, _texture

    _texture(path.name, SceneFile(folder=path.parent), mipmaps=False)


def sweep_table(path: Path) -> None:
    with SweepTable(str(path), ("run.cycles", "exit_code")).open([{}, {}]):
        pass


def records(path: Path) -> None:
    found = read_json(path)

    def check(position: int):
        registers_of(found[position], "regs")
        yield str(found[position]["name"])

    list(judged("kind", path, [str(each.get("name")) for each in found], check))


KINDS: dict[str, FileKind] = {
    "memory of PEs": FileKind(".npz", memory, read_memory, damaged),
    "arrays of PEs": FileKind(".npz", memory, read_memory, arrays_changed),
    "state of PEs": FileKind(".npz", partial(state, ".npz"), lambda path: diff_files.read(str(path))),
    "state of PEs, its arrays": FileKind(
        ".npz", partial(state, ".npz"), lambda path: diff_files.read(str(path)), arrays_changed
    ),
    "state of PEs in JSON": FileKind(".json", partial(state, ".json"), lambda path: diff_files.read(str(path))),
    "statistics": FileKind(".json", statistics, lambda path: diff_files.read(str(path))),
    "checkpoint": FileKind(".npz", checkpoint, resume),
    "forged checkpoint": FileKind(".npz", checkpoint, resume, forged, cost=4),
    "saved run": FileKind(".npz", saved_run, replayed),
    "forged saved run": FileKind(".npz", saved_run, replayed, forged, cost=4),
    "Perfetto trace": FileKind(".pftrace", partial(trace, "perfetto"), check_trace),
    "VCD trace": FileKind(".vcd", partial(trace, "vcd"), check_trace),
    "Kanata trace": FileKind(".kanata", partial(trace, "kanata"), check_trace),
    "zipped trace": FileKind(".kanata.gz", lambda: gzip.compress(trace("kanata")), check_trace),
    "object file": FileKind(".mco", object_file, disassembled, object_changed),
    "patch file": FileKind(".bpt", lambda: (DATA / "data" / BUILT_IN["enneper"]).read_bytes(), read_bpt),
    "configuration": FileKind(".toml", lambda: CONFIG, load_config),
    "scene": FileKind(".toml", lambda: SCENE, read_scene),
    "OBJ mesh": FileKind(".obj", lambda: OBJ, lambda path: read_model(str(path))),
    "PLY mesh": FileKind(".ply", lambda: PLY, lambda path: read_model(str(path))),
    "OFF mesh": FileKind(".off", lambda: OFF, lambda path: read_model(str(path))),
    "STL mesh": FileKind(".stl", lambda: STL, lambda path: read_model(str(path))),
    "texture": FileKind(".png", png, textured),
    "CSV table of a sweep": FileKind(".csv", lambda: CSV, sweep_table),
    "JSON table of a sweep": FileKind(".jsonl", lambda: JSONL, sweep_table),
    "records": FileKind(".json", lambda: RECORDS, records),
    "zipped records": FileKind(".json.gz", lambda: gzip.compress(RECORDS), records),
    "table of records": FileKind(".csv", lambda: CSV, read_table),
}
