import json
from datetime import date, datetime

import pytest

from fairwater.passage import Window
from fairwater.report import Plan, as_json, as_text

DAY = date(2026, 6, 2)
MORNING = Window(datetime(2026, 6, 2, 4, 48), datetime(2026, 6, 2, 12, 39))
EVENING = Window(datetime(2026, 6, 2, 16, 59), datetime(2026, 6, 3))
WHOLE_DAY = Window(datetime(2026, 6, 2), datetime(2026, 6, 3))


def plan(*windows: Window, covered: Window | None = WHOLE_DAY) -> Plan:
    return Plan("Saltmouth", "saltmouth.csv", DAY, 1.8, 0.5, covered, windows)


# Verifies: REQ-d00006-A
def test_each_window_has_a_line_with_begin_end_and_length():
    assert as_text(plan(MORNING, EVENING)).splitlines()[1:] == [
        "  04:48 to 12:39  (7 h 51 min)",
        "  16:59 to 24:00  (7 h 01 min)",
    ]


# Verifies: REQ-d00006-B, REQ-p00002-B
def test_the_first_line_says_what_the_answer_rests_on():
    heading = as_text(plan(MORNING)).splitlines()[0]

    assert heading == "Saltmouth, Tue 02 Jun 2026: draught 1.8 m, margin 0.5 m (saltmouth.csv)"


@pytest.mark.parametrize(
    ("covered", "line"), [(WHOLE_DAY, "not enough water"), (None, "the table does not cover this day")]
)
# Verifies: REQ-o00001-B, REQ-p00001-B
def test_a_day_without_a_window_says_so_and_why(covered, line):
    assert as_text(plan(covered=covered)).splitlines()[1].startswith("  no window: ")
    assert line in as_text(plan(covered=covered))


# Verifies: REQ-p00001-B
def test_a_day_the_table_knows_in_part_is_marked():
    assert "(the table covers this day only from 04:48 to 12:39)" in as_text(plan(MORNING, covered=MORNING))


# Verifies: REQ-d00007-A+B, REQ-p00003-B
def test_json_carries_the_same_windows_in_iso_time():
    document = json.loads(as_json(plan(MORNING, EVENING)))

    assert document["windows"] == [
        {"begins": "2026-06-02T04:48:00", "ends": "2026-06-02T12:39:00"},
        {"begins": "2026-06-02T16:59:00", "ends": "2026-06-03T00:00:00"},
    ]
    assert (document["table"], document["margin"]) == ("saltmouth.csv", 0.5)
