"""`.openspec.yaml`: the few facts that OpenSpec keeps about a change.

The file is YAML, of which this reads what OpenSpec writes: keys at the left margin with a word, a quoted text, true or
false, or a list of such. Anything else is a problem by its line, and its key keeps its usual value.
"""

import re

import msgspec

from clew.formats.diagnostics import Diagnostic
from clew.text.display import shortened

_KEY = re.compile(r"([A-Za-z_][\w-]*)\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"\s*-\s+(.*)")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_BLOCK_SIGNS = ("|", ">", "|-", ">-", "|+", ">+")
_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
FLAG = "openspec.metadata_flag"
_KNOWN = ("schema", "created", "goal", "affected_areas", "initiative", "skip_specs", "retire_capabilities")


class ChangeMetadata(msgspec.Struct, frozen=True, array_like=True):
    schema: str = ""
    created: str = ""
    """YYYY-MM-DD, or empty."""
    goal: str = ""
    affected_areas: tuple[str, ...] = ()
    skip_specs: bool = False
    """The change touches no spec on purpose."""
    retire_capabilities: bool = False
    """The change may remove the last requirement of a spec, and with it the spec."""
    problems: tuple[Diagnostic, ...] = ()


def read_metadata(data: bytes) -> ChangeMetadata:
    """The metadata of a change. Never fails: what cannot be read is among the problems."""
    problems: list[Diagnostic] = []
    values: dict[str, str] = {}
    lists: dict[str, list[str]] = {}
    places: dict[str, int] = {}
    key = ""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    for line, written in enumerate(text.splitlines(), start=1):
        bare = written.split(" #")[0].rstrip()
        if not bare or bare.startswith("#") or bare in ("---", "..."):
            continue
        found = _KEY.match(bare)
        if found is not None:
            key, values[found[1]], places[found[1]] = found[1], _scalar(found[2] or ""), line
            if found[2] and found[2].startswith("["):
                lists[key] = [_scalar(item) for item in found[2].strip("[]").split(",") if item.strip()]
        elif (item := _ITEM.match(bare)) is not None and key:
            lists.setdefault(key, []).append(_scalar(item[1]))
        elif not (written[:1].isspace() and key):
            problems.append(_problem(line, f"{shortened(written)!r} is not `key: value`."))
    unknown = [name for name in values if name not in _KNOWN]
    problems += [_problem(places[name], f"{name!r} is not a key of OpenSpec.", severity="info") for name in unknown]
    return _metadata(values, lists, places, problems)


def _metadata(
    values: dict[str, str], lists: dict[str, list[str]], places: dict[str, int], problems: list[Diagnostic]
) -> ChangeMetadata:
    flags: dict[str, bool] = {}
    for name in ("skip_specs", "retire_capabilities"):
        written = values.get(name, "false").lower()
        if written not in _FLAGS:
            problems.append(_problem(places[name], f"{name} is {written!r}; it may be true or false.", code=FLAG))
        flags[name] = _FLAGS.get(written, False)
    created = values.get("created", "")
    if created and not _DATE.fullmatch(created):
        problems.append(_problem(places["created"], f"created is {created!r}; write a date as YYYY-MM-DD."))
    if not values.get("schema"):
        message = "schema is missing. Write `schema: spec-driven`, or the schema of the change."
        problems.append(_problem(1, message, severity="info"))
    return ChangeMetadata(
        schema=values.get("schema", ""),
        created=created,
        goal=values.get("goal", ""),
        affected_areas=tuple(lists.get("affected_areas", ())),
        skip_specs=flags["skip_specs"],
        retire_capabilities=flags["retire_capabilities"],
        problems=tuple(sorted(problems, key=lambda problem: problem.line)),
    )


def _problem(line: int, message: str, severity: str = "error", code: str = "openspec.metadata") -> Diagnostic:
    return Diagnostic(code, severity, message, line)


def _scalar(written: str) -> str:
    text = written.strip()
    if text in _BLOCK_SIGNS:
        return ""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text
