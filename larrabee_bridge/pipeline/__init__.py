"""The binning renderer: front end, rasterizer, back end, their schedule on cores, whole frames."""
