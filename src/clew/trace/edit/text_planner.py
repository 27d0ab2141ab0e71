"""Plans of what stands around assertions: sections, templates, journeys, and the file that something stands in."""

from collections.abc import Callable

import msgspec

from clew.errors import InvalidArgument, NotFound, Refused, WrongKind
from clew.graph.graph import Graph
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.trace.edit.file_choice import FileChoice
from clew.trace.edit.plan import Plan
from clew.trace.edit.rules import Rules
from clew.trace.edit.text import sections as section_text
from clew.trace.edit.text.blocks import Record
from clew.trace.edit.text.draft import Draft, DraftContext
from clew.trace.edit.text.requirements import Mutations

JOURNEY_FIELDS = ("actor", "goal", "context")


SECTION_ACTIONS = ("add", "update", "delete")


class TextPlanner:
    def __init__(self, drafting: DraftContext, rules: Rules, places: FileChoice) -> None:
        self._drafting = drafting
        self._graph = drafting.graph
        self._mutations = Mutations(drafting)
        self._rules = rules
        self._places = places
        self.operations: dict[str, Callable[..., Plan]] = {
            "add_remainder": self.add_remainder,
            "update_remainder": self.update_remainder,
            "delete_remainder": self.delete_remainder,
            "set_stereotype": self.set_stereotype,
            "update_journey_field": self.update_journey_field,
            "journey_section": self.journey_section,
            **{f"{action}_journey_section": self.journey_section for action in SECTION_ACTIONS},
            "add_journey": self.add_journey,
            "delete_journey": self.delete_journey,
            "move_node_to_file": self.move_node_to_file,
        }

    # Sections

    def add_remainder(self, req_id: str, heading: str, text: str) -> Plan:
        node = self._rules.authored(req_id)
        title, words = self._rules.title(heading), self._rules.text(text)
        change, section = section_text.add_section(self._drafting, node.id, title, words)
        return Plan(
            change,
            {"req_id": node.id, "heading": title, "text": words},
            section.id,
            node.id,
            {},
            {"id": section.id, "heading": title, "text": words},
            f"{node.id} has the section '{title}'.",
        )

    def update_remainder(self, node_id: str, text: str | None = None, heading: str | None = None) -> Plan:
        if text is None and heading is None:
            raise InvalidArgument("Neither text nor heading is given.", hint="Pass the one that shall change.")
        owner, section = self._section(node_id)
        words = self._rules.text(text) if text is not None else None
        title = self._rules.title(heading) if heading is not None else None
        change = section_text.update_section(self._drafting, owner, section, heading=title, text=words)
        given = {"text": words, "heading": title}
        return Plan(
            change,
            {"node_id": section.id, **{name: value for name, value in given.items() if value is not None}},
            section.id,
            owner,
            {"heading": section.heading, "text": section.text},
            {"heading": title or section.heading, "text": section.text if words is None else words},
            f"The section '{section.heading}' of {owner} is changed.",
        )

    def delete_remainder(self, node_id: str) -> Plan:
        owner, section = self._section(node_id)
        return Plan(
            section_text.delete_section(self._drafting, owner, section),
            {"node_id": section.id},
            section.id,
            owner,
            {"heading": section.heading, "text": section.text},
            {},
            f"The section '{section.heading}' of {owner} will be removed.",
        )

    def _section(self, id: str) -> tuple[str, section_text.Section]:
        named = section_text.parsed_section(id)
        if named is None:
            raise InvalidArgument(
                f"'{id}' does not name a section.",
                hint="Sections are named as in REQ-d00001:section:1; get_node lists those of a requirement.",
            )
        record = self.record(named[0])
        found = section_text.sections_of(record)
        if named[1] >= len(found):
            raise NotFound(
                f"'{record.id}' has {len(found)} sections; there is no number {named[1]}.",
                hint="Numbers begin with 0; get_node lists them.",
            )
        return record.id, found[named[1]]

    def record(self, id: str) -> Record:
        """What the text of a requirement or journey says now, drafts included."""
        return Draft(self._drafting).block(self._rules.authored(id).id).record

    # Templates

    def set_stereotype(self, node_id: str, is_template: bool, force: bool = False) -> Plan:
        node = self._rules.resolver.requirement(node_id)
        was = bool(node.get_field("template"))
        copies = satisfied_by(self._graph, node.id)
        if was and not is_template and copies and not force:
            raise Refused(
                f"{', '.join(copies)} satisfy '{node.id}': without its mark as a template they would cite nothing that "
                "may be satisfied.",
                hint="Pass force=true to do it anyway.",
            )
        return Plan(
            section_text.set_template(self._drafting, node.id, is_template),
            {"node_id": node.id, "is_template": is_template, "force": force},
            node.id,
            node.id,
            {"stereotype": _stereotype(was)},
            {"stereotype": _stereotype(is_template)},
            f"{node.id} is {'now' if is_template else 'no longer'} a template.",
        )

    # Journeys

    def update_journey_field(self, node_id: str, field_name: str, value: str) -> Plan:
        node, name = self._journey(node_id), field_name.strip().casefold()
        if name not in JOURNEY_FIELDS:
            raise InvalidArgument(
                f"'{field_name}' is no field of a journey.", hint=f"Fields are: {', '.join(JOURNEY_FIELDS)}."
            )
        words = " ".join(self._rules.text(value).split())
        return Plan(
            section_text.update_journey_field(self._drafting, node.id, name, words),
            {"node_id": node.id, "field_name": name, "value": words},
            node.id,
            node.id,
            {"field": name, "value": node.get_field(name, "")},
            {"field": name, "value": words},
            f"The {name} of {node.id} is changed.",
        )

    def journey_section(
        self, node_id: str, action: str, name: str, new_name: str | None = None, content: str | None = None
    ) -> Plan:
        node, todo = self._journey(node_id), action.strip().casefold()
        arguments = {"node_id": node.id, "action": todo, "name": name, "new_name": new_name, "content": content}
        arguments = {key: value for key, value in arguments.items() if value is not None}
        if todo == "add":
            made = self.add_remainder(node.id, new_name or name, content or "")
        elif todo in ("update", "delete"):
            section = section_text.section_named(self.record(node.id), name)
            made = (
                self.delete_remainder(section.id)
                if todo == "delete"
                else self.update_remainder(section.id, content, new_name)
            )
        else:
            raise InvalidArgument(f"'{action}' is no action.", hint=f"Actions are: {', '.join(SECTION_ACTIONS)}.")
        return msgspec.structs.replace(made, arguments=arguments, target_id=node.id)

    def add_journey(self, journey_id: str, title: str, file_id: str) -> Plan:
        id, words = self._rules.new_id(journey_id, kind=NodeKind.USER_JOURNEY), self._rules.title(title)
        path = self._places.choose(file_id, None, "")
        return Plan(
            section_text.add_journey(self._drafting, id, words, path),
            {"journey_id": id, "title": words, "file_id": path},
            id,
            id,
            {},
            {"id": id, "title": words, "path": path},
            f"{id} will be written to {path}.",
        )

    def delete_journey(self, node_id: str) -> Plan:
        node = self._journey(node_id)
        change = self._mutations.delete_requirement(node.id)
        before = {"id": node.id, "title": node.title, "body": node.get_field("body", "")}
        return Plan(change, {"node_id": node.id}, node.id, None, before, {}, f"{node.id} will be removed.")

    def _journey(self, id: str) -> Node:
        node = self._rules.authored(id)
        if node.kind is not NodeKind.USER_JOURNEY:
            raise WrongKind(f"'{node.id}' is a {node.kind.value}, not a journey.", hint="Pass the id of a journey.")
        return node

    # Files

    def move_node_to_file(self, node_id: str, target_file_id: str) -> Plan:
        node = self._rules.authored(node_id)
        path, before = self._places.choose(target_file_id, None, ""), node.source.path if node.source else ""
        if path == before:
            raise InvalidArgument(f"'{node.id}' stands in '{path}' already.", hint="Name another file.")
        return Plan(
            section_text.move(self._drafting, node.id, path),
            {"node_id": node.id, "target_file_id": path},
            node.id,
            node.id,
            {"file_id": before},
            {"file_id": path},
            f"{node.id} will stand at the end of {path}.",
        )


def satisfied_by(graph: Graph, id: str) -> list[str]:
    """The requirements that satisfy a template."""
    return sorted({edge.source for edge in graph.iter_incoming_edges(id) if edge.kind is EdgeKind.SATISFIES})


def _stereotype(is_template: bool) -> str:
    return "template" if is_template else "concrete"
