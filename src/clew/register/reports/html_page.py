"""A register as one page of HTML that needs nothing besides itself, reads well and prints well."""

from html import escape

from clew.formats.register.ids import sort_key
from clew.formats.register.model import Register, Requirement, Status
from clew.text.controls import printable
from clew.text.display import counted

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: .2rem; } h2 { font-size: 1.1rem; margin: 0 0 .4rem; } p { margin: .4rem 0; }
article { border-top: 1px solid var(--line); padding: 1.2rem 0; break-inside: avoid; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
td, th { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--soft); vertical-align: top; }
.meta, .why { opacity: .75; font-size: .9rem; } .id { font-family: ui-monospace, monospace; }
.tag { border: 1px solid var(--line); border-radius: 1rem; padding: 0 .6rem; margin-right: .3rem; white-space: nowrap; }
.obsolete h2 { text-decoration: line-through; } a { color: inherit; }
@media print { nav { display: none; } }
"""
HERE = "#"
"""The target of links to requirements on a page that holds them all."""


def to_html(register: Register) -> str:
    requirements = ordered(register)
    return _page(register.name, _overview(register, HERE), *(_article(each, register, HERE) for each in requirements))


def overview_page(register: Register, href: str) -> str:
    """An overview of the register, with a link to a page of its own for each requirement: `href` and the id."""
    return _page(register.name, _overview(register, href))


def requirement_page(requirement: Requirement, register: Register, href: str) -> str:
    """One requirement with all that happened to it."""
    events = "".join(
        f"<tr><td>{escape(entry.at[:19])}</td><td>{escape(entry.actor)}</td><td>{escape(entry.action)}</td>"
        f"<td>{escape(entry.reason or '')}</td></tr>"
        for entry in requirement.history
    )
    evidence = "".join(
        f"<tr><td>{escape(record.at[:19])}</td><td>{record.outcome.word}</td><td>{record.kind.word}</td>"
        f"<td>{escape(record.notes)}</td></tr>"
        for record in requirement.tests
    )
    tables = (f"<h2>{name}</h2><table>{rows}</table>" for name, rows in (("Evidence", evidence), ("History", events)))
    title = f"{requirement.id} {requirement.title}"
    return _page(title, _article(requirement, register, href), *tables)


def _page(title: str, *body: str) -> str:
    page = (
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{_STYLE}</style></head><body>",
        *body,
        "</body></html>",
        "",
    )
    return printable("\n".join(page))


def _overview(register: Register, href: str) -> str:
    requirements = ordered(register)
    purpose = f"<p>{escape(register.purpose)}</p>" if register.purpose else ""
    return "\n".join(
        (
            f"<h1>{escape(register.name)}</h1>{purpose}",
            f'<p class="meta">{counted(len(requirements), "requirement")}, {_counts(requirements)}; '
            f"last changed {escape(register.updated)}</p>",
            "<nav><table><thead><tr><th>id</th><th>title</th><th>priority</th><th>status</th></tr></thead><tbody>",
            *(_row(each, href) for each in requirements),
            "</tbody></table></nav>",
        )
    )


def _counts(requirements: list[Requirement]) -> str:
    numbers = ((status.word, sum(each.status is status for each in requirements)) for status in Status)
    return ", ".join(f"{number} {word}" for word, number in numbers if number) or "none yet"


def _row(each: Requirement, href: str) -> str:
    id = escape(each.id)
    return (
        f'<tr><td class="id"><a href="{href}{id}">{id}</a></td><td>{escape(each.title)}</td>'
        f"<td>{each.priority.word}</td><td>{each.status.word}</td></tr>"
    )


def _article(each: Requirement, register: Register, href: str) -> str:
    tags = "".join(f'<span class="tag">{escape(tag)}</span>' for tag in (each.kind.word, *each.tags))
    parts = [
        f'<article id="{escape(each.id)}" class="{each.status.word}">',
        f'<h2><span class="id">{escape(each.id)}</span> {escape(each.title)}</h2>',
        f'<p class="meta">{each.priority.word} · {each.status.word} {tags}</p>',
        f"<p>{escape(each.statement)}</p>",
        f'<p class="why">{escape(each.rationale)}</p>',
    ]
    if each.acceptance:
        parts.append("<ol>" + "".join(f"<li>{escape(item)}</li>" for item in each.acceptance) + "</ol>")
    if each.links:
        links = ", ".join(f"{link.kind.word} {_anchor(link.target, register, href)}" for link in each.links)
        parts.append(f'<p class="meta">{links}</p>')
    return "\n".join((*parts, "</article>"))


def _anchor(target: str, register: Register, href: str) -> str:
    id = escape(target)
    return f'<a href="{href}{id}">{id}</a>' if target in register.requirements else id


def ordered(register: Register) -> list[Requirement]:
    return sorted(register.requirements.values(), key=lambda each: sort_key(each.id))
