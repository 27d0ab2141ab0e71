"""`clew eval`: measure on your own data. Each kind of measurement is a module of its own."""

import argparse
from importlib import import_module

KINDS = {
    "retrieval": "how well and how fast a folder of questions with known answers is searched",
    "links": "how well links between two sets of files are suggested",
}

EXAMPLE = """clew eval retrieval questions/
clew eval links answers/"""


def configure(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    for name, summary in KINDS.items():
        module = import_module(f"clew.surfaces.cli.eval_{name}")
        sub = kinds.add_parser(
            name,
            help=summary,
            description=f"Measures {summary}.",
            epilog="example:\n  " + module.EXAMPLE.strip().replace("\n", "\n  "),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.configure(sub)
        sub.set_defaults(measure=module.run)


def run(args: argparse.Namespace) -> int:
    result: int = args.measure(args)
    return result
