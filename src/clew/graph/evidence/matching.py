"""Matching the tests that a report names with the tests in the graph.

Reports name tests in many ways: `tests.test_lamp.TestBell` and `test_rings[2]`, `com.example.LampTest` and `rings()`,
`pkg/lamp` and `TestBell/rings`, `lamp.test.ts` and `bell > rings`. A name is looked up without its decoration; what
else the report says must not contradict where the test stands, and decides between tests of one name.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from clew.formats.code.languages import family_for
from clew.graph.inverted import Inverted
from clew.graph.model import Node, NodeKind

Rank = tuple[int, int, int, int]
"""Rank of a candidate: the kind of match of its place, the number of parts that match, its classes, its line."""

IN_FILE, IN_CLASS, BY_NAME = 3, 2, 1

_SIGNS = re.compile(r"[\s.,>›:/\\#$|()\[\]{}'\"`-]+")
_ARGUMENTS = re.compile(r"\s*[({].*\Z", re.DOTALL)
_REPEATED = re.compile(r"#\d+\Z")
_SEPARATORS = ("::", " > ", " › ", "/", ".")
_PARTS = re.compile(r"[./:\\$#>›]+|\s+-\s+")
_STRICT = frozenset({"py", "java"})
"""Endings of languages whose reports name the module or package of a test in full, so that another one is another."""
_FUNCTIONS = frozenset({"py", "java", "go", "rs", "c", "cc", "cpp", "cxx", "cs", "kt", "scala", "swift", "php"})
"""Endings of languages whose tests are functions, which reports do not put together with their classes."""
_SCRIPTS = frozenset({"js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"})


class TestCandidate(msgspec.Struct, frozen=True, gc=False):
    """A test that a report may mean."""

    id: str
    title: str
    path: str
    classes: tuple[str, ...]
    """From the outermost inwards; groups of tests count as classes."""
    line: int
    end_line: int


class ReportedTest(msgspec.Struct, frozen=True, gc=False):
    """Name of a test in a report."""

    name: str
    classname: str = ""
    file: str = ""
    line: int = 0


def subject(node: Node) -> TestCandidate:
    around: str | None = node.fields.get("class")
    source = node.source
    return TestCandidate(
        id=node.id,
        title=node.title,
        path=source.path if source is not None else "",
        classes=tuple(around.split(".")) if around else (),
        line=source.line if source is not None else 0,
        end_line=source.end_line if source is not None else 0,
    )


def names_of_test(node: Node) -> tuple[str, ...]:
    """The names under which a test is looked up. A title is known with and without the titles of the groups around
    it."""
    around: str | None = node.fields.get("class")
    own = node.title if node.title.isidentifier() else plain(node.title)
    if around is None or (node.source is not None and node.source.path.rpartition(".")[2] in _FUNCTIONS):
        return (own,)
    return (own, plain(f"{around} {node.title}"))


def names_of_mention(mention: ReportedTest) -> tuple[str, ...]:
    """Names to look up, the most specific first."""
    name = mention.name
    if name.isidentifier():
        return (name,)
    bare = _REPEATED.sub("", _ARGUMENTS.sub("", name)) or name
    found = [plain(name), plain(bare)]
    found.extend(plain(bare.rpartition(separator)[2]) for separator in _SEPARATORS if separator in bare)
    if "/" in bare:
        found.append(plain(bare.partition("/")[0]))
    return tuple(dict.fromkeys(filter(None, found)))


def plain(name: str) -> str:
    """A name without the signs that runners and people put between its parts."""
    return _SIGNS.sub(" ", name).strip()


def exact_ids(name: str, classname: str, file: str) -> tuple[str, ...]:
    """The ids that a test may have if the report gives its full path, as pytest and vitest do."""
    if file:
        module = file.removesuffix(".py").replace("/", ".")
        if classname == module:
            classname = ""
        names = f"{classname.removeprefix(f'{module}.').replace('.', '::')}::{name}" if classname else name
        return (f"test:{file}::{names}",)
    if "/" in classname:
        return (f"test:{classname}::{name.replace(' > ', '::')}",)
    if not classname:
        return ()
    path = classname.replace(".", "/")
    folder, _, last = path.rpartition("/")
    return f"test:{path}.py::{name}", f"test:{folder}.py::{last}::{name}"


def choose(mention: ReportedTest, name: str, candidates: Iterable[TestCandidate]) -> tuple[list[TestCandidate], bool]:
    """The tests called `name` that the report names, and True if the name is ambiguous.

    Several are meant together only where nothing tells them apart: a name that is defined twice in the same place.
    """
    said = _Said(mention, name)
    best: list[TestCandidate] = []
    best_rank: Rank | None = None
    for each in candidates:
        rank = said.rank(each)
        if rank is None:
            continue
        if best_rank is None or rank > best_rank:
            best, best_rank = [each], rank
        elif rank == best_rank:
            best.append(each)
    first = best[0] if best else None
    if first is not None and any(
        (each.path, each.classes, each.title) != (first.path, first.classes, first.title) for each in best
    ):
        return [], True
    return best, False


def file_fits(mention: ReportedTest, path: str) -> bool:
    """True if a report about a whole file names this one: by its path, or as a dotted module."""
    spelled = mention.file or mention.name
    if _as_file(spelled) is not None:
        return overlap(spelled.replace("\\", "/"), path) > 0
    said = _parts(spelled)
    return bool(said) and _common(said, _place(path)) in (len(said), len(_place(path)))


def overlap(reported: str, path: str) -> int:
    """The number of parts that two paths share at the end, if one ends with the other; else 0."""
    one, other = _segments(reported), _segments(path)
    shared = _common(one, other)
    return shared if shared == min(len(one), len(other)) else 0


class _Said:
    """Place of a test, as a report gives it."""

    def __init__(self, mention: ReportedTest, name: str) -> None:
        self._line = mention.line
        self._inside = _prefix(mention.name, name)
        """Modules or groups that the name itself begins with."""
        repeats = plain(mention.name).startswith(plain(mention.classname))
        classname = "" if repeats else mention.classname
        in_class = _as_file(classname)
        self._file = mention.file.replace("\\", "/") or in_class or ""
        self._classes = (*(() if in_class else _parts(classname)), *self._inside)

    def rank(self, test: TestCandidate) -> Rank | None:
        """The rank of a test by its fit to the report; None if the report contradicts it."""
        ending = test.path.rpartition(".")[2]
        place, shared, classes = self._place(test, ending)
        if not place:
            return None
        line = int(bool(self._line) and test.line <= self._line <= test.end_line)
        return place, shared, int(classes), line

    def _place(self, test: TestCandidate, ending: str) -> tuple[int, int, bool]:
        """Kind of match of the place (0 if contradicted), number of matching parts, and whether the classes agree."""
        if self._file:
            shared = overlap(self._file, test.path)
            return (IN_FILE if shared else 0), shared, self._ends_with(test.classes)
        if not self._classes:
            return BY_NAME, 0, not test.classes
        shared, inner = self._module(test.path)
        if shared:
            own = test.classes
            if own and ending != "py" and own[0] == _place(test.path)[-1]:
                own = own[1:]
            return IN_FILE, shared, inner == own
        if ending == "go":
            folders = _place(test.path)[:-1]
            shared = _common(self._classes, folders)
            return (IN_CLASS if shared in (len(folders), len(self._classes)) else 0), shared, True
        shared = _common(self._classes, test.classes)
        if ending in _STRICT:
            return (IN_CLASS if shared and shared == len(self._classes) else 0), shared, True
        if shared:
            return IN_CLASS, shared, shared == len(test.classes)
        return (0 if self._inside and test.classes else BY_NAME), 0, False

    def _ends_with(self, classes: tuple[str, ...]) -> bool:
        return self._classes[len(self._classes) - len(classes) :] == classes if classes else not self._inside

    def _module(self, path: str) -> tuple[int, tuple[str, ...]]:
        """Number of parts of a dotted name that are the path of the file, and the classes that follow."""
        place = _place(path)
        for index in range(len(self._classes) - 1, -1, -1):
            if self._classes[index] == place[-1]:
                shared = _common(self._classes[: index + 1], place)
                if shared in (index + 1, len(place)):
                    return shared, self._classes[index + 1 :]
        return 0, ()


def _prefix(written: str, name: str) -> tuple[str, ...]:
    """Parts of the written name before the looked-up name."""
    whole = plain(_ARGUMENTS.sub("", written))
    before = whole.removesuffix(name)
    if before == whole or not before:
        return ()
    for separator in _SEPARATORS:
        if separator in written:
            return tuple(part.strip() for part in _ARGUMENTS.sub("", written).split(separator)[:-1])
    return ()


@lru_cache(maxsize=4_096)
def _as_file(text: str) -> str | None:
    """The text as the path of a source file, where it is one and no dotted name."""
    spelled = text.replace("\\", "/")
    ending = spelled.rpartition(".")[2]
    if not spelled or " " in spelled or family_for(spelled) is None:
        return None
    return spelled if "/" in spelled or ending in _SCRIPTS else None


@lru_cache(maxsize=4_096)
def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in _PARTS.split(name.strip()) if part)


@lru_cache(maxsize=4_096)
def _segments(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part not in ("", "."))


@lru_cache(maxsize=4_096)
def _place(path: str) -> tuple[str, ...]:
    """The parts by which a dotted name spells a path: its folders, and the file's name without any ending."""
    *folders, name = _segments(path) or ("",)
    return (*folders, name.partition(".")[0])


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Number of parts that two names share, counted from their ends."""
    shared = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        shared += 1
    return shared


def anchors_of_test(test: TestCandidate) -> tuple[str, ...]:
    """Parts of a test's place. A report that tells the test from others of its name has at least one of them."""
    place = _place(test.path)
    return (_segments(test.path)[-1], *place[-2:], *test.classes[-1:])


def anchors_of_mention(mention: ReportedTest) -> tuple[str, ...]:
    inside = _PARTS.split(_ARGUMENTS.sub("", mention.name))[:-1]
    return (*_segments(mention.file.replace("\\", "/"))[-1:], *_parts(mention.classname), *inside)


_MANY = 32
"""So many tests of one name are sorted by place before any is compared."""
_TOO_MANY = 256
"""So many tests of one name in one place are not compared: nothing that a report says could tell them apart."""


class TestIndex:
    __test__ = False  # keeps pytest from collecting the class itself

    def __init__(self, tests: Iterable[Node]) -> None:
        self._by_name: Inverted[str, str, TestCandidate] = Inverted()
        self._names: dict[str, tuple[str, ...]] = {}
        """Of each test: the names it is filed under."""
        self._by_place: dict[str, dict[str, list[TestCandidate]]] = {}
        """Names that very many tests have, with those tests by the parts of their places."""
        for node in tests:
            self.note(node.id, node)

    def note(self, id: str, node: Node | None) -> tuple[str, ...]:
        """Note a test as it is now; returns its names if it came or went."""
        if node is None or node.kind is not NodeKind.TEST or "function" not in node.fields:
            names = self._names.pop(id, ())
            self._by_name.remove(id, names)
            for name in names:
                self._by_place.pop(name, None)
            return names
        names = names_of_test(node)
        known = subject(node)
        self._by_name.add(id, dict.fromkeys(names, known))
        for name in names:
            self._by_place.pop(name, None)
        is_new = id not in self._names
        self._names[id] = names
        return names if is_new else ()

    def find(self, mention: ReportedTest) -> tuple[list[str], bool]:
        """The ids of the tests that a report means, and whether it may mean others as well."""
        several = False
        for name in names_of_mention(mention):
            for candidates in self._candidates(mention, name):
                if len(candidates) > _TOO_MANY:
                    several = True
                    break
                found, ambiguous = choose(mention, name, candidates)
                if found:
                    return sorted(each.id for each in found), False
                several = several or ambiguous
        return [], several

    def files(self) -> list[str]:
        """The files that hold tests."""
        return sorted({each.path for _, filed in self._by_name.items() for each in filed.values()})

    def _candidates(self, mention: ReportedTest, name: str) -> Iterator[Collection[TestCandidate]]:
        """Tests with the name. If they are many, only those that share a part of their place with the report, beginning
        with the rarest part."""
        filed = self._by_name.holders(name)
        if not filed:
            return
        if len(filed) <= _MANY:
            yield filed.values()
            return
        places = self._by_place.get(name)
        if places is None:
            places = self._by_place[name] = {}
            for each in filed.values():
                for anchor in anchors_of_test(each):
                    places.setdefault(anchor, []).append(each)
        near = (places.get(anchor, []) for anchor in anchors_of_mention(mention))
        yield from sorted((candidates for candidates in near if candidates), key=len)
