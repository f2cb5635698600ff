"""The Python package against NumPy: every elementwise function, reductions, indexing, exchange, derivatives, errors.

Skipped, and said so, where the package was not built (nanobind missing)."""
import copy
import gc
import os
import pickle
import subprocess
import sys
import threading
import unittest
import warnings
from pathlib import Path

from built import BUILD, LACKS, np, wf

FLOATS = ["float32", "float64"]
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", *FLOATS, "complex64", "complex128"]


def layouts(rng, dtype):
    """Arrays of one dtype: contiguous, strided both ways, transposed, broadcast, empty, without axes, with special numbers."""
    base = rng.integers(0, 9, (6, 8)).astype(dtype) if dtype != "bool" else rng.integers(0, 2, (6, 8)).astype(bool)
    if np.dtype(dtype).kind in "fc":
        base = (base + rng.random((6, 8))).astype(dtype)
    yield base
    yield base[::-2, ::3]
    yield base.T
    yield np.broadcast_to(base[0], (3, 8))
    yield base[:0]
    yield base[0, 0]
    if np.dtype(dtype).kind == "f":
        yield np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30 if dtype != "float16" else 1e4], dtype)


def close(mine, theirs, dtype):
    kind = np.dtype(dtype)
    error = {"float16": 2e-3, "float32": 3e-6, "complex64": 3e-6}.get(kind.name, 1e-12 if kind.kind in "fc" else 0)
    np.testing.assert_allclose(np.asarray(mine), theirs, rtol=error, atol=error, equal_nan=True)


@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class Package(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(1)
        warnings.simplefilter("ignore")

    def test_names_of_other_frameworks_lead_to_those_here(self):
        for theirs, here in wf._CALLED_HERE.items():
            self.assertTrue(callable(getattr(wf, here)))
            with self.assertRaisesRegex(AttributeError, f"'{theirs}': it is called weft.{here} here"):
                getattr(wf, theirs)
        with self.assertRaisesRegex(AttributeError, "no attribute 'tensors'$"):
            wf.tensors
        for theirs, here in {"softmax": "weft.special.softmax and weft.nn.functional.softmax", "Linear": "weft.nn.Linear", "eigh": "weft.linalg.eigh"}.items():
            with self.assertRaisesRegex(AttributeError, f"no attribute '{theirs}': it is {here}$"):
                getattr(wf, theirs)
        for arguments in [(), ([1, 2],), (3, 4)]:
            with self.assertRaisesRegex(TypeError, r"wf.array\(values\)"):
                wf.Tensor(*arguments)

    def test_methods_are_numpys(self):
        x = np.arange(12.0).reshape(3, 4)[::-1]
        t = wf.asarray(x)
        for call in (lambda a: a.argsort(0), lambda a: a.take([2, 0], 1), lambda a: a.round(1), lambda a: a.dot(a.T), lambda a: a.diagonal(1), lambda a: a.trace(), lambda a: a.conjugate(),
                     lambda a: a.compress([True, False, True], 0), lambda a: a.copy(), lambda a: a[:, 0][::-1].searchsorted(5.0), lambda a: a[0].argpartition(1)[:1],
                     lambda a: (0 * a[0]).astype("int64").choose([a[1], a[2]])):
            np.testing.assert_array_equal(np.asarray(call(t)), call(x))
        self.assertEqual(t.tobytes(), x.tobytes())

    def test_a_device_that_is_not_there_is_refused_by_name(self):
        x = wf.ones(2)
        self.assertIs(x.to("cpu"), x)
        self.assertEqual((x.to(wf.float64).dtype, wf.default_device(), wf.devices()), (wf.float64, "cpu", ["cpu"]))
        with wf.device("cpu"):
            pass
        for call in (lambda: x.to("cuda:0"), lambda: wf.default_device("cuda:0"), lambda: wf.device("opencl:0").__enter__(), lambda: wf.ones(2, device="cuda")):
            with self.assertRaisesRegex(wf.DeviceError, "is not there; this machine has: cpu"):
                call()

    def test_the_array_interface_shows_and_takes_memory_without_a_copy(self):
        class Shows:
            def __init__(self, said):
                self.said = said

            __array_interface__ = property(lambda self: self.said)

        for dtype in TYPES:
            for x in layouts(self.rng, dtype):
                t = wf.asarray(x, copy=False)
                back = np.asarray(Shows(t.__array_interface__))
                np.testing.assert_array_equal(back, x)
                self.assertEqual(back.dtype, x.dtype)
                taken = wf.asarray(Shows(x.__array_interface__), copy=False)
                np.testing.assert_array_equal(np.asarray(taken), x)
                if x.size and isinstance(x, np.ndarray):    # a NumPy scalar shows a copy of itself
                    self.assertEqual(t.__array_interface__["data"], (x.__array_interface__["data"][0], True))
                    self.assertEqual(taken.__array_interface__["data"][0], x.__array_interface__["data"][0])
        t = wf.arange(5)
        shown = np.asarray(Shows(t.__array_interface__))
        t[0] = 7
        gc.collect()
        np.testing.assert_array_equal(shown, np.arange(5))
        whole = dict(np.arange(4.0).__array_interface__, data=memoryview(bytes(range(8)) * 4))
        self.assertEqual(wf.asarray(Shows(whole)).shape, (4,))
        for said, error in ((dict(whole, shape=(5,)), "outside of its buffer"), (dict(whole, offset=-1), "outside of its buffer"), (dict(whole, typestr=">f8"), "'>f8'"),
                            (dict(whole, typestr="|O8"), "'|O8'"), (dict(whole, strides=(8, 8)), "1 sizes and 2 strides"), (dict(whole, shape=(-1,)), "a negative size"),
                            ({"shape": (2,)}, "its shape and its typestr"), (3, "must be a dict"), (dict(whole, data=5), "bytes-like")):
            with self.subTest(error), self.assertRaisesRegex((TypeError, ValueError), error.replace("|", "[|]")):
                wf.asarray(Shows(said))
        with self.assertRaises(AttributeError):
            wf.ones(2, dtype=wf.bfloat16).__array_interface__

    def test_arrays_come_in_and_go_out_as_they_are_in_every_layout(self):
        for dtype in TYPES:
            for x in layouts(self.rng, dtype):
                t = wf.asarray(x)
                self.assertEqual((t.shape, str(t.dtype), t.ndim, t.size), (x.shape, f"weft.{dtype}", x.ndim, x.size))
                np.testing.assert_array_equal(np.asarray(t), x)
                np.testing.assert_array_equal(np.asarray(t.tolist(), dtype).reshape(x.shape), x)
                for again in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t), wf.from_dlpack(t), wf.asarray(memoryview(t))):
                    self.assertEqual((again.shape, again.dtype), (t.shape, t.dtype))
                    np.testing.assert_array_equal(np.asarray(again), x)

    def test_functions_of_one_number_have_numpys_values(self):
        for name in ["exp", "sin", "tanh", "sqrt", "abs", "floor", "square", "negative", "sign", "isnan", "isfinite", "log1p", "conj"]:
            for dtype in [*FLOATS, "complex64", "complex128"]:
                if name == "floor" and dtype.startswith("complex"):
                    continue
                for x in layouts(self.rng, dtype):
                    close(getattr(wf, name)(wf.asarray(x)), getattr(np, name)(x), dtype)

    def test_operators_promote_and_broadcast_as_numpy(self):
        operations = ["__add__", "__sub__", "__mul__", "__truediv__", "__lt__", "__eq__", "__ge__"]
        for left in FLOATS + ["int32", "uint8", "complex64"]:
            for right in FLOATS + ["int32", "uint8", "complex64"]:
                if np.dtype(left).kind in "iu" or np.dtype(right).kind in "iu":
                    right = left     # between kinds the array API leaves results open
                a = (self.rng.random((4, 1, 3)) * 9 + 1).astype(left)
                b = (self.rng.random((5, 1)) * 9 + 1).astype(right)
                for name in operations:
                    if name in ("__lt__", "__ge__") and "complex64" in (left, right):
                        continue
                    if name == "__truediv__" and np.dtype(left).kind in "iu":
                        continue     # float32 in weft
                    mine, theirs = getattr(wf.asarray(a), name)(wf.asarray(b)), getattr(a, name)(b)
                    self.assertEqual(mine.dtype, wf.asarray(theirs).dtype, (name, left, right))
                    close(mine, theirs, left if np.dtype(left).itemsize < np.dtype(right).itemsize else right)
        self.assertEqual((wf.ones(2, dtype=wf.float16) + 1.5).dtype, wf.float16)
        self.assertEqual((1 + wf.ones(2, dtype=wf.uint8)).dtype, wf.uint8)
        self.assertEqual((np.float64(2) * wf.ones(2)).dtype, wf.float64)    # NumPy's numbers are not weak

    def test_reductions_have_numpys_values_along_every_axis(self):
        for dtype in ["int32", "uint8", *FLOATS, "complex64"]:
            for x in layouts(self.rng, dtype):
                for axis in [None, *range(x.ndim), *([(0, 1)] if x.ndim == 2 else [])]:
                    for keepdims in (False, True):
                        for name in ["sum", "prod", "mean", "any", "all"] + (["max", "min", "var"] if x.size and dtype != "complex64" else []):
                            if name == "mean" and np.dtype(dtype).kind in "iu" or not np.isfinite(x).all() and name == "prod":
                                continue
                            if name == "var" and np.dtype(dtype).kind in "iu":
                                continue
                            mine = getattr(wf, name)(wf.asarray(x), axis=axis, keepdims=keepdims)
                            theirs = getattr(np, name)(x, axis=axis, keepdims=keepdims)
                            self.assertEqual(mine.shape, np.shape(theirs))
                            np.testing.assert_allclose(np.asarray(mine), theirs, rtol=2e-5, atol=1e-5, equal_nan=True)

    def test_indices_pick_and_write_as_numpys(self):
        x = self.rng.random((4, 5, 6))
        mask = x > 0.5
        keys = [0, -1, (1, 2), slice(1, 3), (slice(None, None, -2), 1), (Ellipsis, 2), (None, 0), ([0, 2], slice(None)), np.array([3, -1]),
                (np.array([0, 1]), np.array([2, 3])), mask, (slice(None), mask[0]), (0, slice(4, 0, -2), [1, 1]), np.int64(2), True, (), [],
                (slice(None), [True, False, True, False, True])]
        for key in keys:
            t = wf.asarray(x)
            np.testing.assert_array_equal(np.asarray(t[key]), x[key], str(key))
            y, before = x.copy(), t[...]
            y[key] = 7.0
            t[key] = 7.0
            np.testing.assert_array_equal(np.asarray(t), y, str(key))
            np.testing.assert_array_equal(np.asarray(before), x)

    def test_masks_without_axes_or_elements_pick_all_or_nothing(self):
        x = wf.asarray([1.0, 2.0])
        self.assertEqual([x[True].tolist(), x[False].shape, x[np.zeros(0, bool)].shape, wf.asarray(3.0)[wf.asarray(True)].tolist()], [[[1, 2]], (0, 2), (0,), [3]])
        x[wf.asarray(False)] = 7
        self.assertEqual(x.tolist(), [1, 2])
        x[wf.asarray(True)] = 7
        self.assertEqual(x.tolist(), [7, 7])

    def test_joins_name_the_users_line_and_not_the_extensions(self):
        for wrong in (lambda: wf.concat([wf.ones((2, 3)), wf.ones((2, 4))]), lambda: wf.concat([wf.ones((2, 3)), wf.ones((2, 4))], axis=None) @ wf.ones(2),
                      lambda: wf.stack([wf.ones(2), wf.ones(3)]), lambda: wf.einsum("ij,jk->ik", wf.ones((2, 3)), wf.ones((2, 3)))):
            with self.assertRaises(wf.ShapeError) as caught:
                wrong()
            self.assertIn(Path(__file__).name, str(caught.exception))

    def test_each_of_many_places_names_its_own_line_however_often_it_runs(self):
        count = 300
        source = "".join(f"def f{i}(x, y):\n    return {'x + y' if i % 2 else 'wf.add(x, y)'}\n" for i in range(count))
        places = {"wf": wf}
        exec(compile(source, "many_places.py", "exec"), places)
        for i in [*range(count), *range(count)]:
            with self.assertRaises(wf.ShapeError) as caught:
                places[f"f{i}"](wf.ones(2), wf.ones(3))
            self.assertRegex(str(caught.exception), rf"many_places\.py:{2 * i + 2}\b")

    def test_functions_at_infinities_and_zeros_are_the_standards(self):
        inf = wf.inf
        values = [wf.floor_divide(wf.asarray(a), wf.asarray(b)).item() for a, b in [(inf, 2.0), (-inf, 2.0), (2.0, -inf), (-2.0, -inf), (1.0, 0.0)]]
        self.assertEqual([repr(v) for v in values], ["inf", "-inf", "-0.0", "0.0", "inf"])
        self.assertEqual([wf.expm1(wf.asarray(complex(-0.0, 0))).item(), wf.tanh(wf.asarray(complex(inf, 2))).item()], [0j, 1 + 0j])
        np.testing.assert_allclose(np.asarray(wf.log1p(wf.asarray([1e-20 + 1e-20j], dtype=wf.complex128))), [1e-20 + 1e-20j], rtol=1e-14)
        np.testing.assert_allclose(np.asarray(wf.sign(wf.asarray([3 + 4j, 0]))), [0.6 + 0.8j, 0], rtol=1e-6)

    def test_a_value_never_changes_under_another_name(self):
        source = np.ones(3, "float32")
        t = wf.asarray(source)
        source[0] = 5
        later = t * 2
        other = t
        other += 1
        self.assertEqual(t.tolist(), [1, 1, 1])
        self.assertEqual(later.tolist(), [2, 2, 2])
        with self.assertRaises(ValueError):
            np.asarray(t)[0] = 3

    def test_memory_is_shared_where_that_is_asked_for(self):
        source = np.arange(12.0).reshape(3, 4)[:, ::-1]
        shared = wf.from_dlpack(source)
        self.assertEqual(np.asarray(shared).__array_interface__["data"][0], source.__array_interface__["data"][0])
        self.assertEqual(np.from_dlpack(shared).__array_interface__["data"][0] if np.__version__ >= "2" else source.__array_interface__["data"][0],
                         source.__array_interface__["data"][0])
        released = []

        class Exporter(np.ndarray):
            def __del__(self):
                released.append(1)
        view = source.view(Exporter)
        taken = wf.asarray(memoryview(view), copy=False) * 2
        del view
        taken.eval()
        gc.collect()
        self.assertEqual(released, [1])
        with self.assertRaises(BufferError):
            shared.__dlpack__(dl_device=(2, 0))

    def test_derivatives_follow_trees_nest_and_stop_at_integers(self):
        x = wf.asarray([1.0, 2.0, 3.0], dtype=wf.float64)

        def f(p, n):
            return wf.sum(wf.sin(p["a"]) * p["b"][0]) + wf.sum(n)
        value, grads = wf.value_and_grad(f)({"a": x, "b": [x * 2]}, wf.asarray([1, 2]))
        np.testing.assert_allclose(np.asarray(grads["a"]), np.cos([1, 2, 3]) * [2, 4, 6])
        np.testing.assert_allclose(np.asarray(grads["b"][0]), np.sin([1, 2, 3]))
        np.testing.assert_allclose(float(value), np.sum(np.sin([1, 2, 3]) * [2, 4, 6]) + 3)
        cube = wf.grad(lambda t: wf.grad(lambda s: s ** 3)(t))
        self.assertAlmostEqual(float(cube(wf.asarray(2.0, dtype=wf.float64))), 12)
        np.testing.assert_allclose(np.asarray(wf.hessian(lambda t: wf.sum(t ** 3))(x)), np.diag([6.0, 12, 18]))
        out, pull = wf.vjp(lambda a, b: (a @ b, a), wf.ones((2, 3)), wf.ones((3, 2)))
        self.assertEqual([t.tolist() for t in pull((wf.ones((2, 2)), wf.zeros((2, 3))))], [[[2.0] * 3] * 2, [[2.0] * 2] * 3])
        self.assertEqual(out[0].tolist(), [[3, 3], [3, 3]])
        value, moved = wf.jvp(wf.exp, [x], [wf.ones_like(x)])
        np.testing.assert_allclose(np.asarray(value), np.asarray(moved))
        with self.assertRaises(NotImplementedError) as caught:
            wf.grad(lambda t: wf.sum(wf.nextafter(t, t)))(x)
        self.assertIn("nextafter", str(caught.exception))

    @unittest.skipUnless(os.path.exists("/proc/self/maps"), "the system does not say what is mapped")
    def test_an_import_maps_no_library_of_matrices(self):
        text = """
import re, weft as wf
def mapped():
    return sorted(set(re.findall(r"lib(dnnl|openblas|gomp|hdf5)\\w*[-.]", open("/proc/self/maps").read())))
before = mapped()
x = wf.nn.functional.conv2d(wf.ones((4, 16, 8, 8)), wf.ones((16, 16, 3, 3)))
print(before, float(x[0, 0, 0, 0]), float(wf.linalg.det(wf.eye(40, dtype=wf.float64) * 1.5)))"""
        said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(said.stdout.split("\n")[0], f"[] 144.0 {1.5 ** 40}", said.stderr)

    def test_compiled_functions_take_trees_and_compose(self):
        traced = []

        @wf.compile
        def f(d, k):
            traced.append(k)
            return {"y": d["x"] * k, "same": d["x"], "n": 3}
        x = wf.asarray([1.0, 2.0])
        for _ in range(3):
            result = f({"x": x}, 2)
        self.assertEqual((result["y"].tolist(), result["same"].tolist(), result["n"], traced), ([2, 4], [1, 2], 3, [2]))
        self.assertEqual(f({"x": wf.ones(3)}, 2)["y"].tolist(), [2, 2, 2])
        sized = wf.compile(lambda t: (t.shape[0], t + 1))
        self.assertEqual([sized(wf.ones(n))[0] for n in (2, 3, 2)], [2, 3, 2])
        g = wf.compile(lambda t: wf.sum(t * t))
        self.assertEqual(wf.grad(g)(x).tolist(), [2, 4])
        self.assertEqual(wf.compile(wf.grad(g))(x).tolist(), [2, 4])

    def test_a_cell_never_writes_into_memory_that_is_anothers(self):
        source = np.ones(64, "float32")
        source.flags.writeable = False
        w = wf.Parameter(wf.asarray(source, copy=False))

        @wf.compile
        def step(x):
            w.value = w - x
            return wf.sum(w.value)
        for _ in range(3):
            step(wf.ones(64))
        self.assertEqual((source.sum(), float(wf.sum(w.value))), (64, -128))

    def test_arrays_are_shown_as_numpy_shows_them(self):
        for x in [np.arange(3), np.array([1.5, 2, -3], "float32"), np.zeros((2, 3, 2), "float32"), np.arange(2000), np.array(True), np.array([1 + 2j], "complex64"),
                  np.arange(60).reshape(2, 30), np.array([np.nan, np.inf], "float32"), np.arange(40, dtype="float32"), np.ones((0, 3), "float32")]:
            t = wf.asarray(x)
            self.assertEqual(str(t), str(x))
            if not (np.__version__ >= "2" and x.size > 1000) and x.size:
                self.assertEqual(repr(t), repr(x))

    def test_mistakes_are_pythons_own_errors_in_few_lines(self):
        x = wf.ones((2, 3))
        cases = [(ValueError, lambda: x + wf.ones(4)), (IndexError, lambda: x[5]), (ValueError, lambda: wf.sum(x, axis=2)), (IndexError, lambda: wf.sum(x, axis=2)),
                 (TypeError, lambda: wf.exp(None)), (TypeError, lambda: x + "a"), (TypeError, lambda: wf._core.same(None)), (TypeError, lambda: wf.exp("a")), (ValueError, lambda: wf.reshape(x, (4, 4))),
                 (IndexError, lambda: x[1.5]), (ValueError, lambda: x @ x), (TypeError, lambda: float(x)), (ValueError, lambda: bool(x)), (TypeError, lambda: hash(x)),
                 (ValueError, lambda: wf.asarray([[1], [1, 2]])), (TypeError, lambda: wf.asarray(object())), (ValueError, lambda: wf.zeros((-1,))),
                 (TypeError, lambda: wf.zeros((2,), dtype="flaot32")), (ValueError, lambda: wf.concat([x, wf.ones((3, 2))], axis=0)), (TypeError, lambda: wf.sum(x, axis="a")),
                 (IndexError, lambda: wf.take(x, wf.asarray([9]), axis=0).eval()), (TypeError, lambda: len(wf.asarray(1))), (TypeError, lambda: iter(wf.asarray(1))),
                 (OverflowError, lambda: x + 10 ** 30), (ValueError, lambda: wf.arange(0, 5, 0)), (RuntimeError, lambda: wf.zeros(2, device="cuda:0")),
                 (MemoryError, lambda: wf.zeros((1 << 40, 1 << 10)).eval()), (TypeError, lambda: wf.bitwise_and(x, x)), (ValueError, lambda: wf.einsum("ij,jk", x, x))]
        for i, (kind, mistake) in enumerate(cases):
            with self.assertRaises(kind, msg=f"case {i}") as caught:
                mistake()
            self.assertLess(len(str(caught.exception).splitlines()), 5, f"case {i}: {caught.exception}")
        with self.assertRaises(ValueError) as caught:
            x + wf.ones(4)
        self.assertIn("package_test.py", str(caught.exception))

    def test_eval_computes_trees(self):
        x = wf.ones(3)
        tree = {"a": x + 1, "b": [x * 2, (wf.ones((2, 2)) + 1, None)]}
        self.assertIs(wf.eval(tree), tree)
        self.assertTrue(tree["a"].computed and tree["b"][0].computed and tree["b"][1][0].computed)
        with self.assertRaises(TypeError):
            wf.eval("x")

    def test_threads_compute_side_by_side(self):
        x, wrong = wf.asarray(self.rng.random((64, 64)).astype("float32")), []
        expected = (wf.tanh(x @ x) + 1).eval().tolist()

        def work():
            for _ in range(50):
                if (wf.tanh(x @ x) + 1).tolist() != expected:
                    wrong.append(1)
        threads = [threading.Thread(target=work) for _ in range(4)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        self.assertEqual(wrong, [])

    def test_every_function_is_documented_and_shows_its_signature(self):
        import inspect
        for name in dir(wf):
            value = getattr(wf, name)
            if callable(value) and not name.startswith("_") and not isinstance(value, type):
                self.assertTrue(value.__doc__, name)
                inspect.signature(value)

    def test_importing_starts_nothing(self):
        program = "import sys, threading, weft; assert threading.active_count() == 1 and 'numpy' not in sys.modules; print(len(open('/proc/self/status').read()) > 0)"
        done = subprocess.run([sys.executable, "-c", program], env=dict(os.environ, PYTHONPATH=str(BUILD / "python")), capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
