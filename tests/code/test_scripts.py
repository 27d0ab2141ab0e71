"""Uses in TypeScript and JavaScript: each shape of a receiver, an import, a scope and an element."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.code.asking import answer, opened, uses, write

BELLS = """\
export class Bell {
  size = 1;
  ring(): number { return 1; }
}
export class Gong {
  ring(): number { return 2; }
}
export class Small extends Bell {}
export interface Rings { bell: Bell }
export function make() { return new Bell(); }
export function isBell(it: unknown): it is Bell { return true; }
"""

RECEIVERS = {
    "a call of the constructor": "new Bell().ring();\n",
    "a constant": "const bell = new Bell();\nbell.ring();\n",
    "a variable": "let bell;\nbell = new Bell();\nbell.ring();\n",
    "a declared parameter": "function go(bell: Bell) { return bell.ring(); }\n",
    "an optional": "const go = (bell?: Bell | null) => bell?.ring();\n",
    "a subclass": "function go(bell: Small) { bell.ring(); }\n",
    "this": "class Tower extends Bell {\n  go() { this.ring(); }\n}\n",
    "super": "class Tower extends Bell {\n  go() { super.ring(); }\n}\n",
    "a field": "class Tower {\n  bell = new Bell();\n  go() { this.bell.ring(); }\n}\n",
    "a parameter that is a field": (
        "class Tower {\n  constructor(private bell: Bell) {}\n  go() { this.bell.ring(); }\n}\n"
    ),
    "a member of an interface": "function go(it: Rings) { it.bell.ring(); }\n",
    "a destructured parameter": "function go({ bell }: Rings) { bell.ring(); }\n",
    "a destructured type without a name": "function go({ one: b }: { one: Bell }) { b.ring(); }\n",
    "an inferred result": "make().ring();\n",
    "an awaited result": (
        "async function go() { const b = await later(); b.ring(); }\nasync function later() { return make(); }\n"
    ),
    "a declared promise": "function go(b: Promise<Bell>) { b.then((it) => it.ring()); }\n",
    "an array": "function go(all: Bell[]) { all[0].ring(); }\n",
    "a loop over an array": "function go(all: Bell[]) { for (const b of all) b.ring(); }\n",
    "the parameter of a callback": "function go(all: Bell[]) { all.forEach((b) => b.ring()); }\n",
    "what a callback gives": "function go(all: number[]) { all.map(() => new Bell())[0].ring(); }\n",
    "a map": "function go(all: Map<string, Bell>) { for (const [k, b] of all) b.ring(); }\n",
    "an explicit type argument": "const all = new Map<string, Bell>();\nall.get('a').ring();\n",
    "a type parameter with a bound": "function go<T extends Bell>(b: T) { b.ring(); }\n",
    "a type parameter that the call decides": "function same<T>(it: T): T { return it; }\nsame(new Bell()).ring();\n",
    "a cast": "function go(b: unknown) { (b as Bell).ring(); }\n",
    "instanceof": "function go(b: unknown) { if (b instanceof Bell) b.ring(); }\n",
    "a function that tells types apart": "function go(b: unknown) { return isBell(b) && b.ring(); }\n",
    "a condition that leads away": "function go(b: unknown) { if (!isBell(b)) return; b.ring(); }\n",
    "a type alias": "type Loud = Readonly<Bell>;\nfunction go(b: Loud) { b.ring(); }\n",
    "a type with the members of another": (
        "type Plain<T> = { [K in keyof T]: T[K] };\nfunction go(b: Plain<Bell>) { b.ring(); }\n"
    ),
    "the default of a type parameter": (
        "interface Box<T = Bell> { it: T }\nfunction go(box: Box) { box.it.ring(); }\n"
    ),
    "an interface that is called": (
        "interface Make { (n: number): Bell }\nfunction go(make: Make) { make(1).ring(); }\n"
    ),
    "the type of a value": "const one = make();\nfunction go(b: typeof one) { b.ring(); }\n",
    "a member by its name as a text": "function go(b: Bell) { b['ring'](); }\n",
    "the object of a function": "const tower = () => ({ bell: make() });\ntower().bell.ring();\n",
}


# Verifies: REQ-d00749-C
@pytest.mark.parametrize("shape", RECEIVERS)
def test_a_method_is_used_where_its_receiver_is_known(tmp_path: Path, shape: str) -> None:
    text = 'import { Bell, Gong, Small, make, isBell } from "./bells";\nimport type { Rings } from "./bells";\n'
    text += RECEIVERS[shape]
    line = next(number for number, row in enumerate(text.split("\n"), 1) if "ring(" in row or "'ring'" in row)
    assert uses(tmp_path, {"src/bells.ts": BELLS, "src/tower.ts": text}, "Bell.ring") == [f"src/tower.ts:{line}"]


IMPORTS = {
    "a name": ('import { chime } from "./lib/chime";\nchime();\n', {}),
    "another name": ('import { chime as c } from "./lib/chime";\nc();\n', {}),
    "all of a module": ('import * as lib from "./lib/chime";\nlib.chime();\n', {}),
    "an ending": ('import { chime } from "./lib/chime.js";\nchime();\n', {}),
    "a folder": ('import { chime } from "./lib";\nchime();\n', {"src/lib/index.ts": 'export * from "./chime";\n'}),
    "a name that is passed on": (
        'import { loud } from "./lib";\nloud();\n',
        {"src/lib/index.ts": 'export { chime as loud } from "./chime";\n'},
    ),
    "the default": (
        'import go from "./lib/other";\ngo();\n',
        {"src/lib/other.ts": 'import { chime } from "./chime";\nexport default chime;\n'},
    ),
    "an alias of the settings": (
        'import { chime } from "@lib/chime";\nchime();\n',
        {"tsconfig.json": '{"compilerOptions": {"paths": {"@lib/*": ["./src/lib/*"]}}}'},
    ),
    "inherited settings": (
        'import { chime } from "~/lib/chime";\nchime();\n',
        {
            "base.tsconfig.json": "{}",
            "tsconfig.base.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"~/*": ["src/*"]}}}',
            "tsconfig.json": '{"extends": "./tsconfig.base.json"}',
        },
    ),
    "a package of the workspace": (
        'import { tone } from "@tower/tone";\nimport { chime } from "./lib/chime";\nchime(tone);\n',
        {
            "packages/tone/package.json": '{"name": "@tower/tone", "exports": "./src/index.ts"}',
            "packages/tone/src/index.ts": "export const tone = 1;\n",
        },
    ),
    "require": ('const { chime } = require("./lib/chime");\nchime();\n', {}),
    "a dynamic import": ('async function go() { (await import("./lib/chime")).chime();\n }\n', {}),
}


# Verifies: REQ-d00749-B
@pytest.mark.parametrize("shape", IMPORTS)
def test_imports_lead_to_the_definition(tmp_path: Path, shape: str) -> None:
    text, more = IMPORTS[shape]
    line = max(number for number, row in enumerate(text.split("\n"), 1) if "(" in row)
    files = {"src/lib/chime.ts": "export function chime(tone = 1) {}\n", "src/main.ts": text, **more}
    found = uses(tmp_path, files, "chime", "call")
    assert found == [f"src/main.ts:{line}"]


# Verifies: REQ-d00749-A
def test_a_local_name_is_no_use_of_a_symbol_of_its_name(tmp_path: Path) -> None:
    text = """\
        import { tone } from "./tone";
        function hides(tone: number) { return tone; }
        function blocks() {
          { const tone = 1; tone; }
          return tone;
        }
        function later() { return helper(); function helper() { return tone; } }
        const taken = ({ tone }) => tone;
        """
    found = uses(tmp_path, {"src/tone.ts": "export const tone = 1;\n", "src/main.ts": text}, "tone")
    assert found == ["src/main.ts:5", "src/main.ts:7"]


# Verifies: REQ-d00749-D
def test_an_element_uses_its_component_and_its_fields(tmp_path: Path) -> None:
    files = {
        "src/Bell.tsx": "export interface Props { size: number }\n"
        "export const Bell = ({ size }: Props) => <p>{size}</p>;\n",
        "src/App.tsx": 'import { Bell } from "./Bell";\nexport const App = () => <div><Bell size={1} /></div>;\n',
    }
    with opened(tmp_path, files) as project:
        component = answer(project, "Bell")
        field = answer(project, "Props.size")
    assert [(each["line"], each["kind"], each["inside"]) for each in component["uses"]] == [
        (1, "import", ""),
        (2, "call", "App"),
    ]
    assert [(each["path"], each["line"], each["kind"]) for each in field["uses"]] == [
        ("src/Bell.tsx", 2, "read"),
        ("src/App.tsx", 2, "argument"),
    ]


# Verifies: REQ-d00749-D
def test_a_literal_uses_the_fields_of_the_type_that_is_expected(tmp_path: Path) -> None:
    files = {
        "src/a.ts": "export interface Plan { size: number }\nexport function draw(plan: Plan): Plan { return plan; }\n",
        "src/b.ts": (
            'import { draw, type Plan } from "./a";\n'
            "draw({ size: 1 });\n"
            "const own: Plan = { size: 2 };\n"
            "const other = { size: 3 };\n"
            "const made = (): Plan => ({ size: 4 });\n"
        ),
    }
    assert uses(tmp_path, files, "Plan.size") == ["src/b.ts:2", "src/b.ts:3", "src/b.ts:5"]


# Verifies: REQ-d00749-E
def test_a_member_of_an_interface_and_what_implements_it_stand_for_each_other(tmp_path: Path) -> None:
    files = {
        "src/a.ts": (
            "export interface Loud { ring(): void }\n"
            "export class Bell implements Loud {\n  ring() {}\n}\n"
            "export class Gong {\n  ring() {}\n}\n"
            "export function go(it: Loud, gong: Gong) {\n  it.ring();\n  gong.ring();\n}\n"
        )
    }
    assert uses(tmp_path, files, "Bell.ring") == ["src/a.ts:1", "src/a.ts:9"]


# Verifies: REQ-d00749-F
@pytest.mark.parametrize("ending", ["vue", "svelte"])
def test_the_script_of_a_component_is_read_with_its_lines(tmp_path: Path, ending: str) -> None:
    text = '<template><p>chime</p></template>\n\n<script lang="ts">\n'
    text += 'import { chime } from "./chime";\n\nchime();\n</script>\n'
    files = {"src/chime.ts": "export function chime() {}\n", f"src/App.{ending}": text}
    assert uses(tmp_path, files, "chime", "call") == [f"src/App.{ending}:6"]


# Verifies: REQ-d00749-F
def test_a_test_is_the_symbol_that_contains_a_use(tmp_path: Path) -> None:
    text = 'import { chime } from "../chime";\n'
    text += 'describe("bells", () => {\n  it("chime", () => {\n    chime();\n  });\n});\n'
    with opened(tmp_path, {"src/chime.ts": "export function chime() {}\n", "src/__tests__/a.spec.ts": text}) as project:
        found = answer(project, "src/chime.ts::chime", tests=True, kind=["call"])
    assert [(each["line"], each["inside"]) for each in found["uses"]] == [(4, "bells.chime")]


# Verifies: REQ-d00740-A
def test_the_symbols_of_a_script_are_its_members_constants_and_types_too(tmp_path: Path) -> None:
    from clew.formats.code.outline import outline_of

    text = """\
/** Rings. */
export abstract class Bell<T> {
  static count = 0;
  readonly size: number;
  get loud() { return true; }
  ring(): void;
  ring(n?: number) {}
}
export enum Tone { Low, High = "high" }
export type Loud = Bell<string> | null;
export const LIMIT = 3, make = () => { function inner() {} };
interface Plan { at: number }
interface Plan { on(): void }
"""
    symbols = outline_of(text, "src/a.ts").symbols
    assert [(each.qualname, each.kind, each.at, tuple(place.at for place in each.also)) for each in symbols] == [
        ("Bell", "class", 2, ()),
        ("Bell.count", "attribute", 3, ()),
        ("Bell.size", "attribute", 4, ()),
        ("Bell.loud", "property", 5, ()),
        ("Bell.ring", "method", 7, (6,)),
        ("Tone", "class", 9, ()),
        ("Tone.Low", "member", 9, ()),
        ("Tone.High", "member", 9, ()),
        ("Loud", "type", 10, ()),
        ("LIMIT", "constant", 11, ()),
        ("make", "function", 11, ()),
        ("make.inner", "function", 11, ()),
        ("Plan", "class", 12, (13,)),
        ("Plan.at", "attribute", 12, ()),
        ("Plan.on", "method", 13, ()),
    ]
    assert symbols[0].about == "Rings."


# Verifies: REQ-d00749-G
def test_without_its_grammar_a_file_keeps_its_definitions_and_the_answer_says_so(tmp_path: Path) -> None:
    write(tmp_path, {"clew.toml": "", "src/a.ts": "export function chime() {}\nchime();\n"})
    asked = "from clew.surfaces.cli.main import entry; entry()"
    program = f"import sys; sys.modules['tree_sitter_typescript'] = None; {asked}"
    command = (sys.executable, "-c", program, "uses", "chime", "--json")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["symbol"]["line"] == 1
    assert "tree-sitter-typescript is not installed" in " ".join(found["notes"])
