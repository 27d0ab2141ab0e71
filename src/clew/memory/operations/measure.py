"""The command `clew eval memory`: how well the memory finds, and how rarely it injects what does not belong."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from clew.config import EmbedSettings
from clew.memory.operations.operation import MemoryOperation
from clew.operation.call import Call
from clew.operation.declare import Option
from clew.text.display import counted

if TYPE_CHECKING:
    from clew.search.eval.collection import EvaluationDocument

_RECIPES = ("conversation", "assistant", "default")
_MEASURES = ("recall@5", "recall@10", "recall@20")


class MeasureMemory(
    MemoryOperation,
    verb="eval memory",
    summary="measures recall on conversations with known answers, or the memory of this project",
    epilog="clew eval memory conversations/\nclew eval memory",
):
    """Measure recall on your own conversations; without them recall, gate, duplicates and conflicts of the memory."""

    conversations: Annotated[
        str | None,
        Option(
            positional=True,
            metavar="CONVERSATIONS",
            about="holds corpus.jsonl, queries.jsonl and qrels.tsv; corpus.jsonl has _id, text and metadata",
        ),
    ] = None
    words_only: Annotated[bool, Option(about="measure conversations without the sentence encoder")] = False

    def run(self, call: Call) -> dict[str, Any]:
        if self.conversations is None:
            from clew.memory.recall.measure import measure_memory

            data: dict[str, Any] = msgspec.to_builtins(measure_memory(call.project.memory.view(call), call))
            return data
        return self._measured(Path(self.conversations), call)

    def _measured(self, folder: Path, call: Call) -> dict[str, Any]:
        from clew.search.eval.collection import Evaluation, read_collection

        collection = read_collection(folder)
        settings = EmbedSettings(kind="none") if self.words_only else EmbedSettings()
        with tempfile.TemporaryDirectory(prefix="clew-eval-") as place:
            evaluation = Evaluation(Path(place), collection, embed=settings, progress=call.progress)
            try:
                values = {name: evaluation.measure(name).values for name in _RECIPES}
            finally:
                evaluation.close()
        return {
            "recipes": {name: {each: round(of[each], 4) for each in _MEASURES} for name, of in values.items()},
            "chosen": chosen_recipe(collection.documents),
        }

    def render(self, result: dict[str, Any]) -> str:
        return "\n".join(_table(result) if "recipes" in result else _lines(result))


def chosen_recipe(documents: "tuple[EvaluationDocument, ...]") -> str:
    """The recipe for a conversation: between people, or between a user and an assistant, by the roles that it names."""
    turns = [document.metadata for document in documents if document.metadata is not None]
    if not turns:
        return "default"
    return "assistant" if any((turn.role or "").casefold() == "assistant" for turn in turns) else "conversation"


def _table(data: dict[str, Any]) -> Iterator[str]:
    yield f"{'':<14}" + "".join(f"{name:>11}" for name in _MEASURES)
    for name, values in data["recipes"].items():
        mark = " (chosen)" if name == data["chosen"] else ""
        yield f"{name:<14}" + "".join(f"{values[each]:>11.4f}" for each in _MEASURES) + mark


def _lines(data: dict[str, Any]) -> Iterator[str]:
    yield f"memory: {counted(data['memories'], 'memory', 'memories')}"
    for name in ("recall", "gate", "duplicates", "conflicts"):
        figures = ", ".join(f"{key.replace('_', ' ')} {_shown_value(value)}" for key, value in data[name].items())
        yield f"{name}: {figures}"


def _shown_value(value: Any) -> str:
    return "insufficient data" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
