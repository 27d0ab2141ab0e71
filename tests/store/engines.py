"""The engines that must pass the contract. A new one is one more line in ENGINES."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clew.store.interface import Store
from clew.store.sqlite.engine import open_sqlite


@dataclass(frozen=True, slots=True)
class Engine:
    new_location: Callable[[Path], str]
    """An address for a store that does not exist yet; the folder is empty and the test's own."""
    open: Callable[[str], Store]
    """Opens the store at an address, in this process or in another one."""


ENGINES = {
    "sqlite": Engine(
        new_location=lambda folder: str(folder / ".clew" / "store.db"),
        # Writers that wait for each other on a slow machine are not what is tested here.
        open=lambda location: open_sqlite(Path(location), busy_timeout=300.0),
    ),
}
