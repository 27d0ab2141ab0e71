"""The parser of every command: its errors say what to do next."""

import argparse
import sys
from typing import Any, NoReturn

from clew.text.terminal import columns, errors, output, wrapped


class CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print the usage, the problem and the next step; exit code 2."""
        self.print_usage(sys.stderr)
        width = columns(errors())
        print(wrapped(f"{self.prog}: error: {message}", width), file=errors())
        print(wrapped(f"      `{self.prog} --help` explains the options with an example.", width), file=errors())
        raise SystemExit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help and usage. A server that parses the words of another process prints nothing, because its standard
        output speaks a protocol."""
        if message:
            (output() if file is None or file is sys.stdout else errors()).write(message)
