"""What the tests of the elspais reader share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from clew.formats.elspais.ids.grammar import IdGrammar
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import FileRecords
from clew.formats.elspais.settings import ElspaisSettings

HERE = Path(__file__).parent
SEED = HERE.parents[3] / "shared" / "sources" / "000_075a5ed5568ca1c4.txt"


@pytest.fixture(scope="session")
def settings() -> ElspaisSettings:
    return ElspaisSettings()


@pytest.fixture(scope="session")
def grammar(settings: ElspaisSettings) -> IdGrammar:
    return IdGrammar(settings)


@pytest.fixture(scope="session")
def read_text(grammar: IdGrammar) -> Callable[[str], FileRecords]:
    """Reads a document given as text."""
    return lambda text: read(text.encode(), grammar)


@pytest.fixture(scope="session")
def sample() -> bytes:
    """A document of our own in both dialects."""
    return (HERE / "both_dialects.md").read_bytes()


@pytest.fixture(scope="session")
def seed() -> bytes:
    """The specification that the elspais part of Clew is built from."""
    if not SEED.exists():
        pytest.skip("the source document is not beside this repository")
    return SEED.read_bytes()
