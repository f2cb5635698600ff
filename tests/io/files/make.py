"""Writes the files beside it with NumPy and the safetensors package: the outside judges of weft's readers and writers.
Run by hand when a case is added; the files are kept because neither package is needed to run the tests."""
import gzip
import pathlib

import numpy as np
import safetensors.numpy

here = pathlib.Path(__file__).parent
rng = np.arange(6).reshape(2, 3)
np.save(here / "float32.npy", rng.astype("<f4") / 4)
np.save(here / "fortran_big.npy", np.asfortranarray(rng.astype(">i4") - 3))
np.save(here / "complex128.npy", (rng + 1j * rng[::-1]).astype("<c16"))
np.save(here / "complex64_big.npy", (rng + 1j * rng[::-1]).astype(">c8"))
np.save(here / "bool.npy", rng % 2 == 0)
np.save(here / "float16.npy", (rng / 3).astype("<f2"))
np.save(here / "uint64.npy", np.array([2**64 - 1, 7], "<u8"))
np.save(here / "scalar.npy", np.float64(2.5))
np.save(here / "empty.npy", np.zeros((3, 0, 2), "<f8"))
np.save(here / "objects.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
np.save(here / "records.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
np.save(here / "strings.npy", np.array(["ab", "c"]))
with open(here / "version2.npy", "wb") as f:
    np.lib.format.write_array(f, rng.astype("<i2"), version=(2, 0))
safetensors.numpy.save_file(
    {"b": rng.astype("f4") / 4, "a": np.array(True), "c": rng.astype("i8"), "d": np.zeros((0, 2), "f8"), "h": (rng / 3).astype("f2")},
    here / "reference.safetensors", metadata={"format": "np"})
idx = bytes([0, 0, 0x0D, 2, 0, 0, 0, 2, 0, 0, 0, 3]) + (rng / 4).astype(">f4").tobytes()
(here / "float32.idx").write_bytes(idx)
(here / "float32.idx.gz").write_bytes(gzip.compress(idx, mtime=0))
np.savez(here / "stored.npz", a=rng.astype("<f4") / 4, b=np.array([3, 1], "<i8"))
np.savez_compressed(here / "packed.npz", a=np.zeros((40, 5), "<f8"), label=np.array([7], "u1"))
