"""A section of the help in a file that agents read, such as AGENTS.md, between two marks that Clew looks after."""

import re
from pathlib import Path

import msgspec

from clew.edit.recovery import recover
from clew.edit.targets import real_target
from clew.edit.transaction import replace_alone
from clew.errors import FormatError
from clew.register.help import section
from clew.workspace.regular import contents

_ID = re.compile(r"\bREQ-[0-9]{4,}\b")


class Installed(msgspec.Struct, frozen=True):
    path: str
    section: str
    changed: bool


def install(file: Path, name: str, *, within: Path | None) -> Installed:
    """Put a section into a file, or renew it there; everything around it stays. The file is often a link to that of
    another agent, which must not lie outside of `within`."""
    found = section(name)
    begin, end = f"<!-- req:help:{found.name}:begin -->", f"<!-- req:help:{found.name}:end -->"
    # An example id in the text must not look like a requirement of the project.
    body = _ID.sub("REQ-NNNN", found.body)
    block = f"{begin}\n{body}\n{end}\n"
    target = real_target(file, within=within)
    recover(target.parent, None)
    try:
        before = contents(target).decode("utf-8") if target.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{file} cannot be read: {error}.", hint="Save it as UTF-8.") from error
    # What is added gets the line ends of the file.
    line = "\r\n" if "\r\n" in before else "\n"
    block = block.replace("\n", line)
    start, stop = before.find(begin), before.find(end)
    if start >= 0 and stop > start:
        after = before[:start] + block + before[stop + len(end) :].removeprefix(line)
    else:
        gap = "" if not before else line if before.endswith("\n") else line * 2
        after = f"{before}{gap}{block}"
    if after != before:
        replace_alone(target, after.encode())
    return Installed(str(file), found.name, after != before)
