"""Ticking a task of a change: one character of `tasks.md`, and every other byte stays."""

# Implements: REQ-d00421

from pathlib import Path

import msgspec

from clew.edit.edits import FileEdit, diff_of
from clew.edit.transaction import EditPurpose, FileTransaction
from clew.errors import FileChanged, NotFound
from clew.formats.openspec.tasks import Task, read_tasks
from clew.store.interface import Store
from clew.text.display import shortened
from clew.workspace.files import read_bytes

TASKS_FILE = "tasks.md"


class MarkedTask(msgspec.Struct, frozen=True):
    change_id: str
    task: str
    done: bool
    path: str
    line: int
    diff: str
    """Empty where it was so already."""
    dry_run: bool
    completed: int
    total: int


def mark(
    root: Path, store: Store | None, change_id: str, folder: str, name: str, *, done: bool, dry_run: bool, limit: int
) -> MarkedTask:
    """Mark a task as done or open; `name` is its number or its text."""
    path = f"{folder}/{TASKS_FILE}"
    data = read_bytes(root, path, limit=limit)
    tasks = read_tasks(data).items
    task = _named(tasks, name, path)
    after = _ticked(data, task, done=done)
    edits = [FileEdit(path, data, after)] if after != data else []
    if edits and not dry_run:
        FileTransaction(
            root, edits, EditPurpose(f"{'tick' if done else 'open'} {task.number or 'task'} of {change_id}")
        ).commit(store)
    completed = sum(each.done for each in tasks) - task.done + done
    return MarkedTask(
        change_id=change_id,
        task=f"{task.number} {task.text}".strip(),
        done=done,
        path=path,
        line=task.line,
        diff=diff_of(edits),
        dry_run=dry_run,
        completed=completed,
        total=len(tasks),
    )


def _named(tasks: tuple[Task, ...], name: str, path: str) -> Task:
    wanted = name.strip()
    numbered = [task for task in tasks if task.number == wanted]
    called = numbered or [task for task in tasks if wanted in (task.text, f"{task.number} {task.text}".strip())]
    if len(called) == 1:
        return called[0]
    numbers = ", ".join(task.number for task in tasks if task.number)
    raise NotFound(
        f"{'Several tasks are' if called else 'No task is'} called '{shortened(wanted)}' in {path}.",
        hint=f"Its tasks are {numbers}." if numbers else "Name a task by its whole text.",
    )


def _ticked(data: bytes, task: Task, *, done: bool) -> bytes:
    lines = data.splitlines(keepends=True)
    line = lines[task.line - 1]
    start = line.index(b"[")
    if line[start + 2 : start + 3] != b"]":
        raise FileChanged(f"Line {task.line} is not a task any more.", hint="Read the change again.")
    if (line[start + 1 : start + 2] in b"xX") == done:
        return data
    lines[task.line - 1] = line[: start + 1] + (b"x" if done else b" ") + line[start + 2 :]
    return b"".join(lines)
