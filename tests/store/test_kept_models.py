"""Tessellated models in the store: the same samples, accounts and picture as those of a run."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from microcode import LIBRARY
from pixelflow.config import TINY, load_config
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.store import MODEL, store
from tessellation import load
from tessellation.host import tessellator
from tessellation.host.kept_model import tessellate_kept
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.picture import SceneSource
from tessellation.scenes import load_scene


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PIXELFLOW_CACHE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sample counts of the runs."""
    done: list[int] = []
    real = tessellate

    def noting(patches, samples, **more):
        done.append(samples)
        return real(patches, samples, **more)

    monkeypatch.setattr(tessellator, "tessellate", noting)
    return done


def same(one: Tessellation, other: Tessellation) -> bool:
    """Return whether two have the same samples, to the bit, and the same accounts."""
    for a, b in zip(one.patches, other.patches, strict=True):
        for each in fields(a):
            x, y = getattr(a, each.name), getattr(b, each.name)
            if isinstance(x, np.ndarray) and x.tobytes() != y.tobytes():
                return False
    accounts = [[(run.cycles, run.by_stage, run.program.sha256) for run in each.runs] for each in (one, other)]
    return accounts[0] == accounts[1] and (one.engine, one.ledger) == (other.engine, other.ledger)


PATCHES = load("teapot").patches[:3]


def test_it_is_the_same(runs: list[int]) -> None:
    first, again = (tessellate_kept(PATCHES, 4, config=TINY) for _ in range(2))
    assert runs == [4] and first is not again and (first.is_stored, again.is_stored) == (False, True)
    assert same(first, again) and same(again, tessellate(PATCHES, 4, config=TINY))
    assert np.array_equal(first.mesh(weld=True).points, again.mesh(weld=True).points)


def test_what_differs_is_another_one(runs: list[int], folder: Path) -> None:
    """Samples, patches, machine, and a file of the library that the working folder puts first."""
    other = load_config(None, ["sdram.trp_cycles=4"], "tiny")
    for _ in range(2):
        tessellate_kept(PATCHES, 4, config=TINY)
        tessellate_kept(PATCHES, 5, config=TINY)
        tessellate_kept(PATCHES[:2], 4, config=TINY)
        tessellate_kept(PATCHES, 4, config=other)
    assert runs == [4, 5, 4, 4]
    (folder / "float32").mkdir()
    (folder / "float32" / "tuned.mc").write_text((LIBRARY / "float32" / "tuned.mc").read_text() + "; mine\n")
    tessellate_kept(PATCHES, 4, config=TINY)
    assert len(runs) == 5


@pytest.mark.parametrize("engine", ["rows", "macro"])
def test_an_engine_asked_for_by_name_always_runs(engine: str, runs: list[int]) -> None:
    for _ in range(2):
        assert tessellate_kept(PATCHES[:1], 3, config=TINY, engine=engine).engine in (engine, "rows")
    assert len(runs) == 2 and not [each for each in store().files() if each.kind == MODEL]


def test_a_scene_of_a_model_is_the_same_picture(runs: list[int]) -> None:
    frames = [load_scene("teapot", SceneSource(size=(64, 48), engine=AUTO)).frame for _ in range(2)]
    assert len(runs) == 1
    digests = {hashlib.sha256(each.draws[0].triangles.corners.tobytes()).hexdigest() for each in frames}
    assert len(digests) == 1


def test_damage_leads_to_a_run(runs: list[int]) -> None:
    first = tessellate_kept(PATCHES, 4, config=TINY)
    (kept,) = store().path.glob("*.model")
    kept.write_bytes(kept.read_bytes()[:-1])
    assert same(first, tessellate_kept(PATCHES, 4, config=TINY)) and len(runs) == 2
