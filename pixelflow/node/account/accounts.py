"""From a run to its account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import TypeVar

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.node.account.ledger import Ledger, ledger_of, signal_flows
from pixelflow.node.account.run import Run
from pixelflow.node.account.untimed_run import UntimedRun
from pixelflow.node.run.order.as_soon_as_possible import AsSoonAsPossible
from pixelflow.node.run.order.clocked import Clocked
from pixelflow.node.run.streams.deadlock import OpenWait

__all__ = ["account", "unfinished_account", "untimed_account", "with_program"]

Key = TypeVar("Key")


def account(runner: Clocked, config: NodeConfig, engine: str) -> Run:
    """Return the account of a run that has ended; raises InternalError unless it is complete."""
    ledger = ledger_of(runner)
    ledger.check()
    for stream in runner.streams.values():
        stream.check_account()
    return _account(runner, config, engine, ledger=ledger)


def unfinished_account(runner: Clocked, config: NodeConfig, engine: str, reason: str) -> Run:
    """Return the account of a run that something has stopped, as far as it came; its ledger need not balance.

    A stream that waited has done so up to the cycle in which the run was stopped.
    """
    for stream in runner.streams.values():
        stream.settle()
    return _account(runner, config, engine, reason=reason, waits=runner.open_waits())


def _account(
    runner: Clocked,
    config: NodeConfig,
    engine: str,
    *,
    reason: str = "halt",
    ledger: Ledger | None = None,
    waits: Mapping[str, OpenWait] = MappingProxyType({}),
) -> Run:
    """Return the account of the first stream of a run, with that of the other beside it."""
    beside: Run | None = None
    for stream in reversed(runner.streams.values()):
        last = waits.get(stream.name, OpenWait("", 0))
        cycles = stream.cycle + last.cycles
        stage = (len(stream.stages) - 1, last.reason)
        beside = Run(
            program=stream.program,
            engine=engine,
            cycles=cycles,
            executed=tuple(stream.executed),
            cycles_each=tuple(stream.sequencer.cycles),
            stages=tuple(stream.stages),
            routine_cycles=dict(stream.routine_cycles),
            seconds_at_clock=config.seconds(cycles),
            stream=stream.name,
            reason=reason,
            waits=_with(stream.waits, last.reason, last.cycles),
            stage_waits=_with(stream.stage_waits, stage, last.cycles),
            beside=beside,
            delivered=None if stream.supply is None else stream.supply.delivered,
        )
    return replace(beside, ledger=ledger, tasic_cycles=runner.tasic_cycles, gni_cycles=runner.gni_cycles)


def _with(waits: Mapping[Key, int], reason: Key, cycles: int) -> dict[Key, int]:
    """Return waits with some more cycles for a reason."""
    return {**waits, reason: waits.get(reason, 0) + cycles} if cycles else dict(waits)


def untimed_account(runner: AsSoonAsPossible, engine: str, reason: str = "halt") -> UntimedRun:
    """Return the account of a run without time, but for the bytes moved; raises InternalError unless it is complete.

    One that something has stopped (any other ``reason``) is taken as far as it came, and need not balance.
    """
    for stream in runner.streams:
        if reason == "halt":
            stream.check_account()
        else:
            stream.settle()
    if reason == "halt":
        Ledger(signal_flows(runner.streams)).check()
    beside: UntimedRun | None = None
    for stream in reversed(runner.streams):
        beside = UntimedRun(
            program=runner.program,
            engine=engine,
            stream=stream.name,
            executed=tuple(stream.executed),
            stages=tuple(name for name, _ in stream.stages),
            calls={name: calls for name, (calls, _) in stream.routine_cycles.items()},
            moved={},
            reason=reason,
            beside=beside,
        )
    return beside


AnyRun = TypeVar("AnyRun", Run, UntimedRun)


def with_program(run: AnyRun, program: Program | None) -> AnyRun:
    """Return an account with tables of its own, of this program; a score keeps one that keeps no program alive."""
    beside = None if run.beside is None else with_program(run.beside, program)
    own = {each.name: dict(value) for each in fields(run) if isinstance(value := getattr(run, each.name), dict)}
    return replace(run, program=program, beside=beside, **own)
