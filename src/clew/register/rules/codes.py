"""The rules of the validator, as data. Codes are never reused and never change their meaning."""

from enum import StrEnum

import msgspec


class Severity(StrEnum):
    ERROR = "error"
    """Blocks whatever would write such a requirement."""
    WARNING = "warning"
    """Said, never blocking."""


class Rule(msgspec.Struct, frozen=True):
    code: str
    severity: Severity
    field: str
    summary: str
    hint: str
    """Advice how to rewrite a text that breaks the rule."""


class RuleViolation(msgspec.Struct, frozen=True):
    id: str
    """The requirement or safety artefact; empty for one that has no id yet."""
    rule_code: str
    severity: Severity
    field: str
    message: str
    hint: str

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    @property
    def text(self) -> str:
        """As the results of writing operations spell it."""
        return f"[{self.field}] {self.message}"


_E, _W = Severity.ERROR, Severity.WARNING

_TABLE = (
    ("0001", _E, "title", "the title is empty", "Say in a few words what the system does: 'Lock the account'."),
    ("0002", _E, "title", "the title has fewer than 5 characters", "Name the behaviour, not just a noun."),
    ("0003", _E, "title", "the title has more than 120 characters", "Keep the gist; details go into the statement."),
    ("0004", _W, "title", "the title ends with a full stop", "Remove the full stop: a title is a label."),
    ("0005", _E, "statement", "the statement is empty", "Write one sentence: 'The system shall ...'."),
    ("0006", _E, "statement", "the statement has fewer than 5 words", "Say who shall do what, and when."),
    ("0007", _W, "statement", "the statement has more than 80 words", "Split it with req_split, one behaviour each."),
    (
        *("0008", _E, "statement", "no modal verb says that this is required"),
        "Use shall, must, should or will outside of code spans: 'The system shall ...'.",
    ),
    (
        *("0009", _W, "statement", "a word promises without saying how much"),
        "Replace the word by something a test can measure: a number, a limit or a list.",
    ),
    (
        *("0010", _W, "statement", "the statement asks for more than one thing"),
        "Split it with req_split, so that each part can be built, tested and retired on its own.",
    ),
    (
        "0011",
        _E,
        "statement",
        "the statement holds a question mark",
        "Decide the question first, then state the answer.",
    ),
    ("0012", _E, "rationale", "the rationale is empty", "Say why this is needed, or what goes wrong without it."),
    ("0013", _W, "rationale", "the rationale has fewer than 3 words", "Give the reason in a sentence."),
    (
        *("0014", _E, "acceptance", "a functional requirement has no acceptance criterion"),
        "Add at least one criterion that a test can decide: 'Given X, Y is shown within 2 s'.",
    ),
    (
        "0015",
        _W,
        "acceptance",
        "a criterion has fewer than 3 words",
        "Say what is observed, so that a test can decide.",
    ),
    ("0016", _E, "links", "a link leads to an id that does not exist", "Remove the link or correct its target."),
    ("0017", _E, "links", "a requirement links to itself", "Remove the link."),
    (
        *("0018", _E, "status", "approved without an acceptance criterion"),
        "Add a criterion before the requirement moves on, or move it back to draft.",
    ),
    (
        *("0019", _W, "links", "it verifies another requirement but has no test record"),
        "Record evidence with req_test_record, req_test_run or req_verify.",
    ),
    (
        *("0020", _W, "statement", "another requirement says much the same"),
        "Keep one and retire the other, or reword both so that the difference shows.",
    ),
    ("0021", _E, "links", "links lead in a circle", "Remove one link of the circle with req_link and remove=true."),
    (
        *("0022", _W, "statement", "several words hedge"),
        "State what shall happen; put uncertainties into the rationale.",
    ),
    ("0023", _W, "statement", "the external judge objects", "Follow its remark, or correct REQ_VALIDATE_LLM_CMD."),
    (
        *("0024", _W, "status", "verified, but the last test record failed"),
        "Fix it and record a pass, or move the requirement back with a reason.",
    ),
    ("0025", _E, "harm", "a live hazard names no harm", "Say who or what is harmed, and how."),
    (
        *("0026", _E, "risk", "a hazard beyond identified lacks a risk parameter"),
        "Give consequence, frequency, avoidance and probability.",
    ),
    ("0027", _E, "links", "a mitigated hazard has no safety function", "Link a live safety function to it."),
    ("0028", _E, "links", "a safety link leads to nothing", "Remove the link or correct its target."),
    ("0029", _E, "links", "a safety function mitigates no hazard", "Link it to a hazard, or move it back to proposed."),
    ("0030", _E, "tests", "a verified safety requirement has no passing record", "Record a pass, or move it back."),
    (
        *("0031", _E, "tests", "inspection alone vouches for SIL 3 or higher"),
        "Add a passing record of automated or composed evidence.",
    ),
    (
        *("0032", _E, "validation", "verified without a passing dossier"),
        "Conclude a dossier, or tag the requirement as exempt.",
    ),
    ("0033", _E, "validation", "a verified safety requirement has no genuine dossier", "Conclude a dossier for it."),
    ("0034", _E, "validation", "no person confirmed the dossier", "Have a person confirm the dossier."),
)

RULES = {row[0]: Rule(f"REQ-V-{row[0]}", row[1], row[2], row[3], row[4]) for row in _TABLE}


def finding(number: str, id: str, message: str, *, hint: str = "", severity: Severity | None = None) -> RuleViolation:
    rule = RULES[number]
    return RuleViolation(id, rule.code, severity or rule.severity, rule.field, message, hint or rule.hint)
