"""How programming languages spell comments and strings: one pattern for each family of languages.

A pattern finds the next comment or string. Every alternative begins with a literal character, so that the search
skips other text at the speed of the regular expression engine, and none can fail after more than a few characters,
so that scanning is linear even in files that close nothing. Where a mark does not always mean what it says (`#` in
`$#`), the pattern finds the mark alone, and the scanner looks at what stands before it.
"""

import functools
import re

import msgspec

LINE, BLOCK, DOCSTRING, STRING = "line", "block", "docstring", "string"

# The first letter of a group's name tells what was found and, where the group is empty, which test it must pass.
_KINDS = {"l": LINE, "g": LINE, "u": LINE, "v": LINE, "b": BLOCK, "t": DOCSTRING}
AFTER_BLANK, NOT_IN_ADDRESS, FIRST_ON_LINE, NOT_AFTER_WORD, REGEX_LITERAL = "g", "u", "v", "q", "r"


class Family(msgspec.Struct, frozen=True):
    """Languages that spell comments and strings alike."""

    name: str
    source: str
    """The pattern's source: most projects need few of the patterns, so none is compiled before it is used."""
    blocks: str
    """How a function's extent shows: `indent`, `braces`, or empty where functions are not looked for."""

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.source)

    def kind(self, group: str | None) -> str:
        return _KINDS.get(group[0], STRING) if group else STRING


@functools.cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)


def _line(mark: str, test: str = "") -> str:
    return f"{re.escape(mark)}(?P<{test}%d>)" if test else f"{re.escape(mark)}(?P<l%d>[^\\n]*+)"


def _until(close: str) -> str:
    """Everything up to a closing mark, or to the end of the file where there is none."""
    first, rest = re.escape(close[0]), re.escape(close[1:])
    other = f"[^{first}]*+"
    return f"{other}(?:{first}(?!{rest}){other})*+" if rest else other


def _block(opening: str, close: str, group: str = "b") -> str:
    return f"{re.escape(opening)}(?P<{group}%d>{_until(close)})(?:{re.escape(close)}|\\Z)"


def _string(quote: str, *, multiline: bool = False) -> str:
    """A string with backslash escapes; on one line it ends there at the latest, closed or not."""
    inner = f"[^{quote}\\\\{'' if multiline else chr(92) + 'n'}]*+"
    return f"{quote}{inner}(?:\\\\[\\s\\S]{inner})*+{quote}?+"


def _triple(quote: str, group: str = "") -> str:
    inner = f"[^{quote}\\\\]*+"
    body = f"{inner}(?:(?:\\\\[\\s\\S]|{quote}(?!{quote}{quote})){inner})*+"
    captured = f"(?P<{group}%d>{body})" if group else body
    return f"{quote * 3}{captured}(?:{quote * 3}|\\\\?\\Z)"


_CHARACTER = r"'(?:\\[^\n][^'\n]{0,10}|[^'\\\n])'"
_SINGLE, _DOUBLE, _BACKTICK = _string("'"), _string('"'), _string("`", multiline=True)
_WORD_SINGLE, _WORD_DOUBLE = f"'(?P<{NOT_AFTER_WORD}%d>)", f'"(?P<{NOT_AFTER_WORD}%d>)'
STRING_BODIES = {"'": re.compile(_SINGLE), '"': re.compile(_DOUBLE)}
"""By its quote: a string from its quote on, once it is known to be one."""
_SLASHES = (_line("//"), _block("/*", "*/"))
_HASH, _WORD_HASH = _line("#"), _line("#", AFTER_BLANK)
_REGEX = f"/(?![*/\\s])(?P<{REGEX_LITERAL}%d>)"
REGEX_BODY = re.compile(r"/(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*+\]?+)*+/?+")
"""A regular expression literal, once a slash is known to begin one."""
_RAW_CPP = r'R"(?P<x%d>[^()\\\s"]{0,16})\([\s\S]*?(?:\)(?P=x%d)"|\Z)'
_RAW_RUST = r'r(?P<x%d>#{0,8})"[\s\S]*?(?:"(?P=x%d)|\Z)'
_LONG_LUA = r"--\[(?P<x%d>={0,8})\[(?P<b%d>[\s\S]*?)(?:\](?P=x%d)\]|\Z)"
_RUBY_BLOCK = f"\\n=begin(?P<b%d>{_until(chr(10) + '=end')})(?:\\n=end|\\Z)"
_PERL_POD = f"\\n=(?=[a-z])(?P<b%d>{_until(chr(10) + '=cut')})(?:\\n=cut|\\Z)"


def _family(name: str, blocks: str, *pieces: str) -> Family:
    numbered = (re.sub("%d", str(number), piece) for number, piece in enumerate(pieces))
    return Family(name, "|".join(numbered), blocks)


_FAMILIES = (
    _family("python", "indent", _HASH, _triple('"', "t"), _triple("'", "t"), _DOUBLE, _SINGLE),
    _family("script", "braces", *_SLASHES, _DOUBLE, _SINGLE, _BACKTICK, _REGEX),
    _family("dart", "braces", *_SLASHES, _triple('"'), _triple("'"), _DOUBLE, _SINGLE),
    _family("c", "braces", *_SLASHES, _RAW_CPP, _DOUBLE, _CHARACTER),
    _family("java", "braces", *_SLASHES, _triple('"'), _DOUBLE, _CHARACTER),
    _family("go", "braces", *_SLASHES, _DOUBLE, "`[^`]*+`?+", _CHARACTER),
    _family("rust", "braces", *_SLASHES, _RAW_RUST, _string('"', multiline=True), _CHARACTER),
    _family("php", "braces", *_SLASHES, _HASH, _DOUBLE, _SINGLE),
    _family("css", "", _block("/*", "*/"), _DOUBLE, _SINGLE),
    _family("style", "", _block("/*", "*/"), _line("//", NOT_IN_ADDRESS), _DOUBLE, _SINGLE),
    _family("shell", "braces", _WORD_HASH, _WORD_DOUBLE, _WORD_SINGLE),
    _family("data", "", _WORD_HASH, _WORD_DOUBLE, _WORD_SINGLE),
    _family("config", "", _line(";", FIRST_ON_LINE), _line("#", FIRST_ON_LINE)),
    _family("ruby", "indent", _RUBY_BLOCK, _WORD_HASH, _WORD_DOUBLE, _WORD_SINGLE),
    _family("perl", "braces", _PERL_POD, _WORD_HASH, _WORD_DOUBLE, _WORD_SINGLE),
    _family("elixir", "indent", _triple('"'), _WORD_HASH, _DOUBLE, _WORD_SINGLE),
    _family("julia", "indent", _block("#=", "=#"), _HASH, _triple('"'), _DOUBLE),
    _family("nim", "indent", _block("#[", "]#"), _HASH, _triple('"'), _DOUBLE),
    _family("powershell", "braces", _block("<#", "#>"), _WORD_HASH, _WORD_DOUBLE, _WORD_SINGLE),
    _family("terraform", "braces", *_SLASHES, _WORD_HASH, _DOUBLE),
    _family("template", "", _block("{#", "#}"), _WORD_HASH, _WORD_DOUBLE, _WORD_SINGLE),
    _family("sql", "", _line("--"), _block("/*", "*/"), "'[^']*+'?+", _DOUBLE),
    _family("lua", "indent", _LONG_LUA, _line("--"), _block("[[", "]]", "x"), _DOUBLE, _SINGLE),
    _family("haskell", "", _line("--"), _block("{-", "-}"), _DOUBLE, _CHARACTER),
    _family("dashes", "", _line("--"), _DOUBLE),
    _family("lisp", "", _block("#|", "|#"), _line(";"), _string('"', multiline=True)),
    _family("percent", "", _line("%"), _DOUBLE),
    _family("fortran", "", _line("!"), _DOUBLE, _SINGLE),
    _family("vim", "", _line('"', FIRST_ON_LINE)),
    _family("basic", "", _line("'"), '"[^"\\n]*+"?+'),
    _family("ml", "", _block("(*", "*)"), _DOUBLE, _CHARACTER),
    _family("fsharp", "", _line("//"), _block("(*", "*)"), _triple('"'), _DOUBLE, _CHARACTER),
    _family("pascal", "", _line("//"), _block("{", "}"), _block("(*", "*)"), "'[^'\\n]*+'?+"),
    _family("markup", "", _block("<!--", "-->")),
    _family(
        "component",
        "",
        _block("<!--", "-->"),
        _line("//", NOT_IN_ADDRESS),
        _block("/*", "*/"),
        _WORD_DOUBLE,
        _WORD_SINGLE,
        _BACKTICK,
    ),
)
FAMILIES = {family.name: family for family in _FAMILIES}

_ENDINGS = {
    "python": "py pyi pyx pxd bzl star",
    "script": "js jsx mjs cjs ts tsx mts cts",
    "dart": "dart groovy gradle",
    "c": "c h cc cpp cxx hpp hh hxx m mm ino cu glsl proto sol v sv zig d",
    "java": "java kt kts scala swift cs",
    "go": "go",
    "rust": "rs",
    "php": "php",
    "css": "css",
    "style": "scss sass less",
    "shell": "sh bash zsh fish ksh awk",
    "data": "yml yaml toml r mk cmake graphql gql properties conf nix tcl",
    "config": "ini cfg reg",
    "ruby": "rb rake gemspec cr",
    "perl": "pl pm t",
    "elixir": "ex exs",
    "julia": "jl",
    "nim": "nim",
    "powershell": "ps1 psm1",
    "terraform": "tf tfvars hcl",
    "template": "j2 jinja jinja2",
    "sql": "sql",
    "lua": "lua",
    "haskell": "hs elm purs",
    "dashes": "adb ads vhd vhdl",
    "lisp": "lisp lsp el clj cljs cljc scm rkt asm s",
    "percent": "tex sty cls erl hrl pro",
    "fortran": "f90 f95 f03 f08",
    "vim": "vim",
    "basic": "vb vbs bas",
    "ml": "ml mli sml",
    "fsharp": "fs fsi fsx",
    "pascal": "pas pp dpr",
    "markup": "html htm xml xhtml svg md markdown xsl xslt",
    "component": "vue svelte astro",
}
_BY_ENDING = {ending: FAMILIES[name] for name, endings in _ENDINGS.items() for ending in endings.split()}

_NAMES = {
    "python": "SConstruct SConscript BUILD WORKSPACE",
    "data": "Makefile makefile GNUmakefile Dockerfile Containerfile CMakeLists.txt .gitignore .env justfile Justfile",
    "ruby": "Rakefile Gemfile Vagrantfile",
    "java": "Jenkinsfile",
}
_BY_NAME = {name: FAMILIES[family] for family, names in _NAMES.items() for name in names.split()}


def family_for(path: str) -> Family | None:
    """The family of a file, by its name; None where nothing is known of its comments."""
    name = path.replace("\\", "/").rpartition("/")[2]
    found = _BY_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2].lower() if "." in name else "")
    if found is None and name.startswith(("Dockerfile.", "Makefile.")):
        return FAMILIES["data"]
    return found
