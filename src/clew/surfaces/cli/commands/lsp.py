"""`clew lsp`."""

import argparse
import logging
import sys
from pathlib import Path

from clew.errors import ConfigError

EXAMPLE = "clew lsp                                      # started by an editor; docs/editors.md has the set-ups"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", nargs="?", type=Path, help="the project's folder (default: the one that the editor has open)"
    )
    parser.add_argument("--stdio", action="store_true", help="what some editors pass; nothing else is spoken")
    parser.add_argument("--verbose", action="store_true", help="log more to standard error")


def run(args: argparse.Namespace) -> int:
    try:
        from clew.surfaces.lsp.server import serve_stdio
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise ConfigError(
            "The packages of the language server are not installed.", hint="Install them: pip install 'clew-mcp[lsp]'."
        ) from error
    logging.basicConfig(stream=sys.stderr, level=logging.INFO if args.verbose else logging.ERROR)
    serve_stdio(args.folder)
    return 0
