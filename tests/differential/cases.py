"""A tree of specs and changes, each with one thing that the two tools may see differently."""

from collections.abc import Callable
from pathlib import Path

PURPOSE = "The lamp shows ships where the rock is, in every night and in every weather."
STEPS = "- **WHEN** the sun sets\n- **THEN** the lamp burns\n"


def requirement(name: str, text: str = "The lamp SHALL burn.", *scenarios: str, steps: str = STEPS) -> str:
    parts = "".join(f"\n#### Scenario: {each}\n\n{steps}" for each in scenarios or ("Dusk",))
    return f"### Requirement: {name}\n\n{text}\n{parts}\n"


def spec(*requirements: str, purpose: str = PURPOSE) -> str:
    return f"# Lamp\n\n## Purpose\n\n{purpose}\n\n## Requirements\n\n" + "\n".join(requirements)


BURN, REST = requirement("Burn"), requirement("Rest", "The lamp MUST rest.", "Dawn", "Eclipse")
GOOD = spec(BURN, REST)

SPECS: dict[str, str] = {
    "good": GOOD,
    "nested/deeper/good": GOOD,
    "purpose-missing": GOOD.replace("## Purpose", "## Overview"),
    "purpose-empty": spec(BURN, purpose=""),
    "purpose-short": spec(BURN, purpose="Light."),
    "purpose-unwritten": spec(BURN, purpose=f"TBD - created by archiving change x. {PURPOSE}"),
    "purpose-that-begins-like-it": spec(BURN, purpose="Todo el mundo sabe que la lámpara muestra dónde está la roca."),
    "purpose-of-level-three": GOOD.replace("## Purpose", "### Purpose"),
    "purpose-in-capitals": GOOD.replace("## Purpose", "## PURPOSE"),
    "purpose-twice": GOOD.replace("## Requirements", f"## Purpose\n\n{PURPOSE}\n\n## Requirements"),
    "requirements-missing": f"# Lamp\n\n## Purpose\n\n{PURPOSE}\n",
    "requirements-empty": spec(),
    "requirements-of-level-three": GOOD.replace("## Requirements", "### Requirements"),
    "requirements-twice": GOOD + f"\n## Requirements\n\n{requirement('Ring')}",
    "no-text": spec(requirement("Burn", "")),
    "text-only-in-code": spec(requirement("Burn", "```\nThe lamp SHALL burn.\n```")),
    "text-only-metadata": spec(requirement("Burn", "**Priority**: high")),
    "long-text": spec(requirement("Burn", "The lamp SHALL burn. " * 40)),
    "not-normative": spec(requirement("Burn", "The lamp burns.")),
    "normative-in-small-letters": spec(requirement("Burn", "The lamp shall burn.")),
    "normative-inside-a-word": spec(requirement("Burn", "The lamp SHALLOW burn.")),
    "normative-only-in-the-name": spec(requirement("The lamp SHALL burn", "It burns.")),
    "normative-in-the-second-line": spec(requirement("Burn", "It has a lamp.\n\nIt SHALL burn.")),
    "normative-only-in-code": spec(requirement("Burn", "It burns.\n\n```\nSHALL\n```")),
    "normative-only-in-metadata": spec(requirement("Burn", "It burns.\n\n**Note**: it SHALL burn")),
    "no-scenario": spec("### Requirement: Burn\n\nThe lamp SHALL burn.\n"),
    "scenario-of-level-five": spec(BURN.replace("#### ", "##### ")),
    "scenario-of-level-three": spec(BURN.replace("#### ", "### ")),
    "scenario-in-bold": spec(BURN.replace("#### Scenario: Dusk", "**Scenario: Dusk**")),
    "scenario-as-bullet": spec(BURN.replace("#### Scenario: Dusk", "- Scenario: Dusk")),
    "scenario-without-label": spec(BURN.replace("#### Scenario: Dusk", "#### Dusk")),
    "scenario-in-capitals": spec(BURN.replace("#### Scenario:", "#### SCENARIO:")),
    "scenario-without-text": spec(requirement("Burn", steps="")),
    "scenario-without-text-beside-another": spec(REST.replace("Dawn\n", "Noon\n\n#### Scenario: Dawn\n")),
    "scenario-without-name": spec(BURN.replace("#### Scenario: Dusk", "#### Scenario:")),
    "scenario-without-when": spec(requirement("Burn", steps="- **THEN** the lamp burns\n")),
    "scenario-without-steps": spec(requirement("Burn", steps="The sun sets and the lamp burns.\n")),
    "scenario-twice": spec(requirement("Burn", "The lamp SHALL burn.", "Dusk", "Dusk")),
    "scenario-only-in-code": spec("### Requirement: Burn\n\nThe lamp SHALL burn.\n\n```\n#### Scenario: Dusk\n```\n"),
    "requirement-in-small-letters": spec(BURN.replace("### Requirement:", "### requirement:")),
    "requirement-without-space": spec(BURN.replace("### Requirement:", "###Requirement:")),
    "requirement-without-label": spec(BURN.replace("### Requirement: Burn", "### Burn")),
    "requirement-without-name": spec(BURN.replace("### Requirement: Burn", "### Requirement:")),
    "requirement-of-level-four": spec(BURN.replace("### Requirement:", "#### Requirement:")),
    "requirement-of-level-two": spec(BURN.replace("### Requirement:", "## Requirement:")),
    "requirement-twice": spec(BURN, BURN),
    "requirement-twice-in-another-case": spec(BURN, BURN.replace("Burn", "BURN")),
    "requirements-again-without-any": GOOD + "\n## Requirements\n",
    "heading-of-level-one-below": GOOD.replace(PURPOSE, f"# Lamps\n\n{PURPOSE}"),
    "requirement-outside": f"{GOOD}\n## Notes\n\n{requirement('Ring')}",
    "requirement-before": GOOD.replace("## Purpose", f"{requirement('Ring')}\n## Purpose"),
    "requirement-in-code": spec(requirement("Burn", "The lamp SHALL burn.\n\n```\n### Requirement: No\n```")),
    "heading-among-requirements": spec(BURN, "### Notes\n\nNothing.\n"),
    "other-sections": GOOD.replace("## Requirements", "## Background\n\nOld.\n\n## Requirements")
    + "\n## Notes\n\nNew.\n",
    "delta-header": f"{GOOD}\n## ADDED Requirements\n\n{requirement('Ring')}",
    "delta-header-in-code": GOOD.replace(PURPOSE, f"{PURPOSE}\n\n```\n## ADDED Requirements\n```"),
    "unclosed-fence": GOOD.replace(PURPOSE, f"{PURPOSE}\n\n```"),
    "unclosed-fence-at-the-end": f"{GOOD}\n```\n",
    "tilde-fence": spec(requirement("Burn", "The lamp SHALL burn.\n\n~~~~\n### Requirement: No\n~~~\n~~~~")),
    "indented-fence": spec(BURN.replace(STEPS, f"{STEPS}\n  ```\n  #### Scenario: No\n  ```\n")),
    "byte-order-mark": f"\ufeff{GOOD}",
    "carriage-returns": GOOD.replace("\n", "\r\n"),
    "without-title": GOOD.removeprefix("# Lamp\n\n"),
    "empty": "",
    "comment": GOOD.replace("## Requirements", "<!-- a remark -->\n\n## Requirements"),
    "closing-signs": GOOD.replace("### Requirement: Burn", "### Requirement: Burn ###"),
    "spanish": spec(requirement("Arder", "La lámpara SHALL arder.", "Atardecer")),
    "plain-steps": spec(requirement("Burn", steps="- WHEN the sun sets\n- THEN the lamp burns\n")),
}

ADDED, MODIFIED, REMOVED, RENAMED = (
    f"## {each} Requirements\n\n" for each in ("ADDED", "MODIFIED", "REMOVED", "RENAMED")
)
RING = requirement("Ring", "The bell SHALL ring.", "Noon")


def pair(old: str, new: str) -> str:
    return f"- FROM: `### Requirement: {old}`\n- TO: `### Requirement: {new}`\n"


REST_AGAIN = requirement("Rest", "The lamp MUST rest by day.", "Dawn", "Eclipse")

DELTAS: dict[str, dict[str, str]] = {
    "adds": {"good": ADDED + RING},
    "adds-a-spec": {"bell": ADDED + RING},
    "adds-a-spec-with-purpose": {"bell": f"## Purpose\n\n{PURPOSE}\n\n{ADDED}{RING}"},
    "adds-without-text": {"good": ADDED + requirement("Ring", "")},
    "adds-without-scenario": {"good": f"{ADDED}### Requirement: Ring\n\nThe bell SHALL ring.\n"},
    "adds-not-normative": {"good": ADDED + requirement("Ring", "The bell rings.")},
    "adds-twice": {"good": ADDED + RING + RING},
    "adds-what-is-there": {"good": ADDED + requirement("Burn", "Another text SHALL hold.")},
    "adds-the-same": {"good": ADDED + BURN},
    "adds-and-modifies": {"good": ADDED + REST + MODIFIED + REST_AGAIN},
    "adds-and-removes": {"good": f"{ADDED}{RING}{REMOVED}### Requirement: Ring\n"},
    "adds-nothing": {"good": ADDED},
    "adds-and-removes-nothing": {"good": ADDED + RING + REMOVED},
    "adds-with-an-empty-scenario": {"good": ADDED + requirement("Ring", steps="")},
    "adds-with-an-empty-scenario-beside-another": {"good": f"{ADDED}{RING}\n#### Scenario: Night\n"},
    "adds-outside-of-its-section": {"good": f"## Notes\n\n{requirement('Sound')}{ADDED}{RING}"},
    "modifies": {"good": MODIFIED + REST_AGAIN},
    "modifies-the-same": {"good": MODIFIED + REST},
    "modifies-what-is-missing": {"good": MODIFIED + RING},
    "modifies-in-another-case": {"good": MODIFIED + REST_AGAIN.replace(": Rest", ": rest")},
    "modifies-a-missing-spec": {"bell": MODIFIED + RING},
    "modifies-without-text": {"good": MODIFIED + requirement("Rest", "", "Dawn", "Eclipse")},
    "modifies-and-drops": {"good": MODIFIED + requirement("Rest", "The lamp MUST rest.", "Dawn")},
    "modifies-and-removes": {"good": f"{MODIFIED}{REST_AGAIN}{REMOVED}### Requirement: Rest\n"},
    "removes": {"good": f"{REMOVED}### Requirement: Rest\n\n**Reason**: gone\n"},
    "removes-by-bullet": {"good": f"{REMOVED}- `### Requirement: Rest`\n"},
    "removes-what-is-missing": {"good": f"{REMOVED}### Requirement: Ring\n"},
    "removes-in-another-case": {"good": f"{REMOVED}### Requirement: rest\n"},
    "removes-everything": {"good": f"{REMOVED}### Requirement: Rest\n\n### Requirement: Burn\n"},
    "removes-from-a-missing-spec": {"bell": f"{REMOVED}### Requirement: Ring\n"},
    "renames": {"good": RENAMED + pair("Rest", "Sleep")},
    "renames-by-arrow": {"good": f"{RENAMED}### Requirement: Rest → Sleep\n"},
    "renames-and-modifies": {"good": RENAMED + pair("Rest", "Sleep") + MODIFIED + REST_AGAIN.replace("Rest", "Sleep")},
    "renames-and-modifies-the-old": {"good": RENAMED + pair("Rest", "Sleep") + MODIFIED + REST_AGAIN},
    "renames-onto-added": {"good": RENAMED + pair("Rest", "Ring") + ADDED + RING},
    "renames-and-removes": {"good": f"{RENAMED}{pair('Rest', 'Sleep')}{REMOVED}### Requirement: rest\n"},
    "renames-what-is-missing": {"good": RENAMED + pair("Ring", "Sound")},
    "renames-onto-what-is-there": {"good": RENAMED + pair("Rest", "Burn")},
    "renames-half": {"good": f"{RENAMED}- FROM: `### Requirement: Rest`\n"},
    "renames-other-half": {"good": f"{RENAMED}- TO: `### Requirement: Rest`\n"},
    "renames-half-beside-a-pair": {"good": f"{RENAMED}{pair('Rest', 'Sleep')}- FROM: `### Requirement: Burn`\n"},
    "renames-by-bare-names": {"good": f"{RENAMED}- FROM: Rest\n- TO: Sleep\n"},
    "renames-in-words": {"good": f"{RENAMED}Rest is called Sleep.\n"},
    "header-in-small-letters": {"good": ADDED.replace("ADDED Requirements", "added requirements") + RING},
    "header-misspelled": {"good": "## NEW Requirements\n\n" + RING},
    "header-missing": {"good": RING},
    "header-twice": {"good": ADDED + RING + ADDED + requirement("Sound")},
    "header-in-code": {"good": f"{ADDED}{RING}\n```\n## REMOVED Requirements\n```\n"},
    "stray-heading": {"good": f"{ADDED}### Notes\n\nNothing.\n\n{RING}"},
    "whole-spec": {"good": GOOD},
    "fence-unclosed": {"good": f"{ADDED}{RING}\n```\n"},
    "carriage-returns": {"good": (ADDED + RING).replace("\n", "\r\n")},
    "byte-order-mark": {"good": f"\ufeff{ADDED}{RING}"},
    "two-specs": {"good": ADDED + RING, "bell": ADDED + RING},
    "nested": {"nested/deeper/good": MODIFIED + REST_AGAIN},
    "no-delta": {},
    "at-the-root": {"": ADDED + RING},
    "scenario-of-level-five": {"good": ADDED + RING.replace("#### ", "##### ")},
    "requirement-in-small-letters": {"good": ADDED + RING.replace("### Requirement", "### requirement")},
}

PROPOSAL = f"## Why\n\n{PURPOSE}\n\n## What Changes\n\n- A bell.\n"

FILES: dict[str, dict[str, str]] = {
    "skips-specs": {".openspec.yaml": "schema: spec-driven\nskip_specs: true\n"},
    "skips-specs-and-has-some": {
        ".openspec.yaml": "schema: spec-driven\nskip_specs: true\n",
        "specs/good/spec.md": ADDED + RING,
    },
    "retires": {
        ".openspec.yaml": "schema: spec-driven\nretire_capabilities: true\n",
        "specs/good/spec.md": DELTAS["removes-everything"]["good"],
    },
    "metadata-without-schema": {".openspec.yaml": "created: 2026-01-01\n", "specs/good/spec.md": ADDED + RING},
    "metadata-unreadable": {".openspec.yaml": "schema: [\n", "specs/good/spec.md": ADDED + RING},
    "metadata-flag-unreadable": {
        ".openspec.yaml": "schema: spec-driven\nskip_specs: perhaps\n",
        "specs/good/spec.md": ADDED + RING,
    },
    "without-proposal": {"proposal.md": "", "specs/good/spec.md": ADDED + RING},
    "without-why": {"proposal.md": "## What Changes\n\n- A bell.\n", "specs/good/spec.md": ADDED + RING},
    "without-tasks": {"tasks.md": "", "specs/good/spec.md": ADDED + RING},
    "delta-under-another-name": {"specs/good.md": ADDED + RING},
    "delta-under-another-name-beside-one": {"specs/good/spec.md": ADDED + RING, "specs/good/more.md": MODIFIED + REST},
    "note-beside-a-delta": {"specs/good/spec.md": ADDED + RING, "specs/good/notes.md": "# Notes\n"},
    "tasks-as-plain-list": {"tasks.md": "- Hang the bell\n", "specs/good/spec.md": ADDED + RING},
    "tasks-in-words": {"tasks.md": "Hang the bell.\n", "specs/good/spec.md": ADDED + RING},
    "tasks-of-one-number": {"tasks.md": "## 1. All\n\n- [ ] 1.1 A\n- [ ] 1.1 B\n", "specs/good/spec.md": ADDED + RING},
    "tasks-of-one-number-without-group": {
        "tasks.md": "- [ ] 1.1 A\n- [ ] 1.1 B\n",
        "specs/good/spec.md": ADDED + RING,
    },
}
"""Files of further changes; an empty text removes one of those that every change has."""


def write(root: Path) -> Path:
    """The tree in a folder."""
    home = root / "openspec"
    _put(home / "config.yaml", "schema: spec-driven\n")
    for id, text in SPECS.items():
        _put(home / "specs" / id / "spec.md", text)
    for id, deltas in DELTAS.items():
        write_change(root, id, {f"specs/{spec}/spec.md".replace("//", "/"): text for spec, text in deltas.items()})
    for id, files in FILES.items():
        write_change(root, id, files)
    return root


def tree_of(change_id: str) -> Callable[[Path], None]:
    """Writes a tree of two good specs and one change."""
    deltas = DELTAS.get(change_id, {})
    files = FILES.get(change_id, {f"specs/{id}/spec.md".replace("//", "/"): text for id, text in deltas.items()})

    def put(root: Path) -> None:
        for id in ("good", "nested/deeper/good"):
            _put(root / "openspec" / "specs" / id / "spec.md", SPECS[id])
        _put(root / "openspec" / "config.yaml", "schema: spec-driven\n")
        write_change(root, change_id, files)

    return put


def write_change(root: Path, id: str, files: dict[str, str]) -> None:
    usual = {"proposal.md": PROPOSAL, "tasks.md": "- [x] 1.1 Hang the bell\n"}
    for path, text in {**usual, **files}.items():
        if text or path not in usual:
            _put(root / "openspec" / "changes" / id / path, text)


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
