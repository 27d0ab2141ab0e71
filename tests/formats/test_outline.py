"""What a source file defines and imports, language by language."""

import pytest

from clew.formats.code.outline import outline_of

DEFINED = {
    "bell.py": (
        "@loud\ndef ring(times):\n    pass\n\n\nclass Bell:\n    async def stop(self): ...\n",
        "ring Bell Bell.stop",
    ),
    "bell.ts": (
        "export class Bell<T> extends Thing {\n"
        "  private size = 1;\n"
        "  async ring<T>(n: number): Promise<void> {\n"
        "  }\n"
        "  stop = async (n) => 3;\n"
        "}\n"
        "export const make = (a: string): number => a.length;\n"
        "export type Sound = {a: number};\n"
        "interface Loud { ring(): void }\n",
        "Bell Bell.size Bell.ring Bell.stop make Sound Sound.a Loud Loud.ring",
    ),
    "bell.js": (
        "exports.ring = (a) => {\n};\nfunction* rings() {}\nclass Bell { static make() {} }\n",
        "ring rings Bell Bell.make",
    ),
    "bell.go": (
        "package p\n"
        "\n"
        "type Bell struct {\n"
        "\tsize int\n"
        "}\n"
        "\n"
        "func (b *Bell) Ring(n int) error {\n"
        "\treturn nil\n"
        "}\n"
        "\n"
        "func Make[T any](x T) T { return x }\n"
        "\n"
        "type Size int\n",
        "Bell Bell.size Bell.Ring Make Size",
    ),
    "bell.rs": (
        "pub struct Bell { size: u8 }\n"
        "struct Tone(u8);\n"
        "struct Quiet;\n"
        "impl Loud for Bell {\n"
        "  fn ring(&self) {}\n"
        "}\n"
        "pub async fn make<'a>(x: &'a str) -> Result<(), E> {\n"
        "}\n",
        "Bell Bell.size Tone Quiet Bell.ring make",
    ),
    "Bell.java": (
        "package a.b;\n"
        "\n"
        "public class Bell<T> implements Loud {\n"
        "  @Override\n"
        "  public List<String> ring(int n) throws E {\n"
        "  }\n"
        "  record Tone(int pitch) { }\n"
        "}\n",
        "Bell Bell.ring Bell.Tone Bell.Tone.pitch",
    ),
    "bell.c": (
        "static int ring(int n,\n   char *name)\n{\n}\nstruct bell { int size; };\nvoid later(void);\n",
        "ring bell",
    ),
    "bell.cpp": (
        "namespace tower {\n"
        "class Bell {\n"
        "  int size() const { return 1; }\n"
        "};\n"
        "int Bell::ring(int n) const noexcept {\n"
        "}\n"
        "}\n",
        "tower tower.Bell tower.Bell.size tower.Bell.ring",
    ),
    "Bell.cs": (
        "public sealed class Bell<T> : Thing where T : class\n"
        "{\n"
        "    public async Task<int> Ring(int n)\n"
        "    {\n"
        "    }\n"
        "    public string Name(int n) => n.ToString();\n"
        "    public static Größe Weigh(int n) => new();\n"
        "    record Tone(int Pitch);\n"
        "}\n",
        "Bell Bell.Ring Bell.Name Bell.Weigh Bell.Tone",
    ),
    "bell.rb": (
        "module Tower\n  class Bell\n    def ring(n) = n\n    def self.make\n    end\n  end\nend\n",
        "Tower Tower.Bell Tower.Bell.ring Tower.Bell.make",
    ),
    "bell.php": (
        "<?php\n"
        "abstract class Bell extends Thing {\n"
        "  public static function ring(int $n): ?string {\n"
        "  }\n"
        "}\n"
        "function make() { }\n",
        "Bell Bell.ring make",
    ),
    "bell.kt": (
        "data class Tone(val pitch: Int)\n"
        "\n"
        "class Bell(\n"
        "  size: Int,\n"
        ") : Thing(size),\n"
        "  Loud {\n"
        "  override fun ring() {}\n"
        "  fun name() = 3\n"
        "}\n",
        "Tone Bell Bell.ring Bell.name",
    ),
    "bell.swift": (
        "public class Bell: Thing,\n  Loud\n{\n  @objc\n  public func ring(n: Int) -> Int {\n  }\n}\n",
        "Bell Bell.ring",
    ),
    "bell.mm": (
        "@implementation Bell\n- (NSTimeInterval)ring:(id<Loud>)tower\n{\n}\n+ (instancetype)make {\n}\n@end\n",
        "Bell Bell.ring Bell.make",
    ),
    "bell.scala": (
        "object Bell {\n  def ring(n: Int): Int = {\n    1\n  }\n}\ncase class Tone(pitch: Int)\n",
        "Bell Bell.ring Tone",
    ),
    "bell.sh": (
        "ring() {\n  echo\n}\nfunction stop {\n}\n",
        "ring stop",
    ),
}


# Verifies: REQ-d00363-D
@pytest.mark.parametrize("path", DEFINED)
def test_functions_classes_and_methods_are_found_in_every_common_language(path: str) -> None:
    source, names = DEFINED[path]
    assert [each.qualname for each in outline_of(source, path).symbols] == names.split()


IMPORTED = {
    "src/a.ts": (
        "import D, { A as B, type C } from './x';\nexport * from './y';\nconst { P, Q: r } = require('../z');\n"
        "const w = require('./v').W;\nimport lib from 'lodash';\nimport './side';\n",
        [
            ("/src/x", "A"),
            ("/src/x", "C"),
            ("/src/y", ""),
            ("/z", "P"),
            ("/z", "Q"),
            ("/src/v", "W"),
            ("?lodash", ""),
            ("/src/side", ""),
        ],
    ),
    "src/v/x.rs": (
        "mod inner;\nuse crate::tools::{Py, sub::Deep as Z};\nuse super::other::Thing;\n",
        [("/src/v/x/inner", ""), ("/src/tools", "Py"), ("/src/tools/sub", "Deep"), ("/src/v/other", "Thing")],
    ),
    "a/A.java": ("import a.c.D;\nimport static a.c.E.go;\nimport a.d.*;\n", [("a.c", "D"), ("a.c", "E")]),
    "a.scala": ("import a.b.{C, D => E}\nimport a.b._\n", [("a.b", "C"), ("a.b", "D")]),
    "a.php": ("<?php\nuse C\\D;\nuse C\\{E, F as G};\n", [("C", "D"), ("C", "E"), ("C", "F")]),
    "lib/a/b.rb": ("require 'c/d'\nrequire_relative '../e'\n", [("/lib/c/d", ""), ("/lib/e", "")]),
    "bin/run.sh": (". ./b.sh\nsource lib/c.sh\n. /etc/profile\n", [("/bin/b.sh", ""), ("/bin/lib/c.sh", "")]),
    "a/x.c": ('#include "b.h"\n#include <c/d.h>\n', [("/a/b.h", ""), ("*b.h", ""), ("*c/d.h", "")]),
}


# Verifies: REQ-d00363-E
@pytest.mark.parametrize("path", IMPORTED)
def test_imports_are_read_as_they_are_written(path: str) -> None:
    source, imports = IMPORTED[path]
    assert [(each.module, each.name) for each in outline_of(source, path).imports] == imports


# Verifies: REQ-d00363-D
@pytest.mark.parametrize(
    ("path", "source"),
    [("a.ts", "export default " * 30_000), ("a.mm", "@interface A\n" * 20_000), ("a.py", "import a\n" * 20_000)],
)
def test_a_file_of_one_repeated_word_is_read_in_time(path: str, source: str) -> None:
    # Patterns that look at the rest of the file again for each word would take hours.
    assert outline_of(source, path).lines == max(source.count("\n"), 1)
