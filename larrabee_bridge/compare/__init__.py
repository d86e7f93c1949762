"""Comparison (watching): one tessellation on both machines; scenes and patches of `tessellation` on Larrabee."""
