"""Passages in scratch space as resources of the protocol.

There is one template and no list: a client reads a passage by an address from an answer, in the same session. Hosts
decide what to do with an address; every tool works without them.
"""

import re
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from clew.errors import ClewError, InvalidArgument
from clew.operation.declare import ResourceRef
from clew.project import Project
from clew.surfaces.mcp.dialects import document_envelope

if TYPE_CHECKING:
    # Passages are kept by a part that is opened when somebody asks for documents.
    from clew.kb.answer.scratch import ScratchPassage

MIME_TYPE = "text/plain"
PRIORITY = 0.1
TEMPLATE_NAME = "scratch"

_LINKS_SINCE = "2025-06-18"
"""Older clients know no block that points to a resource."""
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]*)://scratch/([A-Za-z0-9_-]{22})/([A-Za-z0-9_-]{16,22})")

Context = ServerRequestContext[Any, Any]


def passage_template(scheme: str) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        name=TEMPLATE_NAME,
        title="Passages of documents",
        uri_template=f"{scheme}://scratch/{{session_id}}/{{passage_id}}",
        description="The whole text of a passage that a tool pointed to, for some time, in the same session only.",
        mime_type=MIME_TYPE,
    )


class ScratchResources:
    def __init__(self, project: Project, scheme: str) -> None:
        self._project = project
        self._scheme = scheme

    def is_passage(self, uri: str) -> bool:
        """True if an address has the form of a passage's; the passage need not exist."""
        return uri.partition("://")[2].partition("/")[0] == TEMPLATE_NAME

    async def read(self, session: str | None, credential: str, uri: str) -> types.ReadResourceResult:
        """A passage of the caller. `session` is that of the transport; None if it has no sessions."""
        try:
            passage = await anyio.to_thread.run_sync(partial(self._passage, session, credential, uri))
        except ClewError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error), data=document_envelope(error)) from error
        contents = types.TextResourceContents(
            uri=uri,
            mime_type=MIME_TYPE,
            text=passage.text,
            _meta={
                "size": passage.size_bytes,
                "lastModified": passage.created_at,
                "section_id": passage.section_id,
                "doc_tag": passage.doc_tag,
                "title": passage.title,
                "source_uri": passage.source_uri,
            },
        )
        return types.ReadResourceResult(contents=[contents])

    def _passage(self, session: str | None, credential: str, uri: str) -> "ScratchPassage":
        address = _ADDRESS.fullmatch(uri)
        if address is None or address[1] != self._scheme:
            raise InvalidArgument(
                f"'{uri[:120]}' is not an address of a passage.",
                hint=f"Use a scratch_uri as a tool returned it: {self._scheme}://scratch/session_id/passage_id.",
                data={"reason": "invalid_uri"},
            )
        kb = self._project.kb
        return kb.passages.readable(session, address[3], kb.boundary(), handle=address[2], credential=credential)


def link_blocks(links: Iterable[ResourceRef], ctx: Context) -> list[types.ResourceLink]:
    """Blocks that link to texts which an answer leaves out."""
    if ctx.protocol_version < _LINKS_SINCE:
        return []
    return [
        types.ResourceLink(
            uri=link.uri,
            name=link.name,
            mime_type=MIME_TYPE,
            size=link.size,
            annotations=types.Annotations(audience=["assistant"], priority=PRIORITY, last_modified=link.last_modified),
        )
        for link in links
    ]
