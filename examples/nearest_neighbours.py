"""How well 5 nearest neighbours classify MNIST by the embedding that examples/mnist_siamese.yaml has learned (needs NumPy and SciPy):
WEFT_DATA=... python examples/nearest_neighbours.py RUN. Neighbours are the run's own training examples; of equal votes the least class wins."""
import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree


def weights(path):
    """The arrays of a file of safetensors, all of float32."""
    data = Path(path).read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    return {name: np.frombuffer(data[start + one["data_offsets"][0]:start + one["data_offsets"][1]], "<f4").reshape(one["shape"])
            for name, one in header.items() if name != "__metadata__"}


def mnist(name):
    folder = Path(os.environ["WEFT_DATA"]) / "mnist"
    packed = folder / f"{name}.gz"
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()
    dims = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(dims)


def embedded(model, images):
    x = images.reshape(len(images), -1).astype(np.float32) / 255
    layers = sorted({int(name.split(".")[0]) for name in model})
    for layer in layers:
        x = x @ model[f"{layer}.weight"].T + model[f"{layer}.bias"]
        if layer != layers[-1]:
            x = np.maximum(x, 0)
    return x


model = weights(Path(sys.argv[1]) / "best/model.safetensors")
known, classes = embedded(model, mnist("train-images-idx3-ubyte")[:50000]), mnist("train-labels-idx1-ubyte")[:50000]
asked, right = embedded(model, mnist("t10k-images-idx3-ubyte")), mnist("t10k-labels-idx1-ubyte")
votes = classes[cKDTree(known).query(asked, 5)[1]]
said = np.array([np.bincount(vote, minlength=10).argmax() for vote in votes])
print(f"test error by 5 nearest neighbours: {np.mean(said != right):.4f}")
