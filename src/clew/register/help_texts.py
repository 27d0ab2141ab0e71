"""The texts of the help, in the order of the index."""

OVERVIEW = """
A register keeps the requirements of a project in one file, project.req, beside the code. Programs change it, people
review it in git. Every requirement has a statement that can be tested, a reason, acceptance criteria, a status, links
to others, test records, and a history that only grows.

Begin with `clew req init --name NAME`, or `req_brief` in a project that has a register. `req_add` makes a requirement,
`req_next` says what to work on, `req_validate` and `req_review` say whether the work is complete.
"""

CONCEPTS = """
Requirement  id, title, statement, rationale, acceptance criteria, kind, priority, status, tags, links, history, tests.
Id           REQ-0001 and up, never reused. req-1 and 1 mean the same.
Kind         functional, non-functional, constraint, interface, business.
Priority     must, should, could, wont.
Status       draft, proposed, approved, implemented, verified, obsolete.
Link         parent (hierarchy), depends-on (order), refines (a part of something coarser), verifies, conflicts.
Test record  a commit, an outcome, notes, and the files it is about: the evidence.
"""

BEST_PRACTICE = """
One requirement asks for one thing. If the statement needs "and" twice, a semicolon or a second "shall", split it.
Say shall or must, and say something a test can decide: a number, a limit, an event. Words such as fast, robust or
user-friendly promise without saying how much.
The rationale says why, so that somebody can later judge whether the requirement is still needed.
A criterion describes an observation: given this, that happens.
Retire requirements instead of removing them: the history is worth more than the space.
Heed what req_add says about requirements that are alike, live or retired within 60 days.
"""

WORKFLOW = """
draft -> proposed -> approved -> implemented -> verified, and obsolete from anywhere. A draft may be approved at once.
Other moves need force and a reason. The same rules hold on the command line, over MCP and in batches.

1. req_brief and req_next: where things stand, and what comes next.
2. req_add or req_update: write down what shall change before the code does.
3. Write the code, with `// REQ-0042` in a comment where it serves the requirement.
4. req_update to implemented; req_test_run or req_test_record with the evidence, promote to verified.
5. req_validate and req_review before the commit.
"""

FILE_FORMAT = """
project.req is JSON with sorted keys, two spaces of indent and no line feed at its end. `_integrity` is a SHA-256 over
everything but `_integrity`, `_format`, `_warning` and `_instructions`, written without white space and with sorted
keys. An edit by hand is noticed, and the file is refused until a person accepts it with
`clew req repair --confirm-direct-edit`, or git restores it.

`_history` tells what happened to the register as a whole: which requirements were removed and why, who accepted an edit
by hand, why the purpose changed.

A register may also be a folder: index.req, and one file for each requirement below requirements/.
Keys that Clew does not know are kept as they are. Registers of req-v1 and req-v2 are read; the first write brings them
to req-v3 and leaves a backup beside them.
"""

AGENTS = """
When the user describes behaviour                  req_list (is it there?), then req_add
Before working on a feature                        req_brief, req_next, req_show
When the behaviour changes                         req_update with a reason
When a requirement asks for too much               req_split
When code serves a requirement                     put its id in a comment: // REQ-0042
When tests ran                                     req_test_run with the log, promote=true
When something was checked by reading              req_verify by=inspection
Before saying that work is done                    req_validate, req_review
When something is no longer wanted                 req_delete (it retires; nothing is lost)

Rejected input says which rule it breaks and how to rewrite it. Do not edit project.req, and do not look for a way
around a rule: rewrite the statement.
"""

WEB = """
`clew req serve` shows the register in a browser, to read: / lists all requirements, /r/REQ-0001 shows one with its
history, /api/list and /api/r/REQ-0001 give the data. It listens on 127.0.0.1:7878 unless --host and --port say
otherwise, and asks nobody for a password. To let other machines in, name the address they will use as well:
`clew req serve --host 0.0.0.0 --allow-host build.example.org`.

`clew req export --format html -o requirements.html` writes one page that needs nothing besides itself. It can be
opened in a browser, printed, and put wherever pages are served.
"""

TUI = """
`clew req tui` asks for one command after another: a number from its menu, or any command with its arguments.
`clew req brief`, `list`, `show` and `next` print what a person needs, in colour on a terminal, and every command takes
--json.
"""

INTEGRATION = """
`clew req setup` prepares a clone: a pre-commit hook that validates the register as it is staged and asks changed code
for markers, a commit-msg hook that knows every id, a post-commit hook that says what comes next, the lines of
.gitattributes and .gitignore, and the merge driver. It leaves hooks and lines of others alone; several projects of a
repository share them. With --claude-code it also tells Claude Code. `clew req doctor` says what is missing.

In CI: `clew req validate`, `clew req coverage --strict` and `clew req review --base origin/main --gate` end with exit
code 1 when something is wrong. In an MCP client: `clew req mcp` offers the tools of req under their names, and
`clew req mcp --init-config` writes the entry.
"""

VERSION_CONTROL = """
Commit project.req together with the code that it is about. req_diff shows changes between two revisions
requirement by requirement, req_review what a branch does, req_audit who signed.

Two branches that both add requirements merge into one register: where both gave the same id, that of the other branch
is renumbered, its links with it, and the files of the other branch that mark it are named; it stays the same
requirement in later merges. Two different edits of one requirement are a conflict that names the fields.
"""

AUDIT = """
req_audit lists the commits that changed the register with author, signer and the state of the signature: good,
good-unknown, bad, expired, expired-key, revoked, cannot-check, no-signature. With gate=true and require_good_signature
or required_signers, commits that break the policy are violations, and ok is false.
"""

FORMAT_POLICY = """
Older formats stay readable; a newer one is refused with both versions named. Codes of rules and errors are never
reused. req_migrate brings a file to the format of today and leaves a backup; the way back is the backup.
"""

ENV = """
REQ_FILE                      the register, where it is not project.req
REQ_ACTOR                     who acts; otherwise USER or USERNAME
REQ_ACTOR_KIND                human or agent; over MCP agent unless it says otherwise
REQ_NO_AUTO_MIGRATE           refuse to write a file of an older format
REQ_SKIP_GATE                 the pre-commit hook only validates
REQ_VALIDATE_LLM_CMD          a command that judges statements; REQ_VALIDATE_LLM_SHELL and _CONCURRENCY go with it
"""

VERIFICATION = """
automated     a test ran: req_test_run reads the log, req_test_record takes one outcome.
composition   the tests of other requirements cover this one: req_verify by=composition, and cite them.
inspection    somebody read or tried it: req_verify by=inspection, and say what was looked at.

A record keeps the commit, and for tests the files that carry the marker with a checksum of their content. req_stale
compares: fresh (nothing changed), drifted (something else changed), STALE (one of the files changed). Only what is
implemented is promoted to verified; a test that was ignored proves nothing.
"""

LINT = """
req_lint looks at what the rules let pass: active requirements that no source file mentions, rationales of a few words,
functional requirements with a single criterion, active requirements without evidence, verified ones whose last record
failed. It blocks nothing. `_config.lint` in the register sets short_rationale_words and inspection_only_tags.
"""

TESTING = """
A test proves a requirement when its name holds the id: req_0042_locks, test_req_0042_locks, "REQ-0042 locks". Save
the output of the run and pass it to req_test_run: the log of `cargo test`, of `pytest -v` (with colours and from
several processes too), JUnit XML, or a JSON report of pytest. Failed beats passed; only ignored tests are no evidence,
and a report that breaks off is refused. Nothing is executed over MCP.
"""

ERRORS = """
Every error has a code, a message that names the value and the rule, and a hint with the next step.

REQ-E-INTEGRITY       the file was changed by something else
REQ-E-NOT-FOUND       there is no such requirement, file or section
REQ-E-VALIDATION      the validator rejects the input
REQ-E-CYCLE           a link would lead in a circle
REQ-E-DUPLICATE       it is there already
REQ-E-INVALID-INPUT   an argument is wrong
REQ-E-REFUSED         allowed only under a condition that is not met
REQ-E-CONFLICT        the register changed since it was read
REQ-E-FORMAT          the file cannot be read, or is newer
REQ-E-LOCKED          another program holds the lock
REQ-E-IO              the disk or its permissions
"""

MCP = """
Read     req_list req_show req_status req_next req_brief req_export req_help req_schema req_version
Check    req_validate req_coverage req_check req_diff req_stale req_audit req_review req_lint req_doctor
Write    req_add req_update req_delete req_link req_split req_batch req_import
Evidence req_test_record req_test_run req_verify
File     req_migrate

Every write is one locked transaction: many servers, the command line and req itself may share a register.
"""

EXPORT = """
markdown  a chapter for each requirement; req_import reads it back
json      everything, with history and test records; req_import reads it back
csv       one row each: id, title, kind, priority, status, tags, statement
html      one page to read and print

The same register always gives the same text. Over MCP long texts come in pages; `clew req export -o FILE` writes all.
"""

SAFETY = """
Hazards, safety functions and safety requirements of a register are kept, checked (REQ-V-0025 to REQ-V-0034) and
exported; `clew req safety` shows them, and so do req_hazard_list, req_sf_list, req_sreq_list and req_trace. Levels are
derived from the risk graph, never entered. Clew does not edit the safety case.
"""

SECTIONS = {
    "overview": ("what a register is, and where to begin", OVERVIEW),
    "concepts": ("the words: requirement, kind, status, link, record", CONCEPTS),
    "best-practice": ("how to write requirements that can be tested", BEST_PRACTICE),
    "workflow": ("from draft to verified, step by step", WORKFLOW),
    "file-format": ("what project.req holds, and its checksum", FILE_FORMAT),
    "agents": ("which tool to call when", AGENTS),
    "web": ("requirements in a browser", WEB),
    "tui": ("requirements on a terminal", TUI),
    "integration": ("hooks, CI and MCP clients", INTEGRATION),
    "version-control": ("diffs, reviews and merges", VERSION_CONTROL),
    "audit": ("authors and signers of the register's commits", AUDIT),
    "format-policy": ("what stays readable, and what never changes", FORMAT_POLICY),
    "env": ("the variables that are read", ENV),
    "verification": ("kinds of evidence, and when it is stale", VERIFICATION),
    "lint": ("quality beyond the rules", LINT),
    "testing": ("how test runs become evidence", TESTING),
    "errors": ("codes of errors, and every rule of the validator", ERRORS),
    "mcp": ("the tools by what they are for", MCP),
    "export": ("the formats of req_export", EXPORT),
    "safety": ("hazards and safety requirements", SAFETY),
}
