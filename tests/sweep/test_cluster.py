"""Does a sweep on a Dask cluster, of real scheduler and worker processes, give the bytes that one process gives?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pixelflow.cli.main import main

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'pixelflow-sim[distributed]'")

GRID = ("--set", "param.N=1:3", "--set", "sdram.trc_cycles=2,10,11")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a scheduler on this machine with two workers."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster.scheduler_address


def test_the_table_is_the_same(sweep, address: str) -> None:
    here = sweep(*GRID, "--out", "here.csv")
    there = sweep(*GRID, "--out", "there.csv", "--scheduler", address)
    assert here.code == there.code == 1, "trc_cycles=2 is no machine"
    assert Path("here.csv").read_bytes() == Path("there.csv").read_bytes()


@pytest.mark.slow
def test_a_verification_is_the_same(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["verify", "table 9", "section 2", "--timing-only", "--json"]
    assert main(words) == 0
    here = capsys.readouterr().out
    assert main([*words, "--scheduler", address]) == 0
    assert capsys.readouterr().out == here


@pytest.mark.slow
def test_it_goes_on_with_a_table(sweep, address: str) -> None:
    assert sweep("--set", "param.N=1:6", "--out", "p.csv", "--shard", "1/2").code == 0
    assert sweep("--set", "param.N=1:6", "--out", "p.csv", "--scheduler", address).code == 0
    whole = sweep("--set", "param.N=1:6").out
    assert Path("p.csv").read_text() == whole


def test_workers_of_another_version_are_refused(sweep, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pixelflow.cli.worker_options.__version__", "0.0.0")
    result = sweep(*GRID, "--scheduler", address)
    assert (result.code, result.out) == (2, "")
    assert "not 0.0.0" in result.err and address in result.err


def test_a_cluster_without_workers_is_refused(sweep) -> None:
    with distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty:
        result = sweep(*GRID, "--scheduler", empty.scheduler_address)
    assert result.code == 2
    assert "it has no workers\n    start one: dask worker " in result.err


@pytest.mark.parametrize("wrong", ["tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1"])
def test_where_no_scheduler_answers(sweep, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from pixelflow.simd import workers as pool

    monkeypatch.setattr(pool, "_PATIENCE_SECONDS", 1)
    result = sweep(*GRID, "--scheduler", wrong)
    assert (result.code, result.out) == (2, "")
    assert "no scheduler answers there" in result.err and "Traceback" not in result.err


@pytest.mark.slow
def test_without_dask_one_line_says_what_to_install(sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    result = sweep(*GRID, "--scheduler", "tcp://127.0.0.1:8786")
    assert result.code == 3
    assert "pip install " in result.err and "[distributed]'" in result.err
