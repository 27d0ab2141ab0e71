"""The address of a team's database: its secrets are shown nowhere."""

from urllib.parse import unquote

import pytest

from clew.errors import ConfigError
from clew.text.database_address import Address, masked


# Verifies: REQ-d00480-C
@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada@db.example.org/clew", "postgresql://ada@db.example.org/clew"),
        ("postgresql://ada:s3cret@db.example.org:5432/clew", "postgresql://ada:***@db.example.org:5432/clew"),
        ("postgresql:///clew?host=/run/pg&password=s3cret", "postgresql:///clew?host=/run/pg&password=***"),
        ("postgresql://ada:se%40cret@db/clew?sslmode=require", "postgresql://ada:***@db/clew?sslmode=require"),
        ("postgresql://ada:se?s3cret@db/clew", "postgresql://ada:***@db/clew"),
        ("postgresql://ada:12?s3cret@db/clew", "postgresql://ada:***@db/clew"),
        ("postgresql://ada:12?s3=cret@db/clew", "postgresql://ada:***@db/clew"),
        (
            "postgresql://db.example.org:5432/clew?user=ada@corp&password=s3cret",
            "postgresql://db.example.org:5432/clew?user=ada%40corp&password=***",
        ),
        ("postgresql://a,b:5433/clew", "postgresql://a,b:5433/clew"),
        ("postgresql://[::1]:5432/clew", "postgresql://[::1]:5432/clew"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    address = Address(url)
    assert str(address) == masked(url) == shown
    assert "cret" not in repr(address)
    said = address.cleaned(f"connection to {url} failed for {unquote(url)}")
    assert said.startswith(f"connection to {shown} failed")
    assert "cret" not in said


# Verifies: REQ-d00480-C
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ada:se@cret@db.example.org/clew",
        "postgresql://ada:se/cret@db.example.org/clew",
        "postgresql://ada:s@e/c@ret@db.example.org/clew?sslmode=require",
        "host=db.example.org user=ada password=cret",
        "host=db.example.org user=ada password='se cret' dbname=clew",
        "mysql://ada:secret@db.example.org/clew",
    ],
)
def test_an_address_that_a_driver_would_misread_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Address(url)
    assert "db.example.org" in str(caught.value)
    assert "cret" not in str(caught.value)
    assert "c@ret" not in str(caught.value)
