"""The retrieval engine: texts in, ranked and quoted results out.

Words, vectors, the encoder, ranking by recipes, quotes, and both indexes (files and PostgreSQL) live here. It may
import `store`, `derived`, `ai`, `operation`, `text` and the configuration. It must not know a requirement, a document
or a memory: a text is a unit with fields.
"""

# Implements: REQ-o00010
