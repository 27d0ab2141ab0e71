"""Values as messages repeat them."""

LONGEST_SHOWN = 80


def shortened(value: str) -> str:
    """Enough of a value to be recognised, never more."""
    return value if len(value) <= LONGEST_SHOWN else value[: LONGEST_SHOWN - 3] + "..."
