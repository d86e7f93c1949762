"""From a run to its account."""

from __future__ import annotations

from dataclasses import replace

from pixelflow.config import NodeConfig
from pixelflow.node.ledger import Ledger
from pixelflow.node.one_stream import OneStream
from pixelflow.node.run import Run
from pixelflow.node.two_streams import TwoStreams

__all__ = ["account", "unfinished_account"]


def account(runner: OneStream | TwoStreams, config: NodeConfig, engine: str) -> Run:
    """Return the account of a run that has ended; raises InternalError unless it is complete."""
    ledger = runner.ledger()
    ledger.check()
    for stream in runner.streams.values():
        stream.check_account()
    return _account(runner, config, engine, ledger=ledger)


def unfinished_account(runner: OneStream | TwoStreams, config: NodeConfig, engine: str, reason: str) -> Run:
    """Return the account of a run that something has stopped, as far as it came; its ledger need not balance."""
    for stream in runner.streams.values():
        stream.settle()
    return _account(runner, config, engine, reason=reason)


def _account(
    runner: OneStream | TwoStreams,
    config: NodeConfig,
    engine: str,
    *,
    reason: str = "halt",
    ledger: Ledger | None = None,
) -> Run:
    """Return the account of the first stream of a run, with that of the other beside it."""
    beside: Run | None = None
    for stream in reversed(runner.streams.values()):
        beside = Run(
            program=stream.sequencer.program,
            engine=engine,
            cycles=stream.cycle,
            executed=tuple(stream.executed),
            cycles_each=tuple(stream.sequencer.cycles),
            stages=tuple(stream.stages),
            routine_cycles=dict(stream.routine_cycles),
            seconds_at_clock=config.seconds(stream.cycle),
            stream=stream.name,
            reason=reason,
            waits=dict(stream.waits),
            stage_waits=dict(stream.stage_waits),
            beside=beside,
        )
    return replace(beside, ledger=ledger, tasic_cycles=runner.tasic_cycles, gni_cycles=runner.gni_cycles)
