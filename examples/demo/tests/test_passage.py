from datetime import date, datetime, timedelta

import pytest

from fairwater.curve import height_at
from fairwater.passage import Window, covered, height_needed, windows

DAY = date(2026, 6, 1)


# Verifies: REQ-d00003-A, REQ-p00001-A
def test_rising_and_falling_water_make_one_window(textbook):
    assert windows(textbook, DAY, 3.0) == (Window(datetime(2026, 6, 1, 9), datetime(2026, 6, 1, 15)),)


# Verifies: REQ-d00003-A, REQ-p00001-A
def test_every_minute_of_the_day_is_classified_as_the_curve_says(saltmouth):
    day, needed = date(2026, 6, 2), 1.9
    found = windows(saltmouth, day, needed)
    moment = datetime(2026, 6, 2)

    while moment.date() == day:
        inside = any(window.begins <= moment <= window.ends for window in found)
        assert inside == (height_at(saltmouth, moment) >= needed), moment
        moment += timedelta(minutes=1)


def test_REQ_d00003_B_rounding_never_makes_a_window_longer(saltmouth):
    found = windows(saltmouth, date(2026, 6, 2), 2.345)

    assert found
    for window in found:
        assert window.begins.second == window.ends.second == 0
        assert height_at(saltmouth, window.begins) >= 2.345
        assert height_at(saltmouth, window.ends) >= 2.345


# Verifies: REQ-d00003-C, REQ-o00001-A
def test_windows_end_at_midnight(saltmouth):
    today, tomorrow = windows(saltmouth, date(2026, 6, 2), 1.9), windows(saltmouth, date(2026, 6, 3), 1.9)

    assert today[-1].ends == tomorrow[0].begins == datetime(2026, 6, 3)


# Verifies: REQ-d00003-C, REQ-p00001-B
def test_windows_end_where_the_table_ends(textbook):
    (window,) = windows(textbook, DAY, 0.5)

    assert window == covered(textbook, DAY) == Window(datetime(2026, 6, 1, 6), datetime(2026, 6, 1, 18))
    assert windows(textbook, date(2026, 6, 2), 0.5) == ()
    assert covered(textbook, date(2026, 6, 2)) is None


# Verifies: REQ-d00004-A, REQ-o00003-A
def test_the_bar_gives_what_it_has_and_the_tide_gives_the_rest():
    assert height_needed(draught=1.8, margin=0.5, bar_depth=0.4) == pytest.approx(1.9)
    assert height_needed(draught=1.8, margin=0.5, bar_depth=-0.3) == pytest.approx(2.6)


@pytest.mark.parametrize(
    ("draught", "margin", "complaint"), [(0, 0.5, "not a boat"), (-1, 0.5, "not a boat"), (1.8, 0.1, "least is 0.2")]
)
# Verifies: REQ-d00004-B, REQ-o00003-A
def test_a_reckless_question_is_refused(draught, margin, complaint):
    with pytest.raises(ValueError, match=complaint):
        height_needed(draught, margin, 0.0)
