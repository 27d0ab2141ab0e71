from datetime import datetime, timedelta

import pytest

from fairwater.curve import OutsideTable, height_at, moment_at


# Verifies: REQ-d00002-A
def test_the_curve_passes_through_every_extreme(saltmouth):
    for extreme in saltmouth.extremes:
        assert height_at(saltmouth, extreme.time) == pytest.approx(extreme.height)


@pytest.mark.parametrize(("hour", "height"), [(8, 2.0), (9, 3.0), (10, 4.0), (15, 3.0)])
# Verifies: REQ-d00002-B
def test_between_extremes_the_tide_follows_half_a_cosine(textbook, hour, height):
    assert height_at(textbook, datetime(2026, 6, 1, hour)) == pytest.approx(height)


@pytest.mark.parametrize("edge", [0, -1])
# Verifies: REQ-d00002-C, REQ-p00001-B
def test_beyond_the_table_there_is_no_answer(textbook, edge):
    step = timedelta(minutes=1) if edge else timedelta(minutes=-1)

    with pytest.raises(OutsideTable, match=r"textbook\.csv covers"):
        height_at(textbook, textbook.extremes[edge].time + step)


# Verifies: REQ-d00002-B
def test_the_moment_of_a_height_is_the_inverse_of_the_height_at_a_moment(textbook):
    low, high, _ = textbook.extremes
    moment = moment_at(low, high, 2.75)

    assert height_at(textbook, moment) == pytest.approx(2.75)
    assert moment_at(low, high, 5.5) is None
