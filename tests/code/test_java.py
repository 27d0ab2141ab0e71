"""Uses in Java: packages and imports, receivers with declared types, inheritance, functions without a name."""

from pathlib import Path

import pytest
from tests.code.asking import answer, opened, uses

BELLS = """\
package tower.bells;

import java.util.List;
import java.util.Map;

public class Bell extends Metal {
  public Bell next;
  public static Bell one = new Bell();
  private int ring;
  public int ring() { return ring; }
  public static Bell make() { return new Bell(); }
  public List<Bell> all() { return null; }
  public Map<String, Bell> byName() { return null; }
  public static <T> T same(T it) { return it; }
  public interface Strike { void at(Bell bell); }
  public static void each(Strike strike) {}
}
"""
METAL = "package tower.bells;\n\npublic class Metal {\n  public int melt() { return 1; }\n}\n"
GONG = "package tower.bells;\n\npublic class Gong {\n  public int ring() { return 2; }\n}\n"

SHAPES = {
    "a declared parameter": "void go(Bell b) { b.ring(); }",
    "a declared variable": "void go() { Bell b = null; b.ring(); }",
    "a variable whose type is inferred": "void go() { var b = new Bell(); b.ring(); }",
    "a call of the constructor": "void go() { new Bell().ring(); }",
    "a field": "private Bell bell; void go() { bell.ring(); }",
    "a field by this": "private Bell bell; void go() { this.bell.ring(); }",
    "the field of another": "void go(Bell b) { b.next.ring(); }",
    "a static field": "void go() { Bell.one.ring(); }",
    "a static method": "void go() { Bell.make().ring(); }",
    "a cast": "void go(Object o) { ((Bell) o).ring(); }",
    "a test of the type": "void go(Object o) { if (o instanceof Bell b) b.ring(); }",
    "a loop": "void go(Bell a) { for (var b : a.all()) b.ring(); }",
    "an array": "void go(Bell[] all) { all[0].ring(); }",
    "the value of a map": 'void go(Bell a) { a.byName().get("x").ring(); }',
    "a type parameter": "void go(Bell a) { Bell.same(a).ring(); }",
    "a type parameter with a bound": "<T extends Bell> void go(T b) { b.ring(); }",
    "the parameter of a function": "void go(Bell a) { a.all().forEach(b -> b.ring()); }",
    "an interface of one method": "void go() { Bell.each(b -> b.ring()); }",
    "a method as a value": "void go(Bell a) { a.all().stream().map(Bell::ring); }",
    "a pattern of a switch": "void go(Object o) { switch (o) { case Bell b -> b.ring(); default -> {} } }",
    "a resource": "void go() { try (Bell b = Bell.make()) { b.ring(); } }",
}


# Verifies: REQ-d00748-B
@pytest.mark.parametrize("shape", SHAPES)
def test_a_method_of_java_is_used_where_the_type_of_its_receiver_is_declared(tmp_path: Path, shape: str) -> None:
    files = {
        "src/main/java/tower/bells/Bell.java": BELLS,
        "src/main/java/tower/bells/Metal.java": METAL,
        "src/main/java/tower/bells/Gong.java": GONG,
        "src/main/java/tower/Main.java": (
            f"package tower;\n\nimport tower.bells.Bell;\n\nclass Main {{\n  {SHAPES[shape]}\n}}\n"
        ),
    }
    target = "src/main/java/tower/bells/Bell.java:10"
    assert uses(tmp_path, files, target, "call", "read") == ["src/main/java/tower/Main.java:6"]


# Verifies: REQ-d00748-B
def test_members_of_java_are_inherited_and_known_in_their_package(tmp_path: Path) -> None:
    files = {
        "a/tower/bells/Bell.java": BELLS,
        "a/tower/bells/Metal.java": METAL,
        "b/tower/bells/BellTest.java": (
            "package tower.bells;\n\nclass BellTest extends Bell {\n"
            "  @Test void rings() { melt(); new Bell().melt(); super.melt(); }\n}\n"
        ),
        "b/tower/Util.java": (
            "package tower;\n\nimport static tower.bells.Bell.make;\n\nclass Util {\n"
            "  int melt() { return make().melt(); }\n  int other() { return melt(); }\n}\n"
        ),
    }
    with opened(tmp_path, files) as project:
        found = answer(project, "Metal.melt")
        made = answer(project, "Bell.make", kind=["call"])
    assert [(each["path"], each["line"], each["inside"]) for each in found["uses"]] == [
        ("b/tower/Util.java", 6, "Util.melt"),
        ("b/tower/bells/BellTest.java", 4, "BellTest.rings"),
        ("b/tower/bells/BellTest.java", 4, "BellTest.rings"),
        ("b/tower/bells/BellTest.java", 4, "BellTest.rings"),
    ]
    assert [(each["path"], each["line"]) for each in made["uses"]] == [("b/tower/Util.java", 6)]


# Verifies: REQ-d00748-B
def test_making_an_object_of_java_uses_the_class_and_its_constructor(tmp_path: Path) -> None:
    files = {
        "Bell.java": "package a;\n\nclass Bell {\n  Bell(int size) {}\n}\n",
        "Main.java": "package a;\n\nclass Main {\n  Bell bell = new Bell(1);\n}\n",
    }
    with opened(tmp_path, files) as project:
        of_class = answer(project, "Bell.java:3")
        of_constructor = answer(project, "Bell.java:4")
    assert [(each["line"], each["kind"]) for each in of_class["uses"]] == [(4, "annotation"), (4, "call")]
    assert [(each["line"], each["kind"]) for each in of_constructor["uses"]] == [(4, "call")]


# Verifies: REQ-d00748-B
def test_a_method_of_java_that_overrides_another_is_told(tmp_path: Path) -> None:
    files = {
        "Loud.java": "package a;\n\ninterface Loud { void ring(); }\n",
        "Bell.java": "package a;\n\nclass Bell implements Loud {\n  public void ring() {}\n}\n",
        "Main.java": "package a;\n\nclass Main {\n  void go(Loud it) { it.ring(); }\n}\n",
    }
    with opened(tmp_path, files) as project:
        found = answer(project, "Loud.ring")
    assert [(each["path"], each["line"], each["kind"]) for each in found["uses"]] == [
        ("Bell.java", 4, "override"),
        ("Main.java", 4, "call"),
    ]
