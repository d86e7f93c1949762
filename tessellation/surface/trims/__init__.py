"""Trimmed patches: loops of Bezier curves in the parameter plane, what lies inside them, and its triangles."""
