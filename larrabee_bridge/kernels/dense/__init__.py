"""Dense arithmetic (neither): matrix product, filters of pictures, Fourier transform, surfaces in volumes."""
