"""Every kind of file and message that is read: a good one of each, and the command lines that read it."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pixelflow.cli.main import main
from tessellation import format_bpt, load
from tests.attila.recorded import TEXTURED, drawn, quad, scene_body
from tests.scenes.test_unreadable import FORMS
from tests.streams import exchanges
from tests.trace.runs import PING_PONG

__all__ = ["KINDS", "PAGE", "FileKind", "beside", "furnish", "good"]

ROOT = Path(__file__).resolve().parents[2]
NODE = "--preset tiny -D array.modules=2 -D array.emcs_per_module=2 -D array.panels_per_emc=2"
"""A small machine."""
SMALL = f"{NODE} --max-cycles 20000"
DRAWN = "-o p.png --size 32x24 --machine larrabee"
"""How pictures are drawn fastest."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file. In its lines ``{}`` is its name."""

    name: str
    base: str | Callable[[], bytes]
    """A good one, or the command line that writes one."""
    lines: tuple[str, ...]
    """Command lines that read it, or a request of the page."""


MICROCODE = """\
const BYTES = 4
param STEP = 1 << 2
range x[4] at 0
range y[BYTES]: float
overlay half[2] at x + 2
data x: lane
data y: float 1.5
macro clear(r, bytes, n)
    LD r, #0
    repeat i in 0 .. n - 1
        STA bytes[i], r
    end
end
if size(x) == BYTES && STEP > 1
    clear S, half, 2
else
    error "x is too large:", size(x)
end
assert addr(x) == 0, "x must come first"
needs "array.modules" = 2, "an example"
MARK "twice"
CALL twice, x, #3
SIGNAL 0
WAIT 1
HALT
routine twice(d, k) whole d uses 152, 4
    LD R, d[1]
    ADD.E R, #k
    STA [152], R
    loop 2
        SHL R
    end
end
stream tigc
WAIT 0
TAS_SetStep 1
SIGNAL 1
"""
RANGES = "range x[4]\ndata x: lane\nrange y[1]\nLD R, #1\nCALL f\nroutine f()\nADD R, #2\nend\n"
LARRABEE = (ROOT / "larrabee_bridge" / "programs" / "blocks.mc").read_text("utf-8")
GEN6 = """\
.data g10 F 1.0, 2.0, 3.0, -4.0
.declare pixel Base=g20 ElementSize=4 SrcRegion=<8,8,1> DstRegion=<1> Type=F
    mov (8) pixel<1>F g10<8,8,1>F {align1}
    cmp.g.f0.0 (8) null<1>F g20<8,8,1>F 2.5F {align1}
    (+f0.0) if (8) END
    mul (8) g20<1>F g20<8,8,1>F -0.5F {align1}
    add (8) g21<1>D g10.1<0,1,0>D 0x10D {align1}
END:
    endif (8) DONE
DONE:
    nop
"""
ARB = TEXTURED.replace(
    "TEX", "TEMP a;\nPARAM half = { 0.5, 1e-2, 0, 1 };\nPARAM tint = program.env[0];\nMUL a, half, 2.0;\nTEX"
)
ATTILA = json.dumps(
    scene_body(
        drawn(
            quad(0, 0, 8, 8),
            state={
                "depth": {"func": "less", "write": True},
                "blend": {"src": "one", "dst": "zero"},
                "scissor": [0, 0, 16, 16],
                "stencil": {"func": "always", "ref": 1, "fail": "keep", "zfail": "keep", "zpass": "incr"},
                "cull": "back",
                "color_mask": [True] * 4,
            },
            fragment=TEXTURED,
        ),
        clear={"color": [0, 0, 0, 1], "depth": 1.0, "stencil": 0},
        textures={
            "t": {
                "size": [16, 16], "format": "rgba8", "pattern": "noise", "seed": 1, "levels": 5, "mag": "linear",
                "min": "linear_mipmap_linear", "wrap": "repeat", "anisotropy": 1,
            }
        },
    )
)  # fmt: skip
CONFIG = 'preset = "tiny"\n[array]\nmodules = 2\n[sdram]\ntrp_cycles = 3\n[lee]\narrangement = "zero"\n'
SCENE = """\
size = [64, 48]
background = [1, 2, 3]
samples = 4
frames = 3
interpolation = "perspective"
[camera]
azimuth = 30
elevation = 24.5
field_of_view = 28.0
zoom = 1.0
[[camera.at]]
frame = 2
azimuth = 60.0
[[body]]
mesh = "mesh.obj"
place = [0, 0, 0]
grid = [2, 2]
spacing = [1.0, 1.0]
up = "y"
size = 1.0
turn = 30.0
turns = 12.0
colour = [0.66, 0.37, 0.21]
blend = "over"
alpha = 110
depth_test = "less"
[[body]]
mesh = "mesh.obj"
texture = "checker"
repeats = 2
mipmaps = true
flat = false
[[generated]]
family = "sized"
count = 10
pixels = 20
seed = 1
"""
FRAMES = """\
size = [32, 24]
frames = 2
[camera]
azimuth = 30
zoom = 1.5
[[camera.at]]
frame = 1
azimuth = 60.0
[[body]]
patches = "enneper"
samples = 2
"""
SCRIPT = """\
break 4 if any(R == 1)
step 2
back
watch x[2] pe 0-3
print R pe 0-7
print x[0] + 1
poke R = 3 pe 0
list f
map R
info stops
delete 1
goto 1
continue
end
"""
REQUESTS = (
    {"id": 1, "do": "run.open"},
    {"id": 2, "do": "run.goto", "cycle": 30},
    {"id": 3, "do": "run.command", "text": "step 2"},
    {"id": 4, "do": "run.map", "what": "R"},
    {"id": 5, "do": "run.element", "x": 1, "y": 1},
    {"id": 6, "do": "draw.frame", "model": "enneper", "samples": 2, "machine": "larrabee", "size": "160x120"},
    {"id": 7, "do": "draw.patches", "name": "a.bpt", "text": "1\n2 2\n" + "0 1 2\n" * 9},
)


def _patch(model: str) -> Callable[[], bytes]:
    return lambda: format_bpt(load(model).patches[:1]).encode()


def _picture(form: str) -> Callable[[], bytes]:
    def made() -> bytes:
        from PIL import Image

        buffer = io.BytesIO()
        Image.new("RGB", (8, 8), (1, 2, 3)).save(buffer, form)
        return buffer.getvalue()

    return made


def _text(text: str) -> Callable[[], bytes]:
    return text.encode


_TRACED = f"run pings.mc {SMALL} --trace perfetto:{{}}"
_STATE = ("diff {} {}", "diff {} whole-{}")
_SWEEP = "sweep run ranges.mc --preset tiny --set sdram.trcd_cycles=2,3 --timing-only --out {}"
PAGE = ""
"""What stands for the page in place of a command line."""
_TEXTURED = (f"render {{}}.toml {DRAWN}",)

_KINDS = (
    FileKind(
        "program.mc",
        _text(MICROCODE),
        (
            f"run {{}} {SMALL}",
            "asm {} -o o.mco --listing o.txt --symbols o.json",
            "asm {} --check",
            "dis {} -o o.mc",
            f"debug {{}} --cmd short.look {NODE}",
        ),
    ),
    FileKind("program.mco", "asm exchange.mc -o {}", ("dis {} -o o.mc", f"run {{}} {SMALL}")),
    FileKind("ranges.mco", "asm ranges.mc -o {}", ("dis {}", f"run {{}} {SMALL} --range x --profile")),
    FileKind("carries.mc", (ROOT / "tests/course/solutions/carries.mc").read_bytes, ("grade {}",)),
    FileKind("script.look", _text(SCRIPT), (f"debug ranges.mc --cmd {{}} {NODE}",)),
    FileKind(
        "larrabee.mc",
        _text(LARRABEE),
        ("run {} --machine larrabee", "asm {} --machine larrabee -o o.mco", "asm {} --machine larrabee --check"),
    ),
    FileKind(
        "larrabee.mco",
        "asm blocks.mc --machine larrabee -o {}",
        ("run {} --machine larrabee", "dis {} --machine larrabee -o o.mc"),
    ),
    FileKind(
        "gen6.g4a",
        _text(GEN6),
        ("run {} --machine gen6", "asm {} --machine gen6 -o o.mco", "asm {} --machine gen6 --check"),
    ),
    FileKind(
        "gen6.mco", "asm other.g4a --machine gen6 -o {}", ("run {} --machine gen6", "dis {} --machine gen6 -o o.g4a")
    ),
    FileKind("arb.fp", _text(ARB), ("asm {} --machine attila -o o.mco", "asm {} --machine attila --check")),
    FileKind("arb.mco", "asm other.fp --machine attila -o {}", ("dis {} --machine attila -o o.fp",)),
    FileKind("attila.json", _text(ATTILA), ("run {} --machine attila",)),
    FileKind(
        "patches.bpt",
        _patch("enneper"),
        ("tessellate {} --samples 2 -o m.obj", "serve {} --samples 2 -o m.ply", f"render {{}} {DRAWN}"),
    ),
    FileKind("trims.bpt", _patch("rosette"), ("tessellate {} --samples 2 -o m.obj",)),
    FileKind(
        "machine.toml", _text(CONFIG), ("config check {}", "run ranges.mc --config {}", "config show --config {}")
    ),
    FileKind("scene.toml", _text(SCENE), (f"render {{}} {DRAWN}",)),
    FileKind("frames.toml", _text(FRAMES), ("animate {} -o a.gif",)),
    *(FileKind(name, make, (f"render {{}} {DRAWN}",)) for name, make in FORMS.items()),
    *(FileKind(f"picture.{each.lower()}", _picture(each), _TEXTURED) for each in ("PNG", "JPEG", "GIF")),
    FileKind(
        "memory.npz",
        "run ranges.mc --preset tiny --output {}",
        (f"run ranges.mc {NODE} --memory {{}} --output o.npz", *_STATE),
    ),
    FileKind("state.json", f"run ranges.mc {NODE} --output {{}} --pe 0-7", _STATE),
    FileKind("stats.json", f"run exchange.mc {SMALL} --stats {{}}", _STATE),
    FileKind(
        "checkpoint.npz", f"run exchange.mc {SMALL} --save-at 700 {{}}", (f"run exchange.mc {SMALL} --load {{}}",)
    ),
    FileKind(
        "run.npz",
        f"run exchange.mc {SMALL} --record {{}}",
        ("dash {} --at 700", "diff {} {}", "dash {} --svg f.svg", "debug {} --cmd short.look"),
    ),
    FileKind("trace.pftrace", _TRACED, ("trace check {}",)),
    FileKind("trace.pftrace.gz", _TRACED, ("trace check {}",)),
    FileKind("sweep.csv", _SWEEP, (_SWEEP,)),
    *(FileKind(f"{each['do']}.message", _text(json.dumps(each)), (PAGE,)) for each in REQUESTS),
)
KINDS = {each.name: each for each in _KINDS}
"""Every kind by the name of its file."""

BESIDE: dict[str, Callable[[], bytes]] = {
    "ranges.mc": _text(RANGES),
    "exchange.mc": _text(exchanges.program(7)),
    "pings.mc": _text(PING_PONG),
    "other.g4a": _text(GEN6),
    "other.fp": _text(ARB),
    "short.look": _text("print R\nstep\nlist\n"),
    "mesh.obj": FORMS["t.obj"],
}
"""Files that command lines name beside the one that is damaged."""


@cache
def good(name: str) -> bytes:
    """Return a file of a kind that nobody has damaged."""
    base = KINDS[name].base
    if not isinstance(base, str):
        return base()
    with TemporaryDirectory() as folder, chdir(folder):
        furnish()
        assert main([*shlex.split(base.format(name)), "-q"]) == 0, base
        return Path(name).read_bytes()


@cache
def beside() -> dict[str, bytes]:
    """Return what stands beside a damaged file, by name."""
    found = {name: make() for name, make in BESIDE.items()}
    scene = '[[body]]\nmesh = "mesh.obj"\ntexture = "{}"\n'
    return found | {f"{name}.toml": scene.format(name).encode() for name in KINDS if name.startswith("picture")}


def furnish() -> None:
    """Write that into this folder."""
    for name, content in beside().items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(content)
