"""The parser of every command: what it refuses says what to do next."""

import argparse
import sys
from typing import NoReturn

from clew.text.terminal import columns, wrapped


class CommandParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """The usage, what is wrong, and what to do next; exit code 2."""
        self.print_usage(sys.stderr)
        width = columns(sys.stderr)
        print(wrapped(f"{self.prog}: error: {message}", width), file=sys.stderr)
        print(wrapped(f"      `{self.prog} --help` explains the options with an example.", width), file=sys.stderr)
        raise SystemExit(2)
