"""Formats of other tools: requirements and memories come in from their files, and the graph leaves as files they read.

Readers and writers of these formats, the neutral items between them, and the plan of an import live here. It may import
the layers below the services. It must not import another service, or lose text of an item without a report.
"""
