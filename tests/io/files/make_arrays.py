"""Writes the HDF5 and MATLAB files beside it with h5py and SciPy: the outside judges of weft's readers. Run by hand when a case is added; the
files are kept because h5py is not needed to run the tests."""
import pathlib

import h5py
import numpy as np
import scipy.io

here = pathlib.Path(__file__).parent
rng = np.arange(60).reshape(5, 4, 3)
with h5py.File(here / "arrays.h5", "w") as file:
    file["plain"] = rng.astype("<f4") / 4
    file.create_dataset("train/packed", data=rng.astype("<f8"), chunks=(2, 3, 2), compression="gzip", shuffle=True)
    file.create_dataset("train/chunks", data=rng.astype(">i2"), chunks=(3, 4, 3))
    file["train/labels"] = np.array([3, 1, 2, 1, 2], "u1")
    file["train/half"] = (rng[:, 0, 0] / 8).astype("<f2")
    file["train/true"] = rng[:, 0, 0] % 8 == 0
    holes = file.create_dataset("holes", (6, 2), "<i4", chunks=(2, 2), fillvalue=-7)
    holes[2:4] = 5
    file.create_dataset("lzf", data=rng.astype("<f4"), chunks=(2, 4, 3), compression="lzf")
    file["one"] = 2.5
    file["words"] = np.array([b"ab", b"c"])
with h5py.File(here / "matlab73.mat", "w", userblock_size=512) as file:
    file["x"] = np.arange(6, dtype="<f8").reshape(3, 2)  # as MATLAB writes a 2 by 3 array: its columns are rows
with open(here / "matlab73.mat", "r+b") as file:
    file.write(b"MATLAB 7.3 MAT-file".ljust(116) + bytes(8) + b"\x00\x02IM")
arrays = {"x": rng.astype("<f4") / 4, "y": np.array([[3], [1], [0], [1], [2]], "<f8"), "bytes": rng[:, :, 0].astype("u1"),
          "true": rng[:, 0, 0] % 2 == 0, "big": rng[:, :, 0].astype("<i8") - 2**40}
scipy.io.savemat(here / "packed.mat", arrays, do_compression=True)
scipy.io.savemat(here / "plain.mat", {**arrays, "cell": np.array(["a", 1], object), "complex": np.ones((2, 2)) * 1j})
scipy.io.savemat(here / "level4.mat", {"x": rng[:, :, 0].astype("<f8")}, format="4")
