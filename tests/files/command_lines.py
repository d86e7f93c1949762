"""Bad command lines of seven kinds, each with the files that it names."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable
from dataclasses import dataclass

from tests.files.damage import damaged
from tests.files.kinds_of_files import KINDS, PAGE, beside, good

__all__ = ["LINES", "BadLine", "bad_line"]

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
    "run": "--max-cycles --expect-cycles --memory --range --show-map --pe --output --load --stats --trace "
    "--window --only --record -D -P --config --preset --width --engine --machine --from-draw "
    "--dump",
    "tessellate": "--samples -o --preview --stats --record-pass -D --engine --config --width --library",
    "render": "--size --samples --nodes --gpu --eus --eu --cores --tile --core --machine --projection -D",
    "compare": "--size --sizes --samples --machines --output --explain -D",
    "verify": "--machine --stats -D --only --window --engine",
    "study": "--inputs --rates -D --width",
    "sweep": "--set --out --jobs --shard -D",
    "dash": "--at --show --height --svg --play",
    "diff": "--engine --width",
    "isa": "--width --format --machine",
    "serve": "--port --host -D --engine",
    "asm": "-o --listing --symbols -P --machine",
    "dis": "-o --machine",
    "config": "--config -D --preset",
    "larrabee": "--width --format",
    "gen6": "--width",
}
WORDS = (
    "run asm dis tessellate render compare verify study sweep dash diff isa trace stats config "
    "completion about larrabee debug nosuch check show triangle enneper --json -q --help -- -x LD"
)


@dataclass(frozen=True)
class BadLine:
    """A command line, and the files beside which it runs, by name."""

    words: tuple[str, ...]
    files: dict[str, bytes]
    stdin: bytes = b""


def _damaged(rng: random.Random) -> BadLine:
    kind = rng.choice([each for each in KINDS.values() if each.lines != (PAGE,)])
    name, whole = kind.name, good(kind.name)
    line = shlex.split(rng.choice(kind.lines).format(name, name))
    return BadLine(tuple(line), {**beside(), f"whole-{name}": whole, name: damaged(whole, rng)})


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
        "serve": ("nosuch",),
    }.get(command, ())
    words = [command, *subject]
    for _ in range(rng.randint(1, 3)):
        words += [rng.choice(OPTIONS[command].split()), rng.choice(ODD)]
    return BadLine(tuple(words), {})


def _words(rng: random.Random) -> BadLine:
    return BadLine(tuple(rng.choice((*WORDS.split(), *ODD)) for _ in range(rng.randint(1, 4))), {})


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


LINES: dict[str, Callable[[random.Random], BadLine]] = {
    "damaged file": _damaged,
    "source that asks for too much": _runaway,
    "option": _option,
    "words": _words,
    "configuration keys": _keys,
    "places": _place,
    "script of the debugger": _script,
}


def bad_line(kind: str, number: int) -> BadLine:
    """Return input number ``number`` of a kind: always the same one."""
    return LINES[kind](random.Random(f"{kind} {number}"))
