"""Watching: a run on execution units that is looked into, step by step in both directions."""

from gen6_bridge.debugger.commands import COMMANDS, EuDialogue, open_dialogue
from gen6_bridge.debugger.session import EuSession

__all__ = ["COMMANDS", "EuDialogue", "EuSession", "open_dialogue"]
