"""Which language model is meant."""

import os
import shlex
from collections.abc import Mapping

from clew.ai.model import Model
from clew.errors import ConfigError

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
    f"service that speaks OpenAI's interface, such as `{URL}=http://localhost:11434/v1`; or connect a client that "
    "offers its own model (sampling). Variables belong into the environment of Clew; in an MCP client, that is `env` "
    "of the server's entry."
)


def open_model(of_client: Model | None = None, environment: Mapping[str, str] | None = None) -> Model:
    """The configured model, or else the client's own. ConfigError, with the way to get one, where there is none."""
    settings = os.environ if environment is None else environment
    command, url = settings.get(COMMAND, "").strip(), settings.get(URL, "").strip()
    if command and url:
        raise ConfigError(f"{COMMAND} and {URL} are both set; only one model can be meant.", hint="Unset one of them.")
    timeout = _timeout(settings.get(TIMEOUT, "").strip())
    if command:
        from clew.ai.command import CommandModel

        return CommandModel(_split(command), timeout)
    if url:
        from clew.ai.endpoint import EndpointModel
        from clew.ai.http import check_key, checked_url

        url, key = checked_url(url, URL), settings.get(KEY, "").strip() or None
        if key is not None:
            check_key(key, url, KEY)
        return EndpointModel(url, _model_name(settings), key, timeout)
    if of_client is not None:
        return of_client
    raise ConfigError("No language model is configured, and the client offers none of its own.", hint=_HOW)


def _split(command: str) -> tuple[str, ...]:
    """The program and its arguments. Quotes group words as in a shell, but no shell ever sees them."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"{COMMAND} cannot be read: {error}.", hint="Balance its quotes.") from error
    if not words or any("\0" in word for word in words):
        raise ConfigError(f"{COMMAND} names no program.", hint=_HOW)
    return words


def _timeout(text: str) -> float:
    try:
        seconds = float(text) if text else DEFAULT_TIMEOUT_SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= LONGEST_TIMEOUT_SECONDS:
        raise ConfigError(
            f"{TIMEOUT} is {text!r}; it must be a number of seconds above 0 and at most {LONGEST_TIMEOUT_SECONDS:g}.",
            hint=f"Without it, {DEFAULT_TIMEOUT_SECONDS:g} s are allowed.",
        )
    return seconds


def _model_name(settings: Mapping[str, str]) -> str:
    model = settings.get(MODEL, "").strip()
    if not model:
        raise ConfigError(f"{URL} is set, but {MODEL} is not.", hint=f"Set {MODEL} to a model of that service.")
    return model
