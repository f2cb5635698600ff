"""The house stands: a folder of src/weft includes only what is above it. The order is read from CMakeLists.txt, never repeated here."""
import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Up to and including this floor each may use all above it; the floors after it are rooms beside each other.
LAST_OF_THE_STAIRS = "backend"
# A room sees expressions, derivatives and compiled functions, never how these are made into programs for a device.
CLOSED_TO_ROOMS = {"rewrite", "compile", "backend"}
# The doors between rooms, each with its reason; there is no other.
DOORS = {
    "data": {"io"},                              # a data set is read from files
    "train": {"nn", "optim", "data", "io"},      # a training loop is what joins them
    "viz": {"io"},                               # a report is written to a file and reads a run's log
    "look": {"viz", "train", "nn", "optim", "data", "io"},  # it gathers what a page shows from a run
    "search": {"look", "viz", "train", "nn", "optim", "data", "io"},  # it trains runs, and shows what they come to
}
SOURCES = ("*.h", "*.cpp", "*.inc")


def read_floors(cmake_lists):
    return re.search(r"set\(WEFT_FLOORS ([^)]*)\)", cmake_lists).group(1).split()


def allowed(floors):
    """Which folders each folder may include. `weft.h` and `experiment.h` stand for the users' headers, which gather all that a user types."""
    stairs = floors[:floors.index(LAST_OF_THE_STAIRS) + 1]
    rooms = floors[len(stairs):]
    table = {floor: set(stairs[:i + 1]) for i, floor in enumerate(stairs)}
    for room in rooms:
        table[room] = {room} | (set(stairs) - CLOSED_TO_ROOMS) | DOORS.get(room, set())
    table["weft.h"] = table["experiment.h"] = set(floors)
    table["cli"] = set(floors) | {"cli", "weft.h"}
    return table


def violations(root):
    """One line for each include in root/src/weft that the house does not allow."""
    table = allowed(read_floors((root / "CMakeLists.txt").read_text()))
    base = root / "src" / "weft"
    found = []
    for path in sorted(path for pattern in SOURCES for path in base.rglob(pattern)):
        floor = path.relative_to(base).parts[0]
        if floor not in table:
            found.append(f"{path.relative_to(root)}: '{floor}' is no floor of CMakeLists.txt's WEFT_FLOORS")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(r'\s*#\s*include\s*(?:"([^"]*)"|<(weft/[^>]*)>)', line)
            if not include:
                continue
            where, target = f"{path.relative_to(root)}:{number}", include.group(1) or include.group(2)
            parts = target.split("/")
            if parts[0] != "weft":
                found.append(f"{where}: '{target}' is not written \"weft/...\"")
            elif target == "weft/found.h":   # what the build found, generated: below every floor, and never installed
                if path.suffix != ".cpp":
                    found.append(f"{where}: weft/found.h is generated; a header that includes it could not be installed")
            elif parts[1] not in table[floor]:
                found.append(f"{where}: {floor} may not include {parts[1]} ('{target}')")
    return found


class Floors(unittest.TestCase):
    def test_no_include_goes_up(self):
        found = violations(ROOT)
        self.assertFalse(found, "\n".join(found))

    def test_the_source_tree_was_read(self):
        self.assertTrue(list((ROOT / "src/weft").rglob("*.h")))

    def test_every_door_joins_rooms_that_exist(self):
        floors = read_floors((ROOT / "CMakeLists.txt").read_text())
        rooms = set(floors[floors.index(LAST_OF_THE_STAIRS) + 1:])
        self.assertLessEqual(set(DOORS) | set().union(*DOORS.values()), rooms)
        self.assertLessEqual(CLOSED_TO_ROOMS, set(floors) - rooms)


class TheScan(unittest.TestCase):
    """On made-up houses: what must be refused is refused, so that the scan above can fail."""

    def judge(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "CMakeLists.txt").write_text("set(WEFT_FLOORS base core graph runtime backend nn io data)\n")
            (root / "src/weft" / path).parent.mkdir(parents=True)
            (root / "src/weft" / path).write_text(text)
            return violations(root)

    def test_refuses_what_must_be_refused(self):
        for path, target in {"core/a.h": "weft/graph/b.h", "base/a.cpp": "weft/core/b.h", "nn/a.h": "weft/backend/b.h",
                             "nn/b.h": "weft/io/c.h", "io/a.h": "weft/data/b.h", "graph/a.h": "weft/nn/b.h",
                             "runtime/a.h": "weft/backend/b.h", "data/a.cpp": "weft/weft.h", "backend/cpu/a.cpp": "weft/cli/b.h",
                             "core/b.inc": "weft/graph/b.h", "core/c.h": "weft/found.h", "core/d.h": "d.h", "attic/a.h": "weft/core/a.h",
                             "weft.h": "weft/cli/a.h"}.items():
            with self.subTest(f"{path} includes {target}"):
                self.assertEqual(len(self.judge(path, f'#pragma once\n#include "{target}"\n')), 1)

    def test_sees_angle_brackets_and_indented_includes(self):
        self.assertTrue(self.judge("core/a.h", "#if 1\n  #  include <weft/graph/b.h>\n#endif\n"))

    def test_names_file_line_and_both_floors(self):
        self.assertEqual(self.judge("core/a.h", '#pragma once\n#include "weft/graph/b.h"\n'),
                         ["src/weft/core/a.h:2: core may not include graph ('weft/graph/b.h')"])

    def test_allows_what_the_house_allows(self):
        for path, target in {"core/a.h": "weft/base/b.h", "graph/a.h": "weft/graph/b.h", "nn/a.h": "weft/graph/b.h",
                             "data/a.h": "weft/io/b.h", "weft.h": "weft/nn/b.h", "cli/a.cpp": "weft/weft.h",
                             "core/c.cpp": "weft/found.h", "backend/cpu/a.cpp": "weft/runtime/b.h"}.items():
            with self.subTest(f"{path} includes {target}"):
                self.assertEqual(self.judge(path, f'#include "{target}"\n#include <vector>\n// #include "weft/cli/x.h"\n'), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
