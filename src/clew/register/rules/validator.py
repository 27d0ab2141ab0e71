"""The validator: what is wrong with a requirement, and with a register as a whole.

What the words of a statement give away. Words are matched as words: breakfast is not fast.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clew.errors import FormatError
from clew.formats.register.ids import sort_key
from clew.formats.register.model import LinkKind, Register, Requirement, RequirementKind, Status
from clew.register.rules.codes import RuleViolation, finding
from clew.register.rules.lifecycle import may_be_verified
from clew.register.rules.links import check_cycles, check_targets
from clew.register.rules.safety import as_requirement, check_safety, is_live
from clew.text.display import counted

if TYPE_CHECKING:
    from clew.register.rules.duplicates import DuplicateIndex


TITLE_LEAST, TITLE_MOST = 5, 120

Judge = Callable[[tuple[Requirement, ...]], Mapping[str, str]]
"""Takes requirements, returns objections by id."""


def validate_requirement(requirement: Requirement) -> list[RuleViolation]:
    """The findings on one requirement by itself. Errors among them block every writer."""
    id = requirement.id
    found = [
        *_title(id, requirement.title),
        *check_statement(id, requirement.statement),
        *_rationale(id, requirement.rationale),
        *_acceptance(requirement),
    ]
    # Nobody rewords what is retired.
    return [each for each in found if each.is_error] if requirement.status is Status.OBSOLETE else found


def _title(id: str, given: str) -> Iterator[RuleViolation]:
    title = given.strip()
    if not title:
        yield finding("0001", id, "The title is empty.")
    elif len(title) < TITLE_LEAST:
        yield finding(
            "0002", id, f"The title '{title}' has {counted(len(title), 'character')}; {TITLE_LEAST} are the least."
        )
    if len(title) > TITLE_MOST:
        yield finding("0003", id, f"The title has {len(title)} characters; {TITLE_MOST} are the most.")
    if title.endswith("."):
        yield finding("0004", id, "The title ends with a full stop.")


def _rationale(id: str, rationale: str) -> Iterator[RuleViolation]:
    count = len(rationale.split())
    if count == 0:
        yield finding("0012", id, "The rationale is empty.")
    elif count < 3:
        yield finding("0013", id, f"The rationale '{rationale.strip()}' is too short to explain anything.")


def _acceptance(requirement: Requirement) -> Iterator[RuleViolation]:
    if requirement.kind is RequirementKind.FUNCTIONAL and not requirement.acceptance:
        yield finding("0014", requirement.id, "A functional requirement needs at least one acceptance criterion.")
    for number, criterion in enumerate(requirement.acceptance, start=1):
        if len(criterion.split()) < 3:
            yield finding("0015", requirement.id, f"Criterion {number} '{criterion.strip()}' says too little to test.")


def validate_register(
    register: Register, judge: Judge | None = None, duplicates: "DuplicateIndex | None" = None
) -> list[RuleViolation]:
    """Everything that is wrong, sorted by id. To validate often, pass the same index of `duplicates` each time."""
    from clew.register.rules.duplicates import check_duplicates  # a single requirement is judged without

    found: list[RuleViolation] = []
    for requirement in register.requirements.values():
        found.extend(validate_requirement(requirement))
        found.extend(_in_context(requirement, register))
    live = [each for each in register.requirements.values() if each.status is not Status.OBSOLETE]
    found.extend(check_duplicates(live, duplicates))
    found.extend(check_cycles(register.requirements))
    found.extend(check_safety(register))
    for id, artefact in register.safety_requirements.items():
        if is_live(artefact):
            found.extend(_safety_statement(id, artefact))
    if judge is not None:
        objections = judge(tuple(live))
        found.extend(finding("0023", id, objection) for id, objection in objections.items())
    return sorted(found, key=lambda each: (sort_key(each.id), each.rule_code))


def _safety_statement(id: str, artefact: Mapping[str, object]) -> list[RuleViolation]:
    try:
        return validate_requirement(as_requirement(id, artefact))
    except FormatError:
        # Kept unchanged for programs that understand it.
        return []


def _in_context(requirement: Requirement, register: Register) -> Iterator[RuleViolation]:
    """The findings on a requirement together with others, or with its own past."""
    id, status = requirement.id, requirement.status
    yield from check_targets(requirement, register.requirements)
    advanced = status in (Status.APPROVED, Status.IMPLEMENTED, Status.VERIFIED)
    if advanced and requirement.kind is RequirementKind.FUNCTIONAL and not requirement.acceptance:
        yield finding("0018", id, f"It is {status.word}, but nothing says when it is met.")
    if status is Status.OBSOLETE:
        return
    done = status in (Status.IMPLEMENTED, Status.VERIFIED)
    if done and not requirement.tests and requirement.targets(LinkKind.VERIFIES):
        verified = ", ".join(requirement.targets(LinkKind.VERIFIES))
        yield finding("0019", id, f"It says that it verifies {verified}, but has no test record.")
    if requirement.is_defective:
        yield finding("0024", id, "It is verified, but its last test record failed.")
    if status is Status.VERIFIED and not may_be_verified(requirement, register):
        yield finding("0032", id, "It is verified without a dossier that passed.")


_NOT_PROSE = re.compile(
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://\S+"
    r"|`[^`]*`"
    r"|(?<!\w)(?:must|should|could|wont)-priorit(?:y|ies)(?!\w)",
    re.IGNORECASE,
)
"""Addresses, code and labels such as must-priority: they hold words without meaning them."""

_WEASELS: Mapping[str, str] = {
    "etc": "list everything that is meant",
    "and/or": "say whether both, either or exactly one is meant",
    "user-friendly": "name the task, and the time or the errors that are acceptable",
    "easy to use": "name the task, and the time or the errors that are acceptable",
    "robust": "name the faults it has to survive",
    "fast": "give a time limit and the load under which it holds",
    "efficient": "give the resource and its limit",
    "flexible": "list what can be changed, and by whom",
    "approximately": "give the bounds",
    "as appropriate": "say when",
    "if possible": "say when it is required and what happens otherwise",
    "tbd": "decide it now, or leave it out",
    "to be determined": "decide it now, or leave it out",
    "various": "list them",
    "some": "say which or how many",
    "many": "say how many",
    "few": "say how many",
    "minimal": "give the limit",
    "maximal": "give the limit",
    "state-of-the-art": "name the standard or the measure",
    "seamless": "say what the user does not notice",
}
_HEDGES = ("perhaps", "probably", "maybe", "possibly", "might", "roughly", "potentially")
_MODALS = ("shall", "must", "should", "will")

LONG_STATEMENT_WORDS = 80
_EXCERPT_WORDS = 4


def _any_word(words: Sequence[str]) -> re.Pattern[str]:
    """Pattern of whole words or phrases: no letter or hyphen may be next to a match."""
    longest_first = sorted(words, key=len, reverse=True)
    joined = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)
    return re.compile(rf"(?<![\w-])(?:{joined})(?![\w-])", re.IGNORECASE)


_WEASEL, _HEDGE, _MODAL = _any_word(tuple(_WEASELS)), _any_word(_HEDGES), _any_word(_MODALS)
_AND = re.compile(r"\sand\s", re.IGNORECASE)


def check_statement(id: str, statement: str) -> Iterator[RuleViolation]:
    text = statement.strip()
    if not text:
        yield finding("0005", id, "The statement is empty.")
        return
    count = len(text.split())
    if count < 5:
        yield finding("0006", id, f"The statement has {counted(count, 'word')}; 5 are the least.")
    if count > LONG_STATEMENT_WORDS:
        yield finding(
            "0007", id, f"The statement has {count} words; over {LONG_STATEMENT_WORDS} nobody reads it whole."
        )
    spoken = _NOT_PROSE.sub(" ", statement)
    modals = list(_MODAL.finditer(spoken))
    if not modals:
        yield finding("0008", id, "The statement has none of shall, must, should and will, so it requires nothing.")
    yield from _weasels(id, spoken)
    if reason := _compound(spoken, modals):
        yield finding("0010", id, f"The statement asks for more than one thing: {reason}.")
    if "?" in statement:
        yield finding("0011", id, "The statement holds a question mark: a requirement answers, it does not ask.")
    hedges = list(dict.fromkeys(match[0].lower() for match in _HEDGE.finditer(spoken)))
    if len(hedges) > 1:
        yield finding("0022", id, f"The statement hedges: {_listed(hedges)}.")


def _weasels(id: str, spoken: str) -> Iterator[RuleViolation]:
    seen: set[str] = set()
    for match in _WEASEL.finditer(spoken):
        term = " ".join(match[0].lower().split())
        if term not in seen:
            seen.add(term)
            place = _around(spoken, match.start(), match.end())
            advice = _WEASELS[term]
            yield finding(
                *("0009", id, f"'{term}' cannot be tested ('{place}'): {advice}."),
                hint=f"Instead of '{term}', {advice}.",
            )


def _compound(spoken: str, modals: Sequence[re.Match[str]]) -> str:
    """The reason why a statement is more than one; empty for a single one."""
    if ";" in spoken:
        parts = [part.strip() for part in spoken.split(";") if part.strip()]
        return f"a semicolon joins {len(parts)} parts ({_quoted(_beginning(part) for part in parts)})"
    if len(modals) > 1:
        clauses = _quoted(_beginning(spoken[match.start() :]) for match in modals)
        return f"{len(modals)} modal verbs require something each ({clauses})"
    joins = list(_AND.finditer(spoken))
    if len(joins) > 1:
        places = _quoted(_around(spoken, match.start() + 1, match.end() - 1) for match in joins)
        return f"'and' joins {len(joins) + 1} things ({places}); a list 'a, b, and c' would be one"
    return ""


def _beginning(text: str) -> str:
    words = text.split()
    return " ".join(words[:_EXCERPT_WORDS]).rstrip(",.;") + (" ..." if len(words) > _EXCERPT_WORDS else "")


def _around(text: str, start: int, end: int) -> str:
    """A match with a word or two on either side."""
    before, after = text[max(0, start - 40) : start].split(), text[end : end + 40].split()
    return " ".join((*before[-2:], text[start:end], *after[:2]))


def _quoted(parts: Iterator[str]) -> str:
    return ", ".join(f"'{part}'" for part in parts)


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"
