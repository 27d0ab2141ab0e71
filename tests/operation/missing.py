"""Everything that an operation still lacks before the tests pass, in words: `make check-operation`.

    python -m tests.operation.missing

A new operation is written in one class, and other places follow from it: the list of modules, the listing, the pages,
the snapshot, a test. This says which of them are missing, and what to do.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.surfaces.snapshots import SNAPSHOTS, snapshots

from clew.operation.declare import About, Operation, Toolset, description_of, result_of
from clew.operation.listing import MODULES, ListedOperation, all_tools
from clew.operation.names import portable
from clew.operation.prepare import declared_in, pages, prepared
from clew.operation.schemas import arguments_schema
from clew.operation.toolsets import PROFILES
from clew.surfaces.cli.groups import GROUPS

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "clew"
MAKE_DOCS = "Run `make docs`."
SHORTEST, LONGEST = 100, 900
"""Characters of a tool's description."""


def missing() -> list[str]:
    """A sentence for each thing that some operation lacks."""
    operations = [operation for module in MODULES for operation in declared_in(module)]
    return [
        *_unlisted_modules(),
        *(f"{_name(each)}: {problem}" for each in operations for problem in _problems(each)),
        *_untested(operations),
        *_not_generated(),
    ]


def _name(operation: type[Operation]) -> str:
    about = operation.about
    return about.tool or f"clew {about.verb}"


def _unlisted_modules() -> Iterator[str]:
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(("clew", *path.relative_to(SOURCE).with_suffix("").parts))
        text = path.read_text(encoding="utf-8")
        if module in MODULES or "Operation," not in text:
            continue
        for declared in ast.parse(text).body:
            keywords = {each.arg for each in declared.keywords} if isinstance(declared, ast.ClassDef) else set()
            bases = {ast.unparse(each) for each in declared.bases} if isinstance(declared, ast.ClassDef) else set()
            if keywords & {"tool", "verb"} and "Operation" in bases:
                yield f"{module} declares an operation and is not in MODULES. Add it in src/clew/operation/listing.py."
                break


def _problems(operation: type[Operation]) -> Iterator[str]:
    about = operation.about
    group, _, name = (about.verb or "").partition(" ")
    if name and group not in GROUPS:
        yield f"the group of commands '{group}' is not declared. Add it to GROUPS in src/clew/surfaces/cli/groups.py."
    if about.verb is not None and not (about.summary or about.title):
        yield "the command has no summary. Declare summary= or title=."
    if about.tool is not None:
        yield from _problems_of_tool(operation, about)


def _problems_of_tool(operation: type[Operation], about: About) -> Iterator[str]:
    length = len(description_of(operation))
    if not SHORTEST <= length <= LONGEST:
        yield f"its docstring has {length} characters, and a tool has {SHORTEST} to {LONGEST}. Say when to use it."
    for name, field in arguments_schema(operation).get("properties", {}).items():
        if not field.get("description"):
            yield f"the argument {name} has no description. Add it in `Meta`."
    if about.reaches_others:
        return
    fields = set(getattr(result_of(operation), "__struct_fields__", ()))
    for name in sorted({each.partition(".")[0] for each in about.trim} - fields):
        yield f"trim names {name}, and its result has no such field."
    if about.trim and "truncated" not in fields:
        yield "its result is shortened, and has no field truncated."
    known = (SNAPSHOTS / f"{portable(about.tool or '')}.json").exists()
    listing = [profile.name for profile in PROFILES.values() if about.toolset in profile.toolsets]
    if not known and listing:
        yield (
            f"the profile {listing[0]} lists every tool of the toolset {about.toolset.value}, and would change. "
            f"Declare toolset=Toolset.{Toolset.ADDED.name}, unless the system that it replaces has this tool."
        )


def _untested(operations: list[type[Operation]]) -> Iterator[str]:
    tests = [path for path in (ROOT / "tests").rglob("*.py") if path.name != Path(__file__).name]
    text = "\n".join(path.read_text(encoding="utf-8") for path in tests)
    words = set(re.findall(r"[\w./-]+", text))
    for operation in operations:
        about = operation.about
        names = {about.tool, portable(about.tool)} if about.tool else {*(about.verb or "").split()[-1:]}
        if not names & words and operation.__name__ not in words:
            yield f"{_name(operation)}: no test names it. Write a requirement in spec/ and a test that cites it."


def _not_generated() -> Iterator[str]:
    if (SOURCE / "operation" / "listing.json").read_bytes() != prepared():
        yield f"src/clew/operation/listing.json is not what the declarations say. {MAKE_DOCS}"
        # All other files are made of the listing.
        return
    tools: tuple[ListedOperation, ...] = all_tools()
    for folder, wanted in ((ROOT / "docs" / "tools", pages(tools)), (SNAPSHOTS, snapshots())):
        for name, content in wanted.items():
            path = folder / name
            if not path.exists() or path.read_text(encoding="utf-8") != content:
                yield f"{path.relative_to(ROOT)} is not what the listing says. {MAKE_DOCS}"


if __name__ == "__main__":
    problems = missing()
    sys.stdout.writelines(f"{problem}\n" for problem in problems)
    sys.exit(1 if problems else 0)
