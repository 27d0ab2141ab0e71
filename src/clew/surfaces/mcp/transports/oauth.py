"""Access tokens of an external issuer, as the protocol's authorization asks: this server is a resource server.

It publishes its metadata (RFC 9728), points to it in every 401, and accepts JSON web tokens that the issuer signed,
that are not expired, and that were made for this server: their audience is exactly its address. It issues nothing
itself, and it passes no token on.
"""

# Implements: REQ-d00485

import json
import threading
import time
import urllib.request
from typing import Any, NoReturn
from urllib.parse import urlsplit

import msgspec

from clew.errors import ConfigError
from clew.setup.tokens import Principal

METADATA_PATH = "/.well-known/oauth-protected-resource"
READ_SCOPE, WRITE_SCOPE = "clew:read", "clew:write"
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Only those with public keys: with a shared secret, whoever checks a token could make one."""
_LEEWAY_SECONDS = 30
_FETCH_SECONDS = 5.0
_LARGEST_ANSWER = 1024 * 1024
_KEYS_SECONDS = 300.0
_UNKNOWN_KEY_SECONDS = 10.0
"""After an unknown key the issuer is asked again, but not more often than this."""


class OAuthSettings(msgspec.Struct, frozen=True, kw_only=True):
    issuer: str
    resource: str
    """The address of this server's endpoint as clients use it: the audience of their tokens."""
    keys: str | None = None
    """Where the issuer's keys are; without it, its metadata says so."""


def check_oauth(settings: OAuthSettings) -> None:
    for name, url in (("--oauth-issuer", settings.issuer), ("--oauth-resource", settings.resource)):
        parts = urlsplit(url)
        is_local = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
            raise ConfigError(f"{name} '{url[:200]}' is no https address.", hint="Tokens travel over TLS only.")
        if parts.query or parts.fragment or not parts.hostname:
            raise ConfigError(f"{name} '{url[:200]}' has to be an address without query and fragment.")


def metadata_address(settings: OAuthSettings) -> str:
    """Where clients find the metadata: before the path of the resource."""
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


class Issuer:
    """Checks tokens. May be asked from any thread; keys are fetched when they are first needed."""

    def __init__(self, settings: OAuthSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._keys: dict[str, Any] = {}
        self._fetched = -_KEYS_SECONDS

    def principal(self, token: str) -> Principal | None:
        """Whose token it is; None for one that is not good here."""
        import jwt

        try:
            head = jwt.get_unverified_header(token)
            key = self._key(str(head.get("kid", "")))
            if key is None or head.get("alg") not in _ALGORITHMS:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=list(_ALGORITHMS),
                audience=self._settings.resource,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, OSError, ValueError):
            return None
        scopes = str(claims.get("scope", "")).split()
        return Principal(str(claims["sub"])[:200], WRITE_SCOPE in scopes)

    def _key(self, id: str) -> Any:
        with self._lock:
            age = time.monotonic() - self._fetched
            if age > _KEYS_SECONDS or (id not in self._keys and age > _UNKNOWN_KEY_SECONDS):
                self._keys = self._fetch_keys()
                self._fetched = time.monotonic()
            return self._keys.get(id)

    def _fetch_keys(self) -> dict[str, Any]:
        import jwt

        found = _fetch(self._settings.keys or self._keys_address())
        return {key.key_id or "": key.key for key in jwt.PyJWKSet.from_dict(found).keys}

    def _keys_address(self) -> str:
        parts = urlsplit(self._settings.issuer)
        place, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        candidates = (
            f"{place}/.well-known/oauth-authorization-server{path}",
            f"{place}/.well-known/openid-configuration{path}",
            f"{place}{path}/.well-known/openid-configuration",
        )
        for address in dict.fromkeys(candidates):
            try:
                told = _fetch(address)
            except (OSError, ValueError):
                continue
            # Another issuer's metadata would name another issuer's keys.
            if told.get("issuer") == self._settings.issuer and isinstance(told.get("jwks_uri"), str):
                return str(told["jwks_uri"])
        raise OSError(f"the issuer {self._settings.issuer} publishes no metadata")


class _Stays(urllib.request.HTTPRedirectHandler):
    """An issuer's answers are where it says; whoever could redirect could name other keys."""

    def redirect_request(self, *_: Any, **__: Any) -> NoReturn:
        raise OSError("the issuer redirects")


def _fetch(address: str) -> dict[str, Any]:
    if urlsplit(address).scheme not in ("https", "http"):
        raise OSError(f"'{address[:200]}' is no web address")
    opener = urllib.request.build_opener(_Stays)
    with opener.open(address, timeout=_FETCH_SECONDS) as answer:
        found = json.loads(answer.read(_LARGEST_ANSWER))
    if not isinstance(found, dict):
        raise TypeError(f"'{address[:200]}' gives no JSON object")
    return found
