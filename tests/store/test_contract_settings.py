"""The settings of a store."""

from typing import Any

import pytest
from tests.store.factory import StoreFactory

from clew.errors import InvalidArgument
from clew.store.interface import Store

# Verifies: REQ-o00002-F


def test_the_first_default_of_a_setting_is_kept(store_factory: StoreFactory) -> None:
    assert store_factory.open().setting("key", b"\x00first") == b"\x00first"
    assert store_factory.open().setting("key", b"second") == b"\x00first"
    assert store_factory.open().setting("other", b"") == b""


@pytest.mark.parametrize("default", ["text", None, 7])
def test_a_setting_is_bytes(store: Store, default: Any) -> None:
    with pytest.raises(InvalidArgument, match="key"):
        store.setting("key", default)
    assert store.setting("key", b"good") == b"good"
