"""The type stubs, which the build writes from the functions: mypy takes them, takes a program that is right and every example of a docstring,
and finds the mistakes of a program that is wrong. Skipped, and said so, where mypy or the package is missing."""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "docs")]
RIGHT = '''
import numpy as np
import weft as wf


def loss(w: wf.Tensor, x: wf.Tensor) -> wf.Tensor:
    return wf.sum(wf.tanh(x @ w) ** 2) + wf.mean(w, axis=(0, 1))


weight = wf.Parameter(wf.ones((3, 2)), name="weight")
slope = wf.grad(loss)(weight.value, wf.asarray(np.ones((4, 3))))
middle: wf.Tensor = wf.quantile(slope, [0.1, 0.9], axis=0, method="hazen") + 1
solved = wf.linalg.solve(wf.eye(3), wf.random.normal((3, 3))) - 1 / middle.sum()
solved[0] = 7.0
size: int = solved.ndim + len(solved) + int(solved[0, 0])
shape: tuple[int, ...] = solved.shape
print(wf.fft.fft(solved), wf.float32, wf.concat([solved, slope[None, 0, :1]], axis=None), solved > 0, -solved, solved.reshape(9, 1).mean(axis=0))
try:
    wf.ones((2,)) + wf.ones((3,))
except wf.ShapeError as error:
    print(error)
'''
WRONG = '''
import weft as wf

x = wf.ones((2, 3))
wf.sum(x, axs=1)
wf.exp()
x.sme()
wf.linalg.invert(x)
wf.reshape(x, keepdims=True, shape=(6,))
text: str = x.ndim
'''


def mypy(program, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_text(program)
        environment = dict(os.environ, MYPYPATH=str(BUILD / "python"))
        done = subprocess.run([sys.executable, "-m", "mypy", *options, "--follow-imports=silent", f"--cache-dir={folder}/cache", str(path)],
                              env=environment, cwd=folder, capture_output=True, text=True)
        return done.stdout + done.stderr


def lacks():
    if not list((BUILD / "python/weft").glob("_core*.so")):
        return "the extension is not built (nanobind is missing)"
    found = subprocess.run([sys.executable, "-m", "mypy", "--version"], capture_output=True).returncode == 0
    return None if found else "mypy"


@unittest.skipIf(lacks(), f"type stubs: {lacks()}")
class Types(unittest.TestCase):
    def test_the_stubs_are_right_in_themselves(self):
        stubs = [str(path) for path in sorted((BUILD / "python/weft").rglob("*.pyi"))]
        self.assertGreater(len(stubs), 3)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-m", "mypy", "--strict", f"--cache-dir={folder}", "--follow-imports=silent", *stubs],
                                  env=dict(os.environ, MYPYPATH=str(BUILD / "python")), cwd=folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr)

    def test_a_right_program_is_taken(self):
        self.assertIn("no issues found", mypy(RIGHT, "--strict"))

    def test_examples_of_docstrings_are_taken(self):
        from manual import examples
        lines = ["import numpy as np", "import weft as wf"]
        for i, test in enumerate(examples.of_modules()):
            lines.append(f"def example{i}() -> None:  # {test.name}")
            lines += [textwrap.indent(example.source.rstrip(), "    ") for example in test.examples]
        self.assertGreater(len(lines), 500)
        self.assertIn("no issues found", mypy("\n".join(lines), "--check-untyped-defs", "--pretty"))

    def test_mistakes_are_found(self):
        lines = {int(found) for found in re.findall(r"program\.py:(\d+): error", mypy(WRONG, "--strict"))}
        self.assertEqual(lines, set(range(5, 11)))


if __name__ == "__main__":
    unittest.main()
