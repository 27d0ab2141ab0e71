"""The grammars of languages, each in a package of its own that may not be there."""

from functools import cache
from importlib import import_module
from typing import Any

_GRAMMARS = {
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "javascript": ("tree_sitter_javascript", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "rust": ("tree_sitter_rust", "language"),
}
_MOST_STEPS = 400
"""How often the parser may report for each kilobyte of a file. One that needs more is not what its ending says."""
_MOST_AT_FIRST = 20_000


class ParsingEnded(ValueError):
    """A file that takes more steps to parse than any program of its length."""


@cache
def grammar(name: str) -> Any:
    """A grammar by its name; None where its package, or the parser, is not installed."""
    package, function = _GRAMMARS[name]
    try:
        from tree_sitter import Language

        return Language(getattr(import_module(package), function)())
    except (ImportError, AttributeError, ValueError, OSError):
        return None


def package_of_grammar(name: str) -> str:
    """The package that a grammar is in, as it is installed."""
    return _GRAMMARS[name][0].replace("_", "-")


def parsed(source: bytes, name: str) -> Any:
    """The root of the tree of a source. ParsingEnded where parsing takes more steps than any program of
    this length."""
    from tree_sitter import Parser

    left = _MOST_AT_FIRST + _MOST_STEPS * (len(source) >> 10)

    def go_on(*_: object) -> bool:
        """True stops the parser."""
        nonlocal left
        left -= 1
        return left < 0

    try:
        tree = Parser(grammar(name)).parse(lambda offset, _: source[offset : offset + 65_536], progress_callback=go_on)
    except ValueError as error:
        # How the binding says that the parser was stopped.
        raise ParsingEnded("parsing it takes too long") from error
    return tree.root_node
