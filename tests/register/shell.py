"""`clew req` run in this process, in the folder that is current."""

import json
from typing import Any

import pytest

from clew.surfaces.cli.main import main

ADD = ["-t", "Lock the account", "-s", "The system shall lock the account after five failed logins."]
ADD += ["-r", "Guessing has to stop somewhere.", "-a", "The sixth login is refused"]


class Shell:
    """Runs commands in a folder and remembers what they printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str, code: int = 0) -> str:
        ended = main(["req", *arguments])
        shown = self._capsys.readouterr()
        assert ended == code, shown.out + shown.err
        return shown.out + shown.err

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run(*arguments, "--json", code=code))
