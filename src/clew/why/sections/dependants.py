"""Section "depends on it": the users of the target, which a change would affect."""

from collections.abc import Callable, Iterator

from clew.derived.code_file import FiledImport
from clew.graph.code.region import WHOLE
from clew.graph.model import NodeKind
from clew.text.display import one_line
from clew.trace.read.resolve import Subject
from clew.trace.reports.impact import impact
from clew.why.answer import Basis, EvidenceSection, Fact, section
from clew.why.inquiry import Inquiry, grep, is_telling
from clew.why.users import not_seen

_MOST = 60


def dependants(inquiry: Inquiry) -> EvidenceSection:
    facts = list(citing(inquiry))
    note = ""
    path = inquiry.target.path
    if path is not None and inquiry.target.node is None:
        facts += importing(inquiry)
        note = not_seen(inquiry.code, path, is_bound=False)
    return section("depends_on_it", facts, absent="Not known: nothing that uses it was found.", note=note, most=8)


def citing(inquiry: Inquiry) -> Iterator[Fact]:
    """Facts about the citations of a node; tests are left out, since they are evidence."""
    node = inquiry.target.node
    if node is not None:
        subject = Subject(node.id, node.kind.value, node.title, (node.id,))
    elif inquiry.target.kind == "spec" and inquiry.target.path is not None:
        nodes = inquiry.graph.memory.nodes_in_file(inquiry.target.path)
        ids = tuple(each.id for each in nodes if each.kind is NodeKind.REQUIREMENT)
        subject = Subject(inquiry.target.name, inquiry.target.kind, inquiry.target.title, ids)
    else:
        return
    for each in impact(inquiry.graph, subject, (), limit=_MOST).dependents:
        if each.kind not in (NodeKind.TEST.value, NodeKind.TEST_RESULT.value):
            text = f"{each.id} {one_line(each.title, 80)}: {each.how}"
            yield Fact(text, "stated" if each.distance == 1 else "inferred", f"{each.path}:{each.line}")


def importing(inquiry: Inquiry) -> Iterator[Fact]:
    """Files that import the target's file, or the target by its name."""
    target = inquiry.target
    path = target.path or ""
    name = target.symbol.qualname if target.symbol is not None else ""
    seen: set[str] = set()
    order = _nearest(path)
    # The end of a path says less than a whole one.
    found = sorted(inquiry.code.importing(path, name), key=lambda each: (each.module[0] == "*", order(_at(each))))
    for each in found:
        if each.path not in seen:
            seen.add(each.path)
            basis: Basis = "inferred" if each.module[0] == "*" else "stated"
            yield Fact(f"{each.path} imports {each.name or 'it'}", basis, f"{each.path}:{each.line}")
    if not name:
        return
    for each in sorted(inquiry.code.importing(path, WHOLE), key=lambda each: order(_at(each))):
        if each.path not in seen:
            seen.add(each.path)
            yield Fact(f"{each.path} imports the file", "inferred", f"{each.path}:{each.line}")


def _at(found: FiledImport) -> tuple[str, int, str]:
    return found.path, found.line, ""


def named(inquiry: Inquiry, shown: set[str]) -> Iterator[Fact]:
    """Lines elsewhere that hold the name of a symbol that no other has."""
    symbol, path = inquiry.target.symbol, inquiry.target.path
    if symbol is None or path is None or not is_telling(inquiry, symbol.name):
        return
    ending = path.rpartition(".")[2]
    files = shown_files(shown)
    for place, line, text in sorted(grep(inquiry, symbol.name, f"*.{ending}"), key=_nearest(path))[:_MOST]:
        inside = place == path and symbol.around(line, line)
        if not inside and (place == path or place not in files):
            files.add(place if place != path else "")
            yield Fact(f"{place} names it: {one_line(text, 80)}", "inferred", f"{place}:{line}")


def shown_files(places: set[str]) -> set[str]:
    return {place.rpartition(":")[0] for place in places}


def _nearest(path: str) -> Callable[[tuple[str, int, str]], tuple[int, str, int]]:
    """Sort key: most common folders first."""
    own = path.split("/")

    def order(found: tuple[str, int, str]) -> tuple[int, str, int]:
        shared = 0
        for one, other in zip(own, found[0].split("/"), strict=False):
            if one != other:
                break
            shared += 1
        return -shared, found[0], found[1]

    return order
