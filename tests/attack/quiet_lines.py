"""What a quiet run asks of Clew: every command of the command line, and every tool that a server lists by default.

A test compares both with what there is, so that a new command or tool comes here too.
"""

from collections.abc import Mapping
from typing import Any

COMMANDS = """
brief
why src/fairwater/curve.py:12
why HEAD
ask "when are ships warned?"
search tide table
search --regex ^REQ-d --field id
show REQ-d00001
uses read_table
context src/fairwater/curve.py:12
status --json
check --all
coverage
trace --output matrix.html
impact REQ-d00001-A
changed
review --list
links suggest --wait
links review tests
links reject src/fairwater/curve.py:30 REQ-d00002-B
links reject src/fairwater/curve.py:30 REQ-d00002-B --take-back
links apply src/fairwater/curve.py:30 REQ-d00002-B
terms glossary
terms index
fix --dry-run
index
specs overview
specs list
specs show passage-windows
specs search "not enough water"
specs validate --strict
specs index
specs format --check
change list
change status add-neap-warning
change show add-neap-warning
change validate add-neap-warning
change conflicts
change new add-login --title "Log in"
change task add-neap-warning 1.2
change diff add-neap-warning
change rebase add-neap-warning
change artefacts add-neap-warning
change instructions proposal add-neap-warning
change apply add-neap-warning --dry-run
change archive add-neap-warning --yes --take change
change unarchive add-neap-warning
kb status
kb index --full
kb reconcile
kb search "how is the margin set"
kb ask "what is the default margin?"
kb show docs/guide.md
kb graph REQ-d00001
remember "Tide tables are in UTC" --about src/fairwater/tables.py --why "decided after the summer time bug"
remember "The bar shifts in spring" --why "a skipper said so"
recall "which time zone" --about src/fairwater/tables.py
memory list
memory show {memory}
memory edit {memory} --text "Tide tables are in UTC."
memory keep {memory} {other}
memory history
memory status
memory export memories.jsonl
memory import memories.jsonl --as-document
memory accept --all
memory mirror on notes/memory
memory mirror sync
memory mirror off
memory forget {memory}
memory restore {memory}
memory purge --text "nobody ever said this" --yes
req brief
req list
req show 2
req validate
req export
req help
req status
req next
req schema
req version
req safety
req hazard list
req hazard show HAZ-0001
req sf list
req sf show SF-0001
req sreq list
req sreq show SREQ-0001
req trace 2
req add -t "Ring the bell" -s "The system shall ring the bell in fog." -r "Nobody sees the lamp." -a "It rings."
req update 4 --title "Ring the great bell" --reason "There are two."
req link 4 2
req split 4 -s "The system shall ring in fog." -s "The system shall ring at night." --reason "Two occasions."
req delete 6 --reason "Nobody rings at night."
req purpose "Tell when there is enough water." -r "Shorter."
req test record 2 --result pass
req test list 2
req test run --from-file log.txt
req verify 2 --by inspection --notes "Looked at it."
req adopt --reason "It has been so for years." --all-drafts
req renumber --base HEAD --dry-run
req migrate
req import -f json more.json --dry-run
req batch changes.json
req check HEAD
req check-message message.txt
req coverage
req diff HEAD
req stale
req audit
req doctor
req review --base HEAD
req lint
req precheck
req hooks install
req hooks uninstall
req setup
req init -n other -o other.req
req repair --confirm-direct-edit
req merge HEAD
req merge-driver base.req ours.req theirs.req
eval retrieval questions
eval links traces
eval memory
export jsonl --output graph.jsonl
export reqif --output requirements.reqif
import csv more.csv --into register
init --dry-run
init --client claude-desktop --client copilot --client zed --client opencode
init --client claude-code --client codex --client cursor --client gemini --client vscode --memory
init --client opencode --url http://127.0.0.1:8484/mcp --force
uninstall --dry-run
uninstall
store status
store backup backup
token add alice --days 90
token list
token revoke alice
trust --show
trust --yes
trust --revoke
doctor
tools --toolsets all
call get_requirement '{{"req_id": "REQ-d00001"}}'
completion bash
hook SessionStart --host claude-code
hook UserPromptSubmit --host claude-code
hook Stop --host claude-code
"""
"""In this order, in a copy of the demo with a history. `{memory}` and `{other}` are what `remember` made."""

SHORT = ("index", "ask", "search", "why", "remember", "recall", "init", "token", "trust", "doctor")
"""Those that a short run tries: they encode, write for the user, or look for what is installed."""

SERVERS = ("serve", "web", "lsp", "req serve", "req mcp", "req tui")
"""Commands that go on until they are ended; the day of a server has them."""

FILES = {
    "log.txt": "test tests::margin ... ok\n",
    "message.txt": "Ring the bell\n\nReq: REQ-0002\n",
    "more.json": '[{"title": "Light the lamp", "statement": "The system shall light the lamp at night.",'
    ' "rationale": "Ships need it.", "acceptance": ["The lamp is lit"]}]',
    "changes.json": "[]\n",
    "more.csv": "ID,Title,Text\nR-1,Ring the bell,The system shall ring the bell in fog.\n",
    "questions/corpus.jsonl": '{"_id": "a", "title": "Bell", "text": "The bell rings in fog."}\n'
    '{"_id": "b", "title": "Lamp", "text": "The lamp is lit at night."}\n',
    "questions/queries.jsonl": '{"_id": "q1", "text": "when does the bell ring"}\n',
    "questions/qrels.tsv": "query-id\tcorpus-id\tscore\nq1\ta\t1\n",
    "traces/sources/bell.txt": "The bell rings in fog.\n",
    "traces/targets/ring.py": "def ring_the_bell_in_fog(): ...\n",
    "traces/answers.csv": "source,target\nbell.txt,ring.py\n",
}
"""What the commands read beside the demo."""

TOOLS: Mapping[str, Mapping[str, Any]] = {
    "clew_brief": {},
    "why": {"target": "src/fairwater/curve.py:12"},
    "context": {"target": "src/fairwater/curve.py:12"},
    "search_everything": {"query": "tide table"},
    "tools_search": {"query": "coverage"},
    "tools_call": {"name": "get_project_summary", "arguments": {}},
    "get_graph_status": {},
    "refresh_graph": {},
    "search": {"query": "tide"},
    "get_requirement": {"req_id": "REQ-d00001"},
    "find_uses": {"target": "read_table"},
    "get_hierarchy": {"req_id": "REQ-d00001"},
    "get_test_coverage": {"req_id": "REQ-d00001"},
    "get_uncovered_assertions": {},
    "get_subtree": {"root_id": "REQ-p00001"},
    "discover_requirements": {"query": "tide", "scope_id": "REQ-p00001"},
    "req_list": {},
    "req_show": {"id": "REQ-0001"},
    "req_brief": {},
    "req_add": {
        "title": "Light the lamp",
        "statement": "The system shall light the lamp at night.",
        "rationale": "Ships need it.",
        "acceptance": ["The lamp is lit"],
    },
    "req_update": {"id": "REQ-0001", "reason": "Clearer.", "title": "Refuse a margin that is too small"},
    "req_next": {},
    "mutate_update_assertion": {"assertion_id": "REQ-d00001-A", "new_text": "A line SHALL be read."},
    "undo_last_mutation": {},
    "save_mutations": {},
    "list_changes": {},
    "validate_change": {"change_id": "add-neap-warning"},
    "list_specs": {},
    "get_spec_requirements": {"spec_id": "passage-windows"},
    "get_scenario": {"spec_id": "passage-windows", "requirement": "Margin under the keel"},
    "search_specs": {"query": "not enough water"},
    "ask": {"question": "what is the default margin?"},
    "kb_search": {"query": "how is the margin set"},
    "kb_retrieve_evidence": {"question": "what is the default margin?"},
    "store_memory": {"content": "The bar shifts in spring.", "rationale": "A skipper said so."},
    "search_graph": {"query": "when does the bar shift"},
    "inject_context": {"query": "when does the bar shift"},
    "get_recent_context": {},
    "critique_context": {},
    "forget_concept": {"node_id": "{memory}", "reason": "user_requested", "rationale": "It was a test."},
}
"""In this order, as the portable names; `{memory}` is what `store_memory` made."""
