"""An external judge of statements: a command that the operator names in the environment.

It gets one requirement as JSON on standard input and answers with `{"ok": true}` or `{"ok": false, "message": ...}`.
"""

import os
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import msgspec

from clew.formats.register.model import Requirement

COMMAND, SHELL, CONCURRENCY = "REQ_VALIDATE_LLM_CMD", "REQ_VALIDATE_LLM_SHELL", "REQ_VALIDATE_LLM_CONCURRENCY"
TIMEOUT_SECONDS = 10
_MOST_AT_ONCE = 32


class Verdict(msgspec.Struct, frozen=True):
    ok: bool
    message: str = ""


class CommandJudge:
    def __init__(self, argv: tuple[str, ...], at_once: int = 1) -> None:
        self._argv = argv
        self._at_once = max(1, min(at_once, _MOST_AT_ONCE))

    def __call__(self, requirements: tuple[Requirement, ...]) -> dict[str, str]:
        """Objections by id. A judge that fails objects to everything it was asked, and says why."""
        with ThreadPoolExecutor(self._at_once) as pool:
            answers = zip(requirements, pool.map(self._ask, requirements), strict=True)
            return {requirement.id: objection for requirement, objection in answers if objection}

    def _ask(self, requirement: Requirement) -> str:
        question = {name: getattr(requirement, name) for name in ("id", "title", "statement", "rationale")}
        try:
            done = subprocess.run(
                self._argv,
                input=msgspec.json.encode(question),
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
            if done.returncode != 0:
                return f"The judge ended with exit code {done.returncode}."
            verdict = msgspec.json.decode(done.stdout, type=Verdict)
        except subprocess.TimeoutExpired:
            return f"The judge did not answer within {TIMEOUT_SECONDS} seconds."
        except OSError as error:
            return f"The judge could not be started: {error.strerror}."
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return f"The judge answered with something other than a verdict: {error}."
        return "" if verdict.ok else verdict.message or "The judge objects without a reason."


def judge_from(environment: Mapping[str, str] = os.environ) -> CommandJudge | None:
    """The judge that the environment names; None where it names none."""
    command = environment.get(COMMAND, "").strip()
    if not command:
        return None
    shell = environment.get(SHELL, "").strip() or ("cmd" if os.name == "nt" else "sh")
    flag = {"cmd": "/C", "powershell": "-Command", "pwsh": "-Command"}.get(shell, "-c")
    at_once = environment.get(CONCURRENCY, "1")
    return CommandJudge((shell, flag, command), int(at_once) if at_once.isdecimal() else 1)
