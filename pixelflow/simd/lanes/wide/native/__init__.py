"""Programs of groups of lanes as native code: what they are, their translation, and runs of them."""
