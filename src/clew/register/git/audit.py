"""Who changed the register, and whether git vouches for them."""

from collections.abc import Sequence

import msgspec

from clew.errors import InvalidArgument
from clew.register.git.repository import GOOD, Commit, Repository


class Violation(msgspec.Struct, frozen=True):
    commit: str
    signer: str
    signature_status: str
    subject: str
    why: tuple[str, ...]


class Audit(msgspec.Struct, frozen=True):
    ok: bool
    entries: tuple[Commit, ...]
    violations: tuple[Violation, ...]
    truncated: bool = False


def audit(
    repository: Repository,
    path: str,
    *,
    limit: int = 50,
    gate: bool = False,
    require_good_signature: bool = False,
    required_signers: Sequence[str] = (),
) -> Audit:
    if not repository.exists():
        raise InvalidArgument(
            "The register is in no git repository, so nobody signed it.", hint="Run `git init` and commit the register."
        )
    entries = repository.log(path, limit) if repository.head() else []
    violations = []
    for entry in entries if gate else ():
        why = tuple(_objections(entry, require_good_signature, required_signers))
        if why:
            violations.append(Violation(entry.commit, entry.signer, entry.signature_status, entry.subject, why))
    return Audit(not violations, tuple(entries), tuple(violations))


def _objections(entry: Commit, require_good: bool, signers: Sequence[str]) -> list[str]:
    why = []
    if require_good and entry.signature_status not in GOOD:
        why.append(f"signature status '{entry.signature_status}' is not 'good'")
    signer = entry.signer.lower()
    if signers and not any(wanted.lower() in signer for wanted in signers):
        why.append(f"signer '{entry.signer}' not in required list")
    return why
