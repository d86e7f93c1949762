"""Game physics (neither): cloth, sweep and prune, particles with neighbours."""
