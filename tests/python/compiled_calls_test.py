"""Compiled functions called again: what is told apart, and that the short way gives what the first call gave."""
import gc
import threading
import unittest
import weakref

from built import LACKS, np, wf


def in_threads(count, work):
    """work(i) in thread i of so many, all at once."""
    threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

@unittest.skipIf(LACKS, f"the Python package: {LACKS}")
class CompiledCalls(unittest.TestCase):
    def test_products_in_bfloat16_are_those_of_rounded_numbers(self):
        rng = np.random.default_rng(3)
        a, b = rng.standard_normal((40, 96), dtype=np.float32), rng.standard_normal((96, 32), dtype=np.float32)

        def rounded(x):     # to 8 bits, ties to even; no NaN here
            bits = x.view(np.uint32)
            return ((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32).astype(np.float64)

        @wf.compile(matmul_precision="bfloat16")
        def f(x, y):
            return x @ y
        np.testing.assert_allclose(np.asarray(f(wf.asarray(a), wf.asarray(b))), rounded(a) @ rounded(b), rtol=1e-4, atol=1e-4)
        np.testing.assert_array_equal(np.asarray(wf.matmul(a, b, precision="bfloat16")), np.asarray(f(wf.asarray(a), wf.asarray(b))))
        slope = wf.compile(wf.grad(lambda x, y: wf.sum(x @ y)), matmul_precision=wf.bfloat16)(wf.asarray(a), wf.asarray(b))
        np.testing.assert_allclose(np.asarray(slope), np.broadcast_to(rounded(b).sum(1), a.shape), rtol=1e-4, atol=1e-4)
        stays = wf.compile(lambda x, y: wf.matmul(x, y, precision="float32"), matmul_precision="bfloat16")(wf.asarray(a), wf.asarray(b))
        np.testing.assert_array_equal(np.asarray(stays), np.asarray(wf.asarray(a) @ wf.asarray(b)))
        exact = np.asarray(wf.compile(lambda x, y: x @ y, matmul_precision="float32")(wf.asarray(a), wf.asarray(b)))
        np.testing.assert_array_equal(exact, np.asarray(wf.asarray(a) @ wf.asarray(b)))
        with self.assertRaisesRegex(ValueError, "bfloat16x3 or bfloat16x6, not float16"):
            wf.compile(lambda x: x, matmul_precision="float16")
        with self.assertRaisesRegex(ValueError, "bfloat16x3 or bfloat16x6, not float16"):
            wf.train_step(None, None, None, matmul_precision="float16")
        with self.assertRaisesRegex(ValueError, "bfloat16x3 or bfloat16x6, not float64"):
            wf.matmul(a, b, precision="float64")
        with self.assertRaisesRegex(ValueError, "bfloat16x3 or bfloat16x6, not bfloat16x4"):
            wf.compile(lambda x: x, matmul_precision="bfloat16x4")
        for name, most in (("bfloat16x3", 2e-5), ("bfloat16x6", 1e-6)):
            near = np.asarray(wf.compile(lambda x, y: x @ y, matmul_precision=name)(wf.asarray(a), wf.asarray(b)))
            self.assertLess(np.linalg.norm(near - exact) / np.linalg.norm(exact), most, name)
            np.testing.assert_array_equal(near, np.asarray(wf.matmul(a, b, precision=name)))

    def test_a_step_of_training_takes_products_in_bfloat16(self):
        rng = np.random.default_rng(4)
        x, y = wf.asarray(rng.standard_normal((64, 32), dtype=np.float32)), wf.asarray(rng.integers(0, 4, 64))
        losses = {}
        for precision in (None, "bfloat16"):
            wf.random.seed(5)
            model = wf.nn.Sequential(wf.nn.Linear(32, 48), wf.nn.ReLU(), wf.nn.Linear(48, 4))
            step = wf.train_step(model, wf.optim.SGD(model.parameters(), lr=0.5),
                                 lambda model, x, y: wf.nn.functional.cross_entropy(model(x), y), matmul_precision=precision)
            losses[precision] = [float(step(x, y)) for _ in range(100)]
        self.assertLess(losses["bfloat16"][-1], 0.1)
        self.assertNotEqual(losses["bfloat16"], losses[None])
        np.testing.assert_allclose(losses["bfloat16"][:20], losses[None][:20], rtol=0.05)

    def setUp(self):
        self.traced = 0

    def counted(self, f):
        def body(*arguments, **named):
            self.traced += 1
            return f(*arguments, **named)
        return wf.compile(body)

    def again(self, f, *arguments, **named):
        """Twice the same result; the second time nothing is traced."""
        first = f(*arguments, **named)
        before = self.traced
        second = f(*arguments, **named)
        self.assertEqual(self.traced, before)
        self.assertEqual(repr(first), repr(second))
        return second

    def test_shapes_dtypes_numbers_and_names_are_told_apart(self):
        f = self.counted(lambda x, n=2, *, how="sum": (x * n).sum() if how == "sum" else x * n)
        x = wf.asarray([1., 2.])
        self.assertEqual(float(self.again(f, x)), 6)
        self.assertEqual(float(self.again(f, x, 3)), 9)
        self.assertEqual(float(self.again(f, x, n=3)), 9)
        self.assertEqual(self.again(f, x, 3.0).dtype, wf.float32)
        self.assertEqual(self.again(f, x, True).dtype, wf.float32)
        self.assertEqual(self.again(f, wf.asarray([1, 2]), True).dtype, wf.int64)
        self.assertEqual(self.again(f, wf.asarray([1, 2]), 1.0).dtype, wf.float32)
        self.assertEqual(self.again(f, x, how="all").shape, (2,))
        self.assertEqual(self.again(f, wf.ones((2, 3)), how="all").shape, (2, 3))
        self.assertEqual(self.again(f, wf.ones((3, 2)), how="all").shape, (3, 2))
        self.assertEqual(self.traced, 10)

    def test_trees_go_in_and_come_out(self):
        f = self.counted(lambda p, x: {"b": x @ p["w"] + p["b"], "a": [x, (p["b"], 3)], "none": None})
        w, b, x = wf.asarray([[2.]]), wf.asarray([1.]), wf.asarray([[5.]])
        for p in ({"w": w, "b": b}, {"b": b, "w": w}):
            out = self.again(f, p, x)
            self.assertEqual(float(out["b"][0, 0]), 11)
            self.assertEqual(list(out), ["b", "a", "none"])
            self.assertEqual(out["a"][1][1], 3)
        g = self.counted(lambda x: (x + 1, [x * 2]))
        self.assertIsInstance(self.again(g, x)[1], list)
        h = self.counted(lambda x: [x + 1, x * 2])
        self.assertEqual([float(one) for one in self.again(h, wf.asarray(4.))], [5, 8])
        i = self.counted(lambda x: (x - 1,))
        self.assertIsInstance(self.again(i, x), tuple)
        j = self.counted(lambda x: 7)
        self.assertEqual(self.again(j, x), 7)
        k = self.counted(lambda x: ())
        self.assertEqual(self.again(k, x), ())

    def test_lists_and_tuples_differ_and_what_is_no_tensor_goes_the_long_way(self):
        f = self.counted(lambda t: type(t)([t[0] * 2, t[1]]))
        x = wf.asarray([1.])
        self.assertIsInstance(self.again(f, (x, x)), tuple)
        self.assertIsInstance(self.again(f, [x, x]), list)
        g = self.counted(lambda a, n: a * 2 + n)
        self.assertEqual(float(self.again(g, np.ones(1, "float32"), 1)[0]), 3)
        self.assertEqual(float(self.again(g, x, np.float32(2))[0]), 4)
        self.assertEqual(float(self.again(g, wf.Parameter(x), 1)[0]), 3)
        with self.assertRaises(OverflowError):
            g(x, 2 ** 80)

    def test_within_transformations_it_is_part_of_their_program(self):
        f = wf.compile(lambda x: wf.sum(x ** 3))
        x = wf.asarray([1., 2.])
        self.assertEqual(float(f(x)), 9)
        self.assertEqual(wf.grad(f)(x).tolist(), [3, 12])
        self.assertEqual(wf.vmap(f)(wf.asarray([[1.], [2.]])).tolist(), [1, 8])
        outer = wf.compile(lambda x: f(x) + 1)
        self.assertEqual([float(outer(x)), float(outer(x))], [10, 10])

    def test_more_programs_than_are_kept(self):
        f = self.counted(lambda x, n: x * n)
        x = wf.asarray([1.])
        for n in range(300):
            self.assertEqual(float(f(x, n)[0]), n)
        self.assertEqual(float(self.again(f, x, 299)[0]), 299)
        self.assertEqual(float(self.again(f, x, 1)[0]), 1)

    def test_what_nobody_holds_goes(self):
        class Number:
            """What a function closes over."""

            def __init__(self, value):
                self.value = value

        def made(derive):
            number = Number(3.)
            f = wf.compile(derive(lambda x: wf.sum(x * number.value)))
            f(wf.asarray([1., 2.])), f(wf.ones(3))
            return f, weakref.ref(number)

        for derive in (lambda f: f, wf.grad, wf.value_and_grad):
            f, number = made(derive)
            self.assertIsNotNone(number())
            del f
            gc.collect()
            self.assertIsNone(number())

        f = wf.compile(lambda x, n: x * n)
        for n in range(600):
            f(wf.ones(2), n)
        gc.collect()
        self.assertLess(sum(type(o).__name__ == "Program" for o in gc.get_objects()), 400)

    def test_more_shapes_than_are_kept(self):
        traces = []

        def f(x):
            traces.append(x.shape)
            return x + 1
        f = wf.compile(f)
        for n in range(1, 300):
            self.assertEqual(f(wf.ones(n)).shape, (n,))
        self.assertEqual(len(traces), 299)
        f(wf.ones(299)), f(wf.ones(200))
        self.assertEqual(len(traces), 299)
        self.assertEqual(f(wf.ones(2)).tolist(), [2, 2])
        self.assertEqual(traces[299:], [(2,)])

    def test_a_program_that_is_called_often_stays(self):
        for every, most in (1, 1), (100, 2):    # until the first one goes, those that were called lately are not told apart
            traces = []

            def f(x, number):
                traces.append(number)
                return x * number
            f = wf.compile(f)
            for n in range(1000):
                f(wf.ones(2), n + 2)
                if n % every == 0:
                    f(wf.ones(2), 1)
            self.assertLessEqual(traces.count(1), most)

    def test_programs_with_rules_of_pythons_go_while_threads_make_others(self):
        @wf.custom_vjp
        def double(x):
            return x * 2
        double.defvjp(lambda x: (x * 2, None), lambda _, g: (g * 3,))
        f = wf.compile(lambda x, n: wf.grad(lambda x: wf.sum(double(x)) * n)(x))
        wrong = []

        def work(of):
            for n in range(200):
                if f(wf.ones(1 + (n + of) % 7), n + 200 * of).tolist()[0] != 3 * (n + 200 * of):
                    wrong.append(n)
        in_threads(3, work)
        self.assertEqual(wrong, [])

    def test_errors_come_from_the_short_way_too(self):
        f = self.counted(lambda x, i: wf.take(x, i))
        x = wf.asarray([1., 2.])
        self.assertEqual(self.again(f, x, wf.asarray([1])).tolist(), [2])
        with self.assertRaises(IndexError):
            f(x, wf.asarray([7]))
        self.assertEqual(f(x, wf.asarray([0])).tolist(), [1])

    def test_threads_may_call_it_at_once(self):
        f = wf.compile(lambda x, n: wf.sum(x * n))
        x, wrong = wf.ones(100), []

        def work(of):
            for i in range(200):
                if float(f(x, (of + i) % 5)) != 100 * ((of + i) % 5):
                    wrong.append(i)
        in_threads(4, work)
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
