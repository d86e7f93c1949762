"""Larrabee's vector unit: programs, instructions, kernels on many cores, claims beside what is measured."""

from __future__ import annotations

import argparse

from larrabee_bridge.vpu.isa import INSTRUCTIONS
from pixelflow.cli import vector_runs as larrabee_run
from pixelflow.cli.arguments import add_common_options
from pixelflow.cli.isa import instructions_report
from pixelflow.cli.screen import Screen
from pixelflow.cli.verify import add_choice, verify
from pixelflow.simd.report import Report

EXAMPLES = (
    "pixelflow larrabee isa vcompressd",
    "pixelflow larrabee run blocks.mc --show r2,r3,r4 --memory partial",
    "pixelflow larrabee run blocks.mc -P C2=-40 -D vector_latency=6",
    "pixelflow larrabee run blocks.mc --threads 8 --per-core 4",
    "pixelflow larrabee kernels matrix-product fourier",
    "pixelflow larrabee claims --only 6.4 table1 gather-gain",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``run``, ``isa``, ``kernels`` and ``claims``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="run|isa|kernels|claims")
    run_action = actions.add_parser("run", help="run a program", description="Run a program on the vector unit.")
    larrabee_run.add_arguments(run_action)
    isa = actions.add_parser("isa", help="instruction reference", description="Show the instructions.")
    isa.add_argument("operation", nargs="?", metavar="OP", help="one instruction (default: all)")
    text = (
        "Kernels of the paper's sections 6.2 to 6.4 and figures 17 to 20: results beside references,\n"
        "cycles, speed-up on 8 to 48 cores, what limits them. All of them take a minute or two."
    )
    kernels = actions.add_parser("kernels", help="the paper's other applications on many cores", description=text)
    larrabee_run.add_kernel_arguments(kernels)
    text = (
        "What the paper on Larrabee claims, and what is measured here, now; a minute or two\n"
        "without --quick. The exit code is 1 where a printed figure that must be the same is\n"
        "another one."
    )
    claims = actions.add_parser("claims", help="published claims beside what is measured", description=text)
    help_only = "claims of a section, table or figure (3.3, table1, fig12), or a claim's name (repeatable)"
    claims.add_argument("--only", action="extend", nargs="+", default=[], metavar="CLAIM", help=help_only)
    add_choice(claims)
    claims.set_defaults(strict=False, timing_only=False, markdown=None, svg=None, figure=None)
    for action in (run_action, isa, kernels, claims):
        add_common_options(action)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Carry out the action."""
    if args.action == "isa":
        found = INSTRUCTIONS.values() if args.operation is None else (INSTRUCTIONS.find(args.operation.lower()),)
        command = "pixelflow larrabee isa OP" if args.operation is None else None
        return instructions_report(found, "pixelflow.larrabee-isa/1", command)
    if args.action == "claims":  # the old spelling of `verify larrabee`
        everything = "pixelflow larrabee claims --quick"
        return verify("larrabee", args.only, args, screen, option="--only", everything=everything)
    if args.action == "kernels":
        return larrabee_run.run_kernels(args, screen)
    return larrabee_run.run(args, screen)
