"""What does not hold yet: for each rule the folders that break it. A line leaves with its last violation."""

PENDING: dict[str, tuple[str, ...]] = {}
