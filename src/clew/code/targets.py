"""The symbol that a text means: one rule for every command and tool that takes a symbol."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from clew.derived.code_file import STUBS, CodeFile, FiledSymbol
from clew.formats.code.facts.model import CALLABLES, CLASS, SCOPES, Symbol
from clew.graph.code.binding.library import PREFIX
from clew.graph.code.binding.types import Instance, Outside, Ref
from clew.graph.code.binding.uses import Binder
from clew.workspace.file_argument import FileArgument

_LINE = re.compile(r"(?P<path>.+?)(?::(?P<line>\d{1,9})(?:[-:]\d{1,9})?|#L(?P<hash>\d{1,9}))")
_MOST = 50
S = TypeVar("S", bound=Symbol)
_MOST_IMPORTING = 200
"""Files that are looked through for imports of a name that no file defines."""


class Meaning(NamedTuple):
    """The symbols that a text may mean."""

    found: tuple[FiledSymbol, ...] = ()
    """All of the name, the likeliest first."""
    meant: tuple[FiledSymbol, ...] = ()
    """All that are meant as much as the first. None, if the name means something outside of the project as well."""
    outside: tuple[str, ...] = ()
    """Modules outside of the project from which its files import the name."""

    @property
    def symbol(self) -> FiledSymbol | None:
        """The one symbol that is meant; None where there is none, or several are meant as much."""
        return self.meant[0] if len(self.meant) == 1 else None


def meaning_of(binder: Binder, text: str, is_aside: Callable[[FiledSymbol], bool]) -> Meaning:
    """The symbols that `NAME`, `Class.name`, `module.name`, `FILE::qualname` or `FILE:LINE` may mean. Those aside, as
    tests are, are never meant before others."""
    found = _symbols_meant(binder, text)
    ranks = {each: _rank(binder.file, each, text, is_aside) for each in found}
    found.sort(key=lambda each: (ranks[each], each.qualname.count("."), each.path, each.line))
    meant = [each for each in found if ranks[each] == ranks[found[0]]]
    outside: tuple[str, ...] = ()
    if not found or all(is_local(binder.file, each) for each in found):
        outside = _outside(binder, plain(text))
    # An import is at the top of a file, so it is meant before what is inside of a function.
    return Meaning(tuple(found), () if outside else tuple(meant), outside)


def paths_concerned(file: CodeFile, text: str) -> Iterator[str]:
    """The files of an answer about a target: the one that it names, and those with the name."""
    text = plain(text)
    path, separator, name = text.partition("::")
    match = None if separator else _LINE.fullmatch(path)
    if separator:
        yield path
    elif match is not None:
        yield match["path"]
        return
    yield from file.paths_using((name or path).replace("::", ".").rpartition(".")[2])


def plain(text: str) -> str:
    """A target without the marks that lists and calls put around it."""
    return text.strip().removeprefix("symbol:").removesuffix("()")


def placed(text: str, root: Path, folder: Path) -> str:
    """A target whose file a person named from a folder, with the path that the file has in the project."""
    path, separator, name = plain(text).partition("::")
    match = None if separator else _LINE.fullmatch(path)
    if match is not None:
        path, separator, name = match["path"], ":", match["line"] or match["hash"]
    found = FileArgument(root, path, folder=folder).path if separator else None
    return text if found is None else f"{found}{separator}{name}"


def _rank(
    file: CodeFile, symbol: FiledSymbol, text: str, is_aside: Callable[[FiledSymbol], bool]
) -> tuple[bool, bool, bool, bool]:
    name = plain(text).rpartition("::")[2]
    return (
        is_aside(symbol),
        is_local(file, symbol),
        symbol.path.endswith(STUBS),
        not f".{name}".endswith(symbol.qualname),
    )


def _symbols_meant(binder: Binder, text: str) -> list[FiledSymbol]:
    file, text = binder.file, plain(text)
    path, separator, name = text.partition("::")
    if separator and ("/" in path or file.has((path,))):
        return _in_file(binder, posixpath.normpath(path), name.replace("::", "."))
    match = _LINE.fullmatch(text)
    if match is not None and file.has((match["path"],)):
        found = symbol_at(file.symbols_of(match["path"]), int(match["line"] or match["hash"]))
        return [found] if found is not None else []
    if not text or " " in text or "/" in text:
        return []
    return _named(binder, text.replace("::", "."))


def _in_file(binder: Binder, path: str, name: str) -> list[FiledSymbol]:
    symbols = binder.file.symbols_of(path)
    exact = [each for each in symbols if each.qualname == name]
    head, _, tail = name.rpartition(".")
    above = [each for each in symbols if head and each.qualname == head]
    inherited = _inherited(binder, above, tail) if not exact else []
    same = [each for each in symbols if each.name == name or each.qualname.endswith(f".{name}")]
    return exact or inherited or same or _defined(binder.file, binder.in_file(path, name))


def symbol_at(symbols: Sequence[S], line: int) -> S | None:
    """The symbol that a line defines, or else the innermost definition around it."""
    defined = [each for each in symbols if any(line in (place.at, place.line) for place in each.places)]
    around = [each for each in symbols if each.kind in SCOPES and each.around(line, line)]
    named = [each for each in defined if each.kind in SCOPES or not _is_inside_function(each, around)]
    # Of two that begin on the line, the one that is written later is inside of the other.
    found = named or sorted(around, key=lambda each: -each.around(line, line))
    return found[-1] if found else None


def _is_inside_function(symbol: Symbol, around: Sequence[Symbol]) -> bool:
    return any(each.kind != CLASS for each in around if each is not symbol)


def _named(binder: Binder, name: str) -> list[FiledSymbol]:
    file = binder.file
    found = file.named(name, _MOST)
    head, _, tail = name.rpartition(".")
    if head and not any(each.qualname == name for each in found):
        # The first names may be those of modules: `celery.utils.functional.maybe_list`.
        parts = name.split(".")
        of_module = [
            each
            for cut in range(1, len(parts))
            for each in file.named(".".join(parts[cut:]), _MOST)
            if each.qualname == ".".join(parts[cut:]) and _is_module(each.path, "/".join(parts[:cut]))
        ]
        found = (
            of_module or found or _through_modules(binder, name, tail) or _inherited(binder, _named(binder, head), tail)
        )
    return list(dict.fromkeys(found))


def _inherited(binder: Binder, symbols: Iterable[FiledSymbol], name: str) -> list[FiledSymbol]:
    """The member of a name that classes have from those above them."""
    classes = (Ref(each.path, each.place) for each in symbols if each.kind == CLASS)
    members = (each.ref for of in classes for each in binder.member_of_class(of, name, Instance(of)).members)
    return list(dict.fromkeys(_defined(binder.file, members)))


def _through_modules(binder: Binder, name: str, tail: str) -> list[FiledSymbol]:
    """Definitions that a module passes on under a name, such as `click.Context` from `click/__init__.py`."""
    languages = {source.facts.rules: source for source in binder.take(binder.file.with_name(tail))}
    return [each for source in languages.values() for each in _defined(binder.file, binder.dotted(name, source))]


def _defined(file: CodeFile, named: Iterable[object]) -> list[FiledSymbol]:
    refs = [each for each in named if isinstance(each, Ref) and not each.path.startswith(PREFIX)]
    return [file.symbols_of(each.path)[each.symbol] for each in refs]


def _is_module(path: str, module: str) -> bool:
    stem = posixpath.splitext(path)[0].removesuffix("/__init__").removesuffix("/index").removesuffix("/mod")
    return f"/{stem}".endswith(f"/{module}")


def is_local(file: CodeFile, symbol: FiledSymbol) -> bool:
    """True if a symbol is inside of a function."""
    record = file.record(symbol.path)
    parent = symbol.parent
    while record is not None and 0 <= parent < len(record.symbols):
        above = record.symbols[parent]
        if above.kind in CALLABLES:
            return True
        parent = above.parent
    return False


def _outside(binder: Binder, name: str) -> tuple[str, ...]:
    """The modules outside of the project from which files import a name."""
    found: dict[str, None] = {}
    if not name.isidentifier():
        return ()
    for source in binder.take(binder.file.with_name(name)[:_MOST_IMPORTING]):
        for number, imported in enumerate(source.facts.imports):
            if imported.name != name or binder.module_of(imported, source):
                continue
            if any(isinstance(each, Outside) for each in binder.imported(source, number)):
                found[imported.module] = None
    return tuple(found)


def said_outside(meaning: Meaning) -> tuple[str, ...]:
    """A sentence about modules outside of the project that define the name."""
    if not meaning.outside:
        return ()
    return (f"Files of the project import the name from {', '.join(meaning.outside[:3])}, outside of the project.",)
