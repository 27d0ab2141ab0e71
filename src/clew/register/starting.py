"""How git finds the Clew that set a clone up, also where its name is not on the PATH: in a desktop client of git, or in
a shell without the environment that Clew is installed in."""

import os
import re
import shlex
import shutil
import sys
from pathlib import Path

_FOLDER_FIRST = re.compile(r"PATH=(?P<folder>.+):\"\$PATH\" (?P<rest>.+)")


def folder_first() -> str:
    """A setting of the PATH that leads to this Clew; empty where the name leads to it anyway."""
    from clew.clients import SERVER_NAME, own_command

    command = own_command()
    if command == SERVER_NAME or sys.platform == "win32":
        return ""
    return f'PATH={shlex.quote(str(Path(command).parent))}:"$PATH"'


def missing_program(command_line: str) -> str | None:
    """The program of a command line that git could not start."""
    path, rest = os.environ.get("PATH", os.defpath), command_line
    if found := _FOLDER_FIRST.fullmatch(command_line):
        path, rest = os.pathsep.join([*shlex.split(found["folder"]), path]), found["rest"]
    program = rest.split()[0]
    return program if shutil.which(program, path=path) is None else None
