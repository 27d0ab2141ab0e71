"""A project with all that today's elspais knows: templates, sections, journeys, terms."""

SETTINGS = """[project]
name = "clock"
namespace = "REQ"

[scanning.test]
enabled = true
"""

SPEC = """# Clock

The *Hand* of a clock, and a hand besides.

## REQ-p00001: Keeping time

**Level**: prd | **Status**: Active | **Implements**: -

The clock keeps time with its *Hand*.

### Assertions

A. The clock SHALL show the hour.

B. The clock SHALL show the minute.

### Rationale

People ask for it.

*End* *Keeping time*

---

## REQ-p00002: Logging

**Level**: prd | **Status**: Active | **Template**

### Assertions

A. It SHALL log.

B. It SHALL rotate.

*End* *Logging*

---

## REQ-o00002: Rotating

**Level**: ops | **Status**: Active | **Template** | **Refines**: REQ-p00002-B

### Assertions

A. It SHALL keep ten logs.

*End* *Rotating*

---

## REQ-d00001: Hands

**Level**: dev | **Status**: Active | **Implements**: REQ-p00001-A+B
**Satisfies**: REQ-p00002

### Assertions

A. Hands SHALL move.

*End* *Hands*

---

## REQ-d00002: Bells

**Level**: dev | **Status**: Draft | **Implements**: REQ-p00001
**Satisfies**: REQ-p00002-A

Body text.

*End* *Bells*

---

## JNY-Reader-01: Reading the time

**Actor**: Reader
**Goal**: Know the time

Validates: REQ-p00001-A

### Steps

1. Look at the clock.
2. Say the hour.

### Outcome

The hour is known.

*End* *JNY-Reader-01*

## Glossary

Hand
: A pointer of the clock.

Chime
: A sound of the clock.
: Indexed: false

Gadgets
: Things.
: Collection: true
"""

TESTS = """# Verifies: REQ-p00002-A
def test_log():
    pass


# Verifies: JNY-Reader-01/1
def test_step():
    pass


def test_loose():
    pass
"""

FILES = {
    ".elspais.toml": SETTINGS,
    "spec/clock.md": SPEC,
    "tests/test_clock.py": TESTS,
    "src/clock.py": "# Implements: REQ-p00002-A\ndef log():\n    pass\n",
    "uat-results.csv": "journey_id,status\nJNY-Reader-01,passed\n",
}
