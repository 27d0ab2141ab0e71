"""No answer of the tools on documents exceeds its budget, whatever is asked."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jsonschema
import msgspec

from clew.errors import ClewError
from clew.operation.call import Answer, Call, carry_out
from clew.operation.listing import ListedOperation, all_tools
from clew.project import Project
from clew.surfaces.mcp.dialects import document_code
from clew.text.tokens import estimate_tokens

CALLS = 2_000
READS = ("kb.read_excerpt", "kb.expand_excerpt", "kb.extract_evidence", "get_section_text")
"""Asked more often than what searches, because they are quick."""
TOOLS_OF_KB = {tool.name: tool for tool in all_tools() if tool.toolset == "kb"}
WORDS = ["margin", "keel", "water", "日本", "S3", "?", "`code`", "the", "Ä", "x" * 60, "😀", "-", "default", "part"]
NUMBERS = [1, 2, 3, 5, 20, 26, 81, 300, 801, 5_000, 10**9]


def documents(rng: random.Random) -> dict[str, str]:
    files = {}
    for number in range(6):
        blocks = [f"# Page {number}"]
        for part in range(rng.randrange(1, 5)):
            words = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(5, 150)))
            blocks += [f"## Part {part} {rng.choice(WORDS)}", words, f"```\n{words[:300]}\n```", f"- {words[:80]}\n- x"]
        files[f"docs/{number}.md"] = "\n\n".join(blocks)
    files["docs/endless.md"] = "# Endless\n\n" + "margin" * 4_000 + "\n\n" + "日" * 4_000
    return files


class RandomCaller:
    """Asks at random, mostly what makes sense, and remembers the passages it is told of."""

    def __init__(self, project: Project, rng: random.Random) -> None:
        self.project = project
        self.rng = rng
        self.passages = ["unknown"]
        self.sections = ["doc:none"]

    def number(self) -> int:
        return self.rng.choice(NUMBERS) if self.rng.random() < 0.9 else self.rng.choice([0, -1, -(10**6)])

    def words(self) -> str:
        return " ".join(self.rng.choice(WORDS) for _ in range(self.rng.randrange(0, 8)))

    def some(self, **values: Callable[[], Any]) -> dict[str, Any]:
        return {name: make() for name, make in values.items() if self.rng.random() < 0.5}

    def arguments(self, tool: str) -> dict[str, Any]:
        rng, number, words = self.rng, self.number, self.words
        mode, passage = partial(rng.choice, ["auto", "vector_only", "hybrid_local"]), partial(rng.choice, self.passages)
        match tool:
            case "kb.search":
                options = self.some(
                    max_snippet_chars=number,
                    max_per_doc=number,
                    include_scores=lambda: True,
                    include_debug=lambda: True,
                    mode=mode,
                )
                return {"query": words(), **self.some(top_k=number, page_size=number), "options": options}
            case "kb.read_excerpt":
                options = self.some(format=lambda: rng.choice(["text", "bullets"]), include_citation=lambda: False)
                return {
                    "passage_id": passage(),
                    "options": options,
                    **self.some(max_tokens=number, start_char=number),
                }
            case "kb.expand_excerpt":
                own = self.some(before_tokens=number, after_tokens=number, anchor_start_char=number)
                return {"passage_id": passage(), **own}
            case "kb.extract_evidence":
                ids = [passage() for _ in range(rng.randrange(1, 25))]
                own = self.some(max_quotes=number, max_quote_tokens=number, include_context_tokens=number)
                return {"question": words(), "passage_ids": ids, **own}
            case "kb.retrieve_evidence":
                own = self.some(top_k=number, max_quotes=number, max_quote_tokens=number)
                return {"question": words(), "options": self.some(mode=mode, max_per_doc=number), **own}
            case "search_sections":
                return {"query": words(), **self.some(top_k=number, page_size=number)}
            case "get_section_text":
                ids = [rng.choice(self.sections) for _ in range(rng.randrange(0, 60))]
                return {"section_ids": ids, **self.some(max_bytes_per=number)}
        return {"query": words(), **self.some(top_k=number, verbosity=lambda: rng.choice(["full", "graph", "odd"]))}

    def learn(self, data: dict[str, Any]) -> None:
        for each in data.get("results", ()):
            self.sections.append(each["section_id"])
            if "passage_id" in each:
                self.passages.append(each["passage_id"])


def texts_of(data: dict[str, Any], arguments: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Every text that has a budget of its own, with that budget."""
    for quote in data.get("quotes", ()):
        yield quote["quote"], min(arguments.get("max_quote_tokens", 80), 125)
        for side in ("context_before", "context_after"):
            yield quote.get(side, ""), min(arguments.get("include_context_tokens", 20), 80)
    if "excerpt" in data:
        yield data["excerpt"], min(arguments.get("max_tokens", 800), 800)


def check(tool: ListedOperation, arguments: dict[str, Any], data: dict[str, Any], text: str) -> None:
    encoded = msgspec.json.encode(data).decode()
    is_new = tool.name.startswith("kb.")
    assert estimate_tokens(encoded) <= (4_000 if is_new else 10_000)
    assert estimate_tokens(text) <= (4_000 if is_new else 10_000)
    assert len(encoded.encode()) <= 524_288
    for shown, tokens in texts_of(data, arguments):
        assert estimate_tokens(shown) <= tokens
    if tool.name == "kb.search":
        options = arguments["options"]
        assert len(data["results"]) <= min(arguments.get("page_size", 5), arguments.get("top_k", 5), 25)
        for found in data["results"]:
            assert len(found["preview"]) <= min(options.get("max_snippet_chars", 280), 600)
    for quote in data.get("quotes", ()):
        assert len(quote["quote"]) <= 500
    if "excerpt" in data:
        assert len(data["excerpt"].encode()) <= 32_768


def asked(caller: RandomCaller, tool: ListedOperation, arguments: dict[str, Any]) -> Answer | ClewError:
    try:
        return carry_out(tool, arguments, Call(caller.project, all_tools()))
    except ClewError as error:
        return error


# Verifies: REQ-d00177-B+C
def test_no_answer_exceeds_its_budget_and_every_refusal_has_a_reason(make: Callable[..., Project]) -> None:
    rng = random.Random(7)
    caller = RandomCaller(make(documents(rng)), rng)
    validators = {name: jsonschema.Draft202012Validator(tool.output_schema) for name, tool in TOOLS_OF_KB.items()}
    answered = 0
    for number in range(CALLS):
        tool = TOOLS_OF_KB[rng.choice(READS if number > 40 and rng.random() < 0.9 else tuple(TOOLS_OF_KB))]
        arguments = caller.arguments(tool.name)
        answer = asked(caller, tool, arguments)
        if isinstance(answer, ClewError):
            assert document_code(answer) in ("INVALID_ARGUMENT", "BUDGET_EXCEEDED"), (tool.name, arguments, answer)
            assert answer.hint
            continue
        answered += 1
        data = msgspec.json.decode(msgspec.json.encode(answer.data))
        check(tool, arguments, data, answer.text)
        if number % 10 == 0:
            validators[tool.name].validate(data)
        caller.learn(data)
    assert CALLS // 4 < answered < CALLS
