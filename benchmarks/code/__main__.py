"""`python -m benchmarks.code`: recall and precision of uses, against what language servers know.

Nothing here makes the exit code 1 but a benchmark that could not measure. The misses of projects that are held out are
never printed: nobody can tune on them.
"""

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.code.asking import Asked
from benchmarks.code.causes import cause
from benchmarks.code.projects import SOURCES, Source, committed, unpacked
from benchmarks.code.score import Score, Verdict, names_in, score, verdict
from benchmarks.code.truth import FOLDER, FROZEN, read
from benchmarks.table import machine
from benchmarks.workspace import REPOSITORY, BenchmarkFailed

COLUMNS = (
    "project",
    "symbols",
    "used",
    "lines",
    "recall",
    "mean",
    "exact",
    "shown",
    "blind",
    "other",
    "p50 ms",
    "p95 ms",
    "cpu p95",
    "cold cpu",
    "first s",
    "MB",
    "index MB",
)
LEGEND = """recall: share of all true use lines that were found; mean: of the share per symbol; exact, shown: share of
right lines among those shown as exact and among all shown as uses; blind: share of used symbols of which no use was
found; other: lines that the language server cannot confirm; p50, p95: warm answers on the clock; cpu p95: of
processors; cold cpu: 95 % of first answers; first s: processor time of the first index; MB: peak memory until then."""


class Measured(msgspec.Struct, frozen=True):
    source: Source
    verdicts: tuple[Verdict, ...]
    asked: Asked


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.code", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="some of the projects")
    parser.add_argument("--dev", action="store_true", help="without the projects that are held out")
    parser.add_argument(
        "--misses", action="store_true", help="print missed and wrong lines of the projects for development"
    )
    parser.add_argument("--causes", action="store_true", help="print cause classes of missed and wrong lines only")
    parser.add_argument("--clones", type=Path, help="a folder with clones of the repositories that no index has")
    parser.add_argument(
        "--truth", type=Path, default=FOLDER, help="a folder with other truth, which need not be frozen"
    )
    parser.add_argument("--json", action="store_true", help="print scores as data")
    options = parser.parse_args()
    chosen = [
        each
        for each in SOURCES
        if (not options.only or each.name in options.only) and not (options.dev and each.held_out)
    ]
    measured, failed = [], []
    for source in chosen:
        if source.origin == "clone" and options.clones is None and not options.only:
            print(f"{source.name}: left out, no index has it; --clones FOLDER measures it.")
            continue
        with tempfile.TemporaryDirectory(prefix="clew-code-") as folder:
            root = Path(folder).resolve() / source.name
            try:
                found = measure(source, root, options.clones, options.truth)
            except BenchmarkFailed as error:
                failed.append(f"{source.name}: {error}")
                continue
            measured.append(found)
            if (options.misses or options.causes) and not source.held_out:
                print_misses(found, root, lines=options.misses)
    if options.json:
        print(msgspec.json.encode({each.source.name: score(each.verdicts) for each in measured}).decode())
    else:
        print(" ".join(f"{name} {value}" for name, value in machine().items()) + "\n")
        print(table(measured))
    for problem in failed:
        print(problem, file=sys.stderr)
    return 1 if failed else 0


def measure(source: Source, root: Path, clones: Path | None, folder: Path) -> Measured:
    recorded = read(source.name, FROZEN.get(source.name, "") if folder == FOLDER else None, folder)
    unpacked(source, root, clones)
    committed(root)
    with tempfile.NamedTemporaryFile("wb", suffix=".json") as targets:
        targets.write(msgspec.json.encode([each.symbol.target for each in recorded.truths]))
        targets.flush()
        command = (sys.executable, "-m", "benchmarks.code.asking", str(root), targets.name)
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, check=False)
    if done.returncode:
        raise BenchmarkFailed(done.stderr.decode(errors="replace").strip()[-2000:])
    asked = msgspec.json.decode(done.stdout, type=Asked)
    is_named = names_in(lambda path: (root / path).read_text(encoding="utf-8", errors="replace"))
    anything = (lambda *_: True) if source.language == "typescript" else is_named
    verdicts = tuple(verdict(each, asked.uses.get(each.symbol.target, ()), anything) for each in recorded.truths)
    return Measured(source, verdicts, asked)


def table(measured: Sequence[Measured]) -> str:
    rows: list[tuple[str, ...]] = [COLUMNS]
    for language in ("python", "typescript"):
        for held_out in (False, True):
            group = [each for each in measured if each.source.language == language and each.source.held_out == held_out]
            if not group:
                continue
            rows.append((f"{language}, {'held out' if held_out else 'for development'}",))
            rows += [_row(f"  {each.source.name}", score(each.verdicts), [each.asked]) for each in group]
            if len(group) > 1:
                together = score(verdict for each in group for verdict in each.verdicts)
                rows.append(_row("  together", together, [each.asked for each in group]))
    widths = [max(len(row[column]) for row in rows if len(row) > 1) for column in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.ljust(widths[0]) if n == 0 else cell.rjust(widths[n]) for n, cell in enumerate(row))
        for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:], "", LEGEND])


def _row(name: str, found: Score, asked: Sequence[Asked]) -> tuple[str, ...]:
    shares = (found.micro, found.mean, found.exact, found.shown, found.blind)
    warm = sorted(each for one in asked for each in one.milliseconds)
    cold = sorted(each for one in asked for each in one.cold_milliseconds)
    busy = sorted(each for one in asked for each in one.cpu_milliseconds)
    parts = ((warm, 0.5), (warm, 0.95), (busy, 0.95), (cold, 0.95))
    alone = asked[0] if len(asked) == 1 else None
    return (
        name,
        str(found.symbols),
        str(found.used),
        f"{found.lines:,}",
        *(f"{share:.3f}" for share in shares),
        str(found.other),
        *(f"{times[int(len(times) * part)]:.1f}" if times else "-" for times, part in parts),
        f"{alone.first_seconds:.1f}" if alone else "",
        f"{alone.peak_megabytes:.0f}" if alone else "",
        f"{alone.index_megabytes:.1f}" if alone else "",
    )


def print_misses(found: Measured, root: Path, *, lines: bool) -> None:
    """Causes with their numbers, and every missed and wrong line."""
    causes: Counter[str] = Counter()
    shown: list[str] = []
    for each in found.verdicts:
        name = each.truth.symbol.name
        rows = [("missed", path, line, "") for path, line in each.missed]
        rows += [("wrong", use.path, use.line, f" {use.basis} {use.kind}") for use in each.wrong]
        if (target := each.truth.symbol.target) in found.asked.errors:
            shown.append(f"{target}: error: {found.asked.errors[target]}")
        if rows:
            shown.append(
                f"{target} ({each.truth.symbol.kind}): found {len(each.found)} of {len(each.found) + len(each.missed)}"
            )
        for what, path, line, how in sorted(set(rows)):
            reason = cause(root / path, line, name)
            causes[f"{what}{how.partition(' ')[0]}: {reason}" if what == "missed" else f"{what}{how}: {reason}"] += 1
            shown.append(f"  {what}{how} {path}:{line} [{reason}] {_text(root / path, line)}")
    if lines:
        print("\n".join(shown))
    print(f"\n{found.source.name}: missed and wrong lines by cause")
    for text, count in causes.most_common():
        print(f"  {count:5}  {text}")
    print()


def _text(file: Path, line: int) -> str:
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    return lines[line - 1].strip()[:140] if line <= len(lines) else ""


if __name__ == "__main__":
    sys.exit(main())
