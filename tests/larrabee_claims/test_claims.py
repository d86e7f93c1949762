"""The claims as data, and the rule that nothing else reads what is printed."""

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from larrabee_bridge.claims.bench import CAMERAS, LARGE, SceneBench, equilateral, even_mesh
from larrabee_bridge.claims.paper import PAPER
from pixelflow.evidence import CheckedClaim, Claim, ClaimClass, ClaimVerdict, Measured, Verified
from pixelflow.evidence.rows import measured_text
from pixelflow.simd.drawing import Frame, covered
from pixelflow.simd.errors import InputError

ROOM = Path(__file__).resolve().parents[2] / "larrabee_bridge"

CLAIMS = PAPER.claims
BENCH = SceneBench()
"""Shared, so that kernels run once."""

PLACES = {
    *("2.3", "Table 1", "3.1", "3.3", "3.4", "3.5", "4.1", "4.3", "4.4", "4.5", "Table 2", "5.1", "5.2", "5.2, Fig. 9"),
    *("Fig. 10", "Fig. 11", "5.3", "Fig. 12", "Fig. 13", "Fig. 14", "6.2", "6.4", "6.4, Fig. 17", "Fig. 18"),
    *("6.2, Fig. 15", "6.3", "6.3, Fig. 16"),
    *("6.4, Fig. 19", "Fig. 19", "Fig. 20"),
}
"""Where the paper has figures."""


def test_shares_of_lanes_are_those_of_the_way_and_of_equilateral_triangles() -> None:
    """Four 2x2 of any place fill a vector no worse than a 4x4 block; large triangles fill nearly all of either."""
    bench = SceneBench()
    for at in CAMERAS:
        bench.once(f"{LARGE}, camera {at}", lambda at=at: SimpleNamespace(utilisation=at / 100))
    found = PAPER.find(by_name("lane-utilisation"), bench).measured.figures
    assert [found[f"camera_{at}"] for at in CAMERAS] == [at / 100 for at in CAMERAS]
    areas = [int(name.removeprefix("blocks_")) for name in found if name.startswith("blocks_")]
    assert all(found[f"blocks_{area}"] <= found[f"free_{area}"] <= 1 for area in areas)
    assert found[f"blocks_{max(areas)}"] > 0.9


def by_name(name: str) -> Claim:
    return next(claim for claim in CLAIMS if claim.name == name)


def test_every_place_with_figures_is_there() -> None:
    assert {claim.place for claim in CLAIMS} == PLACES
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_says_all_of_itself(claim: Claim) -> None:
    assert claim.title.endswith(".") and claim.published and claim.conditions and claim.classes
    assert not claim.conditions.endswith(".")
    assert (claim.name in PAPER.measures) != bool(claim.reason)
    assert not set(claim.values) & set(claim.expected)
    if ClaimClass.NOT in claim.classes and claim.name in PAPER.measures:
        assert claim.conditions.startswith("not the games")


def test_no_measure_is_left_over() -> None:
    assert PAPER.measures.keys() | PAPER.efforts.keys() <= {claim.name for claim in CLAIMS}
    assert len(set(PAPER.measures.values())) == len(PAPER.measures)


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


def test_printed_figures_reach_nothing_but_the_report() -> None:
    """Only the report reads the table of claims, and nothing of the package outside reads the claims at all."""
    readers = set()
    for path in ROOM.rglob("*.py"):
        names = imported(path)
        if ROOM / "claims" not in path.parents:
            assert not any(name.startswith("larrabee_bridge.claims") for name in names), path
        elif "larrabee_bridge.claims.published.CLAIMS" in names:
            readers.add(path.name)
    assert readers == {"paper.py"}


def measured(name: str) -> CheckedClaim:
    return PAPER.find(by_name(name), BENCH)


class Read(dict):
    """Printed figures that remember which of them were looked at."""

    def __init__(self, values: Mapping[str, float]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> float:
        self.names.add(name)
        return super().__getitem__(name)


@pytest.mark.parametrize(
    "claim",
    [each for each in CLAIMS if each.classes == (ClaimClass.MECHANICAL,) and each.name in PAPER.measures],
    ids=lambda each: each.name,
)
def test_mechanical_claims_hold_exactly(claim: Claim) -> None:
    """Every printed figure is compared, or is what the measure computes with; none stands there unused."""
    printed = Read(claim.values)
    found = CheckedClaim(claim, PAPER.measures[claim.name](BENCH, printed))
    compared = {row.item for row in found.rows}
    assert compared | printed.names == {*claim.values, *claim.expected}
    assert compared >= set(claim.expected)
    assert found.differing == ()
    assert found.verdict is ClaimVerdict.CONSTANT


def test_every_claim_has_a_verdict_to_come_to() -> None:
    """What is measured is compared with something, what is missed has a reason, and a constant is a printed figure."""
    for claim in CLAIMS:
        compared = claim.constants or claim.values.keys() & _named(claim) or claim.expected or claim.spans
        assert not (claim.reason and compared)
        assert claim.reason or compared or claim.published == "a chart"
        assert claim.constants <= claim.values.keys()
        assert not claim.missed or (claim.spans and len(claim.missed) > 10)


def _named(claim: Claim) -> set[str]:
    """Return the figures of mechanical claims, which are all compared."""
    return set(claim.values) if ClaimClass.MECHANICAL in claim.classes else set()


def test_rules_are_compared_that_are_not_printed() -> None:
    """A claim with expected zeros differs as soon as one is another figure."""
    rules = {claim.name: dict(claim.expected) for claim in CLAIMS if claim.expected}
    assert rules.pop("pixels-once")
    assert rules == {
        "order-restored": {"out_of_order": 0},
        "recursion": {"differing": 0},
        "transparency": {"differing": 0},
    }
    for name in ("order-restored", "pixels-once"):
        row, claim = measured(name), by_name(name)
        assert set(claim.expected) <= {each.item for each in row.rows}
        assert row.verdict is ClaimVerdict.REPRODUCED and row.kind == "rule holds (no figure printed)"


def test_fibers_and_rides_are_formulas() -> None:
    """w = 60: of a latency of 400 eight fibers leave none, seven 40 of 460; 95 % of 460 is filled by more than 7.28."""
    fibers, ring = measured("fibers"), measured("ring")
    assert fibers.verdict is ring.verdict is ClaimVerdict.CONSTANT
    assert (fibers.measured.figures["fibers_400"], fibers.measured.figures["stall_400"]) == (8, 0)
    assert fibers.measured.figures["work_threads"] == 3 and ring.measured.figures["rings"] == 3
    assert ring.measured.figures["clocks_of_a_ride_16"] == pytest.approx(64 / 15 + 0.5, abs=0.01)


def test_arithmetic_of_the_paper() -> None:
    """Table 1, 4.1 and 5.1, worked out here once more."""
    found = {name: measured(name).measured.figures for name in ("table-1", "tile-bytes", "larrabee-unit")}
    assert found["table-1"] == {
        "out_of_order_operations": 2 * 4,
        "in_order_operations": 10 * 16,
        "ratio": 20,
        "flops_ratio": 40,
    }
    assert found["tile-bytes"]["bytes"] == 128 * 128 * 8 == 128 * 1024
    assert found["larrabee-unit"] == {"flops_per_cycle": 16 * 2}


def test_the_ray_kernel_and_sparse_products() -> None:
    assert measured("ray-triangle").measured.figures == {"vector": 41, "shared": 42, "alone": 58}
    figures = measured("gather-gain").measured.figures
    assert figures["stencil"] > figures["band"] > figures["uniform"] > 1
    assert figures["mean"] == pytest.approx(sum(figures[name] for name in ("stencil", "band", "uniform")) / 3, abs=1e-3)


def test_a_printed_figure_that_is_another_is_seen() -> None:
    claim = replace(by_name("larrabee-unit"), values={"flops_per_cycle": 64})
    row = PAPER.find(claim, BENCH)
    assert row.verdict is ClaimVerdict.DIFFERS and measured_text(row).startswith("DIFFERS in flops")
    assert measured_text(measured("larrabee-unit")).startswith("constant in")
    assert CheckedClaim(claim, Measured("", {})).verdict is ClaimVerdict.UNCOMPARED


@pytest.mark.parametrize(
    ("found", "kind"),
    [
        ([0.7, 0.72], "printed figure met"),
        ([0.5, 0.9], "bracketed"),
        ([0.5, 0.7], "missed"),
        ([0.8, 0.9], "missed"),
    ],
)
def test_what_lies_on_both_sides_is_bracketed(found: list[float], kind: str) -> None:
    claim = by_name("vector-share")
    claim = replace(claim, missed="" if kind == "printed figure met" else claim.missed)
    spread = {"share": {str(number): share for number, share in enumerate(found)}}
    assert CheckedClaim(claim, Measured("", {}, spread)).kind == kind


def test_a_scene_that_cannot_be_made_is_a_reason() -> None:
    def missing() -> Frame:
        raise InputError("trimesh is not installed")

    claim = by_name("vector-share")
    without, broken = (PAPER.find(claim, bench) for bench in (SceneBench(), SceneBench({"bunny": missing})))
    assert without.measured is None and "bunny" in without.reason
    assert broken.measured is None and "trimesh is not installed" in measured_text(broken)


def test_classes_are_counted_twice_where_there_are_two() -> None:
    findings = (CheckedClaim(by_name("locks"), None), CheckedClaim(by_name("caches"), None))
    assert Verified(PAPER, findings).classes == {ClaimClass.MECHANICAL: 2, ClaimClass.PROXY: 1}


def test_meshes_are_of_the_size_they_say() -> None:
    """Every pixel once in each layer; the mean area of whole triangles; equilateral sides."""
    mesh = even_mesh(100, 60, 10, layers=2)
    assert (covered(mesh, 100, 60) == 2).all()
    assert mesh.doubled_areas.mean() / 2 / 256**2 == pytest.approx(10, rel=0.05)
    triangles = equilateral(300, 20)
    np_areas = triangles.doubled_areas / 2 / 256**2
    assert np_areas.min() > 299 and np_areas.max() < 301
