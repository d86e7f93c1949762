"""What this simulator models, and how well founded each of its rules is."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from pixelflow import __version__
from pixelflow.cli.arguments import add_config_options
from pixelflow.cli.machine import unread_keys
from pixelflow.cli.model_rules import NOT_MODELLED, RULES
from pixelflow.cli.screen import Screen
from pixelflow.config import NodeConfig, leaves, load_config
from pixelflow.isa import INSTRUCTIONS
from pixelflow.simd.units import Standing

_MEANINGS = {
    Standing.DERIVED: "computed from printed numbers",
    Standing.FITTED: "chosen so that a printed table comes out",
    Standing.INVENTED: "needed by the model, documented nowhere",
}


EXAMPLES = (
    "pixelflow about",
    "pixelflow about --model",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--model`` and the configuration whose values are listed."""
    parser.add_argument("--model", action="store_true", help="list every derived, fitted and invented rule")
    add_config_options(parser)


def run(args: argparse.Namespace) -> int:
    """Print the version, or the list of rules."""
    screen = Screen.of(args)
    config = load_config(args.config, args.overrides, args.preset)
    if screen.json:
        _show_object(screen, config)
    elif args.model:
        _show_model(screen, config)
    else:
        _show_version(screen, config)
    return 0


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


def _show_model(screen: Screen, config: NodeConfig) -> None:
    found = list(rules(config))
    screen.paragraph(
        "What the model does that Keller's thesis (UNC TR95-043) does not print. Everything else is printed there."
    )
    for standing, meaning in _MEANINGS.items():
        screen.text()
        screen.paragraph(f"{standing}: {meaning}; below each rule, on what grounds")
        for each, text, source in found:
            if each is standing:
                screen.paragraph(f"- {text}", indent="  ")
                screen.paragraph(source, indent="      ")
    screen.text()
    screen.text("not modelled")
    for text in NOT_MODELLED:
        screen.paragraph(f"- {text}", indent="  ")
    unread = unread_keys(config)
    if unread:
        screen.text()
        screen.paragraph("configured, but not read yet by any part of the model: " + ", ".join(unread))


def _show_version(screen: Screen, config: NodeConfig) -> None:
    screen.text(f"pixelflow-sim {__version__}")
    screen.paragraph(
        "A simulator of one PixelFlow node: microcode executed on every processing element, cycles counted as executed."
    )
    screen.text(f"machine: {config.lanes:,} PEs at {config.clock_mhz} MHz, config {config.sha256[:6]}")
    screen.text("see: pixelflow about --model, pixelflow isa, pixelflow config show")


def _show_object(screen: Screen, config: NodeConfig) -> None:
    screen.object(
        "pixelflow.about/1",
        rules=[
            {"standing": standing.value, "rule": text, "source": source} for standing, text, source in rules(config)
        ],
        not_modelled=list(NOT_MODELLED),
        not_read=unread_keys(config),
        config={"sha256": config.sha256},
    )
