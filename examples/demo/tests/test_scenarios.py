"""The scenarios of openspec/, from the skipper's side of the command line."""

import re
from pathlib import Path

import pytest

from fairwater.cli import main
from fairwater.tables import read_table

SALTMOUTH = Path(__file__).parent.parent / "data" / "saltmouth.csv"
WINDOW = re.compile(r"  (\d\d:\d\d) to (\d\d:\d\d)  \(\d+ h \d\d min\)")


@pytest.fixture
def ask(capsys, monkeypatch):
    """Asks for a plan; returns the exit status and the lines of the answer."""
    monkeypatch.delenv("FAIRWATER_MARGIN", raising=False)

    def asked(day, *options, table=SALTMOUTH):
        status = main(["--table", str(table), "--date", day, "--bar-depth", "0.4", *(options or ["--draught", "1.8"])])
        return status, capsys.readouterr().out.splitlines()

    return asked


# Verifies: passage-windows/windows-of-a-day#a-day-with-two-tides
def test_a_day_with_two_tides_has_a_window_around_each_high_water(ask):
    _, (_, *lines) = ask("2026-06-01")

    windows = [WINDOW.fullmatch(line).groups() for line in lines if "(the table" not in line]
    assert len(windows) == 2
    assert all(begins < high < ends for (begins, ends), high in zip(windows, ("07:56", "20:18"), strict=True))


# Verifies: passage-windows/windows-of-a-day#a-window-that-runs-into-the-next-day
def test_a_window_that_runs_into_the_next_day_ends_and_begins_at_midnight(ask):
    _, today = ask("2026-06-02")
    _, tomorrow = ask("2026-06-03")

    assert "to 24:00" in today[-1]
    assert tomorrow[1].startswith("  00:00 to ")


# Verifies: passage-windows/days-without-a-window#not-enough-water
def test_too_little_water_is_said_and_is_the_exit_status(ask):
    status, lines = ask("2026-06-02", "--draught", "9")

    assert status == 1
    assert "not enough water" in lines[1]


# Verifies: passage-windows/days-without-a-window#no-table-for-the-day
def test_a_day_behind_the_end_of_the_table_is_said(ask):
    _, lines = ask("2026-07-01")

    assert "the table does not cover this day" in lines[1]


# Verifies: margin-under-the-keel#harbour-default
def test_without_a_margin_the_plan_is_made_with_half_a_metre_and_says_so(ask):
    _, lines = ask("2026-06-02")

    assert "margin 0.5 m" in lines[0]


# Verifies: tide-tables/plain-text-tables#a-mailed-table
def test_a_mailed_table_is_read(tmp_path):
    path = tmp_path / "mailed.csv"
    path.write_text("# place: Saltmouth\n2026-06-01T01:48,1.1,low\n2026-06-01T07:56,4.3,high\n")

    table = read_table(path)
    assert (table.place, len(table.extremes)) == ("Saltmouth", 2)


# Verifies: tide-tables/tables-that-cannot-be-true#two-low-waters-in-a-row
def test_two_low_waters_in_a_row_are_refused_with_file_and_line(tmp_path, capsys):
    path = tmp_path / "odd.csv"
    path.write_text("# mailed\n2026-05-31T19:30,4.4,high\n2026-06-01T01:48,1.1,low\n2026-06-01T07:56,1.0,low\n")

    assert main(["--table", str(path), "--date", "2026-06-01", "--draught", "1.8"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("fairwater: odd.csv, line 4")
