"""Catalogue of the kernels, in the order of the paper."""

from __future__ import annotations

from larrabee_bridge.kernels.cloth import cloth_study
from larrabee_bridge.kernels.compressed import compressed_study
from larrabee_bridge.kernels.convex import gjk_study
from larrabee_bridge.kernels.overlaps import sweep_study
from larrabee_bridge.kernels.particles import particles_study
from larrabee_bridge.kernels.study import KernelResult, KernelStudy, kernels_report, list_of
from larrabee_bridge.vpu.config import CoreConfig
from pixelflow.simd.commands import MachineKernels

STUDIES = (
    KernelStudy("decompression", "texels in blocks, decoded and filtered in software", "3.5", compressed_study),
    KernelStudy("cloth", "distances between points, Verlet's step", "6.4, Fig. 17", cloth_study),
    KernelStudy("sweep-and-prune", "pairs of boxes that overlap", "6.4, Fig. 17", sweep_study),
    KernelStudy(
        "particles", "densities and forces of particles from their neighbours", "6.4, Fig. 17", particles_study
    ),
    KernelStudy("gjk", "distances of convex bodies", "6.4, Fig. 17", gjk_study),
)
"""All kernels."""

KERNELS = MachineKernels[KernelStudy, CoreConfig, KernelResult](
    {each.name: each for each in STUDIES},
    lambda kernel, config, tell: kernel.study(config, tell),
    list_of,
    kernels_report,
)
