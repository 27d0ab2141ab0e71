"""Records of sessions with coding agents, as other tools leave them in a repository.

Any of them may be damaged or hostile: what cannot be read as meant is left out, and no reader raises.
"""
