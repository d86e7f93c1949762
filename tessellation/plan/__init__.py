"""What a pass is, as data: which PE makes which sample, what its bytes hold, the order of work, where patches lie."""
