"""The installation that the tests of this folder look at."""

import os
from pathlib import Path

import pytest
from tests.packaging.built import Built, build
from tests.packaging.environment import PYTHON_VARIABLE, Installed, installed_without_encoder


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Clew without the packages of its encoder: the real installation of `make packaging`, or an imitation."""
    if python := os.environ.get(PYTHON_VARIABLE):
        return Installed(Path(python))
    return installed_without_encoder(tmp_path_factory.mktemp("without") / "environment")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The wheel and the source archive of this folder."""
    return build(tmp_path_factory.mktemp("dist"))
