"""Meaning: rules that say which instructions the machine takes."""

from gen6_bridge.code.legality.rules import RULES, broken_rules, source_rules

__all__ = ["RULES", "broken_rules", "source_rules"]
