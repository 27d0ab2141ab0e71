"""The choice of a language model: from environment variables, else from the settings."""

import os
import shlex
from collections.abc import Mapping

import msgspec

from clew.ai.model import LanguageModel
from clew.config import AiSettings
from clew.errors import ConfigError
from clew.trust import ConfigurationTrust

COMMAND = "CLEW_AI_COMMAND"
URL = "CLEW_AI_URL"
MODEL = "CLEW_AI_MODEL"
KEY = "CLEW_AI_KEY"
TIMEOUT = "CLEW_AI_TIMEOUT"

DEFAULT_TIMEOUT_SECONDS = 120.0
LONGEST_TIMEOUT_SECONDS = 3_600.0

_HOW = (
    f"Set {COMMAND} to a program that reads the question from standard input and prints the answer, such as "
    f"`{COMMAND}='ollama run llama3.2'`; or set {URL} and {MODEL} (and {KEY} where the service wants a key) for a "
    f"service that speaks OpenAI's interface, such as `{URL}=http://localhost:11434/v1`; or name one of the two in "
    "[ai] of your own configuration; or connect a client that offers its own model (sampling). Variables belong into "
    "the environment of Clew; in an MCP client, that is `env` of the server's entry."
)


class _Wanted(msgspec.Struct, frozen=True):
    """The configured model, and the name under which each value was set, for messages."""

    command: str
    url: str
    model: str
    key: str
    timeout: str
    names: Mapping[str, str]


def open_model(
    of_client: LanguageModel | None = None,
    environment: Mapping[str, str] | None = None,
    settings: AiSettings | None = None,
    trust: ConfigurationTrust | None = None,
) -> LanguageModel:
    """The model of the environment, or else of the settings, or else the client's own. Raises ConfigError, with the way
    to set one up, if there is none."""
    wanted = _wanted(os.environ if environment is None else environment, settings or AiSettings())
    names = wanted.names
    if wanted.command and wanted.url:
        message = f"{names[COMMAND]} and {names[URL]} are both set; only one model can be meant."
        raise ConfigError(message, hint="Unset one of them.")
    timeout = _timeout(wanted.timeout, names[TIMEOUT])
    if wanted.command:
        from clew.ai.command import CommandModel

        return CommandModel(_split(wanted.command, names[COMMAND]), timeout)
    if wanted.url:
        from clew.ai.endpoint import EndpointModel
        from clew.ai.http import check_key, checked_url

        url, key = checked_url(wanted.url, names[URL]), wanted.key or None
        if key is not None:
            check_key(key, url, names[KEY])
        if not wanted.model:
            message = f"{names[URL]} is set, but {names[MODEL]} is not."
            raise ConfigError(message, hint=f"Set {names[MODEL]} to a model of that service.")
        return EndpointModel(url, wanted.model, key, timeout)
    if of_client is not None:
        return of_client
    ignored = any(key.startswith("ai.") for key in trust.ignored) if trust is not None else False
    named = f" {trust.note}" if trust is not None and ignored else ""
    raise ConfigError(f"No language model is configured, and the client offers none of its own.{named}", hint=_HOW)


def _wanted(environment: Mapping[str, str], settings: AiSettings) -> _Wanted:
    """The values of the environment if it names a model; otherwise those of the settings."""
    said = {name: environment.get(name, "").strip() for name in (COMMAND, URL, MODEL, KEY, TIMEOUT)}
    if said[COMMAND] or said[URL] or not (settings.command or settings.url):
        names = {name: name for name in said}
        return _Wanted(said[COMMAND], said[URL], said[MODEL], said[KEY], said[TIMEOUT], names)
    key = environment.get(settings.key_variable, "").strip() if settings.key_variable else ""
    if settings.key_variable and not key:
        raise ConfigError(
            f"The environment variable {settings.key_variable}, which `ai.key_variable` names, is not set.",
            hint="Set it to the service's key.",
        )
    own = settings.timeout_seconds
    return _Wanted(
        command=settings.command or "",
        url=settings.url or "",
        model=settings.model or "",
        key=key,
        timeout=said[TIMEOUT] or (f"{own:g}" if own is not None else ""),
        names={
            COMMAND: "`ai.command`",
            URL: "`ai.url`",
            MODEL: "`ai.model`",
            KEY: f"The environment variable {settings.key_variable}",
            TIMEOUT: TIMEOUT if said[TIMEOUT] else "`ai.timeout_seconds`",
        },
    )


def _split(command: str, name: str) -> tuple[str, ...]:
    """The program and its arguments. Quotes group words as in a shell, but no shell ever sees them."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"{name} cannot be read: {error}.", hint="Balance its quotes.") from error
    if not words or any("\0" in word for word in words):
        raise ConfigError(f"{name} names no program.", hint=_HOW)
    return words


def _timeout(text: str, name: str) -> float:
    try:
        seconds = float(text) if text else DEFAULT_TIMEOUT_SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_TIMEOUT_SECONDS:
        raise ConfigError(
            f"{name} is {text!r}; it must be a number of seconds above 0 and at most {LONGEST_TIMEOUT_SECONDS:g}.",
            hint=f"Without it, {DEFAULT_TIMEOUT_SECONDS:g} s are allowed.",
        )
    return seconds
