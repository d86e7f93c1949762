"""Print a script that completes command lines of pixelflow in a shell: commands, options, their values, files.

bash:  pixelflow completion bash > ~/.local/share/bash-completion/completions/pixelflow
zsh:   pixelflow completion zsh > DIRECTORY/_pixelflow     (a directory of $fpath)
fish:  pixelflow completion fish > ~/.config/fish/completions/pixelflow.fish
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

from microcode.places import EXAMPLES as EXAMPLES_FOLDER
from pim_kernels import KERNELS
from pixelflow.cli.arguments import Parser, add_common_options
from pixelflow.cli.programs import shipped_files
from pixelflow.cli.registry import COMMANDS
from pixelflow.cli.screen import Screen
from pixelflow.config import PRESETS, THESIS
from pixelflow.isa import INSTRUCTIONS
from pixelflow.simd.configuration import leaves, written_as
from pixelflow.simd.errors import MissingPackageError, Place, UsageError
from pixelflow.simd.report import Fact
from tessellation.scenes import MESHES, SCENES
from tessellation.surface.bpt import BUILT_IN

EXAMPLES = ("pixelflow completion bash",)

_SHELLS = ("bash", "zsh", "fish")
_Completion = str | dict[str, str]
"""A completion as shtab takes it: one text, or one for each shell."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", metavar="|".join(_SHELLS), choices=_SHELLS, help="the shell that reads the script")


def run(args: argparse.Namespace, screen: Screen) -> int:
    """Print the script."""
    if screen.json:
        raise UsageError("--json", "the result is a script, not an object")
    try:
        import shtab
    except ImportError:
        what = "the script is made by shtab, which is not installed"
        raise MissingPackageError(what, "completion", Place("completion")) from None
    parser = whole_parser()
    _say_what_completes(parser, shtab.FILE)
    preamble = {"bash": _bash_functions(), "zsh": "", "fish": ""}
    script = shtab.complete(parser, args.shell, preamble=preamble)  # type: ignore[arg-type] # the one of the shell is taken
    screen.print(Fact(script.rstrip(), wrap=False))
    return 0


def whole_parser() -> Parser:
    """Return one parser of all commands; `main` itself never builds more than one of them."""
    parser = Parser(prog="pixelflow", description="PixelFlow simulator")
    parser.add_argument("--version", action="version", version="", help="print the version")
    add_common_options(parser)
    commands = parser.add_subparsers(dest="command")
    for command in COMMANDS.values():
        below = commands.add_parser(command.name, help=command.summary)
        command.load().add_arguments(below)
        add_common_options(below, report=command.report)
    return parser


def _say_what_completes(parser: Parser, files: Mapping[str, _Completion]) -> None:
    """Give each argument the words that may be there; plain text without known words is the name of a file."""
    settings = tuple(_settings())
    shipped = _shipped()
    words = {
        "preset": tuple(PRESETS), "overrides": settings, "axes": settings, "operations": tuple(INSTRUCTIONS),
        "kernels": ("all", *KERNELS),
        "shipped": (*shipped_files(), *SCENES, *BUILT_IN),
    }  # fmt: skip
    for below in parser.below.values():
        _say_what_completes(below, files)
    for action in parser.declared:
        if action.dest in words:
            action.choices = words[action.dest]
        elif action.dest in shipped and action.nargs is None and not action.option_strings:
            vars(action)["complete"] = _names_and_files(action.dest, shipped[action.dest], files)
        elif action.nargs != 0 and action.choices is None and action.type is None:
            vars(action)["complete"] = files


def _shipped() -> dict[str, tuple[str, ...]]:
    """Return the names that ship here, by the argument that takes such a name or a file."""
    programs = tuple(sorted(path.stem for path in EXAMPLES_FOLDER.glob("*.mc")))
    return {"program": programs, "source": programs, "patches": (*BUILT_IN,), "scene": (*SCENES, *MESHES, *BUILT_IN)}


def _names_and_files(dest: str, names: tuple[str, ...], files: Mapping[str, _Completion]) -> dict[str, _Completion]:
    """Return what completes a name or a file, by shell."""
    words = " ".join(names)
    return {
        **files,
        "bash": f"_pixelflow_names_of_{dest}",
        "zsh": f"{{_alternative 'names\\:name\\:({words})' 'files\\:file\\:_files'}}",
        "fish": f"(printf '%s\\n' {words}; __fish_complete_path (commandline -ct))",
    }


def _bash_functions() -> str:
    """Return shell functions that complete shipped names as well as files."""
    return "\n".join(
        f'_pixelflow_names_of_{dest}() {{\n  compgen -W "{" ".join(names)}" -- "$1"\n  _shtab_compgen_files "$1"\n}}'
        for dest, names in _shipped().items()
    )


def _settings() -> Iterator[str]:
    """Yield ``key=value`` for the few values that a configuration key allows, or else for its default."""
    for key, known, _, default in leaves(THESIS):
        values = (True, False) if isinstance(default, bool) else known.allowed or (default,)
        yield from (f"{key}={written_as(value)}" for value in values)
