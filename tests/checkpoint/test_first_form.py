"""Are files that the first release wrote still read, and do their runs end as they did then?

`old/` holds a recorded run, whose texture stream writes, gives, reads and loads, and its state before cycle 1625, in
which every class that a state can hold has a value. Both were written when files named classes by Python file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import microcode
from pixelflow.node import Checkpoint, Node, SavedRun
from pixelflow.node import saved_state as archive
from pixelflow.node import saved_state as first_form
from pixelflow.node.run.semaphores import STREAMS
from pixelflow.node.run.stream import BLOCKED, SIGNALLED, UNLATCH, Issue, IssueKind
from pixelflow.node.saved_state import NAME_OF
from pixelflow.node.transfer import TransferCommand
from pixelflow.simd.boxes import Sent
from pixelflow.simd.errors import InputError

OLD = Path(__file__).parent / "old"
CYCLES = 1750
DIGEST = "a932357a02bb301e"


def test_a_recorded_run_of_the_first_form_is_read_and_ends_as_it_did() -> None:
    saved = SavedRun.load(OLD / "run.npz")
    replay = saved.replay()
    replay.goto(CYCLES + 1)
    assert (replay.position, replay.node.digest()[:16]) == (CYCLES, DIGEST)
    saved.check_end(replay)


def test_a_checkpoint_of_the_first_form_is_read_and_its_run_ends_as_it_did() -> None:
    saved = SavedRun.load(OLD / "run.npz")
    checkpoint = Checkpoint.load(OLD / "cycle_1625.npz")
    node, whole = Node(saved.config), Node(saved.config)
    run = node.resume(saved.program, checkpoint)
    assert (run.total_cycles, node.digest()[:16]) == (CYCLES, DIGEST)
    assert run.waits == whole.run(saved.program).waits
    assert [each.digest() for each in node.texture_memory] == [each.digest() for each in whole.texture_memory]
    assert [each.snapshot().tobytes() for each in node.gp_memory] == [
        each.snapshot().tobytes() for each in whole.gp_memory
    ]


def test_a_checkpoint_of_one_stream_of_the_first_form_is_read() -> None:
    """Its run had no boxes and no clock."""
    text = "loop 5\nADD R, #7\nST [3], R\nend\nSIGNAL 2\nWAIT 2\nLD S, [3]\n"
    node = Node(SavedRun.load(OLD / "run.npz").config)
    run = node.resume(microcode.assemble(text), Checkpoint.load(OLD / "one_stream.npz"))
    assert (run.cycles, node.digest()[:16]) == (11, "ea7b87a82c79c610")


def _without_slots(value: object) -> object:
    """Return a saved value whose commands do not say which slots they use."""
    match value:
        case TransferCommand():
            return value._replace(used=0, given=0, taken=0)
        case Sent():
            return value._replace(item=_without_slots(value.item))
        case dict():
            return {key: _without_slots(each) for key, each in value.items()}
        case list() | tuple() if type(value) in (list, tuple):
            return type(value)(_without_slots(each) for each in value)
    return value


def test_a_file_that_was_read_is_written_as_one_of_today() -> None:
    """It says what the same run saves now, and no name of a Python file is in it."""
    saved = SavedRun.load(OLD / "run.npz")
    found: list[Checkpoint] = []
    Node(saved.config).run(saved.program, save_at=1625, save=found.append)
    again = Checkpoint.load(OLD / "cycle_1625.npz").to_bytes()
    run = found[0].state["run"]
    run = _without_slots(run)
    later = {"slots", "slots used", "inbound used", "outbound used"}  # and the configuration: it does not say these
    totals = {key: count for key, count in run["counts"]["totals"].items() if key not in later}
    assert len(totals) == len(run["counts"]["totals"]) - len(later)
    state = found[0].state | {"run": run | {"counts": run["counts"] | {"totals": totals}}}
    assert again == replace(found[0], config={}, state=state).to_bytes()
    header, _ = archive.read_archive(again, "pixelflow.checkpoint/2", "checkpoint", InputError)
    assert "pixelflow.node" not in str(header)


def test_names_of_files_stand_for_no_class_in_files_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = SavedRun.load(OLD / "run.npz")
    monkeypatch.setattr("pixelflow.node.saved_state.NAME_OF", dict.fromkeys(NAME_OF, "pixelflow.node:Node"))
    with pytest.raises(InputError, match="is damaged"):
        SavedRun.from_bytes(saved.to_bytes())


@pytest.mark.parametrize(
    ("number", "issue"),
    [(None, None), (-1, UNLATCH), (-2, BLOCKED), (-3, SIGNALLED)]
    + [(n, Issue(IssueKind.EXECUTE, n)) for n in (0, 1, 7)],
)
def test_what_a_stream_had_issued_was_a_number(number: int | None, issue: Issue | None) -> None:
    run = {"clock": {"boxes": {name: {"pending": number, "other": 5} for name in STREAMS}, "cycle": 3}, "reason": "x"}
    assert first_form._with_issues(run) == {
        "clock": {"boxes": {name: {"pending": issue, "other": 5} for name in STREAMS}, "cycle": 3},
        "reason": "x",
    }
