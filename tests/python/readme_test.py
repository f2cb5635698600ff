"""The Python programs of the README and of the page on experiments run as they stand there."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
LACKS = None if list((BUILD / "python/weft").glob("_core*.so")) else "the extension is not built (nanobind is missing)"


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Readme(unittest.TestCase):
    def test_programs_run(self):
        for page in ["README.md", "docs/experiments.md"]:
            programs = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S)
            self.assertTrue(programs)
            self.run_all(programs)

    def run_all(self, programs):
        for program in programs:
            with tempfile.TemporaryDirectory() as folder:
                environment = dict(os.environ, PYTHONPATH=str(BUILD.resolve() / "python"))
                done = subprocess.run([sys.executable, "-c", program], env=environment, cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(done.stdout)


if __name__ == "__main__":
    unittest.main()
