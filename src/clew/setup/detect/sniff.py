"""Classification of a file by its name and its beginning."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

LANGUAGES = {
    "Python": "py pyi",
    "JavaScript": "js jsx mjs cjs",
    "TypeScript": "ts tsx mts cts",
    "Java": "java",
    "Kotlin": "kt kts",
    "Scala": "scala",
    "C": "c h",
    "C++": "cc cpp cxx hpp hh",
    "C#": "cs",
    "Go": "go",
    "Rust": "rs",
    "Ruby": "rb",
    "PHP": "php",
    "Swift": "swift",
    "Dart": "dart",
    "Elixir": "ex exs",
    "Haskell": "hs",
    "Lua": "lua",
    "Shell": "sh bash",
    "SQL": "sql",
    "Terraform": "tf",
}
_BY_SUFFIX = {f".{suffix}": name for name, suffixes in LANGUAGES.items() for suffix in suffixes.split()}

PAGES = frozenset((".md", ".mdx", ".rst", ".adoc"))

_TEST_NAME = re.compile(
    r"test_.*\.py|.*_test\.(?:py|go|rb|dart|c|cc|cpp|exs)|.*\.(?:test|spec)\.[cm]?[jt]sx?|.*_spec\.rb"
    r"|.*Tests?\.(?:java|kt|cs|swift|scala)"
)
_REQUIREMENT = re.compile(r"#{1,6}[ \t]+([A-Za-z][A-Za-z0-9_]*)-([A-Za-z0-9-]+):[ \t]+\S")
_LEVELLED = re.compile(r"[a-z]\d+")
_JOURNEY = re.compile(r"#{1,6}[ \t]+JNY-[A-Za-z0-9][A-Za-z0-9-]*-\d+:[ \t]+\S")
_END = re.compile(r"\*End\*[ \t]+\*[^*]+\*")
_REGISTER = re.compile(rb'"_format"\s*:\s*"(req-v[0-9A-Za-z-]+)"')
_JUNIT = re.compile(rb"<testsuites?[\s/>]")
_COVERAGE_XML = re.compile(rb"<coverage\s[^>]*line-rate=")


def language(path: PurePosixPath) -> str | None:
    """The programming language, by suffix."""
    return _BY_SUFFIX.get(path.suffix.lower())


def is_test_name(name: str) -> bool:
    return _TEST_NAME.fullmatch(name) is not None


def requirement_namespaces(text: str) -> list[str]:
    """The namespace of every requirement heading, in order.

    A heading such as `## ADR-0004: Title` looks like a requirement and is none. It counts only where the number follows
    a level letter, as in REQ-p00001, or where the file closes its blocks the way requirements are closed.
    """
    lines = list(_outside_fences(text))
    closes = any(_END.match(line) for line in lines)
    found = []
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match and match[1] != "JNY" and (closes or _LEVELLED.fullmatch(match[2])):
            found.append(match[1])
    return found


def journeys(text: str) -> int:
    return sum(1 for line in _outside_fences(text) if _JOURNEY.match(line))


def register_format(data: bytes) -> str | None:
    """The format tag of a requirement register."""
    match = _REGISTER.search(data)
    return match[1].decode() if match else None


def may_be_result(name: str) -> bool:
    """True if a file of this name may hold results of tests, and is worth reading."""
    lower = name.lower()
    if lower.endswith(".json"):
        return any(word in lower for word in ("test", "report", "result", "coverage"))
    return lower.endswith(".xml") or lower in ("lcov.info", "coverage.lcov", ".coverage")


def result_kind(name: str, data: bytes) -> str | None:
    """junit, pytest-json, coverage-json or lcov; coverage for reports on executed lines that Clew does not read."""
    lower = name.lower()
    if lower.endswith(".xml"):
        if _JUNIT.search(data):
            return "junit"
        return "coverage" if _COVERAGE_XML.search(data) else None
    if lower.endswith(".json"):
        if b'"nodeid"' in data:
            return "pytest-json"
        return "coverage-json" if b'"executed_lines"' in data else None
    if data.startswith((b"TN:", b"SF:")):
        return "lcov"
    return "coverage" if data.startswith(b"SQLite format 3\0") else None


def _outside_fences(text: str) -> Iterator[str]:
    """Lines of markdown that are not inside a fenced block. Three backticks toggle, whatever follows them."""
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield line
