"""The brief of a register for people."""

import msgspec

from clew.register import results
from clew.text.counting import counted


def brief_text(found: results.Brief) -> str:
    counts = ", ".join(f"{number} {word}" for word, number in msgspec.to_builtins(found.by_status).items() if number)
    total = counted(found.total, "requirement")
    lines = [f"{found.project}: {total} ({counts or 'none yet'}), {found.delivery_pct} % delivered"]
    if found.purpose:
        lines.append(found.purpose)
    lines += [f"  {each.id}  {each.title}" for each in found.spine]
    up = found.next
    lines.append(f"next: {up.id} {up.title} ({up.priority}, {up.status})" if up else "next: nothing is open")
    for label, name in (
        ("implemented, not verified", "implemented_unverified"),
        ("drafts", "drafts"),
        ("verified, but the last record failed", "verified_but_defective"),
    ):
        ids = getattr(found, name)
        if ids:
            more = f" and {found.more[name]} more" if name in found.more else ""
            lines.append(f"{label}: {', '.join(ids)}{more}")
    lines.append(f"gate: {found.hook_mode or 'no hook'}; last change: {found.last_spec_change or 'not committed'}")
    return "\n".join(lines)
