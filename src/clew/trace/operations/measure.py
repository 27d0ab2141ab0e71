"""The command `clew eval links`: how well links between two sets of files are suggested."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from clew.config import EmbedSettings
from clew.operation.call import Call
from clew.operation.declare import Freshness, Operation, Option
from clew.text.terminal import coloured
from clew.trace.links.measure import Measures, measure


class MeasureLinks(
    Operation,
    verb="eval links",
    summary="measures how well links between two sets of files are suggested",
    epilog="clew eval links traces/\nclew eval links traces/ --json",
    folder="none",
    needs=Freshness.NONE,
):
    """Measure suggested links on your own files, of which the right links are known."""

    folder: Annotated[
        str,
        Option(
            positional=True,
            metavar="FOLDER",
            about="holds sources/ and targets/, a text or code file for each, and answers.csv",
        ),
    ]
    words_only: Annotated[bool, Option(about="measure without the sentence encoder")] = False

    def run(self, call: Call) -> Measures:
        from clew.search.embed.opening import open_embedder
        from clew.trace.links.match.meaning import Vectors
        from clew.trace.links.measure import read_link_set

        links = read_link_set(Path(self.folder))
        embedder = None if self.words_only else open_embedder(EmbedSettings())
        return measure(links, None if embedder is None else Vectors(embedder), call.progress)

    def render(self, result: Measures) -> str:
        return "\n".join(_lines(result))


def _lines(found: Measures) -> Iterator[str]:
    how = "words and meaning" if found.with_meaning else "words alone"
    yield f"{found.sources} sources, {found.targets} targets, {found.links} links; compared by {how}"
    yield f"MAP        {found.map:.3f}"
    yield f"F1         {found.f1:.3f}  of {found.suggested} links suggested from {found.threshold:.2f} on"
    yield f"precision  {found.precision:.3f}"
    yield f"recall     {found.recall:.3f}"
    if isinstance(found.calibration, str):
        yield f"calibration: {found.calibration}"
    else:
        yield coloured("confidence    suggestions    said    right", "bold")
        for each in found.calibration:
            yield f"{each.least:.1f} to {each.below:.1f}    {each.count:>11}    {each.said:.2f}    {each.right:.2f}"
    yield from (coloured(note, "dim") for note in found.notes)
