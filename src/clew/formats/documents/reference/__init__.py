"""Descriptions of commands and interfaces: pages of the manual, OpenAPI and GraphQL.

| module | subject |
|---|---|
| `manual` | troff with the macros of man or mdoc: sections and options |
| `openapi` | OpenAPI and Swagger in YAML or JSON: operations and schemas |
| `graphql` | schemas of GraphQL: definitions with their descriptions |
"""

# Implements: REQ-d00090-E
