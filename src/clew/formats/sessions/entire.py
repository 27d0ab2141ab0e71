"""Checkpoints of Entire: a folder for each, with a folder for each of its sessions.

The folder of a checkpoint is named by its id, split after two characters. A session's folder holds `metadata.json` and
`prompt.txt`, in which rules separate the prompts. Older checkpoints hold one session in their own folder.
"""

# Implements: REQ-d00795

import re

from clew.formats.sessions.model import AgentSession, day_in, decoded_json, member, name_in, prompts_among

BRANCH = "entire/checkpoints/v1"
_PART = re.compile(r"/(\d{1,4})/metadata\.json")
_MOST_PARTS = 8


def folder_of(checkpoint: str) -> str:
    return f"{checkpoint[:2]}/{checkpoint[2:]}"


def parts_of(checkpoint: str, metadata: bytes) -> tuple[str, ...]:
    """The folders of a checkpoint's sessions, the latest first."""
    own = folder_of(checkpoint)
    listed = member(decoded_json(metadata), "sessions")
    names = [member(each, "metadata") for each in listed] if isinstance(listed, list) else []
    found = [match[1] for each in names if isinstance(each, str) and (match := _PART.search(each))]
    return tuple(f"{own}/{number}" for number in found[::-1][:_MOST_PARTS]) or (own,)


def session_in(metadata: bytes) -> AgentSession:
    about = decoded_json(metadata)
    return AgentSession(
        agent=name_in(member(about, "agent")),
        model=name_in(member(about, "model")),
        date=day_in(member(about, "created_at")),
        id=name_in(member(about, "session_id")),
    )


def prompts_in(data: bytes) -> tuple[str, ...]:
    return prompts_among(data.decode("utf-8", "replace").split("\n\n---\n\n"))


def touched(metadata: bytes, path: str) -> bool:
    """True unless the session says that it touched other files only."""
    files = member(decoded_json(metadata), "files_touched")
    return not isinstance(files, list) or not files or path in files
