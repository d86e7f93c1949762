"""What this simulator models, and how well founded each of its rules is."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence

from microcode.read.files import LANGUAGE
from pixelflow import __version__
from pixelflow.cli.model.rules import NOT_MODELLED, RULES
from pixelflow.cli.shell.arguments import UsageError, add_config_options
from pixelflow.cli.shell.machine import unread_keys
from pixelflow.cli.shell.screen import Screen
from pixelflow.config import NodeConfig, leaves, load_config
from pixelflow.isa import INSTRUCTIONS
from pixelflow.node.machine_drawing import machine_drawing
from pixelflow.simd.report import Column, Fact, Heading, Part, Report, Table, number, table_object
from pixelflow.simd.units import Standing

_MEANINGS = {
    Standing.DERIVED: "computed from printed numbers",
    Standing.FITTED: "chosen so that a printed table comes out",
    Standing.INVENTED: "needed by the model, documented nowhere",
}


EXAMPLES = (
    "pixelflow about",
    "pixelflow about --model",
    "pixelflow about --drawing",
    "pixelflow about --language",
)

_SCHEMA = "pixelflow.about/1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--model`` and the configuration whose values are listed."""
    parser.add_argument("--model", action="store_true", help="list every derived, fitted and invented rule")
    parser.add_argument("--drawing", action="store_true", help="draw the machine: panels, x and y, registers, ports")
    parser.add_argument("--language", action="store_true", help="print the description of the .mc language")
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Return the version, the list of rules, the drawing or the description of the language."""
    if args.language and (args.model or args.drawing):
        raise UsageError("--language", "the language has neither rules nor a drawing", "leave out the other option")
    if args.language:
        text = LANGUAGE.read_text(encoding="utf-8")
        return Report(results=[Fact(text.rstrip("\n"), key="language", value=text, wrap=False)], schema=_SCHEMA)
    if args.model and args.drawing:
        raise UsageError("--drawing", "the drawing has no list of rules", "leave out --model")
    config = load_config(args.config, args.overrides, args.preset)
    found = list(rules(config))
    columns = (Column("standing", key="standing"), Column("rule", key="rule"), Column("source", key="source"))
    data = {
        "rules": table_object(Table(columns, [(standing.value, *texts) for standing, *texts in found])),
        "not_modelled": NOT_MODELLED,
        "not_read": unread_keys(config),
        "config": {"sha256": config.sha256},
    }
    if args.drawing:
        drawn = machine_drawing(config)
        parts: Iterable[Part] = [Fact(drawn, key="drawing", value=drawn, wrap=False)]
    else:
        parts = _model(found, config) if args.model else _version(config)
    return Report(results=list(parts), schema=_SCHEMA, data=data)


def rules(config: NodeConfig) -> Iterator[tuple[Standing, str, str]]:
    """Yield (standing, what, source) of everything that the thesis does not print."""
    for rule in RULES:
        yield rule.standing, rule.text, rule.source
    for key, known, value, _ in leaves(config):
        if known.read_by is not None and known.standing is not Standing.THESIS:
            unit = f" {known.unit}" if known.unit else ""
            yield known.standing, f"{key} = {value}{unit}: {known.text}", known.source
    grouped: dict[tuple[Standing, str], list[str]] = {}
    for declaration in INSTRUCTIONS.values():
        if declaration.standing is not Standing.THESIS:
            grouped.setdefault((declaration.standing, declaration.source), []).append(declaration.mnemonic)
    for (standing, source), mnemonics in grouped.items():
        yield standing, f"instructions {', '.join(mnemonics)}", source


def _model(found: Sequence[tuple[Standing, str, str]], config: NodeConfig) -> Iterator[Part]:
    yield "What the model does that Keller's thesis (UNC TR95-043) does not print. Everything else is printed there."
    for standing, meaning in _MEANINGS.items():
        yield from ("", Heading(f"{standing}: {meaning}"), "each rule, and below it on what grounds")
        for each, text, source in found:
            if each is standing:
                yield from (f"  - {text}", f"      {source}")
    yield from ("", Heading("not modelled"))
    yield from (f"  - {text}" for text in NOT_MODELLED)
    if unread := unread_keys(config):
        yield from ("", "configured, but not read yet by any part of the model: " + ", ".join(unread))


def _version(config: NodeConfig) -> Iterator[str]:
    yield f"pixelflow-sim {__version__}"
    yield (
        "A simulator of one PixelFlow node: microcode executed on every processing element, cycles counted as executed."
    )
    yield f"machine: {number(config.lanes)} PEs at {config.clock_mhz} MHz, config {config.sha256[:6]}"
    yield "see: pixelflow about --model, pixelflow isa, pixelflow config show"
