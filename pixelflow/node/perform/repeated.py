"""Runs of a program that was run before on the same node: what it does is done again, when it did so is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pixelflow.isa import Program
from pixelflow.node.account.run import Run
from pixelflow.node.array.pe_array import PeArray
from pixelflow.node.perform.prepared import prepared
from pixelflow.node.perform.score import Lanes, Score, replay
from pixelflow.node.texture.unit import TextureUnit

if TYPE_CHECKING:
    from pixelflow.node.node import Node

__all__ = ["fuse", "run_repeatedly"]


def run_repeatedly(node: Node, program: Program, entry: str | None) -> Run:
    """Run a program as `Node.run` does, from its score where there is one; raises what that raises."""
    scores = prepared(node.array, program).scores
    before = dict(node.texture.moved)
    known: Score | None = scores.get(entry)
    if known is None:
        return _in_full(node, program, entry, Score(), before)
    done = _again(known, node.array, node.texture)
    moved = {way: count - before[way] for way, count in node.texture.moved.items()}
    if done is None and moved == known.moved:
        return _with_program(known.run, program)
    del scores[entry]
    steps = tuple(known.steps)
    return _in_full(node, program, entry, Score(steps, len(steps) if done is None else done), before)


def _again(score: Score, array: PeArray, unit: TextureUnit) -> int | None:
    """Do a score again, in one piece where that can be; return what `replay` does."""
    score.repeats += 1
    if score.passage is not None and score.passage.carry_out(array, unit):
        return None
    if score.repeats < score.look_at:
        return replay(score, array, unit)
    from pixelflow.node.perform.passage import passage_of

    before = unit.snapshot()
    done = replay(score, array, unit)
    if done is None:
        score.passage = passage_of(score, array, unit, before)
        score.look_at *= 2
    return done


def fuse(array: PeArray, program: Program, entry: str | None) -> None:
    """Have native code made of what the score of a program does to the lanes, where there is one."""
    score: Score | None = prepared(array, program).scores.get(entry)
    if score is not None:
        for step in score.steps:
            if isinstance(step, Lanes):
                array.fuse(step.actions)
        score.look_at = score.repeats + 1


def _in_full(node: Node, program: Program, entry: str | None, score: Score, before: dict[str, int]) -> Run:
    """Go through a whole run, carrying out what the score has not behind it; keep the score for the next one."""
    runner = node.runner(program, entry, None, None, score=score)
    runner.moved_before = before
    with node.watched(runner):
        runner.run()
        run = node.account(runner)
    # Without the program, which would be kept for as long as the node is there.
    score.run = replace(_with_program(run, None), repeated=True)
    score.moved = {way: count - before[way] for way, count in node.texture.moved.items()}
    if score.complete:
        score.finish(node.array)
        prepared(node.array, program).scores[entry] = score
    return run


def _with_program(run: Run, program: Program | None) -> Run:
    beside = None if run.beside is None else _with_program(run.beside, program)
    own = {name: dict(getattr(run, name)) for name in ("routine_cycles", "waits", "stage_waits", "gni_cycles")}
    return replace(run, program=program, beside=beside, **own)
