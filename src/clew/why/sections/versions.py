"""Section "versions": how the text of a requirement came to be, and which code and tests followed each change."""

# Implements: REQ-d00364

import re
from collections.abc import Iterator, Sequence

import msgspec

from clew.derived.history import FileTouch
from clew.formats.elspais.reader import read
from clew.formats.elspais.records import Requirement
from clew.formats.openspec.reader import read_spec
from clew.graph.model import NodeKind
from clew.why.answer import EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry, commit_line
from clew.workspace.git import history as git_history

_MOST_READ = 60
"""Versions of a file that are looked into."""
_MOST_MOVES = 3
_MOST_FOLLOWED = 3
_REASON = 160
"""Characters of what a commit says about a version."""
_HASH = re.compile(r"\*\*Hash\*\*:\s*\w+")
_TEXTS = ("title", "statement", "rationale")
"""The texts of a requirement in a register."""


class Version(msgspec.Struct, frozen=True):
    touch: FileTouch
    text: str
    parts: dict[str, str]
    """Its assertions by label, where the format has any."""


def versions(inquiry: Inquiry) -> EvidenceSection | None:
    """The versions of a requirement; None for anything else."""
    node = inquiry.target.node
    if node is None or node.kind not in (NodeKind.REQUIREMENT, NodeKind.ASSERTION) or node.source is None:
        return None
    if inquiry.readiness.head is None:
        return EvidenceSection("versions", note=inquiry.readiness.notes[0])
    id = node.id
    if node.kind is NodeKind.ASSERTION:
        owner = next(inquiry.graph.iter_parents(node.id), None)
        id = owner.id if owner is not None else id
    found = _changes(list(_read(inquiry, id, node.source.path)), node.get_field("label"))
    facts: list[Fact] = []
    for place, (version, what) in enumerate(found):
        maker = commit_line(version.touch.commit, body=_REASON if place < _MOST_FOLLOWED else 0)
        facts.append(Fact(f"{what} by {maker}", "recorded", version.touch.commit.id[:12]))
        if place < _MOST_FOLLOWED and place < len(found) - 1:
            facts += _followed(inquiry, id, version.touch)
    return section("versions", facts, absent="Not known: no committed version of its text was found.", most=8)


def _read(inquiry: Inquiry, id: str, path: str) -> Iterator[Version]:
    """The states of the block, newest first, also where it was in another file."""
    before = 1 << 62
    for _ in range(_MOST_MOVES):
        touches = [each for each in inquiry.history.of_path(path, _MOST_READ) if each.commit.number < before]
        last: Version | None = None
        for version in _in_file(inquiry, id, touches):
            yield version
            last = version
        moved = _moved_from(inquiry, id, last.touch) if last is not None else None
        if last is None or moved is None:
            return
        path, before = moved, last.touch.commit.number


def _in_file(inquiry: Inquiry, id: str, touches: Sequence[FileTouch]) -> Iterator[Version]:
    places = [(each.commit.id, each.path) for each in touches]
    for touch, data in zip(touches, _contents(inquiry, places), strict=True):
        found = _block(inquiry, id, touch.path, data) if data is not None else None
        if found is None:
            if data is not None or touch.status == "D":
                return
            continue
        yield Version(touch, *found)


def _contents(inquiry: Inquiry, places: Sequence[tuple[str, str]]) -> list[bytes | None]:
    nothing: list[bytes | None] = [None] * len(places)
    return inquiry.questions.ask(lambda left: git_history.contents_at(inquiry.root, places, seconds=left), nothing)


def _block(inquiry: Inquiry, id: str, path: str, data: bytes) -> tuple[str, dict[str, str]] | None:
    """The text of the requirement in a state of a file, and its parts by label."""
    if path.endswith((".req", ".json")):
        return _in_register(id, data)
    if id.encode() in data:
        for block in read(data, inquiry.project.context.grammar).blocks:
            if isinstance(block, Requirement) and block.id == id:
                parts = {each.label: " ".join(each.text.split()) for each in block.assertions}
                return _HASH.sub("", block.raw), parts
    name = id.rpartition("/")[2]
    for requirement in read_spec(data).requirements:
        if requirement.slug == name:
            return requirement.raw, {each.slug: " ".join(each.raw.split()) for each in requirement.scenarios}
    return None


def _in_register(id: str, data: bytes) -> tuple[str, dict[str, str]] | None:
    """The same for a requirement in a register, whose files are JSON. Fields that change with every write, such as
    times, do not count."""
    if id.encode() not in data:
        return None
    try:
        document = msgspec.json.decode(data)
    except msgspec.DecodeError:
        return None
    known = document.get("requirements", document) if isinstance(document, dict) else {}
    several = known.values() if isinstance(known, dict) and "id" not in known else [known]
    several = known if isinstance(known, list) else several
    found = next((each for each in several if isinstance(each, dict) and each.get("id") == id), None)
    if found is None:
        return None
    criteria = [str(each) for each in found.get("acceptance") or ()]
    text = "\n".join([*(str(found.get(name, "")) for name in _TEXTS), *criteria])
    return text, {str(number): " ".join(each.split()) for number, each in enumerate(criteria, 1)}


def _moved_from(inquiry: Inquiry, id: str, first: FileTouch) -> str | None:
    """The file that held the block before the commit that moved it into this one."""
    others = [
        change.path
        for change in inquiry.history.touched_by(first.commit.id)
        if change.path != first.path and change.status in "MD" and change.path.endswith(first.path.rpartition(".")[2])
    ][:20]
    parent = first.commit.parents[0] if first.commit.parents else None
    if parent is None or not others:
        return None
    contents = _contents(inquiry, [(parent, path) for path in others])
    for path, data in zip(others, contents, strict=True):
        if data is not None and _block(inquiry, id, path, data) is not None:
            return path
    return None


def _changes(found: Sequence[Version], label: str | None) -> list[tuple[Version, str]]:
    """The versions that differ from the one before, newest first; on request, in one assertion only."""
    changed: list[tuple[Version, str]] = []
    for place, version in enumerate(found):
        older = found[place + 1] if place + 1 < len(found) else None
        if label is not None and version.parts:
            now, then = version.parts.get(label), older.parts.get(label) if older is not None else None
            what = "written" if then is None and now is not None else "changed" if now != then else None
        else:
            what = "written" if older is None else _difference(older, version)
        if what is not None:
            changed.append((version, what))
    return changed


def _difference(older: Version, newer: Version) -> str | None:
    if older.text.split() == newer.text.split():
        return None
    labels = [
        label
        for label in sorted(older.parts.keys() | newer.parts.keys())
        if older.parts.get(label) != newer.parts.get(label)
    ]
    return f"changed ({', '.join(labels)})" if labels else "changed"


def _followed(inquiry: Inquiry, id: str, touch: FileTouch) -> Iterator[Fact]:
    """The places that cite the requirement, by whether they changed with a version or after it."""
    citing = (inquiry.graph.get_node(edge.source) for edge in inquiry.graph.memory.iter_incoming_edges(id))
    kinds = (NodeKind.CODE, NodeKind.TEST)
    paths = dict.fromkeys(
        node.source.path for node in citing if node is not None and node.kind in kinds and node.source is not None
    )
    same = {change.path for change in inquiry.history.touched_by(touch.commit.id)}
    groups: dict[str, list[str]] = {"changed with it": [], "changed after it": [], "not changed since": []}
    for path in paths:
        later = path not in same and bool(inquiry.history.changed_since(path, touch.commit.number))
        groups["changed with it" if path in same else "changed after it" if later else "not changed since"].append(path)
    maker = "; ".join(f"{word}: {', '.join(each[:3])}{_more(each)}" for word, each in groups.items() if each)
    if maker:
        yield Fact(f"after {touch.commit.id[:12]}, what cites it: {maker}", "recorded", touch.commit.id[:12])


def _more(paths: Sequence[str]) -> str:
    return f" and {len(paths) - 3} more" if len(paths) > 3 else ""
