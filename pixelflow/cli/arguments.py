"""Command line parsing shared by all commands: common options, and usage errors that name the nearest known word."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pixelflow.cli.screen import FORMATS
from pixelflow.simd.errors import suggestion
from pixelflow.simd.units import whole_number

_Value = TypeVar("_Value")


class Parser(argparse.ArgumentParser):
    """An argument parser without abbreviations, whose errors suggest what was meant (exit code 2)."""

    def __init__(self, *args: Any, **known: Any) -> None:
        self.declared: list[argparse.Action] = []
        """Every argument and option, those of groups too."""
        self.below: Mapping[str, Parser] = {}
        """The parsers of the words that may follow."""
        known.setdefault("allow_abbrev", False)
        known.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, **known)

    def add_argument(self, *names: Any, **known: Any) -> argparse.Action:
        """Declare an argument."""
        self.declared.append(super().add_argument(*names, **known))
        return self.declared[-1]

    def add_argument_group(self, *args: Any, **known: Any) -> Any:
        """Return a group, whose arguments are declared as the parser's own."""
        group = super().add_argument_group(*args, **known)
        add = group.add_argument

        def declare(*names: Any, **known: Any) -> argparse.Action:
            self.declared.append(add(*names, **known))
            return self.declared[-1]

        group.add_argument = declare  # type: ignore[method-assign] # of this group alone
        return group

    def add_subparsers(self, **known: Any) -> Any:
        """Return what takes the parsers of words that may follow."""
        found = super().add_subparsers(**known)
        self.below = found.choices
        return found

    def parse_args(  # type: ignore[override] # into a namespace alone
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.error(_unknown_text(unknown, list(self._all_options())))
        return parsed

    def error(self, message: str) -> NoReturn:
        """Print one message and where to read on; exit with 2."""
        for action in self.declared if message.endswith(" arguments") else ():
            if isinstance(action.metavar, tuple) and f"argument {'/'.join(action.option_strings)}:" in message:
                message += f": {' '.join(action.metavar)}"
        self.exit(2, f"{self.prog}: error: {message}\n    see: {self.prog} --help\n")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End the program; ``message`` goes to stderr as it is."""
        if message and sys.stderr is not None:
            from pixelflow.simd.errors import printable

            sys.stderr.write(printable(message))
        sys.exit(status)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        hint = suggestion(str(value), choices, f"allowed: {', '.join(choices)}")
        raise argparse.ArgumentError(action, f"{value!r} is unknown; {hint}")

    def _all_options(self) -> Iterator[tuple[str, str]]:
        """Yield options, each with the command that takes it."""
        for action in self.declared:
            for option in action.option_strings:
                yield option, self.prog
        for below in self.below.values():
            yield from below._all_options()


def _unknown_text(unknown: Sequence[str], options: Sequence[tuple[str, str]]) -> str:
    """Return what is wrong with arguments that nothing took; ``options`` are all there are, and whose each is."""
    lines = []
    for before, word in zip(("", *unknown), unknown, strict=False):
        if not word.startswith("-"):
            if not before.startswith("-"):  # what follows an unknown option is most likely its value
                lines.append(f"unexpected argument {word[:60]!r}")
            continue
        name = word.partition("=")[0]
        takers = [command for option, command in options if option == name]
        if takers:
            lines.append(f"option {name} is understood only after: {', '.join(takers)}")
            continue
        found = _near_option(name, [option for option, _ in options])
        lines.append(f"unknown option {name}" + (f"; did you mean {found}?" if found else ""))
    return "\n    ".join(lines)


def _near_option(name: str, options: Sequence[str]) -> str | None:
    """Return the option that was most likely meant, or None: one letter in four may be wrong, and case and dashes."""
    import difflib

    def bare(option: str) -> str:
        return option.lower().strip("-").replace("_", "-")

    by_name = {bare(option): option for option in options if len(bare(option)) > 1}
    found = difflib.get_close_matches(bare(name), list(by_name), n=1, cutoff=0.75)
    return by_name[found[0]] if found else None


def add_common_options(parser: argparse.ArgumentParser, *, report: bool = True) -> None:
    """Add the options that every command takes; absent ones leave the namespace as it was.

    Without ``report`` the options for its form are omitted: a command without a report refuses them with a reason.
    """
    form = None if report else argparse.SUPPRESS
    group = parser.add_argument_group("common options")
    add = group.add_argument
    absent = argparse.SUPPRESS
    add("--json", dest="format", action="store_const", const="json", default=absent,
        help=form or "print one JSON object on standard output, nothing else")  # fmt: skip
    add("--format", choices=FORMATS, default=absent,
        help=form or "form of the report: text (default), json, markdown, html")  # fmt: skip
    add("--html", metavar="FILE", default=absent,
        help=form or "write the report as one page too, what --format html prints (.html)")  # fmt: skip
    add("-q", "--quiet", action="store_true", default=absent, help="no notes, no report; results and errors only")
    add(
        "-v",
        "--verbose",
        action="store_true",
        default=absent,
        help="the whole report; a traceback for an internal error",
    )
    add("--color", choices=("auto", "always", "never"), default=absent, help="colours (default: auto; see NO_COLOR)")
    add("--no-progress", dest="progress", action="store_false", default=absent, help="no signs of progress")
    add("--width", type=screen_width, metavar="N", default=absent, help="columns of the report (default: the terminal)")


def add_config_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a configuration."""
    parser.add_argument("--config", metavar="FILE", help="configuration file (TOML)")
    parser.add_argument("--preset", help="machine to start from: thesis (default), tiny or large; wins over the file's")
    parser.add_argument(
        "-D", dest="overrides", action="append", default=[], metavar="KEY=VALUE", help="change one value (repeatable)"
    )


def add_engine_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses the lane engine."""
    from pixelflow.node.kernels import ENGINES
    from pixelflow.simd.lanes import AUTO

    text = "lane engine (default: auto, which is compiled where the extra `fast` is installed, else rows)"
    parser.add_argument("--engine", choices=(AUTO, *ENGINES), default=AUTO, help=text)


def named_files(parser: Parser, args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield what may be names of files among the values that were given, each with its option; not that of --html."""
    for action in parser.declared:
        given = getattr(args, action.dest, None)
        option = action.option_strings[-1] if action.option_strings else str(action.metavar or action.dest)
        for value in given if isinstance(given, list | tuple) else (given,):
            if option != "--html" and isinstance(value, str | Path) and str(value):
                yield option, str(value)
                yield option, str(value).partition(":")[2] or str(value)  # as in FMT:FILE
    for below in parser.below.values():
        yield from named_files(below, args)


def count(text: str) -> int:
    """Parse a positive whole number for argparse; underscores between digits are allowed."""
    return parsed(whole_number, text)


def parsed(parse: Callable[[str], _Value], text: str) -> _Value:
    """Return what ``parse`` returns; the text of its ValueError becomes the one of argparse."""
    try:
        return parse(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(str(wrong)) from None


def count_or_zero(text: str) -> int:
    """Parse a whole number starting at 0 for argparse; underscores between digits are allowed."""
    return parsed(partial(whole_number, least=0, wanted="a whole number, 0 or more"), text)


def screen_width(text: str) -> int:
    """Parse a screen width for argparse: 20 to 1000 columns."""
    return parsed(partial(whole_number, least=20, most=1000, wanted="20 to 1000 columns"), text)


def add_jobs_option(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the number of processes; ``what`` names their tasks, in the plural."""
    text = f"processes of this machine for {what} (default: 1)"
    parser.add_argument("--jobs", type=count, default=1, metavar="N", help=text)
