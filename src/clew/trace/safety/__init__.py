"""Safety branches: the way back from whatever is done to the files of a project.

| module | subject |
|---|---|
| `snapshot` | the state of a folder as git objects, made without touching the user's index |
| `branches` | making, finding and listing the branches |
| `restore` | bringing a state back, after the present one was saved |
"""

from clew.trace.safety.branches import SafetyBranch, create, list_all
from clew.trace.safety.restore import Restored, restore

__all__ = ["Restored", "SafetyBranch", "create", "list_all", "restore"]
