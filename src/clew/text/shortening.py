"""Values as messages repeat them."""

LONGEST_SHOWN = 80


def shortened(value: str, longest: int = LONGEST_SHOWN) -> str:
    """Enough of a value to be recognised, never more."""
    return value if len(value) <= longest else value[: longest - 3] + "..."
