"""Float operations of the kernels as expressions over vectors of lanes."""
