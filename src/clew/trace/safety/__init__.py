"""Safety branches: the way back from whatever is done to the files of a project.

| module | subject |
|---|---|
| `snapshot` | the state of a folder as git objects, made without touching the user's index |
| `branches` | making, finding and listing the branches |
| `restore` | bringing a state back, after the present one was saved |
"""

# Implements: REQ-d00050
