"""The command by which a git hook starts the Clew that set a clone up, also if it is not on the PATH: in a desktop
client of git, or in a shell without the environment in which Clew is installed."""

import os
import shlex
import shutil
import sys

from clew.workspace.own_program import own_program


def folder_first() -> str:
    """A setting of the PATH that finds this Clew, even if its name is found now, because the next shell may have
    another PATH. Empty if no setting can."""
    program = own_program()
    # A colon would begin another folder of the PATH, here one that the repository's author chose.
    if program is None or sys.platform == "win32" or ":" in str(program.parent):
        return ""
    return f'PATH={shlex.quote(str(program.parent))}:"$PATH"'


def driver_line(command: str) -> str:
    """A command as a setting of git that starts this Clew."""
    # git puts the names of files in the place of what follows a percent sign.
    return f"{folder_first().replace('%', '%%')} {command}".lstrip()


def missing_program(command: str) -> str | None:
    """The program of a command that a shell could not start; all of it where it is no command."""
    path = os.environ.get("PATH", os.defpath)
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    for word in words:
        name, is_setting, value = word.partition("=")
        if not is_setting or not name.isidentifier():
            return word if shutil.which(word, path=path) is None else None
        if name == "PATH":
            path = value.replace("$PATH", path)
    return command
