"""Programs of the vector unit as the core's programs for groups of lanes, which run as native code."""

from __future__ import annotations

from larrabee_bridge.vpu.isa import NEXT, STOPPED, VectorFamily
from larrabee_bridge.vpu.notes import BasicBlocks, NoteSubscriber, RunNote
from larrabee_bridge.vpu.program import LINE_BYTES, VectorProgram
from pixelflow.simd.lanes.engine import Shape
from pixelflow.simd.lanes.form import places_of
from pixelflow.simd.lanes.native.group_program import COUNTS, LINES, NOTHING, GroupProgram
from pixelflow.simd.lanes.native.group_run import GroupNote, GroupNoted, GroupRuns
from pixelflow.simd.lanes.numbers import record_numbers


def group_program(program: VectorProgram, shape: Shape) -> GroupProgram:
    """Return a program with its meanings recorded, on threads of a shape."""
    places, instructions = places_of(shape), program.instructions
    return GroupProgram(
        shape=shape,
        parts=program.each(lambda instruction: record_numbers(instruction.apply, places)),
        branches=[each.declaration.family is VectorFamily.BRANCH for each in instructions],
        addresses=(*program.addresses, len(program.words)),
        following=NEXT,
        stopped=STOPPED,
        begins=BasicBlocks.of(program).bounds[:-1].tolist(),
        name=program.name,
    )


def native_runs(program: VectorProgram, shape: Shape) -> GroupRuns:
    """Return the native runs of a program; the same object for the same program and group."""
    key = "native runs", shape.group
    found: GroupRuns | None = program.analyses.get(key)
    if found is None:
        made = program.meant(f"groups of {shape.group}", GroupProgram, lambda: group_program(program, shape))
        found = program.analyses[key] = GroupRuns(made, LINE_BYTES, kept=program.meant)
    return found


def noting(program: VectorProgram, noted: NoteSubscriber | None, lines: bool) -> tuple[int, GroupNoted | None]:
    """Return the kind of notes of a run, and the receiver, for a subscriber of the vector unit."""
    if noted is None:
        return NOTHING, None
    blocks = BasicBlocks.of(program)

    def taken(note: GroupNote) -> None:
        noted(RunNote(blocks, note.groups, note.words, note.starts, lines))

    return LINES if lines else COUNTS, taken
