"""Labels as a series: which one comes after which, in each style."""

from clew.formats.elspais.settings import ElspaisSettings

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_MOST = 10_000


def label_at(position: int, settings: ElspaisSettings) -> str | None:
    """The label at a position of the series, from 0; None behind its end."""
    signs = _signs(settings)
    if signs is not None:
        return signs[position] if 0 <= position < len(signs) else None
    number = position + (settings.label_style == "numeric_1based")
    if not 0 <= position < _MOST or number >= _MOST:
        return None
    return f"{number:02d}" if settings.label_zero_pad else str(number)


def position_of(label: str, settings: ElspaisSettings) -> int | None:
    """Where a label stands in the series; None for one of another style."""
    signs = _signs(settings)
    if signs is not None:
        return signs.find(label) if len(label) == 1 and label in signs else None
    position = int(label) - (settings.label_style == "numeric_1based") if label.isdecimal() else -1
    return position if position >= 0 else None


def describe_labels(settings: ElspaisSettings) -> str:
    signs = _signs(settings)
    first, second = label_at(0, settings), label_at(1, settings)
    return f"{signs[0]} to {signs[-1]}" if signs is not None else f"{first}, {second} and so on"


def _signs(settings: ElspaisSettings) -> str | None:
    """The one-character labels of the style; None where labels are numbers."""
    if settings.label_style == "uppercase":
        return _LETTERS
    return _DIGITS + _LETTERS if settings.label_style == "alphanumeric" else None
