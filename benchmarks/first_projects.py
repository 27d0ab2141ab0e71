"""Three projects that nobody set up for Clew, made the same way every time, each with a git history."""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

_DAY = 86_400
_START = 1_740_000_000


def python_library(folder: Path, size: int = 6) -> Path:
    files = {
        "README.md": "# Ledgerline\n\nLedgerline is a Python library that keeps double-entry books in plain text.\n\n"
        "## Installing\n\nInstall it with pip. It needs no database, because a journal is one text file.\n",
        "CHANGES.md": "# Changes\n\n## 1.2\n\nAmounts are decimals.\n",
        "pyproject.toml": '[project]\nname = "ledgerline"\nversion = "1.2.0"\ndescription = "Plain text accounting"\n',
        "docs/guide.md": "# Guide\n\nA posting moves an amount from one account to another.\n",
        "docs/closing.rst": "Closing\n=======\n\nA closed month refuses new postings.\n",
    }
    for number in range(size):
        files[f"src/ledgerline/part{number}.py"] = (
            f'"""Part {number} of the books."""\n\n\nclass Journal{number}:\n    """A list of postings."""\n\n'
            f"    def post(self, account, amount):\n        self.last = (account, amount)\n        return amount\n"
        )
        files[f"tests/test_part{number}.py"] = (
            f"from ledgerline.part{number} import Journal{number}\n\n\n"
            f"def test_posting_{number}_returns_the_amount():\n    assert Journal{number}().post('cash', 1) == 1\n"
        )
    later = {
        "src/ledgerline/part0.py": files["src/ledgerline/part0.py"].replace("return amount", "return round(amount, 2)")
    }
    message = "Round amounts to cents\n\nWe chose rounding at the posting because sums of thirds drifted apart."
    return _made(folder, files, [(message, later)])


def typescript_monorepo(folder: Path, size: int = 3) -> Path:
    files = {
        "README.md": "# Boardwalk\n\nBoardwalk is a whiteboard that several people draw on at once.\n\n"
        "## Collaboration\n\nEvery stroke is sent to the room, and the room keeps the order of strokes.\n",
        "package.json": '{"name": "boardwalk", "version": "3.0.0", "private": true, "workspaces": ["packages/*"]}\n',
        "dev-docs/docs/sync.mdx": "# Sync\n\nA client that was away asks the room for the strokes it missed.\n",
    }
    for number in range(size):
        base = f"packages/tool{number}"
        files[f"{base}/package.json"] = f'{{"name": "@boardwalk/tool{number}"}}\n'
        files[f"{base}/README.md"] = f"# Tool {number}\n\nDraws shape number {number} on the board.\n"
        files[f"{base}/src/index.ts"] = (
            f"export class Stroke{number} {{\n  points: number[] = [];\n  add(x: number): number {{\n"
            "    this.points.push(x);\n    return this.points.length;\n  }\n}\n"
        )
        files[f"{base}/src/__tests__/index.ts"] = (
            f"import {{ Stroke{number} }} from '../index';\n\n"
            f"test('stroke {number} counts its points', () => {{ expect(new Stroke{number}().add(1)).toBe(1); }});\n"
        )
    later = {"packages/tool0/src/index.ts": files["packages/tool0/src/index.ts"].replace("x: number)", "x = 0)")}
    message = "Default a point to zero\n\nDecided with the design team, rather than refusing the call."
    return _made(folder, files, [(message, later)])


def openspec_project(folder: Path, size: int = 4) -> Path:
    files = {
        "README.md": "# Parcels\n\nParcels is a web application that tracks deliveries.\n\n"
        "## Tracking\n\nA customer follows a parcel by its number.\n",
        "package.json": '{"name": "parcels", "description": "Tracks deliveries", "version": "0.4.0"}\n',
        "openspec/project.md": "# Parcels\n",
    }
    for number in range(size):
        scenarios = "".join(
            f"#### Scenario: {what} {number}\n- **WHEN** a parcel of depot {number} is {verb}\n"
            f"- **THEN** the customer sees that it was {verb}\n\n"
            for what, verb in (
                ("Parcel is scanned", "scanned"),
                ("Parcel is lost", "lost"),
                ("Parcel arrives", "handed over"),
            )
        )
        files[f"openspec/specs/depot{number}/spec.md"] = (
            f"# depot{number} Specification\n\n"
            f"## Purpose\nParcels in depot {number}, from the scan to the customer.\n\n"
            "## Requirements\n"
            f"### Requirement: Depot {number} reports parcels\nDepot {number} SHALL report each parcel.\n\n{scenarios}"
        )
        files[f"src/depot{number}.ts"] = (
            f"export function report{number}(parcel: string): string {{\n  return parcel;\n}}\n"
        )
        files[f"test/depot{number}.test.ts"] = (
            f"import {{ report{number} }} from '../src/depot{number}';\n\n"
            f"test('parcel of depot {number} is scanned and the customer sees it', () => {{\n"
            f"  expect(report{number}('a')).toBe('a');\n}});\n"
        )
    later = {"src/depot0.ts": files["src/depot0.ts"].replace("return parcel;", "return parcel.trim();")}
    message = (
        "Trim numbers of parcels\n\nScanners add spaces, so that numbers did not match. Rejected: a strict scanner."
    )
    return _made(folder, files, [(message, later)])


PROJECTS: Mapping[str, Callable[[Path, int], Path]] = {
    "Python library": python_library,
    "TypeScript monorepo": typescript_monorepo,
    "OpenSpec project": openspec_project,
}


def _made(folder: Path, files: Mapping[str, str], later: list[tuple[str, Mapping[str, str]]]) -> Path:
    folder.mkdir(parents=True)
    _git(folder, 0, "init", "--quiet", "--initial-branch=main")
    for day, (message, changed) in enumerate((("Begin", files), *later), start=1):
        for path, text in changed.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        _git(folder, day, "add", "--all")
        _git(folder, day, "commit", "--quiet", f"--message={message}")
    return folder


def _git(folder: Path, day: int, *words: str) -> None:
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (
            ("NAME", "Ada Field"), ("EMAIL", "ada@example.org"), ("DATE", f"@{_START + day * _DAY} +0000"),
        )
    }  # fmt: skip
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *words], cwd=folder, env={**os.environ, **who, **quiet}, check=True)
