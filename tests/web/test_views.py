"""Each view answers its questions, on the demo and where there is next to nothing, to a client without scripts."""

import gzip
import re
from pathlib import Path

import anyio
import pytest
from mcp import Client
from tests.web.conftest import make_garden
from tests.web.questions import ON_THE_DEMO, WITHOUT_SPECS, Question
from tests.web.serving import Visitor, main_of, plain, served

SOURCE = Path(__file__).parents[2] / "src" / "clew"

PAGE = Path(__file__).parents[2] / "docs" / "page.md"


def ask(visitor: Visitor, question: Question) -> None:
    address = question.address
    if "MEMORY" in address:
        listed = re.search(r'href="/memory/([0-9a-f-]{8,})"', visitor.get("/memory"))
        assert listed is not None
        address = address.replace("MEMORY", listed[1])
    said = main_of(visitor.get(address, 404 if address.startswith("/r/") and question in WITHOUT else 200))
    for answer in question.answers:
        assert answer in said.replace(" ,", ","), (question.asked, answer, said)


WITHOUT = [question for questions in WITHOUT_SPECS.values() for question in questions]


# Verifies: REQ-o00060-A
@pytest.mark.parametrize("view", ON_THE_DEMO)
def test_a_view_answers_its_three_questions_on_the_demo(visitor: Visitor, view: str) -> None:
    for question in ON_THE_DEMO[view]:
        ask(visitor, question)


# Verifies: REQ-d00781-A, REQ-d00781-B
def test_a_line_of_a_source_shows_who_uses_it_and_which_tests_do(visitor: Visitor) -> None:
    said = main_of(visitor.get("/sources/src/fairwater/tables.py?line=33"))
    assert "Used by call in _plan: table = read_table(settings.table) src/fairwater/cli.py:34 exact" in said
    assert "test_a_table_of_plain_lines_is_read_and_remarks_are_skipped uses it on line" in said


# Verifies: REQ-d00415-C
@pytest.mark.parametrize("has_git", [True, False])
def test_every_view_answers_its_three_questions_on_a_project_without_specs(tmp_path: Path, has_git: bool) -> None:
    make_garden(tmp_path / "garden", has_git=has_git)
    with served(tmp_path / "garden") as site, site.visitor(enters=False) as visitor:
        for question in WITHOUT:
            ask(visitor, question)


# Verifies: REQ-o00060-A
def test_the_questions_are_those_that_the_documentation_names() -> None:
    rows = re.findall(r"^\| (.+?) \| `.+?` \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    named = {view: re.findall(r"[^?]+\?", questions) for view, questions in rows}
    named = {view: [each.strip() for each in questions] for view, questions in named.items()}
    for asked in (ON_THE_DEMO, WITHOUT_SPECS):
        assert {view: [each.asked for each in questions] for view, questions in asked.items()} == named
    assert {len(questions) for questions in named.values()} == {3}


# Verifies: REQ-d00415-C
def test_a_project_with_next_to_nothing_says_what_to_do_next(tmp_path: Path) -> None:
    with served(tmp_path) as site, site.visitor(enters=False) as visitor:
        for address, answer in (
            ("/", "Nothing yet. Agents remember decisions"),
            ("/documents", "No documents. Clew reads Markdown"),
            ("/sources", "No source files"),
            ("/memory", "Nothing has been remembered yet"),
            ("/activity", "Clew has not written anything yet"),
            ("/activity/review", "Nothing to review"),
            ("/activity/drafts", "No drafts to save"),
        ):
            assert answer in main_of(visitor.get(address)), address


# Verifies: REQ-d00415-A, REQ-d00420-A
def test_filters_order_and_page_of_the_table_are_in_the_address(visitor: Visitor) -> None:
    assert "1 of 23 requirements" in main_of(visitor.get("/requirements?proof=partial"))
    html = visitor.get("/requirements?level=dev&q=table&sort=title&down=1")
    said = main_of(html)
    assert "of 23 requirements" in said
    # A filter counts what it would leave of the rest, and a link takes it off again.
    assert re.search(r"level dev \d+ ops \d+", said)
    assert 'href="/requirements?q=table&amp;sort=title&amp;down=1"' in html
    ids = re.findall(r'<td class="id"><a href="/r/([^"]+)"', html)
    titles = re.findall(r'<td class="title">([^<]+)', html)
    assert f"{len(ids)} of 23 requirements" in said
    assert all(id.startswith("REQ-d") for id in ids)
    assert ids
    assert titles == sorted(titles, key=str.casefold, reverse=True)
    assert "of 23 requirements" in main_of(visitor.get("/requirements?q=" + "%20".join(["a"] * 900)))


# Verifies: REQ-d00415-A, REQ-o00060-B
def test_a_long_table_is_paged_and_stays_small(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").write_text("")
    (tmp_path / "spec").mkdir()
    blocks = [
        f"## REQ-d{number:05}: Title {number}\n\n**Level**: DEV | **Status**: Active\n\n## Assertions\n\n"
        f"A. It SHALL hold {number}.\n\n*End* *Title {number}*\n"
        for number in range(1, 251)
    ]
    (tmp_path / "spec" / "many.md").write_text("# Many\n\n" + "\n---\n\n".join(blocks))
    with served(tmp_path) as site, site.visitor(enters=False) as visitor:
        html = visitor.get("/requirements")
        assert "1 to 100 of 250" in plain(html)
        following = re.search(r'rel="next" href="([^"]+)"', visitor.get("/requirements?page=2"))
        assert following is not None
        last = visitor.get(following[1].replace("&amp;", "&"))
        assert "201 to 250 of 250" in plain(last)
        assert len(re.findall(r"<[a-z]", html)) <= 3_000
        assert len(html) <= 200_000
        assert "REQ-d00200" in visitor.get("/requirements?view=tree")


# Verifies: REQ-d00420-B
def test_the_tree_is_opened_step_by_step(visitor: Visitor) -> None:
    closed = visitor.get("/requirements?view=tree")
    assert "REQ-d00002" not in closed
    opened = visitor.get("/requirements?view=tree&open=REQ-p00001%7CREQ-o00001")
    assert "REQ-d00002" in opened
    close = re.search(r'href="([^"]+)" aria-label="Close REQ-o00001"', opened)
    assert close is not None
    assert "REQ-d00002" not in visitor.get(close[1].replace("&amp;", "&"))


# Verifies: REQ-d00415-B
@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/nowhere", 404, "There is no page '/nowhere'"),
        ("/r/REQ-d09999", 404, "REQ-d09999"),
        ("/r/unheard-of", 404, '`clew search "..."` finds requirements by words'),
        ("/specs/unheard-of", 404, "unheard-of"),
        ("/changes/unheard-of", 404, "unheard-of"),
        ("/documents/docs/gone.md", 404, "docs/gone.md"),
        ("/sources/src/gone.py", 404, "src/gone.py"),
        ("/sources/../../etc/passwd", 404, "no page"),
        ("/sources/%2e%2e/%2e%2e/etc/passwd", 404, "no readable file"),
        ("/memory/0000000000", 404, "0000000000"),
        ("/requirements?sort=colour", 400, "'sort=colour' in the address is none of: id, title"),
        ("/requirements?page=-3", 400, "'page=-3' in the address is not a number"),
        ("/requirements?page=99999999999999999999", 400, "not a number from 1"),
        ("/requirements?q=" + "x" * 5_000, 400, "has 5000 characters; 2000 are the most"),
        ("/sources/src/fairwater/tables.py?line=zwei", 400, "line=zwei"),
        ("/memory?kind=rumour", 400, "rumour"),
        ("/why?of=never-heard-of-it", 404, "never-heard-of-it"),
    ],
)
def test_what_an_address_names_wrongly_is_said_with_the_next_step(
    visitor: Visitor, address: str, status: int, said: str
) -> None:
    text = main_of(visitor.get(address, status))
    assert said in text
    assert len(text) < 1_500


# Verifies: REQ-d00415-B
def test_a_file_that_was_deleted_while_it_is_shown_is_said_to_be_gone(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("def one():\n    return 1\n")
    with served(tmp_path) as site, site.visitor(enters=False) as visitor:
        assert "def one" in visitor.get("/sources/one.py")
        (tmp_path / "one.py").unlink()
        assert "may have been deleted" in main_of(visitor.get("/sources/one.py", 404))


# Verifies: REQ-d00423-A, REQ-d00419-B
def test_sources_tell_how_much_of_them_cites_requirements_and_where(visitor: Visitor) -> None:
    html = visitor.get("/sources?in=src/fairwater")
    assert "8 files: 12 of 30 functions and classes cite a requirement." in main_of(html)
    assert re.search(r'tables\.py</a></td><td class="num">6</td><td class="num">2</td>', html)
    drawn = set(re.findall(r"<title>(\w+\.py): (\d+) of (\d+) cite a requirement</title>", html))
    assert ("tables.py", "2", "6") in drawn
    file = visitor.get("/sources/src/fairwater/tables.py")
    row = re.search(r'<tr id="L32">.*?</tr>', file, re.DOTALL)
    assert row is not None
    assert "REQ-d00001-A" in row[0]
    assert "REQ-o00002-A" in row[0]


# Verifies: REQ-d00419-A
def test_what_is_around_a_requirement_is_drawn_and_listed(visitor: Visitor) -> None:
    html = visitor.get("/r/REQ-d00001")
    drawing = re.search(r'<svg class="drawing".*?</svg>', html, re.DOTALL)
    assert drawing is not None
    assert drawing[0].count("<rect") <= 60
    for id in ("REQ-o00002", "REQ-d00001", "tables.py:33"):
        assert id in drawing[0]
    assert "REQ-d00001 implements REQ-o00002" in plain(html)


# Verifies: REQ-d00419-A
def test_a_drawing_of_very_many_neighbours_is_cut_at_sixty(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").write_text("")
    (tmp_path / "spec").mkdir()
    lines = ["## REQ-p00001: Top\n\n**Level**: PRD | **Status**: Active\n\n## Assertions\n\nA. SHALL.\n\n*End* *Top*\n"]
    lines += [
        f"## REQ-d{number:05}: D{number}\n\n**Level**: DEV | **Status**: Active | **Implements**: REQ-p00001-A\n\n"
        f"## Assertions\n\nA. SHALL.\n\n*End* *D{number}*\n"
        for number in range(1, 80)
    ]
    (tmp_path / "spec" / "a.md").write_text("\n---\n\n".join(lines))
    tests = "".join(f"# Verifies: REQ-p00001-A\ndef test_{n}():\n    pass\n\n\n" for n in range(70))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_all.py").write_text(tests)
    with served(tmp_path) as site, site.visitor(enters=False) as visitor:
        html = visitor.get("/r/REQ-p00001")
        drawing = re.search(r'<svg class="drawing".*?</svg>', html, re.DOTALL)
        assert drawing is not None
        assert drawing[0].count("<rect") <= 60
        assert "more are left out of the drawing" in plain(html)
        assert len(html) <= 200_000


# Verifies: REQ-d00419-D
def test_versions_of_a_text_stand_on_a_line_with_what_followed_them(visitor: Visitor) -> None:
    found = re.search(r'<ol class="timeline">.*?</ol>', visitor.get("/r/REQ-d00001"), re.DOTALL)
    assert found is not None
    newest, oldest = re.findall(r"<li><p>(.*?)(?=<li><p>|</ol>)", found[0], re.DOTALL)
    assert 'changed (B) by "Say refuse, as everywhere else"' in plain(newest)
    assert "not changed since: tests/test_tables.py, src/fairwater/tables.py" in plain(newest)
    assert 'written by "Plan a passage"' in plain(oldest)


# Verifies: REQ-d00419-C
def test_calls_of_agents_are_listed_and_drawn(demo: Path) -> None:
    async def call(endpoint: str) -> None:
        async with Client(endpoint) as client:
            await client.call_tool("get_requirement", {"req_id": "REQ-d00003"})
            await client.call_tool("get_requirement", {"req_id": "REQ-d09999"})

    with served(demo) as site, site.visitor(enters=False) as visitor:
        anyio.run(call, site.endpoint)
        html = visitor.get("/activity")
        assert "2 calls to this server, 1 error" in plain(html)
        assert "/go?to=REQ-d00003" in html
        assert re.search(r"Calls in each of the last 60 minutes: 2 in all", html)


# Verifies: REQ-o00060-A
def test_everything_is_found_from_one_field(visitor: Visitor) -> None:
    fragment = visitor.get("/search?q=REQ-d00003&fragment=1")
    assert 'href="/r/REQ-d00003"' in fragment
    assert "<html" not in fragment
    assert "half a cosine" in plain(visitor.get("/search?q=cosine"))
    answered = plain(visitor.get("/search?q=what+is+the+default+margin&ask=1"))
    assert " sure" in answered


# Verifies: REQ-o00060-B
def test_scripts_and_styles_are_small_and_our_own() -> None:
    files = [*sorted((SOURCE / "surfaces" / "web" / "static").iterdir()), *(SOURCE / "markup").glob("*.css")]
    files += (SOURCE / "markup").glob("*.js")
    packed = sum(len(gzip.compress(file.read_bytes())) for file in files if file.suffix in (".js", ".css"))
    assert packed <= 60_000
    for file in files:
        # Nothing is loaded from elsewhere; the namespace of SVG is a name.
        assert "://" not in file.read_text().replace("http://www.w3.org/2000/svg", ""), file.name


# Verifies: REQ-d00423-B
@pytest.mark.parametrize(
    "path", [".env", "src/../.env", "link.txt", "secrets.txt", ".git/config", ".git/clew/memory.db", ".clew/clew.db"]
)
def test_what_is_hidden_or_ignored_is_no_source(path: str, demo: Path, visitor: Visitor) -> None:
    (demo / ".env").write_text("KEY=zebra")
    (demo / "secrets.txt").write_text("zebra")
    (demo / "link.txt").unlink(missing_ok=True)
    (demo / "link.txt").symlink_to(".env")
    exclude = demo / ".git" / "info" / "exclude"
    exclude.write_text("secrets.txt\n.env\nlink.txt\n")
    assert "zebra" not in visitor.get(f"/sources/{path}", 404)
    for target in (path, f"{path}:1", f"{path}%23zebra"):
        assert "zebra" not in visitor.get(f"/why?of={target}", 404).replace("%23zebra", "").replace("#zebra", "")
