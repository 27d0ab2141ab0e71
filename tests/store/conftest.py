"""Every test that asks for `store` or `store_factory` runs once for each engine."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.store.engines import ENGINES
from tests.store.factory import StoreFactory

from clew.store.interface import Store


@pytest.fixture(params=sorted(ENGINES))
def store_factory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreFactory]:
    if request.param == "postgres":
        (tmp_path / "database").write_text(request.getfixturevalue("database"), encoding="utf-8")
    with ExitStack() as cleanup:
        yield StoreFactory(request.param, tmp_path, request.config.rootpath, cleanup)


@pytest.fixture
def store(store_factory: StoreFactory) -> Store:
    return store_factory.open()
