"""`clew serve`."""

import argparse
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config import ServerTable, formats_of
from clew.errors import ConfigError, Refused, StoreError
from clew.ipc.listener import COMMAND, HOOK, Listener
from clew.memory.hooks.answering import HookAnswers
from clew.operation.listing import all_tools
from clew.operation.names import NameStyle
from clew.operation.switches import name_style
from clew.operation.toolsets import Choice, ToolListing, choose
from clew.project import Project
from clew.setup.token import TOKEN_VARIABLE, make_token, own_token, token_path
from clew.surfaces.cli.commands.tools import add_choice, choice_of
from clew.surfaces.cli.opening import HERE, admit
from clew.surfaces.cli.served import CommandAnswers
from clew.workspace.regular import SETTINGS_BYTES, contents

if TYPE_CHECKING:
    from clew.memory.hooks.pushed import EditGuard
    from clew.surfaces.mcp.transports.access.oauth import OAuthSettings
    from clew.surfaces.mcp.transports.settings import HttpSettings

ADMITS = True
"""It looks itself for whether there is a project: over stdio it serves without."""
EXAMPLE = """clew serve                                    # stdio, for the project in this folder
clew serve --transport http --port 8484       # streamable HTTP on 127.0.0.1
clew serve --profile elspais                  # exactly the tools of elspais"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=HERE, help="the project's folder (default: this one)")
    parser.add_argument("--transport", choices=("stdio", "http", "sse"), default="stdio", help="default: stdio")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8484, metavar="N", help="port to listen on (default: 8484; 0: any)")
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help=f"bearer token that clients must send (or {TOKEN_VARIABLE})"
    )
    parser.add_argument("--allow-host", action="append", default=[], metavar="NAME", help="a further Host to accept")
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="ORIGIN", help="a web page's origin that may connect"
    )
    parser.add_argument(
        "--team", action="store_true", help="every request needs the token of a principal (see `clew token`)"
    )
    parser.add_argument("--oauth-issuer", metavar="URL", help="accept access tokens of this issuer as well")
    parser.add_argument("--oauth-resource", metavar="URL", help="the address of this server in their audience")
    parser.add_argument("--oauth-keys", metavar="URL", help="the issuer's keys (default: as its metadata says)")
    parser.add_argument(
        "--audit", type=Path, metavar="FILE", help="write a line for each call: who, what, how it ended"
    )
    parser.add_argument("--names", choices=[style.value for style in NameStyle], help="how names with dots are spelled")
    add_choice(parser)
    parser.add_argument("--verbose", action="store_true", help="log more to standard error")


def run(args: argparse.Namespace) -> int:
    _log_to_stderr(verbose=args.verbose)
    try:
        admit(args)
    except Refused as error:
        if args.transport != "stdio":
            raise
        return _serve_without_project(args, error)
    project = Project.open(args.folder)
    server = project.config.server
    names = NameStyle(args.names or name_style(os.environ) or server.names)
    choice = choice_of(
        args, server.toolsets, read_only=server.read_only, names=names, formats=formats_of(project.config)
    )
    hooks = HookAnswers(project.config.root, lambda: project.memory, lambda: _edit_guard(project))
    listener = Listener(project.config.root, {HOOK: hooks, COMMAND: CommandAnswers(project)})
    try:
        if not (args.read_only or server.read_only):
            # What hooks report is written down.
            listener.start()
        return _serve(args, project, choice)
    finally:
        listener.stop()
        project.close()


def _edit_guard(project: Project) -> "EditGuard":
    from clew.why.edit_guard import ProjectEditGuard

    return ProjectEditGuard(project)


def _serve_without_project(args: argparse.Namespace, problem: Refused) -> int:
    """Serve without a project. A host shows a server's first answer and its errors, and nothing that it prints."""
    import anyio

    from clew.surfaces.mcp.server import build_server
    from clew.surfaces.mcp.transports.stdio import serve_stdio
    from clew.surfaces.mcp.without_project import SurfaceWithoutProject

    names = NameStyle(args.names or name_style(os.environ) or ServerTable().names)
    listing = choose(all_tools(), choice_of(args, None, read_only=False, names=names, formats=()))
    anyio.run(serve_stdio, build_server(SurfaceWithoutProject(listing, problem), str(problem)))
    return 0


def _serve(args: argparse.Namespace, project: Project, choice: Choice) -> int:
    # The SDK is by far the largest import; nothing but serving pays for it.
    import anyio

    from clew.surfaces.mcp.instructions import instructions
    from clew.surfaces.mcp.server import Surface, build_server

    listing = choose(all_tools(), choice)
    audit = None
    if args.audit is not None:
        from clew.surfaces.mcp.audit import AuditLog

        audit = AuditLog(args.audit)
    built = build_server(Surface(project, listing, audit, choice), instructions(listing))
    if args.transport == "stdio":
        from clew.surfaces.mcp.transports.stdio import serve_stdio

        anyio.run(serve_stdio, built)
        return 0
    from clew.surfaces.mcp.transports.http import serve_http
    from clew.surfaces.web.page import WebPage

    read_only = args.read_only or project.config.server.read_only
    settings = _settings(args, listing, read_only=read_only)
    # The page is for one person: its forms know no principals.
    page = None if settings.team else WebPage(project, listing.callable, settings, read_only=read_only)

    def ready(url: str) -> None:
        address = page.address(url) if page is not None else None
        _announce(url, project, settings, address)
        if getattr(args, "open", False) and address is not None:
            open_browser(address)

    anyio.run(serve_http, built, settings, ready, page)
    return 0


def _settings(args: argparse.Namespace, listing: ToolListing, *, read_only: bool) -> "HttpSettings":
    from clew.surfaces.mcp.transports.settings import HttpSettings

    token = _token(args)
    oauth = _oauth(args)
    return HttpSettings(
        host=args.host,
        port=args.port,
        token=token,
        write_token=_write_token(read_only) if token is None and not _is_team(args, token) else None,
        team=_is_team(args, token),
        oauth=oauth,
        allowed_hosts=tuple(args.allow_host),
        allowed_origins=tuple(args.allow_origin),
        sse=args.transport == "sse",
        heartbeat_events=listing.heartbeat,
    )


def _write_token(read_only: bool) -> str | None:
    """Write the user's token at the first start, so that a client that gets it later need not wait for another
    start."""
    if not read_only:
        # Without write access reads are still served.
        with suppress(StoreError):
            make_token()
    return own_token()


def _is_team(args: argparse.Namespace, token: str | None) -> bool:
    """True if tokens of principals are used: on request, or if the server listens for other machines and no single
    token was given."""
    from clew.setup.tokens import AccessTokens
    from clew.surfaces.mcp.transports.settings import is_loopback

    if args.team or args.oauth_issuer:
        return True
    return token is None and not is_loopback(args.host) and AccessTokens().any()


def _oauth(args: argparse.Namespace) -> "OAuthSettings | None":
    from clew.surfaces.mcp.transports.access.oauth import OAuthSettings

    if args.oauth_issuer is None:
        return None
    if args.oauth_resource is None:
        raise ConfigError(
            "--oauth-issuer needs --oauth-resource.",
            hint="Pass the address of this server as clients use it, such as https://clew.example.org/mcp.",
        )
    return OAuthSettings(issuer=args.oauth_issuer, resource=args.oauth_resource, keys=args.oauth_keys)


def open_browser(address: str) -> None:
    """Open a browser without waiting for it; without one nothing happens, since the address is printed too."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), name="clew-browser", daemon=True).start()


def _announce(url: str, project: Project, settings: "HttpSettings", address: str | None) -> None:
    """The line a user pastes. Standard output is free here: no protocol runs over it."""
    kind = "sse" if settings.sse else "http"
    print(f"Serving {project.config.name} at {url}", flush=True)
    print(f"  Claude Code:  claude mcp add --transport {kind} clew {url}", flush=True)
    entry = f'{{"mcpServers": {{"clew": {{"type": "{kind}", "url": "{url}"}}}}}}'
    print(f"  Any client:   {entry}", flush=True)
    if address is not None:
        print(f"  In a browser: {address}", flush=True)
    if settings.team:
        print("Every request needs the token of a principal: `clew token add NAME` makes one.", flush=True)
    elif settings.token is None:
        needed = f"the token in {token_path()}" if settings.write_token else "a token, and this server has none"
        print(f"Tools that write need {needed}; see `clew init --client NAME --url {url}`.", flush=True)
    print("Ctrl-C stops the server.", flush=True)


def _token(args: argparse.Namespace) -> str | None:
    if args.token_file is None:
        return os.environ.get(TOKEN_VARIABLE) or None
    try:
        return contents(args.token_file, SETTINGS_BYTES).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The token file '{args.token_file}' cannot be read: {error}.", hint="Pass a file with one line."
        ) from error


def _log_to_stderr(*, verbose: bool) -> None:
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.INFO if verbose else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
    )
