"""Sources of one floor have no helper twice: neither of the same name and arguments (then one is enough, in a header), nor two things of one
name. Builds from clean compile several sources of a floor at a time, where such names would meet."""
import collections
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMESPACE = re.compile(r"^(?:inline )?namespace ?([\w:]*) ?\{$")
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)\b[^;]*$")
CONSTANT = re.compile(r"^(?:static |inline )*const(?:expr)? [\w:<>,&* ]*?(\w+)(?:\[.*\])? ?[={]")
FUNCTION = re.compile(r"^(?!return|using|struct|class|enum|template|constexpr \w+ \w+ =)[\w:<>,&*\[\] ]*?[\w>&*\]] [&*]?(\w+)\(([^{;]*)\) ?(?:const )?(?:noexcept )?\{")


def helpers(text):
    """(namespace, name, arguments or None) of what stands at the top of anonymous namespaces."""
    inside = []
    lines = text.split("\n")
    for i, line in enumerate(lines):
        opened = NAMESPACE.match(line)
        if opened:
            inside.append(opened[1])
        elif line.startswith("}  // namespace"):
            inside.pop()
        elif "" in inside and line[:1].strip():
            where = "::".join(name for name in inside if name)
            if found := TYPE.match(line) or CONSTANT.match(line):
                yield where, found[1], None
            elif found := FUNCTION.match(" ".join(part.strip() for part in lines[i:i + 6])):
                kinds = [re.sub(r"(?<=[\w>&*\]]) ?\b\w+( = .*)?$", "", kind.strip()) for kind in re.split(r",(?![^<]*>)", found[2])]
                yield where, found[1], ", ".join(kinds)


class OneHelper(unittest.TestCase):
    def test_no_floor_has_a_helper_twice(self):
        floors = [path for path in (ROOT / "src/weft").iterdir() if path.is_dir()] + [ROOT / "python/src"]
        count, found = 0, []
        for floor in sorted(floors):
            seen = collections.defaultdict(dict)
            for path in sorted(floor.rglob("*.cpp")):
                if "isa" in path.parts:
                    continue
                for where, name, arguments in helpers(path.read_text()):
                    count += 1
                    for other, first in seen[where, name].items():
                        if first != path and (arguments is None or other is None or arguments == other):
                            found.append(f"{path.relative_to(ROOT)} and {first.relative_to(ROOT)} both have a '{name}' in an anonymous namespace")
                    seen[where, name].setdefault(arguments, path)
        self.assertFalse(found, "share one, or name them for what they are:\n" + "\n".join(found))
        self.assertGreater(count, 1000)

    def test_what_would_meet_is_seen(self):
        text = ("namespace weft {\nnamespace {\n\nstruct Known {\n};\nconstexpr int most = 3;\nint at(int i,\n       const Pair<int, int>& p) {\n    return i;\n}\n"
                "template <class T>\nT least() {\n}\n\n}  // namespace\n\nint outside() {\n}\n}  // namespace weft\n")
        self.assertEqual(list(helpers(text)), [("weft", "Known", None), ("weft", "most", None), ("weft", "at", "int, const Pair<int, int>&"),
                                               ("weft", "least", "")])


if __name__ == "__main__":
    unittest.main()
