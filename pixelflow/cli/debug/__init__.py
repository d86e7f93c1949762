"""Commands that look into runs and compare them."""
