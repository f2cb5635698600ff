"""The Python programs of examples/ run. What a program needs and is not here is said."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
LACKS = None if list((BUILD / "python/weft").glob("_core*.so")) else "the extension is not built (nanobind is missing)"


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Examples(unittest.TestCase):
    def run_program(self, name, needs):
        environment = dict(os.environ, PYTHONPATH=str(BUILD / "python"))
        found = subprocess.run([sys.executable, "-c", needs], env=environment, capture_output=True, text=True)
        if found.returncode:
            self.skipTest(found.stderr.strip().split("\n")[-1])
        done = subprocess.run([sys.executable, ROOT / "examples" / name], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_scipy_and_einops_take_wefts_arrays(self):
        said = self.run_program("others_arrays.py", "import einops, scipy\nassert tuple(map(int, scipy.__version__.split('.')[:2])) >= (1, 15), 'SciPy 1.15'")
        self.assertIn("adds up to 1.000", said)


if __name__ == "__main__":
    unittest.main()
