"""Meaning: the PE array and the linear expression evaluator."""
