from pathlib import Path

import pytest

from fairwater.settings import settle


# Verifies: REQ-d00005-A
def test_the_command_line_wins_over_the_environment_and_that_over_the_default():
    environment = {"FAIRWATER_TABLE": "harbour.csv", "FAIRWATER_MARGIN": "0.8"}

    assert settle(environment).margin == 0.8
    assert settle(environment, margin="0.3").margin == 0.3
    assert settle(environment, table="mine.csv").table == Path("mine.csv")
    assert settle(environment).bar_depth == 0.0


# Verifies: REQ-o00003-B
def test_the_margin_is_half_a_metre_unless_someone_sets_another():
    assert settle({"FAIRWATER_TABLE": "harbour.csv"}).margin == 0.5


# Verifies: REQ-d00005-B
def test_a_setting_that_is_no_number_is_reported_by_name_and_value():
    with pytest.raises(ValueError, match="FAIRWATER_MARGIN is 'plenty'"):
        settle({"FAIRWATER_TABLE": "harbour.csv", "FAIRWATER_MARGIN": "plenty"})
    with pytest.raises(ValueError, match="--bar-depth is 'inf'"):
        settle({"FAIRWATER_TABLE": "harbour.csv"}, bar_depth="inf")


# Verifies: REQ-d00005-A
def test_no_table_anywhere_says_where_to_name_one():
    with pytest.raises(ValueError, match="--table FILE or set FAIRWATER_TABLE"):
        settle({})
