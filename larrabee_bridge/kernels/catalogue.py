"""Catalogue of the kernels that are studied, in the order of the paper."""

from __future__ import annotations

from larrabee_bridge.kernels.cloth import cloth_study
from larrabee_bridge.kernels.compressed import compressed_study
from larrabee_bridge.kernels.convex import gjk_study
from larrabee_bridge.kernels.cubes import cubes_study
from larrabee_bridge.kernels.filters import linear_study, median_study
from larrabee_bridge.kernels.fog import fog_study
from larrabee_bridge.kernels.fourier import fourier_study
from larrabee_bridge.kernels.overlaps import sweep_study
from larrabee_bridge.kernels.particles import particles_study
from larrabee_bridge.kernels.portfolio import portfolio_study
from larrabee_bridge.kernels.product import product_study
from larrabee_bridge.kernels.shadow_maps import shadow_study
from larrabee_bridge.kernels.study import KernelResult, KernelStudy, kernels_report, list_of
from larrabee_bridge.kernels.tones import tones_study
from larrabee_bridge.kernels.tracing import ray_tracer
from larrabee_bridge.kernels.transparency import transparency_study
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.simd.commands import MachineKernels

STUDIES = (
    KernelStudy("decompression", "texels in blocks, decoded and filtered in software", "3.5", compressed_study),
    KernelStudy("transparency", "layers in lists without a limit, sorted", "6.2, Fig. 15", transparency_study),
    KernelStudy("fog", "fog between sorted layers", "6.2, Fig. 15", fog_study),
    KernelStudy("shadow-map", "shadows exact at samples, binned by the light", "6.3, Fig. 16", shadow_study),
    KernelStudy("tones", "a curve over tiles that are in the cache", "6.3", tones_study),
    KernelStudy("cloth", "distances between points, Verlet's step", "6.4, Fig. 17", cloth_study),
    KernelStudy("sweep-and-prune", "pairs of boxes that overlap", "6.4, Fig. 17", sweep_study),
    KernelStudy(
        "particles", "densities and forces of particles from their neighbours", "6.4, Fig. 17", particles_study
    ),
    KernelStudy("gjk", "distances of convex bodies", "6.4, Fig. 17", gjk_study),
    KernelStudy("ray-tracer", "packets of sixteen rays, shadows, one reflection", "6.4, Fig. 18, 19", ray_tracer),
    KernelStudy("matrix-product", "blocks of 24 x 16 with sums in registers", "Fig. 20", product_study),
    KernelStudy("linear-filter", "five by five weights", "6.4, Fig. 20", linear_study),
    KernelStudy("median-filter", "the median of three by three", "6.4, Fig. 20", median_study),
    KernelStudy("marching-cubes", "the surface where a volume passes a level", "6.4, Fig. 20", cubes_study),
    KernelStudy("fourier", "a transform of two dimensions", "Fig. 20", fourier_study),
    KernelStudy("portfolio", "shares of assets by an interior point, in lanes of 64 bits", "Fig. 20", portfolio_study),
)
"""All of them."""

KERNELS = MachineKernels[KernelStudy, CoreConfig, KernelResult](
    {each.name: each for each in STUDIES},
    lambda kernel, config, tell: kernel.study(config, tell),
    lambda result: result.picture,
    list_of,
    kernels_report,
)
