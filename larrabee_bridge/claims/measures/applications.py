"""Measures for claims about applications on many cores: what `pixelflow larrabee kernels` carries out."""

from __future__ import annotations

from larrabee_bridge.claims.bench import Printed, SceneBench
from larrabee_bridge.kernels.catalogue import STUDIES
from larrabee_bridge.kernels.study import KernelResult
from larrabee_bridge.kernels.timing import scaled
from larrabee_bridge.kernels.tracing.mesh import knot_on_floor
from larrabee_bridge.kernels.tracing.study import traced_knot
from larrabee_bridge.kernels.tracing.tracer import Traced
from pixelflow.evidence import Measured

__all__ = [
    "applications_on_cores",
    "fog_between_layers",
    "layers_in_lists",
    "physics_on_cores",
    "rays_on_cores",
    "samples_in_shadow",
    "scene_that_is_traced",
    "tones_in_tiles",
]

_CORES = (8, 16, 24, 32, 40, 48)
"""Core counts of figures 19 and 20; everything is relative to the first."""
_PHYSICS = ("cloth", "sweep-and-prune", "particles", "gjk")
_APPLICATIONS = ("matrix-product", "linear-filter", "median-filter", "marching-cubes", "fourier", "portfolio")


def _result(bench: SceneBench, name: str) -> KernelResult:
    study = next(each.study for each in STUDIES if each.name == name)
    return bench.once(("kernel", name), lambda: study(None, bench.progress))


def _traced(bench: SceneBench) -> Traced:
    return bench.once("traced knot", lambda: traced_knot(progress=bench.progress))


def physics_on_cores(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule four kernels of game physics on as many cores as the paper names."""
    cores = int(printed["cores"])
    figures = {}
    for name in _PHYSICS:
        phases = [each.pieces for each in _result(bench, name).phases]
        figures[name] = scaled(phases, (1, cores)).efficiencies[-1]
    text = ", ".join(f"{name} {share:.0%}" for name, share in figures.items()) + f" of {cores} cores"
    shares = {name: round(share, 4) for name, share in figures.items()}
    return Measured(text, shares | {"cores": cores}, {"share": shares})


def layers_in_lists(bench: SceneBench, printed: Printed) -> Measured:
    """Draw layers of glass and compare pixels."""
    return _compared(bench, "transparency")


def fog_between_layers(bench: SceneBench, printed: Printed) -> Measured:
    """Draw panes with fog between them and compare pixels."""
    return _compared(bench, "fog")


def tones_in_tiles(bench: SceneBench, printed: Printed) -> Measured:
    """Bring a picture through a curve while its tiles are there, and compare channels."""
    return _compared(bench, "tones")


def samples_in_shadow(bench: SceneBench, printed: Printed) -> Measured:
    """Draw a mesh with an irregular shadow map and compare samples."""
    return _compared(bench, "shadow-map")


def _compared(bench: SceneBench, name: str) -> Measured:
    found = _result(bench, name)
    text = f"{found.error:.0f} {found.error_of}; {found.run.cycles / found.units:.0f} cycles of a core a {found.unit}"
    return Measured(text, {"differing": int(found.error), "units": found.units})


def scene_that_is_traced(bench: SceneBench, printed: Printed) -> Measured:
    """Count triangles, rays and bytes of the scene, and what a ray takes."""
    found, triangles = _traced(bench), len(knot_on_floor())
    text = (
        f"{triangles:,} triangles, {found.all_rays / 1e6:.2f} million rays, {found.tree_bytes / 1e6:.1f} MB of tree; "
    )
    text += f"{found.cycles_per_ray:.0f} cycles of a core each"
    figures = {"triangles": triangles, "rays": found.all_rays, "tree_bytes": found.tree_bytes}
    spread = {name: {"the knot": count} for name, count in figures.items()}
    return Measured(text, figures | {"cycles_per_ray": round(found.cycles_per_ray, 2)}, spread)


def rays_on_cores(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule the tiles of the traced picture on 8 to 48 cores."""
    found = scaled([_traced(bench).run.pieces], _CORES)
    return _speedups({"rays": found.speedups})


def applications_on_cores(bench: SceneBench, printed: Printed) -> Measured:
    """Schedule dense kernels on 8 to 48 cores."""
    phases = {name: [each.pieces for each in _result(bench, name).phases] for name in _APPLICATIONS}
    return _speedups({name: scaled(each, _CORES).speedups for name, each in phases.items()})


def _speedups(found: dict[str, tuple[float, ...]]) -> Measured:
    figures = {
        f"{name}_{cores}": round(speedup, 3)
        for name, speedups in found.items()
        for cores, speedup in zip(_CORES, speedups, strict=True)
    }
    text = ", ".join(f"{name} {speedups[-1]:.2f}x" for name, speedups in found.items())
    return Measured(f"from {_CORES[0]} to {_CORES[-1]} cores, of {_CORES[-1] // _CORES[0]}x: {text}", figures)
