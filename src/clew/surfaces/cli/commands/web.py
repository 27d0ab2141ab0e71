"""`clew web`."""

import argparse
from pathlib import Path

from clew.setup.token import TOKEN_VARIABLE
from clew.surfaces.cli.commands import serve
from clew.surfaces.cli.opening import HERE

EXAMPLE = """clew web --open                               # show this project in a browser
clew web --port 0 ../other                    # another project, on any free port"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=HERE, help="the project's folder (default: this one)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--port", type=int, default=8484, metavar="N", help="port to listen on (default: 8484; 0: any)")
    parser.add_argument(
        "--token-file",
        type=Path,
        metavar="FILE",
        help=f"token for what writes (or {TOKEN_VARIABLE}; default: your own)",
    )
    parser.add_argument("--read-only", action="store_true", help="let nobody change anything")
    parser.add_argument("--verbose", action="store_true", help="log more to standard error")


def run(args: argparse.Namespace) -> int:
    """Run `clew serve --transport http` for this machine only, with a token that outlives the server."""
    parser = argparse.ArgumentParser()
    serve.configure(parser)
    served = parser.parse_args(["--transport", "http", "--port", str(args.port)])
    served.folder = args.folder
    served.open, served.token_file = args.open, args.token_file
    served.read_only, served.verbose = args.read_only, args.verbose
    return serve.run(served)
