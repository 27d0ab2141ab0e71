"""The database of a search index that cannot be used: what is said of it holds no secret."""

import pytest

from clew.errors import StoreError, StoreUnreachable
from clew.text.database_address import Address

pytest.importorskip("psycopg")

from clew.search.database.connecting import Database


# Verifies: REQ-d00480-C
def test_what_a_driver_says_of_an_address_is_repeated_without_the_password() -> None:
    # The driver quotes what it cannot decode.
    with pytest.raises(StoreError) as caught, Database(Address("postgresql://ada:s%zzcret@db/clew"), "s").connection():
        pass
    assert "percent-encoded" in str(caught.value)
    assert "cret" not in str(caught.value)
    assert caught.value.__cause__ is None


# Verifies: REQ-d00480-C
def test_a_database_that_is_gone_is_named_without_the_password() -> None:
    address = Address("postgresql://ada:s3cret@127.0.0.1:1/clew")
    with (
        pytest.raises(StoreUnreachable, match=r"ada:\*\*\*@127.0.0.1:1") as caught,
        Database(address, "s").connection(),
    ):
        pass
    assert "cret" not in str(caught.value)
