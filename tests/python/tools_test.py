"""What notebooks show, explanations, settings, files. Skipped, and said so, where the package was not built (nanobind missing)."""
import html.parser
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from built import BUILD, LACKS, np, wf


class Text(html.parser.HTMLParser):
    """The words of a page, and whether every tag that opens closes."""

    def __init__(self, page):
        super().__init__()
        self.open, self.words, self.cells = [], [], 0
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "img", "input", "link"):
            self.open.append(tag)
        self.cells += tag == "td"

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, words):
        self.words.append(words)


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Tools(unittest.TestCase):
    def test_notebooks_show_small_matrices_as_tables_and_the_rest_as_text(self):
        for x, cells in ((np.arange(6.0).reshape(2, 3), 6), (np.arange(3), 3), (np.ones((2, 2, 2)), 0), (np.float32(1), 0), (np.ones((0, 3)), 0), (np.ones((100, 100)), 0)):
            page = Text(wf.asarray(x)._repr_html_())
            self.assertEqual((page.open, page.cells), ([], cells))
            self.assertIn(str(np.shape(x)), "".join(page.words))

    def test_a_program_is_explained(self):
        def f(x, y):
            return wf.sum(wf.log(1 + wf.exp(x @ y)))
        found = wf.explain(f, wf.ones((8, 4)), wf.ones((4, 3)))
        for stage, word in (("graph", "matmul"), ("rewrites", "softplus"), ("plan", "0:"), ("kernels", "for"), ("timings", "%")):
            self.assertIn(word, getattr(found, stage), stage)
            self.assertIn(getattr(found, stage), str(found))
        self.assertIn("softplus", "".join(Text(found._repr_html_()).words))
        self.assertIn("exp", wf.explain(wf.exp(wf.ones(3))).graph)
        limits = found.limits
        self.assertEqual(sorted(limits), ["copied", "operations", "read"])
        self.assertTrue(all(1e8 < value < 1e15 for value in limits.values()), limits)   # of any machine of these decades

    def test_settings_are_read_and_written(self):
        threads = wf.config.threads
        try:
            wf.config.debug = "nan"
            with self.assertRaises(ValueError) as caught:
                wf.log(wf.asarray([1.0, -1.0])).eval()
            self.assertIn("log", str(caught.exception))
            self.assertIn("tools_test.py", str(caught.exception))
            wf.config.threads = 1
            self.assertEqual((wf.config.debug, wf.config.threads), ("nan", 1))
        finally:
            wf.config.debug, wf.config.threads = "", threads
        for name, value in (("debug", "nans"), ("show", "everything"), ("threads", 0)):
            with self.assertRaises(ValueError):
                setattr(wf.config, name, value)
        with self.assertRaises(AttributeError):
            wf.config.thread = 3

    def test_trees_are_saved_and_loaded_in_their_form(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tree.safetensors")
            tree = {"layers": [{"w": wf.ones((2, 3)), "b": wf.zeros(3, dtype=wf.bfloat16)}, (wf.asarray(3), None)], "steps": 7, "name": "net", "p": wf.Parameter(wf.ones(2))}
            wf.save(tree, path)
            back = wf.load(path)
            self.assertEqual((back["steps"], back["name"], back["layers"][1][1]), (7, "net", None))
            self.assertEqual(back["layers"][0]["b"].dtype, wf.bfloat16)
            self.assertIsInstance(back["layers"][1], tuple)
            np.testing.assert_array_equal(np.asarray(back["layers"][0]["w"]), np.ones((2, 3)))
            self.assertTrue(wf.array_equal(back["p"], wf.ones(2)))
            wf.save(wf.arange(5), path)
            self.assertEqual(wf.load(path).tolist(), list(range(5)))
            wf.save(wf.load(path) + 1, path)      # what is read may be written over
            self.assertEqual(wf.load(path).tolist(), [1, 2, 3, 4, 5])
            for wrong in ({1: wf.ones(2)}, {"a": object()}, {"a.b": wf.ones(1), "a": {"b": wf.ones(1)}}, wf.ones(2, dtype=wf.complex128)):
                with self.assertRaises((TypeError, ValueError)):
                    wf.save(wrong, path)
            self.assertEqual(wf.load(path).tolist(), [1, 2, 3, 4, 5])
            path.write_bytes(path.read_bytes()[:-3])
            with self.assertRaises(OSError) as caught:
                wf.load(path)
            self.assertIn("tree.safetensors", str(caught.exception))
            with self.assertRaises(OSError):
                wf.load(Path(folder, "none"))

    def test_the_package_starts_at_once(self):
        def seconds(program):
            command = [sys.executable, "-c", f"import time; start = time.process_time(); {program}; print(time.process_time() - start)"]
            environment = dict(os.environ, PYTHONPATH=str(BUILD / "python"))
            return min(float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout) for _ in range(7))
        # Of the processor, four times the 60 ms that it takes on a quiet machine: what runs beside makes it slower.
        self.assertLess(seconds("import weft"), 0.24)


if __name__ == "__main__":
    unittest.main()
