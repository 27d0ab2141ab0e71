"""Rules for the values of a mutation in a project: ids, levels, statuses, titles, texts, labels, kinds."""

import re

from clew.errors import AlreadyExists, InvalidArgument, NotFound, Refused, WrongKind
from clew.formats.elspais.ids.grammar import ParsedReference, describe_labels, label_at, position_of
from clew.formats.elspais.ids.register import RegisterIds
from clew.formats.elspais.write.references import reference_kinds
from clew.graph.model import EdgeKind, Node, NodeKind
from clew.text.display import shortened
from clew.trace.edit.text.draft import AUTHORED, DraftContext
from clew.trace.edit.text.renaming import ReferenceTarget
from clew.trace.edit.text.sections import parsed_section
from clew.trace.read.assertions import owner_of
from clew.trace.read.resolve import Resolver

LONGEST_TITLE = 500
LONGEST_TEXT = 20_000

_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_ONE_WORD = re.compile(r"[\w-]{1,60}")


class Rules:
    def __init__(self, context: DraftContext) -> None:
        self._context = context
        self._graph = context.graph
        self._grammar = context.grammar
        self._settings = context.grammar.settings
        self.resolver = Resolver(context.graph, context.grammar)

    # What exists

    def subject(self, id: str) -> Node:
        """The requirement or journey whose version guards a mutation of a node."""
        section = parsed_section(id)
        node = self.resolver.node(section[0] if section is not None else id)
        return self.owner(node) if node.kind is NodeKind.ASSERTION else node

    def owner(self, assertion: Node) -> Node:
        """The requirement of an assertion."""
        owner = owner_of(self._graph, assertion)
        if owner is None:
            raise NotFound(f"'{assertion.id}' belongs to no requirement.", hint="Refresh the graph.")
        return owner

    def authored(self, id: str) -> Node:
        """A requirement or journey, which has a text that can be edited."""
        node = self.resolver.node(id)
        if node.kind is NodeKind.ASSERTION:
            raise WrongKind(
                f"'{node.id}' is an assertion.",
                hint="mutate_update_assertion changes its text, mutate_rename_assertion its label.",
            )
        if node.kind not in AUTHORED:
            raise WrongKind(
                f"'{node.id}' is a {node.kind.value}; its citations are in a comment of its file.",
                hint="apply_link writes such a comment; to remove one, edit the file.",
            )
        return node

    def assertion(self, id: str) -> Node:
        node = self.resolver.node(id)
        if node.kind is NodeKind.ASSERTION:
            return node
        named = self._grammar.parse_reference(id.strip())
        labels = ", ".join(node.get_field("labels", ()))
        if node.kind is NodeKind.REQUIREMENT and named is not None and named.labels:
            raise NotFound(
                f"'{node.id}' has no assertion '{'+'.join(named.labels)}'.", hint=f"It has {labels or 'none'}."
            )
        raise WrongKind(
            f"'{node.id}' is a {node.kind.value}, not an assertion.",
            hint=f"Pass its label too; it has {labels or 'none'}.",
        )

    def reference_target(self, target: str, labels: tuple[str, ...] = ()) -> ReferenceTarget:
        """The target of a reference, checked against the project."""
        parsed = self._grammar.parse_reference(target.strip()) or self._of_register(target.strip())
        if parsed is None:
            node = self._graph.get_node(target)
            if node is not None and node.get_field("is_duplicate"):
                raise Refused(
                    f"'{target}' cannot be cited: {node.get_field('original_id')} is defined more than once.",
                    hint="mutate_rename_node gives it an id of its own.",
                )
            raise InvalidArgument(
                f"'{shortened(target)}' does not follow the project's grammar of ids.", hint=self._id_hint()
            )
        return ReferenceTarget(parsed.target, tuple(dict.fromkeys((*parsed.labels, *self._labels(labels)))))

    def _of_register(self, target: str) -> ParsedReference | None:
        """A requirement of a register, or criteria of one: its ids follow a grammar of their own."""
        parsed = RegisterIds(self._grammar).parse(target)
        return parsed if parsed is not None and self._graph.get_node(parsed.target) is not None else None

    def _labels(self, labels: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(self._grammar.label(label.strip()) or label for label in labels)

    def refuse_unknown(self, aim: ReferenceTarget) -> None:
        """Refuse a target that does not exist, and an assertion other than by its label."""
        target = self._graph.get_node(aim.target)
        if target is None:
            raise NotFound(f"'{aim.target}' does not exist.", hint="search finds ids by words of the title or text.")
        if self._context.linker.place_of(aim.target) is None:
            raise WrongKind(
                f"'{aim.target}' is a {target.kind.value}; an edge leads to its requirement and carries its label.",
                hint="Pass the id of the requirement, and the label in assertion_targets.",
            )
        known = target.get_field("labels", ())
        unknown = [label for label in aim.labels if label not in known]
        if unknown:
            raise NotFound(
                f"'{aim.target}' has no assertion '{unknown[0]}'.", hint=f"It has {', '.join(known) or 'none'}."
            )

    # What is new

    def free(self, id: str) -> None:
        """Refuse an id that is taken."""
        node = self._graph.get_node(id)
        if node is None:
            return
        where = ""
        if (source := node.source) is not None:
            where = f" by {source.path}:{source.line}" if source.line else f" by a draft for {source.path}"
        raise AlreadyExists(
            f"The id '{id}' is taken{where}.",
            hint="Choose another id; search shows those in use.",
            data={"node_id": id},
        )

    def new_id(self, text: str, *, kind: NodeKind = NodeKind.REQUIREMENT) -> str:
        """The canonical spelling of an id for a new requirement or journey: ids that differ only in case or padding
        are the same id."""
        parsed = self._grammar.parse_header(text.strip())
        is_journey = parsed is not None and self._grammar.is_journey(parsed.target)
        if parsed is None or is_journey is not (kind is NodeKind.USER_JOURNEY):
            raise InvalidArgument(
                f"'{shortened(text)}' is not an id for a {kind.value} in this project.", hint=self._id_hint()
            )
        return parsed.target

    def _id_hint(self) -> str:
        own = (node.id for node in self._graph.nodes_by_kind(NodeKind.REQUIREMENT))
        example = next((id for id in own if self._grammar.parse_reference(id) is not None), None)
        shown = f", as in {example}" if example else ""
        return f"Ids follow the template {self._settings.id_template}{shown}; labels are added as in ID-A."

    def level(self, text: str, id: str) -> str:
        level = self._settings.level(text.strip())
        if level is None:
            known = ", ".join(each.name for each in self._settings.levels)
            raise InvalidArgument(f"'{shortened(text)}' is not a level.", hint=f"Levels of this project: {known}.")
        self.level_of_id(id, level.name)
        return level.name

    def level_of_id(self, id: str, level: str) -> None:
        """Refuse an id whose letter belongs to another level."""
        own = self._grammar.level_of(id)
        if own is not None and own != level and self._settings.level(level) is not None:
            raise InvalidArgument(
                f"'{id}' is an id of level {own}, but the level is {level}.",
                hint="Choose an id with the level's letter.",
            )

    def status(self, text: str) -> str:
        """A status in the project's spelling: one that the configuration names, or that is in use."""
        wanted = text.strip()
        configured = [status for _, statuses in self._settings.status_roles for status in statuses]
        for status in configured:
            if status.casefold() == wanted.casefold():
                return status
        in_use = {node.get_field("status") for node in self._graph.nodes_by_kind(NodeKind.REQUIREMENT)}
        if wanted in in_use and _ONE_WORD.fullmatch(wanted):
            return wanted
        known = ", ".join(dict.fromkeys((*configured, *sorted(status for status in in_use if status))))
        raise InvalidArgument(
            f"'{shortened(text)}' is not a status of this project.",
            hint=f"Statuses are: {known}. Others are named in .elspais.toml, under rules.format.status_roles.",
        )

    def title(self, text: str) -> str:
        title = text.strip()
        if not title or len(title) > LONGEST_TITLE or "\n" in title or "\t" in title or "*" in title:
            raise InvalidArgument(
                f"'{shortened(text)}' is not a title: it is one line of 1 to {LONGEST_TITLE} characters without `*`.",
                hint="Shorten it, or remove the character.",
            )
        return self._writable(title)

    def text(self, text: str) -> str:
        """The text of an assertion."""
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        bare = "\n".join(line.rstrip() for line in lines).strip()
        if not bare or len(bare) > LONGEST_TEXT:
            raise InvalidArgument(
                f"The text has {len(bare)} characters; an assertion has 1 to {LONGEST_TEXT}.",
                hint="Write one sentence with SHALL.",
            )
        return self._writable(bare)

    def _writable(self, text: str) -> str:
        found = _UNWRITABLE.search(text)
        if found is not None:
            raise InvalidArgument(
                f"The text holds the control character {found[0]!r}.", hint="Remove it; line breaks are allowed."
            )
        return text

    # Labels

    def new_label(self, text: str | None, requirement: Node) -> str:
        """A label for one more assertion: as asked for, or the next after the highest."""
        labels: tuple[str, ...] = requirement.get_field("labels", ())
        most = self._settings.label_max_count
        if len(labels) >= most:
            raise Refused(
                f"'{requirement.id}' has {len(labels)} assertions; at most {most} are allowed.",
                hint="Split the requirement, or raise max_count in .elspais.toml.",
            )
        if text is not None:
            return self.label(text)
        positions = [position for label in labels if (position := position_of(label, self._settings)) is not None]
        following = label_at(max(positions, default=-1) + 1, self._settings)
        if following is None:
            raise Refused(
                f"'{requirement.id}' has used up its labels: they are {describe_labels(self._settings)}.",
                hint="Pass a label that is free, or split the requirement.",
            )
        return following

    def label(self, text: str) -> str:
        label = self._grammar.label(text.strip())
        if label is None or not self._grammar.is_label(label):
            raise InvalidArgument(
                f"'{shortened(text)}' is not a label.",
                hint=f"Labels of this project: {describe_labels(self._settings)}.",
            )
        return label

    def closed_up(self, labels: tuple[str, ...], removed: str) -> dict[str, str]:
        """The new labels of the assertions behind a removed one: each moves down by one."""
        gap = position_of(removed, self._settings)
        moved: dict[str, str] = {}
        for label in labels:
            position = position_of(label, self._settings)
            lower = label_at(position - 1, self._settings) if position else None
            if gap is not None and position is not None and position > gap and lower is not None:
                moved[label] = lower
        return moved

    # Edges

    def edge_kind(self, text: str, source: Node) -> EdgeKind:
        kinds = reference_kinds(source.id, self._grammar)
        kind = text.strip().casefold()
        if kind not in kinds:
            raise InvalidArgument(
                f"A {source.kind.value} cannot cite by '{shortened(text)}'.", hint=f"Kinds are: {', '.join(kinds)}."
            )
        return EdgeKind(kind)
