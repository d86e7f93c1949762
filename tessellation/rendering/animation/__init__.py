"""Frames one after the other on one node: tessellation, scan conversion, and results that return beside it."""

from tessellation.rendering.animation.frames import RETURNS, AnimatedFrame, Animation, FrameSource, animate
from tessellation.rendering.animation.report import AnimationFile, animation_report

__all__ = ["RETURNS", "AnimatedFrame", "Animation", "AnimationFile", "FrameSource", "animate", "animation_report"]
