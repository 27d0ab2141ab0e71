"""What a reader reports instead of losing text silently."""

import msgspec


class Diagnostic(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Something in a file that could not be read as meant, or that deserves a look."""

    code: str
    """Stable and dotted, such as `elspais.duplicate_label`."""
    severity: str
    """error, warning or info."""
    message: str
    """Names the value, the rule and what to do."""
    line: int
