"""Whether a text is a line of the block in which a memory was put before an agent, and nothing else."""

from clew.memory.model import Memory
from clew.memory.recall.block import SHORT_ENOUGH, harmless, said_in
from clew.search.quote.evidence import GAP, PREVIEW_CHARS, fitting_end
from clew.text.display import MORE
from clew.text.sentences import plain_spans
from clew.text.tokens import estimate_tokens


def is_line_of(memory: Memory, text: str, fewest_words: int) -> bool:
    """Whether a text is a line as the block shows the memory: all of it, or a part of so many words. What differs in
    one word may be the correction."""
    said = said_in(_in_line(text).lstrip("-*> "), memory)
    if said is None:
        return False
    whole = _in_line(memory.text)
    if said == whole:
        return True
    is_long = estimate_tokens(memory.text) > SHORT_ENOUGH
    if is_long and said == _in_line(memory.title):
        return True
    if len(said.split()) < fewest_words:
        return False
    is_beginning = said.endswith(MORE) and whole.startswith(said.removesuffix(MORE))
    return is_beginning or (is_long and _is_preview(memory.text, said))


def _is_preview(text: str, said: str) -> bool:
    """Whether a line consists of sentences of a text, in its order and each as a preview would cut it."""
    rest = said
    for start, end in plain_spans(text):
        sentence = _in_line(text[start : fitting_end(text, start, end, max_chars=PREVIEW_CHARS)])
        if rest == sentence:
            return True
        for between in (GAP, " "):
            if rest.startswith(sentence + between):
                rest = rest.removeprefix(sentence + between)
                break
    return False


def _in_line(text: str) -> str:
    return harmless(" ".join(text.split()))
