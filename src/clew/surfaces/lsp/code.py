"""References and calls of code, by the uses that are exact; a place that only has the name is none."""

# Implements: REQ-d00786

from lsprotocol import types as lsp

from clew.code.cursor import word_at
from clew.derived.code_file import FiledSymbol
from clew.formats.code.facts.model import CALLABLES, CLASS
from clew.surfaces.lsp.editor_project import EditorProject

MOST = 500
_KINDS = {
    "function": lsp.SymbolKind.Function,
    "method": lsp.SymbolKind.Method,
    "class": lsp.SymbolKind.Class,
    "property": lsp.SymbolKind.Property,
    "constant": lsp.SymbolKind.Constant,
    "attribute": lsp.SymbolKind.Field,
    "member": lsp.SymbolKind.EnumMember,
    "type": lsp.SymbolKind.Class,
}
_SHOWN = frozenset({"exact", "index", "inferred"})
"""An editor cannot show how sure a reference is."""
_CALLS = frozenset({"call", "decorator"})


def symbols_under(editor: EditorProject, uri: str, position: lsp.Position) -> list[FiledSymbol]:
    """The symbols that the word under the cursor means, by the files as they are saved."""
    path, document = editor.path_of(uri), editor.document(uri)
    if path is None or document is None or not 0 <= position.line < len(document.lines):
        return []
    editor.project.code.ensure()
    word, start = word_at(document.lines[position.line], editor.column(document, position))
    return editor.project.uses.symbols_at(path, position.line + 1, word, start)


def references(editor: EditorProject, uri: str, position: lsp.Position, *, declaration: bool) -> list[lsp.Location]:
    found: dict[tuple[str, int, int], lsp.Location] = {}
    for symbol in symbols_under(editor, uri, position):
        if declaration:
            _put(found, _location(editor, symbol.path, symbol.at, 0, symbol.name))
        for use in editor.project.uses.uses_of(symbol).uses:
            if use.basis in _SHOWN and len(found) < MOST:
                _put(found, _location(editor, use.path, use.line, use.column, symbol.name))
    return list(found.values())


def _put(found: dict[tuple[str, int, int], lsp.Location], place: lsp.Location) -> None:
    found[place.uri, place.range.start.line, place.range.start.character] = place


def _location(editor: EditorProject, path: str, line: int, column: int, name: str) -> lsp.Location:
    return lsp.Location(editor.uri_of(path), _range(editor, path, line, column, name))


def _range(editor: EditorProject, path: str, line: int, column: int, name: str) -> lsp.Range:
    """The name at a place, or the word that is there under another name."""
    lines = editor.lines_of(path)
    text = lines[line - 1] if line <= len(lines) else ""
    at = text.find(name, column)
    if at >= 0:
        return editor.span(lines, line - 1, at, at + len(name))
    word, start = word_at(text, column)
    return editor.span(lines, line - 1, start, start + len(word))


# Calls


def prepared(editor: EditorProject, uri: str, position: lsp.Position) -> list[lsp.CallHierarchyItem]:
    """The functions and classes under the cursor, as the beginning of a hierarchy of calls."""
    found = symbols_under(editor, uri, position)
    return [_item(editor, each) for each in found if each.kind in CALLABLES or each.kind == CLASS]


def incoming(editor: EditorProject, item: lsp.CallHierarchyItem) -> list[lsp.CallHierarchyIncomingCall]:
    """The functions that call the one of an item; calls at the top of a file are those of the file."""
    symbol = _symbol_of(editor, item)
    calls: dict[tuple[str, int], list[lsp.Range]] = {}
    for use in editor.project.uses.uses_of(symbol).uses if symbol is not None else ():
        if use.basis in _SHOWN and use.kind.name.lower() in _CALLS and symbol is not None:
            place = _range(editor, use.path, use.line, use.column, symbol.name)
            calls.setdefault((use.path, use.inside), []).append(place)
    return [
        lsp.CallHierarchyIncomingCall(_around(editor, path, inside), ranges)
        for (path, inside), ranges in list(calls.items())[:MOST]
    ]


def outgoing(editor: EditorProject, item: lsp.CallHierarchyItem) -> list[lsp.CallHierarchyOutgoingCall]:
    """The functions of the project that the one of an item calls."""
    symbol = _symbol_of(editor, item)
    calls: dict[tuple[str, int], tuple[FiledSymbol, list[lsp.Range]]] = {}
    if symbol is None:
        return []
    for call in editor.project.uses.calls_from(symbol):
        place = _range(editor, symbol.path, call.line, call.column, call.to.name)
        calls.setdefault((call.to.path, call.to.place), (call.to, []))[1].append(place)
    return [lsp.CallHierarchyOutgoingCall(_item(editor, to), ranges) for to, ranges in list(calls.values())[:MOST]]


def _symbol_of(editor: EditorProject, item: lsp.CallHierarchyItem) -> FiledSymbol | None:
    """The symbol of an item, which the editor sends back; None where it is none of ours."""
    data = item.data if isinstance(item.data, dict) else {}
    path, name = data.get("path"), data.get("name")
    if not isinstance(path, str) or not isinstance(name, str):
        return None
    editor.project.code.ensure()
    return editor.project.code.file.symbol(path, name)


def _item(editor: EditorProject, symbol: FiledSymbol) -> lsp.CallHierarchyItem:
    selection = _range(editor, symbol.path, symbol.at, 0, symbol.name)
    lines = editor.lines_of(symbol.path)
    last = min(symbol.end_line, max(len(lines), 1)) - 1
    end = editor.span(lines, last, 0, len(lines[last].rstrip()) if last < len(lines) else 0).end
    return lsp.CallHierarchyItem(
        name=symbol.qualname,
        kind=_KINDS.get(symbol.kind, lsp.SymbolKind.Variable),
        uri=editor.uri_of(symbol.path),
        range=lsp.Range(lsp.Position(symbol.line - 1, 0), end),
        selection_range=selection,
        detail=symbol.path,
        data={"path": symbol.path, "name": symbol.qualname},
    )


def _around(editor: EditorProject, path: str, inside: int) -> lsp.CallHierarchyItem:
    symbols = editor.project.code.file.symbols_of(path)
    if 0 <= inside < len(symbols):
        return _item(editor, symbols[inside])
    whole = editor.line_range(path, 1)
    return lsp.CallHierarchyItem(path, lsp.SymbolKind.File, editor.uri_of(path), whole, whole)
