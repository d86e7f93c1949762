"""Bad command lines of 20 kinds, each with the files that it names."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from microcode.read.files import EXAMPLES, LIBRARY
from tests.attila.recorded import drawn, quad, scene_body
from tests.files.damage import damaged
from tests.files.kinds_of_files import KINDS

__all__ = ["ATTILA", "LINES", "BadLine", "bad_line"]

ODD = (
    "",
    " ",
    "-",
    "--",
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "9" * 5000,
    "0x10",
    "1_0",
    "\N{ARABIC-INDIC DIGIT THREE}",
    "a" * 5000,
    "\n",
    "\x1b]0;x\x07",
    "../../../../etc/passwd",
    "/dev/null/x",
    ".",
    "/",
    "x\udce9",
    "%s%n",
    "{}",
    "[]",
    "1,2,,3",
    "1:2:3",
    "None",
    "é",
    "=",
    "a=b=c",
    "1/0",
)
"""Values of options."""
OPTIONS = {
    "run": (
        "--max-cycles",
        "--expect-cycles",
        "--memory",
        "--range",
        "--show-map",
        "--pe",
        "--output",
        "--load",
        "--stats",
        "--trace",
        "--window",
        "--only",
        "--record",
        "-D",
        "-P",
        "--config",
        "--preset",
        "--width",
        "--engine",
        "--machine",
        "--from-draw",
        "--dump",
    ),
    "tessellate": (
        "--samples",
        "-o",
        "--preview",
        "--stats",
        "--record-pass",
        "-D",
        "--engine",
        "--config",
        "--width",
        "--library",
    ),
    "render": (
        "--size",
        "--samples",
        "--nodes",
        "--gpu",
        "--eus",
        "--eu",
        "--cores",
        "--tile",
        "--core",
        "--machine",
        "--projection",
        "-D",
    ),
    "compare": ("--size", "--sizes", "--samples", "--machines", "--output", "--figure", "-D"),
    "verify": ("--machine", "--markdown", "-D", "--only", "--window", "--engine"),
    "study": ("--inputs", "--rates", "-D", "--width"),
    "bench": ("--machine", "--rounds", "--nodes"),
    "sweep": ("--set", "--out", "--jobs", "--shard", "-D"),
    "dash": ("--at", "--show", "--height", "--svg", "--play"),
    "diff": ("--engine", "--width"),
    "isa": ("--width", "--format", "--machine"),
    "serve": ("--port", "--host", "-D", "--engine"),
    "asm": ("-o", "--listing", "--symbols", "-P", "--machine"),
    "dis": ("-o", "--machine"),
    "config": ("--config", "-D", "--preset"),
    "larrabee": ("--width", "--format"),
    "gen6": ("--width",),
}
WORDS = (
    "run",
    "asm",
    "dis",
    "tessellate",
    "render",
    "compare",
    "verify",
    "study",
    "sweep",
    "bench",
    "dash",
    "diff",
    "isa",
    "trace",
    "stats",
    "config",
    "completion",
    "about",
    "larrabee",
    "debug",
    "nosuch",
    "check",
    "show",
    "triangle",
    "enneper",
    "--json",
    "-q",
    "--help",
    "--",
    "-x",
    "LD",
)


@dataclass(frozen=True)
class BadLine:
    """A command line, and the files beside which it runs, by name."""

    words: tuple[str, ...]
    files: dict[str, bytes]
    stdin: bytes = b""


def _file(kind: str, words: Callable[[str], tuple[str, ...]]) -> Callable[[random.Random], BadLine]:
    def make(rng: random.Random) -> BadLine:
        about = KINDS[kind]
        name = f"input{about.suffix}"
        return BadLine(words(name), {name: about.damage(about.good(), rng)})

    return make


def _of(kinds: tuple[str, ...], *choices: Callable[[str], tuple[str, ...]]) -> Callable[[random.Random], BadLine]:
    def make(rng: random.Random) -> BadLine:
        return _file(rng.choice(kinds), rng.choice(choices))(rng)

    return make


def _source(rng: random.Random) -> BadLine:
    good = rng.choice([*sorted(EXAMPLES.glob("*.mc")), *sorted(LIBRARY.rglob("*.mc"))]).read_bytes()
    words = rng.choice(
        (("run", "input.mc", "--max-cycles", "2000"), ("asm", "input.mc"), ("asm", "input.mc", "--check", "--listing"))
    )
    return BadLine(words, {"input.mc": damaged(good, rng)})


def _runaway(rng: random.Random) -> BadLine:
    """Sources that are right and ask for too much."""
    source = rng.choice(
        (
            "repeat i in 0 .. 100000000\nLD R, #1\nend\n",
            "macro m()\nm\nend\nm\n",
            "again: JMP again\n",
            "range a[300]\nrange b[300]\n",
            "LOOP 65535\nLOOP 65535\nLOOP 65535\nENDL\nENDL\nENDL\n",
            "const a = 1 << 1000000\n",
            "const a = " + "(" * 3000 + "1" + ")" * 3000 + "\n",
            "if 1\n" * 500,
            "x" * 100_000 + "\n",
            'include "input.mc"\n',
            "WAIT 3\n",
            "proc p()\nCALL p\nend\nCALL p\n",
            "".join(f"a{at}: LD R, #{at % 256}\n" for at in range(5000)) + "JMP nowhere\n",
            "LD R, [999]\n",
            "EPOP\n",
        )
    )
    command = rng.choice(
        (("run", "input.mc", "--preset", "tiny", "--max-cycles", "20000"), ("asm", "input.mc", "--check"))
    )
    return BadLine(command, {"input.mc": source.encode()})


def _option(rng: random.Random) -> BadLine:
    command = rng.choice(sorted(OPTIONS))
    subject = {
        "run": ("vector_add",),
        "tessellate": ("enneper",),
        "render": ("nut", "-o", "p.png", "--size", "32x24"),
        "compare": ("nut", "--size", "32x24"),
        "sweep": ("run", "vector_add"),
        "asm": ("vector_add",),
        "dash": ("x.npz",),
        "diff": ("a", "b"),
        "dis": ("x.mco",),
        "config": ("show",),
        "verify": ("table", "99"),
        "study": ("nosuch",),
        "bench": ("nosuch",),
        "serve": ("nosuch",),
    }.get(command, ())
    words = [command, *subject]
    for _ in range(rng.randint(1, 3)):
        words += [rng.choice(OPTIONS[command]), rng.choice(ODD)]
    return BadLine(tuple(words), {})


def _words(rng: random.Random) -> BadLine:
    return BadLine(tuple(rng.choice((*WORDS, *ODD)) for _ in range(rng.randint(1, 4))), {})


def _keys(rng: random.Random) -> BadLine:
    keys = ("array.modules", "sdram.banks", "igc.supply", "lee.arrangement", "gni.gp_count", "x", "", "array", "a.b.c")
    settings = [word for _ in range(rng.randint(1, 3)) for word in ("-D", f"{rng.choice(keys)}={rng.choice(ODD)}")]
    return BadLine(("run", "vector_add", *settings), {})


def _place(rng: random.Random) -> BadLine:
    """Inputs and outputs that are no files, or cannot be."""
    place = rng.choice(
        (
            "/dev/zero",
            "/dev/full",
            ".",
            "/proc/self/mem",
            "/proc/1/mem",
            "loop",
            "gone/x.mc",
            "/dev/stdin",
            "empty",
            "\0",
            "a" * 300,
            "~",
        )
    )
    suffix = rng.choice(("", ".mc", ".bpt", ".toml", ".npz", ".json", ".obj"))
    words = rng.choice(
        (
            ("run", place),
            ("run", place + suffix),
            ("asm", place, "-o", "x.mco"),
            ("dis", place),
            ("tessellate", place),
            ("render", place + suffix, "-o", "p.png"),
            ("run", "vector_add", "--output", place + ".npz"),
            ("run", "vector_add", "--stats", place + ".json"),
            ("run", "vector_add", "--memory", place),
            ("run", "vector_add", "--config", place),
            ("debug", "vector_add", "--cmd", place),
            ("trace", "check", place),
            ("dash", place),
            ("diff", place, place),
            ("tessellate", "enneper", "-o", place + ".obj"),
            ("asm", "vector_add", "-o", place),
            ("sweep", "run", "vector_add", "--set", "sdram.trcd_cycles=2", "--out", place + ".csv"),
        )
    )
    return BadLine(words, {"empty": b""})


def _script(rng: random.Random) -> BadLine:
    commands = (
        "step",
        "back",
        "goto",
        "break",
        "watch",
        "show",
        "print",
        "list",
        "go",
        "x",
        "b",
        "run",
        "delete",
        "mem",
        "stops",
        "help",
        "bt",
        "map",
    )
    lines = [" ".join((rng.choice(commands), *(rng.choice(ODD) for _ in range(rng.randint(0, 2))))) for _ in range(5)]
    text = "\n".join(lines).encode("utf-8", "surrogateescape")
    if rng.random() < 0.5:
        return BadLine(("debug", "vector_add", "--cmd", "input.look"), {"input.look": text})
    return BadLine(("debug", "vector_add"), {}, text)


def _machine(name: str, source: Callable[[], bytes], suffix: str) -> Callable[[random.Random], BadLine]:
    def make(rng: random.Random) -> BadLine:
        file = f"input{suffix}"
        words = rng.choice((("run", file, "--machine", name), ("asm", file, "--machine", name, "--check")))
        return BadLine(words, {file: damaged(source(), rng)})

    return make


def _larrabee() -> bytes:
    import larrabee_bridge

    return (Path(larrabee_bridge.__file__).parent / "programs" / "blocks.mc").read_bytes()


GEN6 = b"add (8) g4<1>F g2<8,8,1>F g3<8,8,1>F { align1 };\nmov (8) g5<1>F 1.0F { align1 };\n"
ATTILA = json.dumps(scene_body(drawn(quad(0, 0, 8, 8), state={"cull": "back"}))).encode()

LINES: dict[str, Callable[[random.Random], BadLine]] = {
    "damaged source": _source,
    "source that asks for too much": _runaway,
    "object file": _of(("object file",), lambda f: ("dis", f), lambda f: ("run", f, "--max-cycles", "2000")),
    "patches": _of(
        ("patch file",),
        lambda f: ("tessellate", f, "--samples", "2", "-o", "m.obj"),
        lambda f: ("render", f, "-o", "p.png", "--size", "32x24"),
    ),
    "configuration": _of(
        ("configuration",), lambda f: ("config", "check", f), lambda f: ("run", "vector_add", "--config", f)
    ),
    "scene": _of(
        ("scene",),
        lambda f: ("render", f, "-o", "p.png", "--size", "32x24"),
        lambda f: ("compare", f, "--size", "32x24"),
    ),
    "mesh": _of(
        ("OBJ mesh", "PLY mesh", "OFF mesh", "STL mesh"), lambda f: ("render", f, "-o", "p.png", "--size", "32x24")
    ),
    "memory": _of(
        ("memory of PEs", "arrays of PEs"),
        lambda f: ("run", "vector_add", "--preset", "tiny", "--memory", f, "--output", "o.npz"),
    ),
    "state": _of(
        ("state of PEs", "state of PEs in JSON", "statistics"),
        lambda f: ("diff", f, f),
        lambda f: ("diff", f, "vector_add"),
    ),
    "checkpoint": _of(
        ("checkpoint", "forged checkpoint"), lambda f: ("run", "vector_add", "--preset", "tiny", "--load", f)
    ),
    "saved run": _of(
        ("saved run", "forged saved run"),
        lambda f: ("dash", f),
        lambda f: ("diff", f, f),
        lambda f: ("dash", f, "--svg", "f.svg"),
    ),
    "trace": _of(
        ("Perfetto trace", "VCD trace", "Kanata trace", "zipped trace"),
        lambda f: ("trace", "check", f),
        lambda f: ("trace", "convert", f, "--to", "vcd", "-o", "t.vcd"),
    ),
    "table of a sweep": _of(
        ("CSV table of a sweep", "JSON table of a sweep"),
        lambda f: ("sweep", "run", "vector_add", "--set", "sdram.trcd_cycles=2,3", "--timing-only", "--out", f),
    ),
    "option": _option,
    "words": _words,
    "configuration keys": _keys,
    "places": _place,
    "script of the debugger": _script,
    "program of Larrabee": _machine("larrabee", _larrabee, ".mc"),
    "program of Gen6, scene of ATTILA": lambda rng: (
        _machine("gen6", lambda: GEN6, ".asm")(rng)
        if rng.random() < 0.5
        else BadLine(("run", "input.json", "--machine", "attila"), {"input.json": damaged(ATTILA, rng)})
    ),
}


def bad_line(kind: str, number: int) -> BadLine:
    """Return input number ``number`` of a kind: always the same one."""
    return LINES[kind](random.Random(f"{kind} {number}"))
