"""What the tests of the specs format share: a folder of specs in memory, and the specs of the OpenSpec project."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from clew.formats.openspec.change import ChangeProposal
from clew.formats.openspec.reader import read_delta

REAL = Path(__file__).parents[4] / "shared" / "data" / "openspec"

LAMP = """# Lamp Specification

## Purpose

The lamp shows ships where the rock is, in every night and in every weather.

## Requirements

### Requirement: Burn at night
The lamp SHALL burn from dusk to dawn.

#### Scenario: Dusk falls
- **GIVEN** a filled tank
- **WHEN** the sun sets
- **THEN** the lamp burns
- **AND** the keeper is told

### Requirement: Stop at dawn
The lamp SHALL be out by day.

#### Scenario: Dawn
- **WHEN** the sun rises
- **THEN** the lamp is out

### Requirement: Sound in fog
The horn MUST sound in fog.

#### Scenario: Fog
- **WHEN** sight is under a mile
- **THEN** the horn sounds
"""


@pytest.fixture(scope="session")
def lamp() -> bytes:
    return LAMP.encode()


@pytest.fixture(scope="session")
def real() -> Path:
    """The specs and changes of the OpenSpec project."""
    if not REAL.exists():
        pytest.skip("the specs of the OpenSpec project are not beside this repository")
    return REAL


class Changes:
    """Writes changes down in one line."""

    def __call__(self, id: str, **deltas: str) -> ChangeProposal:
        return self.of(id, deltas)

    def of(self, id: str, deltas: Mapping[str, str]) -> ChangeProposal:
        return ChangeProposal(
            id, deltas=tuple(read_delta(text.encode(), spec) for spec, text in sorted(deltas.items()))
        )


@pytest.fixture(scope="session")
def change() -> Changes:
    """A change from its id and its deltas by spec."""
    return Changes()
