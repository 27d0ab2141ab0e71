"""What a command of `clew req` is."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from clew.errors import InvalidArgument
from clew.register.change.occasion import Occasion, occasion
from clew.register.service import RegisterService


def _nothing(parser: argparse.ArgumentParser) -> None:
    """A command without arguments of its own."""


def as_json(answer: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    about: str
    run: Callable[[RegisterService, argparse.Namespace], Any]
    """Returns what --json prints; a text is printed as it is either way."""
    configure: Callable[[argparse.ArgumentParser], None] = _nothing
    text: Callable[[Any], str] = as_json
    is_no: Callable[[Any, argparse.Namespace], bool] = lambda answer, args: False
    """Whether the answer is a no, which scripts see by exit code 1."""
    aliases: tuple[str, ...] = ()
    finds_register: bool = True
    """Whether it works on the register that the project has, and so needs to know which one that is."""


def now() -> Occasion:
    return occasion("", os.environ)


def read_input(source: str) -> bytes:
    """A file, or standard input for `-`."""
    if source == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise InvalidArgument(f"'{source}' cannot be read: {error.strerror}.", hint="Check the path.") from error


def taking(*names: str, **options: Any) -> Callable[[argparse.ArgumentParser], None]:
    """Configures a command that has a single argument of its own."""

    def configure(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(*names, **options)

    return configure


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """Columns as wide as they need to be."""
    filled = list(rows)
    if not filled:
        return ""
    widths = [max(len(row[column]) for row in filled) for column in range(len(filled[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in filled)
    return "\n".join(line.rstrip() for line in lines)
