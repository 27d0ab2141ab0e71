"""Heads before an opening brace, and the definitions in them.

A head comes without what its brackets hold: `function f({a, b}, c): {d: T} {` is `function f(): {}`.
"""

import re
import string

import msgspec

from clew.formats.code.definitions.model import CLASS, FUNCTION, INSIDE

_KEYWORD_ONLY = frozenset({"go", "rust", "kotlin", "swift", "php", "perl", "powershell", "r", "zig", "terraform"})
"""Families whose functions begin with a keyword, so that `name(...) {` is something else."""
_FREE_STANDING = frozenset({"c", "java", "csharp", "script"})
"""Families without functions inside functions, other than those with a keyword."""
_LINE_ENDS = frozenset({"script", "go", "kotlin", "swift", "groovy", "shell", "powershell", "terraform", "r"})
"""Families in which a statement may end without a semicolon."""

_DATA_FOLLOWS = frozenset("(,[?<&:=")
_DATA_FOLLOWS_WORD = re.compile(r"(?<![\w.$])(?:return|default|yield)\Z")
_SIGNATURE_TYPE = re.compile(r"\b(?:interface|struct|enum|union)\s*\Z")
_NAMED_TYPE = re.compile(r"\btype\s+\w+(?:\[[^\]\n]*\])?\s+(?:interface|struct)\s*\Z")
_INITIALISERS = re.compile(r"\)\s*(?:noexcept(?:\(\))?\s*)?:(?!:)")
_INITIALISER = re.compile(r"[,:]\s*[A-Za-z_][\w:<>]*\Z")

_TEST_MACRO = re.compile(
    r"\b((?:TYPED_)?TEST(?:_F|_P)?|TEST_CASE(?:_METHOD)?|SCENARIO|BOOST_AUTO_TEST_CASE)\s*\(\)\s*\Z"
)
_TEST_STRING = re.compile(r"(?<![\w.])@?test\s+(\"+)\s*\Z")
_NAMED_FUNCTION = re.compile(
    r"\b(?:(?:function\b\s*\*?|fn\b|fun\b|func\b(?:\s*\(\))?)\s*(?:<[^()]*>\s*)?(?:[A-Za-z_$][\w$<>?]*\.)?"
    r"(\"+|[A-Za-z_$][\w$]*)\s*(?:<[^()]*>|\[[^()]*\])?\s*\(\)"
    r"|def\s+(?:[A-Za-z_$][\w$<>]*\s+)?(\"+|[A-Za-z_$][\w$]*)\s*(?:\[[^()]*\])?\s*(?:\(\)|(?=[:=])))"
)
_MESSAGE = re.compile(r"^[ \t]*[-+][ \t]*\(\)[ \t]*(\w+)(?:[ \t]*:[^;]*)?\Z", re.MULTILINE)
"""A method of Objective-C."""
_SUBROUTINE = re.compile(r"\b(?:function|sub|filter)\s+([A-Za-z_][\w:-]*)\s*(?:\(\))?\s*\Z")
_CONSTRUCTOR = re.compile(r"\b(init|constructor|deinit)\b\s*[?!]?\s*(?:\(\))?[^\n=]*\Z")
_CLASS_HEAD = re.compile(
    r"\b(?:class|object|record|trait|interface)\s+(?!extends\b|implements\b)([A-Za-z_$][\w$]*+)(?!\s*[>,=])"
    r"(?:\s*<[^()]*>)?[^=]*\Z"
)
_TYPE_HEAD = re.compile(
    r"\b(?:type|struct|enum|extension|mixin|namespace|module|mod|union|protocol|actor|contract|library|service|message)"
    r"\s+([A-Za-z_$][\w$]*)[^()=]*\Z"
)
_IMPL_HEAD = re.compile(r"\bimpl\b([^=]*)\Z")
_ASSIGNED_FUNCTION = re.compile(
    r"(?<![\w$])([A-Za-z_$][\w$]*)\s*(?:(?::[^=\n]*)?=|:|<-)\s*(?:async\b\s*)?"
    r"(?:function\b\s*\*?\s*(?:\(\))?|(?:<[^()]*>\s*)?(?:\(\)|[\w$]+)\s*(?::[^=]*)?=>)\s*\Z"
)
_PLAIN_FUNCTION = re.compile(
    r"(?<![\w$])(operator\s*[^\s\w()]{1,3}|[A-Za-z_~$][\w$]*)\s*(?:<[^<>()]*>\s*)?\(\)"
    r"(?:\s*(?:const|noexcept|override|final|async|sync|mutable|volatile|[*&]))*"
    r"\s*(?:(?:throws\b|requires\b|where\b|->|:)[^;]*)?\Z"
)
_CONTROL = frozenset(
    {"if", "for", "while", "switch", "catch", "return", "else", "do", "try", "synchronized", "function", "new"}
)
_CONTROL_OF = {"csharp": frozenset({"using", "lock", "foreach", "fixed"}), "script": frozenset({"with"})}
_BEFORE_VALUES = _CONTROL | {"throw", "case", "await", "yield", "in", "of"}
_TEST_ATTRIBUTE = re.compile(
    r"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory)\b"
    r"|\[(?:\w+::)*(?:test|rstest|test_case|wasm_bindgen_test|quickcheck|proptest)\b"
    r"|[\[,]\s*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod)\b"
)
_CONTINUATION = r"[-:=>.,?&|+#\x01]|where\b|extends\b|implements\b|with\b|throws\b|\Z"
_GOES_ON = re.compile(rf"[^\n]*+(?:(?:(?<=,)\n|(?<=, )\n|\n\s*+(?:{_CONTINUATION}))[^\n]*+)*+")
"""One statement, over several lines only where a comma or the further one shows that it continues."""
_NO_HEAD = re.compile(r"#\s*[a-z]|<\?")
"""Lines for a preprocessor."""
_ATTRIBUTES = re.compile(r"(?:(?:@[\w.:]+(?:\(\))?|#?\[[^\]]*+\])\s*+)++")
_COMMENT_SIGNS = f"#{INSIDE}"
_PARAMETERS = re.compile(r"<[^<>]*>")
_WORD_SIGNS = string.ascii_letters + "_"


class Head:
    """Head of a brace: stretches of code, between which brackets close."""

    def __init__(self, text: str, code: str, pieces: list[tuple[int, int]]) -> None:
        self._text = text
        self._masked = code
        self._pieces = pieces
        self.code = "".join(code[start:end] for start, end in pieces)

    def offset(self, index: int) -> int:
        """Offset in the file of an index of the head."""
        for start, end in self._pieces:
            if index < end - start:
                return start + index
            index -= end - start
        return self._pieces[-1][1]

    def written(self, start: int, end: int) -> str:
        offset = self.offset(start)
        return self._text[offset : offset + end - start]

    def arguments(self) -> list[str]:
        """Arguments in the last brackets, strings without their quotes."""
        start, end = self._pieces[-2][1], self._pieces[-1][0]
        found = []
        for argument in self._masked[start:end].split(","):
            found.append(self._text[start : start + len(argument)].strip().strip('"'))
            start += len(argument) + 1
        return found


class DefinedNames(msgspec.Struct, frozen=True, gc=False):
    """Names that a head defines."""

    names: tuple[str, ...]
    kind: str
    index: int
    """Index in the head at which the definition begins; attributes and decorators may precede it."""
    is_test: bool = False
    stands_alone: bool = False
    """True if nothing that precedes it belongs to it."""


def is_data(head: Head, family: str) -> bool:
    """True if the brace opens a literal, a pattern or a type, after which the statement continues."""
    code = head.code.rstrip()
    if code[-1] in _DATA_FOLLOWS:
        if code[-1] == "=" and family == "kotlin":
            return _NAMED_FUNCTION.search(code) is None
        return code[-1] != "&" or family != "c"
    if _DATA_FOLLOWS_WORD.search(code) is not None:
        return True
    if _SIGNATURE_TYPE.search(code) is not None:
        return _NAMED_TYPE.search(code) is None
    return family == "c" and _INITIALISERS.search(code) is not None and _INITIALISER.search(code) is not None


def defined(head: Head, family: str, *, in_function: bool) -> DefinedNames | None:
    """The function or class that a block after a head defines; None if it is neither."""
    found = _marked_test(head, family)
    if found is None:
        function, other = _function(head, family), _class(head.code, family)
        if function is None or (other is not None and family in _LINE_ENDS and other.index > function.index):
            found = other
        else:
            found = function
    if found is None and (family not in _KEYWORD_ONLY or family == "r"):
        found = _unmarked(head.code, family, in_function=in_function)
    if found is None:
        return None
    begin = found.index if found.stands_alone else _beginning(head.code, found.index, family in _LINE_ENDS)
    is_test = found.is_test or (found.kind == FUNCTION and _TEST_ATTRIBUTE.search(head.code, begin) is not None)
    return DefinedNames(found.names, found.kind, begin, is_test)


def _marked_test(head: Head, family: str) -> DefinedNames | None:
    if family == "c" and (macro := _TEST_MACRO.search(head.code)):
        names = head.arguments()[: 1 if macro[1].endswith(("CASE", "SCENARIO")) else 2]
        return DefinedNames(tuple(filter(None, names)) or (macro[1],), FUNCTION, macro.start(), True)
    if family in ("shell", "zig") and (test := _TEST_STRING.search(head.code)):
        return DefinedNames((_quoted(head, test, 1),), FUNCTION, test.start(), True)
    return None


def _function(head: Head, family: str) -> DefinedNames | None:
    """A function with a keyword."""
    code = head.code
    if family == "c" and (message := _MESSAGE.search(code.rstrip())):
        return DefinedNames((message[1],), FUNCTION, message.start(1), message[1].startswith("test"), True)
    if plain := _SUBROUTINE.search(code):
        return DefinedNames((plain[1],), FUNCTION, plain.start(), plain[1].startswith(("test", "Test")))
    for named in reversed(list(_NAMED_FUNCTION.finditer(code))):
        if family not in _LINE_ENDS or _GOES_ON.fullmatch(code, named.end()):
            group = 1 if named[1] else 2
            name = named[group]
            is_test = name.startswith(("test", "Test")) or (group == 2 and name[0] == '"')
            return DefinedNames((_quoted(head, named, group),), FUNCTION, named.start(), is_test)
    if family in ("kotlin", "swift") and (special := _CONSTRUCTOR.search(code)):
        return DefinedNames((special[1],), FUNCTION, special.start())
    return None


def _class(code: str, family: str) -> DefinedNames | None:
    if family == "rust" and (block := _IMPL_HEAD.search(code)):
        return DefinedNames((_implementing(block[1]),), CLASS, block.start())
    last = None
    for pattern in (_CLASS_HEAD, _TYPE_HEAD):
        named = pattern.search(code)
        while named is not None:
            goes_on = family not in _LINE_ENDS or _GOES_ON.fullmatch(code, named.end(1)) is not None
            if goes_on and (last is None or named.start() > last.start()):
                last = named
            named = pattern.search(code, named.start() + 1)
    return DefinedNames((last[1],), CLASS, last.start()) if last is not None else None


def _implementing(rest: str) -> str:
    """The type that an `impl` block of Rust is about: the one after `for`, without its path and parameters."""
    rest = re.sub(r"\bwhere\b[\s\S]*", "", rest.replace("->", ""))
    while (shorter := _PARAMETERS.sub("", rest)) != rest:
        rest = shorter
    trait, *implementing = re.split(r"\bfor\b", rest, maxsplit=1)
    words = re.findall(r"\w+", "".join(implementing)) or re.findall(r"\w+", trait)
    return words[-1] if words else "impl"


def _unmarked(code: str, family: str, *, in_function: bool) -> DefinedNames | None:
    """A function that only its shape gives away."""
    if assigned := _ASSIGNED_FUNCTION.search(code):
        return DefinedNames((assigned[1],), FUNCTION, assigned.start())
    if family == "r" or (in_function and family in _FREE_STANDING):
        return None
    plain = _PLAIN_FUNCTION.search(code)
    while plain is not None and family in _LINE_ENDS and _GOES_ON.fullmatch(code, plain.end(1)) is None:
        plain = _PLAIN_FUNCTION.search(code, plain.start() + 1)
    if plain is None or plain[1] in _CONTROL or plain[1] in _CONTROL_OF.get(family, ()):
        return None
    before = code[code.rfind("\n", 0, plain.start()) + 1 : plain.start()].rstrip()
    if "=" in before or before.endswith((".", "!")) or _last_word(before) in _BEFORE_VALUES:
        return None
    return DefinedNames((plain[1],), FUNCTION, plain.start(), family == "shell" and plain[1].startswith("test"))


def _beginning(code: str, index: int, line_ends: bool) -> int:
    """Offset at which a definition begins: on the line at `index`, or with the attributes and comments directly above
    it."""
    begin = start = code.rfind("\n", 0, index) + 1
    for line in reversed(code[: max(0, start - 1)].split("\n") if start else []):
        start -= len(line) + 1
        stripped = line.strip()
        if not stripped or _NO_HEAD.match(stripped):
            break
        if not stripped.strip(_COMMENT_SIGNS):
            continue
        if line_ends and _ATTRIBUTES.fullmatch(stripped) is None:
            break
        begin = start
    return begin + len(code[begin:]) - len(code[begin:].lstrip())


def _last_word(text: str) -> str:
    return text[len(text.rstrip(_WORD_SIGNS)) :]


def _quoted(head: Head, match: re.Match[str], group: int) -> str:
    """A name, without the quotes around it."""
    name = match[group]
    return head.written(*match.span(group))[1:-1].strip() if name[0] == '"' else name
