"""Sampling by view: how finely each patch is sampled, and which patches are dropped, for a camera and a tolerance."""
