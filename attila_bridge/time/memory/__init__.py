"""Memory: the controller with its channels, and the caches of its clients."""
