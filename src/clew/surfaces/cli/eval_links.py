"""`clew eval links`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from clew.config import EmbedSettings
from clew.surfaces.cli.opening import add_json
from clew.surfaces.cli.output import end_progress, print_json, progress
from clew.text.terminal import coloured

if TYPE_CHECKING:
    from clew.trace.links.measure import Measures

EXAMPLE = """clew eval links traces/
clew eval links traces/ --json"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data", metavar="FOLDER", help="holds sources/ and targets/, a text or code file for each, and answers.csv"
    )
    parser.add_argument("--words-only", action="store_true", help="measure without the sentence encoder")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    from clew.search.embed import open_embedder
    from clew.trace.links.folder import read_link_set
    from clew.trace.links.match.meaning import Vectors
    from clew.trace.links.measure import measure

    links = read_link_set(Path(args.data))
    embedder = None if args.words_only else open_embedder(EmbedSettings())
    found = measure(links, None if embedder is None else Vectors(embedder), progress())
    end_progress()
    if args.json:
        print_json(found)
    else:
        _print(found)
    return 0


def _print(found: "Measures") -> None:
    how = "words and meaning" if found.with_meaning else "words alone"
    print(f"{found.sources} sources, {found.targets} targets, {found.links} links; compared by {how}")
    print(f"MAP        {found.map:.3f}")
    print(f"F1         {found.f1:.3f}  of {found.suggested} links suggested from {found.threshold:.2f} on")
    print(f"precision  {found.precision:.3f}")
    print(f"recall     {found.recall:.3f}")
    if isinstance(found.calibration, str):
        print(f"calibration: {found.calibration}")
    else:
        print(coloured("confidence    suggestions    said    right", "bold"))
        for each in found.calibration:
            print(f"{each.least:.1f} to {each.below:.1f}    {each.count:>11}    {each.said:.2f}    {each.right:.2f}")
    for note in found.notes:
        print(coloured(note, "dim"))
