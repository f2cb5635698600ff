"""What runs the tests (tools/test.py): work beside checks in Python counts, and keeps out of what they catch."""
import contextlib
import importlib.util
import io
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def runner():
    spec = importlib.util.spec_from_file_location("runner", ROOT / "tools" / "test.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Runner(unittest.TestCase):
    def test_work_beside_counts_and_stays_out_of_what_a_check_catches(self):
        terminal, caught = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(terminal):
            module = runner()

        def others(theirs):
            theirs.passed += 2
            theirs.part("others' part", lambda: theirs.fail("others' test", "on purpose"))

        def work():
            tally.passed += 1

        tally = module.Tally()
        with contextlib.redirect_stdout(caught):   # doctest does so too, for all threads
            tally.beside(work, others)
        self.assertEqual(caught.getvalue(), "")
        self.assertIn("others' part", terminal.getvalue())
        self.assertEqual((tally.passed, tally.failed, len(tally.seconds)), (3, ["others' test"], 1))


if __name__ == "__main__":
    unittest.main()
