"""The authors of the register's commits, and git's verdict on their signatures."""

import msgspec

from clew.errors import InvalidArgument
from clew.register.git.repository import GOOD, Repository
from clew.register.requests import AuditPolicy
from clew.register.results import AuditedCommit


class Violation(msgspec.Struct, frozen=True):
    commit: str
    signer: str
    signature_status: str
    subject: str
    why: tuple[str, ...]


class Audit(msgspec.Struct, frozen=True):
    ok: bool
    entries: tuple[AuditedCommit, ...]
    violations: tuple[Violation, ...]
    truncated: bool = False


def audit(repository: Repository, path: str, wanted: AuditPolicy) -> Audit:
    if not repository.exists():
        raise InvalidArgument(
            "The register is in no git repository, so there are no signatures.",
            hint="Run `git init` and commit the register.",
        )
    entries = repository.log(path, wanted.limit) if repository.head() else []
    violations = []
    for entry in entries if wanted.gate else ():
        why = tuple(_objections(entry, wanted))
        if why:
            violations.append(Violation(entry.commit, entry.signer, entry.signature_status, entry.subject, why))
    return Audit(not violations, tuple(entries), tuple(violations))


def _objections(entry: AuditedCommit, wanted: AuditPolicy) -> list[str]:
    why = []
    if wanted.require_good_signature and entry.signature_status not in GOOD:
        why.append(f"signature status '{entry.signature_status}' is not 'good'")
    signer = entry.signer.lower()
    signers = wanted.required_signers
    if signers and not any(part.lower() in signer for part in signers):
        why.append(f"signer '{entry.signer}' not in required list")
    return why
