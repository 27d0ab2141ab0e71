"""`clew hook`: the help and the reference of a command that `entry` carries out itself, without any of this."""

import argparse

from clew.memory.hooks.client import run as run_hook
from clew.memory.hooks.hosts import INJECTS

EXAMPLE = """clew hook UserPromptSubmit --host claude-code    # with the host's JSON on standard input
clew init --client claude-code --memory          # writes these lines for you"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("event", metavar="EVENT", help="the event, as the host names it, such as SessionStart")
    parser.add_argument(
        "--host", required=True, metavar="NAME", choices=list(INJECTS), help=f"the host: {', '.join(INJECTS)}"
    )
    parser.add_argument("--answers", action="store_true", help="keep what the assistant said last as an episode")


def run(args: argparse.Namespace) -> int:
    """Answer a hook. The exit code is always 0."""
    run_hook([args.event, "--host", args.host, *(("--answers",) if args.answers else ())])
