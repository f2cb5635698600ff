"""Writes the Parquet files beside it with pyarrow: the outside judge of weft's reader. Run by hand when a case is added; the files are kept
because pyarrow is not needed to run the tests."""
import datetime
import pathlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

here = pathlib.Path(__file__).parent
rows = np.arange(7)
table = pa.table({
    "small": pa.array(rows - 3, pa.int8()),
    "large": pa.array(rows * 2**40, pa.int64()),
    "half": pa.array((rows / 8).astype(np.float16)),
    "weight": pa.array(rows / 4, pa.float32()),
    "wide": pa.array(rows / 2, pa.float64()),
    "even": pa.array(rows % 2 == 0),
    "point": pa.array([{"x": 1, "y": 2}] * 7),
    "colour": pa.array(["red", "green", "red", "blue", "red", "a colour of more than twelve letters", "green"]),
    "size": pa.array(["m", "s", "m", "l", "m", "s", "s"]).dictionary_encode(),
    "long": pa.array(["b", "a", "b", "a", "b", "a", "b"], pa.large_string()),
    "seen": pa.array(["b", "a", "b", "a", "b", "a", "a view of more than twelve letters"], pa.string_view()),
    "pixels": pa.array([[3 * i, 3 * i + 1, 3 * i + 2] for i in range(7)], pa.list_(pa.uint8())),
    "byte": pa.array(rows, pa.uint8()),
    "pair": pa.array([[i, -i] for i in range(7)], pa.list_(pa.float32(), 2)),
    "tags": pa.array([["a", "b"], ["b", "b"]] + [["a", "a"]] * 5),
    "holes": pa.array([0.5, 1.5, 2.5, float("nan"), None, 5.5, 6.5], pa.float32()),
    "gap": pa.array(["a", "b", None, "a", "b", "a", "b"]),
    "ragged": pa.array([[1, 2], [3, 4], [5, 6], [7], [8, 9], [0, 1], [2, 3]], pa.list_(pa.int32())),
    "later": pa.array([[1, 2]] * 6 + [[1, 2, 3]], pa.list_(pa.int32())),
    "when": pa.array([datetime.datetime(2020, 1, 1)] * 7),
    "nested": pa.array([[[1]]] * 7),
    "class": pa.array([2, 0, 1, 2, 0, 1, 2], pa.int32()),
})
pq.write_table(table, here / "table.parquet", row_group_size=3, compression="snappy", use_dictionary=["colour", "size"])
pq.write_table(table.slice(0, 0), here / "empty.parquet")
