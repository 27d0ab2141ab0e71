"""Uses in Rust: modules and crates, methods by declared types, traits, patterns, macros."""

from pathlib import Path

import pytest
from tests.code.asking import answer, opened, uses

BELLS = """\
use std::collections::HashMap;

pub struct Bell {
    pub next: Option<Box<Bell>>,
    ring: u8,
}

pub struct Gong;

impl Gong {
    pub fn ring(&self) -> u8 { 2 }
}

pub enum Tone {
    Low,
    Of(Bell),
}

pub trait Loud {
    fn strike(&self) -> u8 { 1 }
}

impl Loud for Bell {}

pub struct Tower {
    pub all: Vec<Bell>,
    pub by_name: HashMap<String, Bell>,
    pub one: Bell,
}

pub fn make() -> Result<Bell, String> { Ok(Bell::new()) }
pub fn same<T>(it: T) -> T { it }
"""
METHODS = """\
use crate::bells::Bell;

impl Bell {
    pub fn new() -> Self { Bell { next: None, ring: 1 } }
    pub fn ring(&self) -> u8 { self.ring }
}
"""
HEAD = "use tower::bells::{self, Bell, Tone, Tower};\n\n"

SHAPES = {
    "a declared parameter": "fn go(b: &Bell) { b.ring(); }",
    "a boxed parameter": "fn go(b: Box<Bell>) { b.ring(); }",
    "what a function of the type gives": "fn go() { let b = Bell::new(); b.ring(); }",
    "a declared variable": "fn go() { let b: Bell = todo(); b.ring(); }",
    "a field": "fn go(t: Tower) { t.one.ring(); }",
    "an optional field": "fn go(b: Bell) { b.next.as_ref().unwrap().ring(); }",
    "a pattern of an optional": "fn go(b: Bell) { if let Some(n) = &b.next { n.ring(); } }",
    "a result that is passed on": "fn go() -> Result<u8, String> { Ok(bells::make()?.ring()) }",
    "a loop": "fn go(t: Tower) { for b in t.all.iter() { b.ring(); } }",
    "an index": "fn go(t: Tower) { t.all[0].ring(); }",
    "a map": 'fn go(t: Tower) { t.by_name.get("x").unwrap().ring(); }',
    "the parameter of a closure": "fn go(t: Tower) { t.all.iter().for_each(|b| { b.ring(); }); }",
    "a macro": 'fn go(b: Bell) { println!("{}", b.ring()); }',
    "a type parameter": "fn go(b: Bell) { bells::same(b).ring(); }",
    "by the name of the type": "fn go(b: Bell) { Bell::ring(&b); }",
    "an alias of a type": "type Loud = Bell;\nfn go(b: Loud) { b.ring(); }",
}


# Verifies: REQ-d00748-C
@pytest.mark.parametrize("shape", SHAPES)
def test_a_method_of_rust_is_used_where_the_type_of_its_receiver_is_declared(tmp_path: Path, shape: str) -> None:
    text = HEAD + SHAPES[shape] + "\n"
    line = next(number for number, row in enumerate(text.split("\n"), 1) if "ring(" in row)
    files = {
        "tower/Cargo.toml": '[package]\nname = "tower"\n',
        "tower/src/lib.rs": "pub mod bells;\nmod rings;\n",
        "tower/src/bells.rs": BELLS,
        "tower/src/rings.rs": METHODS,
        "app/Cargo.toml": '[package]\nname = "app"\n',
        "app/src/main.rs": text,
    }
    assert uses(tmp_path, files, "tower/src/rings.rs::Bell.ring") == [f"app/src/main.rs:{line}"]


# Verifies: REQ-d00748-C
def test_paths_of_rust_lead_through_modules_and_what_they_pass_on(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "tower"\n',
        "src/lib.rs": "mod inner;\npub use inner::deep::chime;\n\nfn own() { inner::deep::chime(); }\n",
        "src/inner/mod.rs": "pub mod deep;\n\nfn up() { self::deep::chime(); }\n",
        "src/inner/deep.rs": (
            "pub fn chime() {}\n\nfn other() { crate::chime(); super::super::chime(); }\n"
            "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn rings() { chime(); }\n}\n"
        ),
    }
    with opened(tmp_path, files) as project:
        found = answer(project, "chime", kind=["call"])
    assert sorted((each["path"], each["line"], each["inside"]) for each in found["uses"]) == [
        ("src/inner/deep.rs", 3, "other"),
        ("src/inner/deep.rs", 3, "other"),
        ("src/inner/deep.rs", 8, "tests.rings"),
        ("src/inner/mod.rs", 3, "up"),
        ("src/lib.rs", 4, "own"),
    ]


# Verifies: REQ-d00748-C
def test_a_method_of_a_trait_is_used_through_a_type_that_has_it(tmp_path: Path) -> None:
    text = "use crate::bells::{Bell, Loud, Tone};\n\nfn go(b: Bell, l: &dyn Loud) {\n    b.strike();\n    l.strike();\n"
    text += (
        "    match tone() { Tone::Of(x) => x.strike(), Tone::Low => 1 };\n}\nfn more<T: Loud>(it: T) { it.strike(); }\n"
    )
    files = {"Cargo.toml": "", "src/lib.rs": "pub mod bells;\nmod go;\n", "src/bells.rs": BELLS, "src/go.rs": text}
    assert uses(tmp_path, files, "Loud.strike") == ["src/go.rs:4", "src/go.rs:5", "src/go.rs:8"]


# Verifies: REQ-d00748-C
def test_a_crate_is_passed_on_under_another_name(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["bells", "all", "app"]\n',
        "bells/Cargo.toml": '[package]\nname = "loud-bells"\nversion = "0.1.0"\n',
        "bells/src/lib.rs": "pub struct Bell;\nimpl Bell {\n    pub fn ring(&self) {}\n}\n",
        "all/Cargo.toml": '[package]\nname = "all"\nversion = "0.1.0"\n',
        "all/src/lib.rs": "pub extern crate loud_bells as bells;\n",
        "app/Cargo.toml": '[package]\nname = "app"\nversion = "0.1.0"\n',
        "app/src/main.rs": "fn go(bell: &all::bells::Bell) {\n    bell.ring();\n}\n",
    }
    assert uses(tmp_path, files, "Bell.ring") == ["app/src/main.rs:2"]
