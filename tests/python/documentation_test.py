"""The documentation says what is so: every public function shows an example, every example gives what stands below it, and NumPy agrees with
those that are generated."""
import doctest
import importlib.util
import os
import re
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("WEFT_BUILD", ROOT / "build"))
sys.path[:0] = [str(BUILD / "python"), str(ROOT / "docs")]
try:
    import numpy as np
    import weft as wf
    from manual import curve, examples, inquiry, public
    LACKS = None
except ImportError as error:
    LACKS = str(error)
SPHINX = importlib.util.find_spec("sphinx")


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Documentation(unittest.TestCase):
    def test_every_public_function_has_a_docstring_with_an_example(self):
        lacking = [thing.name for thing in public.things() if thing.is_function and ">>>" not in (thing.value.__doc__ or "")]
        self.assertEqual(lacking, [])
        self.assertGreater(len(public.things()), 300)

    def test_examples_give_what_stands_below_them(self):
        runner = doctest.DocTestRunner(checker=examples.Checker(), optionflags=doctest.ELLIPSIS, verbose=False)
        said = []
        tests = [*examples.of_modules(), *examples.of_pages()]
        with examples.scratch():
            for test in tests:
                runner.run(test, out=said.append)
        self.assertEqual(runner.failures, 0, "".join(said))
        self.assertGreater(runner.tries, 500)

    def test_the_checker_refuses_another_number_another_dtype_and_another_shape(self):
        agree = examples.Checker().check_output
        want = "array([0.5, 1.25], dtype=float32)\n"
        self.assertTrue(agree(want, "array([0.5       , 1.2500001], dtype=float32)\n", 0))
        for got in ["array([0.5, 1.2501], dtype=float32)\n", "array([0.5, 1.25])\n", "array([[0.5, 1.25]], dtype=float32)\n", "array([0.5, nan], dtype=float32)\n",
                    "array([0.5, 1.25, 2.], dtype=float32)\n", ""]:
            self.assertFalse(agree(want, got, 0), got)

    def test_numpy_agrees_with_the_examples_of_elementwise_functions(self):
        try:
            import scipy.special
            there = {"np": np, "scipy": scipy, "nan": np.nan, "inf": np.inf}
        except ImportError:
            there = {"np": np, "nan": np.nan, "inf": np.inf}
        judged = 0
        for record in wf._core.operation_records():
            function = getattr(wf._elementwise, record["name"], None)
            numpy = record["numpy"] if "." in record["numpy"] else "np." + record["numpy"]
            if not function or not record["numpy"] or numpy.split(".")[0] not in there:
                continue
            call = re.search(r">>> wf\.\w+\((.*)\)\n", function.__doc__).group(1)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = eval(f"{numpy}({call})", {**there, "wf": NumPys})
            np.testing.assert_allclose(np.asarray(eval(f"function({call})", {"function": function, "wf": wf})), theirs,
                                       rtol=(record["ulp"] + 1) * 2 ** -23, err_msg=record["name"])
            judged += 1
        self.assertGreater(judged, 60)

    def test_pages_say_what_functions_take_and_give(self):
        def ask(name):
            return inquiry.ask(public.by_name()[name])
        exp, both, total, where, zeros, step = map(ask, ["weft.exp", "weft.bitwise_and", "weft.sum", "weft.where", "weft.zeros", "weft.nextafter"])
        self.assertEqual((exp.takes["float32"][:2], exp.takes["float64"], exp.derivative), (["bool", "int8"], ["float64"], "yes"))
        self.assertNotIn("float32", both.takes)
        self.assertEqual(both.takes["uint8"], ["uint8"])
        self.assertEqual((total.takes["int64"], total.shapes), (["bool", "int8", "int16", "int32", "int64"], "(2, 2) → (2,)"))
        self.assertEqual(where.takes["float16"], ["float16"])
        self.assertIn("bfloat16", zeros.makes)
        self.assertTrue(step.derivative.startswith("no: nextafter"))
        self.assertEqual(ask("weft.floor").derivative, "yes")
        self.assertEqual(ask("weft.isnan").derivative, "none: what comes out is not floating")

    def test_a_curve_shows_the_functions_own_values(self):
        record = public.records()["weft.sin"]
        picture = curve.picture(wf.sin, record)
        points = re.search(r'class="value" d="M([^"]*)"', picture).group(1).split("L")
        x, y = np.array([[float(number) for number in point.split()] for point in points]).T
        low, high = curve.domain(record)
        scaled = np.sin(low + (x - curve.EDGE) / (curve.WIDTH - 2 * curve.EDGE) * (high - low))
        slope, base = np.polyfit(scaled, y, 1)
        self.assertLess(slope, 0)                                        # upwards in a picture is down in numbers
        self.assertLess(np.abs(slope * scaled + base - y).max(), 0.2)    # points are written with one digit
        self.assertIn('class="slope"', picture)

    @unittest.skipUnless(SPHINX, "Sphinx is not installed (tools/setup docs)")
    def test_the_manual_is_built_without_a_warning(self):
        from manual import build
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(build.build(Path(folder), quiet=True), "")
            pages = {page.name for page in Path(folder, "html").glob("reference/*.html")}
            self.assertLessEqual({f"{thing.page}.html" for thing in public.things() if not thing.is_error}, pages)


class NumPys:
    """What generated examples use of weft, as NumPy has it: floating lists are float32."""
    nan, inf = float("nan"), float("inf")

    @staticmethod
    def asarray(values):
        x = np.asarray(values)
        return x.astype({"f": np.float32, "c": np.complex64}.get(x.dtype.kind, x.dtype))


if __name__ == "__main__":
    unittest.main()
