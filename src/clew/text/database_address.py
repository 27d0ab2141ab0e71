"""The address of a team's database. It may hold a password, which no message, log or listing ever shows."""

import re
from urllib.parse import parse_qsl, quote, unquote, urlencode

from clew.errors import ConfigError

SCHEMES = ("postgresql", "postgres")
HIDDEN = "***"
_SECRETS = ("password", "sslpassword")
_OPTIONS = (
    *("user", "password", "host", "hostaddr", "port", "dbname", "options", "service", "passfile", "application_name"),
    *("connect_timeout", "target_session_attrs", "sslmode", "sslcert", "sslkey", "sslpassword", "sslrootcert"),
)
"""The options known after the question mark of an address; any other may be the rest of a password."""
_PAIR = re.compile(r"(?i)(password\s*=\s*)('[^']*'?|\S+)")
"""As in the driver's other way to write where a database is."""


def is_address(text: str) -> bool:
    return text.partition("://")[0] in SCHEMES


class Address:
    """Shown without its secrets, however it is printed."""

    __slots__ = ("shown", "url")

    def __init__(self, url: str) -> None:
        if not is_address(url):
            raise ConfigError(
                f"The store '{masked(url)}' is not an address of a PostgreSQL database.",
                hint='It looks like "postgresql://user@host/database". Passwords belong into ~/.pgpass.',
            )
        if not _is_sound(url):
            # The driver would take the rest of the password for the name of the host, and say it in its messages.
            raise ConfigError(
                f"The user or the password in the store's address '{masked(url)}' holds an '@' or a '/'.",
                hint="Write them as %40 and %2F, or keep the password in ~/.pgpass.",
            )
        self.url = url
        self.shown = masked(url)

    def __str__(self) -> str:
        return self.shown

    def __repr__(self) -> str:
        return f"Address({self.shown!r})"

    def cleaned(self, text: str) -> str:
        """A message of the database or its driver without the secrets."""
        text = text.replace(self.url, self.shown)
        for secret in sorted(_secrets(self.url), key=len, reverse=True):
            text = text.replace(secret, HIDDEN)
        return text


def masked(url: str) -> str:
    """An address without its secrets; any other text as it is."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return _PAIR.sub(rf"\1{HIDDEN}", url)
    who, at, place = _parted(rest)
    user, colon, _ = who.partition(":")
    place, question, query = place.partition("?")
    shown = [(name, HIDDEN if name in _SECRETS else value) for name, value in parse_qsl(query)]
    hidden = f":{HIDDEN}" if colon else ""
    return f"{scheme}://{user}{hidden}{at}{place}{question}{urlencode(shown, safe='/*')}"


def _parted(rest: str) -> tuple[str, str, str]:
    """The user and the place in an address without its scheme. Everything before an '@' may be a password, except in
    options."""
    place, question, query = rest.partition("?")
    start, has_at, _ = query.partition("@")
    who = place.partition("/")[0]
    is_port = who.rpartition(":")[2].isdigit() and start.partition("=")[0] in _OPTIONS
    if "@" not in place and ":" in who and has_at and not is_port:
        # A question mark in a password; behind a port it begins the options.
        return rest.rpartition("@")
    who, at, place = place.rpartition("@")
    return who, at, f"{place}{question}{query}"


def _is_sound(url: str) -> bool:
    """True if the driver reads the user and the password as the address spells them."""
    who, _, place = _parted(url.partition("://")[2])
    return not {"@", "/"} & set(who) and "@" not in place.partition("?")[0]


def _secrets(url: str) -> set[str]:
    who, _, place = _parted(url.partition("://")[2])
    given = [who.partition(":")[2]]
    given += [value for name, value in parse_qsl(place.partition("?")[2]) if name in _SECRETS]
    return {each for secret in given if secret for each in (secret, unquote(secret), quote(unquote(secret), safe=""))}
