"""Safety branches: copies of the project's files in git, from which every change of files can be undone.

| module | subject |
|---|---|
| `snapshot` | the state of a folder as git objects, made without touching the user's index |
| `branches` | making, finding and listing the branches |
| `restore` | bringing a state back, after the present one was saved |
"""

# Implements: REQ-d00050
