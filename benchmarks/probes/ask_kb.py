"""Searches, asks, walks and reads a library that is there: FOLDER ROUNDS. Prints its figures as JSON.

Numpy has one thread, so that the processor's time is that of the work and not of threads that wait for each other.
"""

import json
import os
import resource
import sys
from itertools import pairwise
from pathlib import Path

from benchmarks.kb_scale import path
from benchmarks.probes.stopwatch import Stopwatch
from benchmarks.search_speed import questions
from clew.kb.answer.answering import answer
from clew.kb.answer.requests import EvidenceRequest, Mode, SearchRequest
from clew.operation.call import Call, carry_out
from clew.operation.listing import all_tools
from clew.project import Project

WARM_UP = 5
WALKS = {
    "graph.expand": lambda one, other: {"node_ids": [one]},
    "graph.paths": lambda one, other: {"a_ids": [one], "b_ids": [other]},
}
EDITS = 12
ADDED = "zweisilkmpvx"
"""A word that no document has."""


def main() -> None:
    folder, rounds = Path(sys.argv[1]), int(sys.argv[2])
    project = Project.open(folder)
    asking = _Asking(project)
    found = asking.questions(questions(rounds + WARM_UP))
    asking.walk_and_read(found)
    for number in range(EDITS):
        asking.edit(folder / path(number * 7), number)
    with project.kb.library.reading() as reading:
        counts = reading.counts()
    project.close()
    print(
        json.dumps(
            {
                "sections": counts["sections"],
                "documents": counts["documents"],
                "times": {name: watch.as_data() for name, watch in asking.watches.items()},
                "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            }
        )
    )


class _Asking:
    def __init__(self, project: Project) -> None:
        self._project = project
        self.watches: dict[str, Stopwatch] = {}

    def questions(self, texts: list[str]) -> list[str]:
        """Search and ask; each question once for all, so that nothing is answered from memory. Returns sections."""
        engine, finder = self._project.index.engine, self._project.kb.finder
        assert engine is not None
        met: dict[str, None] = {}
        for number, text in enumerate(texts):
            engine.embed_query(text)
            if number < WARM_UP:
                answer(finder, EvidenceRequest(question=text))
                continue
            way = number % 3
            with self._watch(("kb search", "kb search, vector_only", "answer by quotes")[way]).sample():
                if way == 2:
                    met.update(dict.fromkeys(answer(finder, EvidenceRequest(question=text)).sections))
                else:
                    finder.find(SearchRequest(query=text, mode=(Mode.HYBRID_LOCAL, Mode.VECTOR_ONLY)[way]))
        return list(met)

    def walk_and_read(self, sections: list[str]) -> None:
        finder = self._project.kb.finder
        for id in sections:
            with self._watch("neighbourhood of a section").sample():
                finder.neighbours([id])
            with self._watch("excerpt").sample(), self._project.kb.library.reading() as reading:
                reading.section(id)
                reading.text(id)
        known = {tool.name: tool for tool in all_tools()}
        for name, arguments in WALKS.items():
            for one, other in pairwise(sections):
                if name in known:
                    with self._watch(name).sample():
                        carry_out(known[name], arguments(one, other), Call(self._project, all_tools()))

    def edit(self, document: Path, number: int) -> None:
        """Write a word into a document; the clock runs until a search has found it."""
        before, times = document.read_bytes(), document.stat()
        word = ADDED + "bdgklmnrstpv"[number % EDITS]
        finder = self._project.kb.finder
        with self._watch("edited document, until it is found").sample():
            document.write_bytes(before + f"\n{word}\n".encode())
            self._project.kb.index()
            found = finder.find(SearchRequest(query=f"+{word}")).sections
        assert any(word in each.text for each in found)
        document.write_bytes(before)
        os.utime(document, ns=(times.st_atime_ns, times.st_mtime_ns))
        self._project.kb.index()

    def _watch(self, name: str) -> Stopwatch:
        return self.watches.setdefault(name, Stopwatch())


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
