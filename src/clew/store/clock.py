"""The one spelling of time in the store: UTC, ISO 8601, microseconds. Its order as text is its order in time."""

from datetime import UTC, datetime, timedelta


def now() -> str:
    return _spelled(datetime.now(UTC))


def before_now(span: timedelta) -> str:
    return _spelled(datetime.now(UTC) - span)


def before(moment: str, span: timedelta) -> str:
    """A time so long before another one."""
    return _spelled(datetime.fromisoformat(moment) - span)


def _spelled(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")
