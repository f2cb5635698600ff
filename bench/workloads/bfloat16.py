"""Products of float32 made in bfloat16 (weft's matmul_precision), against the same program of weft's in float32: no peer does so unless asked."""
import functools
import math
import pathlib

from . import bert, mlp, products
from .common import Workload, weft_training

CPUS = pathlib.Path("/proc/cpuinfo")
KNOWN = CPUS.read_text() if CPUS.exists() else ""
FASTER = {"own": 0.66} if "avx512_bf16" in KNOWN else {}   # elsewhere it promises the same numbers, no speed


def product(name, precision="bfloat16", goals=FASTER):
    shapes = products.SHAPES[name]
    return Workload(lambda: products.arrays(shapes), {"weft": functools.partial(products.weft, precision=precision)}, goals,
                    operations=2.0 * math.prod(shapes[0]) * shapes[1][-1], own={"float32": products.weft})


def training(network, loss, optimizer, arrays):
    return Workload(arrays, {"weft": weft_training(network, loss, optimizer, "bfloat16")}, own={"float32": weft_training(network, loss, optimizer)})


WORKLOADS = {
    **{f"bfloat16.matmul.{name}": product(name) for name in ("256", "512", "1024", "2048", "128x784x1024", "768x128x512")},
    # What AMX makes of sums of bfloat16; elsewhere they are float32's own products.
    **{f"{precision}.matmul.{name}": product(name, precision, {}) for precision in ("bfloat16x3", "bfloat16x6")
       for name in ("1024", "128x784x1024") if "amx_bf16" in KNOWN},
    "bfloat16.infer.bert128": Workload(bert.arrays, {"weft": functools.partial(bert.weft, precision="bfloat16")}, own={"float32": bert.weft}),
    "bfloat16.train.mlp": training(mlp.network(mlp.LARGE, "ReLU"), mlp.cross_entropy, mlp.momentum, lambda: mlp.arrays(mlp.LARGE, 128)),
}
