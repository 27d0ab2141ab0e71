"""Attack: regular expressions that are expensive to compile or to match, given by a client and by a project's settings.

Each is compiled in a process of its own with little memory and processor time, so that one that gets through takes
nothing but itself. A refusal is as good as a compiled pattern; what is neither, got through.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.attack.outcome import Outcome

MEMORY = 512 * 1024 * 1024
SECONDS = 20
KNOWN = (
    "(?:(?:(?:(?:a{1000}){1000}){1000}){1000})",
    "a{100000000}",
    "(?:a{1000,}){1000,}",
    "((a{5000}){5000})",
    "(?x)(?:a{1 0 0 0}){1 0 0 #0\n0}{1000}",
    "(?x)(?:a{1#1\n0000}){10000}",
    "(?V1)(?:[[a]--[(]]{1000}[)]){10000}",
    "(?:a{10000}[)]){10000}",
    "(?:a{10000}[]()]){10000}",
    "(?:a{10000}[[:é:](]){10000}[)]",
    "(?:a{10000}\\)){10000}",
    "(?:a{10000}(?#)){10000}",
    "(?:a{10000}){e<=0}{10000}",
    "a{10000}(?i){10000}",
    "\\p{20000,30000}\\p{20000,30000}(?:\\p{9000,9001}){9000}",
    "(?=(?=a{10000}){10000})",
    "(?<n>(?P<m>a{10000}){10000})",
    "(?|(?|a{10000}){10000}|b)",
    "(?(DEFINE)(?:a{10000}){10000})",
    "(?fi)(?:ﬃ{1000}){100000}",
    "(?:a{99999999999999999999}){2}",
    "(?:" * 900 + "a" + ")" * 900,
    "a{2}" * 400,
    "(?:" * 60 + "a" + "){2}" * 60,
)
"""Each of them is one way of counting, or of hiding from what counts."""
MATCHED = (
    *("(" * depth + r".|\n" + ")" * depth + "*" for depth in (20, 150)),
    r"(?x)((((((((((((((((.|\n)))))))))))))))) (?#c) #c\n{1,}",
    r"(?s)(?:(?:(?i:a)){e<=2}(?:(?=.)|\b){1,})+\Z",
    r"(?:(?:a|b|\s){e}){e}*q",
    r"(?s)(?:(.)|(a))*?\Z(?!)",
    r"(?s)(?:(?:(?:(?:ab|b|.)|(?=.))*?|(?:(?:ab|b|.)|(?i:a))+?)+|(?:(?:a|(?:.|a))+|(?:[ab](?=.))?)+?)+?\Z",
)
"""Small ones, for each character of a text of which the library keeps much."""
_PIECES = (
    *(
        "a",
        "ﬃ",
        ".",
        "\\w",
        "\\X",
        "\\R",
        "\\(",
        "\\)",
        "\\[",
        "\\]",
        "\\{",
        "[a-z]",
        "[]a]",
        "[^]]",
        "[(]",
        "[)]",
        "[{]",
    ),
    *(
        "[a\\]b]",
        "[[:alpha:]]",
        "[[:é:]",
        "\\p{L}",
        "\\p{10,20}",
        "\\N{LATIN SMALL LETTER A}",
        "{",
        "}",
        "#",
        "\n",
        " ",
    ),
    *(
        "(",
        "(?:",
        "(?=",
        "(?!",
        "(?<=",
        "(?<!",
        "(?>",
        "(?|",
        "(?i:",
        "(?fi:",
        "(?x:",
        "(?P<n>",
        "(?<m>",
        ")",
        ")",
        ")",
    ),
    *(
        "(?i)",
        "(?x)",
        "(?V1)",
        "(?#c)",
        "(?r)",
        "(?1)",
        "(?R)",
        "(*PRUNE)",
        "(?(1)",
        "\n",
        " ",
        ")",
        ")",
        ")",
        "|",
        "?",
        "*",
        "+",
    ),
    *("{e<=2}", "{e<=0}", "{2}", "{10}", "{100}", "{1000}", "{9999}", "{,1000}", "{20,30}", "{1 0 0 0}", "{1#\n000}"),
)
_COMPILE = """
import json, resource, sys
from clew.errors import ClewError
from clew.formats.elspais.settings import read_settings
from clew.formats.elspais.ids.grammar import IdGrammar
from clew.trace.find.query import compile_pattern
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
for number, pattern in enumerate(json.loads(sys.stdin.read())):
    print(number, flush=True)
    try:
        compile_pattern(pattern)
    except ClewError:
        pass
    try:
        text = "[id-patterns.component]\\nstyle = 'regex'\\npattern = " + json.dumps(pattern)
        IdGrammar(read_settings(text.encode("utf-8", "replace"))[0])
    except ClewError:
        pass
print("all")
"""
_MATCH = """
import json, resource, sys
from clew.errors import ClewError
from clew.trace.find.query import compile_pattern
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
for number, pattern in enumerate(json.loads(sys.stdin.read())):
    print(number, flush=True)
    for text in ("ab \\n" * 500, "ab \\n" * 2_000, "ab \\n" * 100_000):
        try:
            compile_pattern(pattern)(text)
        except ClewError:
            pass
print("all")
"""
MATCHED_UNBOUNDED = """
import json, resource, sys
import regex
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
for number, pattern in enumerate(json.loads(sys.stdin.read())):
    print(number, flush=True)
    regex.search(pattern, "ab \\n" * 100_000, timeout=2)
print("all")
"""
UNBOUNDED = """
import json, resource, sys
import regex
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
for number, pattern in enumerate(json.loads(sys.stdin.read())):
    print(number, flush=True)
    regex.compile(pattern)
print("all")
"""
"""The library by itself."""


def made(rounds: int) -> list[str]:
    """Patterns put together from pieces; what they are depends on the number of rounds alone."""
    chance = random.Random(rounds)
    found = []
    for _ in range(rounds):
        pieces = [chance.choice(_PIECES) for _ in range(chance.randrange(2, 12))]
        text = "".join(pieces)
        missing = text.count("(") - text.count(")")
        found.append(text + "".join(f"){{{chance.choice((1, 50, 3000))}}}" for _ in range(max(0, missing))))
    return found


def run(rounds: int) -> Outcome:
    """The known ones, and so many made ones, a hundred in a process; those that are matched, one in a process."""
    every = [*KNOWN, *made(rounds)]
    faults = [fault for start in range(0, len(every), 100) for fault in compiled(every[start : start + 100])]
    faults += [fault for each in MATCHED for fault in compiled([each], _MATCH)]
    return Outcome(len(every) + len(MATCHED), tuple(faults))


def compiled(patterns: list[str], program: str = _COMPILE) -> list[str]:
    """What went wrong with any of them. The process ends at the first; the others are tried in another one."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", program.format(memory=MEMORY)],
            input=json.dumps(patterns),
            capture_output=True,
            text=True,
            cwd=Path(folder),
            check=False,
            preexec_fn=_bounded,
        )
    lines = done.stdout.split()
    if lines[-1:] == ["all"]:
        return []
    if not lines:
        return [f"nothing was compiled: {done.stderr[-300:]}"]
    failed = int(lines[-1])
    why = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
    others = compiled(patterns[failed + 1 :], program) if patterns[failed + 1 :] else []
    return [f"{patterns[failed][:80]!r}: {why[:200]}", *others]


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
