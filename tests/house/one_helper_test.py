"""Sources of one floor, and the tests of one, have no helper twice: neither of the same name and arguments (then one is enough, in a header),
nor two things of one name. Builds from clean compile several sources at a time, where such names would meet."""
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


def meet(sources):
    """(path, other path, name) of helpers that would meet if these sources were one."""
    seen = collections.defaultdict(dict)
    for path, text in sources:
        for where, name, arguments in helpers(text):
            for other, first in seen[where, name].items():
                if first != path and (arguments is None or other is None or arguments == other):
                    yield path, first, name
            seen[where, name].setdefault(arguments, path)


def hidden(sources, headers):
    """(path, header, name) of helpers that would hide what a header gives to the sources that stand behind them."""
    given = {}
    for path, text in headers:
        opened = []
        for line in text.split("\n"):
            if found := NAMESPACE.match(line):
                opened.append(found[1])
            elif line.startswith("}  // namespace"):
                opened.pop()
            elif line[:1].strip() and (found := FUNCTION.match(line) or TYPE.match(line) or CONSTANT.match(line)):
                given["::".join(opened), found[1]] = path
    for path, text in sources:
        for where, name, _ in helpers(text):
            if (where, name) in given:
                yield path, given[where, name], name


def read(paths):
    return [(path.relative_to(ROOT), path.read_text()) for path in sorted(paths)]


class OneHelper(unittest.TestCase):
    def test_no_floor_has_a_helper_twice(self):
        floors = [path for path in (ROOT / "src/weft").iterdir() if path.is_dir()] + [ROOT / "python/src"]
        floors += [path for path in (ROOT / "tests").iterdir() if path.is_dir()]
        count, found = 0, []
        for floor in sorted(floors):
            sources = read(path for path in floor.rglob("*.cpp") if "isa" not in path.parts and floor / "package" not in path.parents)
            count += sum(1 for _, text in sources for _ in helpers(text))
            found += [f"{path} and {other} both have a '{name}' in an anonymous namespace" for path, other, name in meet(sources)]
        self.assertFalse(found, "share one, or name them for what they are:\n" + "\n".join(found))
        self.assertGreater(count, 2000)

    def test_no_test_hides_what_a_header_gives_to_others(self):
        found = []
        for folder in sorted(path for path in (ROOT / "tests").iterdir() if path.is_dir()):
            headers = read([*(ROOT / "tests").glob("*.h"), *folder.glob("*.h")])
            found += [f"{path} has a '{name}' in an anonymous namespace, which {header} gives to other tests"
                      for path, header, name in hidden(read(folder.glob("*_test.cpp")), headers)]
        self.assertFalse(found, "name them for what they are:\n" + "\n".join(found))

    def test_what_would_meet_is_seen(self):
        text = ("namespace weft {\nnamespace {\n\nstruct Known {\n};\nconstexpr int most = 3;\nint at(int i,\n       const Pair<int, int>& p) {\n    return i;\n}\n"
                "template <class T>\nT least() {\n}\n\n}  // namespace\n\nint outside() {\n}\n}  // namespace weft\n")
        self.assertEqual(list(helpers(text)), [("weft", "Known", None), ("weft", "most", None), ("weft", "at", "int, const Pair<int, int>&"),
                                               ("weft", "least", "")])
        self.assertEqual(list(meet([("a", text), ("b", "namespace weft {\nnamespace {\nint most();\nint at(int i) {\nenum most {\n")])), [("b", "a", "most")])
        header = "namespace weft {\nstruct Known {\n    int least() {\n};\ninline int most(int x) {\n"
        self.assertEqual(list(hidden([("a", text)], [("h", header)])), [("a", "h", "Known"), ("a", "h", "most")])


if __name__ == "__main__":
    unittest.main()
