"""Meaning: pictures, whole draws in arrays, without a clock."""
