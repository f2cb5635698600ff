"""The house is clean: short files that say what they are, nothing left for later, no machine's paths, one format."""
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "tests", "cmake", "tools", "examples", "docs", "bench", ".ci")
TEXTS = {".h", ".cpp", ".inc", ".py", ".cmake", ".in", ".txt", ".md", ".yaml", ".json", ".sh", ""}
LONGEST = 500
EXCUSE = "Longer than 500 lines because"   # in the opening comment, followed by the reason
# Put together from pieces, so that this file may be scanned as well.
LEFT_FOR_LATER = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")) + r")\b")
MACHINES = re.compile(r"(?<![\w.])/(" + "|".join(("wo" + "rk", "ho" + "me", "ro" + "ot", "Use" + "rs")) + r")/\w"
                      r"|https?://[^\s)]*(" + "|".join(("/sim" + "ple", "py" + "pi.", "deb" + "ian", "index-" + "url")) + r")")


def complaints(root):
    """One line for each thing in the tree at `root` that should not be so."""
    found = []
    files = [path for path in root.iterdir() if path.is_file()]
    files += [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file()]
    for path in sorted(path for path in files if path.suffix in TEXTS and path.name != ".git"):
        name = path.relative_to(root)
        try:
            lines = path.read_text().splitlines()
        except UnicodeDecodeError:
            if path.suffix:
                found.append(f"{name}: is not UTF-8")
            continue
        if name.parts[0] == "src":
            if len(lines) > LONGEST and not any(EXCUSE in line for line in lines[:12]):
                found.append(f"{name}: {len(lines)} lines; is there a second thing in it? (or, in its opening comment: '{EXCUSE} ...')")
            if path.suffix == ".h" and not (lines and lines[0].startswith("//")):
                found.append(f"{name}: does not open with what it is")
        if path.suffix == ".h" and "#pragma once" not in lines:
            found.append(f"{name}: has no #pragma once")
        for number, line in enumerate(lines, 1):
            for pattern, why in ((LEFT_FOR_LATER, "left for later"), (MACHINES, "one machine's path or a registry's host")):
                if pattern.search(line):
                    found.append(f"{name}:{number}: {why}: {line.strip()[:100]}")
    return found


class Hygiene(unittest.TestCase):
    def test_files_are_short_say_what_they_are_and_leave_nothing_for_later(self):
        found = complaints(ROOT)
        self.assertFalse(found, "\n".join(found))

    def test_sources_are_formatted(self):
        tool = shutil.which("clang-format-14") or shutil.which("clang-format")
        version = tool and re.search(r"version (\d+)", subprocess.run([tool, "--version"], capture_output=True, text=True).stdout)
        if not version or version.group(1) != "14":   # each version formats a little differently
            self.skipTest("clang-format 14 is missing")
        sources = [str(path) for folder in FOLDERS for pattern in ("*.h", "*.cpp") for path in (ROOT / folder).rglob(pattern)]
        done = subprocess.run([tool, "--dry-run", "-Werror", *sources], capture_output=True, text=True)
        wrong = sorted({line.split(":")[0] for line in done.stderr.splitlines() if ": error:" in line})
        self.assertFalse(done.returncode, "./run format mends:\n" + "\n".join(str(Path(path).relative_to(ROOT)) for path in wrong))

    def test_casters_of_the_extension_are_seen_by_all_its_sources(self):
        # A source without the one for std::string once made an nb::cast<std::string> of its own, and the linker took that one.
        found = [path.name for path in (ROOT / "python/src").iterdir() if path.name != "object.h" and "nanobind/stl/" in path.read_text()]
        self.assertFalse(found, "python/src/object.h includes nanobind's casters for all")


class TheScan(unittest.TestCase):
    """On made-up trees, so that the scan above can fail."""

    def judge(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            return complaints(Path(folder))

    def test_refuses_what_must_be_refused(self):
        opening = "// A thing.\n#pragma once\n"
        for path, text in (("src/a.h", opening + "// TO" + "DO: later\n"), ("src/a.h", "#pragma once\n"), ("src/a.h", "// A thing.\n"),
                           ("src/a.cpp", "\n" * 501), ("docs/a.md", "see /ho" + "me/me/weft\n"), ("run", "wget https://py" + "pi.org/x\n")):
            with self.subTest(text[-40:]):
                self.assertEqual(len(self.judge(path, text)), 1)

    def test_allows_an_excuse_and_ordinary_text(self):
        self.assertEqual(self.judge("src/a.cpp", f"// A table. {EXCUSE} it is one table.\n" + "\n" * 600), [])
        self.assertEqual(self.judge("README.md", "Data lies in ../shared/data; see https://github.com/google/xbyak\n"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
