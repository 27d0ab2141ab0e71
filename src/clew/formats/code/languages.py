"""Comments and strings of programming languages: one pattern for each family of languages.

A pattern finds the next comment or string. Every alternative begins with a literal character, so that the search
skips other text at the speed of the regular expression engine, and none can fail after more than a few characters,
so that scanning is linear even in files that close nothing. Where a mark does not always mean what it says (`#` in
`$#`), or where more than a pattern is needed to find its end (a comment inside a comment), the pattern finds the mark
alone, and `comment_marks` decides.
"""

import functools
import re

import msgspec

LINE, BLOCK, DOCSTRING, STRING = "line", "block", "docstring", "string"

# The first letter of a group's name tells what was found; the letters of marks tell what has to be decided about them.
AFTER_BLANK, NOT_IN_ADDRESS, FIRST_ON_LINE, NO_OPERATOR = "g", "u", "v", "o"
NESTED, RUBY_BLOCK, PERL_POD = "n", "c", "s"
WORD_QUOTE, LITERAL_QUOTE, SHELL_QUOTE, TEMPLATE, REGEX_LITERAL = "q", "y", "w", "j", "r"
HEREDOC, TIGHT_HEREDOC, PHP_HEREDOC = "d", "e", "p"
ESCAPED = "k"
"""Neither comment nor string: a quote or mark that is ordinary text."""
_KINDS = dict.fromkeys(("l", AFTER_BLANK, NOT_IN_ADDRESS, FIRST_ON_LINE, NO_OPERATOR), LINE)
_KINDS |= dict.fromkeys(("b", NESTED, RUBY_BLOCK, PERL_POD), BLOCK)


class Family(msgspec.Struct, frozen=True):
    """Languages that spell comments and strings alike."""

    name: str
    source: str
    """The pattern's source: most projects need few of the patterns, so none is compiled before it is used."""
    blocks: str
    """Sign of a function's extent: `indent`, `braces`, or empty if functions are not searched."""
    opening: str = ""
    """Beginning of the code in files that may begin with something else."""

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.source)

    def kind(self, letter: str) -> str:
        return _KINDS.get(letter, STRING)


@functools.cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _mark(mark: str, decision: str) -> str:
    return f"{re.escape(mark)}(?P<{decision}%d>)"


def _line(mark: str) -> str:
    return f"{re.escape(mark)}(?P<l%d>[^\\n]*+)"


def _until(close: str) -> str:
    """Everything up to a closing mark, or to the end of the file where there is none."""
    first, rest = re.escape(close[0]), re.escape(close[1:])
    other = f"[^{first}]*+"
    return f"{other}(?:{first}(?!{rest}){other})*+" if rest else other


def _block(opening: str, close: str, group: str = "b") -> str:
    return f"{re.escape(opening)}(?P<{group}%d>{_until(close)})(?:{re.escape(close)}|\\Z)"


def _string(quote: str, *, multiline: bool = False, group: str = "") -> str:
    """A string with backslash escapes; on one line it ends there at the latest, closed or not."""
    inner = f"[^{quote}\\\\{'' if multiline else chr(92) + 'n'}]*+"
    body = f"{inner}(?:\\\\[\\s\\S]{inner})*+"
    return f"{quote}{f'(?P<{group}%d>{body})' if group else body}{quote}?+"


def _literal(quote: str) -> str:
    """A string without escapes, on one line."""
    return f"{quote}[^{quote}\\n]*+{quote}?+"


def _triple(quote: str, group: str = "") -> str:
    inner = f"[^{quote}\\\\]*+"
    body = f"{inner}(?:(?:\\\\[\\s\\S]|{quote}(?!{quote}{quote})){inner})*+"
    captured = f"(?P<{group}%d>{body})" if group else body
    return f"{quote * 3}{captured}(?:{quote * 3}|\\\\?\\Z)"


def _raw_triple(quote: str) -> str:
    return _block(quote * 3, quote * 3, "x")


_CHARACTER = r"'(?:\\[^\n][^'\n]{0,10}|[^'\\\n])'"
_SINGLE, _DOUBLE = _string("'"), _string('"')
_LONG_SINGLE, _LONG_DOUBLE = _string("'", multiline=True), _string('"', multiline=True)
_WORD_SINGLE, _WORD_DOUBLE = _mark("'", WORD_QUOTE), _mark('"', WORD_QUOTE)
_QUOTED_NAME = _literal("`")
_SLASH_BLOCK = _block("/*", "*/")
_SLASHES, _NESTED_SLASHES = (_line("//"), _SLASH_BLOCK), (_line("//"), _mark("/*", NESTED))
_HASH, _WORD_HASH = _line("#"), _mark("#", AFTER_BLANK)
_BACKSLASHED = f"\\\\(?P<{ESCAPED}%d>[\\s\\S]?+)"
_REGEX = f"/(?![*/\\s])(?P<{REGEX_LITERAL}%d>)"
_RAW_CPP = r'R"(?P<x%d>[^()\\\s"]{0,16})\([\s\S]*?(?:\)(?P=x%d)"|\Z)'
_RAW_RUST = r'r(?P<x%d>#{0,8})"[\s\S]*?(?:"(?P=x%d)|\Z)'
_RAW_R = tuple(rf'{letter}"(?P<x%d>-{{0,8}})\([\s\S]*?(?:\)(?P=x%d)"|\Z)' for letter in "rR")
_VERBATIM_CSHARP = r'@\$?"[^"]*+(?:""[^"]*+)*+"?+'
_LONG_LUA = r"--\[(?P<x%d>={0,8})\[(?P<b%d>[\s\S]*?)(?:\](?P=x%d)\]|\Z)"
_STRING_LUA = r"\[(?P<x%d>={0,8})\[[\s\S]*?(?:\](?P=x%d)\]|\Z)"
_STRING_NIX = r"''[^']*+(?:(?:'(?!')|''['$\\])[^']*+)*+(?:''|\Z)"
_STRING_ZIG = r"\\\\[^\n]*+"
_CHARACTER_ERLANG = rf"\$(?P<{ESCAPED}%d>\\?[\s\S]?)"
# A line comment of PHP ends where its code ends; an attribute is no comment.
_LINES_PHP = tuple(rf"{mark}(?P<l%d>[^\n?]*+(?:\?(?!>)[^\n?]*+)*+)" for mark in ("//", r"\#(?!\[)"))
_REMARKS_BATCH = tuple(rf"{at}(?i:REM)(?=[ \t])(?P<{FIRST_ON_LINE}%d>)" for at in ("", "@"))
_COLUMN_FORTRAN = rf"[Cc*](?=[ \t*])(?P<{FIRST_ON_LINE}%d>)"
_COMMENT_RST = rf"\.\.(?=[ \t])(?P<{FIRST_ON_LINE}%d>)"
_MARKUP = _block("<!--", "-->")
_PAGE_PHP = r"\?>[^<]*+(?:<(?!\?)[^<]*+)*+(?:<\?|\Z)"
"""Text between two stretches of code."""


def _family(name: str, blocks: str, *pieces: str, opening: str = "") -> Family:
    numbered = (piece.replace("%d", str(number)) for number, piece in enumerate(pieces))
    return Family(name, "|".join(numbered), blocks, opening)


_FAMILIES = (
    _family(
        "python",
        "indent",
        _HASH,
        _triple('"', "t"),
        _triple("'", "t"),
        _string('"', group="t"),
        _string("'", group="t"),
    ),
    _family("script", "braces", *_SLASHES, _DOUBLE, _SINGLE, _mark("`", TEMPLATE), _REGEX),
    _family("dart", "braces", *_NESTED_SLASHES, _triple('"'), _triple("'"), _DOUBLE, _SINGLE),
    _family("groovy", "braces", *_SLASHES, _triple('"'), _triple("'"), _DOUBLE, _SINGLE),
    _family("c", "braces", *_SLASHES, _RAW_CPP, _DOUBLE, _CHARACTER),
    _family("zig", "braces", _line("//"), _STRING_ZIG, _DOUBLE, _CHARACTER),
    _family("java", "braces", *_SLASHES, _triple('"'), _DOUBLE, _CHARACTER),
    _family("csharp", "braces", *_SLASHES, _VERBATIM_CSHARP, _raw_triple('"'), _DOUBLE, _CHARACTER),
    _family("kotlin", "braces", *_NESTED_SLASHES, _raw_triple('"'), _DOUBLE, _CHARACTER, _QUOTED_NAME),
    _family("swift", "braces", *_NESTED_SLASHES, _triple('"'), _DOUBLE, _QUOTED_NAME),
    _family("go", "braces", *_SLASHES, _DOUBLE, "`[^`]*+`?+", _CHARACTER),
    _family("rust", "braces", *_NESTED_SLASHES, _RAW_RUST, _LONG_DOUBLE, _CHARACTER),
    _family(
        "php",
        "braces",
        *_LINES_PHP,
        _SLASH_BLOCK,
        _LONG_DOUBLE,
        _LONG_SINGLE,
        _mark("<<<", PHP_HEREDOC),
        _PAGE_PHP,
        opening="<?",
    ),
    _family("css", "", _SLASH_BLOCK, _DOUBLE, _SINGLE),
    _family("style", "", _SLASH_BLOCK, _mark("//", NOT_IN_ADDRESS), _DOUBLE, _SINGLE),
    _family(
        "shell",
        "braces",
        _BACKSLASHED,
        _mark("<<<", ESCAPED),
        _mark("<<", HEREDOC),
        _WORD_HASH,
        _mark('"', SHELL_QUOTE),
        _mark("'", SHELL_QUOTE),
    ),
    _family("data", "", _WORD_HASH, _WORD_DOUBLE, _WORD_SINGLE),
    _family("yaml", "", _WORD_HASH, _WORD_DOUBLE, _mark("'", LITERAL_QUOTE)),
    _family("toml", "", _HASH, _triple('"'), _raw_triple("'"), _DOUBLE, _literal("'")),
    _family("r", "braces", _HASH, *_RAW_R, _LONG_DOUBLE, _LONG_SINGLE),
    _family("nix", "", _HASH, _SLASH_BLOCK, _STRING_NIX, _LONG_DOUBLE),
    _family("config", "", _mark(";", FIRST_ON_LINE), _mark("#", FIRST_ON_LINE)),
    _family(
        "ruby",
        "indent",
        _mark("=begin", RUBY_BLOCK),
        _mark("<<", TIGHT_HEREDOC),
        _WORD_HASH,
        _WORD_DOUBLE,
        _WORD_SINGLE,
    ),
    _family(
        "perl",
        "braces",
        f"=(?=[a-z])(?P<{PERL_POD}%d>)",
        _mark("<<", TIGHT_HEREDOC),
        _WORD_HASH,
        _WORD_DOUBLE,
        _WORD_SINGLE,
    ),
    _family("elixir", "indent", _triple('"'), _WORD_HASH, _DOUBLE, _WORD_SINGLE),
    _family("julia", "indent", _mark("#=", NESTED), _HASH, _triple('"'), _DOUBLE),
    _family("nim", "indent", _mark("#[", NESTED), _HASH, _triple('"'), _DOUBLE),
    _family(
        "powershell",
        "braces",
        _block("<#", "#>"),
        _WORD_HASH,
        _block('@"', '"@', "x"),
        _block("@'", "'@", "x"),
        _WORD_DOUBLE,
        _WORD_SINGLE,
    ),
    _family("terraform", "braces", *_SLASHES, _mark("<<", HEREDOC), _WORD_HASH, _DOUBLE),
    _family("template", "", _block("{#", "#}"), _WORD_HASH, _WORD_DOUBLE, _WORD_SINGLE),
    _family("sql", "", _line("--"), _SLASH_BLOCK, "'[^']*+'?+", _literal('"')),
    _family("lua", "indent", _LONG_LUA, _line("--"), _STRING_LUA, _DOUBLE, _SINGLE),
    _family("haskell", "", _mark("--", NO_OPERATOR), _mark("{-", NESTED), _DOUBLE, _CHARACTER),
    _family("dashes", "", _line("--"), _DOUBLE),
    _family("lisp", "", _mark("#|", NESTED), _line(";"), _LONG_DOUBLE, _BACKSLASHED),
    _family("tex", "", _line("%"), _BACKSLASHED),
    _family("erlang", "", _line("%"), _CHARACTER_ERLANG, _DOUBLE, _SINGLE),
    _family("prolog", "", _line("%"), _SLASH_BLOCK, _DOUBLE, _SINGLE),
    _family("fortran", "", _line("!"), _DOUBLE, _SINGLE),
    _family("vim", "", _mark('"', FIRST_ON_LINE)),
    _family("basic", "", _line("'"), _literal('"')),
    _family("ml", "", _mark("(*", NESTED), _DOUBLE, _CHARACTER),
    _family("fsharp", "", _line("//"), f"\\(\\*(?!\\))(?P<{NESTED}%d>)", _triple('"'), _DOUBLE, _CHARACTER),
    _family("pascal", "", _line("//"), _block("{", "}"), _block("(*", "*)"), _literal("'")),
    _family("markup", "", _MARKUP),
    _family(
        "component",
        "",
        _MARKUP,
        _mark("//", NOT_IN_ADDRESS),
        _SLASH_BLOCK,
        _WORD_DOUBLE,
        _WORD_SINGLE,
        _mark("`", TEMPLATE),
    ),
    _family("handlebars", "", _block("{{!--", "--}}"), _block("{{!", "}}"), _MARKUP),
    _family("embedded", "", _block("<%#", "%>"), _block("<%--", "--%>"), _MARKUP),
    _family("liquid", "", _block("{% comment %}", "{% endcomment %}"), _block("{# ", "#}"), _MARKUP),
    _family("razor", "", _block("@*", "*@"), _MARKUP, _mark("//", NOT_IN_ADDRESS), _SLASH_BLOCK),
    _family("restructured", "", _COMMENT_RST),
    _family("batch", "", _mark("::", FIRST_ON_LINE), *_REMARKS_BATCH),
    _family(
        "assembly",
        "",
        _line(";"),
        _line("//"),
        _SLASH_BLOCK,
        _mark("#", FIRST_ON_LINE),
        _mark("@", FIRST_ON_LINE),
        _DOUBLE,
    ),
    _family("fixed_fortran", "", _line("!"), _COLUMN_FORTRAN, _DOUBLE, _SINGLE),
    _family("abap", "", _mark("*", FIRST_ON_LINE), _line('"'), _literal("'"), _literal("`")),
    _family("cobol", "", _line("*>"), _mark("*", FIRST_ON_LINE), _literal("'"), _literal('"')),
    _family("statistics", "", _SLASH_BLOCK, _line("//"), _mark("*", FIRST_ON_LINE), _literal("'"), _literal('"')),
)
FAMILIES = {family.name: family for family in _FAMILIES}

_ENDINGS = {
    "python": "py pyi pyx pxd bzl star gd",
    "script": "js jsx mjs cjs ts tsx mts cts",
    "dart": "dart",
    "groovy": "groovy gradle hx as jsonc json5 jsonnet libsonnet",
    "c": """
        c h cc cpp cxx hpp hh hxx ipp tpp inl m mm ino cu cuh glsl vert frag comp geom hlsl wgsl metal proto thrift sol
        v vh sv svh d vala bicep cue apex
    """,
    "zig": "zig",
    "java": "java",
    "csharp": "cs",
    "kotlin": "kt kts scala sc",
    "swift": "swift",
    "go": "go",
    "rust": "rs",
    "php": "php",
    "css": "css",
    "style": "scss sass less styl pug jade",
    "shell": "sh bash zsh fish ksh bats",
    "data": "mk cmake properties conf tcl awk coffee robot feature rego",
    "yaml": "yml yaml",
    "toml": "toml graphql gql",
    "r": "r",
    "nix": "nix",
    "config": "ini cfg reg",
    "ruby": "rb rake gemspec cr",
    "perl": "pl pm t",
    "elixir": "ex exs",
    "julia": "jl",
    "nim": "nim",
    "powershell": "ps1 psm1",
    "terraform": "tf tfvars hcl",
    "template": "j2 jinja jinja2 twig njk",
    "sql": "sql",
    "lua": "lua",
    "haskell": "hs elm purs dhall idr agda",
    "dashes": "ada adb ads vhd vhdl",
    "lisp": "lisp lsp el clj cljs cljc edn fnl scm rkt",
    "tex": "tex sty cls",
    "erlang": "erl hrl",
    "prolog": "pro",
    "fortran": "f90 f95 f03 f08",
    "vim": "vim",
    "basic": "vb vbs bas",
    "ml": "ml mli sml",
    "fsharp": "fs fsi fsx st",
    "pascal": "pas pp dpr",
    "markup": "html htm xml xhtml svg md markdown xsl xslt",
    "component": "vue svelte astro mdx",
    "handlebars": "hbs handlebars mustache",
    "embedded": "erb ejs eex heex leex jsp aspx",
    "liquid": "liquid",
    "razor": "cshtml razor",
    "restructured": "rst",
    "batch": "bat cmd",
    "assembly": "asm nasm s",
    "fixed_fortran": "f for f77 ftn",
    "abap": "abap",
    "cobol": "cob cbl cpy",
    "statistics": "sas do ado",
}
_BY_ENDING = {ending: FAMILIES[name] for name, endings in _ENDINGS.items() for ending in endings.split()}

_NAMES = {
    "python": "SConstruct SConscript BUILD WORKSPACE",
    "data": "Makefile makefile GNUmakefile Dockerfile Containerfile CMakeLists.txt .gitignore .env justfile Justfile",
    "ruby": "Rakefile Gemfile Vagrantfile",
    "groovy": "Jenkinsfile",
}
_BY_NAME = {name: FAMILIES[family] for family, names in _NAMES.items() for name in names.split()}


_TEMPLATES = FAMILIES["template"]
_MARKED_UP = frozenset({"markup", "component"})


@functools.cache
def _template_of(inner: Family) -> Family:
    """The family of a template that makes files of another family: it has the comments of both."""
    # A page holds scripts and styles, whose comments count as they do in a component.
    if inner.name in _MARKED_UP:
        inner = FAMILIES["component"]
    comment = _block("{#", "#}", "bt").replace("%d", "")
    return Family(f"template of {inner.name}", f"{comment}|{inner.source}", "", inner.opening)


def family_for(path: str) -> Family | None:
    """The family of a file, by its name; None where nothing is known of its comments. A template, such as page.html.j2,
    is read by the ending before its own."""
    name = path.replace("\\", "/").rpartition("/")[2]
    family = _family_of_name(name)
    if family is _TEMPLATES and "." in (stem := name.rpartition(".")[0]):
        inner = _family_of_name(stem)
        return _template_of(inner) if inner is not None and inner is not _TEMPLATES else family
    return family


def _family_of_name(name: str) -> Family | None:
    found = _BY_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2].lower() if "." in name else "")
    if found is None and name.startswith(("Dockerfile.", "Makefile.")):
        return FAMILIES["data"]
    return found


def source_patterns() -> tuple[str, ...]:
    """Name patterns of files whose functions and classes can be found."""
    families = (name for name in _ENDINGS if FAMILIES[name].blocks or name == "component")
    endings = (ending for name in families for ending in _ENDINGS[name].split())
    return tuple(f"*.{ending}" for ending in endings if ending not in _DATA)


_DATA = frozenset({"jsonc", "json5", "jsonnet", "libsonnet", "tf", "tfvars", "hcl", "t"})
"""Endings of files that look like code and hold none, or that mean several things."""
