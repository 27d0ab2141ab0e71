import pytest

from fairwater.tables import TableError, read_table


# Verifies: REQ-d00001-A, REQ-o00002-A
def test_a_table_of_plain_lines_is_read_and_remarks_are_skipped(tmp_path):
    path = tmp_path / "little-harbour.csv"
    path.write_text("# mailed by the harbour office\n\n2026-06-01T06:00, 1.0, low\n2026-06-01T12:00,5,high\n")

    table = read_table(path)

    assert table.place == "Little Harbour"
    assert [(extreme.height, extreme.kind) for extreme in table.extremes] == [(1.0, "low"), (5.0, "high")]


# Verifies: REQ-d00001-A
def test_the_place_may_be_named_in_a_remark(saltmouth):
    assert saltmouth.place == "Saltmouth"
    assert len(saltmouth.extremes) == 13


# Verifies: REQ-d00001-B, REQ-p00002-A
def test_time_that_stands_still_is_refused_with_its_line(tmp_path):
    path = tmp_path / "stuck.csv"
    path.write_text("2026-06-01T06:00,1.0,low\n2026-06-01T06:00,5.0,high\n")

    with pytest.raises(TableError, match=r"stuck\.csv, line 2: .* does not come after"):
        read_table(path)


@pytest.mark.parametrize(
    ("second", "complaint"),
    [
        ("2026-06-01T12:00,5.0,low", "two low waters in a row"),
        ("2026-06-01T12:00,0.5,high", "cannot follow"),
    ],
)
# Verifies: REQ-d00001-C, REQ-p00002-A
def test_a_tide_that_does_not_turn_is_refused(tmp_path, second, complaint):
    path = tmp_path / "odd.csv"
    path.write_text(f"2026-06-01T06:00,1.0,low\n{second}\n")

    with pytest.raises(TableError, match=complaint):
        read_table(path)


@pytest.mark.parametrize(
    "line",
    ["2026-06-01T06:00,1.0", "noon,1.0,low", "2026-06-01T06:00,deep,low", "2026-06-01T06:00,1.0,ebb",
     "2026-06-01T06:00Z,1.0,low", "2026-06-01T06:00,nan,low"],
)  # fmt: skip
# Verifies: REQ-p00002-A
def test_a_line_that_makes_no_sense_is_refused(tmp_path, line):
    path = tmp_path / "odd.csv"
    path.write_text(f"{line}\n")

    with pytest.raises(TableError, match=r"odd\.csv, line 1"):
        read_table(path)


# Verifies: REQ-p00002-A
def test_a_table_without_tides_is_refused(tmp_path):
    path = tmp_path / "blank.csv"
    path.write_text("# nothing yet\n")

    with pytest.raises(TableError, match="at least two turns"):
        read_table(path)
