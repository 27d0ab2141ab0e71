from datetime import datetime
from pathlib import Path

import pytest

from fairwater.tables import Extreme, TideTable, read_table

SALTMOUTH = Path(__file__).parent.parent / "data" / "saltmouth.csv"


@pytest.fixture
def saltmouth() -> TideTable:
    return read_table(SALTMOUTH)


@pytest.fixture
def textbook() -> TideTable:
    """Low at six, high at noon, low at six: a tide one can compute in one's head."""
    hours = ((6, 1.0, "low"), (12, 5.0, "high"), (18, 1.0, "low"))
    extremes = tuple(Extreme(datetime(2026, 6, 1, hour), height, kind) for hour, height, kind in hours)
    return TideTable("textbook.csv", "Textbook", extremes)
