"""Meaning: what texture instructions do to bytes: TASICs, texture memory, addresses, GP memory."""
