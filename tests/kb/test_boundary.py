"""Which documents may be seen."""

from collections.abc import Callable

import msgspec
import pytest

from clew.errors import ScopeViolation
from clew.graph.model import NodeKind
from clew.kb.answer.requests import Mode, Narrowing, SearchRequest
from clew.kb.boundary import EVERYTHING, Boundary, ScopeRequest
from clew.kb.queries import spellings
from clew.kb.walk import batches
from clew.project import Project

PUBLIC = """---
doc_tag: public
---
# Harbour

The harbour opens at dawn. Set `HARBOUR_HOME`. See [secret](secret.md#vault).
"""
SECRET = """---
doc_tag: secret
environment: prod
---
# Vault

The harbour vault opens with `VAULT_KEY` and `HARBOUR_HOME`. See [harbour](public.md).

## Procedure

1. Run `vault --open`.
2. Wait.
"""
FILES = {"docs/public.md": PUBLIC, "docs/secret.md": SECRET}
TAGGED = Boundary(tags=("public",))


def opened(make: Callable[..., Project], config: str = "") -> Project:
    project = make(FILES, config=f'[project]\nname = "port"\n[embedder]\nkind = "none"\n{config}')
    project.ensure_graph()
    project.kb.index()
    return project


# Verifies: REQ-d00180-A
def test_a_request_narrows_what_is_seen(make: Callable[..., Project]) -> None:
    kb = opened(make).kb
    assert kb.boundary() == EVERYTHING
    assert kb.boundary(ScopeRequest(project_id="port", doc_tags=())) == EVERYTHING
    asked = ScopeRequest(environment="prod", doc_tags=("secret",), repositories=("port",))
    assert kb.boundary(asked) == Boundary(tags=("secret",), environment="prod", repository="port")
    with kb.library.reading(kb.boundary(asked)) as reading:
        assert [document.path for document in reading.documents()] == ["docs/secret.md"]
    with kb.library.reading(kb.boundary(ScopeRequest(environment="dev"))) as reading:
        assert [document.path for document in reading.documents()] == ["docs/public.md"]
    with kb.library.reading(kb.boundary(ScopeRequest(environment="scratch"))) as reading:
        assert list(reading.documents()) == []


# Verifies: REQ-d00180-A
@pytest.mark.parametrize(
    ("asked", "field", "allowed"),
    [
        (ScopeRequest(project_id="other"), "project_id", ["port"]),
        (ScopeRequest(environment="dev"), "environment", ["prod"]),
        (ScopeRequest(doc_tags=("secret", "public")), "doc_tags", ["secret"]),
        (ScopeRequest(repositories=("elsewhere",)), "repositories", ["port"]),
    ],
)
def test_no_request_sees_more_than_is_configured(
    make: Callable[..., Project], asked: ScopeRequest, field: str, allowed: list[str]
) -> None:
    kb = opened(make, '[kb]\nenvironment = "prod"\ndoc_tags = ["secret"]').kb
    with pytest.raises(ScopeViolation) as raised:
        kb.boundary(asked)
    assert (raised.value.code, raised.value.data["field"]) == ("scope_violation", field)
    assert raised.value.data["allowed"] == allowed
    assert allowed[0] in raised.value.hint


# Verifies: REQ-d00180-A
def test_an_unknown_key_of_a_scope_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="tenant"):
        msgspec.convert({"tenant": "x"}, ScopeRequest)
    with pytest.raises(msgspec.ValidationError, match="staging"):
        msgspec.convert({"environment": "staging"}, ScopeRequest)


# Verifies: REQ-d00180-B
def test_what_is_configured_holds_for_everybody_who_asks(make: Callable[..., Project]) -> None:
    kb = opened(make, '[kb]\ndoc_tags = ["public"]').kb
    assert [node.id for node in kb.region.nodes_by_kind(NodeKind.DOCUMENT)] == ["doc:docs/public.md"]
    assert kb.region.get_node("doc:docs/secret.md") is None
    assert [found.section.document for found in kb.finder.find(SearchRequest(query="harbour vault")).sections] == [
        "docs/public.md"
    ]
    with pytest.raises(ScopeViolation):
        kb.finder.find(SearchRequest(query="harbour", narrowing=Narrowing(tags=("secret",))))


# Verifies: REQ-d00180-B
def test_nothing_outside_of_the_boundary_is_in_the_store(make: Callable[..., Project]) -> None:
    kb = opened(make).kb
    vault, public = "doc:docs/secret.md#vault", "doc:docs/public.md#harbour"
    with kb.library.reading(TAGGED) as reading:
        assert reading.document("docs/secret.md") is None
        assert reading.document_by_id("doc:docs/secret.md") is None
        assert reading.section(vault) is None
        assert reading.text(vault) is None
        assert reading.current_id(vault) is None
        assert reading.sections_of("docs/secret.md") == []
        assert reading.section_ids() == [public]
        assert reading.entity("entity:environment_variable:VAULT_KEY") is None
        shared = reading.entity("entity:environment_variable:HARBOUR_HOME")
        assert shared is not None
        assert shared.count == 1
        assert [each.id for each in reading.mentioning(shared.id)] == [public]
        assert reading.mentioned_in(vault) == []
        assert batches.all_steps(reading, ["entity:procedure:docs/secret.md#vault/procedure"]) == []
        (link,) = batches.links_of(reading, [place.number for place in batches.places(reading, [public])])
        assert reading.target_of(link) is None
        assert batches.linking_paths(reading, spellings("docs/public.md"), -1) == []
        assert reading.counts()["documents"] == 1
    with kb.library.reading() as reading:
        assert reading.text(vault) is not None
        assert reading.counts()["documents"] == 2


# Verifies: REQ-d00180-B
@pytest.mark.parametrize("mode", [Mode.VECTOR_ONLY, Mode.HYBRID_LOCAL])
def test_a_search_finds_nothing_outside_of_the_boundary(make: Callable[..., Project], mode: Mode) -> None:
    kb = opened(make).kb
    everywhere = kb.finder.find(SearchRequest(query="harbour vault opens", mode=mode))
    assert {found.document.tag for found in everywhere.sections} == {"public", "secret"}
    inside = kb.finder.find(SearchRequest(query="harbour vault opens", mode=mode), boundary=TAGGED)
    assert {found.document.tag for found in inside.sections} == {"public"}
    production = kb.finder.find(
        SearchRequest(query="harbour vault opens", mode=mode), boundary=Boundary(environment="prod")
    )
    assert {found.document.tag for found in production.sections} == {"secret"}
    assert not kb.finder.find(
        SearchRequest(query="harbour", mode=mode), boundary=Boundary(repository="elsewhere")
    ).sections


# Verifies: REQ-d00180-C
def test_documents_are_of_the_configured_environment_unless_they_name_another(make: Callable[..., Project]) -> None:
    project = make({**FILES, "docs/odd.md": "---\nenvironment: staging\n---\n# Odd\n"})
    project.kb.index()
    with project.kb.library.reading() as reading:
        found = {document.path: document for document in reading.documents()}
    assert {path: document.environment for path, document in found.items()} == {
        "docs/odd.md": "dev",
        "docs/public.md": "dev",
        "docs/secret.md": "prod",
    }
    assert {document.repository for document in found.values()} == {project.config.name}
    (problem,) = found["docs/odd.md"].problems
    assert (problem.code, "staging" in problem.message) == ("documents.unknown_environment", True)


# Verifies: REQ-d00180-C
def test_another_environment_in_the_configuration_is_that_of_the_documents_after_the_next_run(
    make: Callable[..., Project],
) -> None:
    opened(make)
    project = opened(make, '[kb]\nenvironment = "scratch"\nrepository = "mirror"')
    with project.kb.library.reading() as reading:
        found = {document.tag: (document.environment, document.repository) for document in reading.documents()}
    assert found == {"public": ("scratch", "mirror"), "secret": ("prod", "mirror")}
    assert [each.document.tag for each in project.kb.finder.find(SearchRequest(query="harbour")).sections] == ["public"]
