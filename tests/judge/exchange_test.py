"""Arrays exchanged with PyTorch and JAX by DLPack, both ways: the same memory, whatever the dtype and layout; refusals as the protocol says."""
import gc
import os
import sys
import unittest
import weakref
from pathlib import Path

BUILD = Path(os.environ.get("WEFT_BUILD", Path(__file__).resolve().parents[2] / "build"))
sys.path.insert(0, str(BUILD / "python"))
try:
    import numpy as np
    import jax
    import torch
    import weft as wf
    jax.config.update("jax_enable_x64", True)
    LACKS = None
except ImportError as error:
    LACKS = str(error)

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


@unittest.skipIf(LACKS, f"exchange with PyTorch and JAX: {LACKS}")
class Exchange(unittest.TestCase):
    def tensors(self):
        for name in TYPES:
            x = torch.arange(24).reshape(4, 6).to(getattr(torch, name))
            yield from (x, x.T, x[::2, 1::2], x[0, 0], x[:0], x[1:2, 3:4], x.expand(2, 4, 6))

    def test_pytorchs_tensors_are_shown_where_they_lie(self):
        for theirs in self.tensors():
            with self.subTest(f"{theirs.dtype} {tuple(theirs.shape)} {theirs.stride()}"):
                mine = wf.from_dlpack(theirs)
                self.assertEqual((mine.shape, str(mine.dtype).split(".")[1]), (tuple(theirs.shape), str(theirs.dtype).split(".")[1]))
                again = torch.from_dlpack(mine)
                self.assertTrue(torch.equal(again, theirs))
                if theirs.numel():
                    self.assertEqual(again.data_ptr(), theirs.data_ptr())
                self.assertEqual(again.dtype, theirs.dtype)

    def test_wefts_own_arrays_are_shown_to_pytorch(self):
        for name in TYPES:
            mine = wf.reshape(wf.arange(12), (3, 4)).astype(name)
            shown, twice = torch.from_dlpack(mine), torch.from_dlpack(mine)
            self.assertEqual(shown.data_ptr(), twice.data_ptr())
            self.assertEqual(shown.to(torch.complex128).tolist(), mine.astype("complex128").tolist())

    def test_jaxs_arrays_go_both_ways(self):
        for name in TYPES:
            with self.subTest(name):
                theirs = jax.numpy.arange(12).reshape(3, 4).astype(name)
                mine = wf.from_dlpack(theirs)
                self.assertEqual(mine.astype("complex128").tolist(), np.asarray(theirs).astype("complex128").tolist())
                back = jax.dlpack.from_dlpack(mine)
                self.assertEqual(back.dtype, theirs.dtype)
                self.assertTrue(bool((back == theirs).all()))
                self.assertEqual(back.unsafe_buffer_pointer(), theirs.unsafe_buffer_pointer())

    def test_memory_lives_as_long_as_somebody_looks_at_it(self):
        theirs = torch.arange(1000, dtype=torch.float32)
        gone = weakref.ref(theirs.untyped_storage())
        mine = wf.from_dlpack(theirs)
        del theirs
        gc.collect()
        self.assertEqual(float(mine[999]), 999)
        held = torch.from_dlpack(wf.asarray(np.arange(1000.0)) * 1)
        gc.collect()
        self.assertEqual(float(held[999]), 999)
        del mine, gone

    def test_what_the_protocol_refuses_is_refused(self):
        wanting = torch.ones(3, requires_grad=True)
        with self.assertRaises((ValueError, TypeError, BufferError, RuntimeError)):
            wf.from_dlpack(wanting)
        with self.assertRaises((ValueError, TypeError, BufferError, RuntimeError)):
            wf.from_dlpack(torch.ones(3, dtype=torch.complex64).conj())
        with self.assertRaises((ValueError, TypeError, BufferError, RuntimeError)):
            wf.from_dlpack(torch.sparse_coo_tensor([[0]], [1.0], (3,)))
        with self.assertRaises((ValueError, BufferError)):
            wf.ones(3).__dlpack__(dl_device=(2, 0))
        copied = torch.from_dlpack(wf.from_dlpack(torch.ones(3), copy=True))
        copied[0] = 7     # a copy is the taker's own

    def test_other_packages_arrays_stand_beside_wefts(self):
        x = wf.ones((2, 3), dtype=wf.float64)
        for other in (torch.full((2, 3), 2.0, dtype=torch.float64), jax.numpy.full((2, 3), 2.0)):
            self.assertEqual(wf.add(x, other).tolist(), [[3.0] * 3] * 2)
            self.assertIsInstance(wf.matmul(x, wf.asarray(other).T), wf.Tensor)


if __name__ == "__main__":
    unittest.main()
