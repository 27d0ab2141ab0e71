"""Statements that agents and people want to find again, each tied to the code, the documents or the requirements that
it is about: storing, searching, injecting and curating them, measuring how well that goes, and the hooks of hosts.

It may import the layers below the services (graph, search, store, workspace, text); inside it, packages import in the
order texts, storage, writing, navigation, curation, recall, cognition, mirror, purge, hooks, operations, only from
earlier ones, and from `model`, `scope`, `places`, `views`, `pulse` and `arguments`, which import none of them. It must
not know other services, the surfaces that call it, or which engine keeps the store.
"""

# Implements: REQ-o00041
