"""Words of sessions that lie on this disk, for whoever sits at it and gave the project the grant for that."""

# Implements: REQ-d00797

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from clew.errors import ClewError
from clew.formats.sessions.transcripts import Transcript, place_of, transcript_in
from clew.grants import Grant, is_granted, own_folder
from clew.operation.call import OWN_SESSION
from clew.why.story.sessions import FoundSession
from clew.workspace.elsewhere import matching
from clew.workspace.git import api as git
from clew.workspace.regular import contents

if TYPE_CHECKING:
    from clew.operation.call import Call

_LONGEST = 64 * 1024 * 1024
_MOST_FILES = 4
_SOURCE = "its transcript on this disk"


def may_be_read(call: "Call") -> bool:
    """True with the grant, and for nobody who asks from elsewhere."""
    return _is_here(call) and is_granted(call.root, Grant.SESSIONS)


def _is_here(call: "Call") -> bool:
    """True for a command and for the client that started the server."""
    return call.session == OWN_SESSION and not call.credential and call.surface != "web"


def might_be_read(call: "Call", found: Sequence[FoundSession]) -> bool:
    """True if the grant is all that is missing for the words of one of the sessions."""
    wordless = (each.session for each in found if not each.session.prompts)
    is_known = any(place_of(each.agent, each.id) is not None for each in wordless)
    return is_known and _is_here(call) and not is_granted(call.root, Grant.SESSIONS)


def with_transcripts(call: "Call", found: Sequence[FoundSession], most: int) -> list[FoundSession]:
    """The first of the sessions with the words of their transcripts, where no record in the repository has any. A
    transcript of another project is not read out, whatever names it."""
    if not may_be_read(call):
        return list(found)
    filled = []
    for each in found[:most]:
        session = each.session
        transcript = None if session.prompts else _transcript(call.root, session.agent, session.id)
        if transcript is not None and transcript.prompts:
            session = msgspec.structs.replace(session, prompts=transcript.prompts)
            each = msgspec.structs.replace(each, session=session, source=f"{each.source}, words from {_SOURCE}")
        filled.append(each)
    return [*filled, *found[most:]]


def _transcript(root: Path, agent: str, id: str) -> Transcript | None:
    place = place_of(agent, id)
    if place is None:
        return None
    folder = own_folder(place.variable, "", place.usual)
    for pattern in place.patterns:
        for file in matching(folder, pattern, _MOST_FILES):
            with suppress(OSError):
                found = transcript_in(contents(file, _LONGEST), id)
                if found is not None and _is_about(root, found.folder, file):
                    return found
    return None


def _is_about(root: Path, folder: str, file: Path) -> bool:
    """True for a session that was held in this repository, or in another work tree of it."""
    top = git.toplevel(root) or root
    if not folder:
        # Gemini CLI keeps the chats of a folder below its hash.
        return file.parent.parent.name in {sha256(os.fsencode(each)).hexdigest() for each in (root, top)}
    place = Path(folder)
    if not place.is_absolute():
        return False
    if place.resolve().is_relative_to(top.resolve()):
        return True
    with suppress(ClewError, OSError):
        own = git.common_folder(root)
        return own is not None and place.is_dir() and git.common_folder(place) == own
    return False
