"""Measures of the claims: what is executed here beside each of them."""
