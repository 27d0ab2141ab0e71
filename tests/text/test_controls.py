"""What would be obeyed is shown instead."""

import csv
import io
import json

import pytest

from clew.text.controls import control_in, csv_cell, pretty_json, printable

OBEYED = ("\x00", "\x07", "\x1b", "\x7f", "\x9b", "\x9d", "\u2028", "\u202e", "\u2066", "\u2069", "\ud800")


# Verifies: REQ-d00263-A
@pytest.mark.parametrize("sign", OBEYED)
def test_every_character_that_is_obeyed_becomes_a_visible_one(sign: str) -> None:
    shown = printable(f"a{sign}b")
    assert sign not in shown
    assert shown.startswith("a")
    assert shown.endswith("b")
    assert shown.isprintable()
    assert len(shown) > 2


# Verifies: REQ-d00263-A
def test_what_people_write_stays_as_it_is() -> None:
    text = "a\tb\r\nc\nZürich ⚓ עברית 🙂"
    assert printable(text) == text
    assert printable("a\rb") == "a␍b"


# Verifies: REQ-d00263-A
def test_json_keeps_the_data_and_holds_nothing_that_is_obeyed() -> None:
    value = {"title": "".join(sign for sign in OBEYED if sign != "\ud800")}
    shown = pretty_json(value)
    assert json.loads(shown) == value
    assert printable(shown) == shown


# Verifies: REQ-d00263-B
@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"])
def test_a_cell_is_never_calculated(text: str) -> None:
    file = io.StringIO(newline="")
    csv.writer(file).writerow([csv_cell(text), csv_cell("plain")])
    (row,) = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert row[0].startswith("'")
    assert row[1] == "plain"


# Verifies: REQ-d00263-C
@pytest.mark.parametrize("sign", [*OBEYED, "\n", "\r", "\t"])
def test_a_text_of_one_line_holds_no_control_character(sign: str) -> None:
    assert control_in(f"a{sign}b") == f"U+{ord(sign):04X}"
    assert control_in("Zürich, 12 °C ⚓") is None
