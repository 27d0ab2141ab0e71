"""Access tokens of an external issuer, as the protocol's authorization asks: this server is a resource server.

It publishes its metadata (RFC 9728), points to it in every 401, and accepts JSON web tokens that the issuer signed,
that are not expired, and that were made for this server: their audience is exactly its address. It issues nothing
itself, and it passes no token on.
"""

# Implements: REQ-d00485, REQ-d00662

import http.client
import json
import logging
import re
import socket
import threading
import time
import urllib.request
from collections.abc import Callable
from types import TracebackType
from typing import Any, NoReturn, Self
from urllib.parse import urlsplit

import msgspec

from clew.errors import ConfigError
from clew.setup.tokens import Principal

METADATA_PATH = "/.well-known/oauth-protected-resource"
READ_SCOPE, WRITE_SCOPE = "clew:read", "clew:write"
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_ALGORITHMS = {
    ("RSA", None): _RSA,
    ("EC", "P-256"): ("ES256",),
    ("EC", "P-384"): ("ES384",),
    ("EC", "P-521"): ("ES512",),
    ("OKP", "Ed25519"): ("EdDSA",),
}
"""By the kind of a key and its curve. Only those with public keys: with a shared secret, a server that checks tokens
could also make them."""
_SUBJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+|:=~-]{0,199}")
"""A subject that can name an actor. Slashes separate the parts of an actor's name, so a subject has none."""
_LEEWAY_SECONDS = 30
_FETCH_SECONDS = 5.0
_WHOLE_SECONDS = 10.0
"""Limit for a whole fetch from the issuer, because one that sends byte after byte never times out by silence."""
_MOST_KEYS = 100
_LARGEST_ANSWER = 1024 * 1024
_KEYS_SECONDS = 300.0
"""Age of keys after which the issuer is asked again."""
_OLDEST_KEYS_SECONDS = 3600.0
"""Age up to which keys are used if the issuer does not answer."""
_AGAIN_SECONDS = 10.0
"""After an unknown key, or an issuer that did not answer, it is asked again, but not more often than this."""
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")

log = logging.getLogger(__name__)


class OAuthSettings(msgspec.Struct, frozen=True, kw_only=True):
    issuer: str
    resource: str
    """The address of this server's endpoint as clients use it: the audience of their tokens."""
    keys: str | None = None
    """The address of the issuer's keys; without it, the issuer's metadata names it."""


def check_oauth(settings: OAuthSettings) -> None:
    named = {"--oauth-issuer": settings.issuer, "--oauth-resource": settings.resource, "--oauth-keys": settings.keys}
    for name, url in named.items():
        if url is None:
            continue
        if not _is_protected(url):
            raise ConfigError(f"{name} '{url[:200]}' is not an https address.", hint="Tokens travel over TLS only.")
        parts = urlsplit(url)
        if parts.fragment or (parts.query and name != "--oauth-keys"):
            raise ConfigError(f"{name} '{url[:200]}' has to be an address without query and fragment.")


def _is_protected(url: str) -> bool:
    """True if nobody on the network can read or change an answer from this address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in _LOCAL_HOSTS))


def metadata_address(settings: OAuthSettings) -> str:
    """The address of the resource's metadata: its well-known part is before the path of the resource."""
    parts = urlsplit(settings.resource)
    return f"{parts.scheme}://{parts.netloc}{METADATA_PATH}{parts.path.rstrip('/')}"


def metadata(settings: OAuthSettings) -> dict[str, Any]:
    return {
        "resource": settings.resource,
        "authorization_servers": [settings.issuer],
        "scopes_supported": [READ_SCOPE, WRITE_SCOPE],
        "bearer_methods_supported": ["header"],
        "resource_name": "Clew",
    }


class _Key(msgspec.Struct, frozen=True):
    public: Any
    algorithms: tuple[str, ...]


class _Keys(msgspec.Struct, frozen=True):
    by_id: dict[str, _Key]
    fetched: float


class Issuer:
    """Checks tokens. May be asked from any thread; keys are fetched when they are first needed. A check
    with a known key never waits for the issuer."""

    def __init__(self, settings: OAuthSettings) -> None:
        self._settings = settings
        self._fetching = threading.Lock()
        self._keys = _Keys({}, -_OLDEST_KEYS_SECONDS)
        self._tried = -_OLDEST_KEYS_SECONDS

    def principal(self, token: str) -> Principal | None:
        """The principal of an access token; None if the token is not valid here."""
        import jwt

        try:
            key = self._key(str(jwt.get_unverified_header(token).get("kid", "")))
            if key is None:
                return None
            claims = jwt.decode(
                token,
                key.public,
                # The key says how it is used, never the token.
                algorithms=list(key.algorithms),
                audience=self._settings.resource,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, ArithmeticError, RecursionError):
            # A TypeError: a claim, or the key, is of another kind than it has to be.
            return None
        return self._principal(claims)

    def _principal(self, claims: dict[str, Any]) -> Principal | None:
        # One for several servers could be used here by another one of them.
        if claims["aud"] not in (self._settings.resource, [self._settings.resource]):
            return None
        subject, scope = claims["sub"], claims.get("scope", "")
        if not isinstance(subject, str) or not _SUBJECT.fullmatch(subject) or not isinstance(scope, str):
            return None
        scopes = scope.split()
        may_write = WRITE_SCOPE in scopes
        return Principal(subject, may_write, may_read=may_write or READ_SCOPE in scopes)

    def _key(self, id: str) -> _Key | None:
        if self._is_due(id):
            if self._known(id) is not None:
                self._fetch_aside(id)
            # If there are keys, only one thread waits for a new one: tokens with made-up keys must not block others.
            elif self._fetching.acquire(blocking=not self._has_keys()):
                try:
                    # Another thread may have fetched while this one waited.
                    if self._is_due(id):
                        self._fetch_keys()
                finally:
                    self._fetching.release()
        return self._known(id)

    def _known(self, id: str) -> _Key | None:
        keys = self._keys
        return keys.by_id.get(id) if _is_good(keys) else None

    def _has_keys(self) -> bool:
        keys = self._keys
        return bool(keys.by_id) and _is_good(keys)

    def _is_due(self, id: str) -> bool:
        keys, now = self._keys, time.monotonic()
        is_wanted = id not in keys.by_id or now - keys.fetched > _KEYS_SECONDS
        return is_wanted and now - self._tried > _AGAIN_SECONDS

    def _fetch_aside(self, id: str) -> None:
        """Fetch in another thread, unless one fetches already."""
        if not self._fetching.acquire(blocking=False):
            return

        def fetch() -> None:
            try:
                if self._is_due(id):
                    self._fetch_keys()
            finally:
                self._fetching.release()

        try:
            threading.Thread(target=fetch, name="clew-issuer-keys", daemon=True).start()
        except RuntimeError:
            # There is no thread to be had now: a later request tries again.
            self._fetching.release()

    def _fetch_keys(self) -> None:
        """Also an attempt that fails counts: an issuer that is gone is not asked with every request."""
        try:
            with _Deadline(_WHOLE_SECONDS) as deadline:
                address = self._settings.keys or self._keys_address(deadline)
                self._keys = _Keys(_read_keys(address, deadline), time.monotonic())
        except _UNANSWERED as error:
            log.warning("The keys of %s could not be fetched: %s", self._settings.issuer, error)
        finally:
            self._tried = time.monotonic()

    def _keys_address(self, deadline: "_Deadline") -> str:
        parts = urlsplit(self._settings.issuer)
        place, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        candidates = (
            f"{place}/.well-known/oauth-authorization-server{path}",
            f"{place}/.well-known/openid-configuration{path}",
            f"{place}{path}/.well-known/openid-configuration",
        )
        for address in dict.fromkeys(candidates):
            try:
                published = _fetch(address, deadline)
            except _UNANSWERED:
                continue
            # Another issuer's metadata would name another issuer's keys.
            named = published.get("jwks_uri")
            if published.get("issuer") != self._settings.issuer or not isinstance(named, str):
                continue
            if not _may_name(self._settings.issuer, named):
                raise ValueError(f"'{named[:200]}' is not an https address")
            return named
        raise OSError(f"the issuer {self._settings.issuer} publishes no metadata")


def _is_good(keys: _Keys) -> bool:
    return time.monotonic() - keys.fetched < _OLDEST_KEYS_SECONDS


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, because another server's answer could name other keys."""

    def redirect_request(self, *_: Any, **__: Any) -> NoReturn:
        raise OSError("the issuer redirects")


_UNANSWERED = (OSError, ValueError, http.client.HTTPException, RuntimeError)
"""Errors of an issuer that does not answer, or not with JSON. A RuntimeError: the answer is nested too deeply, or no
thread can be started now."""


class _Deadline:
    """The end of all that is asked of an issuer at one time: connections that are open then are shut down."""

    def __init__(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True
        self._lock = threading.Lock()
        self._has_passed = False
        self._open: list[socket.socket] = []

    def connection(self, kind: Callable[..., Any]) -> Callable[..., Any]:
        """Creates connections of a kind, and notes their sockets."""

        def make(*args: Any, **named: Any) -> Any:
            made = kind(*args, **named)
            # The socket is known before TLS begins, which may be slow as well.
            made._create_connection = self._connect
            return made

        return make

    def _connect(self, *args: Any, **named: Any) -> socket.socket:
        connected = socket.create_connection(*args, **named)
        with self._lock:
            if self._has_passed:
                connected.close()
                raise OSError("the issuer took too long")
            # A second handle on the connection: TLS takes the first one over.
            self._open.append(connected.dup())
        return connected

    def _pass(self) -> None:
        with self._lock:
            self._has_passed = True
            for each in self._open:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    # The issuer was faster.
                    continue

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._has_passed = True
            for each in self._open:
                each.close()
            self._open.clear()


class _Http(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._deadline.connection(http.client.HTTPConnection), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._deadline.connection(http.client.HTTPSConnection), req)


def _may_name(issuer: str, keys: str) -> bool:
    """True if an issuer's metadata may name this address of keys: with TLS if the issuer has TLS."""
    return _is_protected(keys) and not (issuer.startswith("https:") and not keys.startswith("https:"))


def _read_keys(address: str, deadline: _Deadline) -> dict[str, _Key]:
    said = _fetch(address, deadline).get("keys")
    if not isinstance(said, list) or len(said) > _MOST_KEYS:
        raise ValueError(f"'{address[:200]}' gives no set of at most {_MOST_KEYS} keys")
    read = {str(each.get("kid") or ""): _read_key(each) for each in said if isinstance(each, dict)}
    found = {id: key for id, key in read.items() if key is not None}
    if not found:
        raise ValueError(f"'{address[:200]}' gives no key that checks tokens")
    return found


def _read_key(said: dict[str, Any]) -> _Key | None:
    import jwt

    kind, curve, named = said.get("kty"), said.get("crv"), said.get("alg")
    allowed = _ALGORITHMS.get((str(kind), str(curve) if kind != "RSA" else None))
    if allowed is None or said.get("use") not in (None, "sig") or (named is not None and named not in allowed):
        return None
    algorithms = allowed if named is None else (str(named),)
    try:
        return _Key(jwt.PyJWK.from_dict(said, algorithms[0]).key, algorithms)
    except (jwt.PyJWTError, TypeError, AttributeError, KeyError, ValueError, ArithmeticError):
        return None


def _fetch(address: str, deadline: _Deadline) -> dict[str, Any]:
    if not _is_protected(address):
        raise ValueError(f"'{address[:200]}' is not an https address")
    opener = urllib.request.build_opener(_NoRedirects, _Http(deadline), _Https(deadline))
    with opener.open(address, timeout=_FETCH_SECONDS) as answer:
        found = json.loads(answer.read(_LARGEST_ANSWER))
    if not isinstance(found, dict):
        raise ValueError(f"'{address[:200]}' gives no JSON object")
    return found
